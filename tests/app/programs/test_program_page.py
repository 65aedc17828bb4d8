"""A program with which the window is opened: its page while it runs and where it fails, and what it prints."""

from __future__ import annotations

from contextlib import contextmanager

import pytest
from PySide6.QtWidgets import QApplication

from tilescope.app.model.first_bookmark import first_bookmark
from tilescope.app.state.actions import ShowChart, ShowTab
from windows import act, open_window, wait_until

RIGHT = """
import numpy as np
from numba import cuda

@cuda.jit
def double(a):
    a[cuda.grid(1)] *= 2

print("wrong elements: 16")
double[1, 8](np.arange(8))
"""


@contextmanager
def shown(tmp_path, text):
    """Open a window on a program; lend it and its page."""
    path = tmp_path / "mine.py"
    path.write_text(text)
    with open_window(program=str(path)) as window:
        page = window.central.page
        assert page.isVisible() and not window.central.down.isVisible()
        assert page.status.text().startswith("Running mine.py … 0 s")
        act(window, ShowChart(""))
        window.store.invalidate()
        QApplication.processEvents()
        assert not window.central.down.isVisible()  # rendering does not show the empty panes
        yield window, page


def test_the_panes_come_once_a_kernel_was_launched_and_the_output_has_a_tab(tmp_path):
    with shown(tmp_path, RIGHT) as (window, page):
        wait_until(lambda: [s.trace.kernel for s in window.stage.sessions if s] == ["double"])
        assert not page.isVisible() and window.central.down.isVisible()
        tabs = [
            window.side.bar.tabText(n)
            for n in range(window.side.bar.count())
            if window.side.bar.isTabVisible(n)
        ]
        assert "Output" in tabs
        act(window, ShowTab("output"))
        window.draw()
        assert window.side.view("output").text.toPlainText() == "wrong elements: 16\n"


@pytest.mark.parametrize(
    ("text", "sentence", "line"),
    [
        ("import numpy\n\nprint('hello')\n", "launches no kernel", 0),
        ("x = 1\nraise ValueError('no luck')\n", "ValueError: no luck (line 2)", 2),
        ("def k(:\n", "SyntaxError", 1),
        (RIGHT.replace("double[1, 8]", "dubble[1, 8]"), "name 'dubble' is not defined", 10),
        (RIGHT.replace("*= 2", "= a + 'x'"), "TypingError: Numba can't compile double", 7),
    ],
)
def test_a_program_that_fails_is_shown_with_its_line_and_output_and_no_other_kernel(
    tmp_path, text, sentence, line
):
    with shown(tmp_path, text) as (window, page):
        wait_until(lambda: sentence in page.status.text())
        assert page.isVisible() and page.marked == line
        assert page.text.toPlainText() == text
        assert "Traceback" in page.output.toPlainText() or "File" in page.output.toPlainText() or not line
        assert page.rerun.isVisible() and not page.end.isVisible()
        assert not any(window.stage.sessions)


def test_an_endless_program_shows_its_time_and_line_until_it_is_ended(tmp_path):
    with shown(tmp_path, "print('begun')\nx = 0\nwhile True:\n    x += 1\n") as (window, page):
        wait_until(lambda: page.marked in (3, 4) and "begun" in page.output.toPlainText())
        assert f" s, line {page.marked}" in page.status.text()
        window.escape()
        assert page.status.text() == f"mine.py was ended at line {page.marked}." and page.marked in (3, 4)
        page.rerun.click()
        wait_until(lambda: page.status.text().startswith("Running mine.py") and page.marked in (3, 4))
        page.end.click()
        assert "was ended" in page.status.text()


ENDLESS = """
import numpy as np
from numba import cuda

@cuda.jit
def spin(a):
    while True:
        a[0] += 1

spin[1, 1](np.zeros(1, np.int32))
"""


def test_the_page_shows_how_long_a_launch_has_run(tmp_path):
    notice = "tilescope: spin has run for 5 seconds: 3 of 8 blocks; Ctrl+C ends it."
    text = f"import sys\nprint({notice!r}, file=sys.stderr)\nwhile True:\n    pass\n"
    with shown(tmp_path, text) as (_, page):
        wait_until(lambda: ": spin has run for 5 seconds: 3 of 8 blocks" in page.status.text())
        assert "Ctrl+C" not in page.status.text()
        page.end.click()


def test_an_endless_kernel_is_ended_with_a_finding(tmp_path):
    with shown(tmp_path, ENDLESS) as (window, _):
        wait_until(lambda: [s.trace.kernel for s in window.stage.sessions if s] == ["spin"])
        wait_until(lambda: window.stage.sessions[0].is_examined)
        assert any("does not end" in f.message for f in window.stage.sessions[0].findings)
        wait_until(lambda: "LaunchTimeoutError: The launch " in window.notice.sentence.text())
        assert "(line 10)" in window.notice.sentence.text() and "tracer" not in window.notice.sentence.text()


def test_a_program_that_is_mended_while_its_page_is_there_gets_its_panes(tmp_path):
    with shown(tmp_path, "raise ValueError('no luck')\n") as (window, page):
        wait_until(lambda: "no luck" in page.status.text())
        (tmp_path / "mine.py").write_text(RIGHT)
        wait_until(lambda: any(window.stage.sessions) and not page.isVisible())


def test_a_scenario_that_is_chosen_takes_the_room_of_the_page(tmp_path):
    with shown(tmp_path, "raise ValueError('no luck')\n") as (window, page):
        wait_until(lambda: "no luck" in page.status.text())
        window.show_bookmark(first_bookmark(("vector-double:count=64",), None))
        wait_until(lambda: any(window.stage.sessions))
        assert not page.isVisible() and window.central.down.isVisible()
        (tmp_path / "mine.py").write_text("raise ValueError('none again')\n")
        wait_until(lambda: "none again" in page.status.text())
        assert not page.isVisible()
