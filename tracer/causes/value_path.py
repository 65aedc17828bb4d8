"""The path of a value: the write that left it, the reads that fed the write, the writes that fed those, and so on."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Literal

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from ..model.array_types import Ints
from ..model.trace import Op, Trace, is_poison
from ..races.conflicting_accesses import Race
from ..races.detect import races_of
from ..races.missed_barriers import missed_barriers_of
from .memory_order import Copy, MemoryOrder
from .thread_flows import Feeds, ThreadFlows

MOST_ACCESSES = 40_000  # of one path
# What an element held: a write of the launch, its content before, nothing, or something that was not kept.
Source = Literal["write", "input", "unwritten", "not kept"]
Fault = Literal["", "foreign", "stale", "leftover", "unordered", "unwritten"]


class Element(Struct, frozen=True):
    """An element of a buffer, in the copy that a block or a thread has of it."""

    buffer: int  # number in the trace's `buffers`
    index: int  # access index; see `Buffer`
    block: int = -1  # whose copy is meant; -1 in memory that all share
    thread: int = -1


class Reading(Struct, frozen=True):
    """Where a read got its value."""

    row: int  # of the read; an atomic reads its own row
    source: Source
    writer: int = -1  # row of the write that it got
    conflict: int = -1  # row of a write by another thread that nothing orders with the read; -1 for none
    is_late: bool = False  # whether the source text has that write first, and the read came before it
    is_leftover: bool = False  # whether the write is of an earlier phase than others that its line read

    @property
    def fault(self) -> Fault:
        """What is wrong.

        foreign: it got a write that nothing orders with it. stale: it came before a write that the source text has
        first. unordered: another order of threads gives it a later write. unwritten: the memory has no content.
        leftover: the line that wrote it has filled other elements again since, and this one not.
        """
        if self.conflict >= 0 and self.conflict == self.writer:
            return "foreign"
        if self.source == "unwritten":
            return "unwritten"
        if self.conflict >= 0:
            return "stale" if self.is_late else "unordered"
        return "leftover" if self.is_leftover else ""


class ValuePath(Struct, frozen=True, eq=False):
    """The path of one element's value."""

    element: Element
    last: int  # row of the write that left the value; -1 if nothing wrote the element
    writes: dict[int, Feeds]  # by row, what fed each write of the path, the newest first
    readings: dict[int, Reading]  # by row of a read
    is_complete: bool  # False if the path has more accesses than asked for
    source: Source  # "write", or what an unwritten element holds

    @property
    def is_exact(self) -> bool:
        """Whether all its data flow is exact."""
        return self.is_complete and not any(feeds.reason for feeds in self.writes.values())

    def rows(self) -> Ints:
        """List the accesses of the path, ascending."""
        return np.unique(np.array([*self.writes, *self.readings], np.int64))

    def distances(self) -> dict[int, int]:
        """Count, for each write, the fewest writes between it and the element."""
        distances, level = {self.last: 0}, [self.last]
        while level:
            following = []
            for row in level:
                feeds = self.writes.get(row, Feeds(()))
                for read in (*feeds.reads, *feeds.index_reads):
                    writer = self.readings[read].writer if read in self.readings else -1
                    if writer >= 0 and writer not in distances:
                        distances[writer] = distances[row] + 1
                        following.append(writer)
            level = following
        return distances

    def faults(self) -> list[Reading]:
        """List the reads with a fault, in order."""
        return [reading for _, reading in sorted(self.readings.items()) if reading.fault]


