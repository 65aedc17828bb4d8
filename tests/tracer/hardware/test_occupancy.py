"""Occupancy, compared with NVIDIA's calculator, with the driver of an H200, and with manual counts."""

from __future__ import annotations

import json
import random

import pytest

from folders import DATA
from tilescope.tracer.hardware.occupancy import MULTIPROCESSORS, UNBOUNDED, occupancy

CALCULATED = json.loads((DATA / "occupancy_cuda_13.json").read_text(encoding="utf-8"))
DRIVER = DATA / "h200_occupancy.json"
HOPPER = (9, 0)


@pytest.mark.parametrize("capability", MULTIPROCESSORS, ids=lambda c: f"{c[0]}.{c[1]}")
def test_every_limit_is_that_of_nvidias_calculator(capability):
    answers = [a for a in CALCULATED["answers"] if tuple(a[:2]) == capability]
    assert len(answers) >= 40
    for _, _, registers, shared, threads, blocks, *limits in answers:
        results = occupancy(capability, registers, shared, threads)
        assert (results.blocks, list(results.limits.values())) == (blocks, limits), (
            registers,
            shared,
            threads,
        )


@pytest.mark.skipif(not DRIVER.exists(), reason="the driver's answers are not recorded")
def test_blocks_match_the_driver_of_an_h200():
    recorded = json.loads(DRIVER.read_text(encoding="utf-8"))
    for registers, static, dynamic, threads, blocks in recorded["answers"]:
        results = occupancy(tuple(recorded["capability"]), registers, static + dynamic, threads)
        assert results.blocks == blocks, (registers, static, dynamic, threads)


@pytest.mark.parametrize(
    ("takes", "blocks", "limiters"),
    [
        ((32, 2048, 256), 8, ("registers", "threads")),
        ((33, 2048, 256), 6, ("registers",)),  # 1,280 registers a warp: 12 warps in each partition
        ((16, 40_000, 256), 5, ("shared memory",)),
        ((16, 0, 32), 32, ("blocks",)),
        ((16, 0, 1024), 2, ("threads",)),
        ((32, 0, 64), 32, ("registers", "threads", "blocks")),
        ((255, 0, 1024), 0, ("registers",)),
        ((16, 232_449, 32), 0, ("shared memory",)),
        ((16, 0, 1025), 0, ("threads",)),
        ((256, 0, 32), 0, ("registers",)),
    ],
)
def test_all_limits_that_tie_are_named(takes, blocks, limiters):
    results = occupancy(HOPPER, *takes)
    assert (results.blocks, results.limiters) == (blocks, limiters)


def test_warps_and_their_share_follow_from_the_blocks():
    results = occupancy(HOPPER, 40, 0, 200)  # 7 warps
    assert (results.blocks, results.warps, results.most_warps) == (6, 42, 64)
    assert results.share == 42 / 64


def test_the_same_kernel_fits_otherwise_on_other_devices():
    assert {c: occupancy(c, 32, 48 * 1024, 256).blocks for c in [(7, 5), (8, 0), (8, 6), (9, 0), (12, 0)]} == {
        (7, 5): 1, (8, 0): 3, (8, 6): 2, (9, 0): 4, (12, 0): 2,
    }  # fmt: skip


def test_unused_resources_do_not_limit():
    results = occupancy((7, 0), 0, 0, 32)
    assert (results.limits["registers"], results.limits["shared memory"]) == (UNBOUNDED, UNBOUNDED)
    assert (results.blocks, results.limiters) == (32, ("blocks",))


def test_more_of_anything_never_leaves_room_for_more_blocks():
    seed = random.randrange(1 << 32)
    print("seed", seed)
    chosen = random.Random(seed)
    for _ in range(2000):
        capability = chosen.choice(list(MULTIPROCESSORS))
        takes = [chosen.randint(0, 255), chosen.randint(0, 240_000), chosen.randint(1, 1024)]
        more = [number + chosen.randint(0, 40) * chosen.randint(0, 1) for number in takes]
        assert occupancy(capability, *more).blocks <= occupancy(capability, *takes).blocks, (
            capability,
            takes,
            more,
        )


def test_an_unknown_device_has_no_occupancy_and_impossible_numbers_are_refused():
    assert occupancy((6, 1), 32, 0, 256) is None
    assert occupancy((99, 0), 32, 0, 256) is None
    for takes in ((-1, 0, 32), (32, -1, 32), (32, 0, 0)):
        with pytest.raises(ValueError, match="no launch has"):
            occupancy(HOPPER, *takes)
