"""Print the seconds that Numba's own simulator needs for the tiled 64-cube, recording nothing."""

from __future__ import annotations

import os
import time

os.environ["NUMBA_ENABLE_CUDASIM"] = "1"

import numpy as np

from tilescope.kernels.matmul import tiled

SIZE = 64

if __name__ == "__main__":
    a, b = (np.random.default_rng(seed).random((SIZE, SIZE), np.float32) for seed in (1, 2))
    c = np.zeros((SIZE, SIZE), np.float32)
    begin = time.perf_counter()
    tiled[(4, 4), (16, 16)](a, b, c)
    seconds = time.perf_counter() - begin
    assert np.allclose(c, a @ b, rtol=1e-4)
    print(seconds)
