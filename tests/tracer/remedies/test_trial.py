"""Remedies are shown once they are proven: the printed edit, applied to the text, removes the finding."""

from __future__ import annotations

import itertools
import time

import pytest

from launching import HEADER, Array, trace
from tilescope.tracer.analysis.requests import requests_of
from tilescope.tracer.findings.all_findings import findings_of
from tilescope.tracer.remedies.trial import Trials, prove, trial_case
from tilescope.tracer.simulator.numba_patch import run

BEGIN = """
@cuda.jit
def kernel(a, out):
    s = cuda.shared.array(128, float32)
    t, b = cuda.threadIdx.x, cuda.blockIdx.x
"""
SUM = """
    s[t] = a[t]
    cuda.syncthreads()
    step = 64
    while step > 0:
        if t < step:
            s[t] += s[t + step]
        step //= 2
"""
# Faults, each with the beginning of the remedy that works.
FAULTS = {
    "tree reduction": (
        SUM,
        "put cuda.syncthreads() after line 15, outside the branch of line 14, before line 15 comes again",
    ),
    "between two lines": ("\n    s[t] = a[t]\n    out[t] = s[63 - t]\n", "put cuda.syncthreads() between line 10 and"),
    "in a branch": (
        "\n    if t < 48:\n        s[t] = a[t]\n        out[t] = s[47 - t]\n",
        "put cuda.syncthreads() between line 11 and line 12, outside the branch of line 10",
    ),
    "in one statement of a loop": (
        "\n    s[t] = 0\n    cuda.syncthreads()\n    for k in range(3):\n        s[t] = s[63 - t]\n",
        "read line 13's value into a variable first",
    ),
    "in a condition": (
        "\n    s[t] = a[t]\n    cuda.syncthreads()\n    if s[63 - t] > 9:\n        s[t] = 0\n",
        "keep the condition of line 12 in a variable",
    ),
    "in two arms": (
        "\n    if t < 32:\n        s[t] = a[t]\n    else:\n        out[t] = s[63 - t]\n",
        "put cuda.syncthreads() between line 11 and line 13",
    ),
    "several in a row": (
        "\n" + "".join(f"    s[t] = a[t]\n    out[t] = s[t ^ {k}]\n" for k in (1, 2, 4, 8)),
        "put cuda.syncwarp() after lines 10, 11",
    ),
    "updates without +=": (
        "\n    out[t // 4] = a[t] + out[t // 4]\n", "write cuda.atomic.add(out, t // 4, a[t]) on line 10"
    ),
    "updates on one line": ("\n    out[t // 4] += a[t]\n", "write cuda.atomic.add(out, t // 4, a[t]) on line 10"),
    "updates on two lines": (
        "\n    out[t // 4] += a[t]\n    out[t // 4 + 1] -= a[t]\n",
        "write cuda.atomic.add(out, t // 4, a[t]) on line 10 and cuda.atomic.sub(",
    ),
    "barrier at the end of a branch": (
        "\n    if t < 32:\n        s[t] = a[t]\n        cuda.syncthreads()\n    out[t] = 1\n",
        "move cuda.syncthreads() of line 12 out of the branch of line 10, after it",
    ),
    "barrier within a branch": (
        "\n    if t < 40:\n        s[t] = a[t]\n        cuda.syncthreads()\n        out[t] = s[39 - t]\n",
        "move cuda.syncthreads() of line 12 out of the branch of line 10, which it splits in two",
    ),
}  # fmt: skip
VECTORS = (Array((128,), fill="arange"), Array((128,)))


def errors(ended):
    return [f for f in findings_of(ended, requests_of(ended)) if f.severity == "error"]


def traced(folder, body, **options):
    return trace(folder, BEGIN + body, VECTORS, block=(128 if "step = 64" in body else 64, 1, 1), **options)


def proof(folder, ended, finding):
    findings = findings_of(ended, requests_of(ended))
    case = trial_case(ended, finding, findings, folder)
    return case and prove(case, lambda launch: run(launch, lambda done, total: None), lambda: False)


@pytest.mark.parametrize("fault", FAULTS)
def test_a_proven_edit_removes_its_finding_in_every_order(tmp_path, fault):
    body, remedy = FAULTS[fault]
    ended = traced(tmp_path, body)
    finding, *_ = errors(ended)
    fix = proof(tmp_path, ended, finding)
    assert fix is not None and fix.remedy.startswith(remedy)
    for schedule in ("lockstep", "sequential", "random"):
        text = fix.text.removeprefix(HEADER)
        mended = trace(tmp_path, text, VECTORS, block=ended.block_dim, schedule=schedule, seed=7)
        assert errors(mended) == []


def test_edits_lead_from_the_old_text_to_the_new_one(tmp_path):
    ended = traced(tmp_path, FAULTS["in a branch"][0])
    fix = proof(tmp_path, ended, errors(ended)[0])
    (edit,) = fix.edits
    assert (edit.line, edit.old, edit.new) == (12, (), ("    cuda.syncthreads()", "    if t < 48:"))


def test_a_race_of_some_threads_in_a_loop_has_no_proven_remedy(tmp_path):
    body = "\n    if t < 48:\n        while s[t] < 3:\n            s[t] = s[t + 1] + 1\n"
    ended = traced(tmp_path, "\n    s[t] = 0\n    cuda.syncthreads()" + body)
    races = [finding for finding in errors(ended) if finding.kind == "race"]
    assert races and all(proof(tmp_path, ended, finding) is None for finding in races)


def test_no_remedy_is_proven_after_the_time_is_over(tmp_path):
    ended = traced(tmp_path, FAULTS["between two lines"][0])
    case = trial_case(ended, errors(ended)[0], errors(ended), tmp_path)
    assert prove(case, lambda launch: run(launch, lambda done, total: None), lambda: True) is None


def test_trials_without_time_left_are_reported_as_unfinished(tmp_path):
    ended = traced(tmp_path, FAULTS["between two lines"][0])
    trials = Trials(0)
    assert trials.prove_findings(ended, errors(ended), errors(ended)) == [] and trials.finished == [False]


def test_trials_count_processor_time(tmp_path, monkeypatch):
    """A clock that runs a minute a look is that of a computer which does something else."""
    ended = traced(tmp_path, FAULTS["between two lines"][0])
    minutes = itertools.count(step=60.0)
    monkeypatch.setattr(time, "monotonic", lambda: next(minutes))
    assert Trials().prove_findings(ended, errors(ended), errors(ended))


def test_a_remedy_of_one_race_is_no_remedy_of_another_on_the_same_array(tmp_path):
    body = "\n    own = a[t]\n    if own > out[0]:\n        out[0] = own\n"
    ended = trace(tmp_path, BEGIN + body, (Array((3,), fill="arange"), Array((1,))), block=(3, 1, 1))
    by_lines = {len(finding.sites): finding for finding in errors(ended)}
    assert set(by_lines) == {1, 2}  # both threads write, and one reads what the other writes
    condition = proof(tmp_path, ended, by_lines[2])
    assert condition is not None and condition.remedy.startswith("keep the condition of line 11")
    assert proof(tmp_path, ended, by_lines[1]) is None
