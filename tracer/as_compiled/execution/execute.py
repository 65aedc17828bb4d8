"""Run a kernel's compiled code on the CPU, and count the requests of each of its instructions."""

from __future__ import annotations

import time
from typing import Any

import msgspec
import numpy as np
from llvmlite import binding
from numpy.typing import NDArray

from ...analysis.request_cost import new_scratch
from ...compiled.driver.stack_memory import StackMemory
from ...compiled.scheduler import stacks
from ...compiled.state import PLACE_WORDS, Word
from ...model.array_types import Ints
from ...model.launch import Dim3
from ...model.trace import WARP
from .instrument import LOOP_END, HostCode, host_machine
from .lockstep import GLOBAL, OVER, SHARED, STUCK, SUMS, TRAPPED, run_blocks
from ..not_countable import NotCountableError

STACK_BYTES = 33 << 12
SPINS = 64  # quanta that a warp may make while others wait
BATCH = 64  # blocks between two looks at the clock


class LaunchSize(msgspec.Struct, frozen=True):
    """How a kernel is launched."""

    grid: Dim3
    block: Dim3
    dynamic: int = 0  # bytes of dynamic shared memory
    blocks: tuple[int, ...] | None = None  # those that run; None for all


class Machine:
    """A table of state, and the code that was made for it."""

    def __init__(self) -> None:
        self.state: Ints = np.zeros(len(Word), np.int64)
        self._engine: Any = None
        self._stacks = StackMemory(STACK_BYTES)
        self._ends: Ints = np.zeros(0, np.int64)

    def engine(self, code: HostCode) -> Any:
        """Return what holds the compiled code, which is compiled when it is first asked for."""
        if self._engine is None:
            module = binding.parse_assembly(code.text)
            module.verify()
            machine = host_machine()
            builder = binding.create_pass_builder(machine, binding.create_pipeline_tuning_options(speed_level=1))
            passes = binding.create_new_module_pass_manager()
            passes.add_always_inliner_pass()
            passes.run(module, builder)
            self._engine = binding.create_mcjit_compiler(module, machine)
            self._engine.finalize_object()
        return self._engine

    def stacks(self, count: int) -> Ints:
        """Return the ends of so many stacks."""
        if len(self._ends) < count:
            self._ends = np.concatenate([self._ends, self._stacks.grow(count)])
        return self._ends[:count].copy()


def run(
    code: HostCode, machine: Machine, arguments: NDArray[np.uint8], memory: tuple[int, int], size: LaunchSize,
    seconds: float, *, wide: bool = False,
) -> Ints:  # fmt: skip
    """Run a launch and return the sums of each access, shape (accesses, 3, SUMS); see `lockstep`.

    memory: the bounds of global memory. wide: whether costs of wider accesses are wanted too. Raises NotCountableError where it does not come to its end.
    """
    engine = machine.engine(code)
    state = machine.state
    threads = size.block[0] * size.block[1] * size.block[2]
    switch, start = stacks.code()
    ends = machine.stacks(threads)
    places = np.zeros((threads, PLACE_WORDS), np.int64)
    words = {
        Word.SWITCH: switch, Word.START: start, Word.MAIN: engine.get_function_address("ts.main"),
        Word.STACK_BYTES: STACK_BYTES, Word.STACKS: ends.ctypes.data, Word.STACK_COUNT: threads,
        Word.ARGUMENTS: arguments.ctypes.data, Word.DYNAMIC: size.dynamic,
        Word.DX: size.block[0], Word.DY: size.block[1], Word.DZ: size.block[2],
        Word.GX: size.grid[0], Word.GY: size.grid[1], Word.GZ: size.grid[2],
    }  # fmt: skip
    for word, value in words.items():
        state[word] = value
    ranges = [(*memory, GLOBAL)]
    for names, space in ((code.shared, SHARED), (code.tables, GLOBAL)):
        for name, nbytes in names:
            address = engine.get_global_value_address(name)
            if address:
                ranges.append((address, address + nbytes, space))
    accesses = np.array([[a.op, a.size, a.parts, wide] for a in code.accesses] or [[LOOP_END, 0, 1, 0]], np.int64)
    sums: Ints = np.zeros((len(accesses), 3, SUMS), np.int64)
    work: Ints = np.zeros((5, 2 * WARP), np.int64)
    work[4, 0] = SPINS
    count = size.grid[0] * size.grid[1] * size.grid[2]
    chosen = np.arange(count) if size.blocks is None else np.array(size.blocks, np.int64)
    begin = time.perf_counter()
    for low in range(0, len(chosen), BATCH):
        ended, _ = run_blocks(
            state.ctypes.data, chosen[low : low + BATCH], places.ctypes.data, np.array(size.grid, np.int64), threads,
            accesses, np.array(ranges, np.int64), work, new_scratch(), sums,
        )  # fmt: skip
        if ended != OVER:
            raise NotCountableError(_WHY.get(int(ended), "Its blocks wait for each other"))
        if time.perf_counter() - begin > seconds and low + BATCH < len(chosen):
            raise NotCountableError(f"It makes more requests than can be counted in {seconds:.0f} seconds")
    return sums


_WHY = {TRAPPED: "It ended itself with an error", STUCK: "Its threads wait for each other and never go on"}
