"""The memory of a compiled launch: its arguments, and what its blocks declare."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...model.trace import poison, poisoned
from ...recording.run_record import RunRecord
from ..not_compilable import NotCompilable
from ..rewrite.program import DeclaredArray, RecordingProgram
from ..state import CODES, COMPONENTS_FROM, DTYPES, RECORD_CODE, REGIONS, Word, code_of, regions_of
from .arguments import Arguments


class LaunchMemory:
    """Declared arrays and buffers of a launch.

    Regions are the array arguments, then the program's declared arrays; a buffer is a region's elements of a dtype.
    The fields of records have the regions behind theirs.
    """

    def __init__(
        self,
        record: RunRecord,
        program: RecordingProgram,
        arguments: Arguments,
        state: NDArray[np.int64],
        threads: int,
    ) -> None:
        self.record, self.program, self.threads = record, program, threads
        self._numbers: dict[tuple[int, int], int] = {}
        self._fields: dict[int, tuple[int, str, np.dtype[Any], int]] = {}
        self._arguments: dict[int, int] = {}  # the region of each argument's buffer
        self.regions = 0
        starts = [self._argument(name, value) for name, value in arguments.arrays]
        if self.regions + program.first_region(len(program.declared)) > REGIONS:
            raise NotCompilable(f"More than {REGIONS:,} arrays and fields of records.")
        self.seen = np.zeros(max(1, len(program.declared)), np.int64)
        self._known = self._declared = 0
        self._blocks: list[NDArray[Any]] = []  # what the resident blocks have of their own
        self._contents = [self._content(array) for array in program.declared]
        self._tables: dict[Word, NDArray[Any]] = {
            Word.SEEN: self.seen,
            Word.ARGUMENTS: arguments.table(starts, program.told()),
            Word.POISON: _poison(),
            Word.FRESH: self._fresh(),
        }
        for word, table in self._tables.items():
            state[word] = table.ctypes.data
        state[Word.DYNAMIC], state[Word.DECLARED_FROM] = record.launch.shared_bytes, self.regions
        state[Word.DECLARATIONS] = len(program.declared)

    def _content(self, array: DeclaredArray) -> NDArray[np.uint8]:
        """Return what a declared array holds when a block begins, as whole words: for all threads, if each has one."""
        if array.shape is None:
            held = np.full(max(1, self.record.launch.shared_bytes), 0xA5, np.uint8)
        elif array.content is not None:
            return np.array(array.content)  # which blocks share
        else:
            copies = self.threads if array.space == "local" else 1
            held = poisoned(max(1, copies * int(np.prod(array.shape))), array.dtype).view(np.uint8)
        return np.append(held, np.zeros(-len(held) % 8, np.uint8))

    def _fresh(self) -> NDArray[np.int64]:
        """Return address and bytes of what each declared array holds when a block begins; 0 where blocks share it."""
        made = np.zeros((max(1, len(self._contents)), 2), np.int64)
        for row, array, content in zip(made, self.program.declared, self._contents, strict=False):
            if array.content is None:
                row[:] = content.ctypes.data, content.nbytes
        return made

    def of_block(self) -> int:
        """Return the address of a table of where a resident block's declared arrays are, made anew."""
        dynamic = self._aligned(self.record.launch.shared_bytes + 8)
        made = np.zeros(max(1, len(self._contents)), np.int64)
        for number, (array, content) in enumerate(zip(self.program.declared, self._contents, strict=True)):
            if array.content is not None:
                made[number] = content.ctypes.data
            else:
                made[number] = dynamic if array.shape is None else self._aligned(content.nbytes)
        self._blocks.append(made)
        return int(made.ctypes.data)

    def _aligned(self, nbytes: int) -> int:
        """Return the address of new memory."""
        self._blocks.append(np.zeros(nbytes + 16, np.uint8))
        return -(-self._blocks[-1].ctypes.data // 16) * 16

    def content(self) -> bytes:
        """Return a digest of what the launch was given and of what its blocks have of their own."""
        digest = hashlib.sha256()
        for held in (*(memory.cells for memory in self.record.memories), *self._blocks):
            digest.update(np.ascontiguousarray(held).reshape(-1).view(np.uint8).data)
        return digest.digest()

    def number_of(self, region: int, code: int) -> int:
        """Return the buffer of a region's elements of a dtype."""
        self.declare()
        if (region, code) not in self._numbers:
            made = self._part if COMPONENTS_FROM <= code < RECORD_CODE else self._view
            is_field = region in self._fields and CODES.get(self._fields[region][2].base, RECORD_CODE) == code
            self._numbers[region, code] = self._field(region) if is_field else made(region, code)
        return self._numbers[region, code]

    def _add(self, region: int, dtype: np.dtype[Any], buffer: int) -> None:
        """Note the buffer of a new region, and the regions of the fields of its records."""
        code = code_of(dtype)
        self._numbers[region, RECORD_CODE if code is None else code] = buffer
        self._add_fields(region, dtype)

    def _add_fields(self, region: int, dtype: np.dtype[Any]) -> None:
        number = region + 1
        for name, (part, offset, *_) in (dtype.fields or {}).items():
            self._fields[number] = (region, name, part, offset)
            self._add_fields(number, part.base)
            number += regions_of(part.base)

    def _argument(self, name: str, value: NDArray[Any]) -> tuple[int, int]:
        """Make a buffer of an array argument's memory; return where this starts, and its region."""
        memory = self.record.memory_of(value, name, "global")
        buffer = self.record.buffer_as(memory, value.dtype)
        if buffer not in self._arguments:
            self._arguments[buffer] = self.regions
            self._add(self.regions, value.dtype, buffer)
            self.regions += regions_of(value.dtype)
        return memory.start, self._arguments[buffer]

    def declare(self) -> None:
        """Make buffers of the arrays declared since, in the order in which they were."""
        if int(self.seen.max()) == self._known:
            return
        for number in np.argsort(self.seen).tolist():
            if self.seen[number] > self._known:
                array, region = (
                    self.program.declared[number],
                    self.regions + self.program.first_region(number),
                )
                self._add(region, array.dtype, self._buffer(array))
                self._declared += 1
        self._known = int(self.seen.max())

    def _buffer(self, array: DeclaredArray) -> int:
        if array.shape is None:
            return self.record.add_dynamic(array.name or "dynamic", array.dtype)
        name = array.name or f"{array.space}_{self._declared}"
        if array.content is not None:
            memory = self.record.memory_of(array.content, name, "constant")
            return self.record.buffer_as(memory, array.content.dtype)
        like = np.empty(array.shape, array.dtype)
        return self.record.add_array(name, array.space, like, like.size)

    def _part(self, region: int, code: int) -> int:
        """Make a buffer of the real or imaginary parts of a region's complex numbers."""
        dtype, component = DTYPES[code], (code - COMPONENTS_FROM) % 2
        whole = self.number_of(region, CODES[np.result_type(dtype, np.complex64)])
        return self._of_field(whole, ("real", "imag")[component], dtype, component * dtype.itemsize)

    def _field(self, region: int) -> int:
        """Make a buffer of a field of records."""
        whole, name, dtype, offset = self._fields[region]
        return self._of_field(self.number_of(whole, RECORD_CODE), name, dtype, offset)

    def _of_field(self, whole: int, name: str, dtype: np.dtype[Any], offset: int) -> int:
        recorder = self.record.recorder
        return recorder.add_buffer(recorder.buffers[whole].field(name, dtype, offset))

    def _view(self, region: int, code: int) -> int:
        """Make a buffer of a region's bytes seen as another dtype."""
        dtype = DTYPES[code]
        known = next(n for (r, c), n in self._numbers.items() if r == region and c < COMPONENTS_FROM)
        recorder = self.record.recorder
        whole = recorder.buffers[known]
        return recorder.add_buffer(whole.viewed_as(dtype, whole.size * whole.unit))


def _poison() -> NDArray[np.uint8]:
    """Return a poisoned element of each dtype, in 16 bytes each."""
    made = np.zeros((len(DTYPES), 16), np.uint8)
    for row, dtype in zip(made, DTYPES, strict=True):
        row[: dtype.itemsize].view(dtype)[0] = poison(dtype)
    return made
