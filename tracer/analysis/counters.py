"""Counters: what a launch asked of memory up to each moment, counted from its trace."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..model.array_types import AnyInts, Ints, Mask
from ..model.trace import Buffer, Op, Trace
from .request_cost import ITEMSIZE, REQUESTS, rules_of
from .requests import Requests

# Global traffic is counted in requests, sectors of 32 bytes and bytes asked for, shared in instructions and
# wavefronts.
GROUPS = {
    "global_load": ("global", (Op.LOAD,)),
    "global_store": ("global", (Op.STORE,)),
    "global_atomic": ("global", (Op.ATOMIC,)),
    "global_reduction": ("global", (Op.REDUCTION,)),
    "shared_load": ("shared", (Op.LOAD,)),
    "shared_store": ("shared", (Op.STORE,)),
    "shared_atomic": ("shared", (Op.ATOMIC, Op.REDUCTION)),
}  # fmt: skip
MEASURES = {"global": ("requests", "sectors", "bytes"), "shared": ("instructions", "wavefronts")}
NAMES = tuple(f"{group}_{measure}" for group, (space, _) in GROUPS.items() for measure in MEASURES[space])


class Counters:
    """The counters of a trace at any moment.

    total: of the whole launch, also where the trace lacks rows; equal to `at(end)` where it does not.
    """

    def __init__(self, trace: Trace, requests: Requests) -> None:
        self._sums = _running_sums(trace, requests)
        self.total = dict(trace.totals) or self.at(requests.end)
        self._buffers = trace.buffers
        self._loads: dict[int, tuple[Ints, Ints]] = {
            number: _loads_of(requests, number) for number in range(len(trace.buffers))
        }
        self._lines = _moments_by_line(trace, requests)

    def at(self, moment: int) -> dict[str, int]:
        """Return each counter of NAMES at this moment; one before the first or past the last is that one."""
        row = min(max(moment, 0), len(self._sums) - 1)
        return dict(zip(NAMES, self._sums[row].tolist(), strict=True))

    def mean_reads(self, buffer: int, moment: int) -> float:
        """Return how often an element of this buffer was loaded by now, on average over all its elements."""
        moments, loads = self._loads[buffer]
        elements = int(np.prod(self._buffers[buffer].shape))
        return float(loads[np.searchsorted(moments, moment, side="right")]) / max(1, elements)

    def line_counts(self, moment: int) -> dict[tuple[str, int], int]:
        """Return how many requests each (file, line) made by now, for every line that ever makes one."""
        return {line: int(np.searchsorted(m, moment, side="right")) for line, m in self._lines.items()}


def counters_of(trace: Trace, requests: Requests) -> Counters:
    """Return the counters of a trace."""
    return Counters(trace, requests)


def totals_of(trace: Trace, requests: Requests) -> dict[str, int]:
    """Return the counters of all rows of a trace; those of several sets of whole blocks add up."""
    return {name: int(amount.sum()) for name, _, amount in _amounts(trace, requests)}


def totals_of_sums(buffers: Sequence[Buffer], sums: Ints) -> dict[str, int]:
    """Return the counters of requests that have been added up: how many, what they cost, and their lanes.

    sums: these three, by buffer and Op, shape (len(buffers) or fewer, len(Op), 3).
    """
    buffer, op = (n.ravel() for n in np.indices(sums.shape[:2]))
    amounts = _amounts_of(buffers, buffer, op, *sums.reshape(-1, 3).T)
    return {name: int(amount.sum()) for name, _, amount in amounts}


def totals_by(trace: Trace, requests: Requests, part: Ints, count: int) -> dict[str, Ints]:
    """Return the counters of each part of a launch: by name, an entry for each of `count` parts.

    part: of each request which part it counts for, a site, a buffer or a block.
    """
    return {
        name: np.bincount(part[counted], amount, minlength=count).astype(np.int64)
        for name, counted, amount in _amounts(trace, requests)
    }


def _amounts(trace: Trace, requests: Requests) -> list[tuple[str, Mask, Ints]]:
    """Return per counter its name, the requests that it counts, and what each of these adds."""
    cost = requests.sectors + requests.wavefronts  # one of them is 0
    return _amounts_of(trace.buffers, requests.buffer, requests.op, 1, cost, requests.lanes)


def _amounts_of(
    buffers: Sequence[Buffer], buffer: Ints, op: AnyInts, count: Ints | int, cost: Ints, lanes: Ints
) -> list[tuple[str, Mask, Ints]]:
    """Return the same of requests added up: per entry their buffer and op, how many, what they cost, and lanes."""
    space, rules = np.array([b.space for b in buffers])[buffer], rules_of(buffers)
    each, size = rules[:, REQUESTS][buffer], rules[:, ITEMSIZE][buffer]
    made, paid = each * count, each * cost
    measured = {
        "requests": made, "sectors": paid, "bytes": lanes * size,
        "instructions": made, "wavefronts": paid,
    }  # fmt: skip
    result = []
    for group, (where, ops) in GROUPS.items():
        counted = (space == where) & np.isin(op, ops)
        result += [(f"{group}_{m}", counted, measured[m][counted]) for m in MEASURES[where]]
    return result


def _running_sums(trace: Trace, requests: Requests) -> Ints:
    """Return the counters, shape (end + 1, len(NAMES))."""
    sums = np.zeros((requests.end + 1, len(NAMES)), np.int64)
    for column, (_, counted, amount) in enumerate(_amounts(trace, requests)):
        moments = requests.moment[counted]
        sums[:, column] = np.cumsum(np.bincount(moments, amount, minlength=len(sums)))
    return sums


def _loads_of(requests: Requests, buffer: int) -> tuple[Ints, Ints]:
    """Return the moments of a buffer's load requests, and the loads made before each and in all."""
    counted = (requests.buffer == buffer) & (requests.op == Op.LOAD)
    loads = np.concatenate(([0], np.cumsum(requests.lanes[counted])))
    return requests.moment[counted], loads


def _moments_by_line(trace: Trace, requests: Requests) -> dict[tuple[str, int], Ints]:
    """Return the moments of the requests that each (file, line) makes."""
    lines = sorted({(site.file, site.line) for site in trace.sites})
    number = np.array([lines.index((site.file, site.line)) for site in trace.sites], np.int64)[requests.site]
    return {line: m for i, line in enumerate(lines) if len(m := requests.moment[number == i])}
