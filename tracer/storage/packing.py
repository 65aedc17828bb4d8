"""Transformation of a trace's columns that makes them compress well, and its inverse, in memory."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..model.array_types import Columns
from .validation import ACCESS_COLUMNS, BARRIER_COLUMNS, OUTSIDE_COLUMNS

TABLES = {"barriers": BARRIER_COLUMNS, "warp_barriers": BARRIER_COLUMNS, "outside": OUTSIDE_COLUMNS}
OF_TABLES = tuple(f"{table}.{name}" for table, names in TABLES.items() for name in names)
ROUND = "round"  # a column that few traces have
INTEGERS = (*ACCESS_COLUMNS, *OF_TABLES, "blocks", "recorded")
# Files of earlier versions lack these.
LATER = tuple(f"{table}.part" for table in ("barriers", "warp_barriers"))
BY_OWNER = ("phase", "op", "buffer", "site", ROUND)
BY_SITE = ("index", "value")


def pack(columns: Columns) -> Columns:
    """Transform columns so that they compress well, under any schedule: integers become differences (which wrap).

    The accesses of a thread are regular, and those of a thread at one site even more so; the order in
    which threads take turns need not be. So only `block`, `thread` and `step` keep their order. Others
    are sorted by thread; index and value by site, then thread.
    """
    owner = _by_owner(columns)
    packed = columns | {name: columns[name][owner] for name in BY_OWNER if name in columns}
    by_site = owner[_order(packed["site"])]
    packed |= {name: columns[name][by_site] for name in BY_SITE if name in columns}
    return packed | {name: _differences(packed[name]) for name in (*INTEGERS, ROUND) if name in packed}


def unpack(packed: Columns) -> Columns:
    """Undo `pack`."""
    columns = packed | undo_differences(packed)
    owner = _by_owner(columns)
    by_site = owner[_order(columns["site"])]
    columns |= {name: _restore_order(columns[name], owner) for name in BY_OWNER if name in columns}
    return columns | {name: _restore_order(columns[name], by_site) for name in BY_SITE if name in columns}


def undo_differences(packed: Columns) -> Columns:
    """Undo the differences of the integer columns."""
    return {
        name: np.cumsum(packed[name], dtype=packed[name].dtype)
        for name in (*INTEGERS, ROUND)
        if name in packed
    }


def _differences(column: NDArray[Any]) -> NDArray[Any]:
    differences = np.empty_like(column)
    differences[:1] = column[:1]
    np.subtract(column[1:], column[:-1], out=differences[1:])
    return differences


def _restore_order(column: NDArray[Any], order: NDArray[np.int64]) -> NDArray[Any]:
    original = np.empty_like(column)
    original[order] = column
    return original


def _by_owner(columns: Columns) -> NDArray[np.int64]:
    """Return the order by block, then thread, then time."""
    by_thread = _order(columns["thread"])
    return by_thread[_order(columns["block"][by_thread])]


def _order(column: NDArray[Any]) -> NDArray[np.int64]:
    return np.argsort(column, kind="stable")
