"""The waits of a launch: from a warp's last request of a phase to the end of that phase, before a barrier."""

from __future__ import annotations

import numpy as np
from msgspec import Struct

from ..analysis.requests import Requests
from ..model.array_types import AnyInts, Ints
from ..model.trace import WARP, Trace


class Waits(Struct, frozen=True, eq=False):
    """The waits of warps at barriers: columns of shape (waits,). Each lasts for the moments first <= m <= last."""

    block: Ints  # index in the trace's `blocks`
    warp: Ints  # number in the block
    phase: Ints  # that the barrier ends
    site: Ints  # of the barrier, index in the trace's `sites`
    first: Ints  # moment
    last: Ints  # moment


def waits_of(trace: Trace, requests: Requests) -> Waits:
    """Find the waits of a launch that last a moment or more, by block, warp and phase."""
    barriers, phases = trace.barriers, requests.span_end.shape[1]
    warps = trace.warps

    def key(block: AnyInts, warp: AnyInts, phase: AnyInts) -> Ints:
        key_values: Ints = (trace.block_positions(block) * warps + warp) * phases + phase
        return key_values

    has_span = barriers.phase < phases
    block, thread, phase, site = (
        column[has_span] for column in (barriers.block, barriers.thread, barriers.phase, barriers.site)
    )
    arrived, index = np.unique(key(block, thread // WARP, phase), return_index=True)
    rows, phase_of = np.divmod(arrived, phases)
    block_of, warp_of = np.divmod(rows, warps)
    last_busy = requests.span_start[block_of, phase_of]
    for events in (requests, requests.exchanges):
        if len(events):
            _raise_to(last_busy, arrived, key(events.block, events.warp, events.phase), events.moment)
    end = requests.span_end[block_of, phase_of]
    is_wait = last_busy < end
    key_values = (block_of, warp_of, phase_of, site[index].astype(np.int64), last_busy + 1, end)
    return Waits(*(column[is_wait] for column in key_values))


def _raise_to(before: Ints, arrived: Ints, key: Ints, moment: Ints) -> None:
    """Raise each entry of `before` to the moments of its key in `arrived`, which is ascending."""
    if not len(arrived):
        return
    position = np.minimum(np.searchsorted(arrived, key), len(arrived) - 1)
    matches = arrived[position] == key
    np.maximum.at(before, position[matches], moment[matches])
