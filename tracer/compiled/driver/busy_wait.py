"""Threads that wait for others by reading: compiled code runs one after the other, so they would wait forever."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...model.trace import Op
from ..state import SITE_BITS

SAME_READS = 1 << 22  # rows; the loops of kernels that only compute seldom read the same that often
LONGEST_ROUND = 8  # accesses in a round of a loop that waits


def is_busy_wait(rows: NDArray[Any], ops: NDArray[np.uint8]) -> bool:
    """Return whether rows are rounds of one thread's loop that stores nothing, each with the same few accesses.

    ops: the Op of each site of the program. A lock that is tried again and again is told by its atomic.
    """
    if len(rows) < 4 * LONGEST_ROUND or rows["context"][0] != rows["context"][-1]:
        return False
    period = _period(rows[: 4 * LONGEST_ROUND])
    if not period or not _repeats(rows, period):
        return False
    return not (ops[rows["key"][:period] & ((1 << SITE_BITS) - 1)] == Op.STORE).any()


def _period(rows: NDArray[Any]) -> int:
    return next((n for n in range(1, LONGEST_ROUND + 1) if _repeats(rows, n)), 0)


def _repeats(rows: NDArray[Any], period: int) -> bool:
    return all(np.array_equal(rows[name][period:], rows[name][:-period]) for name in ("key", "index"))
