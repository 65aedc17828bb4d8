"""All steps from a case to its timeline file, on a GPU that Numba's simulator emulates."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import msgspec
import numpy as np
import pytest

import played_gpu
from gpu_clocks import check_order
from measured import case
from tilescope.tracer.hardware.figures import blocks_at_once
from tilescope.tracer.hardware.segment_sums import kind_cycles
from tilescope.tracer.hardware.timeline import SEGMENT_KINDS
from tilescope.tracer.hardware.timeline_file import load

BEARABLE = {"all": 1.1, "barriers": 1.1, "ends": 1.0}


@pytest.fixture
def record(tmp_path):
    """Return a function that records a case in a separate process: record(case, longer, slot) -> Timeline."""

    def run(wanted, longer=BEARABLE, slot=64):
        path = tmp_path / "made.npz"
        words = [str(path), msgspec.json.encode(wanted).decode(), json.dumps(longer), str(slot)]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        done = subprocess.run(
            [sys.executable, played_gpu.__file__, *words],
            capture_output=True,
            text=True,
            env=environment,
            timeout=300,
        )
        assert done.returncode == 0, done.stderr[-3000:]
        return load(path)

    return run


TILED = case("matmul-tiled", m=8, k=12, n=8, tile=4)


def test_a_tiled_product_is_recorded_completely(record):
    timeline = record(TILED, slot=4)  # the room for marks grows until all fit
    head = timeline.head
    assert head.detail == "all" and head.notes == () and head.revision == "abc"
    assert (head.resolution_ns, round(head.mhz)) == (played_gpu.STEP, 2000)
    assert timeline.spans.multiprocessor.tolist() == [0, 1, 2, 3]
    assert blocks_at_once(timeline.spans) == 1
    check_order(timeline)
    kinds = [SEGMENT_KINDS[kind] for kind in timeline.segments.kind[timeline.segments.block == 2]]
    assert kinds == ["other", *["load", "wait", "compute", "wait"] * 3, "store"]
    assert timeline.segments.phase[timeline.segments.block == 2].tolist() == [
        0,
        0,
        0,
        1,
        1,
        2,
        2,
        3,
        3,
        4,
        4,
        5,
        5,
        6,
    ]
    spans = (timeline.spans.end - timeline.spans.start) * head.mhz / 1000
    sums = np.bincount(timeline.segments.block.astype(int), timeline.segments.end - timeline.segments.start)
    assert sums == pytest.approx(spans, abs=4)  # a span is rounded to nanoseconds
    assert sum(kind_cycles(timeline.segments).values()) == sums.sum()


def test_marks_that_cost_more_than_a_quarter_are_thinned(record):
    timeline = record(TILED, {"all": 1.6, "barriers": 1.3, "ends": 1.1})
    assert timeline.head.detail == "ends" and len(timeline.segments) == 4
    # Everywhere and at barriers it is the same marks.
    assert timeline.head.notes == ("With marks 'all' it took 60 % longer, so they were thinned.",)
    histogram = case("histogram-private", count=128, num_blocks=2, threads=32, bins=10)
    timeline = record(histogram, {"all": 1.6, "barriers": 1.2, "ends": 1.1})
    assert timeline.head.detail == "barriers"
    assert set(timeline.segments.phase.tolist()) == {0, 1, 2}


def test_a_wrong_result_of_the_kernel_is_reported(record):
    notes = record(case("matmul-tiled-by-gridsize", m=4, k=16, n=4, tile=4)).head.notes
    assert [note.split(" by ")[0] for note in notes] == [
        "The kernel differs from NumPy", "The kernel with marks differs from NumPy",
    ]  # fmt: skip
