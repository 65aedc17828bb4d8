"""Detect threads that wait for others by polling: compiled threads run one after the other, so they would never end."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...model.trace import Op
from ..state import SITE_BITS

SAME_READS = 1 << 22  # rows; loops that only compute seldom repeat the same reads that often
LONGEST_ROUND = 8  # accesses in a round of a polling loop


def is_busy_wait(rows: NDArray[Any], ops: NDArray[np.uint8]) -> bool:
    """Check if rows are rounds of one thread's loop that stores nothing, each with the same few accesses.

    ops: the Op of each site of the program. A loop that tries to take a lock is detected by its atomic.
    """
    if len(rows) < 4 * LONGEST_ROUND or rows["context"][0] != rows["context"][-1]:
        return False
    period = _find_period(rows[: 4 * LONGEST_ROUND])
    if not period or not _repeats_after(rows, period):
        return False
    return not (ops[rows["key"][:period] & ((1 << SITE_BITS) - 1)] == Op.STORE).any()


def _find_period(rows: NDArray[Any]) -> int:
    return next((n for n in range(1, LONGEST_ROUND + 1) if _repeats_after(rows, n)), 0)


def _repeats_after(rows: NDArray[Any], period: int) -> bool:
    return all(np.array_equal(rows[name][period:], rows[name][:-period]) for name in ("key", "index"))
