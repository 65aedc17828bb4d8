"""Arguments as a launch describes them: large arrays are drawn piece by piece, and are the same."""

from __future__ import annotations

import numpy as np
import pytest

from tilescope.tracer.model.launch import Array
from tilescope.tracer.recording import kernel_loader
from tilescope.tracer.recording.kernel_loader import DRAWN_AT_ONCE, content_of, filled


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("shape", [(3, 5), (DRAWN_AT_ONCE + 7,), (2, DRAWN_AT_ONCE, 2), (0,)])
def test_numbers_drawn_in_pieces_are_those_drawn_at_once(dtype, shape):
    uniform = filled(Array(shape, dtype, "random", seed=3))
    assert uniform.dtype == dtype and uniform.shape == shape
    assert np.array_equal(uniform, np.random.default_rng(3).random(shape).astype(dtype))
    normal = filled(Array(shape, dtype, "normal", seed=4))
    assert np.array_equal(normal, np.random.default_rng(4).standard_normal(shape).astype(dtype))


def test_drawn_numbers_are_drawn_once_and_every_launch_has_its_own():
    array = Array((1 << 18,), "float32", "random", seed=11)
    first, second = filled(array), filled(array)
    assert content_of(array) is content_of(array)
    assert not content_of(array).flags.writeable
    first[:] = 7
    assert (second != 7).all()
    np.testing.assert_array_equal(second, content_of(array))


def test_no_more_is_kept_than_may_be(monkeypatch):
    monkeypatch.setattr(kernel_loader, "CACHED_BYTES", (1, 4000))
    arrays = [Array((500,), "float32", "normal", seed=seed) for seed in range(3)]
    made = [content_of(array) for array in arrays]
    assert [content_of(array) is old for array, old in zip(arrays[::-1], made[::-1], strict=True)] == [
        True,
        True,
        False,
    ]
