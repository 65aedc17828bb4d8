"""The memory of a compiled launch: its arguments, and what its blocks declare."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..execution import Run
from ..trace import Buffer, poison
from .program import Declared, Program
from .state import CODES, DTYPES, Word


class Memory:
    """Declared arrays and buffers of a launch.

    Regions are the array arguments, then the program's declared arrays; a buffer is a region's elements of a dtype.
    """

    def __init__(self, run: Run, program: Program, arguments: list[Any], state: NDArray[np.int64], threads: int) -> None:
        self.run, self.program, self.threads = run, program, threads
        self.arguments = len(arguments)
        self._numbers: dict[tuple[int, int], int] = {}
        self._dynamic = np.zeros(max(1, run.launch.shared_bytes), np.uint8)
        self._pairs = [self._storage(array) for array in program.declared]
        self.seen = np.zeros(max(1, len(program.declared)), np.int64)
        self._known = 0
        self._table = np.array([live.ctypes.data for live, _ in self._pairs] or [0], np.int64)
        self._given = np.array(_described(arguments), np.int64)
        self._poison = np.zeros((len(DTYPES), 16), np.uint8)
        for row, dtype in zip(self._poison, DTYPES, strict=True):
            row[: dtype.itemsize].view(dtype)[0] = poison(dtype)
        self._trash = np.zeros(16, np.uint8)
        self._dynamic_place: tuple[str, int] | None = None
        tables = {
            Word.MEMORY: self._table, Word.SEEN: self.seen, Word.ARGUMENTS: self._given, Word.POISON: self._poison,
            Word.TRASH: self._trash,
        }  # fmt: skip
        for word, table in tables.items():
            state[word] = table.ctypes.data
        state[Word.DYNAMIC] = run.launch.shared_bytes

    def _storage(self, array: Declared) -> tuple[NDArray[Any], NDArray[Any] | None]:
        """Return the memory of a declared array, and what it holds when a block begins."""
        if array.shape is None:
            return self._dynamic, np.full_like(self._dynamic, 0xA5)
        if array.content is not None:
            return array.content, None
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
        self._declare()
        if (region, code) not in self._numbers:
            self._numbers[region, code] = self._view(region, DTYPES[code])
        return self._numbers[region, code]

    def argument(self, region: int, ary: NDArray[Any], name: str) -> None:
        """Make a buffer of an array argument."""
        self.run.over(ary, name, "global")
        self._numbers[region, CODES[ary.dtype]] = len(self.run.recorder.buffers) - 1

    def _declare(self) -> None:
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
        return run.recorder.add_buffer(Buffer(name, "shared", array.dtype.str, (count,), (size,), address, size, count))

    def _view(self, region: int, dtype: np.dtype[Any]) -> int:
        """Make a buffer of a region's bytes seen as another dtype."""
        known = next(number for (r, _), number in self._numbers.items() if r == region)
        whole = self.run.recorder.buffers[known]
        size, nbytes = dtype.itemsize, whole.size * whole.unit
        count = nbytes // size
        return self.run.recorder.add_buffer(
            Buffer(whole.name, whole.space, dtype.str, (count,), (size,), whole.address, size, count)
        )


def _described(arguments: list[Any]) -> list[int]:
    """Return the table of arguments: of each array its address, shape and strides; of a scalar its bits."""
    words: list[int] = []
    for value in arguments:
        if isinstance(value, np.ndarray):
            words += [value.ctypes.data, *value.shape, *value.strides]
        else:
            words.append(int(np.frombuffer(np.array([value]).tobytes().ljust(8, b"\0"), np.int64)[0]))
    return words or [0]
