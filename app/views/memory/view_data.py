"""The data of the memory view at a moment: codes of cells, marks, footprints, loads, texts. No Qt."""

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
from ....tracer.model.grouping import distinct_numbers
from ....tracer.model.trace import WARP, Op, is_poison
from ...model.session import Selection, Session
from ..common import cell_colours
from ..common.exchange_paint import ExchangeData, exchange_data
from ..common.heat import HEATS, element_heat, heat_moments
from ..common.wording import buffer_text
from .footprints import Footprints, footprints_of
from .images import ImagePixels, Pixels, brightness_range
from .layout.buffer_position import BufferPosition
from .layout.layout import roles_of
from .layout.sheet import Sheet, is_image
from .races import RacedElements, collect_raced_elements
from .sparse_sheets import ChangingElements

Tops = tuple[tuple[tuple[str, str], int], ...]  # ((measure, space), count that gets the last colour)


class AccessMark(NamedTuple):
    """Cells of one buffer that are accessed now by one kind of request."""

    buffer: int  # number in the trace
    kind: str  # of the requests, as in KINDS
    own: bool  # whether the selected warp makes them
    rows: Ints  # (n,), of the sheet
    cols: Ints  # (n,)


class Accesses(NamedTuple):
    """Some accesses, as columns of shape (n,)."""

    rows: Ints  # rows of the trace
    buffer: Ints  # the number of the buffer
    element: Ints  # the number of the element, -1 for none
    kind: Ints  # of the request, as an index into REQUEST_KINDS
    own: Mask  # whether each is of the selected warp


class RaceMark(NamedTuple):
    """Cells of one buffer that are in a race."""

    buffer: int  # number in the trace
    rows: Ints  # (n,), of the sheet
    cols: Ints  # (n,)


class LoadsInFlight(NamedTuple):
    """Loads of one kind on their way."""

    kind: str  # of the requests, as in KINDS
    start: NDArray[np.float64]  # (n, 2), pixels
    end: NDArray[np.float64]  # (n, 2), pixels
    own: Mask  # (n,), whether each is of the selected warp
    chosen: Mask  # (n,), whether each is of the selected thread
    start_at: tuple[Ints, Ints]  # (n,) each, the numbers of the buffer and of its element
    end_at: tuple[Ints, Ints]  # (n,) each

    def only(self, mask: Mask) -> LoadsInFlight:
        """Select some of the loads; mask: (n,)."""
        if mask.all():
            return self
        ends = ((column[0][mask], column[1][mask]) for column in (self.start_at, self.end_at))
        columns = (self.start[mask], self.end[mask], self.own[mask], self.chosen[mask])
        return LoadsInFlight(self.kind, *columns, *ends)


class ColourGroup(NamedTuple):
    """Buffers that share a colour scale of values ("value"), of numbers of reads ("reads") or of one of HEATS.

    Buffers of the measure "image" have their own colours.
    """

    buffers: tuple[int, ...]
    measure: str
    span: cell_colours.ValueRange


