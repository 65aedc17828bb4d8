"""Sites whose lanes want different words of one bank.

After "Shared Memory and Memory Banks" in the CUDA C++ Best Practices Guide.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ...analysis.minimum_cost import RequestCosts
from ...analysis.request_cost import BANKS, passes_of
from ...analysis.requests import Requests
from ...model.array_types import Ints
from ...model.finding import Finding, counted
from ...model.trace import Buffer, Op, Trace
from .site_costs import REPORTED_RATIO, SiteCosts, carry_text, is_regular, per_site, rows_of, waste_finding

KIND = "bank conflict"
NEIGHBOURS = "let neighbouring threads touch neighbouring words"


def bank_conflict_findings(trace: Trace, requests: Requests, costs: RequestCosts) -> Iterator[Finding]:
    """Return the sites whose lanes want different words of one bank."""
    passes, total = costs.minimum_wavefronts, int(costs.wavefronts.sum())
    for site in per_site(requests, passes > 0, costs.wavefronts, passes, passes):
        if site.is_reported(total):
            carried = carry_text(trace, requests, site, "wavefronts")
            cause = f"{carried}, since lanes of a warp touch different words of one bank"
            remedy, easy = _remedy(trace, requests, site)
            yield waste_finding(
                trace, requests, site.requests, site.worst, KIND, warning=easy and site.deserves_warning(total),
                cause=cause, remedy=remedy, count=int(site.cost.sum()),
                key=trace.buffers[int(requests.buffer[site.worst])].name,
            )  # fmt: skip


def _remedy(trace: Trace, requests: Requests, site: SiteCosts) -> tuple[str, bool]:
    """Return what would mend the worst request of a site, and whether that is worth a warning."""
    buffer = trace.buffers[int(requests.buffer[site.worst])]
    if requests.op[site.worst] > Op.STORE or not is_regular(trace, requests, site):
        # Which words they are the data say: only a bank for each lane keeps them apart.
        return f"give each lane a copy of its own, in a bank of its own, as in {buffer.name}[i, lane]", False
    index = trace.index[rows_of(requests, site.worst)].astype(np.int64)
    more = _longer_rows(buffer, index, int(site.minimum[np.argmax(site.cost - site.mended)]))
    longer = f"make each row of {buffer.name} {counted(more, 'element')} longer, or " if more else ""
    if 4 * np.count_nonzero(np.diff(np.unique(index)) == 1) < 3 * len(index):
        return longer + NEIGHBOURS, True
    return f"{longer}let each warp stay in one row of {buffer.name}", False


def _longer_rows(buffer: Buffer, index: Ints, minimum: int) -> int:
    """Return how many elements longer each row must be so that a request costs about the minimum; 0 if none."""
    if len(buffer.shape) < 2 or buffer.unit != buffer.itemsize:
        return 0
    row = index // buffer.shape[-1]
    enough = (
        more
        for more in range(1, BANKS)
        if passes_of(index + more * row, buffer.itemsize) < REPORTED_RATIO * minimum
    )
    return next(enough, 0)
