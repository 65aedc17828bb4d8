"""The memory of a compiled launch: its arguments, and what its blocks declare."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..allocation import field_buffer
from ..execution import Run, poisoned
from ..trace import Buffer, poison
from .arguments import Arguments
from .not_compilable import NotCompilable
from .program import Declared, Program
from .state import CODES, DTYPES, PARTS_FROM, RECORD, REGIONS, Word, regions_of


class Memory:
    """Declared arrays and buffers of a launch.

    Regions are the array arguments, then the program's declared arrays; a buffer is a region's elements of a dtype.
    The fields of records have the regions behind theirs.
    """

    def __init__(
        self, run: Run, program: Program, arguments: Arguments, state: NDArray[np.int64], threads: int
    ) -> None:
        self.run, self.program, self.threads = run, program, threads
        self._numbers: dict[tuple[int, int], int] = {}
        self._fields: dict[int, tuple[int, str, np.dtype[Any], int]] = {}
        self._arguments: dict[int, int] = {}  # the region of each argument's buffer
        self.regions = 0
        starts = [self._argument(name, value) for name, value in arguments.arrays]
        if self.regions + program.first_region(len(program.declared)) > REGIONS:
            raise NotCompilable(f"More than {REGIONS:,} arrays and fields of records.")
        self._dynamic = np.zeros(max(1, run.launch.shared_bytes), np.uint8)
        self._pairs = [self._storage(array) for array in program.declared]
        self.seen = np.zeros(max(1, len(program.declared)), np.int64)
        self._known = self._declared = 0
        self._dynamic_place: tuple[str, int] | None = None
        self._tables: dict[Word, NDArray[Any]] = {
            Word.MEMORY: np.array([live.ctypes.data for live, _ in self._pairs] or [0], np.int64), Word.SEEN: self.seen,
            Word.ARGUMENTS: arguments.table(starts), Word.POISON: _poison(), Word.TRASH: np.zeros(16, np.uint8),
        }  # fmt: skip
        for word, table in self._tables.items():
            state[word] = table.ctypes.data
        state[Word.DYNAMIC], state[Word.DECLARED_FROM] = run.launch.shared_bytes, self.regions

    def _storage(self, array: Declared) -> tuple[NDArray[Any], NDArray[Any] | None]:
        """Return the memory of a declared array, and what it holds when a block begins."""
        if array.shape is None:
            return self._dynamic, np.full_like(self._dynamic, 0xA5)
        if array.content is not None:
            return array.content.copy(), None
        copies = self.threads if array.space == "local" else 1
        fresh = poisoned(max(1, copies * int(np.prod(array.shape))), array.dtype)
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
            made = self._part if PARTS_FROM <= code < RECORD else self._view
            is_field = region in self._fields and CODES.get(self._fields[region][2].base, RECORD) == code
            self._numbers[region, code] = self._field(region) if is_field else made(region, code)
        return self._numbers[region, code]

    def _add(self, region: int, dtype: np.dtype[Any], buffer: int) -> None:
        """Note the buffer of a new region, and the regions of the fields of its records."""
        self._numbers[region, CODES.get(dtype, RECORD)] = buffer
        self._add_fields(region, dtype)

    def _add_fields(self, region: int, dtype: np.dtype[Any]) -> None:
        place = region + 1
        for name, (part, offset, *_) in (dtype.fields or {}).items():
            self._fields[place] = (region, name, part, offset)
            self._add_fields(place, part.base)
            place += regions_of(part.base)

    def _argument(self, name: str, value: NDArray[Any]) -> tuple[int, int]:
        """Make a buffer of an array argument's memory; return where this starts, and its region."""
        memory = self.run.over(value, name, "global")._memory
        if memory.buffer not in self._arguments:
            self._arguments[memory.buffer] = self.regions
            self._add(self.regions, value.dtype, memory.buffer)
            self.regions += regions_of(value.dtype)
        return memory.start, self._arguments[memory.buffer]

    def declare(self) -> None:
        """Make buffers of the arrays declared since, in the order in which they were."""
        if int(self.seen.max()) == self._known:
            return
        for place in np.argsort(self.seen).tolist():
            if self.seen[place] > self._known:
                array, region = self.program.declared[place], self.regions + self.program.first_region(place)
                self._add(region, array.dtype, self._buffer(array))
                self._declared += 1
        self._known = int(self.seen.max())

    def _buffer(self, array: Declared) -> int:
        run = self.run
        if array.shape is None:
            return self._dynamic_buffer(array)
        name = array.name or f"{array.space}_{self._declared}"
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
        whole = self.number_of(region, CODES[np.result_type(dtype, np.complex64)])
        return self._of_field(whole, ("real", "imag")[place], dtype, place * dtype.itemsize)

    def _field(self, region: int) -> int:
        """Make a buffer of a field of records."""
        whole, name, dtype, offset = self._fields[region]
        return self._of_field(self.number_of(whole, RECORD), name, dtype, offset)

    def _of_field(self, whole: int, name: str, dtype: np.dtype[Any], offset: int) -> int:
        buffers = self.run.recorder.buffers
        return self.run.recorder.add_buffer(field_buffer(buffers[whole], name, dtype, offset))

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
