"""Which launches and copies in streams nothing orders, though they use the same memory.

Here each of them ends before the next begins. On a GPU, two streams run at the same time, unless an event or the host
orders them. The default stream waits for all others, and all others wait for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from ..model.array_types import Ints
from ..model.trace import Op, Trace
from .run_record import RunRecord

VERBS = {Op.LOAD: "reads", Op.STORE: "writes", Op.ATOMIC: "updates"}
MOST_KEPT = 64  # pieces of work that later ones are compared with
Clock = Mapping[int, int]  # by stream: the number of its last piece of work that has ended before


class Bytes:
    """A set of bytes, as sorted ranges that do not touch."""

    def __init__(self, starts: Ints, ends: Ints) -> None:
        self.starts, self.ends = starts, ends
        self._before = np.concatenate([[0], np.cumsum(ends - starts)])  # bytes before each range

    @classmethod
    def of_elements(cls, addresses: Ints, size: int) -> Bytes:
        """Collect elements of `size` bytes."""
        addresses = np.unique(addresses)
        is_first = np.diff(addresses, prepend=addresses[:1] - 2 * size) != size
        is_last = np.diff(addresses, append=addresses[-1:] + 2 * size) != size
        return cls(addresses[is_first], addresses[is_last] + size)

    @classmethod
    def of_array(cls, ary: NDArray[Any]) -> Bytes:
        """Collect the bytes from the first element of an array to the end of its last."""
        low, high = np.lib.array_utils.byte_bounds(ary)
        return cls(np.array([low]), np.array([high])) if high > low else cls(*np.empty((2, 0), np.int64))

    def shared_with(self, other: Bytes) -> int:
        """Count the bytes that are in both sets."""
        return int((self._count_below(other.ends) - self._count_below(other.starts)).sum())

    def _count_below(self, addresses: Ints) -> Ints:
        if not len(self.starts):
            return np.zeros(len(addresses), np.int64)
        last = np.searchsorted(self.starts, addresses, "right") - 1
        within = np.minimum(addresses, self.ends[last]) - self.starts[last]
        counts: Ints = np.where(last < 0, 0, self._before[last] + within)
        return counts


class Use(Struct, frozen=True, eq=False):
    """The bytes of one array that a piece of work uses."""

    name: str
    itemsize: int
    by_op: Mapping[int, Bytes]  # by Op: LOAD, STORE, ATOMIC
    owner: object  # keeps the memory, so that no other array gets its address


class Work(Struct, frozen=True, eq=False):
    """A launch or a copy."""

    name: str
    stream: int
    number: int  # in its stream, from 1
    place: tuple[str, int]  # file and line
    uses: Sequence[Use]


class Conflict(Struct, frozen=True):
    """Two pieces of work that nothing orders, of which one writes what the other uses."""

    first: Work
    second: Work
    name: str  # of the array, in the second
    elements: int
    ops: tuple[int, int]  # what each does

    @property
    def place(self) -> tuple[str, int]:
        """The file and line of the second, or of the first if that of the second is unknown."""
        return self.second.place if self.second.place[1] else self.first.place


class StreamOrder:
    """The order of a program's work in streams. It is off until `watch` is called."""

    def __init__(self) -> None:
        self._report: Callable[[Conflict], None] | None = None
        self._locate: Callable[[], tuple[str, int]] = lambda: ("", 0)
        self._clocks: dict[int, Clock] = {}
        self._counts: dict[int, int] = {}
        self._host: Clock = {}
        self._kept: list[Work] = []

    def watch(self, locate: Callable[[], tuple[str, int]], report: Callable[[Conflict], None]) -> None:
        """Begin to report conflicts. locate: returns the running line of the program."""
        self._locate, self._report = locate, report

    def add(
        self,
        name: str,
        stream: object,
        uses: Callable[[], Sequence[Use]],
        place: tuple[str, int] | None = None,
    ) -> None:
        """Add a launch or a copy, and report its conflicts. place: its file and line, None for the running line."""
        if self._report is None:
            return
        handle = _handle_of(stream)
        if handle is None:
            self.synchronize_all()
            return
        number = self._counts[handle] = self._counts.get(handle, 0) + 1
        before = _joined(self._clocks.get(handle, {}), self._host)
        self._clocks[handle] = before | {handle: number}
        work = Work(name, handle, number, place or self._locate(), uses())
        for earlier in self._kept:
            if before.get(earlier.stream, 0) < earlier.number and earlier.stream != handle:
                for conflict in _conflicts(earlier, work):
                    self._report(conflict)
        self._kept = [*self._kept[1 - MOST_KEPT :], work]

    def clock_of(self, stream: object) -> Clock:
        """Return the clock of an event that is recorded in a stream."""
        handle = _handle_of(stream)
        if handle is None:
            self.synchronize_all()
            return {}
        return _joined(self._clocks.get(handle, {}), self._host)

    def wait(self, stream: object, clock: Clock) -> None:
        """Let a stream wait for an event."""
        handle = _handle_of(stream)
        if handle is None:
            self.synchronize_all()
        else:
            self._clocks[handle] = _joined(self._clocks.get(handle, {}), clock)

    def synchronize(self, stream: object) -> None:
        """Let the host wait for a stream."""
        self.synchronize_event(self.clock_of(stream))

    def synchronize_event(self, clock: Clock) -> None:
        """Let the host wait for an event."""
        self._host = _joined(self._host, clock)
        self._kept = [work for work in self._kept if self._host.get(work.stream, 0) < work.number]

    def synchronize_all(self) -> None:
        """Let all later work wait for all earlier work."""
        self._kept = []


