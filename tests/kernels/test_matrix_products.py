"""Every matrix product, traced: its result equals NumPy for every type, input and edge that it offers."""

import numpy as np
import pytest

from tilescope.kernels.scenarios.catalogue import find, scenarios
from tilescope.kernels.scenarios.matmul_ladder_scenarios import LADDER
from tilescope.kernels.scenarios.matmul_scenarios import MATMULS
from tilescope.kernels.scenarios.matmul_variant_scenarios import VARIANTS, WORK_ITEMS
from tilescope.tracer.model.plan import launch_of
from tilescope.tracer.run.worker_client import Worker

PRODUCTS = [scenario.name for scenario in (*MATMULS, *VARIANTS, *WORK_ITEMS)]
KERNELS = [scenario for scenario in scenarios() if scenario.engine == "cuda"]
DTYPES = next(p.choices for p in find("matmul-tiled").parameters if p.name == "dtype")
KINDS = ("float16", "float64", "int8", "uint64")  # a narrow and a wide type of each kind


@pytest.fixture(scope="module")
def worker():
    worker = Worker()
    yield worker
    worker.close()


@pytest.mark.parametrize(
    ("name", "dtype"),
    [(name, dtype) for name in PRODUCTS for dtype in (DTYPES if name == "matmul-tiled" else KINDS)],
)
def test_every_type_equals_numpy(worker, name, dtype):
    trace = worker.run(launch_of(find(name), {"m": 9, "k": 11, "n": 10, "tile": 8, "dtype": dtype}))
    assert trace.error is None
    assert trace.check.equal
    assert {np.dtype(buffer.dtype) for buffer in trace.buffers} == {np.dtype(dtype)}
    if np.dtype(dtype).kind != "f":
        assert trace.check.largest_error == 0


@pytest.mark.parametrize("source", ["ones", "arange"])
@pytest.mark.parametrize("sizes", [(1, 1, 1), (5, 23, 7), (16, 8, 24), (33, 2, 1)])
@pytest.mark.parametrize("name", PRODUCTS)
def test_every_size_equals_numpy(worker, name, sizes, source):
    m, k, n = sizes
    trace = worker.run(launch_of(find(name), {"m": m, "k": k, "n": n, "tile": 8, "input": source}))
    assert trace.check.equal


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("name", PRODUCTS)
def test_a_users_matrices_equal_numpy(worker, name, order, tmp_path):
    random = np.random.default_rng(3)
    for file, shape in (("a.npy", (6, 9)), ("b.npy", (9, 4))):
        np.save(tmp_path / file, np.array(random.integers(-99, 99, shape), np.int64, order=order))
    paths = {"a": str(tmp_path / "a.npy"), "b": str(tmp_path / "b.npy")}
    trace = worker.run(launch_of(find(name), paths | {"tile": 8}))
    assert trace.check.equal
    assert [trace.buffers[i].shape for i in range(3)] == [(6, 9), (9, 4), (6, 4)]


@pytest.mark.parametrize("scenario", KERNELS, ids=lambda scenario: scenario.name)
def test_the_texts_fit_the_phases(worker, scenario):
    sizes = {} if scenario in LADDER else {"m": 8, "k": 24, "n": 24, "tile": 8, "count": 500}
    known_names = [parameter.name for parameter in scenario.parameters]
    trace = worker.run(launch_of(scenario, {name: n for name, n in sizes.items() if name in known_names}))
    phases = int(trace.phase.max()) + 1
    rounds, rest = divmod(phases - bool(scenario.last), len(scenario.phases))
    numbered = all("{step}" in text.label for text in scenario.phases)
    assert rest == 0
    assert rounds > 1 if numbered else rounds == 1
