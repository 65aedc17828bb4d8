"""What warps ask of memory at any stride, in any type: counted by kernels, against sets of bytes."""

from __future__ import annotations

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bank_passes import count_wavefronts
from launching import Array, Scalar, trace
from tilescope.tracer.analysis.counters import counters_of
from tilescope.tracer.analysis.requests import requests_of

TYPES = "from numba import complex64, complex128, int8, int16\n"
KERNEL = """
@cuda.jit
def kernel(a, out, stride, offset):
    words = cuda.shared.array(1024, {dtype})
    t = cuda.threadIdx.x
    words[(offset + t * stride) % 1024] = a[(offset + t * stride) % 1024]
    cuda.syncthreads()
    out[t] = words[(offset + t * stride) % 1024]
"""
DTYPES = ("int8", "uint8", "int16", "float32", "int32", "float64", "int64", "complex64", "complex128")


def sectors(elements, size):
    return len({byte // 32 for e in elements for byte in range(e * size, e * size + size)})


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    dtype=st.sampled_from(DTYPES), stride=st.integers(0, 130), offset=st.integers(0, 1023),
    threads=st.sampled_from([1, 7, 32, 40, 64]),
)  # fmt: skip
def test_counters_are_those_of_the_bytes_that_each_warp_touches(tmp_path, dtype, stride, offset, threads):
    given_ = (Array((1024,), dtype, "ones"), Array((64,), dtype), Scalar(stride), Scalar(offset))
    ended = trace(tmp_path, TYPES + KERNEL.format(dtype=dtype), given_, block=(threads, 1, 1))
    total = counters_of(ended, requests_of(ended)).total
    size, parts = np.dtype(dtype).itemsize, 1 + dtype.startswith("complex")
    warps = [range(first, min(first + 32, threads)) for first in range(0, threads, 32)]
    places = [[(offset + t * stride) % 1024 for t in warp] for warp in warps]
    assert total["global_load_requests"] == parts * len(warps)
    assert total["global_load_sectors"] == parts * sum(sectors(warp, size) for warp in places)
    assert total["global_store_sectors"] == parts * sum(sectors(warp, size) for warp in warps)
    assert total["global_load_bytes"] == size * threads
    for kind in ("load", "store"):
        assert total[f"shared_{kind}_instructions"] == len(warps)
        assert total[f"shared_{kind}_wavefronts"] == sum(
            count_wavefronts({lane: e * size for lane, e in enumerate(warp)}, size) for warp in places
        )
