"""Tables that let compiled code take in rows without a call of the driver: see rows/intake.py."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numba.core import types
from numpy.typing import NDArray

from ...model.array_types import Columns
from ..quick_compiler import entry_address
from ..rows.decode import decode_at
from ..rows.streaming_counters import count_at
from ..rows.touched_memory import TouchedMemory
from ..state import (
    CODE_BITS,
    COLUMNS,
    COMPONENTS_FROM,
    DTYPES,
    INTAKE_COLUMNS,
    INTAKE_WORDS,
    REGIONS,
    ColumnWord,
    IntakeWord,
    ValueKind,
    Word,
)
from .growing_columns import GrowingColumns, ReservedRows

_KINDS = {np.dtype(np.float64): ValueKind.FLOAT64, np.dtype(np.int64): ValueKind.INT64}
NARROW = ("phase", "buffer", "site", "index")  # columns that are widened as their numbers grow
_LARGEST = 8  # bytes of a value that is copied unchanged
_UNWATCHED = np.zeros(REGIONS << CODE_BITS, np.uint8)  # a table without watched accesses
_MIXED = "biuf"  # kinds of dtypes that compiled code converts, apart from half precision


class Intake:
    """Lets compiled code put rows into columns, as long as these are wide enough.

    in_turns: whether threads take turns.
    """

    def __init__(self, state: NDArray[np.int64], *, in_turns: bool) -> None:
        self._state = state
        self._words = np.zeros(INTAKE_WORDS, np.int64)
        self._words[IntakeWord.IN_TURNS] = in_turns
        self._references: tuple[Any, ...] = ()  # keeps the objects alive whose addresses are in the words

    @property
    def taken(self) -> int:
        """Number of rows that compiled code has taken in since the last `note_taken`."""
        return int(self._words[IntakeWord.TAKEN])

    def note_taken(self) -> int:
        """Return `taken`, and reset it."""
        taken, self._words[IntakeWord.TAKEN] = self.taken, 0
        return taken

    @property
    def left(self) -> int:
        """Number of rows, from the first one on, that were there before the last look."""
        return int(self._words[IntakeWord.LEFTOVER])

    @left.setter
    def left(self, count: int) -> None:
        self._words[IntakeWord.LEFTOVER] = count

    def end(self) -> None:
        """Leave all rows to the driver from now on."""
        self._state[Word.INTAKE], self._references = 0, ()

    def begin(
        self,
        store: GrowingColumns | ReservedRows,
        max_rows: int,
        tables: tuple[NDArray[Any], ...],
        touched: TouchedMemory | None,
    ) -> None:
        """Let compiled code add rows to these columns, up to a number of rows.

        tables: buffer by region and code, site of the trace by site of the program, Op by site of the program. touched:
        notes the memory that rows touch.
        """
        columns, capacity = store.current_capacity()
        if set(columns) != set(INTAKE_COLUMNS):
            self.end()
            return
        words, self._references = self._words, (columns, tables, touched)
        values = {
            IntakeWord.COUNTER: 0, IntakeWord.KEPT: len(store), IntakeWord.MAX_KEPT: min(max_rows, capacity),
            **_value_words(columns["value"].dtype),
            **dict(zip(_TABLES, (table.ctypes.data for table in tables), strict=True)), **_touch_words(touched),
        }  # fmt: skip
        words[list(values)] = list(values.values())
        _set_columns(words, columns)
        self._state[Word.INTAKE] = words.ctypes.data

    def begin_counting(
        self, counter: int, counts: NDArray[np.int64], tables: tuple[NDArray[Any], ...], touched: TouchedMemory | None
    ) -> None:  # fmt: skip
        """Let compiled code count rows with the function at this address, whose argument is `counts`; see `begin`."""
        self._references = (counts, tables, touched)
        values = {
            IntakeWord.COUNTER: counter, IntakeWord.COUNTS: counts.ctypes.data,
            **dict(zip(_TABLES, (table.ctypes.data for table in tables), strict=True)), **_touch_words(touched),
        }  # fmt: skip
        self._words[list(values)] = list(values.values())
        self._state[Word.INTAKE] = self._words.ctypes.data


class Decoder:
    """Lets compiled code put rows into columns for the driver."""

    def __init__(self, state: NDArray[np.int64]) -> None:
        self._state, self._words = state, np.zeros(INTAKE_WORDS, np.int64)
        self._words[IntakeWord.WATCHED] = _UNWATCHED.ctypes.data

    def decode(
        self, rows: NDArray[Any], columns: Columns, begin: int, tables: tuple[NDArray[Any], ...]
    ) -> int:
        """Fill all columns but the value, from a row on; return the first row of a new buffer or site.

        Returns the number of rows if there is no such row. tables: see `Intake.begin`.
        """
        words = self._words
        words[list(_TABLES)] = [table.ctypes.data for table in tables]
        _set_columns(words, columns)
        addresses = (self._state.ctypes.data, words.ctypes.data, rows.ctypes.data)
        row_count: int = decode_at(*addresses, len(rows), begin)
        return row_count

    @property
    def codes(self) -> int:
        """A bit for the code of each dtype of the rows decoded last."""
        return int(self._words[IntakeWord.CODES])

    @property
    def types(self) -> dict[str, np.dtype[Any]]:
        """The narrowest dtypes that the columns of these rows may have."""
        bits = self._words[IntakeWord.BITS : COLUMNS].tolist()
        return {name: np.min_scalar_type(bits[INTAKE_COLUMNS.index(name)]) for name in NARROW}


def _set_columns(words: NDArray[np.int64], columns: Columns) -> None:
    """Set the addresses and widths of columns in a table of `IntakeWord`."""
    for number, name in enumerate(INTAKE_COLUMNS):
        if name in columns:
            begin, column = COLUMNS + number * len(ColumnWord), columns[name]
            words[begin : begin + len(ColumnWord)] = column.ctypes.data, column.itemsize


@cache
def count_address() -> int:
    """Compile the function that counts rows, if it is not yet compiled, and return its address."""
    count_at.compile((types.int64,))
    return entry_address(count_at.overloads[(types.int64,)])


_TABLES = IntakeWord.BUFFERS, IntakeWord.SITES, IntakeWord.OPS


def _value_words(dtype: np.dtype[Any]) -> dict[IntakeWord, int]:
    """Return the words that describe the values that a column of this dtype takes."""
    same_codes = [code for code, other in enumerate(DTYPES) if other == dtype and dtype.itemsize <= _LARGEST]
    kind = _KINDS.get(dtype, ValueKind.OWN_DTYPE)
    convertible_codes = [
        code for code, other in enumerate(DTYPES[:COMPONENTS_FROM])
        if other.kind in _MIXED and other != np.float16 and np.result_type(dtype, other) == dtype
    ]  # fmt: skip
    bits = (sum(1 << code for code in codes) for codes in (same_codes, convertible_codes))
    return dict(
        zip(
            (IntakeWord.OWN_CODES, IntakeWord.CONVERTIBLE_CODES, IntakeWord.KIND),
            (*bits, int(kind)),
            strict=True,
        )
    )


def _touch_words(touched: TouchedMemory | None) -> dict[IntakeWord, int]:
    if touched is None:
        return {IntakeWord.TOUCHED: 0, IntakeWord.WATCHED: _UNWATCHED.ctypes.data}
    return {IntakeWord.TOUCHED: touched.address, IntakeWord.WATCHED: touched.watched.ctypes.data}
