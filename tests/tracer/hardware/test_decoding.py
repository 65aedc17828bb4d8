"""Clocks and marks as a GPU would have written them: onto one axis, and into the columns of a timeline."""

from __future__ import annotations

import numpy as np
import pytest

from tilescope.tracer.hardware.marks.calibration import CalibrationError, calibrate
from tilescope.tracer.hardware.marks.decoding import (
    WARP_ROW,
    WRAP,
    WRITTEN_ROW,
    DamagedMarksError,
    Warps,
    chosen_blocks,
    counts_of,
    segments_of,
    spans_of,
    warps_at_once,
    with_complete_clocks,
)
from tilescope.tracer.hardware.marks.marking import Mark
from tilescope.tracer.hardware.timeline import SEGMENT_KINDS, BlockSpans

RATE = 1.755  # cycles a nanosecond
OFFSETS = np.array([5_000_000, 9_123_456_789, 77])  # what each multiprocessor's clock shows at time 0
READING = 40  # cycles that one look at clock and timer takes
TIMER = 1_700_000_000_000_000_000


def clock(multiprocessor, time):
    return np.rint(OFFSETS[multiprocessor] + RATE * time).astype(np.int64)


def pairs(start, random, step=32, count=16):
    """Simulate the readings of three multiprocessors, late by up to one reading, and of a missing one."""
    results = np.zeros((4, count, 2), np.uint64)
    for number in range(3):
        ticks = start + step * np.arange(1, count + 1)
        late = random.integers(0, READING, count)
        results[number, :, 0] = clock(number, ticks) + late
        results[number, :, 1] = TIMER + ticks
    return results


@pytest.fixture
def clocks():
    random = np.random.default_rng(7)
    return calibrate(pairs(0, random), pairs(64_000, random))


def test_clocks_that_began_at_other_times_agree_to_one_reading(clocks):
    assert clocks.resolution == 32
    assert clocks.mhz == pytest.approx(1000 * RATE, rel=1e-3)
    for time in (1_000, 30_000, 63_000):
        times = clocks.times(np.arange(3), clock(np.arange(3), time))
        assert np.ptp(times) < READING / RATE
        assert times == pytest.approx(time - 32, abs=READING / RATE)


def test_clocks_that_can_not_be_compared_are_refused():
    random = np.random.default_rng(7)
    with pytest.raises(CalibrationError, match="No multiprocessor"):
        calibrate(np.zeros((4, 16, 2), np.uint64), np.zeros((4, 16, 2), np.uint64))
    with pytest.raises(CalibrationError, match="backwards"):
        calibrate(pairs(64_000, random), pairs(0, random))


TABLE = [
    Mark("other", 3, 4),
    Mark("load", 5, 6),
    Mark("wait", 7, 7, True),
    Mark("compute", 8, 9),
]


def launch(ways, warps_of_block=2, first=1_000):
    """Return rows and marks of warps that go each its way: ((cycles after its start, mark), ...) and a length."""
    blocks = len(ways) // warps_of_block
    rows = np.zeros((blocks, warps_of_block), WARP_ROW)
    most = max(len(way) for way, _ in ways)
    marks = np.zeros((len(ways), most, 2), np.uint32)
    for number, (way, length) in enumerate(ways):
        block, warp = divmod(number, warps_of_block)
        start = WRAP - 500 + clock(block % 3, first) + 10 * warp
        rows[block, warp] = (start, start + length, block % 3, number * 64 + len(way))
        for place, (after, mark) in enumerate(way):
            marks[number, place] = ((start + after) % WRAP, mark)
    return Warps(rows), marks, np.array([len(way) for way, _ in ways])


