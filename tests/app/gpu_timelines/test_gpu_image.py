"""Columns of blocks and segments as pixels, held against sums over every span."""

import random

import numpy as np
import pytest

from gpu_charts import derived_data, segments_of_blocks, small_timeline, sparse_data
from gpu_timelines import CYCLES
from tilescope.app.gpu_timelines.image import (
    DARK,
    PALE,
    add_warps,
    bars,
    block_strip,
    codes,
    coverage,
    kind_rows,
    machine_strip,
    segment_pixels,
)
from tilescope.app.gpu_timelines.model.data import gpu_data
from tilescope.app.widgets.patterns import mixed
from tilescope.app.widgets.theme import Theme
from tilescope.tracer.hardware.timeline import SEGMENT_KINDS, BlockSpans, Timeline

LIGHT = Theme.named("light")
PANEL = LIGHT.colour("panel").rgb()
LOAD, COMPUTE, WAIT = map(SEGMENT_KINDS.index, ("load", "compute", "wait"))


def tone(which):
    return mixed(LIGHT.colour("panel"), LIGHT.colour(which[0]).name(), which[1]).rgb()


def ran(rows, machines=2):
    """Return the data of blocks (multiprocessor, start, end) without details."""
    machine, start, end = np.array(rows, np.int64).T
    timeline = small_timeline()
    spans = BlockSpans(machine.astype(np.uint16), start, end)
    data = gpu_data(Timeline(timeline.head, spans, segments_of_blocks(timeline.segments, ())))
    assert data.machines >= machines
    return data


@pytest.mark.parametrize("seed", range(5))
def test_coverage_is_the_mean_over_each_pixel(seed):
    print("seed", seed)
    chance = random.Random(seed)
    spans = [
        (chance.randrange(3), a := chance.uniform(-10, 30), a + chance.uniform(0, 12)) for _ in range(60)
    ]
    row, start, end = (np.array(column) for column in zip(*spans, strict=True))
    shares = coverage(row, start, end, 3, 20)
    expected = np.zeros((3, 20))
    for r, a, b in spans:
        for x in range(20):
            expected[r, x] += max(0.0, min(b, x + 1) - max(a, x))
    assert np.allclose(shares, expected, atol=1e-9)


def test_blocks_that_follow_each_other_have_two_tones_and_leave_the_ground_free():
    shares = ran([(0, 0, 40), (0, 40, 80), (1, 0, 40)])
    pixels, at_once = bars(shares, None, (0.0, 100.0), (100, 40), 4, LIGHT, 1.0)
    assert pixels.shape == (40, 100)
    assert (pixels[5, 2:38] == tone(DARK)).all() and (pixels[5, 42:78] == tone(PALE)).all()
    assert (pixels[15, 2:38] == tone(DARK)).all()
    assert (
        (pixels[5, 81:] == PANEL).all() and (pixels[15, 42:] == PANEL).all() and (pixels[25:] == PANEL).all()
    )
    assert at_once[[10, 60, 90]].tolist() == pytest.approx([2, 1, 0])


def test_lanes_of_a_multiprocessor_are_rows_where_there_is_room_and_added_up_where_not():
    shares = ran([(0, 0, 100), (0, 10, 50)])
    high, _ = bars(shares, None, (0.0, 100.0), (100, 80), 4, LIGHT, 1.0)
    assert high[2, 25] == high[12, 25] == tone(DARK)
    assert high[2, 75] == tone(DARK) and high[12, 75] == PANEL
    low, _ = bars(shares, None, (0.0, 100.0), (100, 16), 4, LIGHT, 1.0)
    assert low[1, 25] == tone(DARK)
    assert low[1, 75] not in (tone(DARK), PANEL)  # one of two


def test_a_single_multiprocessor_has_a_row_for_each_lane():
    shares = ran([(0, 0, 100), (1, 0, 50), (1, 0, 100), (1, 50, 100)])
    pixels, at_once = bars(shares, 1, (0.0, 100.0), (100, 20), 2, LIGHT, 1.0)
    assert pixels[3, 25] == tone(DARK) and pixels[3, 75] == tone(PALE)
    assert pixels[13, 25] == pixels[13, 75] == tone(DARK)
    assert at_once[[25, 75]].tolist() == pytest.approx([2, 2])


def test_no_multiprocessor_is_lost_where_there_are_fewer_pixels_than_rows():
    shares = ran([(machine, 0, 100) for machine in (0, 1, 2, 6, 7, 8)])
    pixels, _ = bars(shares, None, (0.0, 100.0), (50, 3), 9, LIGHT, 1.0)
    assert [bool((row[:40] != PANEL).all()) for row in pixels] == [True, False, True]


def test_the_curve_holds_all_the_time_that_blocks_ran():
    data = derived_data()
    span = (0.0, float(data.timeline.nanoseconds))
    _, at_once = bars(data, None, span, (997, 60), data.machines, LIGHT, 1.0)
    total = (data.timeline.spans.end - data.timeline.spans.start).sum()
    assert at_once.sum() * (span[1] - span[0]) / 997 == pytest.approx(total, rel=1e-9)


@pytest.mark.parametrize("block", [0, 13])
def test_codes_are_the_segments_in_the_middle_of_each_pixel(block):
    data, width = derived_data(), 211
    span = (-100.0, 5000.0)
    code, since = codes(block_strip(data, block, None), span, 2, width)
    segments = data.timeline.segments
    for warp in range(2):
        own_segments = np.flatnonzero((segments.block == block) & (segments.warp == warp))
        for x in range(width):
            cycle = (span[0] + (x + 0.5) * (span[1] - span[0]) / width) * data.timeline.head.mhz / 1000
            inside = own_segments[
                (segments.start[own_segments] <= cycle) & (cycle < segments.end[own_segments])
            ]
            assert code[warp, x] == (segments.kind[inside[0]] if len(inside) else -1)
    assert (since[code >= 0] >= 0).all()


