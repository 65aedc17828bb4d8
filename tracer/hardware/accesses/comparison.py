"""Compares a launch on a GPU with the simulator's trace of it.

The accesses of each thread are compared in its own order. A difference names the first thread, line and element, and
the race that the race detector finds there, if any.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from msgspec import Struct, field
from numpy.typing import NDArray

from ...analysis.counters import totals_of
from ...analysis.requests import requests_of
from ...model.array_types import Ints
from ...model.counter_names import NAMES
from ...model.trace import Op, Trace, unravel
from ...races.conflicting_accesses import differ
from ...races.detect import races_of
from ...races.missed_barriers import missed_barriers_of

# The relative difference that may come from rounding on a CPU and a GPU.
ROUNDING = {2: 2e-2, 4: 1e-4, 8: 1e-10, 16: 1e-10}


DIRECT, INDIRECT = "It is a race", "It follows from a race"
OUTSIDE = "Threads access memory outside an array: a GPU does that, the simulator does not."


class Difference(Struct, frozen=True):
    """A difference between GPU and simulator, at its first occurrence."""

    kind: str  # "accesses", "values", "counters" or "results"
    count: int  # threads, accesses, counters or elements that differ
    text: str  # one sentence, with thread, line and element
    cause: str = ""  # one sentence about the race there or another cause, "" if unknown

    @property
    def sentence(self) -> str:
        """The difference and, if known, its cause."""
        return f"{self.text} {self.cause}".strip()


class Comparison(Struct, frozen=True):
    """The comparison of a GPU's accesses with the simulator's."""

    threads: int  # that were compared
    accesses: int  # of the GPU
    differences: tuple[Difference, ...]
    replayed: int  # elements whose result differs from the GPU's stores replayed in the measured order
    stale: int  # loads of another value than the last store before them, in that order
    loads: int  # all loads
    counters: dict[str, tuple[int, int]] = field(default_factory=dict)  # different ones: GPU, simulator

    def differs(self, kind: str) -> Difference | None:
        """Return the difference of one kind, or None."""
        return next((d for d in self.differences if d.kind == kind), None)


class _Sequences(Struct, frozen=True, eq=False):
    """The accesses of all threads, thread by thread, in the order of each: columns of shape (accesses,)."""

    trace: Trace
    thread: Ints  # in the grid
    key: Ints  # site, operation and buffer as one number, the same for both traces
    index: Ints  # of the element; negative or too large outside the buffer
    row: Ints  # of the trace, -1 for an access outside its array

    @property
    def starts(self) -> Ints:
        """The start of each thread, and the end of the last one: shape (threads + 1,)."""
        threads = len(self.trace.blocks) * self.trace.threads
        return np.searchsorted(self.thread, np.arange(threads + 1))


def compare(measured: Trace, results: Mapping[str, NDArray[Any]], simulated: Trace) -> Comparison:
    """Compare a trace measured on a GPU, and its results, with the simulator's trace of the same launch."""
    names: dict[Any, int] = {}
    ours, theirs = _sequences(measured, names), _sequences(simulated, names)
    races = _Causes(simulated)
    left = contents(simulated)
    differences = [
        _accesses(ours, theirs, races), _values(ours, theirs, races), _counters(measured, simulated, races),
        _results(simulated, results, left, races),
    ]  # fmt: skip
    stale, loads = stale_loads(measured)
    return Comparison(
        threads=len(ours.starts) - 1,
        accesses=len(ours.thread),
        differences=tuple(d for d in differences if d is not None),
        replayed=_replayed(measured, results),
        stale=stale,
        loads=loads,
        counters=_differing(measured, simulated),
    )


def _sequences(trace: Trace, names: dict[Any, int]) -> _Sequences:
    """Collect a trace's accesses thread by thread, including those outside their arrays."""
    outside = trace.outside
    block = np.concatenate([trace.block, outside.block]).astype(np.int64)
    thread = trace.thread_numbers(block, np.concatenate([trace.thread, outside.thread]))
    site = np.concatenate([trace.site, outside.site]).astype(np.int64)
    op = np.minimum(np.concatenate([trace.op, outside.op]), Op.ATOMIC).astype(np.int64)
    buffer = np.concatenate([trace.buffer, outside.buffer]).astype(np.int64)
    index = np.concatenate([trace.index.astype(np.int64), outside.cell])
    row = np.concatenate([np.arange(len(trace)), np.full(len(outside.step), -1)])
    step = np.concatenate([2 * trace.step.astype(np.int64) + 1, 2 * outside.step.astype(np.int64)])
    order = np.lexsort((step, thread))
    sites = np.array([names.setdefault(s, len(names)) for s in trace.sites] or [0], np.int64)
    buffers = np.array(
        [names.setdefault((b.space, b.name.split("/")[0]), len(names)) for b in trace.buffers] or [0],
        np.int64,
    )
    key = (sites[site] * (1 << 20) + buffers[buffer]) * 4 + op
    return _Sequences(trace, thread[order], key[order], index[order], row[order])


