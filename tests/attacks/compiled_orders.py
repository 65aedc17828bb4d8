"""Random kernels with atomics, warp operations, barriers and flags, by both engines: every order, to the byte.

    python tests/attacks/compiled_orders.py [SECONDS]

Each kernel is compiled once and launched in some orders, sizes and numbers of resident blocks. ATTACK_SEED chooses
others; a kernel that fails is printed with what it needs to be run again.
"""

from __future__ import annotations

import os
import random
import sys
import tempfile
import time
from pathlib import Path

from common import SEED, as_tilescope

as_tilescope()
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "helpers"))

import msgspec

from engines import assert_same, ignore_progress
from launching import Array, Launch, Limits, Schedule, launch
from tilescope.tracer.compiled.driver import compile as compiling
from tilescope.tracer.compiled.driver import engine as compiled
from tilescope.tracer.compiled.not_compilable import NotCompilableError
from tilescope.tracer.simulator import numba_patch

SIZE, LAUNCHES = 12, 10  # elements of each array, and launches of each kernel
ARRAYS = (Array((SIZE,), "int32", "arange"), Array((SIZE,), "int32"), Array((4,), "int32"))
ORDERS = ("lockstep", "lockstep", "random", "random", "sequential")
BLOCKS = ((1, 1, 1), (3, 1, 1), (8, 1, 1), (33, 1, 1), (5, 3, 2), (64, 1, 1))
GRIDS = ((1, 1, 1), (2, 1, 1), (5, 1, 1), (2, 2, 2))
INDICES = ("t", "t + 1", "2 * t", "t // 3", "x", "x * 5", "7", "-1 - t", "i", "v", "t * v")
MASKS = ("0xffffffff",) * 4 + ("0xffff", "0x33333333", "1 << lane", "cuda.activemask()", "0xf0")
CONDITIONS = ("t % 2 == 0", "t < 5", "v > 2", "lane > 7", "x % 3 == 1", "t == 3", "a[t % 12] > 4", "bx == 0")
SIMPLE = ("move", "move", "add", "local", "atomic", "atomic", "ticket", "cas", "exchange", "fence", "outside")
WARP = ("shuffle", "shuffle", "vote", "match", "active", "syncwarp")
RARE = ("return", "raise", "lock", "wait", "set", "spin")
NESTED = ("if", "if", "for", "while")