class MemoryViewData(Struct, frozen=True, eq=False, dict=True):
    """The data of a session in the memory view; derived data are computed once."""

    session: Session  # the session that is drawn
    _changes: dict[tuple[int, str], Ints] = field(default_factory=dict)  # by buffer and measure: moments
    _tops: dict[tuple[str, int, int, int], int] = field(default_factory=dict)  # by measure, buffer, copy
    _raced: dict[str, RacedElements | None] = field(default_factory=dict)  # the races, once they are known
    # By buffer.
    _initial_codes: dict[int, tuple[ColourGroup, cell_colours.Codes]] = field(default_factory=dict)
    _images: dict[Hashable, ImagePixels] = field(default_factory=dict)  # before the launch
    _latest: dict[Hashable, Accesses] = field(default_factory=dict)  # of the latest moment and selection

    @cached_property
    def roles(self) -> dict[str, int]:
        """The buffer numbers of "left", "above" and "result" if the launch is a product, else empty."""
        scenario, buffers = self.session.scenario, self.session.trace.buffers
        roles = roles_of(buffers, sorted(self.stored), scenario.roles if scenario else {})
        return roles if scenario or self._are_used_as_factors(roles) else {}

    def _are_used_as_factors(self, roles: Mapping[str, int]) -> bool:
        """Check whether buffers with the shapes of factors are used as factors: read repeatedly, or in tiles."""
        has_tiles = any(b.space == "shared" and len(b.shape) == 2 for b in self.session.trace.buffers)
        factors = [n for role, n in roles.items() if role != "result"]
        return has_tiles or all(
            self.session.memory.reads(n, self.session.end).max(initial=0) > 1 for n in factors
        )

    def shown_buffers(self, names: Collection[str]) -> list[int]:
        """List the numbers of the buffers with these names (of the kernel or the picture); all if there are none."""
        buffers = self.session.trace.buffers
        numbers = [n for n, b in enumerate(buffers) if b.name in names or buffer_text(b) in names]
        return numbers or list(range(len(buffers)))

    @cached_property
    def stored(self) -> frozenset[int]:
        """The buffers that the launch writes."""
        return self._buffers_with(self.session.requests.op != Op.LOAD)

    @cached_property
    def loaded(self) -> frozenset[int]:
        """The buffers that the launch reads."""
        return self._buffers_with(self.session.requests.op != Op.STORE)

    def _buffers_with(self, mask: Mask) -> frozenset[int]:
        return frozenset(distinct_numbers(self.session.requests.buffer[mask]))

    def measure(self, buffer: int, colour_by: str) -> str:
        """Choose the measure that colours a buffer; "auto": "reads" if it is read-only or has no plain values."""
        has_values = self.session.trace.value is not None
        has_values = has_values and np.dtype(self.session.trace.buffers[buffer].dtype).kind != "V"
        if has_values and colour_by in ("auto", "value") and is_image(self.session.trace.buffers[buffer]):
            return "image"
        if colour_by == "auto":
            colour_by = "reads" if buffer not in self.stored and buffer in self.loaded else "value"
        return colour_by if has_values or colour_by != "value" else "reads"

    def groups(self, colour_by: str, selection: Selection, tops: Tops = ()) -> list[ColourGroup]:
        """Compute the colour scales; tops: the largest counts of shared scales, by default the trace's own."""
        numbers_by_scale: dict[tuple[bool, str, bool, str], list[int]] = {}
        for number, buffer in enumerate(self.session.trace.buffers):
            measure = self.measure(number, colour_by)
            shows_values = measure in ("value", "image")
            numbers_by_scale.setdefault(
                (shows_values, buffer.space, number in self.stored and shows_values, measure), []
            ).append(number)
        return [
            ColourGroup(
                tuple(n), measure, self._span(n, measure, selection, dict(tops).get((measure, space), 0))
            )
            for (_, space, _, measure), n in sorted(numbers_by_scale.items())
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
        largest = max(self._largest_count(n, measure, selection) for n in buffers)
        if measure in HEATS:  # without any heat, another launch's scale would suggest some
            return cell_colours.ValueRange(1, max(top, largest) if largest else 0)
        return cell_colours.ValueRange(1, max(1, top, largest))

    def tops(self, colour_by: str, selection: Selection) -> dict[tuple[str, str], int]:
        """Compute the largest count of each scale of counts, by its measure and its buffers' space."""
        buffers = self.session.trace.buffers
        groups = [g for g in self.groups(colour_by, selection) if g.measure not in ("value", "image")]
        return {(g.measure, buffers[g.buffers[0]].space): int(g.span.high) for g in groups}

    def codes(
        self, buffer: int, sheet: Sheet, group: ColourGroup, moment: int, selection: Selection
    ) -> cell_colours.Codes:
        """Compute the code of every cell of a buffer's sheet."""
        memory, copy = self.session.memory, (selection.block, selection.thread)
        if group.measure != "value":
            counts = self._counts(buffer, group.measure, moment, selection)
            codes = cell_colours.read_codes(counts, int(group.span.high))
        else:
            cells, values = memory.newest(buffer, moment, *copy)
            codes = self._compute_initial_codes(buffer, group).copy()
            codes[cells] = cell_colours.scale_codes(values, group.span)
            codes = memory.cells(buffer).shaped(codes)
        codes = codes.reshape(self.session.trace.buffers[buffer].shape)
        return sheet.spread(codes, cell_colours.OUTSIDE)

    def _compute_initial_codes(self, buffer: int, group: ColourGroup) -> cell_colours.Codes:
        """Compute the codes of a buffer's initial values, one for each cell of `BufferContents.cells`."""
        if buffer not in self._initial_codes or self._initial_codes[buffer][0] != group:
            values = self.session.memory.initial(buffer)
            codes = self._value_codes(buffer, group, values, np.zeros(len(values), bool))
            self._initial_codes[buffer] = group, codes
        return self._initial_codes[buffer][1]

    def defined_values(self, buffer: int, moment: int, selection: Selection) -> tuple[NDArray[Any], Mask]:
        """Return the values of a buffer's elements, in C order, and whether each is defined."""
        memory, copy = self.session.memory, (selection.block, selection.thread)
        values = memory.values(buffer, moment, *copy).ravel()
        is_defined: Mask = memory.written(buffer, moment, *copy).ravel() | ~is_poison(values)
        return values, is_defined

    def image(
        self, buffer: int, sheet: Sheet, group: ColourGroup, unread: int, moment: int, selection: Selection
    ) -> Pixels:
        """Compute the pixels of an image, shape (rows, columns); unread: the pixel of an element not written yet."""
        memory, copy = self.session.memory, self.copy(buffer, selection)
        key = buffer, copy, group, unread
        if key not in self._images:
            is_result = buffer in self.stored - self.loaded
            first = memory.values(buffer, 0, *copy)
            self._images[key] = ImagePixels.from_values(first, group.span, unread, is_result)
        changed = memory.sparse_writes(buffer, moment, *copy)
        if changed is None:
            values, written = memory.values(buffer, moment, *copy), memory.written(buffer, moment, *copy)
            changed = self._images[key].all_elements, values.ravel(), written.ravel()
        return self._images[key].with_written(*changed).reshape(sheet.rows, sheet.cols)

    def untouched(
        self, buffer: int, sheet: Sheet, group: ColourGroup, selection: Selection
    ) -> cell_colours.Codes:
        """Compute the codes of all cells before the launch, cheaply for large sheets."""
        if group.measure == "reads" and sheet.is_full:
            return np.broadcast_to(np.uint8(cell_colours.UNREAD), (sheet.rows, sheet.cols))
        initial = self.session.trace.initial.get(buffer)
        if group.measure == "value" and buffer in self.stored - self.loaded and initial is not None:
            contents = initial[: sheet.count]
            if self.session.memory.poison_in(buffer) == "all" and sheet.is_full:
                return np.broadcast_to(np.uint8(cell_colours.POISON), (sheet.rows, sheet.cols))
            codes = np.where(
                is_poison(contents), np.uint8(cell_colours.POISON), np.uint8(cell_colours.UNREAD)
            )
            return sheet.spread(codes.reshape(self.session.trace.buffers[buffer].shape), cell_colours.OUTSIDE)
        return self.codes(buffer, sheet, group, 0, selection)

    def changing_elements(
        self, buffer: int, group: ColourGroup, moment: int, selection: Selection
    ) -> ChangingElements | None:
        """Compute the codes of the elements that ever change, if these are few among many; else None."""
        memory, copy = self.session.memory, (selection.block, selection.thread)
        if group.measure == "reads":
            read = memory.sparse_reads(buffer, moment, *copy)
            return read and ChangingElements(read[0], cell_colours.read_codes(read[1], int(group.span.high)))
        changed = memory.sparse_writes(buffer, moment, *copy) if group.measure == "value" else None
        if changed is None:
            return None
        elements, values, written = changed
        return ChangingElements(elements, self._value_codes(buffer, group, values, written))

    def _value_codes(
        self, buffer: int, group: ColourGroup, values: NDArray[Any], written: NDArray[np.bool_]
    ) -> cell_colours.Codes:
        is_unread = ~written & (buffer in self.stored - self.loaded)
        return cell_colours.value_codes(values, written | ~is_poison(values), is_unread, group.span)

    def _counts(
        self, buffer: int, measure: str, moment: int, selection: Selection
    ) -> NDArray[np.integer[Any]]:
        """Compute the number of reads, or another figure, of every element."""
        if measure == "reads":
            return self.session.memory.reads(buffer, moment, selection.block, selection.thread)
        return element_heat(self.session, measure, buffer, moment, selection)

    def version(self, buffer: int, measure: str, moment: int, selection: Selection) -> Hashable:
        """Return a key that changes with a measure of a buffer, to avoid costly recomputation of its codes."""
        key = buffer, measure
        if key not in self._changes:
            self._changes[key] = self._moments(*key)
        changes = int(self._changes[key].searchsorted(moment, side="right"))
        is_counted = measure in HEATS or measure == "reads"
        copy = selection.block, selection.thread
        early = b"" if is_counted else self.session.memory.early_accesses(buffer, moment, *copy)
        return changes, self.copy(buffer, selection), early

    def _moments(self, buffer: int, measure: str) -> Ints:
        """List the moments at which the cells of a buffer may change, ascending."""
        if measure in HEATS:
            return heat_moments(self.session, measure, buffer)
        requests, ignored = self.session.requests, Op.STORE if measure == "reads" else Op.LOAD
        moments: Ints = requests.moment[(requests.buffer == buffer) & (requests.op != ignored)]
        return moments

    def copy(self, buffer: int, selection: Selection) -> tuple[int, int]:
        """Return the block and thread whose copy of a buffer is drawn, zeros if all share one."""
        space = self.session.trace.buffers[buffer].space
        thread = selection.thread if space == "local" else 0
        return (selection.block if space in ("shared", "local") else 0), thread

    def _largest_count(self, buffer: int, measure: str, selection: Selection) -> int:
        """Compute the largest number of reads, or of another figure, of an element after the launch."""
        block, thread = self.copy(buffer, selection)
        key = measure, buffer, block, thread
        if key not in self._tops:
            self._tops[key] = self._compute_largest_count(measure, *key[1:])
        return self._tops[key]

    def _compute_largest_count(self, measure: str, buffer: int, block: int, thread: int) -> int:
        end, selection = self.session.end, Selection(block, thread)
        sparse = self.session.memory.sparse_reads(buffer, end, block, thread) if measure == "reads" else None
        counts = self._counts(buffer, measure, end, selection) if sparse is None else sparse[1]
        return int(counts.max(initial=0))

    @cached_property
    def has_unwritten(self) -> bool:
        """Whether some buffer has undefined initial values (poison)."""
        initial = self.session.trace.initial
        return len(initial) < len(self.session.trace.buffers) or any(
            self.session.memory.poison_in(number) != "none" for number in initial
        )

    def footprints(self, block: int, sheets: Mapping[int, Sheet]) -> Footprints:
        """Compute the footprints of a block in global and constant memory."""
        return footprints_of(self.session.memory.touched(block), sheets)

    def shown(self, rows: Ints, selection: Selection) -> Ints:
        """Select the accesses to visible copies of buffers: the selected block's and the selected thread's."""
        shown: Ints = rows[self.is_drawn(self.session.trace.buffer[rows], rows, selection)]
        return shown

    def own(self, rows: Ints, selection: Selection) -> Mask:
        """Mark the accesses of the selected thread's warp."""
        trace = self.session.trace
        warp = trace.thread[rows] // WARP == selection.thread // WARP
        own: Mask = warp & (trace.block[rows] == selection.block)
        return own

    def marks(
        self, moment: int, selection: Selection, places: Mapping[int, BufferPosition]
    ) -> list[AccessMark]:
        """Collect the cells that are accessed at a moment, with the selected warp's last."""
        accesses, buffers = self.accesses(moment, selection), len(self.session.trace.buffers)
        keys = (accesses.own * len(REQUEST_KINDS) + accesses.kind) * buffers + accesses.buffer
        keys[accesses.element < 0] = -1
        marks = []
        for key in distinct_numbers(keys[keys >= 0]):
            rest, buffer = divmod(key, buffers)
            own, kind = divmod(rest, len(REQUEST_KINDS))
            if buffer in places:
                cells = places[buffer].sheet.distinct_cells(accesses.element[keys == key])
                marks.append(AccessMark(buffer, REQUEST_KINDS[kind], bool(own), *cells))
        return marks

    def accesses(self, moment: int, selection: Selection) -> Accesses:
        """Collect the accesses of a moment to visible copies of buffers; the latest result is cached."""
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
        """The elements in races; None before the examination and without races."""
        if "races" not in self._raced and self.session.is_examined:
            self._raced["races"] = collect_raced_elements(self.session)
        return self._raced.get("races")

    def exchange(self, moment: int, selection: Selection) -> ExchangeData | None:
        """Collect the exchange between lanes of the selected warp at a moment; None if there is none."""
        exchanges, (warp, lane) = self.session.requests.exchanges, divmod(selection.thread, WARP)
        exchange = exchanges.find(selection.block, warp, moment) if len(exchanges) else -1
        return exchange_data(exchanges, exchange, lane, self.session.lanes) if exchange >= 0 else None

    def race_marks(
        self, moment: int, selection: Selection, places: Mapping[int, BufferPosition]
    ) -> list[RaceMark]:
        """Collect the cells in races at a moment."""
        rows = self.shown(self.races.rows_at(moment), selection) if self.races else np.empty(0, np.int64)
        buffers = self.session.trace.buffer[rows]
        marks = []
        for number in distinct_numbers(buffers):
            elements = self._elements(number, rows[buffers == number])
            if number in places and len(elements):
                marks.append(RaceMark(number, *places[number].sheet.distinct_cells(elements)))
        return marks

    def race_text(self, moment: int, selection: Selection, element: tuple[int, int] | None = None) -> str:
        """Describe a race at a moment; "" if there is none. element: (buffer, element) that limits the search."""
        if self.races is None:
            return ""
        rows = self.shown(self.races.rows_at(moment), selection)
        if element is not None:
            rows = rows[self.session.trace.buffer[rows] == element[0]]
            rows = rows[
                self.session.memory.element_numbers(element[0], self.session.trace.index[rows]) == element[1]
            ]
        row = self.races.choose_access(rows, selection)
        return "" if row is None else self.races.sentence(row)

    def _elements(self, buffer: int, rows: Ints) -> Ints:
        elements = self.session.memory.element_numbers(buffer, self.session.trace.index[rows])
        return elements[elements >= 0]

    def loads_in_flight(
        self, moment: int, selection: Selection, places: Mapping[int, BufferPosition]
    ) -> list[LoadsInFlight]:
        """Collect the loads of a moment whose values go to visible elements."""
        accesses, trace = self.accesses(moment, selection), self.session.trace
        kind, target, index = self.session.memory.destinations(accesses.rows)
        is_moved = (kind != NOWHERE) & ((target != accesses.buffer) | (index != trace.index[accesses.rows]))
        moved = (is_moved & self.is_drawn(target, accesses.rows, selection)).nonzero()[0]
        start_at = accesses.buffer[moved], accesses.element[moved]
        end_at = self.numbers(target[moved], index[moved])
        start, end = self._points(*start_at, places), self._points(*end_at, places)
        own, kinds = accesses.own[moved], accesses.kind[moved]
        chosen = own & (trace.thread[accesses.rows[moved]] == selection.thread)
        is_drawn = ~np.isnan(start[:, 0] + end[:, 0])
        return [
            LoadsInFlight(REQUEST_KINDS[k], start, end, own, chosen, start_at, end_at).only(
                is_drawn & (kinds == k)
            )
            for k in distinct_numbers(kinds[is_drawn])
        ]

    def is_drawn(self, buffers: AnyInts, rows: Ints, selection: Selection) -> Mask:
        """Check for each access whether its thread's copy of the buffer is drawn."""
        trace, (shared, local) = self.session.trace, self._own_copies
        is_drawn: Mask = ~shared[buffers] | (trace.block[rows] == selection.block)
        if local.any():
            block, thread = trace.block[rows] == selection.block, trace.thread[rows] == selection.thread
            is_drawn &= ~local[buffers] | (block & thread)
        return is_drawn

    @cached_property
    def _own_copies(self) -> tuple[Mask, Mask]:
        """Masks of the buffers with a copy for each block, and for each thread, shape (buffers,)."""
        spaces = [buffer.space for buffer in self.session.trace.buffers]
        return np.array([s == "shared" for s in spaces], bool), np.array([s == "local" for s in spaces], bool)

    def numbers(self, buffers: AnyInts, index: NDArray[np.integer]) -> tuple[Ints, Ints]:
        """Convert access indices to element numbers, -1 for none; return buffers and elements."""
        numbers: Ints = buffers.astype(np.int64)
        elements = np.empty(len(numbers), np.int64)
        for number, mask in _iterate_numbers(numbers):
            elements[mask] = self.session.memory.element_numbers(number, index[mask])
        return numbers, elements

    def _points(
        self, buffers: Ints, elements: Ints, places: Mapping[int, BufferPosition]
    ) -> NDArray[np.float64]:
        """Compute the centre of each element's cell in pixels, nan for one that is not drawn."""
        points = np.full((len(buffers), 2), np.nan)
        for number, mask in _iterate_numbers(buffers):
            if number in places:
                points[mask] = places[number].middle(elements[mask])
        points[elements < 0] = np.nan
        return points

    def written_elements(self, selection: Selection) -> dict[int, Ints]:
        """List the elements of global memory that the selected thread ever writes, by buffer."""
        trace, rows = self.session.trace, self.session.memory.first_stores(selection.block)
        rows = rows[trace.thread[rows] == selection.thread]
        return {
            n: self._elements(n, rows[trace.buffer[rows] == n]) for n in distinct_numbers(trace.buffer[rows])
        }


def _iterate_numbers(numbers: Ints) -> Iterator[tuple[int, Mask | slice]]:
    """Yield each distinct small integer, with a mask of its occurrences."""
    distinct = distinct_numbers(numbers)
    for number in distinct:
        yield number, slice(None) if len(distinct) == 1 else numbers == number
