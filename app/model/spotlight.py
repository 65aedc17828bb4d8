"""Spotlights: what stands out by its name while the rest dims, as it was typed and as a session has it. No Qt.

A name has one of these forms:

    A                       a buffer, as the panes name it or as the kernel's source does
    C[2, 3]                 an element; also A[2, :], A[0:4, 1], and A[2] for all that begins so
    thread 5                of the block in focus: the cells that it accesses now, and those that it ever writes
    warp 1                  the same of a warp's lanes, and its row in the timeline; (1, 0) are coordinates
    block 3                 what the block accesses of global memory, and its shared memory where it is in focus
    line 12, line "acc +="  of the kernel's source, by its number or by text: the first that holds it
    counter global sectors  a number under a pane, by its label; counter compiled is the line below them
    left, right             a pane: alone it stands out as a whole, beside other names these are meant in it alone

The words of work-items are understood too: work-item 5, wavefront 1, work-group 3.
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
from ...tracer.model.finding import counted
from ...tracer.model.trace import ALIAS_SEPARATOR, WARP, Buffer, Dim3
from .bookmark import Bookmark
from .counter_labels import COMPILED, counter_labels
from .kernel_source import cuda_c_of, kernel_file, lines_of, source_text
from .session import Selection, Session, buffer_text
from .visible_text import visible
from .vocabulary import text_in_words, vocabulary

Form = Literal["buffer", "element", "thread", "warp", "block", "line", "counter", "pane"]
PANES = ("left", "right")
LONGEST = 60  # letters of a name that are told of one that is not known
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
    """The indices along a dimension, as in a slice: first <= i < end, None for the ends, below 0 from the end."""

    first: int | None
    end: int | None


class Target(Struct, frozen=True):
    """One name of a spotlight, as it was read."""

    name: str  # as it was typed
    form: Form
    text: str = ""  # of a buffer, a counter or a pane its name, of a line what it holds
    place: tuple[int, ...] = ()  # a number of a thread, warp, block or line; or coordinates, x first
    spans: tuple[Span, ...] = ()  # of elements, along the first dimensions


class Spotlight(Struct, frozen=True):
    """What stands out, by its names; without any nothing dims."""

    targets: tuple[Target, ...] = ()


Elements = tuple[int, tuple[tuple[int, int], ...]]  # a buffer's number; (first, end) along each dimension


class Lit(Struct, frozen=True):
    """What stands out of one session: a plain value, so that it can be a key of what is drawn with it."""

    buffers: frozenset[int] = frozenset()  # numbers in the trace, of those that stand out whole
    elements: frozenset[Elements] = frozenset()  # parts of buffers
    threads: frozenset[int] = frozenset()  # linear numbers in the block in focus
    warps: frozenset[int] = frozenset()  # numbers in the block in focus
    blocks: frozenset[int] = frozenset()  # linear numbers in the grid
    lines: frozenset[tuple[str, int]] = frozenset()  # of the source: file, and line from 1
    counters: frozenset[str] = frozenset()  # labels under a pane
    dark: bool = False  # what stands out is in the other pane: all of this one dims

    @property
    def in_memory(self) -> bool:
        """Whether some of it is in a picture of memory."""
        return bool(self.buffers or self.elements or self.threads or self.warps or self.blocks)

    @property
    def of_threads(self) -> bool:
        """Whether some of it are threads, warps or blocks."""
        return bool(self.threads or self.warps or self.blocks)

    def has_warp_of(self, selection: Selection) -> bool:
        """Return whether the warp of the selected thread stands out, a thread of it, or its block."""
        warps = self.warps | {thread // WARP for thread in self.threads}
        return selection.block in self.blocks or selection.thread // WARP in warps

    def __or__(self, other: Lit) -> Lit:
        return Lit(**{name: getattr(self, name) | getattr(other, name) for name in self.__struct_fields__})


DARK = Lit(dark=True)


def split_names(text: str) -> tuple[str, ...]:
    """Return the names in a text that has commas between them, but for those in brackets and in quotation marks."""
    names = [name.strip() for name in _BETWEEN.findall(text)]
    return tuple(name for name in names if name)


def parse_spotlight(names: Iterable[str]) -> Spotlight:
    """Return what names mean by their form; raises ValueError with one sentence for a form that is not known."""
    return Spotlight(tuple(map(_target, names)))


def _target(name: str) -> Target:
    text = name.strip()
    for read in (_pane, _numbered, _line, _counter, _element, _buffer):
        found = read(name, text)
        if found is not None:
            return found
    raise ValueError(f'Nothing can stand out by the name "{_shown(name)}"; write {FORMS}.')


def _shown(text: str) -> str:
    """Return a text of somebody's in a sentence of ours: on one line, and not all of a long one."""
    return visible(text if len(text) <= LONGEST else f"{text[:LONGEST]}…")


