"""The accesses of a trace as CSV (RFC 4180): a line each; numbers round-trip exactly.

NumPy builds many rows of bytes at once: each cell is as wide as the widest of its column, padded with zero bytes,
which are removed at the end. Line by line it would take six times as long.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from ..model.trace import Trace
from .access_table import Column, access_columns, pieces

ROWS = 1 << 18  # that are formatted at once
TABLE = 10_000  # integers whose texts are precomputed: groups of digits of larger ones
FORMULA = tuple("=+-@\t\r")  # first characters of cells that a spreadsheet would compute

Texts = NDArray[np.bytes_]
SHORT: Texts = np.arange(TABLE).astype("S4")
PADDED: Texts = np.char.zfill(SHORT, 4)


def write_csv(trace: Trace, file: IO[bytes], progress: Callable[[int, int], None], part: str = "") -> None:
    """Write a header line, and a line for each access; see `access_columns`. Raises OSError.

    Numbers are written as Python's `repr`. A word that a spreadsheet would take for a formula gets a leading
    apostrophe, so that it is shown and not computed. `part` is not written: a table of plain cells has no place for it.
    """
    columns = access_columns(trace)
    words = {
        column.name: np.array([cell(word) for word in column.words]) for column in columns if column.words
    }
    file.write(",".join(column.name for column in columns).encode() + b"\n")
    for rows in pieces(trace, ROWS):
        file.write(_lines([_cells(column, rows, words) for column in columns]))
        progress(rows.stop, len(trace))


def cell(word: str) -> bytes:
    """Encode a word as a cell: harmless in a spreadsheet, and quoted if it contains commas or quotes."""
    word = "'" + word if word.startswith(FORMULA) else word
    quoted = f'"{word.replace(chr(34), 2 * chr(34))}"' if set(word) & set(',"\r\n') else word
    return quoted.encode()


def _lines(cells: Sequence[Sequence[Texts]]) -> bytes:
    """Join the parts of each column's cells to lines of CSV."""
    count = len(cells[0][0])
    comma, end = (np.broadcast_to(np.array(sign), count) for sign in (b",", b"\n"))
    parts = [part for column in cells for part in (*column, comma)][:-1]
    wide = [np.ascontiguousarray(part).view(np.uint8).reshape(count, -1) for part in (*parts, end)]
    return np.concatenate(wide, axis=1).tobytes().translate(None, b"\0")


def _cells(column: Column, rows: slice, words: dict[str, Texts]) -> list[Texts]:
    entries = column.read(rows)
    if column.words:
        return [words[column.name][entries]]
    return digits(entries) if entries.dtype.kind == "u" and column.name != "value" else [_values(entries)]


def digits(numbers: NDArray[Any], zero: bytes = b"0") -> list[Texts]:
    """Format non-negative integers, in parts of digits; zero: the text of 0."""
    if int(numbers.max()) < TABLE:
        return [SHORT[numbers] if zero else np.where(numbers > 0, SHORT[numbers], zero)]
    high, low = np.divmod(numbers, TABLE)
    last = np.where(high > 0, PADDED[low], SHORT[low] if zero else np.where(low > 0, SHORT[low], zero))
    return [*digits(high, b""), last]


def _values(values: NDArray[Any]) -> Texts:
    """Format values; each distinct one only once, since most occur often."""
    bits = values.view(f"u{values.itemsize}")
    _, first, inverse = np.unique(bits, return_index=True, return_inverse=True)
    texts = [
        str(value).lower() if value is True or value is False else repr(value)
        for value in values[first].tolist()
    ]
    return np.array(texts).astype(bytes)[inverse]
