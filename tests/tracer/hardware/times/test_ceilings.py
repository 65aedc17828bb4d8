"""The ceilings of an emulated device: the kernel and size of the large product, and when there is none."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest

from measured import case
from tilescope.tracer.hardware.times import ceilings
from tilescope.tracer.hardware.times.cases import launch_of_case, row_of
from tilescope.tracer.hardware.times.ceilings import Cublas, CublasError, Matrices, ceilings_of
from tilescope.tracer.hardware.times.cuda_c import source_of
from tilescope.tracer.hardware.times.measurement import MeasurementError
from tilescope.tracer.hardware.times.timed_calls import timed_call_of
from tilescope.tracer.recording.reference_check import compare_results

SMALL = (128, 256, 512)


class OnDevice:
    """An array that is played to be on the device."""

    def __init__(self, array):
        self.array = array.copy()

    @property
    def __cuda_array_interface__(self):
        return {"data": (self.array.ctypes.data, False)}

    def copy_to_host(self):
        return self.array.copy()

    def copy_to_device(self, array):
        self.array[:] = array


class PlayedGpu:
    """A device that takes `us` microseconds for everything, and has `room` bytes of memory."""

    stream, two_events = 1, 1.25

    def __init__(self, us=10.0, room=1 << 30):
        self.us, self.room = us, room

    def on_device(self, array):
        return OnDevice(array)

    def kernel_time(self, work, *, flush):
        work()
        return self.us

    def arithmetic(self, rounds, real):
        return 57_000.0 if real == "float32" else 33_000.0

    def free_memory(self):
        return self.room

    def copy_rate(self):
        return 4200.0

    def empty_time(self):
        return 1.4

    def synchronize(self):
        pass


@pytest.fixture
def numpy_multiplies(monkeypatch):
    """Let NumPy stand for our own kernel, `off` be added to what it computes, and cuBLAS be missing."""

    def play(off=0.0):
        def multiply(matrices):
            a, b, c = matrices._device
            return lambda: np.copyto(c.array, a.array @ b.array + off)

        def missing():
            raise CublasError("not installed")

        monkeypatch.setattr(ceilings, "SIDES", SMALL)
        monkeypatch.setattr(ceilings, "own_product", multiply)
        monkeypatch.setattr(ceilings, "_library", missing)

    return play


def test_without_cublas_the_ceiling_is_our_kernel(numpy_multiplies):
    numpy_multiplies()
    results = ceilings_of(PlayedGpu())
    assert (results.copy_gb_per_s, results.empty_kernel_us, results.two_events_us) == (4200, 1.4, 1.25)
    assert [(peak.dtype, peak.by) for peak in results.peaks] == [
        ("float32", "cuda-c"),
        ("float32", "registers"),
        ("float64", "cuda-c"),
        ("float64", "registers"),
    ]
    product, registers = results.peaks[:2]
    assert product.method == "product 512 x 512, large_product.cu"
    assert product.gflop_per_s == pytest.approx(2 * 512**3 / 10 / 1000)
    assert registers.gflop_per_s == 57_000


def test_a_wrong_product_is_no_ceiling(numpy_multiplies):
    numpy_multiplies(off=0.5)
    assert {peak.by for peak in ceilings_of(PlayedGpu()).peaks} == {"registers"}


@pytest.mark.parametrize(
    ("gpu", "side"),
    [
        (PlayedGpu(us=20_000.0), 128),  # a side twice as long takes eight times as long
        (PlayedGpu(us=12_000.0), 256),
        (PlayedGpu(room=12 * 256 * 256 * 4), 256),
        (PlayedGpu(room=0), 128),
    ],
    ids=["slow", "less slow", "little memory", "no memory"],
)
def test_a_small_device_takes_a_smaller_product(numpy_multiplies, gpu, side):
    numpy_multiplies()
    assert f"product {side} x {side}," in ceilings_of(gpu).peaks[0].method


class Library:
    """As much of cuBLAS as is called: column by column, as it counts. status: what each call returns."""

    def __init__(self, **status):
        self.status, self.called = status, []

    def __getattr__(self, name):
        def call(*arguments):
            self.called.append(name)
            if name == "cublasGetVersion_v2":
                arguments[1]._obj.value = 130_100
            if name in ("cublasSgemm_v2", "cublasDgemm_v2"):
                self.multiply(ctypes.c_float if name == "cublasSgemm_v2" else ctypes.c_double, *arguments[3:])
            return self.status.get(name, 0)

        return call

    def multiply(self, real, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc):
        assert (lda, ldb, ldc) == (m, k, m)
        sizes = (m * k, k * n, m * n)
        a, b, c = (
            np.ctypeslib.as_array((real * size).from_address(p.value))
            for size, p in zip(sizes, (a, b, c), strict=True)
        )
        c[:] = (alpha._obj.value * (a.reshape(k, m).T @ b.reshape(n, k).T)).T.ravel()


def test_cublas_is_used_and_named_where_it_is_installed(numpy_multiplies, monkeypatch):
    numpy_multiplies()
    library = Library()
    monkeypatch.setattr(ceilings, "_library", lambda: library)
    peaks = {(peak.dtype, peak.by): peak.method for peak in ceilings_of(PlayedGpu()).peaks}
    assert peaks["float32", "cublas"] == "product 512 x 512, cuBLAS 13.1 SGEMM, TF32 off"
    assert peaks["float64", "cublas"] == "product 512 x 512, cuBLAS 13.1 DGEMM"
    assert peaks["float32", "cuda-c"]
    assert library.called.count("cublasDestroy_v2") == 2


@pytest.mark.parametrize("failing", ["cublasCreate_v2", "cublasSetStream_v2", "cublasSgemm_v2"])
def test_a_broken_cublas_is_skipped(numpy_multiplies, monkeypatch, failing):
    numpy_multiplies()
    monkeypatch.setattr(ceilings, "_library", lambda: Library(**{failing: 1}))
    assert [peak.by for peak in ceilings_of(PlayedGpu()).peaks if peak.dtype == "float32"] == [
        "cuda-c",
        "registers",
    ]


def test_cublas_multiplies_row_by_row(monkeypatch):
    monkeypatch.setattr(ceilings, "_library", lambda: Library())
    matrices = Matrices(PlayedGpu(), "float64", 128)
    assert not matrices.is_product_correct()
    with Cublas(PlayedGpu()) as cublas:
        cublas.product(matrices)()
    assert matrices.is_product_correct()
    matrices.clear()
    assert not matrices.is_product_correct()


def test_cublas_multiplies_the_arrays_of_a_kernel(monkeypatch):
    monkeypatch.setattr(ceilings, "_library", lambda: Library())
    measured = case("matmul-two-buffers", "cublas", m=64, k=32, n=128, tile=32, side=4)
    assert measured.needs_device and row_of(measured).engine == "cublas"
    call = timed_call_of(measured, PlayedGpu())
    assert not call.compiles
    names = ("a", "b", "c")
    assert compare_results(launch_of_case(measured), names, call.results()).equal
    assert {"kernel-cold", "kernel-warm", "call"} <= call.samplers().keys()
    assert call.samplers()["kernel-warm"]() == 10.0


def test_a_missing_cublas_is_reported_in_its_row(monkeypatch):
    def missing():
        raise CublasError("not installed")

    monkeypatch.setattr(ceilings, "_library", missing)
    with pytest.raises(MeasurementError, match=r"cuBLAS can't be used here \(not installed\); install"):
        timed_call_of(case("matmul-two-buffers", "cublas"), PlayedGpu())


def test_our_kernel_has_the_tiles_that_its_launch_expects():
    path, text = source_of(ceilings.OWN)
    assert path.is_file()
    assert "void __launch_bounds__(256) large_product(" in text
    assert "side = 128" in text
    assert all(side % 128 == 0 for side in ceilings.SIDES)
