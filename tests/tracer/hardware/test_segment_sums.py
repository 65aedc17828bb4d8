"""Sums of segments, compared with manual sums and with sums over each segment."""

import numpy as np
import pytest

from gpu_timelines import CYCLES, synthetic_timeline
from sessions import matmul
from tilescope.tracer.hardware.segment_sums import kind_cycles, phase_spans
from tilescope.tracer.hardware.timeline import SEGMENT_KINDS, Segments

LOAD, COMPUTE, WAIT = map(SEGMENT_KINDS.index, ("load", "compute", "wait"))
# block, warp, kind, phase, start, end: warp 1 of block 7 leaves phase 0 earlier, and has no phase 1.
ROWS = (
    (2, 0, LOAD, 0, 0, 10), (2, 0, WAIT, 0, 10, 12), (2, 0, COMPUTE, 1, 12, 20), (2, 0, LOAD, 1, 20, 23),
    (7, 0, LOAD, 0, 0, 30), (7, 0, COMPUTE, 3, 30, 31),
    (7, 1, LOAD, 0, 4, 9),
)  # fmt: skip


def segments(rows=ROWS):
    block, warp, kind, phase, start, end = np.array(rows, np.int64).reshape(-1, 6).T
    line = np.ones(len(block), np.uint16)
    return Segments(
        block.astype(np.uint32), warp.astype(np.uint8), kind.astype(np.uint8), line, line,
        phase.astype(np.uint16), start, end,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("rows", "sums"),
    [
        (slice(None), {"load": 10 + 3 + 30 + 5, "compute": 9, "wait": 2}),
        (slice(0, 4), {"load": 13, "compute": 8, "wait": 2}),
        (np.array([4, 6]), {"load": 35}),
        (slice(0, 0), {}),
    ],
)
def test_cycles_add_up_by_kind(rows, sums):
    assert kind_cycles(segments(), rows) == sums


def test_a_phase_lasts_from_its_first_warp_to_its_last():
    spans = phase_spans(segments(), slice(0, 4))
    assert (spans.phase.tolist(), spans.start.tolist(), spans.end.tolist()) == ([0, 1], [0, 12], [12, 23])


def test_a_phase_that_no_warp_had_is_left_out():
    spans = phase_spans(segments(), slice(4, 7))
    assert (spans.phase.tolist(), spans.start.tolist(), spans.end.tolist()) == ([0, 3], [0, 30], [30, 31])
    assert len(phase_spans(segments(), slice(2, 2)).phase) == 0


def test_nothing_of_a_launch_is_lost():
    results = synthetic_timeline(matmul(m=32, k=32, n=32).trace, {}).segments
    sums = kind_cycles(results)
    assert sum(sums.values()) == (results.end - results.start).sum()
    assert set(sums) == set(CYCLES)
    own = np.flatnonzero(results.block == 1)
    spans = phase_spans(results, own)
    assert spans.end.max() == results.end[own].max()
    assert spans.phase.tolist() == np.unique(results.phase[own]).tolist()
