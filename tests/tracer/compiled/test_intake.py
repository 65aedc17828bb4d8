"""Rows that compiled code puts into columns by itself: the trace is to the byte the one that the driver makes."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import msgspec
import pytest

from engines import LONGS, assert_identical, ignore_progress, kernel_source, limit_accesses
from launching import Array, launch
from numba_catalogue import numba_scenarios
from tilescope.kernels.scenarios.catalogue import find
from tilescope.tracer.compiled.driver import engine as compiled
from tilescope.tracer.compiled.driver import intake_tables, parts, row_recorder
from tilescope.tracer.compiled.driver.row_recorder import RowRecorder
from tilescope.tracer.compiled.rewrite.round_bits import has_rounds_to_record
from tilescope.tracer.model.launch import Launch, Schedule
from tilescope.tracer.model.plan import launch_of
from tilescope.tracer.model.trace import Trace
from tilescope.tracer.recording.kernel_loader import load_kernel

FEW = 256  # rows for which there is room: more than most threads make before they wait
ORDERS = (Schedule("sequential"), Schedule("lockstep"), Schedule("random", 1))
MIXED = """
@cuda.jit
def kernel(a, b, c, out):
    i = cuda.grid(1)
    for k in range(30):
        out[i] += a[(i + k) % 64] * b[k] - c[i]
        b[(i + k) % 64] += np.uint8(k)
"""
PHASES = """
for k in range(300):
    out[cuda.threadIdx.x] += a[k % 64]
    cuda.syncthreads()
"""


class Counted:
    """How many rows the driver has put into columns, and how many compiled code.

    The parts of a launch run in threads, so counts are appended: += in two threads may lose one of them.
    """

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self._driver: list[int] = []
        self._code: list[int] = []
        keep, catch_up = RowRecorder._keep, RowRecorder._catch_up

        def counted_keep(recorder: RowRecorder, rows: Any) -> None:
            self._driver.append(len(rows))
            keep(recorder, rows)

        def counted_catch_up(recorder: RowRecorder) -> None:
            self._code.append(recorder._intake.taken)
            catch_up(recorder)

        patch.setattr(RowRecorder, "_keep", counted_keep)
        patch.setattr(RowRecorder, "_catch_up", counted_catch_up)

    @property
    def driver(self) -> int:
        """Number of rows that the driver has put into columns."""
        return sum(self._driver)

    @property
    def code(self) -> int:
        """Number of rows that compiled code has put into columns."""
        return sum(self._code)


def run(trace: Launch, *, by_code: bool) -> tuple[Trace, Counted]:
    """Return the trace of a launch, with room for few rows, and who put them into columns."""
    with pytest.MonkeyPatch.context() as patch:
        for module in (row_recorder, parts):
            patch.setattr(module, "CHUNK", FEW)
        if not by_code:
            patch.setattr(intake_tables.Intake, "begin", lambda *given: None)
        counted = Counted(patch)
        return compiled.run_compiled(
            trace, ignore_progress, turns=trace.schedule.kind != "sequential"
        ), counted


def assert_alike(launch: Launch) -> Counted:
    """Assert that both make the same trace; return who put which rows into columns where compiled code might."""
    (ours, counted), (theirs, _) = (run(launch, by_code=by_code) for by_code in (True, False))
    assert_identical(ours, theirs)
    assert counted.driver + counted.code == len(ours) or len(ours) < ours.accesses
    return counted


@pytest.mark.parametrize("order", ORDERS, ids=lambda order: order.kind)
@pytest.mark.parametrize(
    "scenario", [s for s in numba_scenarios() if s.engine != "python"], ids=lambda s: s.name
)
def test_scenarios(scenario, order):
    counted = assert_alike(launch := launch_of(scenario, {}, schedule=order))
    driven = order.kind == "sequential" or has_rounds_to_record(load_kernel(launch)[1].py_func)
    assert driven or counted.code > counted.driver or counted.driver < 20 * FEW


@pytest.mark.parametrize("order", ORDERS, ids=lambda order: order.kind)
@pytest.mark.parametrize(
    ("kinds", "most"),
    [
        (("float32", "int32", "uint16", "float64"), 0.2), (("int64", "int8", "bool", "int32"), 0.2),
        (("uint64", "uint8", "uint8", "uint64"), 1.0), (("float32", "float32", "float32", "float32"), 0.2),
        (("uint8", "uint8", "uint8", "uint8"), 0.2), (("complex64", "float32", "int16", "complex64"), 1.0),
        (("float16", "int32", "int16", "float32"), 1.0), (("uint64", "int64", "int64", "float64"), 0.2),
    ],
)  # fmt: skip
def test_values_of_several_types(kinds, most, order, tmp_path):
    arrays = tuple(Array((64,), kind, "random" if kind[0] in "fc" else "arange") for kind in kinds)
    kernel_launch = launch(tmp_path, MIXED, arrays, (2, 1, 1), (32, 1, 1), order.kind, order.seed)
    counted = assert_alike(kernel_launch)
    assert counted.driver <= most * (counted.driver + counted.code)


def test_more_phases_and_larger_indices_than_a_byte_holds(tmp_path):
    kernel_launch = launch(tmp_path, kernel_source(PHASES), LONGS, block=(33, 1, 1), schedule="sequential")
    assert assert_alike(kernel_launch).code > 10_000
    large = (Array((1 << 18,), "int64", "arange"), Array((1 << 18,), "int64"))
    body = "for i in range(cuda.grid(1), a.size, 4096):\n    out[i] = a[i]"
    assert assert_alike(launch(tmp_path, kernel_source(body), large, block=(64, 1, 1))).code > 6_000


@pytest.mark.parametrize("kept", [500, 3000, 10_000])
def test_a_launch_that_keeps_part_of_its_accesses(kept, tmp_path):
    launch = limit_accesses(launch_of(find("matmul-tiled"), {"m": 16, "k": 16, "n": 16, "tile": 4}), kept)
    assert_alike(launch)
    assert_alike(msgspec.structs.replace(launch, schedule=Schedule("random", 3)))


def test_an_access_outside_has_its_step(tmp_path):
    body = "i = cuda.grid(1)\nfor k in range(30):\n    out[i] += a[i + k]"
    kernel_launch = launch(tmp_path, kernel_source(body), LONGS, (1, 1, 1), (64, 1, 1), "sequential")
    assert assert_alike(kernel_launch).code > 1000


def test_columns_end_with_their_trace():
    """References from compiled code are released without a garbage collection."""
    launch = launch_of(find("matmul-tiled"), {"m": 16, "k": 16, "n": 16}, schedule=Schedule("sequential"))
    gc.collect()
    gc.disable()
    try:
        trace, counted = run(launch, by_code=True)
        assert counted.code
        column = weakref.ref(trace.index.base)
        del trace
        assert column() is None
    finally:
        gc.enable()
