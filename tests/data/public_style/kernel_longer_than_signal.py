# A convolution whose taps reach further left than the signal is long.
import numpy as np
from numba import cuda


@cuda.jit
def convolve(signal, taps, out):
    i = cuda.grid(1)
    if i < out.size:
        acc = 0.0
        for k in range(taps.size):
            acc += signal[i - k] * taps[k]  # expect: TS201 error
        out[i] = acc


signal, taps = np.ones(8), np.ones(16)
convolve[1, 32](signal, taps, np.zeros(8))
