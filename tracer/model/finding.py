"""Findings about a launch, and the words in which they name things."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import PurePath
from typing import NamedTuple

import numpy as np
from msgspec import Struct

from . import cpp_text
from .array_types import AnyInts, Ints
from .rules import code_of, confidence_of
from .trace import Buffer, Dim3, Trace, unravel

FINDING_KINDS = (
    "race",
    "barrier",
    "bounds",
    "unwritten",
    "launch",
    "compile",
    "dtype mismatch",
    "uncoalesced",
    "bank conflict",
    "idle lanes",
    "reloaded",
    "overwritten",
    "hot atomic",
    "float64",
    "block size",
    "part",
)
SEVERITIES = ("error", "warning", "note")
PLACES_NAMED = 4  # other places of one cause that a message names


class RelatedPlace(NamedTuple):
    """Another place in the source with the same cause."""

    file: str  # "" for the finding's file
    line: int  # from 1
    name: str = ""  # of the array concerned


class Finding(Struct, frozen=True, eq=False):
    """An error, a waste or a note about a launch."""

    kind: str  # in FINDING_KINDS
    severity: str  # in SEVERITIES
    statement: str  # one sentence: number first, then cause, then `remedy`
    remedy: str
    count: int  # the number in `statement`
    sites: tuple[int, ...]  # numbers in trace.sites, the one to show first; none for the complete launch
    rows: AnyInts  # of the trace: every access involved, ascending
    example: tuple[int, ...]  # a few of `rows` to show first; for a race the two conflicting ones
    threads: tuple[tuple[int, int], ...]  # (block, thread) to show, linear numbers
    moment: int  # to jump to
    location: tuple[str, int] | None = None  # (file, line) if no site is on that line, else None
    name: str = ""  # of the array concerned, if any
    cause: str = ""  # equal for findings of a kind that one change of the kernel mends; "" for no known cause
    also: tuple[RelatedPlace, ...] = ()  # other places of the same cause
    fixed_text: str = ""  # the kernel's complete text with a remedy that was tried and works
    rule: str = ""  # the code of its rule, "" for that of its kind
    certainty: str = ""  # in CONFIDENCES, "" for that of its kind and severity

    @property
    def message(self) -> str:
        """The statement, with the other places of its cause."""
        return message_of(self.statement, self.also)

    @property
    def code(self) -> str:
        """The code of its rule, such as TS101."""
        return self.rule or code_of(self.kind)

    @property
    def confidence(self) -> str:
        """How sure it is, in CONFIDENCES."""
        return self.certainty or confidence_of(self.kind, self.severity)


def sort_key(severity: str, kind: str, moment: int) -> tuple[int, int, int]:
    """Return a sort key for findings: errors first, then by kind (as in FINDING_KINDS) and moment."""
    return SEVERITIES.index(severity), FINDING_KINDS.index(kind), moment


def message_of(
    statement: str, also: Sequence[RelatedPlace], launches: int = 1, *, holds_for_each: bool = False
) -> str:
    """Add the other places of its cause, and the number of launches that have it, to a statement.

    holds_for_each: whether the numbers of the statement are those of every launch, and not of one.
    """
    more = [_places_text(also)] if also else []
    if launches > 1:
        more += [
            f"in each of {launches:,} launches"
            if holds_for_each
            else f"in {launches:,} launches, with the numbers of one"
        ]
    return f"{statement.removesuffix('.')} ({', '.join(more)})." if more else statement


def _places_text(also: Sequence[RelatedPlace]) -> str:
    lines: dict[tuple[str, str], list[int]] = {}
    for place in also[: 1 if len(also) > PLACES_NAMED else None]:
        lines.setdefault((place.file, place.name), []).append(place.line)
    named = join_words([_lines_text(*place, numbers) for place, numbers in lines.items()])
    return (
        f"also at {len(also):,} more places, first {named}" if len(also) > PLACES_NAMED else f"also {named}"
    )


def _lines_text(file: str, name: str, lines: list[int]) -> str:
    """Name lines of a file: C on lines 12 and 13; on line 3 of shapes.py."""
    numbers = f"line{'s' if len(lines) > 1 else ''} {join_words([str(line) for line in lines])}"
    return f"{name} on {numbers}".strip() + (f" of {PurePath(file).name}" if file else "")


def source_location(finding: Finding, trace: Trace) -> tuple[str, int]:
    """Return (file, line from 1) of a finding: of its first site, else of the kernel's `def`."""
    if finding.location:
        return finding.location
    if finding.sites:
        site = trace.sites[finding.sites[0]]
        return site.file, site.line
    return definition_of(trace)