def _pairs(ours: _Sequences, theirs: _Sequences) -> tuple[Ints, Ints]:
    """Pair the accesses of both traces with the same position in the same thread."""
    a, b = ours.starts, theirs.starts
    both = np.minimum(np.diff(a), np.diff(b))
    position = np.arange(both.sum()) - np.repeat(np.cumsum(both) - both, both)
    return position + np.repeat(a[:-1], both), position + np.repeat(b[:-1], both)


def _accesses(ours: _Sequences, theirs: _Sequences, races: _Causes) -> Difference | None:
    """Find accesses of other lines or other elements."""
    ours_row, theirs_row = _pairs(ours, theirs)
    wrong = (ours.key[ours_row] != theirs.key[theirs_row]) | (
        ours.index[ours_row] != theirs.index[theirs_row]
    )
    lengths = np.diff(ours.starts) != np.diff(theirs.starts)
    threads = np.union1d(ours.thread[ours_row[wrong]], np.flatnonzero(lengths))
    if not len(threads):
        return None
    thread, different = int(threads[0]), np.flatnonzero(wrong & (ours.thread[ours_row] == threads[0]))
    name = _thread_name(ours.trace, thread)
    if len(different):
        a, b = int(ours_row[different[0]]), int(theirs_row[different[0]])
        text = f"{name} {_access(ours, a)} on the GPU, but in the simulator it {_access(theirs, b)}"
        race = races.race_at(theirs, b) or races.before(theirs, thread, b)
    else:
        counts = [int(np.diff(s.starts)[thread]) for s in (ours, theirs)]
        text = f"{name} makes {counts[0]:,} accesses on the GPU and {counts[1]:,} in the simulator"
        race = races.before(theirs, thread, len(theirs.thread))
    more = f"; {len(threads):,} threads differ" if len(threads) > 1 else ""
    return Difference("accesses", len(threads), f"{text}{more}.", race)


def _values(ours: _Sequences, theirs: _Sequences, races: _Causes) -> Difference | None:
    """Find loads and stores of the same element with other values; atomics may come in any order."""
    ours_row, theirs_row = _pairs(ours, theirs)
    same = (ours.key[ours_row] == theirs.key[theirs_row]) & (ours.index[ours_row] == theirs.index[theirs_row])
    same &= (ours.key[ours_row] % 4 < Op.ATOMIC) & (ours.row[ours_row] >= 0) & (theirs.row[theirs_row] >= 0)
    if ours.trace.value is None or theirs.trace.value is None:
        return None
    ours_row, theirs_row = ours_row[same], theirs_row[same]
    got, expected = ours.trace.value[ours.row[ours_row]], theirs.trace.value[theirs.row[theirs_row]]
    wrong = np.flatnonzero(differ_beyond_rounding(got, expected))
    if not len(wrong):
        return None
    a, b = int(ours_row[wrong[0]]), int(theirs_row[wrong[0]])
    text = (
        f"{_thread_name(ours.trace, int(ours.thread[a]))} {_access(ours, a)}: {got[wrong[0]]} on the GPU, "
        f"{expected[wrong[0]]} in the simulator"
    )
    more = f"; {len(wrong):,} values differ" if len(wrong) > 1 else ""
    return Difference("values", len(wrong), f"{text}{more}.", races.race_at(theirs, b))


def _differing(measured: Trace, simulated: Trace) -> dict[str, tuple[int, int]]:
    ours, theirs = (totals_of(trace, requests_of(trace)) for trace in (measured, simulated))
    return {name: (ours[name], theirs[name]) for name in NAMES if ours[name] != theirs[name]}


