"""Random kernels, each compiled once: all that holds of a trace by the compiled engine, whatever the kernel."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engines import (
    SEEDS,
    assert_counted,
    assert_same,
    assert_same_request_order,
    count_past_cap,
    has_harmful_race,
    ignore_progress,
    limit_accesses,
    run_both,
)
from launching import Array, Schedule, launch
from random_kernels import SIZE, kernels
from tilescope.tracer.analysis.counters import totals_of
from tilescope.tracer.analysis.requests import requests_of
from tilescope.tracer.compiled.driver import compile as stage
from tilescope.tracer.compiled.driver import engine as compiled
from tilescope.tracer.compiled.driver import row_recorder
from tilescope.tracer.compiled.rows.race_free_check import is_race_free

ARRAYS = (Array((SIZE,), "int32", "arange"), Array((SIZE,), "int32"))


@settings(print_blob=True, max_examples=settings().max_examples * 3 // 4)
@given(
    source=kernels(),
    block=st.sampled_from([1, 3, 8, 33, 70]),
    grid=st.integers(1, 3),
    rows=st.sampled_from([32, 256, 1 << 14]),
    resident=st.sampled_from([1, 2, None]),
    order=st.sampled_from([Schedule("lockstep"), *(Schedule("random", seed) for seed in SEEDS)]),
)
def test_random_kernels(
    source: str, block: int, grid: int, rows: int, resident: int | None, order: Schedule
) -> None:
    """The trace is the simulator's; its counters, order and races are the same in every way that they are found.

    To compile a kernel takes far longer than to run it: so one test asserts all of it.
    """
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        # Nobody will ask for these again: kept on disk, they would only drive out what other tests share.
        patch.setattr(stage, "cache_folder", lambda: Path(os.devnull) / "nowhere")
        for name in ("CHUNK", "COUNTED"):
            patch.setattr(row_recorder, name, rows)
        kernel_launch = launch(Path(folder), source, ARRAYS, (grid, 1, 1), (block, 1, 1))
        ours, theirs = run_both(kernel_launch)
        in_turns = run_both(msgspec.structs.replace(kernel_launch, resident=resident), order)
        lockstep = compiled.run_compiled(kernel_launch, ignore_progress)
        summary = compiled.run_compiled(limit_accesses(kernel_launch, 0), ignore_progress)
    assert_same(ours, theirs, 0.0)
    assert_same(*in_turns, 0.0)
    assert count_past_cap(ours) in (None, totals_of(ours, requests_of(ours)))
    assert_counted(ours, summary)
    if len(ours):
        assert_same_request_order(ours)
    assert not (is_race_free(lockstep) and has_harmful_race(lockstep))
