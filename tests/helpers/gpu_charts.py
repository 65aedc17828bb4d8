"""Charts of what a GPU did, for tests: made timelines of small launches, and panels that show them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
from msgspec.structs import replace

from gpu_timelines import synthetic_timeline
from sessions import application, matmul
from tilescope.app.gpu_timelines.gpu_panel import GpuPanel
from tilescope.app.gpu_timelines.model.data import GpuData, gpu_data
from tilescope.app.gpu_timelines.model.recorded import launch_of_pane
from tilescope.app.gpu_timelines.shown import ChartView
from tilescope.app.gpu_timelines.view import GpuRequests, GpuView, common_range
from tilescope.app.model.bookmark import Setup
from tilescope.app.model.nothing import nothing
from tilescope.app.widgets.theme import Theme
from tilescope.kernels.scenarios.catalogue import find, settle
from tilescope.tracer.hardware.timeline import Segments, Timeline

SMALL = {"m": 32, "k": 16, "n": 32, "tile": 8}  # 16 blocks of two warps, four phases


@cache
def small_timeline(
    name: str = "matmul-tiled", detailed: tuple[int, ...] | None = None, **values: Any
) -> Timeline:
    """Return a made timeline of a small launch: on 4 multiprocessors two blocks at once, so in two waves.

    detailed: the blocks whose warps were recorded, None for all.
    """
    chosen = SMALL | values
    timeline = synthetic_timeline(matmul(name, **chosen).trace, settle(find(name), chosen))
    return (
        timeline
        if detailed is None
        else replace(timeline, segments=segments_of_blocks(timeline.segments, detailed))
    )


def segments_of_blocks(segments: Segments, blocks: Sequence[int]) -> Segments:
    """Return the segments of some blocks."""
    own_segments = np.isin(segments.block, blocks)
    return Segments(*(getattr(segments, name)[own_segments] for name in Segments.__struct_fields__))


def with_head(timeline: Timeline, **changes: Any) -> Timeline:
    """Return a timeline of which other things are said."""
    return replace(timeline, head=replace(timeline.head, **changes))


def sparse_data() -> GpuData:
    """Return data of a GPU of 132 multiprocessors, of which 4 ran the blocks: 0, 2, 4 and 131."""
    timeline = small_timeline()
    head = with_head(timeline, device=replace(timeline.head.device, multiprocessors=132))
    machine = np.array([0, 2, 4, 131], np.uint16)[timeline.spans.multiprocessor]
    return gpu_data(replace(head, spans=replace(timeline.spans, multiprocessor=machine)))


def derived_data(**options: Any) -> GpuData:
    """Derive the data of a synthetic timeline."""
    return gpu_data(small_timeline(**options))


def view_of(
    shown: ChartView,
    span: tuple[float, float] | None = None,
    size: tuple[int, int] = (900, 420),
    theme: str = "light",
) -> GpuView:
    """Return a view of a place, of all of it unless a range is given."""
    application()
    view = GpuView(Theme.named(theme), GpuRequests(nothing, nothing, nothing))
    view.resize(*size)
    full_range = common_range([shown.duration])
    view.show_place(shown, span or full_range, full_range)
    return view


def panel_of(
    *names: str, text: str = "gpu", timelines: Sequence[Timeline] | None = (), size: tuple[int, int] = (1000, 640),
    theme: str = "light", **values: Any,
) -> GpuPanel:  # fmt: skip
    """Return a panel on scenarios with the parameters of SMALL."""
    application()
    panel = GpuPanel(Theme.named(theme), nothing)
    panel.resize(*size)
    panel.show_text(text)
    setups = [Setup(name, SMALL | values) for name in names]
    panel.show_launches([launch_of_pane(setup, None) for setup in setups], timelines)
    return panel