class Causes:
    """Follows values of one trace, back and forward. Only what is asked for is computed."""

    def __init__(self, trace: Trace, races: Callable[[], list[Race]] | None = None) -> None:
        self.trace = trace
        self.order = MemoryOrder(trace)
        self.flows = ThreadFlows(trace, self.order)
        self._find_races = races or (lambda: races_of(trace, missed_barriers_of(trace)))

    def element_of(self, row: int) -> Element:
        """Return the element of an access."""
        trace = self.trace
        buffer = int(trace.buffer[row])
        return Element(buffer, int(trace.index[row]), *self._copy(row))

    def _copy(self, row: int) -> Copy:
        trace = self.trace
        return self.order.copy_of(int(trace.buffer[row]), int(trace.block[row]), int(trace.thread[row]))

    def last_write(self, element: Element, before: int | None = None) -> int:
        """Find the last write of an element before a row, or of the launch; -1 if there is none."""
        end = len(self.trace) if before is None else before
        copy = (element.block, element.thread)
        return self.order.write_before(element.buffer, element.index, copy, end)

    def path(self, element: Element, before: int | None = None, most: int = MOST_ACCESSES) -> ValuePath:
        """Return the path of an element's value, at the end or before a row."""
        last = self.last_write(element, before)
        writes: dict[int, Feeds] = {}
        readings: dict[int, Reading] = {}
        if last < 0:
            return ValuePath(element, last, writes, readings, True, self._content(element))
        pending = {last}
        while pending and len(writes) + len(readings) < most:
            row = pending.pop()
            feeds = self.flows.feeds(row)
            writes[row] = feeds
            for read in (*feeds.reads, *feeds.index_reads):
                if read not in readings:
                    readings[read] = reading = self.reading(read)
                    if reading.writer >= 0 and reading.writer not in writes:
                        pending.add(reading.writer)
        self._mark_leftovers(readings)
        newest_first = dict(sorted(writes.items(), reverse=True))
        return ValuePath(element, last, newest_first, readings, not pending, "write")

    def _mark_leftovers(self, readings: dict[int, Reading]) -> None:
        """Mark the reads of shared memory that got an older write than others of their thread, line and phase.

        All these writes are of one line: it filled some elements again, and left the marked ones.
        """
        trace, newest = self.trace, dict[tuple[int, ...], int]()
        keys: dict[int, tuple[int, ...]] = {}
        for row, reading in readings.items():
            is_ordered = reading.writer >= 0 and reading.fault != "foreign"
            if is_ordered and trace.buffers[int(trace.buffer[row])].space == "shared":
                columns = (trace.block, trace.thread, trace.site, trace.phase)
                keys[row] = (*(int(column[row]) for column in columns), int(trace.site[reading.writer]))
                phase = int(trace.phase[reading.writer])
                newest[keys[row]] = max(phase, newest.get(keys[row], phase))
        for row, key in keys.items():
            if trace.phase[readings[row].writer] < newest[key]:
                readings[row] = replace(readings[row], is_leftover=True)

    def reading(self, row: int) -> Reading:
        """Find where a read got its value."""
        element = self.element_of(row)
        copy = (element.block, element.thread)
        writer = self.order.write_before(element.buffer, element.index, copy, row)
        source: Source = "write" if writer >= 0 else self._content(element)
        conflict = -1
        if writer >= 0 and self._races_with(row, writer):
            conflict = writer
        elif not self.trace.is_race_free:
            later = self.order.write_after(element.buffer, element.index, copy, row)
            if later >= 0 and self._races_with(row, later):
                conflict = later
        is_late = conflict > row and self._is_late(row, conflict)
        return Reading(row, source, writer, conflict, is_late)

    def _is_late(self, read: int, write: int) -> bool:
        """Test whether a write that came after a read comes before it in the source text.

        That is so if the reading thread was past the line of the write in this phase. A thread that never came to
        that line in the phase leaves it to the order of the lines.
        """
        trace = self.trace
        rows = self.order.rows_of_thread(int(trace.block[read]), int(trace.thread[read]))
        passed = rows[(trace.site[rows] == trace.site[write]) & (trace.phase[rows] == trace.phase[read])]
        if len(passed):
            return int(passed[0]) < read
        return trace.sites[int(trace.site[write])].line < trace.sites[int(trace.site[read])].line

    def _content(self, element: Element) -> Source:
        """Find the source of the content of an element that no kept access has written."""
        initial = self.trace.initial.get(element.buffer)
        if self.trace.is_part and self.trace.access_counts[element.buffer, Op.STORE :].any():
            space = self.trace.buffers[element.buffer].space
            if space == "global" or element.block not in self.trace.recorded:
                return "not kept"
        if initial is None or element.index >= len(initial):
            return "unwritten"
        return "unwritten" if is_poison(initial[element.index : element.index + 1]).any() else "input"

    def _races_with(self, read: int, write: int) -> bool:
        """Test whether nothing orders a read and another thread's write, and the launch has that race."""
        trace = self.trace
        if trace.is_race_free or read == write:
            return False
        same_block = trace.block[read] == trace.block[write]
        if same_block and (
            trace.thread[read] == trace.thread[write] or trace.phase[read] != trace.phase[write]
        ):
            return False
        if trace.op[read] >= Op.ATOMIC and trace.op[write] >= Op.ATOMIC:
            return False
        pair = tuple(sorted((int(trace.site[read]), int(trace.site[write]))))
        return (int(trace.buffer[write]), pair) in self._race_sites or (
            int(trace.buffer[read]),
            pair,
        ) in self._race_sites

    @cached_property
    def _race_sites(self) -> set[tuple[int, tuple[int, ...]]]:
        return {(race.buffer, tuple(sorted(race.sites))) for race in self._find_races()}

    def uses(self, row: int) -> Ints:
        """List the reads that got the value of a write: all until the element is written again."""
        element = self.element_of(row)
        copy = (element.block, element.thread)
        end = self.order.write_after(element.buffer, element.index, copy, row)
        limit = len(self.trace) if end < 0 else end + (self.trace.op[end] >= Op.ATOMIC)
        return self.order.reads(element.buffer, element.index, copy, row, int(limit))

    def first_uses(self, element: Element) -> Ints:
        """List the reads of an element's content before the launch; all its reads if it had none."""
        copy = (element.block, element.thread)
        if self._content(element) != "input":
            return self.order.reads(element.buffer, element.index, copy, -1, len(self.trace))
        first = self.order.write_after(element.buffer, element.index, copy, -1)
        limit = len(self.trace) if first < 0 else first + (self.trace.op[first] >= Op.ATOMIC)
        return self.order.reads(element.buffer, element.index, copy, -1, int(limit))


