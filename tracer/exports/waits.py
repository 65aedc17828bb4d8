"""The waits of a launch: from a warp's last request of a phase to the end of that phase, before a barrier."""

from __future__ import annotations

import numpy as np
from msgspec import Struct

from ..analysis.requests import Requests
from ..model.array_types import AnyInts, Ints
from ..model.trace import WARP, Trace


class Waits(Struct, frozen=True, eq=False):
    """What warps wait at barriers: columns of shape (waits,). One is made of moments first <= m <= last."""

    block: Ints  # index in the trace's `blocks`
    warp: Ints  # number in the block
    phase: Ints  # that the barrier ends
    site: Ints  # of the barrier, index in the trace's `sites`
    first: Ints  # moment
    last: Ints  # moment


def waits_of(trace: Trace, requests: Requests) -> Waits:
    """Return the waits of a launch that take a moment or more, by block, warp and phase."""
    barriers, phases = trace.barriers, requests.span_end.shape[1]
    warps = trace.warps

    def key(block: AnyInts, warp: AnyInts, phase: AnyInts) -> Ints:
        found: Ints = (trace.block_positions(block) * warps + warp) * phases + phase
        return found

    known = barriers.phase < phases
    block, thread, phase, site = (
        c[known] for c in (barriers.block, barriers.thread, barriers.phase, barriers.site)
    )
    arrived, place = np.unique(key(block, thread // WARP, phase), return_index=True)
    rows, phase_of = np.divmod(arrived, phases)
    block_of, warp_of = np.divmod(rows, warps)
    before = requests.span_start[block_of, phase_of]
    for made in (requests, requests.exchanges):
        if len(made):
            _raise_to(before, arrived, key(made.block, made.warp, made.phase), made.moment)
    end = requests.span_end[block_of, phase_of]
    some = before < end
    found = (block_of, warp_of, phase_of, site[place].astype(np.int64), before + 1, end)
    return Waits(*(column[some] for column in found))


def _raise_to(before: Ints, arrived: Ints, key: Ints, moment: Ints) -> None:
    """Raise each entry of `before` to the moments of its key in `arrived`, which is ascending."""
    if not len(arrived):
        return
    place = np.minimum(np.searchsorted(arrived, key), len(arrived) - 1)
    mine = arrived[place] == key
    np.maximum.at(before, place[mine], moment[mine])
