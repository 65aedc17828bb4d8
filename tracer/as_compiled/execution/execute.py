"""Run a kernel's compiled code on the CPU, and count the requests of each of its instructions."""

from __future__ import annotations

import ctypes
import time
from typing import Any

import msgspec
import numpy as np
from llvmlite import binding
from numpy.typing import NDArray

from ...analysis.request_cost import new_scratch
from ...compiled.driver.stack_memory import StackMemory
from ...compiled.scheduler import stacks
from ...compiled.state import THREAD_SLOT_WORDS, Word
from ...model.array_types import Ints
from ...model.launch import Dim3
from ...model.trace import WARP
from ..not_countable import NotCountableError
from .instrument import LOOP_END, HostCode, Repeats, host_machine
from .lockstep import (
    GLOBAL,
    OVER,
    OWNER_ROWS,
    PAUSED,
    SHARED,
    STUCK,
    SUMS,
    TRAPPED,
    release_grid,
    run_blocks,
    run_one,
)

STACK_BYTES = 33 << 12
MOST_THREADS = 1 << 16  # of concurrent blocks
SPINS = 64  # quanta that a warp may take while others wait
BATCH = 64  # blocks between two checks of the clock


class LaunchSize(msgspec.Struct, frozen=True):
    """The dimensions of a launch."""

    grid: Dim3
    block: Dim3
    dynamic: int = 0  # bytes of dynamic shared memory
    blocks: tuple[int, ...] | None = None  # to run; None for all


class Machine:
    """A table of state, and the code compiled for it."""

    def __init__(self) -> None:
        self.state: Ints = np.zeros(len(Word), np.int64)
        self._engine: Any = None
        self._stacks = StackMemory(STACK_BYTES)
        self._ends: Ints = np.zeros(0, np.int64)

    def engine(self, code: HostCode) -> Any:
        """Return the engine with the code, compiled on first use."""
        if self._engine is None:
            module = binding.parse_assembly(code.text)
            module.verify()
            machine = host_machine()
            builder = binding.create_pass_builder(
                machine, binding.create_pipeline_tuning_options(speed_level=1)
            )
            passes = binding.create_new_module_pass_manager()
            passes.add_always_inliner_pass()
            passes.run(module, builder)
            self._engine = binding.create_mcjit_compiler(module, machine)
            self._engine.finalize_object()
        return self._engine

    def stacks(self, count: int) -> Ints:
        """Return the ends of `count` stacks."""
        if len(self._ends) < count:
            self._ends = np.concatenate([self._ends, self._stacks.grow(count)])
        return self._ends[:count].copy()