class Reach(Struct, frozen=True, eq=False):
    """Everything that a value reaches."""

    element: Element
    reads: dict[int, tuple[int, ...]]  # by row of a read, the rows of the writes that it fed
    writes: dict[int, tuple[int, ...]]  # by row of a write, the rows of the reads that got its value
    is_complete: bool  # False if there are more reads than asked for
    is_exact: bool

    def served(self, trace: Trace, read: int) -> Ints:
        """List the threads of the grid, ascending, that got the value of one load through the writes it fed."""
        rows = [use for write in self.reads.get(read, ()) for use in self.writes.get(write, ())]
        return np.unique(trace.thread_in_grid(np.array(rows, np.int64)))


def reach_of(causes: Causes, element: Element, since: int = -1, most: int = MOST_ACCESSES) -> Reach:
    """Follow an element's value forward: from a write (`since`), or from its content before the launch.

    An element without such content is followed from all its reads.
    """
    first = causes.uses(since) if since >= 0 else causes.first_uses(element)
    reads: dict[int, tuple[int, ...]] = {}
    writes: dict[int, tuple[int, ...]] = {}
    exact, pending = True, first.tolist()
    while pending and len(reads) < most:
        read = pending.pop()
        if read in reads:
            continue
        fed, reason = causes.flows.fed_by(read)
        exact = exact and not reason
        reads[read] = tuple(fed.tolist())
        for write in fed.tolist():
            if write not in writes:
                writes[write] = tuple(causes.uses(write).tolist())
                pending += [use for use in writes[write] if use not in reads]
    return Reach(element, dict(sorted(reads.items())), dict(sorted(writes.items())), not pending, exact)
