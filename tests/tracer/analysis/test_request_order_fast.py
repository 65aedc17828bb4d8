"""The short way to the requests of regular traces gives what the long way gives; and mapped traces are the same."""

from __future__ import annotations

import tempfile
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engines import assert_same, nothing
from launching import Array, launch
from random_kernels import SIZE, kernels
from tilescope.kernels.scenarios.catalogue import find, scenarios
from tilescope.tracer.analysis import request_order
from tilescope.tracer.analysis.request_order import OrderedRequests, ordered_requests
from tilescope.tracer.analysis.request_order_fast import access_matrices
from tilescope.tracer.compiled.driver import engine as compiled
from tilescope.tracer.model.launch import Schedule
from tilescope.tracer.model.plan import launch_of
from tilescope.tracer.model.trace import Trace
from tilescope.tracer.storage.trace_file import load, save

KERNELS = [s.name for s in scenarios() if s.engine == "cuda"]


def the_long_way(trace: Trace) -> OrderedRequests:
    """Return the requests of a trace in order as if it were not regular."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(request_order, "access_matrices", lambda trace: None)
        return ordered_requests(trace)


def assert_alike(trace: Trace) -> None:
    """Assert that both ways lead to the same order."""
    short, long = ordered_requests(trace), the_long_way(trace)
    for field in fields(OrderedRequests):
        assert np.array_equal(getattr(short, field.name), getattr(long, field.name)), field.name


@pytest.mark.parametrize("name", KERNELS)
def test_both_ways_order_requests_alike(name):
    assert_alike(compiled.run_compiled(launch_of(find(name), {}, schedule=Schedule("sequential")), nothing))


@settings(max_examples=30, deadline=None, print_blob=True)
@given(source=kernels(), block=st.sampled_from([1, 8, 33, 70]))
def test_of_random_kernels(source, block):
    with tempfile.TemporaryDirectory() as folder:
        arguments = (Array((SIZE,), "int32", "arange"), Array((SIZE,), "int32"))
        made = launch(Path(folder), source, arguments, (3, 1, 1), (block, 1, 1), "sequential")
        traced = compiled.run_compiled(made, nothing)
    if len(traced):
        assert_alike(traced)


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
