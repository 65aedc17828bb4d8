"""What compiled code is told so that it can take in rows without asking the driver: see rows/intake.py."""

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
from ..rows.touched import Touched
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
from .growing_columns import GrowingColumns, Region

_KINDS = {np.dtype(np.float64): ValueKind.FLOAT64, np.dtype(np.int64): ValueKind.INT64}
NARROW = ("phase", "buffer", "site", "index")  # columns that become wider as numbers grow
_LARGEST = 8  # bytes of a value that is copied as it is
_UNWATCHED = np.zeros(REGIONS << CODE_BITS, np.uint8)  # where no access is looked at
_MIXED = "biuf"  # kinds of the dtypes whose values compiled code converts, half precision aside


class Intake:
    """Lets compiled code with this table of state put rows into columns, once these are as wide as they need be.

    in_turns: whether threads take turns.
    """

    def __init__(self, state: NDArray[np.int64], *, in_turns: bool) -> None:
        self._state = state
        self._words = np.zeros(INTAKE_WORDS, np.int64)
        self._words[IntakeWord.IN_TURNS] = in_turns
        self._used: tuple[Any, ...] = ()  # what the words have addresses of

    @property
    def taken(self) -> int:
        """How many rows compiled code has taken in that nobody has taken note of."""
        return int(self._words[IntakeWord.TAKEN])

    def note_taken(self) -> int:
        """Return `taken`, once."""
        taken, self._words[IntakeWord.TAKEN] = self.taken, 0
        return taken

    @property
    def left(self) -> int:
        """How many of the rows, from the first on, are from before they were looked at last."""
        return int(self._words[IntakeWord.LEFT])

    @left.setter
    def left(self, count: int) -> None:
        self._words[IntakeWord.LEFT] = count

    def end(self) -> None:
        """Leave all rows to the driver from now on."""
        self._state[Word.INTAKE], self._used = 0, ()

    def begin(
        self, store: GrowingColumns | Region, most: int, tables: tuple[NDArray[Any], ...], touched: Touched | None
    ) -> None:  # fmt: skip
        """Let compiled code add to these columns, up to so many rows.

        tables: buffer by region and code, site of the trace by site of the program, Op by that. touched: where it is
        noted what memory they touch.
        """
        columns, room = store.ready()
        if set(columns) != set(INTAKE_COLUMNS):
            self.end()
            return
        words, self._used = self._words, (columns, tables, touched)
        numbers = {
            IntakeWord.COUNTER: 0, IntakeWord.KEPT: len(store), IntakeWord.MOST: min(most, room),
            **_values(columns["value"].dtype),
            **dict(zip(_TABLES, (table.ctypes.data for table in tables), strict=True)), **_touched(touched),
        }  # fmt: skip
        words[list(numbers)] = list(numbers.values())
        _put_columns(words, columns)
        self._state[Word.INTAKE] = words.ctypes.data

    def begin_counting(
        self, counter: int, counts: NDArray[np.int64], tables: tuple[NDArray[Any], ...], touched: Touched | None
    ) -> None:  # fmt: skip
        """Let compiled code count rows by the function at this address, which is told `counts`; see `begin`."""
        self._used = (counts, tables, touched)
        numbers = {
            IntakeWord.COUNTER: counter, IntakeWord.COUNTS: counts.ctypes.data,
            **dict(zip(_TABLES, (table.ctypes.data for table in tables), strict=True)), **_touched(touched),
        }  # fmt: skip
        self._words[list(numbers)] = list(numbers.values())
        self._state[Word.INTAKE] = self._words.ctypes.data


class Decoder:
    """Has compiled code put rows into columns for the driver, of a launch with this table of state."""

    def __init__(self, state: NDArray[np.int64]) -> None:
        self._state, self._words = state, np.zeros(INTAKE_WORDS, np.int64)
        self._words[IntakeWord.WATCHED] = _UNWATCHED.ctypes.data

    def decode(
        self, rows: NDArray[Any], columns: Columns, begin: int, tables: tuple[NDArray[Any], ...]
    ) -> int:
        """Fill columns, all but the value, from a row on; return the first row of unknown buffer or site, or how many.

        tables: see `Intake.begin`.
        """
        words = self._words
        words[list(_TABLES)] = [table.ctypes.data for table in tables]
        _put_columns(words, columns)
        addresses = (self._state.ctypes.data, words.ctypes.data, rows.ctypes.data)
        done: int = decode_at(*addresses, len(rows), begin)
        return done

    @property
    def codes(self) -> int:
        """A bit for the code of each dtype of the rows that were decoded last."""
        return int(self._words[IntakeWord.CODES])

    @property
    def types(self) -> dict[str, np.dtype[Any]]:
        """The dtypes that the columns of these rows need to have at least."""
        bits = self._words[IntakeWord.BITS : COLUMNS].tolist()
        return {name: np.min_scalar_type(bits[INTAKE_COLUMNS.index(name)]) for name in NARROW}


def _put_columns(words: NDArray[np.int64], columns: Columns) -> None:
    """Say in a table of `IntakeWord` where columns lie and how wide they are."""
    for number, name in enumerate(INTAKE_COLUMNS):
        if name in columns:
            begin, column = COLUMNS + number * len(ColumnWord), columns[name]
            words[begin : begin + len(ColumnWord)] = column.ctypes.data, column.itemsize


@cache
def count_address() -> int:
    """Return the address of the function that counts rows, which is compiled now if it has not been."""
    count_at.compile((types.int64,))
    return entry_address(count_at.overloads[(types.int64,)])


_TABLES = IntakeWord.BUFFERS, IntakeWord.SITES, IntakeWord.OPS


def _values(dtype: np.dtype[Any]) -> dict[IntakeWord, int]:
    """Return the words that say which values a column of this dtype takes."""
    same = [code for code, other in enumerate(DTYPES) if other == dtype and dtype.itemsize <= _LARGEST]
    kind = _KINDS.get(dtype, ValueKind.SAME)
    held = [
        code for code, other in enumerate(DTYPES[:COMPONENTS_FROM])
        if other.kind in _MIXED and other != np.float16 and np.result_type(dtype, other) == dtype
    ]  # fmt: skip
    bits = (sum(1 << code for code in codes) for codes in (same, held))
    return dict(zip((IntakeWord.SAME, IntakeWord.HELD, IntakeWord.KIND), (*bits, int(kind)), strict=True))


def _touched(touched: Touched | None) -> dict[IntakeWord, int]:
    if touched is None:
        return {IntakeWord.TOUCHED: 0, IntakeWord.WATCHED: _UNWATCHED.ctypes.data}
    return {IntakeWord.TOUCHED: touched.address, IntakeWord.WATCHED: touched.watched.ctypes.data}
