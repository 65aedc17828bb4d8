"""The catalogue: what is taught as right has no errors; the pitfalls have those that they are about."""

from __future__ import annotations

import os

os.environ["NUMBA_ENABLE_CUDASIM"] = "1"  # before numba is imported

import pytest

from finding_kernels import ERRORS, KERNELS, PITFALLS
from tilescope.tracer.analysis.requests import requests_of
from tilescope.tracer.findings.all_findings import findings_of
from tilescope.tracer.model.plan import launch_of

# What scenarios outside the pitfalls are lessons about; the others have no warning.
LESSONS = {
    "matmul-naive-row-on-x": {"uncoalesced", "reloaded"},
    "matmul-naive-col-on-x": {"reloaded"},
    "matmul-add-into-global": {"uncoalesced", "reloaded"},
    "workitem-naive": {"uncoalesced", "reloaded"},
    "cuda-c-naive": {"reloaded"},
    "transpose-naive": {"uncoalesced"},
    "transpose-tile": {"bank conflict"},
    "sum-interleaved": {"idle lanes"},
}


@pytest.mark.parametrize(("group", "scenario"), KERNELS, ids=[s.name for _, s in KERNELS])
def test_errors_are_in_pitfalls_alone(group, scenario):
    from tilescope.tracer.simulator.numba_patch import run

    ended = run(launch_of(scenario, {}), lambda done, of: None)
    found = findings_of(ended, requests_of(ended))
    errors = {f.kind for f in found if f.severity == "error"}
    assert errors == ERRORS.get(scenario.name, set())
    if group != PITFALLS:
        assert {f.kind for f in found if f.severity == "warning"} == LESSONS.get(scenario.name, set())
        assert not [f for f in found if f.kind in ("race", "barrier", "bounds", "unwritten")]


def test_every_expected_error_has_its_scenario():
    assert ERRORS.keys() <= {scenario.name for group, scenario in KERNELS if group == PITFALLS}
