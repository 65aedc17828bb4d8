"""Types of NumPy arrays: as signatures name them, of one axis where nothing else is said, and the smallest that do."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
AnyInts = NDArray[np.integer[Any]]
Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]
Columns = dict[str, NDArray[Any]]  # by name, one entry a row in each


def narrow(column: NDArray[Any]) -> NDArray[Any]:
    """Return whole numbers from 0 up in the smallest unsigned dtype that holds them."""
    if column.dtype == np.uint8 or not column.size:
        return column.astype(np.uint8, copy=False)
    return column.astype(np.min_scalar_type(int(column.max(initial=0))), copy=False)
