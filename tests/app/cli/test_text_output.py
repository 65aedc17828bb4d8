"""What commands print: on what a program has made of standard error, and in columns of text."""

from __future__ import annotations

import io
import sys

import pytest

from tilescope.app.cli.common.text_output import align_columns, is_stderr_a_terminal, print_error
from tilescope.tracer.simulator.host.unsupported import print_note

ROWS = [["name", "n", "seconds"], ["a longer one", "1,000", "0.5"], ["last", "20", ""]]


def test_columns_are_as_wide_as_their_widest_cell_and_lines_end_with_their_last_word():
    assert align_columns(ROWS) == [
        "name              n  seconds",
        "a longer one  1,000      0.5",
        "last             20",
    ]
    assert align_columns(ROWS, "<", gap=" | ")[1] == "a longer one | 1,000 | 0.5"


def test_a_long_cell_pushes_only_the_rest_of_its_line():
    assert align_columns(ROWS, "<><", widths=(6, None), gap=" ") == [
        "name       n seconds",
        "a longer one 1,000 0.5",
        "last      20",
    ]


def test_a_table_without_rows_has_no_lines_and_rows_are_of_one_length():
    assert align_columns([], widths=(8, 4)) == []
    with pytest.raises(ValueError, match="shorter"):
        align_columns([["a", "b"], ["a"]])


@pytest.mark.parametrize("left", ["none", "closed", "no stream"])
def test_nothing_is_printed_if_a_program_has_closed_standard_error(monkeypatch, left):
    closed = io.StringIO()
    closed.close()
    monkeypatch.setattr(sys, "stderr", {"none": None, "closed": closed, "no stream": 5}[left])
    assert not is_stderr_a_terminal()
    print_error("nobody hears this")
    print_note("nor this")