def test_a_single_warp_has_a_row_for_each_kind():
    data = derived_data()
    rows = [SEGMENT_KINDS[kind] for kind in kind_rows(data)]
    assert rows == ["load", "compute", "wait"]
    span = (0.0, data.length(0))
    code, _ = codes(block_strip(data, 0, 1), span, len(rows), 300)
    assert [set(row.tolist()) - {-1} for row in code] == [{LOAD}, {COMPUTE}, {WAIT}]
    assert ((code >= 0).sum(axis=0) <= 1).all()  # a warp does one thing at a time


@pytest.mark.parametrize("ratio", [1.0, 2.0])
def test_each_kind_has_the_colour_of_the_timeline(ratio):
    data = derived_data()
    first = CYCLES["load"] * 1000 / data.timeline.head.mhz
    size = round(400 * ratio), round(40 * ratio)
    strip = block_strip(data, 0, None)
    loads = segment_pixels(strip, (10.0, first - 10), size, 2, LIGHT, ratio)
    assert loads.shape == size[::-1]
    gap = max(1, round(ratio))
    assert (loads[: size[1] // 2 - gap] == LIGHT.colour("global load").rgb()).all()
    assert (loads[size[1] // 2 - gap : size[1] // 2] == PANEL).all()
    first += CYCLES["compute"] * 1000 / data.timeline.head.mhz
    waits = segment_pixels(strip, (first + 20, first + 140), size, 2, LIGHT, ratio)
    assert set(np.unique(waits).tolist()) == {PANEL, LIGHT.colour("waiting").rgb()}


def test_many_narrow_segments_keep_their_colours_unmixed():
    data = derived_data()
    pixels = segment_pixels(block_strip(data, 0, None), (0.0, 400_000.0), (50, 30), 2, LIGHT, 1.0)
    colours = {LIGHT.colour(name).rgb() for name in ("global load", "shared load", "waiting", "panel")}
    colours.add(mixed(LIGHT.colour("panel"), LIGHT.colour("waiting").name(), 0.4).rgb())
    assert set(np.unique(pixels).tolist()) <= colours


def test_lanes_show_what_warps_did_where_that_can_be_seen():
    data = gpu_data(small_timeline(detailed=(0, 4)))
    machine = data.machine(0)
    lane = int(data.lanes.lane[0])
    end = data.span(0)[1]
    near, _ = bars(data, machine, (0.0, end), (600, 80), 2, LIGHT, 1.0)
    plain = near.copy()
    add_warps(near, data, machine, (0.0, end), 2, LIGHT, 1.0)
    row = near[40 * lane + 3]
    assert (row == LIGHT.colour("global load").rgb()).any()
    far, _ = bars(data, machine, (0.0, 1000 * end), (600, 80), 2, LIGHT, 1.0)
    before = far.copy()
    add_warps(far, data, machine, (0.0, 1000 * end), 2, LIGHT, 1.0)
    assert (far == before).all()
    without = gpu_data(small_timeline(detailed=()))
    add_warps(plain, without, machine, (0.0, end), 2, LIGHT, 1.0)
    assert not (plain == LIGHT.colour("global load").rgb()).any()


def test_the_strip_of_a_multiprocessor_has_only_the_warps_of_its_blocks():
    data = derived_data()
    strip, warps = machine_strip(data, 1)
    assert warps == 2
    blocks = set(data.timeline.segments.block[strip.segment].tolist())
    assert blocks == set(data.blocks_on(1).tolist())


def test_rows_of_all_multiprocessors_show_what_warps_did_where_they_are_tall():
    data = sparse_data()
    span = (0.0, float(data.timeline.nanoseconds))
    lanes = 5 * data.lanes.concurrent_blocks
    for height, is_seen in ((200, True), (40, False)):
        pixels, _ = bars(data, None, span, (900, height), 5, LIGHT, 1.0)
        add_warps(pixels, data, None, span, lanes, LIGHT, 1.0)
        rows = [pixels[height * i // 5 : height * (i + 1) // 5] for i in range(5)]
        for row in rows[:4]:
            assert bool((row == LIGHT.colour("global load").rgb()).any()) == is_seen
            assert bool((row == LIGHT.colour("shared load").rgb()).any()) == is_seen
        assert (rows[4] == PANEL).all()


def test_a_lane_among_those_of_all_multiprocessors_is_painted_as_that_of_one():
    data = sparse_data()
    span = (0.0, float(data.timeline.nanoseconds))
    all_of_them, _ = bars(data, None, span, (900, 400), 5, LIGHT, 1.0)
    add_warps(all_of_them, data, None, span, 10, LIGHT, 1.0)
    image, _ = bars(data, 131, span, (900, 80), 2, LIGHT, 1.0)
    add_warps(image, data, 131, span, 2, LIGHT, 1.0)
    for look in ("global load", "shared load"):
        seen = image == LIGHT.colour(look).rgb()
        same = (all_of_them[240:320] == LIGHT.colour(look).rgb()) == seen
        assert seen.any() and same[:38].all() and same[42:74].mean() > 0.9


def test_waits_are_hatched_in_rows_of_all_multiprocessors():
    data = sparse_data()
    span = (0.0, float(data.timeline.nanoseconds))
    pixels, _ = bars(data, None, span, (1800, 400), 5, LIGHT, 1.0)
    add_warps(pixels, data, None, span, 10, LIGHT, 1.0)
    assert (pixels[:320] == LIGHT.colour("waiting").rgb()).any()
