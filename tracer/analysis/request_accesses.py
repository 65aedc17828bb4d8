"""The accesses of each request: listed, or, of warps whose lanes did alike, made from where the first one is."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from ..model.array_types import AnyInts, Ints
from ..model.grouping import offsets

MANY = 1 << 14  # requests handled at once where that is simple: others want the lock of Python's threads, too


class RequestAccesses(Struct, frozen=True, eq=False, dict=True):
    """The accesses of requests, by request, then lane, as rows of the trace: they take no memory where lanes did alike.

    Columns of shape (requests,): where the first access is, in the trace or, of requests that are `listed`, in `rows`,
    and how far from one lane to the next; lanes: how many there are.
    """

    first: NDArray[Any]
    apart: NDArray[Any]
    lanes: Ints
    listed: NDArray[np.bool_]  # those whose accesses stand in `rows`, one behind the other
    rows: NDArray[Any]  # of the trace

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the rows that are returned."""
        return self.rows.dtype

    def heads(self) -> NDArray[Any]:
        """Return the first access of each request."""
        heads = self.first.copy()
        heads[self.listed] = self.rows[heads[self.listed]]
        return heads

    def of(self, some: slice | AnyInts) -> NDArray[Any]:
        """Return the accesses of some requests, by request, then lane."""
        first, apart, lanes = self.first[some], self.apart[some], self.lanes[some]
        made = _stepped(first, apart, lanes)
        if self._some_listed and (listed := self.listed[some]).any():
            places = slice(None) if listed.all() else np.flatnonzero(np.repeat(listed, lanes))
            made[places] = self.rows[made[places]]
        return made

    def all(self) -> NDArray[Any]:
        """Return the accesses of all requests: of many that takes as much memory as a column of the trace."""
        every, done = np.empty(int(self.lanes.sum()), self.dtype), 0
        for low in range(0, len(self.first), MANY):
            part = self.of(slice(low, low + MANY))
            every[done : done + len(part)] = part
            done += len(part)
        return every

    @cached_property
    def _some_listed(self) -> bool:
        return bool(self.listed.any())


def _stepped(first: NDArray[Any], apart: NDArray[Any], lanes: Ints) -> NDArray[Any]:
    """Return for each entry as many numbers as it has lanes: the first one, and each so far from that before."""
    if len(lanes) and (lanes == lanes[0]).all():
        made: NDArray[Any] = np.multiply.outer(apart, np.arange(lanes[0], dtype=first.dtype))
        made += first[:, None]
        return made.ravel()
    begin = offsets(lanes)
    lane: NDArray[Any] = np.arange(begin[-1], dtype=first.dtype) - np.repeat(
        begin[:-1].astype(first.dtype), lanes
    )
    lane *= np.repeat(apart, lanes)
    lane += np.repeat(first, lanes)
    return lane