class Writer:
    """Writes one kernel, line by line."""

    def __init__(self, dice: random.Random) -> None:
        self.dice = dice
        # What a kernel has of what often ends in the same way: threads that wait for ever, or raise.
        self.rare = [kind for kind in RARE if dice.random() < (0.05 if kind == "wait" else 0.2)]

    def kernel(self) -> str:
        """Return a kernel of (a, b, f)."""
        lines = [
            "t, x, i, v = cuda.threadIdx.x, cuda.grid(1), 0, 0",
            "lane, bx = cuda.laneid, cuda.blockIdx.x",
        ]
        if self.dice.random() < 0.3:
            lines[0] = "t, x, i, v = cuda.threadIdx.x + 3 * cuda.threadIdx.y, cuda.grid(1), 0, 0"
        size = self.dice.choice(("", "", "dynamic"))
        lines.append(f"s = cuda.shared.array({0 if size else SIZE}, int32)")
        lines.append("mine = cuda.local.array(3, int32)")
        for _ in range(self.dice.randint(1, 4)):
            lines += [*self.block(2), self.barrier()]
        return "@cuda.jit\ndef kernel(a, b, f):\n" + "".join(f"    {line}\n" for line in lines)

    def barrier(self) -> str:
        item = self.dice.choice(CONDITIONS)
        kinds = ["cuda.syncthreads()"] * 4
        kinds += [f"v = cuda.syncthreads_{name}({item})" for name in ("count", "and", "or")]
        return self.dice.choice(kinds)

    def block(self, depth: int) -> list[str]:
        lines = []
        for _ in range(self.dice.randint(1, 4)):
            kinds = [*SIMPLE, *WARP, *self.rare]
            kinds += [*NESTED * 2] if depth else []
            kinds += ["barrier"] * (1 if self.dice.random() < 0.3 else 0)
            lines += getattr(self, f"_{self.dice.choice(kinds)}", lambda depth: [self.barrier()])(depth)
        return lines

    def index(self) -> str:
        return f"({self.dice.choice(INDICES)}) % {SIZE}"

    def array(self) -> str:
        return self.dice.choice("abs")

    def _move(self, depth: int) -> list[str]:
        return [f"{self.array()}[{self.index()}] = {self.array()}[{self.index()}]"]

    def _add(self, depth: int) -> list[str]:
        return [
            f"{self.array()}[{self.index()}] += {self.array()}[{self.index()}] + {self.dice.randint(0, 9)}"
        ]

    def _local(self, depth: int) -> list[str]:
        return [
            f"mine[i % 3] = {self.array()}[{self.index()}]",
            f"{self.array()}[{self.index()}] = mine[i % 3]",
        ]

    def _atomic(self, depth: int) -> list[str]:
        name = self.dice.choice(("add", "sub", "max", "min", "xor", "inc"))
        return [f"cuda.atomic.{name}({self.array()}, {self.index()}, {self.dice.randint(1, 9)})"]

    def _ticket(self, depth: int) -> list[str]:
        return [f"v = cuda.atomic.add({self.array()}, {self.index()}, 1)"]

    def _cas(self, depth: int) -> list[str]:
        return [
            f"v = cuda.atomic.cas({self.array()}, {self.index()}, {self.dice.randint(0, 2)}, {self.dice.randint(0, 3)})"
        ]

    def _exchange(self, depth: int) -> list[str]:
        return [
            f"v = cuda.atomic.exch({self.array()}, {self.index()}, {self.dice.choice(('t', '1', 'v % 7'))})"
        ]

    def _fence(self, depth: int) -> list[str]:
        return [f"cuda.threadfence{self.dice.choice(('', '_block'))}()"]

    def _outside(self, depth: int) -> list[str]:
        return self.dice.choice(
            (["a[t * 3] = 2"], ["v = b[x]"], ["cuda.atomic.add(b, t + 9, 1)"], ["v = v + 1"])
        )

    def _shuffle(self, depth: int) -> list[str]:
        name = self.dice.choice(("shfl_sync", "shfl_up_sync", "shfl_down_sync", "shfl_xor_sync"))
        return [
            f"v = cuda.{name}({self.dice.choice(MASKS)}, v + lane, {self.dice.choice((1, 2, 5, 16))}) % 100"
        ]

    def _vote(self, depth: int) -> list[str]:
        name, item = self.dice.choice(("all", "any", "eq", "ballot")), self.dice.choice(CONDITIONS)
        return [f"v = int(cuda.{name}_sync({self.dice.choice(MASKS)}, {item})) % 100"]

    def _match(self, depth: int) -> list[str]:
        mask = self.dice.choice(MASKS)
        kinds = f"cuda.match_any_sync({mask}, v % 3)", f"cuda.match_all_sync({mask}, v % 2)[0]"
        return [f"v = {self.dice.choice(kinds)} % 100"]

    def _active(self, depth: int) -> list[str]:
        return ["v = cuda.activemask() % 100"]

    def _syncwarp(self, depth: int) -> list[str]:
        return [f"cuda.syncwarp({self.dice.choice(('', *MASKS))})"]

    def _return(self, depth: int) -> list[str]:
        return [f"if {self.dice.choice(CONDITIONS)}:", "    return"]

    def _raise(self, depth: int) -> list[str]:
        return [f"if x == {self.dice.randint(0, 40)}:", '    raise ValueError("no")']

    def _lock(self, depth: int) -> list[str]:
        lines = ["while cuda.atomic.cas(f, 0, 0, 1) != 0:", "    pass", *self.block(0)]
        return [*lines, "cuda.atomic.exch(f, 0, 0)"]

    def _wait(self, depth: int) -> list[str]:
        return ["while f[1] == 0:", "    pass" if self.dice.random() < 0.7 else "    cuda.syncthreads()"]

    def _set(self, depth: int) -> list[str]:
        return [f"if {self.dice.choice(CONDITIONS)}:", "    f[1] = 1"]

    def _spin(self, depth: int) -> list[str]:
        return [
            f"while cuda.atomic.add(f, 2, 0) < {self.dice.randint(0, 3)}:",
            "    cuda.atomic.max(f, 2, bx)",
        ]

    def _if(self, depth: int) -> list[str]:
        lines = [f"if {self.dice.choice(CONDITIONS)}:", *_in(self.block(depth - 1))]
        return lines + (["else:", *_in(self.block(depth - 1))] if self.dice.random() < 0.3 else [])

    def _for(self, depth: int) -> list[str]:
        return [f"for i in range(t % 3, {self.dice.randint(1, 4)}):", *_in(self.block(depth - 1))]

    def _while(self, depth: int) -> list[str]:
        leave = [f"    if {self.dice.choice(CONDITIONS)}:", "        break"]
        count = f"rounds_{depth}"  # which nothing in the loop changes: it ends
        return [
            f"{count} = 0",
            f"while {count} < 3:",
            f"    {count} += 1",
            *_in(self.block(depth - 1)),
            *leave,
        ]


