"""Local variables of threads at a moment, and expressions of them over all threads of a block."""

from __future__ import annotations

import numpy as np
import pytest

from launching import Array, trace
from random_flows import random_kernel
from tilescope.tracer.causes.value_path import Causes
from tilescope.tracer.causes.variables import WatchError, variables_of, watch
from tilescope.tracer.model.trace import Op

SUMS = """
@cuda.jit
def kernel(a, out):
    t = cuda.grid(1)
    total = 0.0
    for i in range(3):
        total += a[t * 3 + i]
    odd = t % 2 == 1
    if odd:
        total = -total
    out[t] = total
"""


@pytest.fixture(scope="module")
def sums(tmp_path_factory):
    arrays = (Array((12,), "float64", fill="arange"), Array((4,), "float64"))
    launched = trace(tmp_path_factory.mktemp("sums"), SUMS, arrays, block=(4, 1, 1))
    return launched, Causes(launched).flows


def test_variables_are_those_before_the_next_access(sums):
    _, flows = sums
    assert dict(variables_of(flows, 0, 2, 0).values) == {"t": 2, "total": 0.0, "i": 0}
    assert dict(variables_of(flows, 0, 2, 2).values) == {"t": 2, "total": 13.0, "i": 2}
    assert dict(variables_of(flows, 0, 3, 4).values) == {"t": 3, "total": -30.0, "i": 2, "odd": True}


def test_a_watched_expression_has_a_value_for_each_thread_and_moment(sums):
    launched, flows = sums
    watched = watch(flows, launched, 0, "total * 2")
    assert [watched.value(thread, 1) for thread in range(4)] == [0.0, 6.0, 12.0, 18.0]
    assert [watched.value(thread, 4) for thread in range(4)] == [6.0, -24.0, 42.0, -60.0]
    assert watched.limits == (-60.0, 42.0) and not watched.reason
    assert watch(flows, launched, 0, "odd").value(1, 2) is None  # not assigned yet
    assert watch(flows, launched, 0, "max(t, cuda.threadIdx.x) + i").value(3, 0) == 3


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("totl", "The kernel has no variable 'totl'; did you mean total?"),
        ("a[t]", "An expression has variables and no elements of arrays"),
        ("t +", "is not an expression"),
        ("(lambda: t)()", "An expression has variables, numbers, operators"),
        ("__import__('os')", "The kernel has no variable '__import__'"),
        ("9" * 500, "An expression has at most 400 characters"),
    ],
)
def test_a_bad_expression_is_one_sentence(sums, text, sentence):
    launched, flows = sums
    with pytest.raises(WatchError) as error:
        watch(flows, launched, 0, text)
    assert sentence in str(error.value) and str(error.value).rstrip("?.").count(". ") == 0


@pytest.mark.parametrize("seed", range(12))
def test_variables_of_random_kernels_hold_the_stored_values(tmp_path, seed):
    """A variable that a store writes has the value that the trace recorded."""
    arrays = (Array((12,), "int32", fill="arange"), Array((12,), "int32", fill="arange"))
    launched = trace(tmp_path, random_kernel(seed), arrays, grid=(2, 1, 1), block=(32, 1, 1))
    flows = Causes(launched).flows
    assert launched.value is not None
    for row in np.flatnonzero(launched.op == Op.STORE)[:40].tolist():
        site = launched.sites[int(launched.site[row])]
        line = next(iter(launched.sources.values())).splitlines()[site.line - 1]
        name = line.partition(" = ")[2].strip()
        block, thread = int(launched.block[row]), int(launched.thread[row])
        own = np.flatnonzero((launched.block == block) & (launched.thread == thread))
        values = dict(variables_of(flows, block, thread, int(np.searchsorted(own, row))).values)
        if name in values:
            assert values[name] == launched.value[row]
