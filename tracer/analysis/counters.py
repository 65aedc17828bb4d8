"""Counters: a launch's memory requests up to each moment, counted from its trace."""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Sequence
from functools import cached_property

import numpy as np

from ..model.array_types import AnyInts, Ints, Mask
from ..model.counter_names import GROUPS, MEASURES, NAMES
from ..model.grouping import stable_order
from ..model.trace import Buffer, Op, Trace
from .request_cost import ITEMSIZE, REQUESTS, rules_of
from .requests import Requests

PART = 1 << 13  # requests per cached part: the sums of all requests would need more memory than the trace
KEPT = 4  # cached parts: enough for jumps to and fro, and for all of a small launch
ALL = slice(None)


class Counters:
    """The counters of a trace at any moment, computed on first use."""

    def __init__(self, trace: Trace, requests: Requests) -> None:
        self._trace, self._requests = trace, requests
        self._parts: OrderedDict[int, Ints] = OrderedDict()  # the most recently used parts, and their sums
        self._loads: dict[int, tuple[Ints, Ints]] = {}

    def prepare(self) -> None:
        """Compute the slow data that the first picture of every launch needs."""
        _ = self.total, self.values_at(0), self._lines

    @cached_property
    def total(self) -> dict[str, int]:
        """The counters of the complete launch, also if the trace lacks rows; else those at its end."""
        return dict(self._trace.totals) or self.values_at(self._requests.end)

    @cached_property
    def _before(self) -> Ints:
        return _sums_before(self._trace, self._requests)

    def values_at(self, moment: int) -> dict[str, int]:
        """Return each counter of NAMES at this moment; earlier and later moments are clipped to the trace."""
        number, count = divmod(int(self._requests.moment.searchsorted(moment, side="right")), PART)
        if number not in self._parts:
            self._parts[number] = self._sums_in(number)
            if len(self._parts) > KEPT:
                self._parts.popitem(last=False)
        self._parts.move_to_end(number)
        return dict(zip(NAMES, (self._before[number] + self._parts[number][count]).tolist(), strict=True))

    def _sums_in(self, number: int) -> Ints:
        """Compute the counters after each request of a part, starting from zero: shape (requests + 1, len(NAMES))."""
        part = slice(number * PART, (number + 1) * PART)
        each = np.zeros((len(self._requests.moment[part]) + 1, len(NAMES)), np.int64)
        for column, (_, counted, amount) in enumerate(_amounts(self._trace, self._requests, part)):
            each[1:, column][counted] = amount
        return np.cumsum(each, axis=0)

    def mean_reads(self, buffer: int, moment: int) -> float:
        """Compute the loads of a buffer's elements by now, averaged over all its elements."""
        if buffer not in self._loads:
            self._loads[buffer] = _loads_of(self._requests, buffer)
        moments, loads = self._loads[buffer]
        elements = math.prod(self._trace.buffers[buffer].shape)
        return float(loads[moments.searchsorted(moment, side="right")]) / max(1, elements)

    def line_counts(self, moment: int) -> dict[tuple[str, int], int]:
        """Count the requests that each (file, line) made by now, for every line that ever makes one."""
        return {
            line: int(moments.searchsorted(moment, side="right")) for line, moments in self._lines.items()
        }

    @cached_property
    def _lines(self) -> dict[tuple[str, int], Ints]:
        """The moments of the requests that each (file, line) makes."""
        numbers: dict[tuple[str, int], int] = {}
        site_numbers = [numbers.setdefault((s.file, s.line), len(numbers)) for s in self._trace.sites]
        number = np.array(site_numbers, np.int64)[self._requests.site]
        order, counts = stable_order(number), np.bincount(number, minlength=len(numbers))
        parts = np.split(self._requests.moment[order], np.cumsum(counts)[:-1]) if numbers else []
        return {line: parts[i] for line, i in sorted(numbers.items()) if counts[i]}


def counters_of(trace: Trace, requests: Requests) -> Counters:
    """Return the counters of a trace."""
    return Counters(trace, requests)


