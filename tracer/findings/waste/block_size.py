"""Blocks whose last warp is not full.

After "Thread and Block Heuristics" in the CUDA C++ Best Practices Guide.
"""

from __future__ import annotations

import math

import numpy as np

from ...model.finding import Finding, count_noun
from ...model.trace import WARP, Trace
from .site_costs import LARGE_SHARE

KIND = "block size"


def block_size_findings(trace: Trace) -> list[Finding]:
    """List the finding that the last warp of each block is not full.

    A warning where the launch's threads would fit in fewer warps.
    """
    idle = -trace.threads % WARP
    if not idle:
        return []
    blocks = math.prod(trace.grid)
    warps = blocks * trace.warps
    warning = warps - -(-blocks * trace.threads // WARP) >= LARGE_SHARE * warps
    remedy = f"use {trace.threads + idle} threads, a multiple of {WARP}"
    message = (
        f"{count_noun(idle, 'lane')} of the last warp of each block {'has' if idle == 1 else 'have'} no thread, since "
        f"a block has {count_noun(trace.threads, 'thread')}; {remedy}."
    )
    severity = "warning" if warning else "note"
    return [Finding(KIND, severity, message, remedy, idle, (), np.empty(0, np.int64), (), (), 0)]
