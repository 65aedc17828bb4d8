"""Simultaneous blocks on multiprocessors, compared with counts at every moment."""

import random

import numpy as np
import pytest

from tilescope.tracer.hardware.block_lanes import block_lanes
from tilescope.tracer.hardware.timeline import BlockSpans


def spans(rows):
    machine, start, end = np.array(rows, np.int64).reshape(-1, 3).T
    return BlockSpans(machine.astype(np.uint16), start, end)


def test_waves_fill_the_same_lanes():
    lanes = block_lanes(spans([(0, 0, 10), (0, 0, 10), (3, 0, 10), (0, 10, 20), (0, 12, 20)]))
    assert lanes.lane.tolist() == [0, 1, 0, 0, 1]
    assert lanes.wave.tolist() == [0, 0, 0, 1, 1]
    assert (lanes.concurrent_blocks, lanes.waves) == (2, 2)


def test_the_lowest_lane_that_is_free_is_taken():
    lanes = block_lanes(spans([(0, 0, 5), (0, 0, 30), (0, 6, 9), (0, 7, 9)]))
    assert lanes.lane.tolist() == [0, 1, 0, 2]


def test_clocks_that_are_off_by_their_resolution_add_no_block():
    early = [(0, 0, 1000), (0, 980, 2000)]
    assert block_lanes(spans(early)).concurrent_blocks == 2
    assert block_lanes(spans(early), resolution=32).concurrent_blocks == 1
    short = [(0, 0, 40), (0, 0, 40), (0, 10, 50)]  # half a block long is no matter of resolution
    assert block_lanes(spans(short), resolution=1000).concurrent_blocks == 3


def test_without_blocks_there_is_no_lane():
    lanes = block_lanes(spans([]))
    assert (lanes.concurrent_blocks, lanes.waves) == (0, 0)


@pytest.mark.parametrize("seed", range(6))
def test_no_lane_is_shared_and_none_is_too_many(seed):
    print("seed", seed)
    chance = random.Random(seed)
    rows = [
        (chance.randrange(5), start := chance.randrange(200), start + chance.randrange(1, 40))
        for _ in range(300)
    ]
    lanes = block_lanes(spans(rows))
    most = 0
    for machine in range(5):
        for moment in range(240):
            running = [i for i, (m, a, b) in enumerate(rows) if m == machine and a <= moment < b]
            assert len({int(lanes.lane[i]) for i in running}) == len(running)
            most = max(most, len(running))
    assert lanes.concurrent_blocks == most
    for i, (machine, start, _) in enumerate(rows):
        before = [
            j for j, row in enumerate(rows)
            if row[0] == machine and lanes.lane[j] == lanes.lane[i] and row[1] < start
        ]  # fmt: skip
        assert lanes.wave[i] == len(before)
