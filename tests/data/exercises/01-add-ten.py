import numpy as np
from numba import cuda


@cuda.jit
def add_ten(a, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = 0


# judge
def cases():
    for n, block in ((10, 4), (1000, 128)):
        a = np.arange(n, dtype=np.float32)
        yield {
            "grid": -(-n // block),
            "block": block,
            "arguments": (a, np.zeros_like(a)),
            "expected": {"out": a + 10},
            "sizes": {"n": n},
        }
