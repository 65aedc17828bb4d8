"""A Python program with a kernel in CUDA C++ in the window: opened, edited, and run again."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from cuda_cpp import needs_compiler
from opened_programs import click_at, editor, kernels, races
from tilescope.app.state.actions import ShowTab
from windows import act, open_window, settle, wait_until

pytestmark = needs_compiler
REVERSE = """import cupy as cp

reverse = cp.RawKernel(r'''
extern "C" __global__ void reverse(int* data) {
    __shared__ int tile[64];
    tile[threadIdx.x] = data[threadIdx.x];
    __syncthreads();
    data[threadIdx.x] = tile[63 - threadIdx.x];
}
''', "reverse")
data = cp.arange(64, dtype=cp.int32)
reverse((1,), (64,), (data,))
"""


@pytest.fixture
def window():
    with open_window(("matmul-tiled:m=8,k=8,n=8,tile=8",)) as opened:
        yield opened


def run(window, folder, text):
    path = folder / "program.py"
    path.write_text(text)
    window.files.run_program(str(path))
    wait_until(lambda: kernels(window) == ["reverse"])
    settle(window)


def test_a_barrier_is_removed_by_a_click_and_the_race_appears(window, tmp_path):
    run(window, tmp_path, REVERSE)
    assert editor(window).file_text() == REVERSE
    assert list(editor(window).barriers) == [7]
    click_at(window, 7)
    wait_until(lambda: kernels(window) == ["reverse", "reverse"])
    settle(window)
    assert [races(session) for session in window.stage.sessions] == [0, 1]
    click_at(window, 7)
    wait_until(lambda: kernels(window) == ["reverse"] and window.stage.is_settled())


def test_a_proven_remedy_is_put_into_the_program_by_its_button(window, tmp_path):
    run(window, tmp_path, REVERSE.replace("    __syncthreads();\n", ""))
    act(window, ShowTab("findings"))
    settle(window)
    findings = window.side.view("findings")
    wait_until(lambda: any(finding.fixed_text for finding in window.focused_session().findings))
    findings.list.setCurrentRow(0)
    assert findings.chosen().remedy == "put __syncthreads() after line 6"
    QTest.mouseClick(findings.fix, Qt.MouseButton.LeftButton)
    wait_until(lambda: kernels(window) == ["reverse", "reverse"])
    settle(window)
    assert [races(session) for session in window.stage.sessions] == [1, 0]
    assert editor(window).file_text() == REVERSE
    window.editing.editing.undo_all()  # else the window asks before it closes
