"""The catalogue: what is taught as right has no errors; the pitfalls have those that they are about."""

from __future__ import annotations

import pytest

from engines import ignore_progress
from finding_kernels import ERRORS, KERNELS, PITFALLS
from tilescope.tracer.analysis.requests import requests_of
from tilescope.tracer.findings.all_findings import findings_of
from tilescope.tracer.model.plan import launch_of
from tilescope.tracer.run.engine import run

# What scenarios outside the pitfalls are lessons about; the others have no warning.
LESSONS = {
    "matmul-naive-row-on-x": {"uncoalesced", "reloaded"},
    "matmul-naive-col-on-x": {"reloaded"},
    "matmul-square": {"uncoalesced", "bank conflict"},
    "matmul-wide": {"uncoalesced"},
    "matmul-two-buffers": {"uncoalesced"},
    "matmul-add-into-global": {"uncoalesced", "reloaded"},
    "workitem-naive": {"uncoalesced", "reloaded"},
    "cuda-c-naive": {"reloaded"},
    "copy-stride": {"uncoalesced"},
    "transpose-naive": {"uncoalesced"},
    "transpose-tile": {"bank conflict"},
    "sum-interleaved": {"idle lanes"},
    "jacobi-step": {"uncoalesced", "reloaded"},
    "load-hoisted": {"uncoalesced"},
    "load-aliased": {"uncoalesced"},
    "sum-in-global": {"uncoalesced"},
    "sum-in-register": {"uncoalesced"},
}


@pytest.mark.parametrize(("group", "scenario"), KERNELS, ids=[s.name for _, s in KERNELS])
def test_only_pitfalls_have_errors(group, scenario):
    ended = run(launch_of(scenario, {}), ignore_progress)
    findings = findings_of(ended, requests_of(ended))
    errors = {f.kind for f in findings if f.severity == "error"}
    assert errors == ERRORS.get(scenario.name, set())
    if group != PITFALLS:
        assert {f.kind for f in findings if f.severity == "warning"} == LESSONS.get(scenario.name, set())
        assert not [f for f in findings if f.kind in ("race", "barrier", "bounds", "unwritten")]


def test_rows_of_small_blocks_are_reported_as_they_are():
    from tilescope.kernels.scenarios.catalogue import find

    launch = launch_of(find("matmul-tiled"), {"m": 8, "k": 8, "n": 8, "tile": 4})
    ended = run(launch, ignore_progress)
    findings = {f.kind: f for f in findings_of(ended, requests_of(ended))}
    assert findings.keys() == {"block size", "uncoalesced"}
    assert "16 lanes of the last warp of each block have no thread" in findings["block size"].message
    assert "since a warp is 4 rows of 4 threads, each in its own row of a" in findings["uncoalesced"].message


def test_every_expected_error_has_its_scenario():
    assert ERRORS.keys() <= {scenario.name for group, scenario in KERNELS if group == PITFALLS}
