"""The events of a launch in a Perfetto trace: tracks, their slices, and counters; as columns, in no format yet."""

from __future__ import annotations

from typing import Literal

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from ..analysis.requests import Requests
from ..analysis.warp_exchanges import WarpExchanges
from ..model.array_types import AnyInts, Ints
from ..model.trace import WARP, Trace

SliceKind = Literal["launch", "phase", "request", "exchange", "wait"]
LAUNCH, SECTORS, WAVEFRONTS = 1, 2, 3  # tracks
FIRST_BLOCK = 16  # the track of the first block: its counter of sectors and its warps follow it


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


class Slices(Struct, frozen=True, eq=False):
    """Slices of one kind: columns of shape (slices,). Each lasts from moment `begin` until before moment `end`."""

    kind: SliceKind
    track: Ints  # its number
    begin: Ints  # moment
    end: Ints  # moment
    row: Ints  # a phase's number, or an index in `requests`, `exchanges` or sites


class Counter(Struct, frozen=True, eq=False):
    """Changes of counters: columns of shape (changes,). The value holds from its moment on."""

    track: Ints  # its number
    moment: Ints
    value: Ints


def tracks_each(trace: Trace) -> int:
    """Count the tracks of a block."""
    return 2 + trace.warps


def block_track(trace: Trace, block: Ints) -> Ints:
    """Return the tracks of blocks (indices in the trace's `blocks`)."""
    return FIRST_BLOCK + block * tracks_each(trace)


def warp_track(trace: Trace, block: Ints, warp: Ints) -> Ints:
    """Return the tracks of warps of blocks (indices in the trace's `blocks`)."""
    return block_track(trace, block) + 2 + warp


def slices_of(trace: Trace, requests: Requests) -> list[Slices]:
    """List all slices of a launch: those of one track never overlap."""
    waits, exchanges = waits_of(trace, requests), requests.exchanges
    unit = np.ones(1, np.int64)
    track = warp_track(trace, waits.block, waits.warp)
    return [
        Slices("launch", unit * LAUNCH, unit, unit * (requests.end + 1), unit * 0),
        _phases(trace, requests),
        _at_moments("request", trace, requests),
        _at_moments("exchange", trace, exchanges),
        Slices("wait", track, waits.first, waits.last + 1, waits.site),
    ]


def _at_moments(kind: SliceKind, trace: Trace, events: Requests | WarpExchanges) -> Slices:
    track = warp_track(trace, trace.block_positions(events.block), events.warp)
    return Slices(kind, track, events.moment, events.moment + 1, np.arange(len(events)))


def _phases(trace: Trace, requests: Requests) -> Slices:
    block, phase = np.nonzero(requests.span_start < requests.span_end)
    begin, end = requests.span_start[block, phase] + 1, requests.span_end[block, phase] + 1
    return Slices("phase", block_track(trace, block), begin, end, phase)


def counters_of_moments(trace: Trace, requests: Requests) -> Counter:
    """Compute the sectors and wavefronts of each moment of the launch, and the sectors of each block's."""
    block = trace.block_positions(requests.block)
    return _joined(
        [
            _changes(np.full(len(requests), SECTORS), requests.moment, requests.sectors, requests.end),
            _changes(np.full(len(requests), WAVEFRONTS), requests.moment, requests.wavefronts, requests.end),
            _changes(block_track(trace, block) + 1, requests.moment, requests.sectors, requests.end),
        ]
    )


def _changes(track: Ints, moment: Ints, amount: NDArray[np.int64], end: int) -> Counter:
    """Sum the amounts at each moment, and list the changes of the sums on each track."""
    key, inverse = np.unique(track * (end + 2) + moment, return_inverse=True)
    sums = np.zeros(len(key), np.int64)
    np.add.at(sums, inverse, amount)
    after = np.setdiff1d(key + 1, key)  # moments without an amount
    keys = np.concatenate([key, after])
    order = np.argsort(keys, kind="stable")
    keys, values = keys[order], np.concatenate([sums, np.zeros(len(after), np.int64)])[order]
    tracks = keys // (end + 2)
    is_change = np.ones(len(keys), bool)
    is_change[1:] = (values[1:] != values[:-1]) | (tracks[1:] != tracks[:-1])
    return Counter(tracks[is_change], keys[is_change] % (end + 2), values[is_change])


def _joined(parts: list[Counter]) -> Counter:
    columns = ([getattr(part, name) for part in parts] for name in ("track", "moment", "value"))
    return Counter(*map(np.concatenate, columns))


END, COUNT, BEGIN = range(3)  # events of slices and counters, in their order at one moment


def sort_events(slices: list[Slices], counter: Counter) -> NDArray[np.int64]:
    """List all events as rows (moment, one of END COUNT BEGIN, index in `slices`, track, row or value), in order."""
    tables = [_table(counter.moment, COUNT, 0, counter.track, counter.value)]
    for number, part in enumerate(slices):
        tables.append(_table(part.begin, BEGIN, number, part.track, part.row))
        tables.append(_table(part.end, END, number, part.track, part.row))
    table = np.concatenate(tables)
    return table[np.lexsort((table[:, 3], table[:, 1], table[:, 0]))]


def _table(moment: Ints, event: int, number: int, track: Ints, row: Ints) -> NDArray[np.int64]:
    same = np.ones(len(moment), np.int64)
    return np.column_stack([moment, same * event, same * number, track, row])
