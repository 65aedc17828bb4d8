"""A CUDA C++ program in the window: opened, edited, and run again."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QTextCursor
from PySide6.QtTest import QTest

from cuda_cpp import needs_compiler
from opened_programs import click_at, editor, kernels, races
from tilescope.app.state.actions import ShowTab
from tilescope.app.views.listing.view import CUDA_CPP
from windows import act, open_window, settle, wait_until

pytestmark = needs_compiler
REVERSE = """#include <cstdio>
__global__ void reverse(int* data) {
    __shared__ int tile[64];
    tile[threadIdx.x] = data[threadIdx.x];
    __syncthreads();
    data[threadIdx.x] = tile[63 - threadIdx.x];
}
int main() {
    int* data;
    cudaMalloc(&data, 256);
    cudaMemset(data, 0, 256);
    reverse<<<1, 64>>>(data);
    cudaFree(data);
}
"""


@pytest.fixture
def window(tmp_path):
    with open_window(("matmul-tiled:m=8,k=8,n=8,tile=8",)) as opened:
        path = tmp_path / "reverse.cu"
        path.write_text(REVERSE)
        opened.files.run_program(str(path))
        wait_until(lambda: kernels(opened) == ["reverse"])
        settle(opened)
        yield opened


def test_no_line_about_compiled_counters_is_shown(tmp_path):
    with open_window(("matmul-tiled:m=8,k=8,n=8,tile=8",), compiled=True) as window:
        path = tmp_path / "reverse.cu"
        path.write_text(REVERSE)
        window.files.run_program(str(path))
        wait_until(lambda: kernels(window) == ["reverse"])
        settle(window)
        results = window.central.results
        wait_until(results.compiling.is_idle)
        assert window.stage.sessions[0].compiled is None
        assert window.central.panes[0].depths.text() == ""
        act(window, ShowTab("code"))
        settle(window)
        assert window.side.view("code").sentence.text() == CUDA_CPP


def test_a_barrier_is_removed_by_a_click_and_the_race_appears(window):
    assert editor(window).file_text() == REVERSE
    assert list(editor(window).barriers) == [5]
    click_at(window, 5)
    wait_until(lambda: kernels(window) == ["reverse", "reverse"])
    settle(window)
    assert [races(session) for session in window.stage.sessions] == [0, 1]
    click_at(window, 5)
    wait_until(lambda: kernels(window) == ["reverse"] and window.stage.is_settled())


def test_a_text_that_does_not_compile_is_one_sentence_at_its_line(window):
    editor(window).setFocus()
    editor(window).moveCursor(QTextCursor.MoveOperation.Start)
    assert editor(window).find("    int* data;")
    QTest.keyClicks(editor(window), "    it* data;")
    QTest.keyClick(editor(window), Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    problems = window.side.source.problems
    wait_until(lambda: [problem.line for problem in problems.problems] == [9])
    assert kernels(window) == ["reverse"]
    window.editing.editing.undo_all()  # else the window asks before it closes


def test_a_proven_remedy_is_put_into_the_text_by_its_button(window, tmp_path):
    path = tmp_path / "race.cu"
    path.write_text(REVERSE.replace("    __syncthreads();\n", "").replace("reverse", "flip"))
    window.files.run_program(str(path))
    wait_until(lambda: kernels(window) == ["flip"])
    settle(window)
    act(window, ShowTab("findings"))
    settle(window)
    findings = window.side.view("findings")
    wait_until(lambda: any(finding.fixed_text for finding in window.focused_session().findings))
    findings.list.setCurrentRow(0)
    assert findings.chosen().remedy == "put __syncthreads() after line 4"
    QTest.mouseClick(findings.fix, Qt.MouseButton.LeftButton)
    wait_until(lambda: kernels(window) == ["flip", "flip"])
    settle(window)
    assert [races(session) for session in window.stage.sessions] == [1, 0]
    assert editor(window).file_text().count("    __syncthreads();\n") == 1
    window.editing.editing.undo_all()  # else the window asks before it closes


def test_memory_that_is_not_freed_is_marked_in_the_source_and_printed(tmp_path):
    path = tmp_path / "leak.cu"
    path.write_text(REVERSE.replace("    cudaFree(data);\n", ""))
    with open_window(program=str(path)) as window:
        wait_until(lambda: kernels(window) == ["reverse"])
        settle(window)
        (problem,) = window.side.source.problems.problems
        assert (problem.line, problem.severity) == (10, "warning")
        assert problem.sentence == "256 bytes of cudaMalloc are not freed; call cudaFree."
        act(window, ShowTab("output"))
        window.draw()
        assert "leak.cu:10: warning: 256 bytes" in window.side.view("output").text.toPlainText()
