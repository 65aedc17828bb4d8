"""The texts of values in cells: rounded ones keep their zeros, exact ones are short."""

from __future__ import annotations

import numpy as np
import pytest

from tilescope.app.views.memory.descriptions import short_text, usual_texts


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [
        (np.float32(0.998), 2, "1.00"),
        (np.float32(0.0981), 2, "0.10"),
        (np.float32(0.1), 2, "0.1"),
        (np.float32(1.024), 2, "1.02"),
        (np.float32(0.4021), 2, "0.40"),
        (np.float32(0.4), 2, "0.4"),  # as it was written
        (np.float64(1), 2, "1"),
        (np.float32(13.42), 2, "13"),
        (np.float32(2.9999), 3, "3.000"),
        (np.float32(np.inf), 3, "inf"),
        (np.int64(12), 3, "12"),
    ],
)
def test_a_rounded_number_keeps_its_zeros_and_an_exact_one_has_none(value, digits, text):
    assert short_text(value, digits + 2, digits) == text


@pytest.mark.parametrize(
    ("values", "digits", "texts"),
    [
        ([0.0, 0.9697, 1.0, 1.0303, 2.5, 3.0], 3, ["0", "0.970", "1.000", "1.030", "2.500", "3.000"]),
        ([1.0, 9.5234, 13.4242, 10.0], 3, ["1.0", "9.5", "13.4", "10.0"]),
        ([1.0, 2.5, -3.0], 3, ["1", "2.5", "-3"]),  # none is rounded
        ([1.0, 250.12], 3, ["1", "250"]),
        ([0.1, 0.25, 0.3333], 2, ["0.1", "0.25", "0.33"]),
        ([1.0, np.inf, np.nan, 2.7183], 3, ["1.000", "inf", "nan", "2.718"]),
    ],
)
def test_the_numbers_of_a_buffer_from_1_on_have_equally_many_decimals(values, digits, texts):
    array = np.array(values, np.float32)
    shown, decimals = usual_texts(array, digits)
    assert shown == set(texts)
    letters = max(map(len, texts))
    assert [short_text(value, letters, digits, decimals) for value in array] == texts