def _pane(name: str, text: str) -> Target | None:
    return Target(name, "pane", text.lower()) if text.lower() in PANES else None


def _numbered(name: str, text: str) -> Target | None:
    found = _NUMBERED.fullmatch(text)
    if found is None:
        return None
    place = tuple(map(int, re.findall(r"\d+", found[2] or found[3])))
    return Target(name, _WORDS[found[1].lower()], place=place)


def _line(name: str, text: str) -> Target | None:
    found = _LINE.fullmatch(text)
    if found is None:
        return None
    return Target(name, "line", found[3] or "", (int(found[1]),) if found[1] else ())


def _counter(name: str, text: str) -> Target | None:
    found = _COUNTER.fullmatch(text)
    return Target(name, "counter", _plain(found[1])) if found else None


def _element(name: str, text: str) -> Target | None:
    found = _ELEMENT.fullmatch(text)
    if found is None:
        return None
    spans = [_span(part) for part in found[2].split(",")]
    read = tuple(span for span in spans if span is not None)
    return Target(name, "element", found[1], spans=read) if len(read) == len(spans) else None


def _span(text: str) -> Span | None:
    """Return what an index or a slice without a step means, None for anything else."""
    found = _SPAN.fullmatch(text)
    if found is None or not text.strip() or (found[3] and not found[2]):
        return None
    first, end = (int(number) if number else None for number in found.group(1, 3))
    if found[2] or first is None:
        return Span(first, end)
    return Span(first, first + 1 if first != -1 else None)


def _buffer(name: str, text: str) -> Target | None:
    return Target(name, "buffer", text) if _BUFFER.fullmatch(text) else None


def _plain(label: str) -> str:
    return " ".join(label.lower().replace("_", " ").split())


def resolve(spotlight: Spotlight, sessions: Sequence[Session | None]) -> tuple[Lit | None, ...]:
    """Return what stands out in each pane, from left to right; None where nothing dims.

    A pane without any of it dims as a whole where another has some; where none has, nothing dims.
    """
    panes = {PANES.index(target.text) for target in spotlight.targets if target.form == "pane"}
    named = [target for target in spotlight.targets if target.form != "pane"]
    if not named:
        shown = panes & set(range(len(sessions)))
        return tuple(None if i in shown or not shown else DARK for i in range(len(sessions)))
    found = [
        _found(named, session) if session and (i in panes or not panes) else Lit()
        for i, session in enumerate(sessions)
    ]
    if not any(lit != Lit() for lit in found):
        return (None,) * len(sessions)
    return tuple(lit if lit != Lit() else DARK for lit in found)


def lit_of(names: Sequence[str], sessions: Sequence[Session | None]) -> tuple[Lit | None, ...]:
    """Return the same for names as they were typed; those of unknown form are left out, as what no pane has is."""
    targets: list[Target] = []
    for name in names:
        with suppress(ValueError):
            targets.append(_target(name))
    return resolve(Spotlight(tuple(targets)), sessions)


def _found(targets: Sequence[Target], session: Session) -> Lit:
    lit = Lit()
    for target in targets:
        meant = _MEANINGS[target.form](target, session)
        lit = lit if isinstance(meant, str) else lit | meant
    return lit


def unknown_names(names: Sequence[str], sessions: Sequence[Session | None]) -> dict[str, str]:
    """Return for each name that no pane has one sentence that says so, and what there is.

    sessions: of the panes, from left to right. Raises ValueError as `parse_spotlight` does.
    """
    targets = parse_spotlight(names).targets
    panes = {PANES.index(target.text) for target in targets if target.form == "pane"}
    asked = [s for i, s in enumerate(sessions) if s is not None and (i in panes or not panes)]
    found: dict[str, str] = {}
    for target in targets:
        if target.form == "pane":
            reasons = [] if PANES.index(target.text) < len(sessions) else [_no_pane(target)]
        else:
            meant = [_MEANINGS[target.form](target, session) for session in asked]
            reasons = [m for m in meant if isinstance(m, str)] if not _any_lit(meant) else []
        if reasons:
            found[target.name] = reasons[0]
    return found


