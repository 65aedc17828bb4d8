# A loop over the tiles of a matrix: range() of a float is one of int32, and so is the loop's variable.
import math

import numpy as np
from numba import cuda


@cuda.jit
def tiles(out, k, width):
    i = cuda.grid(1)
    for tile in range(math.ceil(k / width)):
        out[i] += tile * 2**30 * 4


out = np.zeros(4, np.int64)
tiles[1, 4](out, 7, 2)
print(out)
