"""What the memory view shows of a session at a moment: codes of cells, marks, frames, flights, words. No Qt."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...tracer.memory import INTO_SHARED, NOWHERE
from ...tracer.requests import KINDS
from ...tracer.trace import WARP, Op
from ..session import Selection, Session
from . import cells, marks
from .frames import Frames, Part, frames_of
from .layout import Place, roles_of
from .sheet import Ints, Sheet, index_of
from .wording import buffer_text, element_text, place_text, plural, value_text

Bools = NDArray[np.bool_]
Places = Mapping[int, Place]
MOST_TEXTS = 2000
COLOUR_BY = ("auto", "value", "reads")
VERBS = {"load": ("reads", "from"), "store": ("writes", "to"), "atomic": ("updates", "in")}


class Mark(NamedTuple):
    """Cells of one buffer that are accessed now, by which kind of request, and whether by the selected warp."""

    buffer: int
    kind: str
    own: bool
    rows: Ints
    cols: Ints


class Flight(NamedTuple):
    """Loads of one kind on their way: where they start and end, in pixels (n, 2), and who makes them."""

    kind: str
    start: NDArray[np.float64]
    end: NDArray[np.float64]
    own: Bools
    chosen: Bools


class Group(NamedTuple):
    """Buffers that share a colour scale."""

    buffers: tuple[int, ...]
    by_reads: bool
    span: cells.Range


@dataclass(frozen=True, eq=False)
class Scene:
    """A session as the memory view draws it; what is derived is computed once."""

    session: Session
    _stores: dict[int, Ints] = field(default_factory=dict)

    @cached_property
    def roles(self) -> dict[str, int]:
        """Return the buffer number for "left", "above" and "result", if the launch is a product."""
        scenario = self.session.scenario
        return roles_of(self.session.trace.buffers, sorted(self.stored), scenario.roles if scenario else {})

    @cached_property
    def stored(self) -> frozenset[int]:
        """Return the buffers that the launch writes."""
        return self._buffers_with(self.session.requests.op != Op.LOAD)

    @cached_property
    def loaded(self) -> frozenset[int]:
        """Return the buffers that the launch reads."""
        return self._buffers_with(self.session.requests.op != Op.STORE)

    def _buffers_with(self, wanted: Bools) -> frozenset[int]:
        return frozenset(np.unique(self.session.requests.buffer[wanted]).tolist())

    def by_reads(self, buffer: int, colour_by: str) -> bool:
        """Return whether a buffer is coloured by times read; "auto": if it is only read, or has no plain values."""
        valued = self.session.trace.value is not None
        valued = valued and np.dtype(self.session.trace.buffers[buffer].dtype).kind != "V"
        wanted = {"value": False, "reads": True}.get(
            colour_by, buffer not in self.stored and buffer in self.loaded
        )
        return wanted or not valued

    def groups(self, colour_by: str, selection: Selection, top: int = 0) -> list[Group]:
        """Return the colour scales; `top` is where that of times read in global memory ends, 0 for the trace's own."""
        found: dict[tuple[bool, str, bool], list[int]] = {}
        for number, buffer in enumerate(self.session.trace.buffers):
            by_reads = self.by_reads(number, colour_by)
            key = (not by_reads, buffer.space, number in self.stored and not by_reads)
            found.setdefault(key, []).append(number)
        return [
            Group(
                tuple(n), not key[0], self._span(n, not key[0], selection, top if key[1] == "global" else 0)
            )
            for key, n in sorted(found.items())
        ]

    def _span(self, buffers: list[int], by_reads: bool, selection: Selection, top: int) -> cells.Range:
        memory, end = self.session.memory, self.session.end
        if by_reads:
            most = (memory.reads(n, end, selection.block, selection.thread).max(initial=1) for n in buffers)
            return cells.Range(1, top or int(max(most)))
        low, high = zip(*(memory.value_range(n) for n in buffers), strict=True)
        return cells.Range(min(low), max(high))

    def codes(
        self, buffer: int, sheet: Sheet, group: Group, moment: int, selection: Selection
    ) -> cells.Codes:
        """Return the code of every cell of a buffer's sheet."""
        memory, copy = self.session.memory, (selection.block, selection.thread)
        if group.by_reads:
            codes = cells.read_codes(memory.reads(buffer, moment, *copy), int(group.span.high))
        else:
            written = memory.written(buffer, moment, *copy)
            values = memory.values(buffer, moment, *copy)
            known = written | ~cells.is_poison(values)
            blank = ~written & (buffer in self.stored - self.loaded)
            codes = cells.value_codes(values, known, blank, group.span)
        codes = codes.reshape(self.session.trace.buffers[buffer].shape)
        return sheet.spread(codes, cells.OUTSIDE)

    @cached_property
    def most_reads(self) -> int:
        """Return how often the element of global memory that is read most is read."""
        memory, buffers = self.session.memory, self.session.trace.buffers
        numbers = [n for n in self.loaded if buffers[n].space == "global"]
        return max((int(memory.reads(n, self.session.end).max(initial=0)) for n in numbers), default=0)

    @cached_property
    def has_unwritten(self) -> bool:
        """Return whether some buffer begins with poison."""
        initial = self.session.trace.initial
        return len(initial) < len(self.session.trace.buffers) or any(
            cells.is_poison(a).any() for a in initial.values()
        )

    def value_texts(
        self, buffer: int, sheet: Sheet, part: Part, letters: int, moment: int, selection: Selection
    ) -> list[tuple[int, int, str]]:
        """Return (row, column, value) of the known elements in a part of a sheet, the first MOST_TEXTS of them.

        letters: how many of them a cell can show.
        """
        memory, copy = self.session.memory, (selection.block, selection.thread)
        values = memory.values(buffer, moment, *copy).ravel()
        known = memory.written(buffer, moment, *copy).ravel() | ~cells.is_poison(values)
        spots = [(r, c) for r in range(part.row0, part.row1) for c in range(part.col0, part.col1)][
            :MOST_TEXTS
        ]
        found = [(r, c, sheet.element(r, c)) for r, c in spots]
        return [(r, c, short_text(values[e], letters)) for r, c, e in found if e is not None and known[e]]

    def hover_text(self, buffer: int, element: int, moment: int, selection: Selection) -> str:
        """Return an element's name, value, times read and last writer, a line each."""
        trace, memory, copy = self.session.trace, self.session.memory, (selection.block, selection.thread)
        row = memory.writer(buffer, element, moment, *copy)
        value = memory.values(buffer, moment, *copy).ravel()[element]
        lines = [element_text(trace.buffers[buffer], index_of(trace.buffers[buffer], element))]
        if row is None and cells.is_poison(np.atleast_1d(value))[0]:
            lines[0] += ": not written yet"
        elif trace.value is not None:
            lines[0] += f" = {value_text(value)}"
        lines.append(
            f"read {plural(int(memory.reads(buffer, moment, *copy).ravel()[element]), 'time')} so far"
        )
        return "\n".join(lines if row is None else [*lines, self._writer_text(row)])

    def _writer_text(self, row: int) -> str:
        trace = self.session.trace
        thread, site = place_text(int(trace.thread[row]), trace.block_dim), trace.sites[int(trace.site[row])]
        return (
            f"last written by thread {thread} of {self.block_text(int(trace.block[row]))}, line {site.line}"
        )

    def frames(self, block: int, sheets: Mapping[int, Sheet]) -> Frames:
        """Return what a block touches of global and constant memory."""
        session = self.session
        sheets = {n: s for n, s in sheets.items() if session.trace.buffers[n].space in ("global", "constant")}
        return frames_of(session.trace, session.memory, block, sheets)

    def shown(self, rows: Ints, selection: Selection) -> Ints:
        """Return those accesses whose copy of the buffer is drawn: the selected block's, the selected thread's."""
        trace = self.session.trace
        space = np.array([b.space for b in trace.buffers])[trace.buffer[rows]]
        block, thread = trace.block[rows] == selection.block, trace.thread[rows] == selection.thread
        shown: Ints = rows[((space != "shared") | block) & ((space != "local") | (block & thread))]
        return shown

    def own(self, rows: Ints, selection: Selection) -> Bools:
        """Return which accesses are those of the selected thread's warp."""
        trace = self.session.trace
        warp = trace.thread[rows] // WARP == selection.thread // WARP
        own: Bools = warp & (trace.block[rows] == selection.block)
        return own

    def marks(self, moment: int, selection: Selection, places: Places) -> list[Mark]:
        """Return the cells that are accessed at a moment, those of the selected warp last."""
        session = self.session
        rows = self.shown(session.memory.accesses_at(moment), selection)
        kinds, own = session.requests.kind[session.requests.request[rows]], self.own(rows, selection)
        buffers = session.trace.buffer[rows].astype(np.int64)
        keys = (own * len(KINDS) + kinds) * len(session.trace.buffers) + buffers
        found = []
        for key in np.unique(keys).tolist():
            rest, buffer = divmod(key, len(session.trace.buffers))
            elements = self._elements(buffer, rows[keys == key])
            if buffer in places and len(elements):
                cell = marks.distinct(*places[buffer].sheet.cells(elements))
                found.append(Mark(buffer, KINDS[rest % len(KINDS)], rest >= len(KINDS), *cell))
        return found

    def _elements(self, buffer: int, rows: Ints) -> Ints:
        elements = self.session.memory.places(buffer, self.session.trace.index[rows])
        return elements[elements >= 0]

    def flights(self, moment: int, selection: Selection, places: Places) -> list[Flight]:
        """Return the loads of a moment whose element goes somewhere that is drawn."""
        session = self.session
        rows = self.shown(session.memory.accesses_at(moment), selection)
        kind, to, at = session.memory.flights(rows)
        elsewhere = (kind == INTO_SHARED) & (session.trace.block[rows] != selection.block)
        going = (kind != NOWHERE) & ~elsewhere
        rows, to, at = rows[going], to[going], at[going]
        start = self._points(session.trace.buffer[rows].astype(np.int64), session.trace.index[rows], places)
        end = self._points(to, at, places)
        kinds = session.requests.kind[session.requests.request[rows]]
        own = self.own(rows, selection)
        chosen = own & (session.trace.thread[rows] == selection.thread)
        drawn = np.isfinite(start[:, 0]) & np.isfinite(end[:, 0])
        picks = [(KINDS[k], drawn & (kinds == k)) for k in np.unique(kinds).tolist()]
        return [Flight(k, start[m], end[m], own[m], chosen[m]) for k, m in picks if m.any()]

    def _points(self, buffers: Ints, index: NDArray[np.integer], places: Places) -> NDArray[np.float64]:
        """Return the middle of the cell of each access in pixels, nan for one that is not drawn."""
        points = np.full((len(buffers), 2), np.nan)
        for number in np.unique(buffers).tolist():
            mine = np.flatnonzero(buffers == number)
            elements = self.session.memory.places(number, index[mine])
            mine, elements = mine[elements >= 0], elements[elements >= 0]
            if number in places:
                points[mine] = places[number].middle(elements)
        return points

    def caption(self, moment: int, selection: Selection) -> str:
        """Return what the selected thread's warp does at a moment."""
        requests, now = self.session.requests, self.session.memory.request_rows(moment)
        block, warp = requests.block[now.start : now.stop], requests.warp[now.start : now.stop]
        mine = np.flatnonzero((block == selection.block) & (warp == selection.thread // WARP)) + now.start
        texts = [self._request_text(r) for r in mine.tolist()]
        return "; ".join(texts) if texts else self._idle_text(moment, selection.block)

    def _idle_text(self, moment: int, block: int) -> str:
        place = int(np.searchsorted(self.session.trace.blocks, block))
        if block not in self.session.trace.blocks:
            return "its block is not in this trace"
        if moment <= self.session.requests.span_start[place].min(initial=0):
            return "its block has not begun"
        over = moment > self.session.requests.span_end[place].max(initial=0)
        return "its block is done" if over else "no access at this moment"

    def _request_text(self, request: int) -> str:
        requests = self.session.requests
        rows = requests.order[requests.start[request] : requests.start[request + 1]]
        buffer = self.session.trace.buffers[int(requests.buffer[request])]
        verb, where = VERBS[KINDS[int(requests.kind[request])].split()[-1]]
        count = plural(len(np.unique(self.session.trace.index[rows])), "element")
        return f"{verb} {count} of {buffer_text(buffer)} {where} {buffer.space} memory"

    def homes(self, selection: Selection) -> dict[int, Ints]:
        """Return the elements of global memory that the selected thread ever writes, by buffer."""
        trace, rows = self.session.trace, self._stores_of(selection.block)
        rows = rows[trace.thread[rows] == selection.thread]
        return {
            n: self._elements(n, rows[trace.buffer[rows] == n])
            for n in np.unique(trace.buffer[rows]).tolist()
        }

    def _stores_of(self, block: int) -> Ints:
        """Return the first write of each thread of a block to each element of global memory."""
        if block not in self._stores:
            trace = self.session.trace
            rows = np.flatnonzero((trace.block == block) & (trace.op != Op.LOAD))
            rows = rows[np.array([b.space == "global" for b in trace.buffers])[trace.buffer[rows]]]
            marks = np.stack([trace.thread[rows], trace.buffer[rows], trace.index[rows]])
            self._stores[block] = rows[np.unique(marks, axis=1, return_index=True)[1]]
        return self._stores[block]

    def block_text(self, block: int) -> str:
        """Return how a block is called: block (1, 2)."""
        return f"block {place_text(block, self.session.trace.grid)}"

    def selection_at(self, buffer: int, element: int, selection: Selection) -> Selection | None:
        """Return who wrote an element first or, if nobody did, who read it first, preferably of the selected block."""
        trace = self.session.trace
        index = index_of(trace.buffers[buffer], element)
        rows = np.flatnonzero((trace.buffer == buffer) & (trace.index == index))
        if trace.buffers[buffer].space in ("shared", "local"):
            rows = rows[trace.block[rows] == selection.block]
        for wanted in (
            trace.op[rows] != Op.LOAD,
            trace.block[rows] == selection.block,
            np.ones(len(rows), bool),
        ):
            if wanted.any():
                row = rows[wanted][0]
                return Selection(int(trace.block[row]), int(trace.thread[row]))
        return None


def short_text(value: np.generic, letters: int) -> str:
    """Return a value as exactly as so many letters can tell it, at most four digits."""
    texts = [value_text(value), *(f"{float(np.real(value)):.{digits}g}" for digits in (3, 2, 1))]
    return next((text for text in texts if len(text) <= letters), "…")