def definition_of(trace: Trace) -> tuple[str, int]:
    """Return (file, line from 1) of the kernel's definition."""
    for file, text in trace.sources.items():
        if "__global__" in text and (first := cpp_text.definition_line(text, trace.kernel)):
            return file, first
        for number, line in enumerate(text.splitlines(), 1):
            if line.split("(")[0].split() == ["def", trace.kernel]:
                return file, number
    return next(iter(trace.sources), trace.kernel), 1


def count_noun(number: int, noun: str) -> str:
    """Format a number with its noun and a thousands separator: 1 element, 4,096 elements."""
    ending = "" if number == 1 else "es" if noun.endswith(("s", "ch")) else "s"
    return f"{number:,} {noun}{ending}"


def line_text(trace: Trace, site: int) -> str:
    """Name a site's line: line 12, or line 12 of load_tile if it is outside the kernel's function."""
    source_site = trace.sites[site]
    return f"line {source_site.line}" + (
        "" if source_site.function == trace.kernel else f" of {source_site.function}"
    )


def first_sites_on_lines(trace: Trace) -> Ints:
    """Find the first site on the line of each site, shape (sites,). Findings count the accesses of a complete line."""
    places = [(site.function, site.file, site.line) for site in trace.sites]
    first = {place: number for number, place in reversed(list(enumerate(places)))}
    return np.array([first[place] for place in places], np.int64)


def lines_text(trace: Trace, sites: Iterable[int]) -> str:
    """Name the lines of several sites in ascending order: line 12, or lines 12, 14 and 20."""
    if len({trace.sites[site].function for site in sites} | {trace.kernel}) > 1:
        return join_words(dict.fromkeys(line_text(trace, site) for site in sites))
    lines = sorted({trace.sites[site].line for site in sites})
    return f"line{'s' if len(lines) > 1 else ''} {join_words(map(str, lines))}"


def join_words(words: Iterable[str]) -> str:
    """Join words as a sentence does: a, b and c."""
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last


def coordinates_text(number: int, dim: Dim3) -> str:
    """Format the coordinates of a linear number in a grid or block: (5, 3), or 5 in one dimension."""
    return index_in(unravel(number, dim), dim)


def index_in(index: Dim3, dim: Dim3) -> str:
    """Format an index in a grid or block: (5, 3), or 5 in one dimension."""
    used = max((axis + 1 for axis in range(3) if dim[axis] > 1), default=1)
    coordinates = index[:used]
    return str(coordinates[0]) if used == 1 else f"({', '.join(map(str, coordinates))})"


def thread_text(trace: Trace, row: int, *, block: bool = False) -> str:
    """Name the thread of an access: thread (3, 0), with its block if `block` is set."""
    text = f"thread {coordinates_text(int(trace.thread[row]), trace.block_dim)}"
    return f"{text} of {block_text(trace, int(trace.block[row]))}" if block else text


def block_text(trace: Trace, block: int) -> str:
    """Name a block: block (1, 0)."""
    return f"block {coordinates_text(block, trace.grid)}"


def element_text(buffer: Buffer, index: int) -> str:
    """Name the element at an access index, as the source does: tile_b[7, 5]."""
    coordinates = element_coordinates(buffer, index)
    if coordinates is None:
        return f"byte {index * buffer.unit} of {buffer.name}"
    return f"{buffer.name}[{', '.join(map(str, coordinates))}]" if coordinates else buffer.name


def element_coordinates(buffer: Buffer, index: int) -> tuple[int, ...] | None:
    """Compute the coordinates of an access index in the buffer's shape, None if it is outside."""
    rest, coordinates = index * buffer.unit, [0] * len(buffer.shape)
    for axis in sorted(range(len(coordinates)), key=lambda axis: -abs(buffer.strides[axis])):
        stride = buffer.strides[axis]
        coordinates[axis] = max(0, min(rest // stride, buffer.shape[axis] - 1)) if stride else 0
        rest -= coordinates[axis] * stride
    return tuple(coordinates) if rest == 0 else None


def access_element(trace: Trace, row: int) -> str:
    """Name the element of an access."""
    return element_text(trace.buffers[int(trace.buffer[row])], int(trace.index[row]))


def value_text(trace: Trace, row: int) -> str:
    """Format the value of an access with four significant digits, integers in full; "" without a value."""
    if trace.value is None:
        return ""
    dtype = np.dtype(trace.buffers[int(trace.buffer[row])].dtype)
    value = trace.value[row]
    if dtype.kind == "c":
        return f"{complex(value):.4g}"
    number = float(value.real)
    return str(int(number)) if dtype.kind in "iub" and np.isfinite(number) else f"{number:.4g}"
