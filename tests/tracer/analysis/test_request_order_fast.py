"""The short way to the requests of regular traces gives what the long way gives; and mapped traces are the same."""

from __future__ import annotations

import numpy as np
import pytest

from engines import assert_ordered_alike, assert_same, nothing
from tilescope.kernels.scenarios.catalogue import find, scenarios
from tilescope.tracer.analysis.request_order_fast import access_matrices
from tilescope.tracer.compiled.driver import engine as compiled
from tilescope.tracer.model.launch import Schedule
from tilescope.tracer.model.plan import launch_of
from tilescope.tracer.storage.trace_file import load, save

KERNELS = [s.name for s in scenarios() if s.engine == "cuda"]


@pytest.mark.parametrize("name", KERNELS)
def test_both_ways_order_requests_alike(name):
    assert_ordered_alike(
        compiled.run_compiled(launch_of(find(name), {}, schedule=Schedule("sequential")), nothing)
    )


@pytest.mark.parametrize(("size", "regular"), [(16, True), (20, False)])
def test_lanes_that_did_different_things_are_not_regular(size, regular):
    made = launch_of(find("matmul-tiled"), {"m": size, "k": size, "n": size, "tile": 8})
    assert (access_matrices(compiled.run_compiled(made, nothing)) is not None) == regular


def test_a_mapped_trace_is_the_same_and_outlives_its_file(tmp_path):
    made = compiled.run_compiled(launch_of(find("matmul-tiled"), {"m": 128, "k": 64, "n": 64}), nothing)
    for compress in (False, True):
        path = tmp_path / "trace"
        save(made, path, compress=compress)
        mapped = load(path, mapped=True)
        assert isinstance(mapped.index.base, np.memmap) == (not compress)
        path.unlink()
        assert_same(mapped, made, 0.0)
        assert not mapped.index.flags.writeable
