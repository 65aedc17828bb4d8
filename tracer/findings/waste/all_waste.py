"""Wasteful but right: sectors and wavefronts too many, idle lanes, elements loaded again and again, odd blocks.

A warning is what its author can mend, where it costs a tenth of the launch or more; a note is for the rest.
"""

from __future__ import annotations

import math

import numpy as np

from ...analysis.minimum_cost import request_costs_of
from ...analysis.requests import Requests
from ...model.finding import Finding, counted
from ...model.launch import decode, is_program
from ...model.trace import WARP, Trace
from .bank_conflicts import bank_conflicts
from .divergence import idle_lanes
from .reloads import reloaded
from .site_costs import SHARE
from .uncoalesced import uncoalesced


def waste_findings(trace: Trace, requests: Requests) -> list[Finding]:
    """Return what is right but wasteful on a GPU, as warnings and notes; a plain Python program has no lanes."""
    if trace.launch and is_program(decode(trace.launch)):
        return []
    if not len(trace):
        return block_size(trace)
    costs = request_costs_of(trace, requests)
    return [
        *uncoalesced(trace, requests, costs), *bank_conflicts(trace, requests, costs),
        *idle_lanes(trace, requests), *reloaded(trace, requests, costs), *block_size(trace),
    ]  # fmt: skip


def block_size(trace: Trace) -> list[Finding]:
    """Return the finding that the last warp of each block is not full ("Thread and Block Heuristics").

    A warning where the launch's threads would fit in fewer warps.
    """
    left = -trace.threads % WARP
    if not left:
        return []
    blocks = math.prod(trace.grid)
    warps = blocks * trace.warps
    much = warps - -(-blocks * trace.threads // WARP) >= SHARE * warps
    remedy = f"take {trace.threads + left} threads, a multiple of {WARP}"
    message = (
        f"{counted(left, 'lane')} of the last warp of each block {'has' if left == 1 else 'have'} no thread, since a "
        f"block has {counted(trace.threads, 'thread')}; {remedy}."
    )
    severity = "warning" if much else "note"
    return [Finding("block size", severity, message, remedy, left, (), np.empty(0, np.int64), (), (), 0)]
