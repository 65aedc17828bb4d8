from numba import cuda


@cuda.jit
def warp_sums(a, out):
    i = cuda.grid(1)
    if i < a.shape[0]:
        value = a[i]
        delta = 16
        while delta > 0:
            value += cuda.shfl_down_sync(0xFFFFFFFF, value, delta)
            delta //= 2
        if i % 32 == 0:
            out[i // 32] = value
