"""The scope of a race: an element is raced for between blocks only if accesses of different blocks conflict there."""

from __future__ import annotations

import pytest

from finding_kernels import trace_kernel
from launching import Array
from tilescope.tracer.analysis.requests import requests_of
from tilescope.tracer.findings.all_findings import findings_of

NEIGHBOUR = "if i + 1 < arg0.size:\n    arg0[i] += arg0[i + 1]"
HISTOGRAM = "arg1[arg0[i]] += 1"


def races(folder, body, *arguments, grid, block=32):
    ended = trace_kernel(folder, body, *arguments, grid=grid, block=block)
    return [f for f in findings_of(ended, requests_of(ended)) if f.kind == "race"]


def counts(findings):
    """Return the number of elements by scope, as the messages name it."""
    scopes = {"of different blocks": "blocks", "of one block": "block", "of one warp": "warp"}
    return {name: f.count for f in findings for text, name in scopes.items() if text in f.message}


@pytest.mark.parametrize(("grid", "block"), [(4, 16), (2, 32), (1, 64), (3, 64)])
def test_only_elements_at_the_ends_of_blocks_are_raced_for_between_blocks(tmp_path, grid, block):
    size = grid * block
    found = counts(races(tmp_path, NEIGHBOUR, Array((size,), "int32", "arange"), grid=grid, block=block))
    between = {"blocks": grid - 1} if grid > 1 else {}
    assert found == between | {"block" if block > 32 else "warp": size - 2 - (grid - 1)}


def test_a_barrier_in_blocks_leaves_only_the_ends(tmp_path):
    body = "x = 0\nif i + 1 < arg0.size:\n    x = arg0[i + 1]\ncuda.syncthreads()\narg0[i] += x"
    found = counts(races(tmp_path, body, Array((64,), "int32", "arange"), grid=4, block=16))
    assert found == {"blocks": 3}


@pytest.mark.parametrize("body", [HISTOGRAM, f"{HISTOGRAM}\ncuda.atomic.add(arg1, 63, 1)"])
def test_one_remedy_for_both_scopes_is_one_finding_that_counts_both(tmp_path, body):
    """Eight threads of block 0 share bin 5, which no other block uses; the others use bin 7."""
    body = f"arg0[i] = 5 if b == 0 and t < 8 else 7\n{body}"
    arguments = (Array((64,), "int32", "zeros"), Array((64,), "int32", "zeros"))
    (finding,) = races(tmp_path, body, *arguments, grid=2)
    assert finding.count == 2
    assert (
        "by threads of different blocks, 1 of them by threads of one block, which nothing orders"
        in finding.message
    )
    assert "; use cuda.atomic to" in finding.message
