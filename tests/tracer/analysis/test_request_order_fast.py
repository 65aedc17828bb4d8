"""The short way to the requests of regular traces gives what the long way gives; and mapped traces are the same."""

from __future__ import annotations

import numpy as np
import pytest

from engines import assert_same, assert_same_request_order, ignore_progress
from numba_catalogue import find_numba, numba_scenarios
from tilescope.kernels.scenarios.catalogue import find
from tilescope.tracer.analysis import request_order_fast
from tilescope.tracer.analysis.request_order_fast import access_matrices
from tilescope.tracer.analysis.requests import requests_of
from tilescope.tracer.compiled.driver import engine as compiled
from tilescope.tracer.model.launch import Schedule
from tilescope.tracer.model.plan import launch_of
from tilescope.tracer.storage.trace_file import load, save

KERNELS = [s.name for s in numba_scenarios() if s.engine == "cuda"]


@pytest.mark.parametrize("name", KERNELS)
def test_both_methods_order_requests_alike(name):
    assert_same_request_order(
        compiled.run_compiled(
            launch_of(find_numba(name), {}, schedule=Schedule("sequential")), ignore_progress
        )
    )


@pytest.mark.parametrize("size", [15, 16, 20])
def test_accesses_of_selected_requests_match_those_of_all(size):
    launch = launch_of(find("matmul-tiled"), {"m": size, "k": size, "n": size, "tile": 8})
    requests = requests_of(compiled.run_compiled(launch, ignore_progress))
    each = np.split(requests.order, requests.start[1:-1])
    assert requests.accesses.heads().tolist() == [rows[0] for rows in each]
    generator = np.random.default_rng(size)
    for count in (0, 1, 50):
        some = generator.choice(len(requests), count)
        expected = [row for number in some.tolist() for row in each[number].tolist()]
        assert requests.accesses.rows_of(some).tolist() == expected
    low, high = len(requests) // 3, len(requests) // 2
    assert requests.accesses.rows_of(slice(low, high)).tolist() == np.concatenate(each[low:high]).tolist()


@pytest.mark.parametrize(("size", "left"), [(16, 0.0), (20, 0.5), (15, 0.9)])
def test_irregular_lanes_use_the_slow_method(size, left):
    launch = launch_of(find("matmul-tiled"), {"m": size, "k": size, "n": size, "tile": 8})
    trace = compiled.run_compiled(launch, ignore_progress)
    matrices = access_matrices(trace)
    others = len(matrices[1]) / len(trace) if matrices else 1.0
    assert (others == 0) == (left == 0) and others <= left
    assert_same_request_order(trace)


def test_a_mapped_trace_is_the_same_and_outlives_its_file(tmp_path):
    launch = compiled.run_compiled(
        launch_of(find("matmul-tiled"), {"m": 128, "k": 64, "n": 64}), ignore_progress
    )
    for compress in (False, True):
        path = tmp_path / "trace"
        save(launch, path, compress=compress)
        mapped = load(path, mapped=True)
        assert isinstance(mapped.index.base, np.memmap) == (not compress)
        path.unlink()
        assert_same(mapped, launch, 0.0)
        assert not mapped.index.flags.writeable


@pytest.mark.parametrize("name", ["matmul-tiled", "transpose-naive"])
def test_sorted_keys_give_the_costs_of_a_table(monkeypatch, name):
    trace = compiled.run_compiled(launch_of(find(name), {}, schedule=Schedule("sequential")), ignore_progress)
    by_table = requests_of(trace)
    monkeypatch.setattr(request_order_fast, "SPARSE", 0)
    by_sorting = requests_of(trace)
    for column in ("site", "moment", "sectors", "wavefronts"):
        np.testing.assert_array_equal(getattr(by_sorting, column), getattr(by_table, column))
