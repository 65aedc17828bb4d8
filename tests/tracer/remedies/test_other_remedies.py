"""Remedies of accesses outside arrays and of waste: they keep the results, and hide no other fault."""

from __future__ import annotations

import numpy as np
import pytest

from launching import HEADER, Array, final_contents, trace
from tilescope.tracer.analysis.requests import requests_of
from tilescope.tracer.findings.all_findings import findings_of
from tilescope.tracer.remedies.trial import prove, trial_case
from tilescope.tracer.simulator.numba_patch import run

VECTORS = (Array((100,), "int32", fill="arange"), Array((100,), "int32"))
MATRICES = (Array((32, 32), "int32", fill="arange"), Array((32, 32), "int32"))
TILE = """
@cuda.jit
def kernel(a, out):
    tile = cuda.shared.array((32, 32), int32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    tile[y, x] = a[y, x]
    cuda.syncthreads()
    out[y, x] = tile[x, y]%s
"""
# Kernels that go outside their arrays, with their remedies.
OUTSIDE = {
    "no test": ("out[i] = a[i]", "put line 8 under `if i < a.size:`"),
    "early return": ("if i > a.size:\n        return\n    out[i] = a[i]", "write `if i >= a.size:` on line 8"),
    "variable": ("own = a[i]\n    own += 1\n    out[i] = own", "put lines 8 to 10 under `if i < a.size:`"),
    "other condition": (
        "if i > 3:\n        out[i] = a[i] + 1", "write `if i > 3 and i < a.size:` on line 8"
    ),
    "a number": ("n = 110\n    if i < n:\n        out[i] = 1", "write `if i < n and i < out.size:` on line 9"),
    "one of several": (
        "if 2 < i and i <= a.size:\n        out[i] = a[i]", "write `if 2 < i and i < a.size:` on line 8"
    ),
    "with else": (
        "if i <= a.size:\n        out[i] = a[i]\n    else:\n        i = 0",
        "put line 9 under `if i < a.size:`",
    ),
}  # fmt: skip
# Faults that a test of the index would hide.
HIDDEN = {
    "mirrored": "if i < a.size:\n        out[i] = a[a.size - i]",
    "loop": "own = 0\n    for k in range(a.size + 1):\n        own += a[k]\n    if i < a.size:\n        out[i] = own",
    "data": "if i < a.size:\n        out[a[i] + 1] = 1",
    "barrier": "own = a[i]\n    cuda.syncthreads()\n    if i < 9:\n        out[i] = own",
}  # fmt: skip


def proof(folder, ended, kind):
    findings = findings_of(ended, requests_of(ended))
    finding = next(finding for finding in findings if finding.kind == kind)
    case = trial_case(ended, finding, findings, folder)
    return case and prove(case, lambda launch: run(launch, lambda done, total: None), lambda: False)


def traced(folder, body):
    source = f"\n@cuda.jit\ndef kernel(a, out):\n    i = cuda.grid(1)\n    {body}\n"
    return trace(folder, source.replace("\n\n@", "\n@"), VECTORS, grid=(2, 1, 1), block=(64, 1, 1))


@pytest.mark.parametrize("fault", OUTSIDE)
def test_threads_without_an_element_are_kept_away(tmp_path, fault):
    body, remedy = OUTSIDE[fault]
    ended = traced(tmp_path, body)
    fix = proof(tmp_path, ended, "bounds")
    assert fix is not None and fix.remedy == remedy
    mended = trace(tmp_path, fix.text.removeprefix(HEADER), VECTORS, grid=(2, 1, 1), block=(64, 1, 1))
    assert not len(mended.outside.block)
    assert (final_contents(mended, "out") == final_contents(ended, "out")).all()


@pytest.mark.parametrize("fault", HIDDEN)
def test_no_test_of_the_index_hides_another_fault(tmp_path, fault):
    assert proof(tmp_path, traced(tmp_path, HIDDEN[fault]), "bounds") is None


def test_longer_rows_remove_bank_conflicts_and_their_wavefronts(tmp_path):
    ended = trace(tmp_path, TILE % "", MATRICES, block=(32, 32, 1))
    fix = proof(tmp_path, ended, "bank conflict")
    assert fix is not None and fix.remedy == "make each row of tile 1 element longer on line 7"
    (edit,) = fix.edits
    assert edit.new == ("    tile = cuda.shared.array((32, 33), int32)",)
    # 32 stores and 32 loads of warps: each load took 32 wavefronts, and takes one now.
    wavefronts = next(change for change in fix.counters if change.name == "shared_wavefronts")
    assert (wavefronts.before, wavefronts.after) == (32 + 32 * 32, 64)


def test_a_remedy_that_changes_the_results_is_not_proven(tmp_path):
    ended = trace(tmp_path, TILE % " + tile.shape[1]", MATRICES, block=(32, 32, 1))
    assert proof(tmp_path, ended, "bank conflict") is None


@pytest.mark.parametrize(
    "coordinates",
    [
        "y, x = cuda.grid(2)",
        "x = cuda.threadIdx.y\n    y = cuda.threadIdx.x",
    ],
)
def test_exchanged_axes_let_neighbours_touch_neighbours(tmp_path, coordinates):
    source = f"\n@cuda.jit\ndef kernel(a, out):\n    {coordinates}\n    out[y, x] = a[y, x] * 2\n"
    ended = trace(tmp_path, source, MATRICES, block=(32, 32, 1))
    fix = proof(tmp_path, ended, "uncoalesced")
    assert fix is not None and "and swap the two lengths of other launches' grids" in fix.remedy
    mended = trace(tmp_path, fix.text.removeprefix(HEADER), MATRICES, block=(32, 32, 1))
    assert (final_contents(mended, "out") == 2 * np.arange(1024).reshape(32, 32)).all()
    # A warp's row of 128 bytes is 4 sectors; a column was 32.
    sectors = next(change for change in fix.counters if change.name == "global_sectors")
    assert (sectors.before, sectors.after) == (2 * 32 * 32, 2 * 32 * 4)


def test_exchanged_axes_of_a_grid_that_is_not_square_are_not_proven(tmp_path):
    source = "\n@cuda.jit\ndef kernel(a, out):\n    y, x = cuda.grid(2)\n    out[y, x] = a[y, x] * 2\n"
    shapes = (Array((64, 32), "int32", fill="arange"), Array((64, 32), "int32"))
    ended = trace(tmp_path, source, shapes, grid=(2, 1, 1), block=(32, 32, 1))
    assert proof(tmp_path, ended, "uncoalesced") is None
