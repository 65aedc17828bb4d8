"""Warp operations whose mask names a lane that never comes: on a GPU the warp hangs, or goes on undefined.

The CUDA C++ Programming Guide demands ("Warp Shuffle Functions", "Warp Vote Functions") that all threads
that a mask names, but those that have ended, execute the same operation with the same mask.
"""

from __future__ import annotations

import numpy as np

from .finding import Finding, counted, line_text, place_text
from .requests import Requests
from .trace import WARP, MissingLanes, Trace


def missing_lanes_findings(trace: Trace, requests: Requests) -> list[Finding]:
    """Return an error for each site of a warp operation that some lanes never came to."""
    sites = sorted({lost.site for lost in trace.missing})
    return [_finding(trace, requests, [m for m in trace.missing if m.site == site]) for site in sites]


def _finding(trace: Trace, requests: Requests, lost: list[MissingLanes]) -> Finding:
    first = lost[0]
    lane = next(lane for lane in range(WARP) if first.missing >> lane & 1)
    thread, count = first.warp * WARP + lane, first.missing.bit_count()
    remedy = "let every lane that the mask names come here, or leave it out of the mask"
    message = (
        f"{counted(count, 'lane')} that the mask {first.mask:#010x} on {line_text(trace, first.site)} names never "
        f"{'comes' if count == 1 else 'come'}, first thread {place_text(thread, trace.block_dim)} of block "
        f"{place_text(first.block, trace.grid)}, so a GPU hangs or goes on with anything; {remedy}."
    )
    before = np.flatnonzero((trace.block == first.block) & (trace.step < first.step))
    moment = int(requests.moment[requests.request[before[-1]]]) if len(before) else 0
    return Finding(
        "barrier", "error", message, remedy, count, (first.site,), np.empty(0, np.int64), (),
        ((first.block, thread),), moment,
    )  # fmt: skip
