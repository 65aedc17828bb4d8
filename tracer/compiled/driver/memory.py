"""The memory of a compiled launch: its arguments, and the arrays that its blocks declare."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...model.trace import poison, poisoned
from ...recording.run_record import RunRecord
from ..not_compilable import NotCompilableError
from ..rewrite.program import DeclaredArray, RecordingProgram
from ..state import CODES, COMPONENTS_FROM, DTYPES, RECORD_CODE, REGIONS, Word, code_of, regions_of
from .arguments import Arguments


class LaunchMemory:
    """Declared arrays and buffers of a launch.

    Regions are the array arguments, then the program's declared arrays. A buffer holds a region's elements of one
    dtype. The regions of the fields of records follow that of the records.
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
        self._arguments: dict[int, int] = {}  # region of each argument's buffer
        self.regions = 0
        starts = [self._add_argument(name, value) for name, value in arguments.arrays]
        if self.regions + program.first_region(len(program.declared)) > REGIONS:
            raise NotCompilableError(f"More than {REGIONS:,} arrays and fields of records.")
        self.seen = np.zeros(max(1, len(program.declared)), np.int64)
        self._seen_count = self._declared = 0
        self._blocks: list[NDArray[Any]] = []  # memory of the resident blocks
        self._contents = [self._initial_content(array) for array in program.declared]
        self._tables: dict[Word, NDArray[Any]] = {
            Word.SEEN: self.seen,
            Word.ARGUMENTS: arguments.table(starts, program.runtime_values()),
            Word.POISON: _poison(),
            Word.INITIAL_CONTENTS: self._initial_contents(),
        }
        for word, table in self._tables.items():
            state[word] = table.ctypes.data
        state[Word.DYNAMIC], state[Word.DECLARED_FROM] = record.launch.shared_bytes, self.regions
        state[Word.DECLARATIONS] = len(program.declared)

    def _initial_content(self, array: DeclaredArray) -> NDArray[np.uint8]:
        """Return the initial contents of a declared array, padded to words; those of local arrays for all threads."""
        if array.shape is None:
            content = np.full(max(1, self.record.launch.shared_bytes), 0xA5, np.uint8)
        elif array.content is not None:
            return np.array(array.content)  # blocks share it
        else:
            copies = self.threads if array.space == "local" else 1
            content = poisoned(max(1, copies * int(np.prod(array.shape))), array.dtype).view(np.uint8)
        return np.append(content, np.zeros(-len(content) % 8, np.uint8))

    def _initial_contents(self) -> NDArray[np.int64]:
        """Return address and bytes of each declared array's contents when a block begins; 0 if blocks share it."""
        table = np.zeros((max(1, len(self._contents)), 2), np.int64)
        for row, array, content in zip(table, self.program.declared, self._contents, strict=False):
            if array.content is None:
                row[:] = content.ctypes.data, content.nbytes
        return table

    def allocate_block(self) -> int:
        """Allocate the declared arrays of a resident block; return the address of the table of their addresses."""
        dynamic = self._allocate(self.record.launch.shared_bytes + 8)
        table = np.zeros(max(1, len(self._contents)), np.int64)
        for number, (array, content) in enumerate(zip(self.program.declared, self._contents, strict=True)):
            if array.content is not None:
                table[number] = content.ctypes.data
            else:
                table[number] = dynamic if array.shape is None else self._allocate(content.nbytes)
        self._blocks.append(table)
        return int(table.ctypes.data)

    def _allocate(self, nbytes: int) -> int:
        """Allocate memory; return its address, aligned to 16 bytes."""
        self._blocks.append(np.zeros(nbytes + 16, np.uint8))
        return -(-self._blocks[-1].ctypes.data // 16) * 16

    def digest_contents(self) -> bytes:
        """Hash the memory of the launch's arguments and of its resident blocks."""
        digest = hashlib.sha256()
        for array in (*(memory.cells for memory in self.record.memories), *self._blocks):
            digest.update(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
        return digest.digest()

    def number_of(self, region: int, code: int) -> int:
        """Return the buffer of a region's elements of a dtype."""
        self.declare()
        if (region, code) not in self._numbers:
            add_buffer = self._add_component if COMPONENTS_FROM <= code < RECORD_CODE else self._add_view
            is_field = region in self._fields and CODES.get(self._fields[region][2].base, RECORD_CODE) == code
            self._numbers[region, code] = self._add_field(region) if is_field else add_buffer(region, code)
        return self._numbers[region, code]

    def _register(self, region: int, dtype: np.dtype[Any], buffer: int) -> None:
        """Store the buffer of a new region, and the regions of the fields of its records."""
        code = code_of(dtype)
        self._numbers[region, RECORD_CODE if code is None else code] = buffer
        self._register_fields(region, dtype)

    def _register_fields(self, region: int, dtype: np.dtype[Any]) -> None:
        number = region + 1
        for name, (field_dtype, offset, *_) in (dtype.fields or {}).items():
            self._fields[number] = (region, name, field_dtype, offset)
            self._register_fields(number, field_dtype.base)
            number += regions_of(field_dtype.base)

    def _add_argument(self, name: str, value: NDArray[Any]) -> tuple[int, int]:
        """Make a buffer of an array argument's memory; return the start of the memory, and its region."""
        memory = self.record.memory_of(value, name, "global")
        buffer = self.record.buffer_as(memory, value.dtype)
        if buffer not in self._arguments:
            self._arguments[buffer] = self.regions
            self._register(self.regions, value.dtype, buffer)
            self.regions += regions_of(value.dtype)
        return memory.start, self._arguments[buffer]

    def declare(self) -> None:
        """Make buffers of the newly declared arrays, in the order of their declarations."""
        if int(self.seen.max()) == self._seen_count:
            return
        for number in np.argsort(self.seen).tolist():
            if self.seen[number] > self._seen_count:
                array, region = (
                    self.program.declared[number],
                    self.regions + self.program.first_region(number),
                )
                self._register(region, array.dtype, self._add_declared(array))
                self._declared += 1
        self._seen_count = int(self.seen.max())

    def _add_declared(self, array: DeclaredArray) -> int:
        if array.shape is None:
            return self.record.add_dynamic(array.name or "dynamic", array.dtype)
        name = array.name or f"{array.space}_{self._declared}"
        if array.content is not None:
            memory = self.record.memory_of(array.content, name, "constant")
            return self.record.buffer_as(memory, array.content.dtype)
        like = np.empty(array.shape, array.dtype)
        return self.record.add_array(name, array.space, like, like.size)

    def _add_component(self, region: int, code: int) -> int:
        """Make a buffer of the real or imaginary parts of a region's complex numbers."""
        dtype, component = DTYPES[code], (code - COMPONENTS_FROM) % 2
        records = self.number_of(region, CODES[np.result_type(dtype, np.complex64)])
        return self._add_field_buffer(records, ("real", "imag")[component], dtype, component * dtype.itemsize)

    def _add_field(self, region: int) -> int:
        """Make a buffer of a field of records."""
        records_region, name, dtype, offset = self._fields[region]
        return self._add_field_buffer(self.number_of(records_region, RECORD_CODE), name, dtype, offset)

    def _add_field_buffer(self, records: int, name: str, dtype: np.dtype[Any], offset: int) -> int:
        recorder = self.record.recorder
        return recorder.add_buffer(recorder.buffers[records].field(name, dtype, offset))

    def _add_view(self, region: int, code: int) -> int:
        """Make a buffer of a region's bytes viewed as another dtype."""
        dtype = DTYPES[code]
        buffer_number = next(n for (r, c), n in self._numbers.items() if r == region and c < COMPONENTS_FROM)
        recorder = self.record.recorder
        buffer = recorder.buffers[buffer_number]
        return recorder.add_buffer(buffer.viewed_as(dtype, buffer.size * buffer.unit))


def _poison() -> NDArray[np.uint8]:
    """Return a poisoned element of each dtype, in 16 bytes each."""
    elements = np.zeros((len(DTYPES), 16), np.uint8)
    for row, dtype in zip(elements, DTYPES, strict=True):
        row[: dtype.itemsize].view(dtype)[0] = poison(dtype)
    return elements