def _counters(measured: Trace, simulated: Trace, races: _Causes) -> Difference | None:
    differing = _differing(measured, simulated)
    if not differing:
        return None
    name, (ours, theirs) = next(iter(differing.items()))
    text = f"{name.replace('_', ' ')}: {ours:,} from the GPU's accesses and {theirs:,} from the simulator's"
    more = f"; {len(differing)} counters differ" if len(differing) > 1 else ""
    return Difference("counters", len(differing), f"{text}{more}.")


def _results(
    simulated: Trace, results: Mapping[str, NDArray[Any]], left: Mapping[int, NDArray[Any]], races: _Causes
) -> Difference | None:
    """Find the elements that differ between GPU and simulator after the launch."""
    count, text, race = 0, "", ""
    for number, expected in left.items():
        buffer = simulated.buffers[number]
        got = results.get(buffer.name.split("/")[0])
        if buffer.space != "global" or got is None or got.size != expected.size:
            continue
        wrong = np.flatnonzero(differ_beyond_rounding(got, expected))
        count += len(wrong)
        if len(wrong) and not text:
            index = int(wrong[0])
            values = f"{got.reshape(-1)[index]} on the GPU and {expected[index]} in the simulator"
            text = f"{_element(simulated, number, index)} is {values}"
            race = races.of_element(number, index)
    if not count:
        return None
    more = f"; {count:,} elements differ" if count > 1 else ""
    return Difference("results", count, f"{text}{more}.", race)


def _replayed(measured: Trace, results: Mapping[str, NDArray[Any]]) -> int:
    """Count the elements that differ from the GPU's stores replayed in their measured order."""
    wrong = 0
    for number, expected in contents(measured).items():
        buffer = measured.buffers[number]
        got = results.get(buffer.name.split("/")[0])
        if buffer.space == "global" and got is not None and got.size == expected.size:
            wrong += int(np.count_nonzero(differ(got.reshape(-1), expected)))
    return wrong


def contents(trace: Trace) -> dict[int, NDArray[Any]]:
    """Compute the contents of global buffers after a launch, by number, shape (size,): all stores in order."""
    final = {}
    for number, initial in trace.initial.items():
        cells = initial.copy()
        rows = np.flatnonzero((trace.buffer == number) & (trace.op != Op.LOAD))
        # The last store to an element counts: the first one from the end.
        index, last = np.unique(trace.index[rows][::-1], return_index=True)
        if trace.value is not None and len(rows):
            with np.errstate(all="ignore"):
                kept = trace.value[rows[::-1][last]]
                cells[index] = (kept if cells.dtype.kind == "c" else kept.real).astype(cells.dtype)
        final[number] = cells
    return final


def stale_loads(trace: Trace) -> tuple[int, int]:
    """Count the loads of another value than the last store before them, and all loads.

    This covers global and shared memory. Without an earlier store, a load finds the initial value of global memory.
    """
    spaces = np.array([b.space for b in trace.buffers] or [""])[trace.buffer]
    rows = np.flatnonzero((spaces == "global") | (spaces == "shared"))
    loads = int(np.count_nonzero(trace.op[rows] == Op.LOAD))
    if trace.value is None or not loads:
        return 0, loads
    copy = np.where(spaces[rows] == "shared", trace.block[rows].astype(np.int64) + 1, 0)
    element = np.stack([trace.buffer[rows].astype(np.int64), copy, trace.index[rows].astype(np.int64)])
    _, group = np.unique(element, axis=1, return_inverse=True)
    order = np.argsort(group.reshape(-1), kind="stable")
    rows, group = rows[order], group.reshape(-1)[order]
    store = trace.op[rows] != Op.LOAD
    store_row = np.where(store, np.arange(len(rows)), -1)
    before = np.maximum.accumulate(store_row)
    has_store = (before >= 0) & (group[np.maximum(before, 0)] == group) & ~store
    is_stale = differ(trace.value[rows[has_store]], trace.value[rows[before[has_store]]])
    first = ~has_store & ~store & (spaces[np.arange(len(spaces))][rows] == "global")
    expected = [_initial(trace, int(r)) for r in rows[first]]
    wrong = (
        differ(trace.value[rows[first]], np.array(expected, trace.value.dtype))
        if expected
        else np.zeros(0, bool)
    )
    return int(np.count_nonzero(is_stale)) + int(np.count_nonzero(wrong)), loads


