"""Arguments as a launch describes them: large arrays are drawn piece by piece, and are the same."""

from __future__ import annotations

import numpy as np
import pytest

from tilescope.tracer.model.launch import Array
from tilescope.tracer.recording import kernel_loader
from tilescope.tracer.recording.kernel_loader import CHUNK_OF_NUMBERS, create_array, shared_content


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("shape", [(3, 5), (CHUNK_OF_NUMBERS + 7,), (2, CHUNK_OF_NUMBERS, 2), (0,)])
def test_numbers_drawn_in_pieces_are_those_drawn_at_once(dtype, shape):
    uniform = create_array(Array(shape, dtype, "random", seed=3))
    assert uniform.dtype == dtype and uniform.shape == shape
    assert np.array_equal(uniform, np.random.default_rng(3).random(shape).astype(dtype))
    normal = create_array(Array(shape, dtype, "normal", seed=4))
    assert np.array_equal(normal, np.random.default_rng(4).standard_normal(shape).astype(dtype))


def test_drawn_numbers_are_drawn_once_and_every_launch_has_its_own():
    array = Array((1 << 18,), "float32", "random", seed=11)
    first, second = create_array(array), create_array(array)
    assert shared_content(array) is shared_content(array)
    assert not shared_content(array).flags.writeable
    first[:] = 7
    assert (second != 7).all()
    np.testing.assert_array_equal(second, shared_content(array))


def test_kept_numbers_stay_within_the_limit(monkeypatch):
    monkeypatch.setattr(kernel_loader, "CACHED_BYTES", (1, 4000))
    arrays = [Array((500,), "float32", "normal", seed=seed) for seed in range(3)]
    results = [shared_content(array) for array in arrays]
    assert [shared_content(array) is old for array, old in zip(arrays[::-1], results[::-1], strict=True)] == [
        True,
        True,
        False,
    ]
