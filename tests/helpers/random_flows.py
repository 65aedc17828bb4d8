"""Random kernels for data flow, and a brute-force data flow: threads run with values that carry their reads.

The oracle runs the kernel's text as Python, one greenlet a thread, in the order of a trace. It takes only the order of
accesses from the trace.
"""

from __future__ import annotations

import random
from typing import Any

import greenlet
import numpy as np

from tilescope.tracer.model.trace import Op, Trace

SIZE, LANES = 12, 32
ARRAYS = ("a", "b", "s", "private")
HEADER = """
@cuda.jit(device=True)
def mixed(p, q):
    if p > q:
        return p - q
    return p + 2 * q

@cuda.jit(device=True)
def put(target, where, what):
    target[where] = what

"""


def random_kernel(seed: int) -> str:
    """Return the text of a random kernel over a, b, shared and local memory."""
    chance = random.Random(seed)
    lines = ["t, x = cuda.threadIdx.x, cuda.grid(1)", f"s = cuda.shared.array({SIZE}, int32)"]
    lines += [f"private = cuda.local.array({SIZE}, int32)", "v, w, k = 0, t, 0"]
    for _ in range(chance.randint(2, 4)):
        lines += _statements(chance, 2)
        if chance.random() < 0.5:
            lines.append(f"v = cuda.shfl_xor_sync(-1, v + w, {chance.choice([1, 2, 16])})")
        if chance.random() < 0.3:
            lines.append("w = cuda.shfl_up_sync(-1, w, 1)")
        lines.append("cuda.syncthreads()")
    lines.append("b[x % 12] = v + w")
    return HEADER + "@cuda.jit\ndef kernel(a, b):\n" + "".join(f"    {line}\n" for line in lines)


def _element(chance: random.Random) -> str:
    index = chance.choice(["t", "t + 1", "2 * t", "t // 3", "x", "7", "t * k + 1", "a[t % 12] + 1"])
    return f"{chance.choice(ARRAYS)}[({index}) % {SIZE}]"


def _statements(chance: random.Random, depth: int) -> list[str]:
    lines: list[str] = []
    for _ in range(chance.randint(1, 4)):
        to, source, other = (_element(chance) for _ in range(3))
        name = chance.choice("vw")
        kinds = ["set", "sum", "min", "swap", "store", "add", "call", "put", "atomic", "old", "choose", "cas"]
        kind = chance.choice(kinds + ["if", "data if", "for", "while"] * (depth > 0))
        array, index = to.split("[", 1)
        array, index = ("a" if array == "private" else array), index[:-1]
        inner = [f"    {line}" for line in (_statements(chance, depth - 1) if depth else [])]
        lines += {
            "set": [f"{name} = {source}"],
            "sum": [f"{name} = (v + 3 * {source}) % 1009"],
            "min": [f"{name} = max(w, min(v, {source} % 1009))"],
            "swap": ["v, w = w, v"],
            "store": [f"{to} = {name} + {chance.randint(0, 5)}"],
            "add": [f"{to} += {source} % 1009"],
            "call": [f"{name} = mixed({source} % 1009, {other} % 1009)"],
            "put": [f"put({array}, {index}, {name})"],
            "atomic": [f"cuda.atomic.max({array}, {index}, {name} % 1009)"],
            "old": [f"{name} = cuda.atomic.add({array}, {index}, {source} % 1009) % 1009"],
            "choose": [f"{name} = {source} if t % 3 else v - {other} % 1009"],
            "cas": [f"{name} = cuda.atomic.exch({array}, {index}, w % 1009)"],
            "if": [f"if t % {chance.randint(2, 4)} == 0:", *inner],
            "data if": [f"if {source} % 2 == 0 or t == 5:", *inner, "else:", f"    {name} = 4"],
            "for": [f"for k in range(t % 3, {chance.randint(2, 4)}):", *inner],
            "while": [
                f"n{depth} = 0",
                f"while n{depth} < 3 and {source} % 1009 >= n{depth}:",
                f"    n{depth} += 1",
                *inner,
            ],
        }[kind]
    return lines


