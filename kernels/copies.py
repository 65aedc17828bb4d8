"""Two copies of a vector that differ in which elements of A they take: every so many, or all from one on."""

from numba import cuda


@cuda.jit
def with_stride(a, out, stride):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a[i * stride]


@cuda.jit
def with_offset(a, out, offset):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a[i + offset]
