"""What an H200 did, as it comes along, in the pictures that show it: charts at every depth, timelines by its clock."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest

from gpu_charts import view_of
from sessions import grab_image, matmul
from tilescope import ROOT
from tilescope.app.gpu_timelines.model.data import GpuData, gpu_data
from tilescope.app.gpu_timelines.model.place import Level, PanePlace
from tilescope.app.gpu_timelines.paint import box_of_item
from tilescope.app.gpu_timelines.shown import ChartView, chart_view_at
from tilescope.app.views.common.activity import block_activity
from tilescope.tracer.hardware.moment_clock import moment_clock, phase_cycles
from tilescope.tracer.hardware.recorded_timelines import FOLDER
from tilescope.tracer.hardware.timeline_file import load

FILES = sorted((ROOT / "resources" / FOLDER).glob("*.npz"))
LEVELS: tuple[Level, ...] = ("gpu", "multiprocessor", "block", "warp")


@cache
def recorded(path: Path) -> GpuData:
    return gpu_data(load(path))


def longest(shown: ChartView) -> int:
    """Return the item of a place that lasts longest: a block, or a segment."""
    spans, segments = shown.data.timeline.spans, shown.data.timeline.segments
    if shown.level == "gpu":
        return int(np.argmax(spans.end - spans.start))
    if shown.level == "multiprocessor":
        own_blocks = shown.data.blocks_on(shown.machine)
        return int(own_blocks[np.argmax((spans.end - spans.start)[own_blocks])])
    part = shown.data.rows(shown.block)
    length = (segments.end - segments.start)[part]
    if shown.level == "warp":
        length = np.where(segments.warp[part] == shown.warp, length, -1)
    return part.start + int(np.argmax(length))


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_recording_is_drawn_at_its_clocks(path: Path, level: Level) -> None:
    view = view_of(chart_view_at(recorded(path), level, PanePlace()))
    item = longest(view.shown)
    place = box_of_item(view.shown, view.chart_layout, item).intersected(view.chart_layout.rows)
    drawn = grab_image(view).copy(place.toAlignedRect())
    colours = {drawn.pixel(x, y) for x in range(drawn.width()) for y in range(drawn.height())}
    assert colours - {view.theme.colour("panel").rgb()}
    hit = view.hit(place.center())
    assert hit.item == item or place.height() < 3  # rows so low have several blocks in one


@pytest.mark.parametrize("name", ["matmul-naive-row-on-x", "matmul-naive-col-on-x", "matmul-tiled"])
def test_moments_of_a_lesson_have_the_clock_of_an_h200(name: str) -> None:
    session = matmul(name, m=64, k=64, n=64)
    (path,) = (path for path in FILES if path.stem.startswith(f"{name}-m64-"))
    timeline = recorded(path).timeline
    for block in range(16):
        activity, cycles = block_activity(session, block), phase_cycles(timeline, block)
        clock = moment_clock(timeline, session.trace, session.requests, block, activity.span)
        assert clock is not None and (np.diff(clock.edges) > 0).all()
        assert list(cycles) == list(range(9 if name == "matmul-tiled" else 1))
        length = (timeline.spans.end - timeline.spans.start)[block] * timeline.head.mhz / 1000
        assert clock.edges[-1] == pytest.approx(length, rel=0.05)
