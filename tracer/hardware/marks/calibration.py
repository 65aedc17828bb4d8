"""Clocks of multiprocessors on one axis: each counts cycles from a start of its own, one timer counts for all.

Before a launch and after it, a block on each multiprocessor reads its clock over and over until the timer moves, a few
times. The clock was read just before that, so the pair is late by what one reading takes at most; of all pairs of a
multiprocessor the earliest is taken, by the rate that most agree on. Between the two, time goes evenly.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray


class NotCalibrated(Exception):
    """Clocks that can't be brought onto one axis; the text is one sentence."""


class Clocks(Struct, frozen=True, eq=False):
    """What the clocks of all multiprocessors showed at two moments: columns of shape (multiprocessors,).

    What was not read is nan; times are nanoseconds of the timer, less the first that was read.
    """

    first_cycle: NDArray[np.int64]
    first_time: NDArray[np.float64]
    rate: NDArray[np.float64]  # cycles a nanosecond
    resolution: float  # nanoseconds: the smallest step in which the timer was seen to go on

    @property
    def mhz(self) -> float:
        """The rate of most multiprocessors."""
        return 1000 * float(np.nanmedian(self.rate))

    def times(self, multiprocessor: NDArray[np.integer], cycles: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the nanoseconds at which clocks showed these cycles; columns of one length."""
        since = (cycles - self.first_cycle[multiprocessor]).astype(np.float64)
        found: NDArray[np.float64] = self.first_time[multiprocessor] + since / self.rate[multiprocessor]
        return found


def fitted(before: NDArray[np.uint64], after: NDArray[np.uint64]) -> Clocks:
    """Return the clocks as the pairs say that were read before a launch and after it.

    Both of shape (multiprocessors, pairs, 2): clock and timer, 0 where there is no such multiprocessor. Raises
    NotCalibrated.
    """
    read: NDArray[np.bool_] = np.all((before[..., 1] > 0) & (after[..., 1] > 0), axis=1)
    if not read.any():
        raise NotCalibrated("No multiprocessor could be asked for its clock and its timer.")
    zero = int(before[read][..., 1].min())
    early, late = _signed(before[read], zero), _signed(after[read], zero)
    cycles = (late[:, -1, 0] - early[:, 0, 0]).astype(np.float64)
    passed = (late[:, -1, 1] - early[:, 0, 1]).astype(np.float64)
    if (passed <= 0).any() or (cycles <= 0).any():
        raise NotCalibrated("The clock of a multiprocessor went backwards; run it again.")
    common = float(np.median(cycles / passed))
    start, end = _earliest(early, common), _earliest(late, common)
    steps = np.diff(np.concatenate([early[..., 1], late[..., 1]]), axis=1)
    rate = (end[1] - start[1]) / (end[0] - start[0])
    return Clocks(
        _spread(read, start[1], np.int64),
        _spread(read, start[0], np.float64),
        _spread(read, rate, np.float64),
        float(steps[steps > 0].min(initial=np.iinfo(np.int64).max)),
    )


def _signed(pairs: NDArray[np.uint64], zero: int) -> NDArray[np.int64]:
    made = pairs.astype(np.int64)
    made[..., 1] -= zero
    return made


def _earliest(pairs: NDArray[np.int64], rate: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return a time for each multiprocessor, and what its clock showed then, by the pair that is least late."""
    time = pairs[:, 0, 1]
    expected = pairs[..., 0] - np.rint(rate * (pairs[..., 1] - time[:, None])).astype(np.int64)
    return time.astype(np.float64), expected.min(axis=1)


def _spread(read: NDArray[np.bool_], values: NDArray[Any], dtype: Any) -> NDArray[Any]:
    """Return values at the numbers of the multiprocessors that they are of."""
    column: NDArray[Any] = np.full(len(read), 0 if dtype is np.int64 else np.nan, dtype)
    column[read] = values
    return column
