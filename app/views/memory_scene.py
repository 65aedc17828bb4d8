"""What the memory view shows of a session at a moment: codes of cells, marks, frames, flights, words. No Qt."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...tracer.memory import INTO_SHARED, NOWHERE
from ...tracer.requests import KINDS
from ...tracer.trace import WARP, Op
from ..session import Selection, Session
from . import cells, marks
from .frames import Frames, frames_of
from .layout import Place, roles_of
from .sheet import Ints, Sheet
from .wording import buffer_text, place_text, plural

Bools = NDArray[np.bool_]
Places = Mapping[int, Place]
COLOUR_BY = ("auto", "value", "reads")
VERBS = {"load": "reads", "store": "writes", "atomic": "updates"}


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
        wanted = {"value": False, "reads": True}.get(colour_by, buffer not in self.stored and buffer in self.loaded)
        return wanted or not valued

    def groups(self, colour_by: str, selection: Selection, top: int = 0) -> list[Group]:
        """Return the colour scales; `top` is where that of times read in global memory ends, 0 for the trace's own."""
        found: dict[tuple[bool, str, bool], list[int]] = {}
        for number, buffer in enumerate(self.session.trace.buffers):
            by_reads = self.by_reads(number, colour_by)
            key = (not by_reads, buffer.space, number in self.stored and not by_reads)
            found.setdefault(key, []).append(number)
        return [
            Group(tuple(n), not key[0], self._span(n, not key[0], selection, top if key[1] == "global" else 0))
            for key, n in sorted(found.items())
        ]

    def _span(self, buffers: list[int], by_reads: bool, selection: Selection, top: int) -> cells.Range:
        memory, end = self.session.memory, self.session.end
        if by_reads:
            most = (memory.reads(n, end, selection.block, selection.thread).max(initial=1) for n in buffers)
            return cells.Range(1, top or int(max(most)))
        low, high = zip(*(memory.value_range(n) for n in buffers), strict=True)
        return cells.Range(min(low), max(high))

    def codes(self, buffer: int, sheet: Sheet, group: Group, moment: int, selection: Selection) -> cells.Codes:
        """Return the code of every cell of a buffer's sheet."""
        memory, copy = self.session.memory, (selection.block, selection.thread)
        if group.by_reads:
            codes = cells.read_codes(memory.reads(buffer, moment, *copy), int(group.span.high))
        else:
            written = memory.written(buffer, moment, *copy)
            known = written | (buffer in self.session.trace.initial)
            blank = ~written & (buffer in self.stored - self.loaded)
            codes = cells.value_codes(memory.values(buffer, moment, *copy), known, blank, group.span)
        codes = codes.reshape(self.session.trace.buffers[buffer].shape)
        return sheet.spread(codes, cells.OUTSIDE)

    def frames(self, block: int, places: Places) -> Frames:
        """Return what a block touches of global and constant memory."""
        session = self.session
        spaces = {n: session.trace.buffers[n].space for n in places}
        sheets = {n: p.sheet for n, p in places.items() if spaces[n] in ("global", "constant")}
        return frames_of(session.trace, session.memory, block, sheets)

    def shown(self, rows: Ints, selection: Selection) -> Ints:
        """Return those accesses whose copy of the buffer is drawn: the selected block's, the selected thread's."""
        trace = self.session.trace
        space = np.array([b.space for b in trace.buffers])[trace.buffer[rows]]
        block, thread = trace.block[rows] == selection.block, trace.thread[rows] == selection.thread
        return rows[((space != "shared") | block) & ((space != "local") | (block & thread))]

    def own(self, rows: Ints, selection: Selection) -> Bools:
        """Return which accesses are those of the selected thread's warp."""
        trace = self.session.trace
        return (trace.block[rows] == selection.block) & (trace.thread[rows] // WARP == selection.thread // WARP)

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
        targets = session.memory.flights(rows)
        elsewhere = (targets.kind == INTO_SHARED) & (session.trace.block[rows] != selection.block)
        going = (targets.kind != NOWHERE) & ~elsewhere
        rows, to, at = rows[going], targets.buffer[going], targets.index[going]
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

    def caption(self, moment: int, selection: Selection) -> tuple[str, str]:
        """Return what the selected thread's warp does at a moment: a title and a sentence."""
        trace, requests = self.session.trace, self.session.requests
        mine = [
            r for r in self.session.memory.request_rows(moment)
            if requests.block[r] == selection.block and requests.warp[r] == selection.thread // WARP
        ]
        title = f"Warp {selection.thread // WARP} now"
        if not mine:
            return title, "makes no access at this moment"
        return title, "; ".join(self._request_text(r) for r in mine)

    def _request_text(self, request: int) -> str:
        requests = self.session.requests
        rows = requests.order[requests.start[request] : requests.start[request + 1]]
        buffer = self.session.trace.buffers[int(requests.buffer[request])]
        verb = VERBS[KINDS[int(requests.kind[request])].split()[-1]]
        count = plural(len(np.unique(self.session.trace.index[rows])), "element")
        return f"{verb} {count} of {buffer_text(buffer)} in {buffer.space} memory"

    def block_text(self, block: int) -> str:
        """Return how a block is called: block (1, 2)."""
        return f"block {place_text(block, self.session.trace.grid)}"

    def selection_at(self, buffer: int, element: int, index: int, selection: Selection) -> Selection | None:
        """Return who wrote an element first or, if nobody did, read it first: in the selected block if it did."""
        trace = self.session.trace
        rows = np.flatnonzero((trace.buffer == buffer) & (trace.index == index))
        if trace.buffers[buffer].space in ("shared", "local"):
            rows = rows[trace.block[rows] == selection.block]
        for wanted in (trace.op[rows] != Op.LOAD, trace.block[rows] == selection.block, np.ones(len(rows), bool)):
            if wanted.any():
                row = rows[wanted][0]
                return Selection(int(trace.block[row]), int(trace.thread[row]))
        return None
