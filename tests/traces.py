"""Synthetic traces: threads given as lists of accesses, run by a scheduler of a few lines.

It shares no code with the tracer, so that both can be held against each other.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from hypothesis import strategies as st

from tilescope.tracer.trace import Barriers, Buffer, Op, Site, Trace

# One access: (site, op, buffer, access index). A thread's program: one list of accesses per phase.
Access = tuple[int, int, int, int]
Program = list[list[Access]]
Programs = dict[tuple[int, int], Program]

BUFFERS = (
    Buffer("plain", "global", "float32", (4, 3), (12, 4), 0, 4, 12),
    Buffer("columns", "global", "float64", (3, 2), (8, 24), 256, 8, 6),
    Buffer("every_other", "global", "int16", (5,), (4,), 512, 2, 10),
    Buffer("field", "global", "float32", (4,), (12,), 772, 12, 4),
    Buffer("tile", "shared", "float32", (8, 9), (36, 4), 0, 4, 72),
    Buffer("wide", "shared", "complex128", (6,), (16,), 288, 16, 6),
    Buffer("bytes", "shared", "uint8", (200,), (1,), 384, 1, 200),
    Buffer("own", "local", "float32", (3,), (4,), 0, 4, 3),
    Buffer("table", "constant", "float32", (4,), (4,), 0, 4, 4),
)


@dataclass
class Made:
    """What the scheduler did: rows in order, the sweep and the place in the program of each, arrivals at barriers."""

    rows: list[tuple[int, int, int, int, int, int, int]] = field(default_factory=list)
    sweeps: list[int] = field(default_factory=list)
    arrivals: list[tuple[int, int, int]] = field(default_factory=list)


class Runner:
    """One block under way: its phase, and how many accesses each thread has made in it."""

    def __init__(self, block: int, programs: Programs, made: Made) -> None:
        self.block, self.made, self.phase = block, made, 0
        self.programs = {t: p for (b, t), p in sorted(programs.items()) if b == block}
        self.done = dict.fromkeys(self.programs, 0)

    def ready(self) -> list[int]:
        return [t for t, p in self.programs.items() if self.phase < len(p) and self.done[t] < len(p[self.phase])]

    def access(self, thread: int, sweep: int) -> None:
        site, op, buffer, index = self.programs[thread][self.phase][self.done[thread]]
        self.made.rows.append((self.block, thread, self.phase, op, buffer, site, index))
        self.made.sweeps.append(sweep)
        self.done[thread] += 1

    def pass_barrier(self) -> bool:
        """Go on to the next phase; False when the block has ended."""
        onward = [t for t, p in self.programs.items() if self.phase + 1 < len(p)]
        self.made.arrivals += [(self.block, t, self.phase) for t in onward]
        self.done = dict.fromkeys(self.programs, 0)
        self.phase += 1
        return bool(onward)


def schedule(programs: Programs, kind: str, resident: int = 1, seed: int = 0) -> Made:
    """Run the programs; a block's barrier takes a sweep of its own in which its threads come back."""
    made, chance = Made(), random.Random(seed)
    waiting = [Runner(b, programs, made) for b in sorted({b for b, _ in programs})]
    live: list[Runner] = []
    sweep = 0
    while live or waiting:
        while waiting and len(live) < resident:
            live.append(waiting.pop(0))
        for runner in list(live):
            for thread in _turns(runner, kind, chance):
                runner.access(thread, sweep)
                continue
            if not runner.turned and not runner.pass_barrier():
                live.remove(runner)
        sweep += 1
    return made


def _turns(runner: Runner, kind: str, chance: random.Random) -> Iterator[int]:
    ready = runner.ready()
    runner.turned = bool(ready)
    if kind == "random" and ready:
        yield from chance.sample(ready, chance.randint(1, len(ready)))
    elif kind == "sequential":
        yield from (t for t in ready for _ in range(len(runner.programs[t][runner.phase]) - runner.done[t]))
    else:
        yield from ready
