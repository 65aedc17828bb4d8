"""The scenarios in CUDA C++ in the window: traced, edited, without a barrier, without a compiler, next to Numba."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QTextCursor
from PySide6.QtTest import QTest

from cuda_cpp import needs_compiler
from tilescope.app.views.source.gutter import Gutter
from tilescope.app.views.source.view import CUDA_C
from tilescope.kernels.scenarios.catalogue import find
from tilescope.tracer.cuda_cpp.compilers import VARIABLE
from tilescope.tracer.model.launch import is_cuda_cpp_launch
from tilescope.tracer.run.worker_client import Worker
from windows import open_window, press, settle, wait_until

SIZES = "m=16,k=16,n=16,tile=4"
STATIC, DYNAMIC = f"cuda-c-tiled-static:{SIZES}", f"cuda-c-tiled-dynamic:{SIZES}"
NUMBA = f"matmul-tiled-dynamic:{SIZES},dtype=float32"


def editor(window):
    return window.side.source.editor


def run(window, old: str, new: str) -> None:
    """Replace the first occurrence of a text by typing, and run it."""
    editor(window).setFocus()
    editor(window).moveCursor(QTextCursor.MoveOperation.Start)
    assert editor(window).find(old)
    QTest.keyClicks(editor(window), new)
    QTest.keyClick(editor(window), Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    wait_until(lambda: not window.editing.editing.is_busy())
    settle(window)


@pytest.fixture
def window():
    with open_window((STATIC,)) as opened:
        yield opened
        opened.editing.editing.undo_all()
        settle(opened)


@needs_compiler
def test_a_scenario_in_cuda_cpp_is_traced_itself(window):
    session = window.stage.sessions[0]
    assert is_cuda_cpp_launch(session.launch)
    assert session.trace.check is not None and session.trace.check.equal
    assert (
        "clang" in session.trace.made_by or "g++" in session.trace.made_by or "zig" in session.trace.made_by
    )
    shapes = {buffer.name.lower(): buffer.shape for buffer in session.trace.buffers}
    assert shapes == {"a": (16, 16), "b": (16, 16), "c": (16, 16), "tile_a": (4, 4), "tile_b": (4, 4)}
    assert editor(window).file.endswith("matmul_tiled_static.cu")
    assert len(editor(window).barriers) == 2


@needs_compiler
def test_an_edit_is_compiled_and_shown_next_to_the_version_before(window):
    run(window, "total += tile_a", "total -= tile_a")
    before, after = window.stage.sessions
    assert before.trace.check.equal and not after.trace.check.equal
    assert "total -= tile_a" in after.launch.source
    assert after.trace.check.differing == 256


@needs_compiler
def test_a_click_removes_a_barrier_and_another_one_restores_it(window):
    line = min(editor(window).barriers)
    editor(window).go_to(line)
    top = next(top for number, top, _ in editor(window).lines_in_sight() if number == line)
    spot = QPoint(6, int(top) + 7)
    QTest.mouseClick(editor(window).findChild(Gutter), Qt.MouseButton.LeftButton, pos=spot)
    wait_until(lambda: len(window.stage.sessions) == 2)
    settle(window)
    races = [sum(finding.kind == "race" for finding in session.findings) for session in window.stage.sessions]
    assert races[0] == 0 < races[1]
    QTest.mouseClick(editor(window).findChild(Gutter), Qt.MouseButton.LeftButton, pos=spot)
    wait_until(lambda: len(window.stage.sessions) == 1 and window.stage.is_settled())


@needs_compiler
def test_a_text_that_does_not_compile_leaves_the_picture(window):
    run(window, "float total = 0.0f", "float total = zero")
    assert len(window.stage.sessions) == 1
    assert [problem.line for problem in window.side.source.problems.problems] == [13]
    assert "zero" in window.side.source.problems.problems[0].sentence


@needs_compiler
def test_numba_and_cuda_cpp_show_both_sources_on_one_clock():
    with open_window((NUMBA, DYNAMIC)) as window:
        other = window.side.sources.counterpart
        assert editor(window).file.endswith(".cu") and other.editor.file.endswith("matmul_variants.py")
        assert other.isVisible()
        left, right = window.stage.sessions
        assert len(left.trace) == len(right.trace)
        seen = []
        for _ in range(8):
            press(window, "Right")
            settle(window)
            views = other.editor, editor(window)
            lines = [view.toPlainText().splitlines()[view.line - 1].strip() for view in views]
            seen.append(lines[1].partition("[")[0])
            assert lines[0].partition("[")[0] == seen[-1], "both panes are at lines that do the same"
        assert {"tile_a", "tile_b"} < set(seen)


def test_without_a_compiler_the_numba_twin_is_shown_with_the_reason(monkeypatch):
    monkeypatch.setenv(VARIABLE, "no-such-compiler")
    worker = Worker()
    with open_window((DYNAMIC.replace("m=16", "m=12"),), worker=worker) as window:
        session = window.stage.sessions[0]
        assert session.launch.kernel == find("cuda-c-tiled-dynamic").twin.kernel
        assert session.trace.check.equal
        assert "The pictures show the Numba twin of the kernel." in session.trace.notice
        assert "no-such-compiler" in session.trace.notice
        source = window.side.source
        assert source.switch.isVisible() and source.editor.file.endswith(".cu")
        assert CUDA_C in source.switch.buttons
        assert not source.editor.is_editable()
    worker.close()
