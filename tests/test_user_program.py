"""A program of the user's in the window: run under the tracer, shown, run again when it is saved."""

from __future__ import annotations

import pytest

from tilescope.app.files import run_program, take_dropped
from windows import opened, until

COPY = """
import numpy as np
from numba import cuda

def make():
    from numba import cuda as hidden
    @hidden.jit
    def copy(a, out):
        i = hidden.grid(1)
        out[i] = a[i]
    return copy

copy = make()
copy[2, 8](np.arange(16, dtype=np.float32), np.zeros(16, np.float32))
"""


@pytest.fixture
def window():
    with opened(("matmul-tiled:m=8,k=8,n=8,tile=8",)) as made:
        yield made


def launches(window) -> list[tuple[str, int]]:
    return [(s.trace.kernel, len(s.trace)) for s in window.stage.sessions if s is not None]


def test_a_program_is_shown_and_run_again_when_it_is_saved(window, tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(COPY)
    run_program(window, str(path))
    until(lambda: launches(window) == [("copy", 32)] and window.stage.is_settled())
    assert window.stage.sessions[0].trace.sources[str(path)] == COPY
    path.write_text(COPY.replace("copy[2, 8]", "copy[1, 8]"))
    until(lambda: launches(window) == [("copy", 16)])


def test_two_launches_stand_side_by_side(window, tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(COPY + "copy[1, 4](np.zeros(4, np.float32), np.zeros(4, np.float32))\n")
    run_program(window, str(path))
    until(lambda: launches(window) == [("copy", 32), ("copy", 8)])


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("print(1)\n", "launches no kernel"),
        ("import sys\nsys.exit('no such thing')\n", "no such thing"),
        ("def f(:\n", "SyntaxError"),
    ],
)
def test_what_goes_wrong_is_one_sentence_and_the_picture_stays(window, tmp_path, text, told):
    before = launches(window)
    path = tmp_path / "mine.py"
    path.write_text(text)
    run_program(window, str(path))
    until(lambda: told in window.notice.sentence.text())
    assert "mine.py" in window.notice.sentence.text()
    assert launches(window) == before


def test_a_program_without_end_is_ended_by_escape(window, tmp_path):
    path = tmp_path / "mine.py"
    path.write_text("while True:\n    pass\n")
    run_program(window, str(path))
    until(lambda: window.program.runs == 1)
    window.escape()
    assert "ended" in window.notice.sentence.text()
    assert not window.program.stop()


def test_a_dropped_program_runs_only_after_the_user_agrees(window, tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(COPY)
    take_dropped(window, str(path))
    assert window.program is None
    window.notice.answers[0].click()
    until(lambda: launches(window) == [("copy", 32)])
