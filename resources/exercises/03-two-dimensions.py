"""Two dimensions: the negative of a grey image, one thread for each pixel."""

from numba import cuda

WHITE = 255  # black is 0


@cuda.jit
def negative(image, out):
    x, y = cuda.grid(2)  # the place of this thread in the grid: to the right, and down
    if x == 0 and y == 0:
        out[0, 0] = WHITE - image[0, 0]  # one pixel is done; do all of them


# judge
import numpy as np

SEED = 0


def cases():
    rng = np.random.default_rng(3 + 100 * SEED)
    for rows, cols, block in ((5, 7, (4, 4)), (70, 3, (8, 8)), (1, 1, (16, 4)), (45 + SEED % 7, 75, (16, 8))):
        image = rng.integers(0, WHITE + 1, (rows, cols), dtype=np.uint8)
        out = np.zeros((rows, cols), np.uint8)
        yield {
            "grid": (-(-cols // block[0]), -(-rows // block[1])),
            "block": block,
            "arguments": (image, out),
            "expected": {"out": np.uint8(WHITE) - image},
            "tolerance": 0.0,
            "sizes": {"rows": rows, "cols": cols},
        }
