"""Clocks of multiprocessors on one axis: each counts cycles from its own start, one timer is common to all.

Before and after a launch, a block on each multiprocessor reads its clock in a loop until the timer moves, several
times. A clock is read just before the timer moves, so a pair is late by at most one reading. The earliest of all pairs
of a multiprocessor is taken, by the median rate. Time is linear between the two readings.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray


class CalibrationError(Exception):
    """Clocks that can't be converted to one axis; the text is one sentence."""


class Clocks(Struct, frozen=True, eq=False):
    """The clocks of all multiprocessors at two moments: columns of shape (multiprocessors,).

    Missing values are nan. Times are nanoseconds of the timer since its first reading.
    """

    first_cycle: NDArray[np.int64]
    first_time: NDArray[np.float64]
    rate: NDArray[np.float64]  # cycles per nanosecond
    resolution: float  # nanoseconds: the smallest observed step of the timer

    @property
    def mhz(self) -> float:
        """The median rate of the multiprocessors."""
        return 1000 * float(np.nanmedian(self.rate))

    def times(self, multiprocessor: NDArray[np.integer], cycles: NDArray[np.int64]) -> NDArray[np.float64]:
        """Convert cycles of clocks to nanoseconds; columns of one length."""
        since = (cycles - self.first_cycle[multiprocessor]).astype(np.float64)
        nanoseconds: NDArray[np.float64] = self.first_time[multiprocessor] + since / self.rate[multiprocessor]
        return nanoseconds


def calibrate(before: NDArray[np.uint64], after: NDArray[np.uint64]) -> Clocks:
    """Calibrate clocks by pairs that were read before and after a launch.

    Both have shape (multiprocessors, pairs, 2): clock and timer, 0 for missing multiprocessors.
    Raises CalibrationError.
    """
    read: NDArray[np.bool_] = np.all((before[..., 1] > 0) & (after[..., 1] > 0), axis=1)
    if not read.any():
        raise CalibrationError("No multiprocessor's clock and timer could be read.")
    zero = int(before[read][..., 1].min())
    early, late = _signed(before[read], zero), _signed(after[read], zero)
    cycles = (late[:, -1, 0] - early[:, 0, 0]).astype(np.float64)
    passed = (late[:, -1, 1] - early[:, 0, 1]).astype(np.float64)
    if (passed <= 0).any() or (cycles <= 0).any():
        raise CalibrationError("The clock of a multiprocessor went backwards; run it again.")
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
    shifted = pairs.astype(np.int64)
    shifted[..., 1] -= zero
    return shifted


def _earliest(pairs: NDArray[np.int64], rate: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return a time for each multiprocessor and its clock at that time, by the pair that is least late."""
    time = pairs[:, 0, 1]
    expected = pairs[..., 0] - np.rint(rate * (pairs[..., 1] - time[:, None])).astype(np.int64)
    return time.astype(np.float64), expected.min(axis=1)


def _spread(read: NDArray[np.bool_], values: NDArray[Any], dtype: Any) -> NDArray[Any]:
    """Spread values over the numbers of their multiprocessors."""
    column: NDArray[Any] = np.full(len(read), 0 if dtype is np.int64 else np.nan, dtype)
    column[read] = values
    return column
