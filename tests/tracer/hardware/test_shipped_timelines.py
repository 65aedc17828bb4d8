"""The timelines that come with the package: they hold together, and they are of the kernels as they are now."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpu_clocks import check_blocks_at_once, check_order, check_span, check_sums
from tilescope import ROOT
from tilescope.kernels.scenarios.catalogue import find
from tilescope.tracer.hardware.recorded_timelines import FOLDER, timelines_of_launch
from tilescope.tracer.hardware.timeline_file import load
from tilescope.tracer.model.plan import launch_of

LARGEST = 400_000  # bytes
FILES = sorted((ROOT / "resources" / FOLDER).glob("*.npz"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_shipped_timeline_holds_together(path: Path) -> None:
    timeline = load(path)
    check_order(timeline)
    check_sums(timeline)
    check_blocks_at_once(timeline)
    check_span(timeline)
    assert path.stat().st_size < LARGEST


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_shipped_timeline_is_returned_for_its_launch(path: Path) -> None:
    head = load(path).head
    assert head.revision and not head.revision.endswith("+")
    launch = launch_of(find(head.scenario), head.values)
    assert head in [results.head for results in timelines_of_launch(launch)]
