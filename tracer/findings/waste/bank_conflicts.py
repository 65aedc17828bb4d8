"""Sites whose lanes request different words of one bank.

After "Shared Memory and Memory Banks" in the CUDA C++ Best Practices Guide.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ...analysis.minimum_cost import RequestCosts, plain_global
from ...analysis.request_cost import passes_of
from ...analysis.requests import Requests
from ...model.array_types import Mask
from ...model.finding import Finding, count_noun
from ...model.trace import WARP, Op, Trace
from .site_costs import (
    REPORTED_RATIO,
    SAMPLED,
    SiteCosts,
    cost_text,
    in_source,
    is_regular,
    per_site,
    rows_of,
    waste_finding,
)
from .thread_axes import are_swapped, steps_of

LONGER = 8  # elements by which a row may grow to mend its conflicts
KIND = "bank conflict"
NEIGHBOURS = "let neighbouring threads touch neighbouring words"


def bank_conflict_findings(trace: Trace, requests: Requests, costs: RequestCosts) -> Iterator[Finding]:
    """List the sites whose lanes request different words of one bank."""
    passes, total = costs.minimum_wavefronts, int(costs.wavefronts.sum())
    # Of a library function only the atomics count: the line itself makes these calls.
    wanted = (passes > 0) & (in_source(trace, requests) | (requests.op > Op.STORE))
    by_buffer: dict[int, list[SiteCosts]] = {}
    for site in per_site(requests, wanted, costs.wavefronts, passes, passes):
        by_buffer.setdefault(int(requests.buffer[site.worst]), []).append(site)
    swapped = _swapped(trace, requests, wanted)
    for buffer_sites in by_buffer.values():
        reported = [
            site
            for site in buffer_sites
            if site.is_reported(total)
            and (int(requests.site[site.worst]), int(requests.buffer[site.worst])) not in swapped
        ]
        longer = _longer_rows(trace, requests, buffer_sites, total) if reported else 0
        for site in reported:
            carried = cost_text(trace, requests, site, "wavefronts")
            cause = f"{carried}, since lanes of a warp touch different words of one bank"
            remedy, easy = _remedy(trace, requests, site, longer)
            yield waste_finding(
                trace, requests, site.requests, site.worst, KIND, warning=easy and site.deserves_warning(total),
                cause=cause, remedy=remedy, count=int(site.cost.sum()),
                key=trace.buffers[int(requests.buffer[site.worst])].name,
            )  # fmt: skip


def _swapped(trace: Trace, requests: Requests, wanted: Mask) -> set[tuple[int, int]]:
    """List the (site, buffer) that also gain if x and y change places, which a finding on global memory proposes."""
    if not are_swapped(steps_of(trace, requests, plain_global(trace, requests))):
        return set()
    return {key for key, steps in steps_of(trace, requests, wanted).items() if steps.is_swapped}


def _remedy(trace: Trace, requests: Requests, site: SiteCosts, more: int) -> tuple[str, bool]:
    """Choose the remedy for the worst request of a site, and whether it deserves a warning.

    more: elements by which longer rows mend the sites of the buffer, 0 if they don't.
    """
    buffer = trace.buffers[int(requests.buffer[site.worst])]
    if requests.op[site.worst] > Op.STORE or not _follows_threads(trace, requests, site):
        # The words depend on the data: only one bank per lane keeps the lanes apart.
        return f"give each lane its own copy in its own bank, as in {buffer.name}[i, lane]", False
    index = trace.index[rows_of(requests, site.worst)].astype(np.int64)
    longer = f"make each row of {buffer.name} {count_noun(more, 'element')} longer, or " if more else ""
    if 4 * np.count_nonzero(np.diff(np.unique(index)) == 1) < 3 * len(index):
        return longer + NEIGHBOURS, True
    return f"{longer}let each warp stay in one row of {buffer.name}", False


def _follows_threads(trace: Trace, requests: Requests, site: SiteCosts) -> bool:
    """Check whether the words that lanes touch follow from thread numbers: always equal, or at even distances."""
    if is_regular(trace, requests, site):
        return True
    sample = site.requests[:: -(-len(site.requests) // SAMPLED)]
    index = [
        np.unique(trace.index[rows_of(requests, request)].astype(np.int64)) for request in sample.tolist()
    ]
    return all(len(np.unique(np.diff(offsets))) <= 1 for offsets in index)


def _longer_rows(trace: Trace, requests: Requests, sites: list[SiteCosts], total: int) -> int:
    """Compute the elements to add to each row of a buffer so that its sites cost about the minimum.

    0 if no small number suffices for the worst requests of all reported sites, or all sites together cost no less.
    """
    buffer = trace.buffers[int(requests.buffer[sites[0].worst])]
    if len(buffer.shape) < 2 or buffer.unit != buffer.itemsize:
        return 0
    regular = [site for site in sites if _follows_threads(trace, requests, site)]
    current = sum(_passes(trace, requests, site, 0) * len(site.requests) for site in regular)
    for more in range(1, LONGER + 1):
        passes = [_passes(trace, requests, site, more) for site in regular]
        mended = all(
            count < REPORTED_RATIO * site.minimum[np.argmax(site.cost - site.mended)]
            for count, site in zip(passes, regular, strict=True)
            if site.is_reported(total)
        )
        if (
            mended
            and sum(count * len(site.requests) for count, site in zip(passes, regular, strict=True)) < current
        ):
            return more
    return 0


def _passes(trace: Trace, requests: Requests, site: SiteCosts, more: int) -> int:
    """Count the wavefronts of the worst request of a site, with rows that are `more` elements longer."""
    buffer = trace.buffers[int(requests.buffer[site.worst])]
    rows = rows_of(requests, site.worst)
    index, lane = trace.index[rows].astype(np.int64), trace.thread[rows].astype(np.int64) % WARP
    return passes_of(index + more * (index // buffer.shape[-1]), lane, buffer.itemsize)
