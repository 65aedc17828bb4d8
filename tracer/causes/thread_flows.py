"""The data flow of single threads, replayed on demand from the launch's source text and its recorded accesses."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from msgspec import DecodeError, Struct
from numpy.typing import NDArray

from ..analysis.kernel_structure import is_in_cuda_cpp
from ..dataflow.cpp_replay import CppProgram, cpp_program_of
from ..dataflow.load_uses import uses_of_loads
from ..dataflow.replay_program import Program, program_of, run_kernel
from ..dataflow.replay_state import (
    EXCHANGE,
    MOST_WORK,
    OUTSIDE,
    READ,
    ReplayEndError,
    ReplayError,
    ReplayState,
    ThreadEvents,
    ThreadFlow,
)
from ..dataflow.replay_values import UNKNOWN, ArrayValue, wrapped
from ..model.array_types import Ints
from ..model.grouping import group_starts, positions_in_group
from ..model.launch import Array, Launch, Scalar, decode
from ..model.trace import VOTED_NO, VOTED_YES, WARP, Op, Trace, unravel
from .memory_order import MemoryOrder

MOST_KEPT = 8_000_000  # nodes of replayed threads
MOST_ROUNDS = 40_000_000  # of loops and calls of all replayed threads
FALLBACK = 256  # loads that may have fed a write of a thread that can't be replayed


class Feeds(Struct, frozen=True):
    """What fed a write: rows of reads, each ascending."""

    reads: tuple[int, ...]  # that flowed into the value; an atomic reads its own row
    index_reads: tuple[int, ...] = ()  # that chose the element
    condition_reads: tuple[int, ...] = ()  # that decided whether the write is made
    outside: tuple[int, ...] = ()  # numbers of accesses outside their arrays
    exchanges: tuple[
        tuple[int, int], ...
    ] = ()  # threads of the block that gave and took a value in a shuffle
    reason: str = ""  # why `reads` are only the reads that may have fed the value; "" if they are exact


class ThreadFlows:
    """Replays threads of a trace when their data flow is asked for."""

    def __init__(self, trace: Trace, order: MemoryOrder) -> None:
        self._trace, self._order = trace, order
        self._flows: dict[tuple[int, int], ThreadFlow] = {}
        self._kept_nodes, self._rounds = 0, MOST_ROUNDS

    def feeds(self, row: int) -> Feeds:
        """Find the reads that fed a write."""
        trace = self._trace
        block, thread = int(trace.block[row]), int(trace.thread[row])
        flow = self.flow(block, thread)
        if row not in flow.stored:
            return self._possible(row, flow.reason or "its access was not found in the source text")
        collected = _Collected()
        self._collect(block, thread, flow.stored[row], collected)
        chosen, decided = _Collected(), _Collected()
        self._collect(block, thread, flow.index.get(row, 0), chosen)
        self._collect(block, thread, flow.condition.get(row, 0), decided)
        return Feeds(
            tuple(sorted(collected.reads)),
            tuple(sorted(chosen.reads)),
            tuple(sorted(decided.reads)),
            tuple(sorted(collected.outside)),
            tuple(sorted(collected.exchanges)),
            collected.reason,
        )

    def fed_by(self, row: int) -> tuple[Ints, str]:
        """List the writes of its thread that a read feeds, and why the list may be incomplete; "" if it is exact."""
        trace = self._trace
        block, thread = int(trace.block[row]), int(trace.thread[row])
        flow = self.flow(block, thread)
        reached = self._nodes_fed(flow, READ, row)
        rows = [written for written, node in flow.stored.items() if node in reached and written >= 0]
        others = self._fed_in_warp(block, thread, flow, reached)
        return np.unique(np.array([*rows, *others], np.int64)), flow.reason

    def _nodes_fed(self, flow: ThreadFlow, kind: int, number: int) -> set[int]:
        """Find the nodes into which the leaves of one kind and number flow; nodes follow their parents."""
        reached: set[int] = set()
        for node, (left, right) in enumerate(zip(flow.left, flow.right, strict=True)):
            if (left == -kind and right == number) if left < 0 else (left in reached or right in reached):
                reached.add(node)
        return reached

    def _fed_in_warp(self, block: int, thread: int, flow: ThreadFlow, reached: set[int]) -> list[int]:
        """List the writes of other lanes that get a value through shuffles."""
        rows: list[int] = []
        pending, visited = [(thread, flow, reached)], set[tuple[int, int]]()
        while pending:
            giver, own, nodes = pending.pop()
            for arrival, node in own.given.items():
                if node not in nodes or (giver, arrival) in visited:
                    continue
                visited.add((giver, arrival))
                for taker, taken in self._exchanges.takers(arrival):
                    other = self.flow(block, taker)
                    fed = self._nodes_fed(other, EXCHANGE, taken)
                    rows += [row for row, stored in other.stored.items() if stored in fed and row >= 0]
                    pending.append((taker, other, fed))
        return rows

    def flow(self, block: int, thread: int) -> ThreadFlow:
        """Return the data flow of a thread."""
        key = (block, thread)
        if key not in self._flows:
            if self._kept_nodes >= MOST_KEPT:
                self._flows.clear()
                self._kept_nodes = 0
            self._flows[key] = self._replay(block, thread)
            self._kept_nodes += len(self._flows[key].left)
        return self._flows[key]

    def problem(self, block: int) -> str:
        """Return the reason against a replay of a block's threads, as a clause; "" without one."""
        if self.program is None:
            return self._no_program
        return "" if block in self._trace.recorded else "not all accesses of its block are kept"

    def _replay(self, block: int, thread: int) -> ThreadFlow:
        flow = ThreadFlow()
        flow.reason = self.problem(block)
        if flow.reason or self.program is None:
            return flow
        work = min(self._rounds, MOST_WORK)
        if work <= 0:
            flow.reason = "the launch takes too long to follow"
            return flow
        state = ReplayState(self.events(block, thread), flow, self.position(block, thread), work)
        try:
            run_kernel(self.program, state, self.arguments)
            if state.event < len(state.events.op):
                flow.reason = "its thread made more accesses than its source text suggests"
        except ReplayError as error:
            flow.reason = str(error)
        except ReplayEndError:
            pass
        except RecursionError:
            flow.reason = "its source text is nested too deeply"
        self._rounds -= work - state.work
        return flow

    @cached_property
    def _launch(self) -> Launch | None:
        try:
            return decode(self._trace.launch)
        except DecodeError:
            return None

    @cached_property
    def program(self) -> Program | CppProgram | None:
        """The launch's source text; None if its threads can't be replayed."""
        file = next(iter(self._trace.sources), "")
        if self._launch is None:
            return None
        constants = tuple(sorted(self._launch.constants.items()))
        prepare = cpp_program_of if is_in_cuda_cpp(self._trace) else program_of
        return prepare(self._trace.sources.get(file, ""), self._trace.kernel, constants)

    @property
    def _no_program(self) -> str:
        return "the trace has no source text that defines its kernel once"

    @cached_property
    def arguments(self) -> dict[str, object]:
        """The launch's arguments by the names of the parameters."""
        assert self.program is not None and self._launch is not None
        parameters, constants = self.program.parameters, self._launch.constants
        arguments = zip(parameters, self._launch.arguments, strict=False)
        values: dict[str, object] = {name: constants[name] for name in parameters if name in constants}
        return values | {name: _argument_value(argument, name) for name, argument in arguments}

    def position(self, block: int, thread: int) -> dict[str, int]:
        """Return a thread's place in the launch by the names of CUDA."""
        trace, position = self._trace, {"cuda.laneid": thread % WARP, "cuda.warpsize": WARP}
        values = {
            "threadIdx": unravel(thread, trace.block_dim),
            "blockIdx": unravel(block, trace.grid),
            "blockDim": trace.block_dim,
            "gridDim": trace.grid,
        }
        for name, numbers in values.items():
            position |= {f"{name}.{axis}": number for axis, number in zip("xyz", numbers, strict=True)}
        return position

    def events(self, block: int, thread: int) -> ThreadEvents:
        """Return the recorded events of a thread."""
        trace = self._trace
        rows = self._order.rows_of_thread(block, thread)
        site, op = trace.site[rows].tolist(), trace.op[rows].tolist()
        numbers = rows.tolist()
        values = self._values(rows)
        names = [b.name for b in trace.buffers]
        array = [names[number] for number in trace.buffer[rows].tolist()]
        outside = trace.outside
        extra = np.flatnonzero((outside.block == block) & (outside.thread == thread))
        if len(extra):
            merged = [(int(step) * 2 + 1, number) for number, step in enumerate(trace.steps_of(rows))]
            merged += [(int(outside.step[number]) * 2, -1 - int(number)) for number in extra]
            merged.sort(key=lambda pair: pair[0])
            chosen = [number for _, number in merged]
            site = [site[n] if n >= 0 else int(outside.site[-1 - n]) for n in chosen]
            op = [op[n] if n >= 0 else int(outside.op[-1 - n]) for n in chosen]
            array = [array[n] if n >= 0 else "" for n in chosen]
            values = [values[n] if n >= 0 else UNKNOWN for n in chosen]
            numbers = [numbers[n] if n >= 0 else n for n in chosen]
        is_cut = trace.error is not None or trace.is_stopped
        exchanges = self._exchanges.of_thread(block, thread)
        return ThreadEvents(
            self._places, site, op, numbers, array, values, exchanges, is_cut, self._value_before
        )

    @cached_property
    def _places(self) -> list[tuple[int, int]]:
        file = next(iter(self._trace.sources), "")
        return [(site.line, site.column) if site.file == file else (0, 0) for site in self._trace.sites]

    def _values(self, rows: NDArray[np.integer]) -> list[object]:
        """Return the values of accesses as Python's numbers, of their buffers' kind."""
        trace = self._trace
        if trace.value is None:
            return [UNKNOWN] * len(rows)
        column = trace.value[rows]
        if column.dtype.names is not None:
            return [UNKNOWN] * len(rows)
        kinds = {number: np.dtype(b.dtype) for number, b in enumerate(trace.buffers)}
        values: list[object] = column.tolist()
        buffers = trace.buffer[rows].tolist()
        if len({kinds[number].kind for number in set(buffers)} | {column.dtype.kind}) == 1:
            return values
        return [_of_kind(value, kinds[number]) for value, number in zip(values, buffers, strict=True)]

    def _value_before(self, row: int) -> object:
        """Return the value that an atomic found."""
        trace, order = self._trace, self._order
        buffer, index = int(trace.buffer[row]), int(trace.index[row])
        copy = order.copy_of(buffer, int(trace.block[row]), int(trace.thread[row]))
        written = order.write_before(buffer, index, copy, row)
        if written >= 0:
            return self._values(np.array([written]))[0]
        initial = trace.initial.get(buffer)
        if initial is None or index >= len(initial):
            return UNKNOWN
        value: object = initial[index].item()
        return value

    @cached_property
    def _exchanges(self) -> _Exchanges:
        return _Exchanges(self._trace)

    def _collect(self, block: int, thread: int, node: int, collected: _Collected) -> None:
        """Follow a node to the reads of its thread, and through shuffles to those of other lanes."""
        pending, visited = [(thread, node)], set[tuple[int, int]]()
        while pending:
            thread, node = pending.pop()
            if (thread, node) in visited:
                continue
            visited.add((thread, node))
            flow = self.flow(block, thread)
            for kind, number in flow.leaves(node):
                if kind == READ:
                    collected.reads.add(number)
                elif kind == OUTSIDE:
                    collected.outside.add(number)
                else:
                    for giver, arrival in self._exchanges.givers(number):
                        collected.exchanges.add((giver, thread))
                        other = self.flow(block, giver)
                        if arrival in other.given:
                            pending.append((giver, other.given[arrival]))
                        else:
                            collected.reason = other.reason or "a lane of its warp was not followed"

    def _possible(self, row: int, reason: str) -> Feeds:
        """List the reads of a write's thread that may have fed it: since its last write at that line, or all."""
        trace = self._trace
        rows = self._order.rows_of_thread(int(trace.block[row]), int(trace.thread[row]))
        own_index = int(np.searchsorted(rows, row))
        earlier = rows[:own_index]
        again = np.flatnonzero((trace.site[earlier] == trace.site[row]) & (trace.op[earlier] != Op.LOAD))
        if len(again):
            earlier = earlier[again[-1] + 1 :]
        reads = earlier[trace.op[earlier] != Op.STORE]
        reads = reads[np.isin(trace.site[reads], self._sites_that_reach(int(trace.site[row])))][-FALLBACK:]
        own = [row] if trace.op[row] >= Op.ATOMIC else []
        return Feeds((*map(int, reads), *own), reason=reason)

    def _sites_that_reach(self, store: int) -> Ints:
        """List the sites whose loads may reach a store according to the source text; all if that is not known."""
        trace, every = self._trace, np.arange(len(self._trace.sites))
        file = next(iter(trace.sources), "")
        if is_in_cuda_cpp(trace):
            return every
        uses = uses_of_loads(trace.sources.get(file, ""), trace.kernel)
        if uses is None:
            return every
        place = self._places[store]
        reaching = [
            number
            for number, load in enumerate(self._places)
            if load not in uses or place in uses[load].stores or uses[load].decides
        ]
        return np.array(reaching, np.int64)


