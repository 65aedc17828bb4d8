# A median filter whose window of 5 x 5 values has room for 3 x 3.
import numpy as np
from numba import cuda, float32

RADIUS = 2


@cuda.jit
def median(img, out):
    x, y = cuda.grid(2)
    h, w = img.shape
    if x >= w or y >= h:
        return
    window = cuda.local.array(9, float32)
    n = 0
    for dy in range(-RADIUS, RADIUS + 1):
        for dx in range(-RADIUS, RADIUS + 1):
            yy = min(max(y + dy, 0), h - 1)
            xx = min(max(x + dx, 0), w - 1)
            window[n] = img[yy, xx]  # expect: TS201 error
            n += 1
    for i in range(n // 2 + 1):
        for j in range(i + 1, n):
            if window[j] < window[i]:  # expect: TS201 error
                window[i], window[j] = window[j], window[i]
    out[y, x] = window[n // 2]


img = np.random.default_rng(0).random((4, 4)).astype(np.float32)
median[(1, 1), (4, 4)](img, np.zeros_like(img))
