"""What is recorded of the arrays that kernels use: elements of views, types, shared and local memory."""

from __future__ import annotations

import numpy as np
import pytest

from launching import Array, Scalar, access_rows, final_contents, trace
from tilescope.tracer.model.trace import Op

REALS = ["float16", "float32", "float64"]
INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]


def test_columns_of_a_copy(tmp_path):
    source = """
    @cuda.jit
    def kernel(a, out):
        i = cuda.grid(1)
        out[i] = a[i]
    """
    traced = trace(
        tmp_path,
        source,
        (Array((6,), fill="arange"), Array((6,))),
        grid=(3, 1, 1),
        block=(2, 1, 1),
        resident=1,
    )
    assert traced.block.tolist() == [0] * 4 + [1] * 4 + [2] * 4
    assert traced.thread.tolist() == [0, 1, 0, 1] * 3
    assert traced.op.tolist() == [Op.LOAD, Op.LOAD, Op.STORE, Op.STORE] * 3
    assert traced.index.tolist() == [0, 1, 0, 1, 2, 3, 2, 3, 4, 5, 4, 5]
    assert traced.value.tolist() == [0, 1, 0, 1, 2, 3, 2, 3, 4, 5, 4, 5]
    assert traced.step.tolist() == list(range(12))
    load, store = (traced.sites[s] for s in (traced.site[0], traced.site[2]))
    lines = traced.sources[load.file].splitlines()
    assert load.function == "kernel"
    assert lines[load.line - 1][load.column :] == "a[i]"
    assert lines[store.line - 1][store.column :] == "out[i] = a[i]"


def test_views_slices_and_transposes_record_the_element_they_look_into(tmp_path):
    source = """
    @cuda.jit
    def kernel(a, out):
        column = a[:, 2]
        middle = a[1:3, 1:4]
        flipped = a.T
        back = a[::-1, ::-2]
        out[0] = column[1]
        out[1] = middle[1, -1]
        out[2] = flipped[4, 0]
        out[3] = back[0, 0]
        out[4] = a[-1][0]
        out[5] = a.reshape(15)[7]
        out[6] = a.reshape((5, 3))[2, 2]
        out[7] = a[1][1:][2]
    """
    traced = trace(tmp_path, source, (Array((3, 5), fill="arange"), Array((8,))))
    expected = [7, 13, 4, 14, 10, 7, 8, 8]
    assert [i for _, _, _, i in access_rows(traced, "a")] == expected
    assert final_contents(traced, "out").tolist() == expected


def test_slice_assignment_stores_each_element(tmp_path):
    source = """
    @cuda.jit
    def kernel(a, b):
        a[0, :] = 7
        a[1] = b[0, 2]
    """
    traced = trace(tmp_path, source, (Array((2, 3)), Array((1, 3), fill="arange")))
    assert final_contents(traced, "a").tolist() == [[7, 7, 7], [2, 2, 2]]
    assert access_rows(traced, "b") == [(0, 0, "L", 2)]


def test_iterating_over_an_array_loads_it(tmp_path):
    source = """
    @cuda.jit
    def kernel(a, out):
        for value in a:
            out[0] += value
    """
    traced = trace(tmp_path, source, (Array((4,), fill="arange"), Array((1,))))
    assert final_contents(traced, "out")[0] == 6
    assert [i for _, _, _, i in access_rows(traced, "a")] == [0, 1, 2, 3]


@pytest.mark.parametrize("dtype", [*REALS, *INTEGERS, "complex64", "complex128"])
def test_every_simple_type(tmp_path, dtype):
    source = """
    @cuda.jit
    def kernel(a, out):
        i = cuda.grid(1)
        out[i] = a[i] + a[i]
    """
    traced = trace(tmp_path, source, (Array((8,), dtype, "arange"), Array((8,), dtype)), block=(8, 1, 1))
    assert final_contents(traced, "out").tolist() == [2 * i for i in range(8)]
    assert traced.value.dtype == dtype
    assert traced.buffers[0].dtype == np.dtype(dtype).str


def test_real_and_imaginary_parts_are_views(tmp_path):
    source = """
    @cuda.jit
    def kernel(z, out):
        z.imag[1] = 7
        cuda.atomic.add(z.real, 1, 2)
        out[0] = z[1].imag + out.real[0]
    """
    traced = trace(tmp_path, source, (Array((3,), "complex64", "ones"), Array((1,))))
    complete, imag, real = (
        next(b for b in traced.buffers if b.name == name) for name in ("z", "z.imag", "z.real")
    )
    assert (imag.address - complete.address, real.address - complete.address) == (4, 0)
    assert imag.unit == real.unit == complete.unit == 8
    assert final_contents(traced, "out")[0] == 7
    assert access_rows(traced, "z.imag") == [(0, 0, "S", 1)]
    assert access_rows(traced, "z.real") == [(0, 0, "R", 1)]


@pytest.mark.parametrize("dtype", INTEGERS)
def test_numbers_that_do_not_fit_wrap(tmp_path, dtype):
    source = """
    @cuda.jit
    def kernel(out, big):
        out[0] = big + 12
        out[1] = -1
    """
    info = np.iinfo(dtype)
    traced = trace(tmp_path, source, (Array((2,), dtype), Scalar(int(info.max) + 1)))
    wrapped = np.array([int(info.max) + 13, -1], object)
    bits = 1 << (np.dtype(dtype).itemsize * 8)
    expected = [v % bits - (bits if dtype[0] == "i" and v % bits > info.max else 0) for v in wrapped]
    assert final_contents(traced, "out").tolist() == expected


def test_arithmetic_that_overflows_is_no_error(tmp_path):
    source = """
    @cuda.jit
    def kernel(a, x):
        a[0] = a[1] * np.int8(100) * np.int8(2)
        x[0] = x[1] / x[2]
    """
    traced = trace(tmp_path, source, (Array((2,), "int8", "ones"), Array((3,))))
    assert traced.error is None
    assert final_contents(traced, "a")[0] == -56
    assert np.isnan(final_contents(traced, "x")[0])


def test_values_of_mixed_types_are_kept_in_the_widest(tmp_path):
    source = """
    @cuda.jit
    def kernel(i, x):
        x[0] = i[0] / 3
    """
    traced = trace(tmp_path, source, (Array((1,), "int32", "ones"), Array((1,), "float64")))
    assert traced.value.dtype == np.float64
    assert traced.value.tolist() == [1, 1 / 3]
