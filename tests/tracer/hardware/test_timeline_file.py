"""Files of timelines: what was written is read back, and what is damaged is refused in a sentence."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from msgspec.structs import astuple

from gpu_timelines import synthetic_timeline
from launching import Launch
from tilescope.kernels.scenarios.catalogue import find, settle
from tilescope.tracer.hardware import recorded_timelines
from tilescope.tracer.hardware.figures import (
    blocks_at_once,
    covered_share,
    kernel_microseconds,
    multiprocessors_used,
)
from tilescope.tracer.hardware.recorded_timelines import timelines_of, timelines_of_launch
from tilescope.tracer.hardware.segment_sums import kind_cycles
from tilescope.tracer.hardware.timeline import Timeline
from tilescope.tracer.hardware.timeline_file import TimelineFileError, load, load_head, save
from tilescope.tracer.model.plan import launch_of
from tilescope.tracer.run.engine import run

SIZE = {"m": 32, "k": 32, "n": 32, "tile": 8}


def matmul(**values: int) -> Launch:
    return launch_of(find("matmul-tiled"), SIZE | values)


@pytest.fixture(scope="module")
def timeline() -> Timeline:
    values = settle(find("matmul-tiled"), SIZE)
    return synthetic_timeline(run(matmul(), lambda done, total: None), values)


@pytest.fixture
def path(timeline, tmp_path):
    save(timeline, tmp_path / "made.npz")
    return tmp_path / "made.npz"


def same(first: Any, other: Any) -> None:
    assert type(first) is type(other)
    for name in first.__struct_fields__:
        own, theirs = getattr(first, name), getattr(other, name)
        assert own.dtype == theirs.dtype, name
        np.testing.assert_array_equal(own, theirs, name)


def test_a_timeline_round_trips(timeline, path):
    trace = load(path)
    assert trace.head == timeline.head == load_head(path)
    same(trace.spans, timeline.spans)
    same(trace.segments, timeline.segments)


def test_a_timeline_without_segments_is_read_back(timeline, tmp_path):
    none = type(timeline.segments)(*(column[:0] for column in astuple(timeline.segments)))
    save(Timeline(timeline.head, timeline.spans, none), tmp_path / "none.npz")
    assert len(load(tmp_path / "none.npz").segments) == 0


def test_figures_of_a_timeline(timeline):
    assert blocks_at_once(timeline.spans) == 2
    assert multiprocessors_used(timeline.spans) == 4
    cycles = kind_cycles(timeline.segments)
    assert "atomic" not in cycles
    assert sum(cycles.values()) == (timeline.segments.end - timeline.segments.start).sum()
    assert 0.9 < covered_share(timeline) <= 1  # the second warp of a block starts later
    assert kernel_microseconds(timeline) == 0  # it was never launched


def columns(path: Path) -> dict[str, Any]:
    with np.load(path) as members:
        return dict(members)


def rewrite(path: Path, **changed: Any) -> None:
    """Rewrite a file with other columns, as anybody with NumPy could; None leaves one out."""
    results = {name: column for name, column in (columns(path) | changed).items() if column is not None}
    with path.open("wb") as file:
        np.savez(file, **results)


def head_with(path: Path, change: Any) -> np.ndarray[Any, Any]:
    output = json.loads(columns(path)["head"].tobytes())
    change(output)
    return np.frombuffer(json.dumps(output).encode(), np.uint8)


DAMAGES = {
    "another file": (lambda c, p: {"head": None}, "not a Tilescope timeline"),
    "another format": (lambda c, p: {"head": head_with(p, lambda h: h.update(format="x"))}, "not a Tilescope"),
    "a later version": (lambda c, p: {"head": head_with(p, lambda h: h.update(version=9))}, "format 9"),
    "no time": (
        lambda c, p: {"head": head_with(p, lambda h: h["head"].update(mhz=0))},
        "no device or no kernel",
    ),
    "another grid": (lambda c, p: {"head": head_with(p, lambda h: h["head"].update(grid=[9, 9, 1]))}, "its grid"),
    "no grid": (lambda c, p: {"head": head_with(p, lambda h: h["head"].update(grid=[0, 9, 1]))}, "its grid"),
    "a column less": (lambda c, p: {"phase": None}, "missing or unknown columns"),
    "a column more": (lambda c, p: {"more": c["phase"]}, "missing or unknown columns"),
    "a shorter column": (lambda c, p: {"kind": c["kind"][1:]}, "differ in length"),
    "a kind that is none": (lambda c, p: {"kind": c["kind"] + 40}, "column kind"),
    "a block that is none": (lambda c, p: {"block": c["block"] + 1}, "column block"),
    "a warp that is none": (lambda c, p: {"warp": c["warp"] + 3}, "column warp"),
    "a line that is none": (lambda c, p: {"last_line": c["last_line"] + 5000}, "column last_line"),
    "lines backwards": (lambda c, p: {"first_line": c["last_line"] + 1}, "before its first"),
    "warps in no order": (lambda c, p: {"block": c["block"][::-1].copy()}, "not in order"),
    "negative lengths": (lambda c, p: {"length": -c["length"].astype(np.int64)}, "too small"),
    "real numbers": (lambda c, p: {"length": c["length"].astype(float)}, "other values than whole numbers"),
    "endless": (lambda c, p: {"length": np.full(len(c["length"]), 1 << 59)}, "segments are too long"),
    "a late first start": (lambda c, p: {"block_start": c["block_start"] + 1}, "impossible multiprocessors or times"),
}  # fmt: skip


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_file_is_refused(path, damage):
    change, output = DAMAGES[damage]
    rewrite(path, **change(columns(path), path))
    with pytest.raises(TimelineFileError, match=output) as error:
        load(path)
    assert str(error.value).startswith(str(path)) and str(error.value).endswith(".")


def test_a_file_with_lost_or_changed_bytes_is_refused_or_reads_the_same(timeline, path):
    seed = random.randrange(1 << 30)
    print("seed", seed)
    chosen = random.Random(seed)
    content = path.read_bytes()
    for _ in range(60):
        built = bytearray(content)
        if chosen.random() < 0.3:
            del built[chosen.randrange(len(built)) :]
        else:
            built[chosen.randrange(len(built))] ^= 1 << chosen.randrange(8)
        path.write_bytes(built)
        try:
            trace = load(path)
        except TimelineFileError:
            continue
        assert trace.head == timeline.head
        same(trace.segments, timeline.segments)


def test_a_missing_file_and_a_file_that_can_not_be_written(timeline, tmp_path):
    with pytest.raises(TimelineFileError, match="can't be read"):
        load(tmp_path / "none.npz")
    with pytest.raises(TimelineFileError, match="can't be written"):
        save(timeline, tmp_path / "none" / "made.npz")


# --- which are found for a launch


@pytest.fixture
def own(timeline, tmp_path, monkeypatch):
    """Return a folder of the user's own, which holds the timeline and a file that is none."""
    monkeypatch.setattr(recorded_timelines, "own_folder", lambda: tmp_path)
    save(timeline, tmp_path / "made.npz")
    (tmp_path / "broken.npz").write_bytes(b"no timeline")
    return tmp_path


def test_the_timelines_of_a_launch_are_returned(own, timeline):
    results = timelines_of("matmul-tiled", SIZE)
    assert [item.head for item in results] == [timeline.head]
    assert [item.head for item in timelines_of_launch(matmul())] == [timeline.head]


def test_timelines_of_another_launch_or_source_are_not_returned(own):
    ours = matmul()
    assert not timelines_of("matmul-tiled", SIZE | {"k": 64})
    assert not timelines_of("matmul-tiled-dynamic", SIZE)
    assert not timelines_of_launch(msgspec.structs.replace(ours, source=ours.source + "# changed\n"))
    assert not timelines_of_launch(msgspec.structs.replace(ours, blocks=(0,)))