def test_marks_become_segments_without_gaps_also_when_half_a_clock_restarts():
    way = [(100, 1), (400, 2), (700, 3), (1000, 1), (1100, 2), (1300, 3)]
    warps, marks, counts = launch([(way, 1500), (way[:3], 1200)])
    assert (counts_of(warps.rows, 64) == [[6, 3]]).all()
    results = segments_of(warps, np.array([0]), marks, counts, TABLE)
    kinds = [SEGMENT_KINDS[k] for k in results.kind[:7]]
    assert kinds == ["other", "load", "wait", "compute", "load", "wait", "compute"]
    assert results.start[:7].tolist() == [0, 100, 400, 700, 1000, 1100, 1300]
    assert results.end[:7].tolist() == [100, 400, 700, 1000, 1100, 1300, 1500]
    assert results.phase[:7].tolist() == [0, 0, 0, 1, 1, 1, 2]
    assert results.warp.tolist() == [0] * 7 + [1] * 4
    assert results.start[7:].tolist() == [10, 110, 410, 710]  # from the start of the block's first warp
    assert results.end[-1] == 1210
    assert results.phase[7:].tolist() == [0, 0, 0, 1]
    assert results.first_line[:4].tolist() == [3, 5, 7, 8]


def test_an_unknown_mark_is_refused():
    warps, marks, counts = launch([([(10, 9)], 20), ([], 20)])
    with pytest.raises(DamagedMarksError, match="a number that is not in the kernel"):
        segments_of(warps, np.array([0]), marks, counts, TABLE)


def test_a_clock_that_goes_backwards_is_refused():
    warps, marks, counts = launch([([(30, 1)], 20), ([], 20)])
    with pytest.raises(DamagedMarksError, match="backwards"):
        segments_of(warps, np.array([0]), marks, counts, TABLE)


def test_spans_are_nanoseconds_from_the_first_start(clocks):
    warps, *_ = launch([([], 1755), ([], 1755)] * 3)
    warps.rows["start"] -= WRAP - 500
    warps.rows["end"] -= WRAP - 500
    spans = spans_of(warps, clocks)
    assert spans.start.min() == 0 and spans.start.max() < READING
    assert spans.end - spans.start == pytest.approx(1006, abs=2)  # the second warp starts 10 cycles later
    assert spans.multiprocessor.tolist() == [0, 1, 2]


def test_a_block_on_two_multiprocessors_is_refused(clocks):
    warps, *_ = launch([([], 100), ([], 100)])
    warps.rows["multiprocessor"][0, 1] = 2
    with pytest.raises(DamagedMarksError, match="different multiprocessors"):
        spans_of(warps, clocks)


def test_of_a_large_launch_the_first_blocks_of_the_first_multiprocessors_have_segments():
    number = np.arange(12)
    spans = BlockSpans((number % 4).astype(np.uint16), number // 4 * 100, number // 4 * 100 + 90)
    assert chosen_blocks(spans, np.full(12, 10), 2, 120).tolist() == list(range(12))
    written = np.where(number % 4 < 2, 10, 0)
    assert chosen_blocks(spans, written, 2, 1000).tolist() == [0, 1, 4, 5, 8, 9]
    assert chosen_blocks(spans, written, 2, 45).tolist() == [0, 1, 4, 5]
    assert chosen_blocks(spans, written, 2, 3).tolist() == [0]


def test_half_clocks_become_complete_clocks_after_the_first_reading(clocks):
    written = np.zeros((3, 1), WRITTEN_ROW)
    start, number = clock(np.arange(3), 40_000) + WRAP - 200_000, np.arange(3)
    written["start"][:, 0], written["end"][:, 0] = start % WRAP, (start + 60_000) % WRAP
    written["multiprocessor"][:, 0] = number
    rows = with_complete_clocks(written, clocks).rows[:, 0]
    assert rows["start"].tolist() == start.tolist()
    assert (rows["end"] - rows["start"]).tolist() == [60_000] * 3


def test_warps_at_once_are_counted_on_each_multiprocessor(clocks):
    warps, *_ = launch([([], 100), ([], 1755)] * 6)
    assert warps_at_once(warps) == 4  # two blocks on each of three multiprocessors
    warps.rows["start"][3:] += 500
    warps.rows["end"][3:] += 500
    assert warps_at_once(warps) == 3  # a warp of the second block has ended


def test_warps_without_marks_or_with_too_many_are_reported():
    rows = np.zeros((1, 3), WRITTEN_ROW)
    rows["at"] = [[5, 64 + 70, (1 << 31) + 2]]
    assert counts_of(rows, 64).tolist() == [[5, 70, -1]]