def _initial(trace: Trace, row: int) -> Any:
    return trace.initial[int(trace.buffer[row])][int(trace.index[row])]


def differ_beyond_rounding(got: NDArray[Any], expected: NDArray[Any]) -> NDArray[np.bool_]:
    """Test which numbers differ by more than rounding; nan equals nan."""
    got, expected = got.reshape(-1), expected.reshape(-1)
    if got.dtype.kind not in "fc":
        return np.asarray(got != expected)
    with np.errstate(all="ignore"):
        near = np.isclose(got, expected, rtol=ROUNDING[got.dtype.itemsize], atol=1e-6, equal_nan=True)
    return np.asarray(~near)


def _thread_name(trace: Trace, thread: int) -> str:
    """Return the name of a thread of the grid: thread (3, 0) of block (1, 0)."""
    position, number = divmod(thread, trace.threads)
    block = unravel(int(trace.blocks[position]), trace.grid)
    name = _coordinates(unravel(number, trace.block_dim), trace.block_dim)
    return f"Thread {name} of block {_coordinates(block, trace.grid)}"


def _coordinates(position: tuple[int, int, int], dim: tuple[int, int, int]) -> str:
    used = max((axis + 1 for axis, length in enumerate(dim) if length > 1), default=1)
    return str(position[0]) if used == 1 else f"({', '.join(map(str, position[:used]))})"


def _access(sequences: _Sequences, position: int) -> str:
    """Describe an access: loads counter[0] on line 15."""
    trace, row = sequences.trace, int(sequences.row[position])
    if row < 0:
        return f"goes outside an array, to index {int(sequences.index[position])}"
    verb = {Op.LOAD: "loads", Op.STORE: "stores"}.get(Op(trace.op[row]), "updates")
    element = _element(trace, int(trace.buffer[row]), int(trace.index[row]))
    return f"{verb} {element} on line {trace.sites[int(trace.site[row])].line}"


def _element(trace: Trace, number: int, index: int) -> str:
    buffer = trace.buffers[number]
    if not buffer.is_plain or not buffer.shape:
        return f"{buffer.name}[{index}]"
    return f"{buffer.name}[{', '.join(map(str, np.unravel_index(index, buffer.shape)))}]"


class _Causes:
    """The causes of differences: races of the simulator's trace, and accesses outside their arrays."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self._races = [r for r in races_of(trace, missed_barriers_of(trace)) if r.harmful]

    def race_at(self, sequences: _Sequences, position: int) -> str:
        """Describe the race at an access of the simulator's trace in a sentence; "" without one."""
        row = int(sequences.row[position])
        return (self._race_sentence(np.array([row])) if row >= 0 else "") or self._outside()

    def before(self, sequences: _Sequences, thread: int, end: int) -> str:
        """Describe the race at an earlier access of a thread; "" without one."""
        start = int(sequences.starts[thread])
        rows = sequences.row[start : max(start, min(end, int(sequences.starts[thread + 1])))]
        return self._race_sentence(rows[rows >= 0], INDIRECT) or self._outside()

    def of_element(self, buffer: int, index: int) -> str:
        """Describe the race on an element, directly or through stored values; "" without one."""
        rows = np.flatnonzero((self._trace.buffer == buffer) & (self._trace.index == index))
        direct = self._race_sentence(rows)
        if direct or not len(rows):
            return direct or self._outside()
        threads = self._trace.thread_of(np.arange(len(self._trace)))
        return (
            self._race_sentence(np.flatnonzero(np.isin(threads, self._trace.thread_of(rows))), INDIRECT)
            or self._outside()
        )

    def _outside(self) -> str:
        return OUTSIDE if len(self._trace.outside.step) else ""

    def _race_sentence(self, rows: Ints, before: str = DIRECT) -> str:
        for race in self._races:
            both = np.intersect1d(rows, race.rows)
            if len(both):
                row = int(both[0])
                lines = sorted({self._trace.sites[s].line for s in race.sites})
                location = f"line{'s' * (len(lines) > 1)} {' and '.join(map(str, lines))}"
                actors = {"grid": "blocks", "block": "warps of a block", "warp": "lanes of a warp"}[
                    race.scope
                ]
                element = _element(self._trace, int(self._trace.buffer[row]), int(self._trace.index[row]))
                return f"{before}: accesses of {actors} to {element} on {location} are not ordered."
        return ""