stream_order = StreamOrder()  # of this process


def uses_of_launch(record: RunRecord, trace: Trace, hosts: Sequence[NDArray[Any]]) -> Iterator[Use]:
    """Yield what a launch uses of each memory, except of arrays of the host, of which a GPU gets a copy."""
    for memory in record.memories:
        if any(np.may_share_memory(memory.cells, ary) for ary in hosts):
            continue
        rows = np.flatnonzero(trace.buffer == memory.buffer)
        size, ops = memory.cells.itemsize, np.minimum(trace.op[rows], Op.ATOMIC)
        addresses = memory.start + trace.index[rows].astype(np.int64) * size
        by_op = {int(op): Bytes.of_elements(addresses[ops == op], size) for op in np.unique(ops)}
        yield Use(trace.buffers[memory.buffer].name, size, by_op, memory.cells)


def uses_of_trace(trace: Trace) -> Iterator[Use]:
    """Yield what a launch uses of each buffer of global memory, at the addresses of the trace."""
    for number, buffer in enumerate(trace.buffers):
        if buffer.space != "global":
            continue
        rows = np.flatnonzero(trace.buffer == number)
        ops = np.minimum(trace.op[rows], Op.ATOMIC)
        addresses = buffer.address + trace.index[rows].astype(np.int64) * buffer.unit
        by_op = {int(op): Bytes.of_elements(addresses[ops == op], buffer.itemsize) for op in np.unique(ops)}
        yield Use(buffer.name, buffer.itemsize, by_op, None)


def use_of_range(start: int, size: int, op: int) -> Use:
    """Describe the use of a range of bytes by a copy."""
    return Use("", 1, {op: Bytes(np.array([start]), np.array([start + size]))}, None)


def use_of_array(ary: NDArray[Any], op: int) -> Use:
    """Describe the use of an array by a copy."""
    return Use("", ary.itemsize, {op: Bytes.of_array(ary)}, ary)


def conflict_text(conflict: Conflict) -> str:
    """Describe a conflict: what both do to which array, and the remedy."""
    first, second = conflict.first, conflict.second
    first_verb, second_verb = (VERBS[Op(op)] for op in conflict.ops)
    file, line = first.place
    place = f" of line {line}" if file == conflict.place[0] else f" of line {line} of {file}" if line else ""
    elements = "1 element" if conflict.elements == 1 else f"{conflict.elements:,} elements"
    elements += f" of {conflict.name or 'an array'}"
    return (
        f"{second.name} {second_verb} {elements} that {first.name}{place} {first_verb} "
        "in another stream, and nothing orders the two; record an event after the first, and let the second stream "
        "wait for it."
    )


def _conflicts(first: Work, second: Work) -> Iterator[Conflict]:
    """Yield at most one conflict for each array of the second."""
    for use in second.uses:
        shared = [
            (earlier_bytes.shared_with(later_bytes), earlier, op, later)
            for earlier in first.uses
            for op, earlier_bytes in earlier.by_op.items()
            for later, later_bytes in use.by_op.items()
            if (op, later) not in ((Op.LOAD, Op.LOAD), (Op.ATOMIC, Op.ATOMIC))
        ]
        count, earlier, op, later = max(
            shared, key=lambda entry: (entry[0], entry[2], entry[3]), default=(0, use, Op.LOAD, Op.LOAD)
        )
        if count:
            yield Conflict(
                first,
                second,
                use.name or earlier.name,
                -(-count // max(use.itemsize, earlier.itemsize)),
                (op, later),
            )


def _joined(first: Clock, second: Clock) -> dict[int, int]:
    return {stream: max(first.get(stream, 0), second.get(stream, 0)) for stream in {**first, **second}}


def _handle_of(stream: object) -> int | None:
    """Return the handle of a stream; None for the default stream, which all wait for, and another library's."""
    if isinstance(stream, int):
        return stream or None
    handle = getattr(stream, "handle", None)
    is_own = isinstance(handle, int) and not getattr(stream, "external", True)
    return handle if is_own and handle not in (0, 1) else None
