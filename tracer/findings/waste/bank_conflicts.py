"""Sites whose lanes want different words of one bank.

After "Shared Memory and Memory Banks" in the CUDA C++ Best Practices Guide.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ...analysis.minimum_cost import RequestCosts, plain_global
from ...analysis.request_cost import passes_of
from ...analysis.requests import Requests
from ...model.array_types import Mask
from ...model.finding import Finding, counted
from ...model.trace import WARP, Op, Trace
from .site_costs import (
    REPORTED_RATIO,
    SAMPLED,
    SiteCosts,
    carry_text,
    in_source,
    is_regular,
    per_site,
    rows_of,
    waste_finding,
)
from .thread_axes import are_swapped, steps_of

LONGER = 8  # elements that a row may become longer to mend its conflicts
KIND = "bank conflict"
NEIGHBOURS = "let neighbouring threads touch neighbouring words"


def bank_conflict_findings(trace: Trace, requests: Requests, costs: RequestCosts) -> Iterator[Finding]:
    """Return the sites whose lanes want different words of one bank."""
    passes, total = costs.minimum_wavefronts, int(costs.wavefronts.sum())
    # Of a library's function just the atomics: these are calls that the line itself makes.
    wanted = (passes > 0) & (in_source(trace, requests) | (requests.op > Op.STORE))
    by_buffer: dict[int, list[SiteCosts]] = {}
    for site in per_site(requests, wanted, costs.wavefronts, passes, passes):
        by_buffer.setdefault(int(requests.buffer[site.worst]), []).append(site)
    swapped = _swapped(trace, requests, wanted)
    for together in by_buffer.values():
        reported = [
            site
            for site in together
            if site.is_reported(total)
            and (int(requests.site[site.worst]), int(requests.buffer[site.worst])) not in swapped
        ]
        longer = _longer_rows(trace, requests, together, total) if reported else 0
        for site in reported:
            carried = carry_text(trace, requests, site, "wavefronts")
            cause = f"{carried}, since lanes of a warp touch different words of one bank"
            remedy, easy = _remedy(trace, requests, site, longer)
            yield waste_finding(
                trace, requests, site.requests, site.worst, KIND, warning=easy and site.deserves_warning(total),
                cause=cause, remedy=remedy, count=int(site.cost.sum()),
                key=trace.buffers[int(requests.buffer[site.worst])].name,
            )  # fmt: skip


def _swapped(trace: Trace, requests: Requests, wanted: Mask) -> set[tuple[int, int]]:
    """Return the (site, buffer) that gain too where x and y change places, which global memory is told to need."""
    if not are_swapped(steps_of(trace, requests, plain_global(trace, requests))):
        return set()
    return {key for key, steps in steps_of(trace, requests, wanted).items() if steps.is_swapped}


def _remedy(trace: Trace, requests: Requests, site: SiteCosts, more: int) -> tuple[str, bool]:
    """Return what would mend the worst request of a site, and whether that is worth a warning.

    more: elements by which longer rows mend the sites of the buffer, 0 where they don't.
    """
    buffer = trace.buffers[int(requests.buffer[site.worst])]
    if requests.op[site.worst] > Op.STORE or not _follows_threads(trace, requests, site):
        # Which words they are the data say: only a bank for each lane keeps them apart.
        return f"give each lane a copy of its own, in a bank of its own, as in {buffer.name}[i, lane]", False
    index = trace.index[rows_of(requests, site.worst)].astype(np.int64)
    longer = f"make each row of {buffer.name} {counted(more, 'element')} longer, or " if more else ""
    if 4 * np.count_nonzero(np.diff(np.unique(index)) == 1) < 3 * len(index):
        return longer + NEIGHBOURS, True
    return f"{longer}let each warp stay in one row of {buffer.name}", False


def _follows_threads(trace: Trace, requests: Requests, site: SiteCosts) -> bool:
    """Return whether which words lanes touch follows from their numbers: alike each time, or at even distances."""
    if is_regular(trace, requests, site):
        return True
    some = site.requests[:: -(-len(site.requests) // SAMPLED)]
    index = [np.unique(trace.index[rows_of(requests, one)].astype(np.int64)) for one in some.tolist()]
    return all(len(np.unique(np.diff(one))) <= 1 for one in index)


def _longer_rows(trace: Trace, requests: Requests, sites: list[SiteCosts], total: int) -> int:
    """Return how many elements longer each row of a buffer must be so that its sites cost about the minimum.

    0 if no few do for the worst requests of all sites that are reported, or all sites together would cost no less.
    """
    buffer = trace.buffers[int(requests.buffer[sites[0].worst])]
    if len(buffer.shape) < 2 or buffer.unit != buffer.itemsize:
        return 0
    known = [site for site in sites if _follows_threads(trace, requests, site)]
    now = sum(_passes(trace, requests, site, 0) * len(site.requests) for site in known)
    for more in range(1, LONGER + 1):
        passes = [_passes(trace, requests, site, more) for site in known]
        mended = all(
            p < REPORTED_RATIO * site.minimum[np.argmax(site.cost - site.mended)]
            for p, site in zip(passes, known, strict=True)
            if site.is_reported(total)
        )
        if mended and sum(p * len(site.requests) for p, site in zip(passes, known, strict=True)) < now:
            return more
    return 0


def _passes(trace: Trace, requests: Requests, site: SiteCosts, more: int) -> int:
    """Return the wavefronts of the worst request of a site, with rows that are some elements longer."""
    buffer = trace.buffers[int(requests.buffer[site.worst])]
    rows = rows_of(requests, site.worst)
    index, lane = trace.index[rows].astype(np.int64), trace.thread[rows].astype(np.int64) % WARP
    return passes_of(index + more * (index // buffer.shape[-1]), lane, buffer.itemsize)