def hidden_names(look: Bookmark, sessions: Sequence[Session | None]) -> dict[str, str]:
    """Return for each name that a pane has, but that the window does not show, one sentence that says so.

    look: what the window shows, with the spotlight; sessions: of its panes, from left to right. Raises ValueError as
    `parse_spotlight` does.
    """
    targets = parse_spotlight(look.spotlight).targets
    panes = {PANES.index(target.text) for target in targets if target.form == "pane"}
    asked = {i: s for i, s in enumerate(sessions) if s is not None and (i in panes or not panes)}
    found: dict[str, str] = {}
    for target in targets:
        if target.form != "pane":
            having = {i: s for i, s in asked.items() if isinstance(_MEANINGS[target.form](target, s), Lit)}
            reason = _why_hidden(target, look, having) if having else ""
            if reason:
                found[target.name] = f"{_shown(target.name.strip())} cannot be seen to stand out: {reason}."
    return found


def _why_hidden(target: Target, look: Bookmark, having: Mapping[int, Session]) -> str:
    """Return why what stands out is not on screen, "" where it is; having: the sessions that have it, by pane."""
    if look.chart:
        return "a chart is in place of the panes"
    if target.form == "counter" and target.text.lower() == COMPILED and look.compiled == "hidden":
        return "counters as compiled are not shown; add compiled: shown"
    if target.form == "line":
        beside = look.side == "shown" or (look.side == "auto" and look.layout == "ordinary")
        if not beside or look.tab != "source":
            return "the source is not shown; add panel: source"
        return "" if look.focus in having else "the source shown is the other pane's; add focus"
    if target.form in ("buffer", "element") and look.zoom:
        buffers = (buffer for session in having.values() for buffer in session.trace.buffers)
        if not any(target.text in _names(b) and _names(b) & set(look.zoom) for b in buffers):
            return f"zoom shows {_listed(look.zoom)} alone"
    return ""


def _any_lit(meant: Iterable[Lit | str]) -> bool:
    return any(isinstance(one, Lit) for one in meant)


def _no_pane(target: Target) -> str:
    return f"There is no {target.text} pane here; one is shown."


# What a target means in a session: a `Lit`, or one sentence that says why there is nothing of it.


def _buffer_meaning(target: Target, session: Session) -> Lit | str:
    numbers = _buffers(target.text, session)
    return Lit(buffers=frozenset(numbers)) if numbers else _no_buffer(target.text, session)


def _buffers(name: str, session: Session) -> list[int]:
    """Return the numbers of the buffers of this name."""
    return [n for n, b in enumerate(session.trace.buffers) if name in _names(b)]


def _names(buffer: Buffer) -> set[str]:
    """Return all names of a buffer: as panes have it, as the source has it, and of several in one memory each."""
    return {buffer_text(buffer), buffer.name, *buffer.name.split(ALIAS_SEPARATOR)}


def _no_buffer(name: str, session: Session) -> str:
    there = list(dict.fromkeys(visible(buffer_text(b)) for b in session.trace.buffers))
    return f"There is no buffer {_shown(name)} here{did_you_mean(name, there)}"


def _listed(words: Sequence[str]) -> str:
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def _element_meaning(target: Target, session: Session) -> Lit | str:
    numbers = _buffers(target.text, session)
    if not numbers:
        return _no_buffer(target.text, session)
    parts = {n: _part(target.spans, session.trace.buffers[n].shape) for n in numbers}
    found = frozenset((n, part) for n, part in parts.items() if part is not None)
    if found:
        return Lit(elements=found)
    buffer = session.trace.buffers[numbers[0]]
    shape = " × ".join(map(str, buffer.shape)) or "that of a single number"
    return (
        f"{visible(buffer_text(buffer))} has nothing at {_shown(target.name.strip())}; its shape is {shape}."
    )


