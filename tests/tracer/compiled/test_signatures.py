"""Kernels that are declared for types: their arguments become numbers of these before either engine sees them."""

from __future__ import annotations

import numpy as np
import pytest

from engines import assert_engines_agree
from launching import Array, Scalar, final_contents, launch
from tilescope.tracer.compiled.driver import engine as compiled
from tilescope.tracer.recording.kernel_loader import LoadError
from tilescope.tracer.simulator import numba_patch

BITS = """
@cuda.jit("void(int64[:], {kind})")
def kernel(out, value):
    out[0], out[1], out[2] = cuda.clz(value), cuda.brev(value), cuda.ffs(value)
"""
RATIO = """
@cuda.jit([(float64[:], float32, float32)])
def kernel(out, a, b):
    out[0] = a / b
"""


@pytest.fixture(autouse=True)
def our_decorator():
    """Numba's own simulator forgets what a kernel was declared for."""
    numba_patch.install()


@pytest.mark.parametrize("kind, zeros, turned", [("int32", 29, 0xA0000000), ("int64", 61, 0xA0000000)])
def test_bits_are_counted_in_the_type_of_the_signature(tmp_path, kind, zeros, turned):
    arguments = (Array((3,), "int64"), Scalar(5))
    kernel_launch = assert_engines_agree(launch(tmp_path, BITS.format(kind=kind), arguments))
    results = final_contents(kernel_launch, "out").astype(np.uint64)
    assert results[0] == zeros
    # Numba has no brev of an int64, and takes that of a uint32.
    assert results[1] & np.uint64(0xFFFFFFFF) == turned
    assert results[2] == 1


def test_numbers_are_computed_with_in_the_precision_of_the_signature(tmp_path):
    kernel_launch = assert_engines_agree(
        launch(tmp_path, RATIO, (Array((1,), "float64"), Scalar(1.0), Scalar(3.0)))
    )
    assert final_contents(kernel_launch, "out")[0] == np.float32(1) / np.float32(3)


def test_arguments_that_no_signature_takes_make_no_launch(tmp_path):
    kernel_launch = launch(tmp_path, RATIO, (Array((1,), "int32"), Scalar(1.0), Scalar(3.0)))
    for run in (compiled.run_compiled, numba_patch.run):
        with pytest.raises(LoadError, match="is declared for"):
            run(kernel_launch, lambda done, total: None)