class _Collected:
    """Leaves that were found."""

    def __init__(self) -> None:
        self.reads: set[int] = set()
        self.outside: set[int] = set()
        self.exchanges: set[tuple[int, int]] = set()
        self.reason = ""


class _Exchanges:
    """The shuffles, votes and matches of a trace: which lanes took part, and who gave to whom."""

    def __init__(self, trace: Trace) -> None:
        arrivals = trace.warp_barriers
        self._arrivals = np.flatnonzero(arrivals.part > 0)
        chosen = self._arrivals
        self._site, self._part = (
            arrivals.site[chosen].astype(np.int64),
            arrivals.part[chosen].astype(np.int64),
        )
        self._block = arrivals.block[chosen].astype(np.int64)
        self._thread = arrivals.thread[chosen].astype(np.int64)
        self._number = np.zeros(len(chosen), np.int64)
        self._members: list[list[int]] = []
        if len(chosen):
            self._group()

    def _group(self) -> None:
        """Put the k-th arrivals of the lanes of a warp at a site together."""
        owner = np.lexsort((np.arange(len(self._site)), self._site, self._thread, self._block))
        columns = [column[owner] for column in (self._block, self._thread, self._site)]
        visit = np.empty(len(owner), np.int64)
        visit[owner] = positions_in_group(group_starts(*columns), len(owner))
        warp = self._thread // WARP
        order = np.lexsort((self._thread, visit, self._site, warp, self._block))
        columns = [column[order] for column in (self._block, warp, self._site, visit)]
        starts = group_starts(*columns)
        self._members = [part.tolist() for part in np.split(order, starts[1:])]
        for number, members in enumerate(self._members):
            self._number[members] = number
        self._by_thread: dict[tuple[int, int], list[int]] = {}
        for position, key in enumerate(zip(self._block.tolist(), self._thread.tolist(), strict=True)):
            self._by_thread.setdefault(key, []).append(position)

    def of_thread(self, block: int, thread: int) -> list[tuple[int, int, int, int, int]]:
        """List a thread's arrivals: (arrival, site, part, lanes that voted yes, lanes that voted no)."""
        if not len(self._site):
            return []
        listed = []
        for position in self._by_thread.get((block, thread), ()):
            part, yes, no = int(self._part[position]), 0, 0
            if part in (VOTED_NO, VOTED_YES):
                for member in self._members[self._number[position]]:
                    bit = 1 << int(self._thread[member]) % WARP
                    if self._part[member] == VOTED_YES:
                        yes |= bit
                    else:
                        no |= bit
            listed.append((position, int(self._site[position]), part, yes, no))
        return listed

    def givers(self, arrival: int) -> list[tuple[int, int]]:
        """List the threads whose value an arrival gets, and the arrival of each."""
        members, part = self._members[self._number[arrival]], int(self._part[arrival])
        if part >= VOTED_NO:
            return [(int(self._thread[member]), member) for member in members]
        for member in members:
            if int(self._thread[member]) % WARP == part - 1:
                return [(int(self._thread[member]), member)]
        return [(int(self._thread[arrival]), arrival)]

    def takers(self, arrival: int) -> list[tuple[int, int]]:
        """List the threads that get the value given at an arrival, and the arrival of each."""
        members = self._members[self._number[arrival]]
        pairs = ((member, self.givers(member)) for member in members)
        return [
            (int(self._thread[member]), member)
            for member, givers in pairs
            if any(giver == arrival for _, giver in givers)
        ]


def _argument_value(argument: Array | Scalar, name: str) -> object:
    if isinstance(argument, Scalar):
        return UNKNOWN if argument.dtype == "object" else argument.value
    try:
        is_record = np.dtype(argument.dtype).names is not None
    except TypeError:
        is_record = True
    return ArrayValue(argument.shape, is_record, name)


def _of_kind(value: object, dtype: np.dtype[np.generic]) -> object:
    if dtype.kind == "c" or not isinstance(value, bool | int | float | complex):
        return value
    real = value.real
    if dtype.kind == "f":
        return float(real)
    if isinstance(real, float) and real != real:
        return UNKNOWN
    if dtype.kind == "b":
        return bool(real)
    return wrapped(int(real), dtype.itemsize * 8, signed=dtype.kind == "i")
