# The game of life on one board: cells read neighbours that this step has already changed.
import numpy as np
from numba import cuda


@cuda.jit
def step(board):
    r, c = cuda.grid(2)
    rows, cols = board.shape
    if r < rows and c < cols:
        alive = 0
        for dr in range(-1, 2):
            for dc in range(-1, 2):
                if dr != 0 or dc != 0:
                    alive += board[(r + dr) % rows, (c + dc) % cols]
        if board[r, c] == 1 and (alive < 2 or alive > 3):
            board[r, c] = 0  # expect: TS101 error
        elif board[r, c] == 0 and alive == 3:
            board[r, c] = 1


board = np.random.default_rng(3).integers(0, 2, (16, 16)).astype(np.int32)
step[(2, 2), (8, 8)](board)
