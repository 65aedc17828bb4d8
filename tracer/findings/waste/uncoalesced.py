"""Sites whose loads or stores touch more sectors than a warp that touches neighbouring elements.

After "Coalesced Access to Global Memory" in the CUDA C++ Best Practices Guide. A load of adjacent elements that
begins within a sector costs one sector more. That is reported only where longer rows would mend it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ...analysis.minimum_cost import RequestCosts, minimum_sectors, plain_global
from ...analysis.request_cost import SECTOR, requests_each
from ...analysis.requests import Requests
from ...model.array_types import Ints
from ...model.finding import Finding
from ...model.trace import WARP, Buffer, Trace
from .site_costs import (
    LARGE_SHARE,
    WARNING_RATIO,
    SiteCosts,
    cost_text,
    in_source,
    is_regular,
    per_site,
    rows_of,
    waste_finding,
)
from .thread_axes import Steps, are_swapped, axes_remedy, steps_of

KIND = "uncoalesced"
FULL = SECTOR // 8  # sectors of a full request for 4-byte elements: the least waste that is reported
NEIGHBOURS = "let neighbouring threads touch neighbouring elements"
THROUGH_TILE = "go through a tile in shared memory, so that loads and stores both go along rows"
WIDER = f"use blocks of {WARP} threads along x"
IN_ORDER = "order the work so that neighbouring threads touch neighbouring elements"
APART = "keep each field in its own array"


class _Spread(NamedTuple):
    """A site whose elements lie apart, with the reason and the remedy."""

    site: SiteCosts
    reason: str  # the lanes' accesses, or the lanes' positions
    remedy: str
    is_easy: bool  # whether the remedy justifies a warning
    key: str  # of the cause, see `waste_finding`


def uncoalesced_findings(trace: Trace, requests: Requests, costs: RequestCosts) -> Iterator[Finding]:
    """List the sites whose loads or stores cost more sectors than neighbouring elements would."""
    wanted, total = plain_global(trace, requests) & in_source(trace, requests), int(costs.sectors.sum())
    sites = per_site(requests, wanted, costs.sectors, costs.neighbours, costs.minimum_sectors)
    apart: list[SiteCosts] = []
    for site in (
        candidate for candidate in sites if candidate.is_reported(total) and candidate.waste >= FULL
    ):
        buffer = trace.buffers[int(requests.buffer[site.worst])]
        starts = _byte_offsets(trace, requests, site.worst)
        if _aligned_sectors(buffer, starts) > costs.neighbours[site.worst]:
            apart.append(site)
        elif site.waste >= LARGE_SHARE * total and _rows_mend(
            buffer, starts, int(costs.neighbours[site.worst])
        ):
            yield _misaligned(trace, requests, site, buffer)
    yield from _spread_findings(trace, requests, apart, total)


def _spread_findings(
    trace: Trace, requests: Requests, sites: list[SiteCosts], total: int
) -> Iterator[Finding]:  # fmt: skip
    """Yield the findings about sites whose elements lie apart: warnings where those of one cause waste much."""
    steps = steps_of(trace, requests, plain_global(trace, requests)) if sites else {}
    spread = [_spread(trace, requests, site, steps) for site in sites]
    waste: dict[str, int] = {}
    for entry in spread:
        waste[entry.key] = waste.get(entry.key, 0) + entry.site.waste
    for entry in spread:
        site = entry.site
        warning = entry.is_easy and site.ratio >= WARNING_RATIO and waste[entry.key] >= LARGE_SHARE * total
        cause = f"{cost_text(trace, requests, site, 'sectors')}, since {entry.reason}"
        yield waste_finding(
            trace, requests, site.requests, site.worst, KIND, warning=warning, cause=cause, remedy=entry.remedy,
            count=int(site.cost.sum()), key=entry.key,
        )  # fmt: skip


def _spread(
    trace: Trace, requests: Requests, site: SiteCosts, steps: dict[tuple[int, int], Steps]
) -> _Spread:  # fmt: skip
    """Find the reason why the elements of a site lie apart, and its remedy."""
    number = int(requests.buffer[site.worst])
    buffer, regular = trace.buffers[number], is_regular(trace, requests, site)
    touch = f"touch {_distance_text(buffer, _byte_offsets(trace, requests, site.worst))}"
    site_steps = steps.get((int(requests.site[site.worst]), number))
    if site_steps is not None and site_steps.is_swapped and are_swapped(steps):
        reason = f"the lanes of a warp, of which each has another threadIdx.x, {touch}"
        return _Spread(site, reason, axes_remedy(trace, buffer), True, "axes")
    if (
        site_steps is not None
        and site_steps.is_swapped
        and site_steps.along_y
        and _is_transposed(requests, site, steps)
    ):
        return _Spread(site, f"the lanes of a warp {touch}", THROUGH_TILE, True, THROUGH_TILE)
    narrow = trace.block_dim[0] < WARP and site_steps is not None and abs(site_steps.along_x) == 1
    if narrow and site.ratio * trace.block_dim[0] <= WARP:
        reason = (
            f"a warp is {min(WARP, trace.threads) // trace.block_dim[0]} rows of {trace.block_dim[0]} threads, each in "
            f"its own row of {buffer.name}"
        )
        return _Spread(site, reason, WIDER, False, WIDER)
    wastes_much = site.waste >= FULL * len(site.requests)
    if _is_field(buffer):
        is_easy = regular and wastes_much and not _fields_used(trace, number)
        return _Spread(
            site, f"the lanes of a warp {touch}", APART, is_easy, f"{APART} {buffer.name.partition('.')[0]}"
        )
    remedy = NEIGHBOURS if regular else IN_ORDER
    full_remedy = f"{remedy}{_transposed_text(trace, requests, site)}" if regular else remedy
    return _Spread(site, f"the lanes of a warp {touch}", full_remedy, regular and wastes_much, remedy)


def _transposed_text(trace: Trace, requests: Requests, site: SiteCosts) -> str:
    """Propose a transposed array if each thread goes along its own row; "" otherwise."""
    buffer = trace.buffers[int(requests.buffer[site.worst])]
    steps = np.unique(np.diff(np.unique(trace.index[rows_of(requests, site.worst)].astype(np.int64))))
    rows = [stride // buffer.unit for stride in buffer.strides[:-1]]
    is_row = len(steps) == 1 and int(steps[0]) in rows and abs(buffer.strides[-1]) == buffer.unit
    return f", as where {buffer.name} is stored transposed" if is_row else ""


def _is_transposed(requests: Requests, site: SiteCosts, steps: dict[tuple[int, int], Steps]) -> bool:
    """Check whether another site takes its elements along x that this site takes along y."""
    own_key = int(requests.site[site.worst]), int(requests.buffer[site.worst])
    return any(other.is_right and other.along_x for key, other in steps.items() if key != own_key)


def _misaligned(trace: Trace, requests: Requests, site: SiteCosts, buffer: Buffer) -> Finding:
    """Describe a site whose rows begin within a sector."""
    cause = (
        f"{cost_text(trace, requests, site, 'sectors')}, since rows of {buffer.name} begin within a sector"
    )
    remedy = f"make them a multiple of {SECTOR} bytes long"
    return waste_finding(
        trace, requests, site.requests, site.worst, KIND, warning=False, cause=cause, remedy=remedy,
        count=int(site.cost.sum()), key=f"rows of {buffer.name}",
    )  # fmt: skip


def _is_field(buffer: Buffer) -> bool:
    return buffer.unit > buffer.itemsize


def _fields_used(trace: Trace, number: int) -> bool:
    """Check whether a buffer is a field of records of which the launch uses half or more."""
    field = trace.buffers[number]
    used_sizes = [
        b.itemsize for b, ops in zip(trace.buffers, trace.access_counts, strict=True)
        if (b.space, b.unit) == ("global", field.unit) and abs(b.address - field.address) < b.unit and ops.any()
    ]  # fmt: skip
    return _is_field(field) and 2 * sum(used_sizes) >= field.unit


def _byte_offsets(trace: Trace, requests: Requests, request: int) -> Ints:
    """Compute the byte offsets of a request's elements from the start of their buffer, ascending."""
    index = np.unique(trace.index[rows_of(requests, request)].astype(np.int64))
    return index * trace.buffers[int(requests.buffer[request])].unit


