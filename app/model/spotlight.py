"""Spotlights: names that users type, and the items they highlight in a session while the rest dims. No Qt.

A name has one of these forms:

    A                       a buffer, as the panes name it or as the kernel's source does
    C[2, 3]                 an element; also A[2, :], A[0:4, 1], and A[2] for all that begins so
    thread 5                of the block in focus: the cells that it accesses now, and those that it ever writes
    warp 1                  the same for a warp's lanes, and its row in the timeline; (1, 0) are coordinates
    block 3                 its accesses of global memory, and its shared memory if the block is in focus
    line 12, line "acc +="  of the kernel's source, by number or by text: the first line that contains it
    counter global sectors  a number under a pane, by its label; counter compiled is the line below them
    left, right             a pane: without other names all of it is highlighted; else it limits those names to it

Terms for work-items are understood too: work-item 5, wavefront 1, work-group 3.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Literal, NamedTuple

from msgspec import Struct

from ...kernels.scenarios.scenario import WORK_ITEM_WORDS
from ...kernels.scenarios.suggestions import did_you_mean
from ...tracer.model.finding import count_noun, join_words
from ...tracer.model.trace import ALIAS_SEPARATOR, WARP, Buffer, Dim3
from .bookmark import Bookmark
from .counter_labels import COMPILED, counter_labels
from .kernel_source import counterpart_of, cuda_c_of, function_lines, kernel_file, source_text
from .session import Selection, Session, buffer_text
from .visible_text import escape_controls
from .vocabulary import text_in_words, vocabulary

Form = Literal["buffer", "element", "thread", "warp", "block", "line", "counter", "pane"]
PANES = ("left", "right")
LONGEST = 60  # letters of an unknown name that an error message shows
FORMS = 'A, C[2, 3], thread 5, warp 1, block 3, line 12, line "acc +=", counter global sectors, left or right'

_WORDS: dict[str, Form] = {"thread": "thread", "warp": "warp", "block": "block"}
_WORDS |= {WORK_ITEM_WORDS[word]: form for word, form in list(_WORDS.items())}
_NUMBERED = re.compile(
    rf"({'|'.join(_WORDS)})\s+(?:(\d{{1,9}})|\((\d{{1,9}}(?:\s*,\s*\d{{1,9}}){{0,2}})\))", re.IGNORECASE
)
_LINE = re.compile(r"""line\s+(?:(\d{1,9})|(["'])(.+)\2)""", re.IGNORECASE)
_COUNTER = re.compile(r"counter\s+(\S.*)", re.IGNORECASE)
_ELEMENT = re.compile(r"([^\W\d][\w./]*)\s*\[([^\[\]]+)\]")
_BUFFER = re.compile(r"[^\W\d][\w./]*")
_BETWEEN = re.compile(r"""(?:\[[^\]]*\]|\([^)]*\)|"[^"]*"|'[^']*'|[^,])+""")
_SPAN = re.compile(r"\s*(-?\d{1,9})?\s*(:)?\s*(-?\d{1,9})?\s*")


class Span(NamedTuple):
    """A slice of indices along a dimension: first <= i < end; None for the ends, negative from the end."""

    first: int | None
    end: int | None


class Target(Struct, frozen=True):
    """One parsed name of a spotlight."""

    name: str  # as typed
    form: Form
    text: str = ""  # the name of a buffer, counter or pane; the text in a line
    place: tuple[int, ...] = ()  # number of a thread, warp, block or line; or coordinates, x first
    spans: tuple[Span, ...] = ()  # of elements, along the first dimensions


class Spotlight(Struct, frozen=True):
    """The highlighted items, by name; without targets nothing dims."""

    targets: tuple[Target, ...] = ()


Elements = tuple[int, tuple[tuple[int, int], ...]]  # a buffer's number; (first, end) along each dimension


class Highlight(Struct, frozen=True):
    """The highlighted items of one session: a plain value, so that drawings can use it as a key."""

    buffers: frozenset[int] = frozenset()  # numbers in the trace of buffers that are highlighted completely
    elements: frozenset[Elements] = frozenset()  # parts of buffers
    threads: frozenset[int] = frozenset()  # linear numbers in the block in focus
    warps: frozenset[int] = frozenset()  # numbers in the block in focus
    blocks: frozenset[int] = frozenset()  # linear numbers in the grid
    lines: frozenset[tuple[str, int]] = frozenset()  # of the source: file, and line from 1
    counters: frozenset[str] = frozenset()  # labels under a pane
    dims_all: bool = False  # the other pane has the highlighted items: all of this one dims

    @property
    def has_memory(self) -> bool:
        """Whether some items are in a picture of memory."""
        return bool(self.buffers or self.elements or self.threads or self.warps or self.blocks)

    @property
    def has_threads(self) -> bool:
        """Whether some items are threads, warps or blocks."""
        return bool(self.threads or self.warps or self.blocks)

    def has_warp_of(self, selection: Selection) -> bool:
        """Check whether the warp of the selected thread, one of its threads, or its block is highlighted."""
        warps = self.warps | {thread // WARP for thread in self.threads}
        return selection.block in self.blocks or selection.thread // WARP in warps

    def __or__(self, other: Highlight) -> Highlight:
        return Highlight(
            **{name: getattr(self, name) | getattr(other, name) for name in self.__struct_fields__}
        )


DIM_ALL = Highlight(dims_all=True)


def split_names(text: str) -> tuple[str, ...]:
    """Split a text at commas, except inside brackets and quotation marks."""
    names = [name.strip() for name in _BETWEEN.findall(text)]
    return tuple(name for name in names if name)


def parse_spotlight(names: Iterable[str]) -> Spotlight:
    """Parse names by their form; raises ValueError with one sentence for an unknown form."""
    return Spotlight(tuple(map(_target, names)))


def _target(name: str) -> Target:
    text = name.strip()
    for parse in (_pane, _numbered, _line, _counter, _element, _buffer):
        target = parse(name, text)
        if target is not None:
            return target
    raise ValueError(f'Nothing can stand out by the name "{_shown(name)}"; write {FORMS}.')


def _shown(text: str) -> str:
    """Show a user's text in an error message: on one line, and shortened if it is long."""
    return escape_controls(text if len(text) <= LONGEST else f"{text[:LONGEST]}…")


def _pane(name: str, text: str) -> Target | None:
    return Target(name, "pane", text.lower()) if text.lower() in PANES else None


def _numbered(name: str, text: str) -> Target | None:
    match = _NUMBERED.fullmatch(text)
    if match is None:
        return None
    place = tuple(map(int, re.findall(r"\d+", match[2] or match[3])))
    return Target(name, _WORDS[match[1].lower()], place=place)


def _line(name: str, text: str) -> Target | None:
    match = _LINE.fullmatch(text)
    if match is None:
        return None
    return Target(name, "line", match[3] or "", (int(match[1]),) if match[1] else ())


def _counter(name: str, text: str) -> Target | None:
    match = _COUNTER.fullmatch(text)
    return Target(name, "counter", _plain(match[1])) if match else None


def _element(name: str, text: str) -> Target | None:
    match = _ELEMENT.fullmatch(text)
    if match is None:
        return None
    spans = [_span(part) for part in match[2].split(",")]
    parsed = tuple(span for span in spans if span is not None)
    return Target(name, "element", match[1], spans=parsed) if len(parsed) == len(spans) else None


def _span(text: str) -> Span | None:
    """Parse an index or a slice without a step, None for anything else."""
    match = _SPAN.fullmatch(text)
    if match is None or not text.strip() or (match[3] and not match[2]):
        return None
    first, end = (int(number) if number else None for number in match.group(1, 3))
    if match[2] or first is None:
        return Span(first, end)
    return Span(first, first + 1 if first != -1 else None)


def _buffer(name: str, text: str) -> Target | None:
    return Target(name, "buffer", text) if _BUFFER.fullmatch(text) else None


def _plain(label: str) -> str:
    return " ".join(label.lower().replace("_", " ").split())


def resolve_spotlight(
    spotlight: Spotlight, sessions: Sequence[Session | None]
) -> tuple[Highlight | None, ...]:
    """Find the highlighted items of each pane, from left to right; None where nothing dims.

    A pane without any highlighted item dims completely if another pane has one; if none has, nothing dims.
    """
    panes = {PANES.index(target.text) for target in spotlight.targets if target.form == "pane"}
    named = [target for target in spotlight.targets if target.form != "pane"]
    if not named:
        shown = panes & set(range(len(sessions)))
        return tuple(None if i in shown or not shown else DIM_ALL for i in range(len(sessions)))
    highlights = [
        _highlight(named, session) if session and (i in panes or not panes) else Highlight()
        for i, session in enumerate(sessions)
    ]
    if not any(highlight != Highlight() for highlight in highlights):
        return (None,) * len(sessions)
    return tuple(highlight if highlight != Highlight() else DIM_ALL for highlight in highlights)


def resolve_highlights(
    names: Sequence[str], sessions: Sequence[Session | None]
) -> tuple[Highlight | None, ...]:
    """Do the same for typed names; names of unknown form are left out, like names that no pane has."""
    targets: list[Target] = []
    for name in names:
        with suppress(ValueError):
            targets.append(_target(name))
    return resolve_spotlight(Spotlight(tuple(targets)), sessions)


def _highlight(targets: Sequence[Target], session: Session) -> Highlight:
    highlight = Highlight()
    for target in targets:
        meaning = _MEANINGS[target.form](target, session)
        highlight = highlight if isinstance(meaning, str) else highlight | meaning
    return highlight


def unknown_names(names: Sequence[str], sessions: Sequence[Session | None]) -> dict[str, str]:
    """Map each name that no pane has to one sentence with the valid names.

    sessions: of the panes, from left to right. Raises ValueError as `parse_spotlight` does.
    """
    targets = parse_spotlight(names).targets
    panes = {PANES.index(target.text) for target in targets if target.form == "pane"}
    asked = [s for i, s in enumerate(sessions) if s is not None and (i in panes or not panes)]
    problems: dict[str, str] = {}
    for target in targets:
        if target.form == "pane":
            reasons = [] if PANES.index(target.text) < len(sessions) else [_no_pane(target)]
        else:
            meanings = [_MEANINGS[target.form](target, session) for session in asked]
            reasons = [m for m in meanings if isinstance(m, str)] if not _has_highlight(meanings) else []
        if reasons:
            problems[target.name] = reasons[0]
    return problems


def hidden_names(look: Bookmark, sessions: Sequence[Session | None]) -> dict[str, str]:
    """Map each name that a pane has, but that the window does not show, to one sentence with the reason.

    look: what the window shows, with the spotlight; sessions: of its panes, from left to right. Raises ValueError as
    `parse_spotlight` does.
    """
    targets = parse_spotlight(look.spotlight).targets
    panes = {PANES.index(target.text) for target in targets if target.form == "pane"}
    asked = {i: s for i, s in enumerate(sessions) if s is not None and (i in panes or not panes)}
    problems: dict[str, str] = {}
    for target in targets:
        if target.form != "pane":
            owners = {
                i: s for i, s in asked.items() if isinstance(_MEANINGS[target.form](target, s), Highlight)
            }
            reason = _why_hidden(target, look, owners, sessions) if owners else ""
            if reason:
                problems[target.name] = (
                    f"{_shown(target.name.strip())} cannot be seen to stand out: {reason}."
                )
    return problems


def _why_hidden(
    target: Target, look: Bookmark, owners: Mapping[int, Session], sessions: Sequence[Session | None]
) -> str:
    """Explain why a highlighted item is not on screen, "" if it is; owners: the sessions that have it, by pane."""
    if look.chart:
        return "a chart is in place of the panes"
    if target.form == "counter" and target.text.lower() == COMPILED and look.compiled == "hidden":
        return "counters as compiled are not shown; add compiled: shown"
    if target.form == "line":
        shows_side = look.side == "shown" or (look.side == "auto" and look.layout == "ordinary")
        if not shows_side or look.tab != "source":
            return "the source is not shown; add panel: source"
        seen = {look.focus, counterpart_of(sessions, look.focus)}
        return "" if seen & owners.keys() else "the source shown is the other pane's; add focus"
    if target.form in ("buffer", "element") and look.zoom:
        buffers = (buffer for session in owners.values() for buffer in session.trace.buffers)
        if not any(target.text in _names(b) and _names(b) & set(look.zoom) for b in buffers):
            return f"zoom shows only {join_words(look.zoom)}"
    return ""


def _has_highlight(meanings: Iterable[Highlight | str]) -> bool:
    return any(isinstance(meaning, Highlight) for meaning in meanings)


def _no_pane(target: Target) -> str:
    return f"There is no {target.text} pane here; one is shown."


# What a target means in a session: a `Lit`, or one sentence that explains why it is missing.


def _buffer_meaning(target: Target, session: Session) -> Highlight | str:
    numbers = _buffers(target.text, session)
    return Highlight(buffers=frozenset(numbers)) if numbers else _no_buffer(target.text, session)


def _buffers(name: str, session: Session) -> list[int]:
    """Find the numbers of the buffers of this name."""
    return [n for n, b in enumerate(session.trace.buffers) if name in _names(b)]


def _names(buffer: Buffer) -> set[str]:
    """Collect all names of a buffer: its label, its name in the source, and the aliases of shared memory."""
    return {buffer_text(buffer), buffer.name, *buffer.name.split(ALIAS_SEPARATOR)}


def _no_buffer(name: str, session: Session) -> str:
    there = list(dict.fromkeys(escape_controls(buffer_text(b)) for b in session.trace.buffers))
    return f"There is no buffer {_shown(name)} here{did_you_mean(name, there)}"


def _element_meaning(target: Target, session: Session) -> Highlight | str:
    numbers = _buffers(target.text, session)
    if not numbers:
        return _no_buffer(target.text, session)
    parts = {n: _part(target.spans, session.trace.buffers[n].shape) for n in numbers}
    elements = frozenset((n, part) for n, part in parts.items() if part is not None)
    if elements:
        return Highlight(elements=elements)
    buffer = session.trace.buffers[numbers[0]]
    shape = " × ".join(map(str, buffer.shape)) or "that of a single number"
    return f"{escape_controls(buffer_text(buffer))} has nothing at {_shown(target.name.strip())}; its shape is {shape}."


def _part(spans: Sequence[Span], shape: tuple[int, ...]) -> tuple[tuple[int, int], ...] | None:
    """Return (first, end) along each dimension, None if nothing is there."""
    if len(spans) > len(shape):
        return None
    ranges = [slice(*span).indices(length)[:2] for span, length in zip(spans, shape, strict=False)]
    ranges += [(0, length) for length in shape[len(spans) :]]
    return tuple(ranges) if all(first < end for first, end in ranges) else None


def _thread_meaning(target: Target, session: Session) -> Highlight | str:
    number = _number(target.place, session.trace.block_dim)
    if number is None:
        return f"There is no {_called(target)} here; {_range('a block', 'thread', session.trace.block_dim)}."
    return Highlight(threads=frozenset([number]))


def _warp_meaning(target: Target, session: Session) -> Highlight | str:
    number = _number(target.place, (session.trace.warps, 1, 1))
    if number is None:
        return f"There is no {_called(target)} here; a block has {count_noun(session.trace.warps, 'warp')}."
    return Highlight(warps=frozenset([number]))


def _block_meaning(target: Target, session: Session) -> Highlight | str:
    trace = session.trace
    number = _number(target.place, trace.grid)
    if number is None:
        return f"There is no {_called(target)} here; {_range('the grid', 'block', trace.grid)}."
    if number not in trace.blocks:
        return f"The trace holds no accesses of {_called(target)}."
    return Highlight(blocks=frozenset([number]))


def _number(place: tuple[int, ...], dim: Dim3) -> int | None:
    """Convert a number or coordinates (x, y, z) to a linear number, None if outside."""
    if len(place) == 1:
        return place[0] if place[0] < math.prod(dim) else None
    if any(index >= length for index, length in zip(place, dim, strict=False)):
        return None
    x, y, z = (*place, 0)[:3]
    return x + dim[0] * (y + dim[1] * z)


def _called(target: Target) -> str:
    place = target.place
    return f"{target.form} {place[0] if len(place) == 1 else place}"


def _range(owner: str, noun: str, dim: Dim3) -> str:
    last = math.prod(dim) - 1
    return f"{owner} has {noun}s 0 to {last}" if last else f"{owner} has one {noun}, {noun} 0"


def _line_meaning(target: Target, session: Session) -> Highlight | str:
    return _numbered_line(target, session) if target.place else _line_of_text(target.text, session)


def _numbered_line(target: Target, session: Session) -> Highlight | str:
    number, own = target.place[0], _own_sources(session)
    line_counts = {file: len(text.splitlines()) for file, text in own.items()}
    lines = frozenset((file, number) for file in own if 0 < number <= line_counts[file])
    if lines:
        return Highlight(lines=lines)
    return f"There is no line {number} here; the source has {count_noun(max(line_counts.values()), 'line')}."


def _line_of_text(wanted: str, session: Session) -> Highlight | str:
    kernel, own = session.trace.kernel, _own_sources(session)
    lines = {(file, _line_with(wanted, text, kernel)) for file, text in own.items()}
    lines = {place for place in lines if place[1]}
    others = ((file, text) for file, text in session.trace.sources.items() if file not in own)
    while not lines and (other := next(others, None)):
        lines = {(other[0], line) for line in [_line_with(wanted, other[1], kernel)] if line}
    return (
        Highlight(lines=frozenset(lines))
        if lines
        else f'No line of the source here holds "{_shown(wanted)}".'
    )


def _own_sources(session: Session) -> dict[str, str]:
    """Return the text of the kernel's own file, by its name, and of its CUDA C twin if it is timed."""
    home, twin = kernel_file(session), cuda_c_of(session)
    return {home: source_text(session, home)} | ({twin[0]: twin[1]} if twin else {})


def _line_with(wanted: str, text: str, kernel: str) -> int:
    """Find the first line (from 1) that contains a text, in the kernel if possible, else in the file; 0 for none."""
    matching = [number for number, line in enumerate(text.splitlines(), 1) if wanted in line]
    first, last = function_lines(text, kernel)
    return next((n for n in matching if first <= n <= last), matching[0] if matching else 0)


def _counter_meaning(target: Target, session: Session) -> Highlight | str:
    words = vocabulary("own", session.scenario)
    labels = counter_labels(session)
    matching = [
        label for label in labels if target.text in (_plain(label), _plain(text_in_words(label, words)))
    ]
    if matching:
        return Highlight(counters=frozenset(matching))
    return f"There is no counter {_shown(target.text)} here{did_you_mean(target.text, labels)}"


_MEANINGS: dict[Form, Callable[[Target, Session], Any]] = {
    "buffer": _buffer_meaning,
    "element": _element_meaning,
    "thread": _thread_meaning,
    "warp": _warp_meaning,
    "block": _block_meaning,
    "line": _line_meaning,
    "counter": _counter_meaning,
}
