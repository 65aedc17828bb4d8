"""Synthetic traces: threads given as lists of accesses, run by a scheduler of a few lines.

It shares no code with the tracer, so that both can be held against each other.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import strategies as st

from tilescope.tracer.model.trace import Barriers, Buffer, Op, Site, Trace

# One access: (site, op, buffer, access index). A thread's program: one list of accesses per phase.
Access = tuple[int, int, int, int]
Program = list[list[Access]]
Programs = dict[tuple[int, int], Program]

BUFFERS = (
    Buffer("plain", "global", "float32", (4, 3), (12, 4), 0, 4, 12),
    Buffer("columns", "global", "float64", (3, 2), (8, 24), 256, 8, 6),
    Buffer("every_other", "global", "int16", (5,), (4,), 512, 2, 10),
    Buffer("field", "global", "float32", (4,), (13,), 797, 13, 4),
    Buffer("tile", "shared", "float32", (8, 9), (36, 4), 0, 4, 72),
    Buffer("wide", "shared", "complex128", (6,), (16,), 288, 16, 6),
    Buffer("bytes", "shared", "uint8", (200,), (1,), 384, 1, 200),
    Buffer("own", "local", "float32", (3,), (4,), 0, 4, 3),
    Buffer("table", "constant", "float32", (4,), (4,), 0, 4, 4),
)


@dataclass
class Execution:
    """What the scheduler did: rows in order, the sweep and the place in the program of each, arrivals at barriers."""

    rows: list[tuple[int, int, int, int, int, int, int]] = field(default_factory=list)
    sweeps: list[int] = field(default_factory=list)
    arrivals: list[tuple[int, int, int]] = field(default_factory=list)


class Runner:
    """One block under way: its phase, and how many accesses each thread has made in it."""

    def __init__(self, block: int, programs: Programs, execution: Execution) -> None:
        self.block, self.made, self.phase = block, execution, 0
        self.programs = {t: p for (b, t), p in sorted(programs.items()) if b == block}
        self.done = dict.fromkeys(self.programs, 0)

    def left(self, thread: int) -> int:
        """Count the accesses that a thread has still to make in this phase."""
        program = self.programs[thread]
        return len(program[self.phase]) - self.done[thread] if self.phase < len(program) else 0

    def access(self, thread: int, sweep: int) -> None:
        site, op, buffer, index = self.programs[thread][self.phase][self.done[thread]]
        self.made.rows.append((self.block, thread, self.phase, op, buffer, site, index))
        self.made.sweeps.append(sweep)
        self.done[thread] += 1

    def sweep(self, sweep: int, kind: str, chance: random.Random) -> bool:
        """Give threads their turns, or take them past their barrier; False when the block has ended."""
        turns = [t for t in self.programs for _ in range(self.left(t))]
        if not turns:
            return self.pass_barrier()
        if kind == "lockstep":
            turns = sorted(set(turns))
        if kind == "random":
            turns = chance.sample(turns, chance.randint(1, len(turns)))
        for thread in turns:
            self.access(thread, sweep)
        return True

    def pass_barrier(self) -> bool:
        onward = [t for t, p in self.programs.items() if self.phase + 1 < len(p)]
        self.made.arrivals += [(self.block, t, self.phase) for t in onward]
        self.done = dict.fromkeys(self.programs, 0)
        self.phase += 1
        return bool(onward)


def run(programs: Programs, kind: str, resident: int = 1, seed: int = 0) -> Execution:
    """Run the programs. Passing a barrier, and ending, takes a sweep in which the block makes no access."""
    execution, chance = Execution(), random.Random(seed)
    waiting = [Runner(b, programs, execution) for b in sorted({b for b, _ in programs})]
    live: list[Runner] = []
    sweep = 0
    while live or waiting:
        while waiting and len(live) < resident:
            live.append(waiting.pop(0))
        live = [runner for runner in live if runner.sweep(sweep, kind, chance)]
        sweep += 1
    return execution


def trace_of(
    programs: Programs, kind: str = "lockstep", resident: int = 1, seed: int = 0, threads: int = 0
) -> Trace:
    """Return the trace of these programs, whose blocks have `threads` threads (0: as many as have programs)."""
    execution = run(programs, kind, resident, seed)
    columns = np.array(execution.rows, np.int64).reshape(-1, 7).T
    block, thread, phase, op, buffer, site, index = (_narrow(c) for c in columns)
    arrivals = np.array(execution.arrivals, np.int64).reshape(-1, 3).T
    nothing = np.zeros(len(execution.arrivals), np.uint8)
    blocks = np.array(sorted({b for b, _ in programs}), np.int64)
    initial = initial_contents()
    count = threads or max(t for _, t in programs) + 1
    return Trace(
        block, thread, phase, op.astype(np.uint8), buffer, site, index, _narrow(np.arange(len(execution.rows))),
        _values(execution, initial), Barriers(*(_narrow(a) for a in arrivals), nothing, nothing), BUFFERS,
        tuple(Site("kernel", "kernel.py", 10 + s // 2, s % 2) for s in range(16)), initial, "", "kernel",
        (int(blocks.max(initial=0)) + 1, 1, 1), (count, 1, 1), kind, resident, blocks, blocks, len(execution.rows),
    )  # fmt: skip


def initial_contents() -> dict[int, np.ndarray]:
    """Return contents of the buffers that have any: one entry per access index; "field" begins as poison."""
    return {
        b: (np.arange(BUFFERS[b].size) + 10 * b + 0.5).astype(BUFFERS[b].dtype) for b in (0, 1, 2, 8)
    }  # fmt: skip


def _narrow(column: np.ndarray) -> np.ndarray:
    return column.astype(np.min_scalar_type(int(column.max(initial=0))))


def _values(execution: Execution, initial: dict[int, np.ndarray]) -> np.ndarray:
    """Return a value per row: stores write small numbers in turn, atomics add 1, loads find what is there."""
    held: dict[tuple[int, ...], complex] = {}
    values = []
    for number, (block, thread, _, op, buffer, _, index) in enumerate(execution.rows):
        space = BUFFERS[buffer].space
        copy = (block, thread) if space == "local" else (block,) if space == "shared" else ()
        start = initial[buffer][index] if buffer in initial else 0
        old = held.get((buffer, index, *copy), start)
        new = {Op.LOAD: old, Op.STORE: number % 5}.get(Op(op), old + 1)
        held[buffer, index, *copy] = new
        values.append(new)
    return np.array(values, np.complex128)


OPS = {"global": tuple(Op), "shared": tuple(Op), "local": (Op.LOAD, Op.STORE), "constant": (Op.LOAD,)}


# What sites 0 to 7 do, one thing to one buffer each, as in a kernel; sites 8 and 9 do anything to any.
SITES = (
    (Op.LOAD, 0), (Op.STORE, 0), (Op.LOAD, 3), (Op.REDUCTION, 0),
    (Op.STORE, 4), (Op.LOAD, 4), (Op.LOAD, 5), (Op.STORE, 6),
)  # fmt: skip


@st.composite
def accesses(draw: st.DrawFn) -> Access:
    """Draw an access."""
    site = draw(st.integers(0, len(SITES) + 1))
    buffer = SITES[site][1] if site < len(SITES) else draw(st.integers(0, len(BUFFERS) - 1))
    op = SITES[site][0] if site < len(SITES) else draw(st.sampled_from(OPS[BUFFERS[buffer].space]))
    return site, int(op), buffer, draw(st.sampled_from(BUFFERS[buffer].elements().ravel().tolist()))


@st.composite
def programs(draw: st.DrawFn) -> Programs:
    """Draw programs of a few lanes of two warps in up to three blocks; each follows a common one more or less.

    Lanes that follow it touch elements at a stride from each other's, as in a kernel.
    """
    blocks = draw(st.lists(st.integers(0, 4), min_size=1, max_size=3, unique=True))
    lanes = draw(st.lists(st.sampled_from([0, 1, 2, 31, 32, 33]), min_size=1, max_size=4, unique=True))
    phase = st.lists(accesses(), max_size=4)
    common = draw(st.lists(phase, min_size=1, max_size=3))
    stride = draw(st.integers(-9, 9))
    result = {}
    for block in blocks:
        for thread in lanes:
            program = draw(st.one_of(st.just(common), _varied(common), st.lists(phase, max_size=3))) or [[]]
            result[block, thread] = [
                [_moved(access, stride * thread) for access in phase] for phase in program
            ]
    return result


def _moved(access: Access, by: int) -> Access:
    site, op, buffer, index = access
    elements = BUFFERS[buffer].elements().ravel().tolist()
    return site, op, buffer, elements[(elements.index(index) + by) % len(elements)]


def _varied(common: Program) -> st.SearchStrategy[Program]:
    """Draw a program that makes the accesses of each phase in another order, so that lanes diverge."""
    return st.tuples(*(st.permutations(phase) for phase in common)).map(
        lambda p: [list(phase) for phase in p]
    )


def rewrite_file(path: Path, change: Callable[[dict[str, Any]], None]) -> None:
    """Change the arrays of a file, as anybody with NumPy could; `meta` is its JSON, read."""
    with np.load(path) as members:
        arrays: dict[str, Any] = dict(members)
    arrays["meta"] = json.loads(arrays["meta"].tobytes())
    change(arrays)
    arrays["meta"] = np.frombuffer(json.dumps(arrays["meta"]).encode(), np.uint8)
    with path.open("wb") as file:
        np.savez(file, **arrays)