def totals_of(trace: Trace, requests: Requests) -> dict[str, int]:
    """Compute the counters of all rows of a trace; those of disjoint sets of complete blocks add up."""
    return {name: int(amount.sum()) for name, _, amount in _amounts(trace, requests)}


def totals_of_sums(buffers: Sequence[Buffer], sums: Ints) -> dict[str, int]:
    """Compute the counters of summed requests.

    sums: requests, cost and lanes, by buffer and Op, shape (len(buffers) or fewer, len(Op), 3).
    """
    buffer, op = (indices.ravel() for indices in np.indices(sums.shape[:2]))
    amounts = _amounts_of(buffers, buffer, op, *sums.reshape(-1, 3).T)
    return {name: int(amount.sum()) for name, _, amount in amounts}


def totals_by(trace: Trace, requests: Requests, part: Ints, count: int) -> dict[str, Ints]:
    """Compute the counters of each part of a launch: by name, an entry for each of `count` parts.

    part: the part that each request belongs to, such as a site, a buffer or a block.
    """
    return {
        name: np.bincount(part[counted], amount, minlength=count).astype(np.int64)
        for name, counted, amount in _amounts(trace, requests)
    }


def totals_by_line(trace: Trace, requests: Requests) -> dict[tuple[str, int], dict[str, int]]:
    """Compute the counters of each (file, line) of a launch, without those that are 0."""
    by_site = totals_by(trace, requests, requests.site, len(trace.sites))
    lines: dict[tuple[str, int], dict[str, int]] = {}
    for number, site in enumerate(trace.sites):
        counters = lines.setdefault((site.file, site.line), {})
        for name, column in by_site.items():
            if amount := int(column[number]):
                counters[name] = counters.get(name, 0) + amount
    return lines


def _amounts(trace: Trace, requests: Requests, part: slice = ALL) -> list[tuple[str, Mask, Ints]]:
    """List per counter its name, the requests (of a part) that it counts, and the amount that each adds."""
    cost = requests.sectors[part] + requests.wavefronts[part]  # one of them is 0
    return _amounts_of(trace.buffers, requests.buffer[part], requests.op[part], 1, cost, requests.lanes[part])


def _amounts_of(
    buffers: Sequence[Buffer], buffer: Ints, op: AnyInts, count: Ints | int, cost: Ints, lanes: Ints
) -> list[tuple[str, Mask, Ints]]:
    """Do the same for summed requests: per entry their buffer and op, number, cost and lanes."""
    rules, rule_index = rules_of(buffers), buffer * len(Op) + op
    each, size = rules[:, REQUESTS][buffer], rules[:, ITEMSIZE][buffer]
    request_count, total_cost = each * count, each * cost
    measured = {
        "requests": request_count, "sectors": total_cost, "bytes": lanes * size,
        "instructions": request_count, "wavefronts": total_cost,
    }  # fmt: skip
    result = []
    for group, (space, ops) in GROUPS.items():
        is_counted = [b.space == space and each_op in ops for b in buffers for each_op in Op]
        counted = np.array(is_counted, bool)[rule_index]
        result += [(f"{group}_{measure}", counted, measured[measure][counted]) for measure in MEASURES[space]]
    return result


def _sums_before(trace: Trace, requests: Requests) -> Ints:
    """Compute the counters before each part of the requests, and after the last, shape (parts + 1, len(NAMES))."""
    sums = np.zeros((-(-len(requests) // PART) + 1, len(NAMES)), np.int64)
    for number in range(len(sums) - 1):
        part = slice(number * PART, (number + 1) * PART)
        sums[number + 1] = [amount.sum() for _, _, amount in _amounts(trace, requests, part)]
    return np.cumsum(sums, axis=0)


def _loads_of(requests: Requests, buffer: int) -> tuple[Ints, Ints]:
    """Return the moments of a buffer's load requests, and the number of loads before each and in all."""
    counted = (requests.buffer == buffer) & (requests.op == Op.LOAD)
    loads = np.concatenate(([0], np.cumsum(requests.lanes[counted])))
    return requests.moment[counted], loads
