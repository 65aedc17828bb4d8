"""Arrivals at barriers and warp operations: from the log of compiled code to columns."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...model.array_types import Ints, narrow
from ...model.trace import Barriers
from .growing_columns import ROOM, GrowingColumns

SOME = 1 << 16
NAMES = ("block", "thread", "phase", "site", "step", "reach", "part")


class BarrierLog:
    """Who came where, in order. `memory`: bytes of columns before they go to files; `room`: arrivals to begin with."""

    def __init__(self, memory: int, room: int = ROOM) -> None:
        self._kept = GrowingColumns(memory, room)
        self._waiting: list[tuple[Ints, ...]] = []
        self._count = 0  # of arrivals that wait

    def add(
        self, block: Ints, thread: Ints, phase: Ints, site: Ints, step: Ints, reach: Ints, part: Ints
    ) -> None:
        """Add arrivals of threads in a phase at sites of the program; `step` counts the accesses made until then."""
        if len(thread):
            self._waiting.append((block, thread, phase, site, step, reach, part))
            self._count += len(thread)
            if self._count >= SOME:
                self._keep()

    def _keep(self) -> None:
        """Make columns of the arrivals that wait: of many at once, since this takes longer than to record them."""
        if self._waiting:
            columns = (np.concatenate(parts) for parts in zip(*self._waiting, strict=True))
            self._kept.append({n: narrow(column) for n, column in zip(NAMES, columns, strict=True)})
            self._waiting, self._count = [], 0

    def extend(self, other: BarrierLog, made: int) -> None:
        """Add the arrivals of another log, in which accesses are counted from after `made`."""
        other._keep()
        if len(other._kept):
            columns = other._kept.columns()
            self._keep()
            self._kept.append(columns | {"step": narrow(columns["step"].astype(np.int64) + made)})

    def barriers(self, number_of: Callable[[int], int]) -> Barriers:
        """Return them as columns; `number_of` gives the number in the trace of a site of the program."""
        self._keep()
        if not len(self._kept):
            return Barriers(*(np.empty(0, np.uint8) for _ in NAMES))
        kept = self._kept.columns()
        block, thread, phase, site, step, reach, part = (narrow(kept[name]) for name in NAMES)
        final = np.zeros(int(site.max()) + 1, np.int64)
        for number in np.flatnonzero(np.bincount(site)).tolist():
            final[number] = number_of(number)
        return Barriers(block, thread, phase, narrow(final[site]), step, reach, part)