class Carrier:
    """A number with the rows of the reads that flowed into it."""

    def __init__(self, number: int, reads: frozenset[int] = frozenset()) -> None:
        self.number, self.reads = number, reads

    def __index__(self) -> int:
        return self.number

    def __bool__(self) -> bool:
        return bool(self.number)


def _carrier(value: Any) -> Carrier:
    return value if isinstance(value, Carrier) else Carrier(int(value))


def _operator(name: str, reverse: bool) -> Any:
    def apply(self: Carrier, other: Any) -> Carrier:
        left, right = (_carrier(other), self) if reverse else (self, _carrier(other))
        return Carrier(getattr(left.number, f"__{name}__")(right.number), left.reads | right.reads)

    return apply


for _name in ("add", "sub", "mul", "mod", "floordiv"):
    setattr(Carrier, f"__{_name}__", _operator(_name, reverse=False))
    setattr(Carrier, f"__r{_name}__", _operator(_name, reverse=True))
for _name in ("eq", "lt", "gt", "le", "ge"):
    setattr(
        Carrier,
        f"__{_name}__",
        lambda self, other, name=_name: getattr(self.number, f"__{name}__")(int(_carrier(other))),
    )


class _Memory:
    """An array whose accesses switch to the oracle."""

    def __init__(self, name: str, oracle: Oracle) -> None:
        self.name, self._oracle = name, oracle

    def __getitem__(self, index: Any) -> Any:
        return self._oracle.ask(self.name, index, None)

    def __setitem__(self, index: Any, value: Any) -> None:
        self._oracle.ask(self.name, index, lambda old: (value, None))


class Oracle:
    """Runs all threads of a launch in the order of its trace; `flows` and `indices` hold the reads of each row."""

    def __init__(self, trace: Trace, text: str) -> None:
        self.trace = trace
        self.flows: dict[int, frozenset[int]] = {}  # by row of a write, the reads in its value
        self.indices: dict[int, frozenset[int]] = {}  # by row, the reads in its index
        self.values: dict[int, int] = {}  # by row of a write
        self._main = greenlet.getcurrent()
        self._row = -1
        self._cells = {}
        for number, content in trace.initial.items():
            for index, value in enumerate(content.tolist()):
                self._cells[trace.buffers[number].name, -1, -1, index] = Carrier(value)
        self._threads = {
            (block, thread): greenlet.greenlet(self._body(text, block, thread))
            for block in range(trace.grid[0])
            for thread in range(trace.threads)
        }
        self._waiting: dict[tuple[int, int], tuple[Carrier, int]] = {}
        self._pending: dict[tuple[int, int], Any] = {}
        for key in self._threads:
            self._resume(key, None)
        self._run()

    def ask(self, name: str, index: Any, change: Any) -> Any:
        """Make an access from a thread; returns the value that the element had."""
        return self._main.switch(("access", name, _carrier(index), change))

    def _body(self, text: str, block: int, thread: int) -> Any:
        oracle = self

        class Atomic:
            def __getattr__(self, name: str) -> Any:
                def change(old: Carrier, value: Any) -> Any:
                    given = _carrier(value)
                    if name == "exch":
                        return given, old
                    number = max(old.number, given.number) if name == "max" else old.number + given.number
                    return Carrier(number, old.reads | given.reads), old

                return lambda array, index, value: oracle.ask(
                    array.name, index, lambda old: change(old, value)
                )

        class Cuda:
            atomic = Atomic()

            def __getattr__(self, name: str) -> Any:
                return _Any(oracle, name, block, thread, oracle.trace.threads)

        space: dict[str, Any] = {"cuda": Cuda(), "int32": None, "min": _least, "max": _most}
        exec(text, space)
        return lambda: (space["kernel"](_Memory("a", oracle), _Memory("b", oracle)), ("end",))[1]

    def shuffle(self, value: Any, source: int) -> Any:
        """Exchange a value with the lanes of the warp; returns the source's."""
        return self._main.switch(("shuffle", _carrier(value), source))

    def _resume(self, key: tuple[int, int], answer: Any) -> None:
        request = self._threads[key].switch(answer) if answer is not None else self._threads[key].switch()
        if request[0] == "shuffle":
            self._waiting[key] = request[1:]
            self._exchange(key)
        elif request[0] == "access":
            self._pending[key] = request

    def _exchange(self, key: tuple[int, int]) -> None:
        """Give the lanes of a warp their values once all have come."""
        block, warp = key[0], key[1] // LANES
        lanes = [(block, warp * LANES + lane) for lane in range(LANES)]
        if not all(lane in self._waiting for lane in lanes):
            return
        came = {lane: self._waiting.pop(lane) for lane in lanes}
        for lane in lanes:
            self._resume(lane, came[block, warp * LANES + came[lane][1]][0])

    def _run(self) -> None:
        trace = self.trace
        for row in range(len(trace)):
            key = int(trace.block[row]), int(trace.thread[row])
            _, name, index, change = self._pending.pop(key)
            buffer = trace.buffers[int(trace.buffer[row])]
            assert (name, index.number) == (buffer.name, int(trace.index[row]))
            block = key[0] if buffer.space != "global" else -1
            cell = (name, block, key[1] if buffer.space == "local" else -1, index.number)
            held = self._cells.get(cell, Carrier(_POISON))
            self.indices[row] = index.reads
            old = Carrier(held.number, frozenset([row]))
            answer: Any = old
            if change is None:
                assert trace.op[row] == Op.LOAD
            else:
                value, result = change(old)
                value, answer = _carrier(value), result if result is not None else old
                number = int(np.int64(value.number).astype(np.int32))
                self.flows[row], self.values[row] = value.reads, number
                self._cells[cell] = Carrier(number)
            self._resume(key, answer)
        assert not self._pending and not self._waiting