def _runs(starts: Ints, gap: int) -> tuple[Ints, Ints]:
    """Return the offsets of the first and the last element of each run; runs lie `gap` bytes or more apart."""
    cuts = np.flatnonzero(np.diff(starts) >= gap) + 1
    return starts[np.concatenate(([0], cuts))], starts[np.concatenate((cuts - 1, [-1]))]


def _aligned_sectors(buffer: Buffer, starts: Ints) -> int:
    """Count the sectors that a request would cost if every run of its elements began with a sector."""
    first, last = _runs(starts, SECTOR + buffer.itemsize)
    return requests_each(buffer) * int(minimum_sectors(last - first + buffer.itemsize).sum())


def _distance_text(buffer: Buffer, starts: Ints) -> str:
    """Describe the distances between the elements of the lanes."""
    gaps = np.unique(np.diff(starts))
    if len(gaps) == 1:
        return f"elements {int(gaps[0]):,} bytes apart"
    first, last = _runs(starts, buffer.itemsize + 1)
    lengths, gaps = np.unique(last - first), np.unique(np.diff(first))
    if len(lengths) == len(gaps) == 1:
        return f"pieces of {int(lengths[0]) + buffer.itemsize} bytes, {int(gaps[0]):,} bytes apart"
    return "elements far from each other"


def _rows_mend(buffer: Buffer, starts: Ints, wanted: int) -> bool:
    """Check whether aligned rows would make a request as cheap as wanted."""
    for pitch in buffer.strides[:-1]:
        if pitch > 0 and pitch % SECTOR:
            row, within = np.divmod(starts, pitch)
            first = row * (pitch + -pitch % SECTOR) + within
            sectors = np.unique(np.concatenate((first, first + buffer.itemsize - 1)) // SECTOR)
            if requests_each(buffer) * len(sectors) <= wanted:
                return True
    return False
