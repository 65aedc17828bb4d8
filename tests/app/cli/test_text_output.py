"""Columns of text: where cells stand, how wide columns are, and what a cell that is too long does."""

from __future__ import annotations

import pytest

from tilescope.app.cli.text_output import aligned

ROWS = [["name", "n", "seconds"], ["a longer one", "1,000", "0.5"], ["last", "20", ""]]


def test_columns_are_as_wide_as_their_widest_cell_and_lines_end_with_their_last_word():
    assert aligned(ROWS) == [
        "name              n  seconds",
        "a longer one  1,000      0.5",
        "last             20",
    ]
    assert aligned(ROWS, "<", gap=" | ")[1] == "a longer one | 1,000 | 0.5"


def test_a_cell_longer_than_its_column_pushes_the_rest_of_its_line_alone():
    assert aligned(ROWS, "<><", widths=(6, None), gap=" ") == [
        "name       n seconds",
        "a longer one 1,000 0.5",
        "last      20",
    ]


def test_a_table_without_rows_has_no_lines_and_rows_are_of_one_length():
    assert aligned([], widths=(8, 4)) == []
    with pytest.raises(ValueError, match="shorter"):
        aligned([["a", "b"], ["a"]])
