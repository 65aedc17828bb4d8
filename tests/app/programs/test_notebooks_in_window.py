"""A notebook in the window: its launches by cell, run with another schedule, and what goes wrong in a sentence."""

from __future__ import annotations

import msgspec
import pytest

from notebooks import write_notebook
from tilescope.tracer.model.launch import Schedule
from windows import open_window, settle, wait_until

CELLS = (
    "%matplotlib inline\nimport numpy as np\nfrom numba import cuda\nprint('loaded')",
    "FAR = 1\na, out = np.arange(9, dtype=np.int32), np.zeros(8, np.int32)",
    "@cuda.jit(device=True)\ndef plus(a, i):\n    return a[i + FAR]",
    "@cuda.jit\ndef shift(a, out):\n    i = cuda.grid(1)\n    out[i] = plus(a, i)\n\nshift[2, 4](a, out)\n1 / out[0]",
)


@pytest.fixture(scope="module")
def window():
    with open_window(("matmul-tiled:m=8,k=8,n=8,tile=8",)) as main_window:
        yield main_window
        main_window.editing.editing.undo_all()  # else closing asks what shall become of it


def shown(window) -> list[tuple[str, str]]:
    return [(s.title, s.trace.schedule) for s in window.stage.sessions if s is not None]


def kernel_line(session) -> str:
    return session.launch.source.splitlines()[3].strip()


def test_a_notebook_is_shown_and_its_kernel_run_with_another_schedule(window, tmp_path):
    path = write_notebook(tmp_path / "lesson.ipynb", *CELLS)
    before = path.read_text()
    window.files.run_program(str(path))
    title = "shift · lesson.ipynb [4] · launch 1"
    wait_until(lambda: shown(window) == [(title, "lockstep")])
    settle(window)
    source, (session,) = window.side.source.editor, window.stage.sessions
    assert (source.file, source.toPlainText()) == (f"{path} [3]", CELLS[2])  # where the warp is
    window.side.source.point_at(f"{path} [4]", 4)
    assert source.toPlainText().startswith(CELLS[3]) and CELLS[2] in source.toPlainText()
    setup = msgspec.structs.replace(window.stage.setups[0], schedule=Schedule("random", 5), rerun=True)
    window.change_setups((setup,))
    wait_until(lambda: [schedule for _, schedule in shown(window)] == ["random"])
    settle(window)
    (session,) = window.stage.sessions
    assert {site.file for site in session.trace.sites} == {f"{path} [4]"}
    assert session.trace.schedule == "random" and len(session.trace) == 16
    assert session.trace.error is None
    # Another text of the cell runs beside it, with what the kernel uses of other cells.
    editing = window.editing.editing
    source.setPlainText(source.toPlainText().replace("= plus(a, i)", "= plus(a, i) + FAR"))
    editing.run()
    wait_until(lambda: not editing.is_busy())
    settle(window)
    assert [kernel_line(s) for s in window.stage.sessions] == [
        "out[i] = plus(a, i)",
        "out[i] = plus(a, i) + FAR",
    ]
    editing.undo_all()
    settle(window)
    assert path.read_text() == before


def test_an_error_in_a_cell_is_reported_with_the_cell(window, tmp_path):
    path = write_notebook(tmp_path / "bad.ipynb", "import math", "x = 1\nmath.sqrt(-x)")
    window.files.run_program(str(path))
    wait_until(lambda: "(cell 2, line 2)" in window.notice.sentence.text())
    assert "bad.ipynb ended with" in window.notice.sentence.text()


def test_what_is_no_notebook_leaves_the_picture_as_it_was(window, tmp_path):
    before = shown(window)
    path = tmp_path / "none.ipynb"
    path.write_text("{")
    window.files.run_program(str(path))
    wait_until(lambda: "none.ipynb is no notebook" in window.notice.sentence.text())
    assert shown(window) == before


def test_a_dropped_notebook_runs_only_after_the_user_agrees(window, tmp_path):
    runs = window.files.program.runs if window.files.program else 0
    window.files.take_dropped(str(write_notebook(tmp_path / "dropped.ipynb", "x = 1")))
    assert "Run dropped.ipynb under the tracer" in window.notice.sentence.text()
    assert (window.files.program.runs if window.files.program else 0) == runs
