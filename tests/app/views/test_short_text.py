"""The texts of values in cells: rounded ones keep their zeros, exact ones are short."""

from __future__ import annotations

import numpy as np
import pytest

from tilescope.app.views.memory.descriptions import short_text


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [
        (np.float32(0.998), 2, "1.00"),
        (np.float32(0.0981), 2, "0.10"),
        (np.float32(0.1), 2, "0.1"),
        (np.float32(1.02), 2, "1.0"),
        (np.float32(0.4021), 2, "0.40"),
        (np.float32(0.4), 2, "0.4"),  # as it was written
        (np.float64(1), 2, "1"),
        (np.float32(13.42), 2, "13"),
        (np.float32(2.9999), 3, "3.00"),
        (np.float32(np.inf), 3, "inf"),
        (np.int64(12), 3, "12"),
    ],
)
def test_a_rounded_number_keeps_its_zeros_and_an_exact_one_has_none(value, digits, text):
    assert short_text(value, digits + 2, digits) == text
