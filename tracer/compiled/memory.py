"""The memory of a compiled launch: its arguments, and what its blocks declare."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..execution import Run
from ..trace import Buffer, poison
from .arguments import Arguments
from .names import NotCompilable
from .program import Declared, Program
from .state import CODES, DTYPES, PARTS_FROM, REGIONS, Word


class Memory:
    """Declared arrays and buffers of a launch.

    Regions are the array arguments, then the program's declared arrays; a buffer is a region's elements of a dtype.
    """

    def __init__(
        self, run: Run, program: Program, arguments: Arguments, state: NDArray[np.int64], threads: int
    ) -> None:
        self.run, self.program, self.threads = run, program, threads
        self._numbers: dict[tuple[int, int], int] = {}
        starts = [self._argument(name, value) for name, value in arguments.arrays]
        self.arguments = len(run.recorder.buffers)
        if self.arguments + len(program.declared) > REGIONS:
            raise NotCompilable(f"More than {REGIONS:,} arrays.")
        self._dynamic = np.zeros(max(1, run.launch.shared_bytes), np.uint8)
        self._pairs = [self._storage(array) for array in program.declared]
        self.seen = np.zeros(max(1, len(program.declared)), np.int64)
        self._known = 0
        self._dynamic_place: tuple[str, int] | None = None
        self._tables: dict[Word, NDArray[Any]] = {
            Word.MEMORY: np.array([live.ctypes.data for live, _ in self._pairs] or [0], np.int64), Word.SEEN: self.seen,
            Word.ARGUMENTS: arguments.table(starts), Word.POISON: _poison(), Word.TRASH: np.zeros(16, np.uint8),
        }  # fmt: skip
        for word, table in self._tables.items():
            state[word] = table.ctypes.data
        state[Word.DYNAMIC], state[Word.DECLARED_FROM] = run.launch.shared_bytes, self.arguments

    def _storage(self, array: Declared) -> tuple[NDArray[Any], NDArray[Any] | None]:
        """Return the memory of a declared array, and what it holds when a block begins."""
        if array.shape is None:
            return self._dynamic, np.full_like(self._dynamic, 0xA5)
        if array.content is not None:
            return array.content.copy(), None
        copies = self.threads if array.space == "local" else 1
        fresh = np.full(max(1, copies * int(np.prod(array.shape))), poison(array.dtype), array.dtype)
        return fresh.copy(), fresh

    def refresh(self) -> None:
        """Make shared and local memory what a block finds."""
        for live, fresh in self._pairs:
            if fresh is not None:
                live[...] = fresh

    def number_of(self, region: int, code: int) -> int:
        """Return the buffer of a region's elements of a dtype."""
        self.declare()
        if (region, code) not in self._numbers:
            self._numbers[region, code] = (self._view if code < PARTS_FROM else self._part)(region, code)
        return self._numbers[region, code]

    def _argument(self, name: str, value: NDArray[Any]) -> tuple[int, int]:
        """Make a buffer of an array argument's memory; return where this starts, and its region."""
        memory = self.run.over(value, name, "global")._memory
        self._numbers[memory.buffer, CODES[value.dtype]] = memory.buffer
        return memory.start, memory.buffer

    def declare(self) -> None:
        """Make buffers of the arrays declared since, in the order in which they were."""
        if int(self.seen.max()) == self._known:
            return
        for place in np.argsort(self.seen).tolist():
            if self.seen[place] > self._known:
                array, region = self.program.declared[place], self.arguments + place
                self._numbers[region, CODES[array.dtype]] = self._buffer(array)
        self._known = int(self.seen.max())

    def _buffer(self, array: Declared) -> int:
        run = self.run
        if array.shape is None:
            return self._dynamic_buffer(array)
        name = array.name or f"{array.space}_{len(run.recorder.buffers) - self.arguments}"
        if array.content is not None:
            run.over(array.content, name, "constant")
            return len(run.recorder.buffers) - 1
        like = np.empty(array.shape, array.dtype)
        return run._buffer(name, array.space, like, like.size)

    def _dynamic_buffer(self, array: Declared) -> int:
        """Make a buffer of dynamic shared memory: one for each dtype that it is declared with, at one address."""
        run, total = self.run, self.run.launch.shared_bytes
        if self._dynamic_place is None:
            self._dynamic_place = (array.name or "dynamic", run._addresses["shared"])
            run._addresses["shared"] += total
        name, address = self._dynamic_place
        size = array.dtype.itemsize
        count = total // size
        return run.recorder.add_buffer(
            Buffer(name, "shared", array.dtype.str, (count,), (size,), address, size, count)
        )

    def _part(self, region: int, code: int) -> int:
        """Make a buffer of the real or imaginary parts of a region's complex numbers."""
        dtype, place = DTYPES[code], (code - PARTS_FROM) % 2
        whole = self.run.recorder.buffers[self.number_of(region, CODES[np.result_type(dtype, np.complex64)])]
        address, name = whole.address + place * dtype.itemsize, f"{whole.name}.{('real', 'imag')[place]}"
        return self.run.recorder.add_buffer(
            Buffer(name, whole.space, dtype.str, whole.shape, whole.strides, address, whole.unit, whole.size)
        )

    def _view(self, region: int, code: int) -> int:
        """Make a buffer of a region's bytes seen as another dtype."""
        dtype = DTYPES[code]
        known = next(n for (r, c), n in self._numbers.items() if r == region and c < PARTS_FROM)
        whole = self.run.recorder.buffers[known]
        size, nbytes = dtype.itemsize, whole.size * whole.unit
        count = nbytes // size
        return self.run.recorder.add_buffer(
            Buffer(whole.name, whole.space, dtype.str, (count,), (size,), whole.address, size, count)
        )


def _poison() -> NDArray[np.uint8]:
    """Return a poisoned element of each dtype, in 16 bytes each."""
    made = np.zeros((len(DTYPES), 16), np.uint8)
    for row, dtype in zip(made, DTYPES, strict=True):
        row[: dtype.itemsize].view(dtype)[0] = poison(dtype)
    return made