def run(
    code: HostCode, machine: Machine, arguments: NDArray[np.uint8], memory: tuple[int, int], size: LaunchSize,
    seconds: float, *, wide: bool = False,
) -> tuple[Ints, bool]:  # fmt: skip
    """Run a launch; return the sums of each access, shape (accesses, 3, SUMS), and whether warps contend.

    Sums: see `lockstep`. Warps contend if several swap one element in loops: only a GPU shows how often these repeat.
    memory: the bounds of global memory. wide: whether to count the costs of wider accesses too. Raises
    NotCountableError if the launch does not finish.
    """
    engine = machine.engine(code)
    state = machine.state
    threads = size.block[0] * size.block[1] * size.block[2]
    switch, start = stacks.code()
    count = size.grid[0] * size.grid[1] * size.grid[2]
    chosen = np.arange(count) if size.blocks is None else np.array(size.blocks, np.int64)
    concurrent = len(chosen) if code.waits_for_grid else 1
    if concurrent * threads > MOST_THREADS:
        raise NotCountableError(
            f"Its {concurrent:,} blocks wait for each other, and are too many to run at once"
        )
    ends = machine.stacks(concurrent * threads)
    slots = np.zeros((concurrent * threads, THREAD_SLOT_WORDS), np.int64)
    words = {
        Word.SWITCH: switch, Word.START: start, Word.MAIN: engine.get_function_address("ts.main"),
        Word.STACK_BYTES: STACK_BYTES, Word.STACKS: ends.ctypes.data, Word.STACK_COUNT: len(ends),
        Word.ARGUMENTS: arguments.ctypes.data, Word.DYNAMIC: size.dynamic,
        Word.DX: size.block[0], Word.DY: size.block[1], Word.DZ: size.block[2],
        Word.GX: size.grid[0], Word.GY: size.grid[1], Word.GZ: size.grid[2],
    }  # fmt: skip
    for word, value in words.items():
        state[word] = value
    shared = [(engine.get_global_value_address(name), nbytes) for name, nbytes in code.shared]
    tables = [(engine.get_global_value_address(name), nbytes) for name, nbytes in code.tables]
    ranges = [(*memory, GLOBAL)]
    for arrays, space in ((shared, SHARED), (tables, GLOBAL)):
        ranges += [(address, address + nbytes, space) for address, nbytes in arrays if address]
    accesses = np.array(
        [[access.op, access.size, access.parts, wide, access.repeats] for access in code.accesses]
        or [[LOOP_END, 0, 1, 0, 0]],
        np.int64,
    )
    sums: Ints = np.zeros((len(accesses), 3, SUMS), np.int64)
    work: Ints = np.zeros((5, 2 * WARP), np.int64)
    work[4, 0] = SPINS
    grid = np.array(size.grid, np.int64)
    swaps = any(access.repeats == Repeats.SWAP for access in code.accesses)
    owners: Ints = np.zeros((OWNER_ROWS if swaps else 2, 2), np.int64)
    counting = (accesses, np.array(ranges, np.int64), work, new_scratch(), sums, owners)
    clock = _Clock(seconds)
    if code.waits_for_grid:
        _run_together(state, chosen, slots, grid, threads, counting, shared, clock)
        return sums, bool(owners[0, 0])
    for low in range(0, len(chosen), BATCH):
        batch = chosen[low : low + BATCH]
        ended, _ = run_blocks(state.ctypes.data, batch, slots.ctypes.data, grid, threads, *counting)
        _check(int(ended))
        if low + BATCH < len(chosen):
            clock.check()
    return sums, bool(owners[0, 0])


class _Clock:
    """The limit on a launch's processor time, which a busy machine does not use up."""

    def __init__(self, seconds: float) -> None:
        self._seconds, self._end = seconds, time.process_time() + seconds

    def check(self) -> None:
        """Raise NotCountableError if the time is over."""
        if time.process_time() > self._end:
            raise NotCountableError(
                f"It makes more requests than can be counted in {self._seconds:.0f} seconds"
            )


def _check(ended: int) -> None:
    if ended != OVER:
        raise NotCountableError(_REASONS.get(ended, "Its blocks wait for each other"))


def _run_together(
    state: Ints, chosen: Ints, slots: Ints, grid: Ints, threads: int, counting: tuple[Any, ...],
    shared: list[tuple[int, int]], clock: _Clock,
) -> None:  # fmt: skip
    """Run blocks that wait for each other, each up to the barrier of the grid in turn.

    shared: address and bytes of each array in shared memory, whose contents every block has separately.
    """
    first = [slots[number * threads :].ctypes.data for number in range(len(chosen))]
    content: list[list[bytes]] = [[] for _ in chosen]
    running, begins = list(range(len(chosen))), True
    while running:
        waiting = []
        for number in running:
            for (address, _), saved in zip(shared, content[number], strict=False):
                ctypes.memmove(address, saved, len(saved))
            ended = run_one(
                state.ctypes.data, chosen[number], first[number], grid, threads, begins, *counting
            )
            content[number] = [ctypes.string_at(address, nbytes) for address, nbytes in shared]
            if ended == PAUSED:
                waiting.append(number)
            else:
                _check(int(ended))
        for number in waiting:
            release_grid(first[number], threads)
        running, begins = waiting, False
        clock.check()


_REASONS = {TRAPPED: "It stopped with an error", STUCK: "Its threads wait for each other for ever"}
