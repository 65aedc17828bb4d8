"""What the memory view shows of a session at a moment: codes of cells, marks, footprints, loads, words. No Qt."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterator, Mapping
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from msgspec import Struct, field
from numpy.typing import NDArray

from ....tracer.analysis.buffer_contents import NOWHERE
from ....tracer.analysis.requests import REQUEST_KINDS, kinds_of
from ....tracer.model.array_types import AnyInts, Ints, Mask
from ....tracer.model.grouping import present
from ....tracer.model.trace import WARP, Op, is_poison
from ...model.session import Selection, Session
from ..common import cell_colours
from ..common.exchange_paint import ExchangeData, exchange_data
from ..common.heat import HEATS, element_heat, heat_moments
from ..common.wording import buffer_text
from .footprints import Footprints, footprints_of
from .images import ImagePixels, Pixels, brightness_range
from .layout.buffer_place import BufferPlace
from .layout.layout import roles_of
from .layout.sheet import Sheet, is_image
from .races import RacedElements, raced_elements
from .sparse_sheets import ChangingElements

Tops = tuple[tuple[tuple[str, str], int], ...]  # ((measure, space), count that gets the last colour)
COLOUR_BY = ("auto", "value", "reads", *HEATS)


class AccessMark(NamedTuple):
    """Cells of one buffer that are accessed now by one kind of request."""

    buffer: int  # number in the trace
    kind: str  # of the requests, as in KINDS
    own: bool  # whether by the selected warp
    rows: Ints  # (n,), of the sheet
    cols: Ints  # (n,)


class Accesses(NamedTuple):
    """Some accesses, a column each of shape (n,)."""

    rows: Ints  # of the trace
    buffer: Ints  # its number
    element: Ints  # its number, -1 for none
    kind: Ints  # of the request, as a place in REQUEST_KINDS
    own: Mask  # which are of the selected warp


class RaceMark(NamedTuple):
    """Cells of one buffer that are raced for."""

    buffer: int  # number in the trace
    rows: Ints  # (n,), of the sheet
    cols: Ints  # (n,)


class LoadsInFlight(NamedTuple):
    """Loads of one kind on their way."""

    kind: str  # of the requests, as in KINDS
    start: NDArray[np.float64]  # (n, 2), pixels
    end: NDArray[np.float64]  # (n, 2), pixels
    own: Mask  # (n,), which are of the selected warp
    chosen: Mask  # (n,), which are of the selected thread
    start_at: tuple[Ints, Ints]  # (n,) each, number of the buffer and of its element
    end_at: tuple[Ints, Ints]  # (n,) each

    def only(self, wanted: Mask) -> LoadsInFlight:
        """Return some of them; wanted: (n,)."""
        if wanted.all():
            return self
        ends = ((one[0][wanted], one[1][wanted]) for one in (self.start_at, self.end_at))
        columns = (self.start[wanted], self.end[wanted], self.own[wanted], self.chosen[wanted])
        return LoadsInFlight(self.kind, *columns, *ends)


class ColourGroup(NamedTuple):
    """Buffers that share a colour scale, of their values ("value"), of times read ("reads") or of one of HEATS.

    Those of an "image" have its own colours.
    """

    buffers: tuple[int, ...]
    measure: str
    span: cell_colours.ValueRange


class MemoryViewData(Struct, frozen=True, eq=False, dict=True):
    """A session as the memory view draws it; what is derived is computed once."""

    session: Session  # what is drawn
    _changes: dict[tuple[int, str], Ints] = field(default_factory=dict)  # by buffer and measure: moments
    _tops: dict[tuple[str, int, int, int], int] = field(default_factory=dict)  # by measure, buffer, copy
    _found: dict[str, RacedElements | None] = field(default_factory=dict)  # the races, once they are known
    _first: dict[int, tuple[ColourGroup, cell_colours.Codes]] = field(default_factory=dict)  # by buffer
    _images: dict[Hashable, ImagePixels] = field(default_factory=dict)  # before the launch
    _latest: dict[Hashable, Accesses] = field(default_factory=dict)  # of what was asked for last

    @cached_property
    def roles(self) -> dict[str, int]:
        """Return the buffer number for "left", "above" and "result", if the launch is a product."""
        scenario, buffers = self.session.scenario, self.session.trace.buffers
        roles = roles_of(buffers, sorted(self.stored), scenario.roles if scenario else {})
        return roles if scenario or self._are_factors(roles) else {}

    def _are_factors(self, roles: Mapping[str, int]) -> bool:
        """Return whether what has the shapes of factors is read as such: each more than once, or in tiles."""
        tiled = any(b.space == "shared" and len(b.shape) == 2 for b in self.session.trace.buffers)
        factors = [n for role, n in roles.items() if role != "result"]
        return tiled or all(
            self.session.memory.reads(n, self.session.end).max(initial=0) > 1 for n in factors
        )

    def shown_buffers(self, names: Collection[str]) -> list[int]:
        """Return the numbers of the buffers of these names, as kernel or picture has them; all where there are none."""
        buffers = self.session.trace.buffers
        named = [n for n, b in enumerate(buffers) if b.name in names or buffer_text(b) in names]
        return named or list(range(len(buffers)))

    @cached_property
    def stored(self) -> frozenset[int]:
        """Return the buffers that the launch writes."""
        return self._buffers_with(self.session.requests.op != Op.LOAD)

    @cached_property
    def loaded(self) -> frozenset[int]:
        """Return the buffers that the launch reads."""
        return self._buffers_with(self.session.requests.op != Op.STORE)

    def _buffers_with(self, wanted: Mask) -> frozenset[int]:
        return frozenset(present(self.session.requests.buffer[wanted]))

    def measure(self, buffer: int, colour_by: str) -> str:
        """Return what colours a buffer; "auto": times read if it is only read, or has no plain values."""
        valued = self.session.trace.value is not None
        valued = valued and np.dtype(self.session.trace.buffers[buffer].dtype).kind != "V"
        if valued and colour_by in ("auto", "value") and is_image(self.session.trace.buffers[buffer]):
            return "image"
        if colour_by == "auto":
            colour_by = "reads" if buffer not in self.stored and buffer in self.loaded else "value"
        return colour_by if valued or colour_by != "value" else "reads"

    def groups(self, colour_by: str, selection: Selection, tops: Tops = ()) -> list[ColourGroup]:
        """Return the colour scales; `tops` says where some of those that count end, else at the trace's own most."""
        found: dict[tuple[bool, str, bool, str], list[int]] = {}
        for number, buffer in enumerate(self.session.trace.buffers):
            measure = self.measure(number, colour_by)
            valued = measure in ("value", "image")
            found.setdefault((valued, buffer.space, number in self.stored and valued, measure), []).append(
                number
            )
        return [
            ColourGroup(
                tuple(n), measure, self._span(n, measure, selection, dict(tops).get((measure, space), 0))
            )
            for (_, space, _, measure), n in sorted(found.items())
        ]

    def _span(
        self, buffers: list[int], measure: str, selection: Selection, top: int
    ) -> cell_colours.ValueRange:
        if measure in ("value", "image"):
            low, high = zip(*(self.session.memory.value_range(n) for n in buffers), strict=True)
            if measure == "image":
                dtype = np.dtype(self.session.trace.buffers[buffers[0]].dtype)
                return brightness_range(dtype, min(low), max(high))
            return cell_colours.ValueRange(min(low), max(high))
        own = max(self._most(n, measure, selection) for n in buffers)
        if measure in HEATS:  # where there is none, another launch's scale would say that there were some
            return cell_colours.ValueRange(1, max(top, own) if own else 0)
        return cell_colours.ValueRange(1, max(1, top, own))

    def tops(self, colour_by: str, selection: Selection) -> dict[tuple[str, str], int]:
        """Return where each scale that counts ends, by its measure and its buffers' space."""
        buffers = self.session.trace.buffers
        groups = [g for g in self.groups(colour_by, selection) if g.measure not in ("value", "image")]
        return {(g.measure, buffers[g.buffers[0]].space): int(g.span.high) for g in groups}

    def codes(
        self, buffer: int, sheet: Sheet, group: ColourGroup, moment: int, selection: Selection
    ) -> cell_colours.Codes:
        """Return the code of every cell of a buffer's sheet."""
        memory, copy = self.session.memory, (selection.block, selection.thread)
        if group.measure != "value":
            counts = self._counts(buffer, group.measure, moment, selection)
            codes = cell_colours.read_codes(counts, int(group.span.high))
        else:
            cells, values = memory.newest(buffer, moment, *copy)
            codes = self._first_codes(buffer, group).copy()
            codes[cells] = cell_colours.scale_codes(values, group.span)
            codes = memory.cells(buffer).shaped(codes)
        codes = codes.reshape(self.session.trace.buffers[buffer].shape)
        return sheet.spread(codes, cell_colours.OUTSIDE)

    def _first_codes(self, buffer: int, group: ColourGroup) -> cell_colours.Codes:
        """Return the codes of a buffer's values before the launch, one for each cell of `BufferContents.cells`."""
        if buffer not in self._first or self._first[buffer][0] != group:
            values = self.session.memory.initial(buffer)
            codes = self._value_codes(buffer, group, values, np.zeros(len(values), bool))
            self._first[buffer] = group, codes
        return self._first[buffer][1]

    def known_values(self, buffer: int, moment: int, selection: Selection) -> tuple[NDArray[Any], Mask]:
        """Return what the elements of a buffer hold, in C order, and which of them hold something."""
        memory, copy = self.session.memory, (selection.block, selection.thread)
        values = memory.values(buffer, moment, *copy).ravel()
        known: Mask = memory.written(buffer, moment, *copy).ravel() | ~is_poison(values)
        return values, known

    def image(
        self, buffer: int, sheet: Sheet, group: ColourGroup, unread: int, moment: int, selection: Selection
    ) -> Pixels:
        """Return the pixels of an image at a moment, shape (rows, columns); `unread`: of one not written yet."""
        memory, copy = self.session.memory, self.copy(buffer, selection)
        key = buffer, copy, group, unread
        if key not in self._images:
            is_result = buffer in self.stored - self.loaded
            first = memory.values(buffer, 0, *copy)
            self._images[key] = ImagePixels.of(first, group.span, unread, is_result)
        changed = memory.sparse_writes(buffer, moment, *copy)
        if changed is None:
            values, written = memory.values(buffer, moment, *copy), memory.written(buffer, moment, *copy)
            changed = self._images[key].all_elements, values.ravel(), written.ravel()
        return self._images[key].with_written(*changed).reshape(sheet.rows, sheet.cols)

    def untouched(
        self, buffer: int, sheet: Sheet, group: ColourGroup, selection: Selection
    ) -> cell_colours.Codes:
        """Return the codes of all cells before anything has happened, at little cost where they are many."""
        if group.measure == "reads" and sheet.is_full:
            return np.broadcast_to(np.uint8(cell_colours.UNREAD), (sheet.rows, sheet.cols))
        initial = self.session.trace.initial.get(buffer)
        if group.measure == "value" and buffer in self.stored - self.loaded and initial is not None:
            blank = initial[: sheet.count]
            if self.session.memory.poison_in(buffer) == "all" and sheet.is_full:
                return np.broadcast_to(np.uint8(cell_colours.POISON), (sheet.rows, sheet.cols))
            codes = np.where(is_poison(blank), np.uint8(cell_colours.POISON), np.uint8(cell_colours.UNREAD))
            return sheet.spread(codes.reshape(self.session.trace.buffers[buffer].shape), cell_colours.OUTSIDE)
        return self.codes(buffer, sheet, group, 0, selection)

    def changing_elements(
        self, buffer: int, group: ColourGroup, moment: int, selection: Selection
    ) -> ChangingElements | None:
        """Return the codes of those elements whose codes ever change, where these are few of many; else None."""
        memory, copy = self.session.memory, (selection.block, selection.thread)
        if group.measure == "reads":
            read = memory.sparse_reads(buffer, moment, *copy)
            return read and ChangingElements(read[0], cell_colours.read_codes(read[1], int(group.span.high)))
        found = memory.sparse_writes(buffer, moment, *copy) if group.measure == "value" else None
        if found is None:
            return None
        elements, values, written = found
        return ChangingElements(elements, self._value_codes(buffer, group, values, written))

    def _value_codes(
        self, buffer: int, group: ColourGroup, values: NDArray[Any], written: NDArray[np.bool_]
    ) -> cell_colours.Codes:
        blank = ~written & (buffer in self.stored - self.loaded)
        return cell_colours.value_codes(values, written | ~is_poison(values), blank, group.span)

    def _counts(
        self, buffer: int, measure: str, moment: int, selection: Selection
    ) -> NDArray[np.integer[Any]]:
        """Return the times read, or another figure, of every element."""
        if measure == "reads":
            return self.session.memory.reads(buffer, moment, selection.block, selection.thread)
        return element_heat(self.session, measure, buffer, moment, selection)

    def version(self, buffer: int, measure: str, moment: int, selection: Selection) -> Hashable:
        """Return a number that changes whenever a measure of a buffer may: its codes are costly where it is large."""
        key = buffer, measure
        if key not in self._changes:
            self._changes[key] = self._moments(*key)
        changes = int(self._changes[key].searchsorted(moment, side="right"))
        return changes, self.copy(buffer, selection)

    def _moments(self, buffer: int, measure: str) -> Ints:
        """Return the moments at which the cells of a buffer may change, ascending."""
        if measure in HEATS:
            return heat_moments(self.session, measure, buffer)
        requests, aside = self.session.requests, Op.STORE if measure == "reads" else Op.LOAD
        moments: Ints = requests.moment[(requests.buffer == buffer) & (requests.op != aside)]
        return moments

    def copy(self, buffer: int, selection: Selection) -> tuple[int, int]:
        """Return the block and thread whose copy of a buffer is drawn, zeros where there is one for all."""
        space = self.session.trace.buffers[buffer].space
        thread = selection.thread if space == "local" else 0
        return (selection.block if space in ("shared", "local") else 0), thread

    def _most(self, buffer: int, measure: str, selection: Selection) -> int:
        """Return the times read, or another figure, of the element that has most of it after the launch."""
        block, thread = self.copy(buffer, selection)
        key = measure, buffer, block, thread
        if key not in self._tops:
            self._tops[key] = self._most_of(measure, *key[1:])
        return self._tops[key]

    def _most_of(self, measure: str, buffer: int, block: int, thread: int) -> int:
        end, selection = self.session.end, Selection(block, thread)
        few = self.session.memory.sparse_reads(buffer, end, block, thread) if measure == "reads" else None
        counts = self._counts(buffer, measure, end, selection) if few is None else few[1]
        return int(counts.max(initial=0))

    @cached_property
    def has_unwritten(self) -> bool:
        """Return whether some buffer begins with poison."""
        initial = self.session.trace.initial
        return len(initial) < len(self.session.trace.buffers) or any(
            self.session.memory.poison_in(number) != "none" for number in initial
        )

    def footprints(self, block: int, sheets: Mapping[int, Sheet]) -> Footprints:
        """Return what a block touches of global and constant memory."""
        return footprints_of(self.session.memory.touched(block), sheets)

    def shown(self, rows: Ints, selection: Selection) -> Ints:
        """Return those accesses whose copy of the buffer is drawn: the selected block's, the selected thread's."""
        shown: Ints = rows[self.is_drawn(self.session.trace.buffer[rows], rows, selection)]
        return shown

    def own(self, rows: Ints, selection: Selection) -> Mask:
        """Return which accesses are those of the selected thread's warp."""
        trace = self.session.trace
        warp = trace.thread[rows] // WARP == selection.thread // WARP
        own: Mask = warp & (trace.block[rows] == selection.block)
        return own

    def marks(self, moment: int, selection: Selection, places: Mapping[int, BufferPlace]) -> list[AccessMark]:
        """Return the cells that are accessed at a moment, those of the selected warp last."""
        now, buffers = self.accesses(moment, selection), len(self.session.trace.buffers)
        keys = (now.own * len(REQUEST_KINDS) + now.kind) * buffers + now.buffer
        keys[now.element < 0] = -1
        found = []
        for key in present(keys[keys >= 0]):
            rest, buffer = divmod(key, buffers)
            own, kind = divmod(rest, len(REQUEST_KINDS))
            if buffer in places:
                cells = places[buffer].sheet.distinct_cells(now.element[keys == key])
                found.append(AccessMark(buffer, REQUEST_KINDS[kind], bool(own), *cells))
        return found

    def accesses(self, moment: int, selection: Selection) -> Accesses:
        """Return the accesses of a moment whose copy of the buffer is drawn; kept until another moment is asked for."""
        key = moment, selection
        if key not in self._latest:
            rows = self.shown(self.session.memory.accesses_at(moment), selection)
            buffer, element = self.numbers(self.session.trace.buffer[rows], self.session.trace.index[rows])
            self._latest.clear()
            kind = kinds_of(self.session.trace, rows).astype(np.int64)
            self._latest[key] = Accesses(rows, buffer, element, kind, self.own(rows, selection))
        return self._latest[key]

    @property
    def races(self) -> RacedElements | None:
        """Return what threads race for, None while nobody knows and where nothing is."""
        if "races" not in self._found and self.session.is_examined:
            self._found["races"] = raced_elements(self.session)
        return self._found.get("races")

    def exchange(self, moment: int, selection: Selection) -> ExchangeData | None:
        """Return what the lanes of the selected warp give each other at a moment, None where they do not."""
        exchanges, (warp, lane) = self.session.requests.exchanges, divmod(selection.thread, WARP)
        found = exchanges.of(selection.block, warp, moment) if len(exchanges) else -1
        return exchange_data(exchanges, found, lane, self.session.lanes) if found >= 0 else None

    def race_marks(
        self, moment: int, selection: Selection, places: Mapping[int, BufferPlace]
    ) -> list[RaceMark]:
        """Return the cells that are raced for at a moment."""
        rows = self.shown(self.races.rows_at(moment), selection) if self.races else np.empty(0, np.int64)
        buffers = self.session.trace.buffer[rows]
        found = []
        for number in present(buffers):
            elements = self._elements(number, rows[buffers == number])
            if number in places and len(elements):
                found.append(RaceMark(number, *places[number].sheet.distinct_cells(elements)))
        return found

    def race_text(self, moment: int, selection: Selection, at: tuple[int, int] | None = None) -> str:
        """Return who meets whom at a moment, "" where no race is; `at`: (buffer, element) to look at alone."""
        if self.races is None:
            return ""
        rows = self.shown(self.races.rows_at(moment), selection)
        if at is not None:
            rows = rows[self.session.trace.buffer[rows] == at[0]]
            rows = rows[self.session.memory.element_numbers(at[0], self.session.trace.index[rows]) == at[1]]
        row = self.races.preferred(rows, selection)
        return "" if row is None else self.races.sentence(row)

    def _elements(self, buffer: int, rows: Ints) -> Ints:
        elements = self.session.memory.element_numbers(buffer, self.session.trace.index[rows])
        return elements[elements >= 0]

    def loads_in_flight(
        self, moment: int, selection: Selection, places: Mapping[int, BufferPlace]
    ) -> list[LoadsInFlight]:
        """Return the loads of a moment whose element goes somewhere that is drawn."""
        now, trace = self.accesses(moment, selection), self.session.trace
        kind, to, at = self.session.memory.destinations(now.rows)
        goes = (kind != NOWHERE) & ((to != now.buffer) | (at != trace.index[now.rows]))
        going = (goes & self.is_drawn(to, now.rows, selection)).nonzero()[0]
        start_at = now.buffer[going], now.element[going]
        end_at = self.numbers(to[going], at[going])
        start, end = self._points(*start_at, places), self._points(*end_at, places)
        own, kinds = now.own[going], now.kind[going]
        chosen = own & (trace.thread[now.rows[going]] == selection.thread)
        drawn = ~np.isnan(start[:, 0] + end[:, 0])
        return [
            LoadsInFlight(REQUEST_KINDS[k], start, end, own, chosen, start_at, end_at).only(
                drawn & (kinds == k)
            )
            for k in present(kinds[drawn])
        ]

    def is_drawn(self, buffers: AnyInts, rows: Ints, selection: Selection) -> Mask:
        """Return whether the copy of a buffer is drawn that the thread of each access sees."""
        trace, (shared, local) = self.session.trace, self._own_copies
        drawn: Mask = ~shared[buffers] | (trace.block[rows] == selection.block)
        if local.any():
            block, thread = trace.block[rows] == selection.block, trace.thread[rows] == selection.thread
            drawn &= ~local[buffers] | (block & thread)
        return drawn

    @cached_property
    def _own_copies(self) -> tuple[Mask, Mask]:
        """Which buffers each block has its own copy of, and which each thread, shape (buffers,)."""
        spaces = [buffer.space for buffer in self.session.trace.buffers]
        return np.array([s == "shared" for s in spaces], bool), np.array([s == "local" for s in spaces], bool)

    def numbers(self, buffers: AnyInts, index: NDArray[np.integer]) -> tuple[Ints, Ints]:
        """Return the buffers and the number of each element that an access index means, -1 for none."""
        numbers: Ints = buffers.astype(np.int64)
        elements = np.empty(len(numbers), np.int64)
        for number, mine in _by_number(numbers):
            elements[mine] = self.session.memory.element_numbers(number, index[mine])
        return numbers, elements

    def _points(
        self, buffers: Ints, elements: Ints, places: Mapping[int, BufferPlace]
    ) -> NDArray[np.float64]:
        """Return the middle of the cell of each element in pixels, nan for one that is not drawn."""
        points = np.full((len(buffers), 2), np.nan)
        for number, mine in _by_number(buffers):
            if number in places:
                points[mine] = places[number].middle(elements[mine])
        points[elements < 0] = np.nan
        return points

    def written_elements(self, selection: Selection) -> dict[int, Ints]:
        """Return the elements of global memory that the selected thread ever writes, by buffer."""
        trace, rows = self.session.trace, self.session.memory.first_stores(selection.block)
        rows = rows[trace.thread[rows] == selection.thread]
        return {n: self._elements(n, rows[trace.buffer[rows] == n]) for n in present(trace.buffer[rows])}


def _by_number(numbers: Ints) -> Iterator[tuple[int, Mask | slice]]:
    """Yield each small whole number that occurs, and where."""
    found = present(numbers)
    for number in found:
        yield number, slice(None) if len(found) == 1 else numbers == number
