"""Arguments as a launch describes them: large arrays are drawn piece by piece, and are the same."""

from __future__ import annotations

import numpy as np
import pytest

from tilescope.tracer.launch import Array
from tilescope.tracer.loading import PIECE, filled


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("shape", [(3, 5), (PIECE + 7,), (2, PIECE, 2), (0,)])
def test_numbers_drawn_in_pieces_are_those_drawn_at_once(dtype, shape):
    uniform = filled(Array(shape, dtype, "random", seed=3))
    assert uniform.dtype == dtype and uniform.shape == shape
    assert np.array_equal(uniform, np.random.default_rng(3).random(shape).astype(dtype))
    normal = filled(Array(shape, dtype, "normal", seed=4))
    assert np.array_equal(normal, np.random.default_rng(4).standard_normal(shape).astype(dtype))