def _in(lines: list[str]) -> list[str]:
    return ["    " + line for line in lines]


def _launches(dice: random.Random, folder: Path, source: str) -> list[Launch]:
    """Return launches of a kernel, some of which keep only a part of their accesses."""
    kernel_launch = launch(folder, source, ARRAYS, shared_bytes=4 * SIZE if "array(0" in source else 0)
    results = []
    for _ in range(LAUNCHES):
        grid = dice.choice(GRIDS)
        count = grid[0] * grid[1] * grid[2]
        chosen = (
            tuple(sorted(dice.sample(range(count), dice.randint(1, count)))) if dice.random() < 0.1 else None
        )
        cap = dice.choice((0, 100, 3000)) if dice.random() < 0.15 else 5_000
        results.append(msgspec.structs.replace(
            kernel_launch, grid=grid, block=dice.choice(BLOCKS), schedule=Schedule(dice.choice(ORDERS), dice.randint(0, 99)),
            resident=dice.choice((None, None, 1, 2, 5)), blocks=chosen, limits=Limits(accesses=cap),
        ))  # fmt: skip
    return results


def _fault(trace: Launch) -> str:
    """Run a launch by both engines; return in what they differ, or how it went."""
    turns = trace.schedule.kind != "sequential"
    theirs = numba_patch.run(trace, ignore_progress)
    try:
        ours = compiled.run_compiled(trace, ignore_progress, turns=turns)
    except NotCompilableError as error:
        if theirs.error is not None and theirs.error.type == "LivelockError":
            return "waits for ever"
        ended = theirs.notice or theirs.error or "ended"
        return f"FAULT: refused, {error}; the simulator: {ended}" if turns else "refused in sequence"
    try:
        assert_same(ours, theirs, 0.0)
    except AssertionError as error:
        results = (str(error).splitlines() or ["?"])[0]
        return f"FAULT: {results[:300]}; {len(ours)} {ours.notice!r} {ours.error}; {len(theirs)} {theirs.notice!r} {theirs.error}"
    return "stopped" if ours.notice else "raised" if ours.error else "same"


def main() -> int:
    """Attack for so many seconds."""
    end = time.monotonic() + (float(sys.argv[1]) if len(sys.argv) > 1 else 60)
    number, faults = SEED, 0
    results: dict[str, int] = {}
    compiling.cache_folder = lambda: Path(os.devnull) / "nowhere"
    while time.monotonic() < end:
        dice = random.Random(number)
        source = Writer(dice).kernel()
        with tempfile.TemporaryDirectory() as folder:
            for trace in _launches(dice, Path(folder), source):
                fault = _fault(trace)
                results[fault.split(":")[0]] = results.get(fault.split(":")[0], 0) + 1
                if fault.startswith("FAULT"):
                    faults += 1
                    label = (
                        trace.grid,
                        trace.block,
                        trace.schedule,
                        trace.resident,
                        trace.blocks,
                        trace.limits.accesses,
                    )
                    print(f"kernel {number}: {fault}\n{label}\n{source}", flush=True)
                    break
        compiling.compiled_kernels.clear()
        number += 1
    print(f"{number - SEED} kernels from {SEED} on, {faults} faults; {results}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
