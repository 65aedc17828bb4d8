"""Findings and memory of a launch looked at part by part, against all of it at once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from launching import Array, Limits, launch
from tilescope.tracer.analysis import buffer_contents, minimum_cost, overlap
from tilescope.tracer.analysis.buffer_contents import contents_of
from tilescope.tracer.analysis.requests import requests_of
from tilescope.tracer.findings.all_findings import findings_of
from tilescope.tracer.findings.partial_launch import mark_partial
from tilescope.tracer.findings.waste import site_costs
from tilescope.tracer.model.trace import Trace
from tilescope.tracer.races import detect
from tilescope.tracer.run.engine import run
from traces import BUFFERS, Programs, programs, trace_of

KIND = st.sampled_from(["lockstep", "sequential", "random"])
examples = settings(max_examples=80, suppress_health_check=[HealthCheck.function_scoped_fixture])


def report_of(trace: Trace) -> list[tuple[Any, ...]]:
    """Return all that is said of a trace, as plain data."""
    return [
        (f.kind, f.severity, f.message, f.count, f.sites, f.rows.tolist(), f.example, f.threads, f.moment)
        for f in findings_of(trace, requests_of(trace))
    ]


def pictures(trace: Trace) -> list[list[Any]]:
    """Collect the contents and read counts of every buffer, in every block at some moments."""
    requests = requests_of(trace)
    held, findings = contents_of(trace, requests), []
    for moment in range(0, requests.end + 1, 3):
        for buffer in range(len(BUFFERS)):
            for block in trace.blocks.tolist():
                findings.append(held.reads(buffer, moment, block, 1).tolist())
                findings.append(held.written(buffer, moment, block, 1).tolist())
    return findings


def in_small_parts(change: pytest.MonkeyPatch) -> None:
    """Let each part hold as little as it can: one block, a few accesses, two requests."""
    for module in (overlap, detect, site_costs):
        change.setattr(module, "RANGE", 3)
    for other in (minimum_cost, buffer_contents):
        change.setattr(other, "CHUNK", 2)


@examples
@given(programs(), KIND, st.integers(1, 2))
def test_a_launch_analysed_in_small_parts_has_the_same_findings(programs: Programs, kind: str, resident: int):
    trace = trace_of(programs, kind, resident)
    complete, drawn = report_of(trace), pictures(trace)
    with pytest.MonkeyPatch.context() as change:
        in_small_parts(change)
        assert report_of(trace) == complete
        assert pictures(trace) == drawn


def test_parts_are_complete_blocks_under_the_sequential_schedule(monkeypatch: pytest.MonkeyPatch):
    from tilescope.kernels.scenarios.catalogue import find
    from tilescope.tracer.model.launch import Schedule
    from tilescope.tracer.model.plan import launch_of
    from tilescope.tracer.simulator.numba_patch import run

    launch = launch_of(
        find("matmul-tiled"), {"m": 32, "k": 8, "n": 16, "tile": 8}, schedule=Schedule("sequential")
    )
    trace = run(launch, lambda done, total: None)
    in_small_parts(monkeypatch)
    parts = overlap.block_ranges(trace)
    assert len(parts) == len(trace.blocks) == 8
    assert [np.unique(trace.block[part]).tolist() for part in parts] == [[block] for block in range(8)]
    assert sum(part.stop - part.start for part in parts) == len(trace)


@pytest.mark.parametrize("engine", ["simulator", "compiled"])
def test_accesses_outside_arrays_beyond_the_limit_are_counted_as_complete(tmp_path: Path, engine: str):
    source = "@cuda.jit\ndef kernel(a):\n    a[cuda.grid(1) + 1] = 1\n"
    limits = Limits(accesses=0)
    call = launch(tmp_path, source, (Array((64,), "int32"),), (4, 1, 1), (32, 1, 1), limits=limits)
    trace = run(replace(call, engine=engine), lambda done, total: None)
    (finding,) = [f for f in findings_of(trace, requests_of(trace)) if f.kind == "bounds"]
    assert trace.is_part
    assert finding.count == 65
    assert mark_partial(finding, trace).message == finding.message
