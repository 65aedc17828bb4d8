"""Columns that grow, seldom copied: room for many rows, which costs nothing until it is used."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..recorder import Columns

ROOM = 1 << 24


class Growing:
    """The columns of up to `limit` rows.

    The memory that `numpy.empty` returns is not taken from the machine before it is written to.
    """

    def __init__(self, limit: int) -> None:
        self._room = min(limit, ROOM)
        self._columns: Columns = {}
        self._rows = 0

    def __len__(self) -> int:
        return self._rows

    def append(self, columns: Columns) -> None:
        """Add rows; a column whose type is too narrow for them is made wider."""
        end = self._rows + len(columns["op"])
        while self._room < end:
            self._room *= 2
        for name, values in columns.items():
            column = self._fitting(name, values)
            column[self._rows : end] = values
        self._rows = end

    def _fitting(self, name: str, values: NDArray[np.generic]) -> NDArray[np.generic]:
        column = self._columns.get(name)
        if column is None:
            column = np.empty(self._room, values.dtype)
        elif np.result_type(column, values) != column.dtype or len(column) < self._room:
            larger = np.empty(self._room, np.result_type(column, values))
            larger[: self._rows] = column[: self._rows]
            column = larger
        self._columns[name] = column
        return column

    def columns(self) -> Columns:
        """Return the rows so far, which are not copied."""
        return {name: column[: self._rows] for name, column in self._columns.items()}
