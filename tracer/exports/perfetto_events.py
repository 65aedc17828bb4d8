"""What of a launch a Perfetto trace shows: tracks, slices on them, and counters; as columns, in no format yet."""

from __future__ import annotations

from typing import Literal

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from ..analysis.requests import Requests
from ..analysis.warp_exchanges import WarpExchanges
from ..model.array_types import Ints
from ..model.trace import Trace
from .waits import waits_of

SliceKind = Literal["launch", "phase", "request", "exchange", "wait"]
LAUNCH, SECTORS, WAVEFRONTS = 1, 2, 3  # tracks
FIRST_BLOCK = 16  # the track of the first block: its counter of sectors and its warps follow it


class Slices(Struct, frozen=True, eq=False):
    """Slices of one kind: columns of shape (slices,). One is drawn from moment `begin` to before moment `end`."""

    kind: SliceKind
    track: Ints  # its number
    begin: Ints  # moment
    end: Ints  # moment
    row: Ints  # of what it shows: a phase's number, or a place in `requests`, `exchanges` or sites


class Counter(Struct, frozen=True, eq=False):
    """How counters change: columns of shape (changes,). From that moment on a counter's value is another."""

    track: Ints  # its number
    moment: Ints
    value: Ints


def tracks_each(trace: Trace) -> int:
    """Return how many tracks a block has."""
    return 2 + trace.warps


def block_track(trace: Trace, block: Ints) -> Ints:
    """Return the track of each of some blocks (indices in the trace's `blocks`)."""
    return FIRST_BLOCK + block * tracks_each(trace)


def warp_track(trace: Trace, block: Ints, warp: Ints) -> Ints:
    """Return the track of each of some warps of blocks (indices in the trace's `blocks`)."""
    return block_track(trace, block) + 2 + warp


def slices_of(trace: Trace, requests: Requests) -> list[Slices]:
    """Return all slices of a launch: those of one track never overlap."""
    waits, swaps = waits_of(trace, requests), requests.exchanges
    one = np.ones(1, np.int64)
    track = warp_track(trace, waits.block, waits.warp)
    return [
        Slices("launch", one * LAUNCH, one, one * (requests.end + 1), one * 0),
        _phases(trace, requests),
        _at_moments("request", trace, requests),
        _at_moments("exchange", trace, swaps),
        Slices("wait", track, waits.first, waits.last + 1, waits.site),
    ]


def _at_moments(kind: SliceKind, trace: Trace, made: Requests | WarpExchanges) -> Slices:
    track = warp_track(trace, trace.block_positions(made.block), made.warp)
    return Slices(kind, track, made.moment, made.moment + 1, np.arange(len(made)))


def _phases(trace: Trace, requests: Requests) -> Slices:
    block, phase = np.nonzero(requests.span_start < requests.span_end)
    begin, end = requests.span_start[block, phase] + 1, requests.span_end[block, phase] + 1
    return Slices("phase", block_track(trace, block), begin, end, phase)


def counters_of_moments(trace: Trace, requests: Requests) -> Counter:
    """Return the sectors and wavefronts of each moment of the launch, and the sectors of each block's."""
    block = trace.block_positions(requests.block)
    return _joined(
        [
            _changes(np.full(len(requests), SECTORS), requests.moment, requests.sectors, requests.end),
            _changes(np.full(len(requests), WAVEFRONTS), requests.moment, requests.wavefronts, requests.end),
            _changes(block_track(trace, block) + 1, requests.moment, requests.sectors, requests.end),
        ]
    )


def _changes(track: Ints, moment: Ints, amount: NDArray[np.int64], end: int) -> Counter:
    """Return how the sums of amounts at each moment change, from moment to moment, on each track."""
    key, place = np.unique(track * (end + 2) + moment, return_inverse=True)
    sums = np.zeros(len(key), np.int64)
    np.add.at(sums, place, amount)
    after = np.setdiff1d(key + 1, key)  # a moment without any
    keys = np.concatenate([key, after])
    order = np.argsort(keys, kind="stable")
    keys, values = keys[order], np.concatenate([sums, np.zeros(len(after), np.int64)])[order]
    tracks = keys // (end + 2)
    new = np.ones(len(keys), bool)
    new[1:] = (values[1:] != values[:-1]) | (tracks[1:] != tracks[:-1])
    return Counter(tracks[new], keys[new] % (end + 2), values[new])


def _joined(parts: list[Counter]) -> Counter:
    columns = ([getattr(part, name) for part in parts] for name in ("track", "moment", "value"))
    return Counter(*map(np.concatenate, columns))


END, COUNT, BEGIN = range(3)  # of a slice, of a counter: in this order where they come at one moment


def in_time(slices: list[Slices], counter: Counter) -> NDArray[np.int64]:
    """Return all that happens as rows (moment, one of END COUNT BEGIN, place in `slices`, track, row or value)."""
    tables = [_table(counter.moment, COUNT, 0, counter.track, counter.value)]
    for number, some in enumerate(slices):
        tables.append(_table(some.begin, BEGIN, number, some.track, some.row))
        tables.append(_table(some.end, END, number, some.track, some.row))
    table = np.concatenate(tables)
    return table[np.lexsort((table[:, 3], table[:, 1], table[:, 0]))]


def _table(moment: Ints, what: int, number: int, track: Ints, row: Ints) -> NDArray[np.int64]:
    same = np.ones(len(moment), np.int64)
    return np.column_stack([moment, same * what, same * number, track, row])