_POISON = int(np.frombuffer(b"\xa5" * 4, np.int32)[0])


def _most(*values: Any) -> Carrier:
    return Carrier(
        max(map(int, map(_carrier, values))), frozenset().union(*(_carrier(v).reads for v in values))
    )


def _least(*values: Any) -> Carrier:
    return Carrier(
        min(map(int, map(_carrier, values))), frozenset().union(*(_carrier(v).reads for v in values))
    )


class _Any:
    """A name of `cuda`, for one thread."""

    def __init__(self, oracle: Oracle, name: str, block: int, thread: int, threads: int) -> None:
        self._oracle, self._name, self._block, self._thread, self._threads = (
            oracle,
            name,
            block,
            thread,
            threads,
        )

    @property
    def x(self) -> int:
        return self._thread if self._name == "threadIdx" else self._block

    def array(self, size: int, dtype: Any) -> _Memory:
        return _Memory("s" if self._name == "shared" else "private", self._oracle)

    def __call__(self, *given: Any, **named: Any) -> Any:
        lane = self._thread % LANES
        if self._name == "jit":
            return given[0] if given and callable(given[0]) else lambda function: function
        if self._name == "grid":
            return self._block * self._threads + self._thread
        if self._name == "shfl_xor_sync":
            return self._oracle.shuffle(given[1], lane ^ given[2])
        if self._name == "shfl_up_sync":
            return self._oracle.shuffle(given[1], lane - given[2] if lane >= given[2] else lane)
        assert self._name == "syncthreads"
        return None


def brute_force_path(oracle: Oracle, target: int) -> tuple[set[int], set[int]]:
    """Return the writes and the reads on the path of a write, from the oracle's flows and the order of rows."""
    trace = oracle.trace
    element = [_element_key(trace, row) for row in range(len(trace))]
    writes, reads, pending = set[int](), set[int](), [target]
    while pending:
        row = pending.pop()
        if row in writes:
            continue
        writes.add(row)
        for read in oracle.flows[row] | oracle.indices[row]:
            reads.add(read)
            earlier = [w for w in oracle.flows if w < read and element[w] == element[read]]
            pending += [max(earlier)] if earlier else []
    return writes, reads


def _element_key(trace: Trace, row: int) -> tuple[int, int, int, int]:
    buffer = int(trace.buffer[row])
    space = trace.buffers[buffer].space
    block = int(trace.block[row]) if space != "global" else -1
    return buffer, int(trace.index[row]), block, int(trace.thread[row]) if space == "local" else -1