def _part(spans: Sequence[Span], shape: tuple[int, ...]) -> tuple[tuple[int, int], ...] | None:
    """Return (first, end) along each dimension, None where nothing is there."""
    if len(spans) > len(shape):
        return None
    ranges = [slice(*span).indices(length)[:2] for span, length in zip(spans, shape, strict=False)]
    ranges += [(0, length) for length in shape[len(spans) :]]
    return tuple(ranges) if all(first < end for first, end in ranges) else None


def _thread_meaning(target: Target, session: Session) -> Lit | str:
    number = _number(target.place, session.trace.block_dim)
    if number is None:
        return f"There is no {_called(target)} here; {_range('a block', 'thread', session.trace.block_dim)}."
    return Lit(threads=frozenset([number]))


def _warp_meaning(target: Target, session: Session) -> Lit | str:
    number = _number(target.place, (session.trace.warps, 1, 1))
    if number is None:
        return f"There is no {_called(target)} here; a block has {counted(session.trace.warps, 'warp')}."
    return Lit(warps=frozenset([number]))


def _block_meaning(target: Target, session: Session) -> Lit | str:
    trace = session.trace
    number = _number(target.place, trace.grid)
    if number is None:
        return f"There is no {_called(target)} here; {_range('the grid', 'block', trace.grid)}."
    if number not in trace.blocks:
        return f"The trace holds no accesses of {_called(target)}."
    return Lit(blocks=frozenset([number]))


def _number(place: tuple[int, ...], dim: Dim3) -> int | None:
    """Return the linear number that a number or coordinates (x, y, z) mean, None outside."""
    if len(place) == 1:
        return place[0] if place[0] < math.prod(dim) else None
    if any(at >= length for at, length in zip(place, dim, strict=False)):
        return None
    x, y, z = (*place, 0)[:3]
    return x + dim[0] * (y + dim[1] * z)


def _called(target: Target) -> str:
    place = target.place
    return f"{target.form} {place[0] if len(place) == 1 else place}"


def _range(whose: str, noun: str, dim: Dim3) -> str:
    last = math.prod(dim) - 1
    return f"{whose} has {noun}s 0 to {last}" if last else f"{whose} has one {noun}, {noun} 0"


def _line_meaning(target: Target, session: Session) -> Lit | str:
    return _numbered_line(target, session) if target.place else _line_of_text(target.text, session)


def _numbered_line(target: Target, session: Session) -> Lit | str:
    number, own = target.place[0], _own_sources(session)
    many = {file: len(text.splitlines()) for file, text in own.items()}
    found = frozenset((file, number) for file in own if 0 < number <= many[file])
    if found:
        return Lit(lines=found)
    return f"There is no line {number} here; the source has {counted(max(many.values()), 'line')}."


def _line_of_text(wanted: str, session: Session) -> Lit | str:
    kernel, own = session.trace.kernel, _own_sources(session)
    found = {(file, _line_with(wanted, text, kernel)) for file, text in own.items()}
    found = {place for place in found if place[1]}
    others = ((file, text) for file, text in session.trace.sources.items() if file not in own)
    while not found and (other := next(others, None)):
        found = {(other[0], line) for line in [_line_with(wanted, other[1], kernel)] if line}
    return Lit(lines=frozenset(found)) if found else f'No line of the source here holds "{_shown(wanted)}".'


def _own_sources(session: Session) -> dict[str, str]:
    """Return the text of the kernel's own file, by its name, and of that in CUDA C where it is timed so."""
    home, twin = kernel_file(session), cuda_c_of(session)
    return {home: source_text(session, home)} | ({twin[0]: twin[1]} if twin else {})


def _line_with(wanted: str, text: str, kernel: str) -> int:
    """Return the line (from 1) that holds a text: the first of the kernel's that does, else of the file; 0 for none."""
    holding = [number for number, line in enumerate(text.splitlines(), 1) if wanted in line]
    first, last = lines_of(text, kernel)
    return next((n for n in holding if first <= n <= last), holding[0] if holding else 0)


def _counter_meaning(target: Target, session: Session) -> Lit | str:
    words = vocabulary("own", session.scenario)
    labels = counter_labels(session)
    found = [label for label in labels if target.text in (_plain(label), _plain(text_in_words(label, words)))]
    if found:
        return Lit(counters=frozenset(found))
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
