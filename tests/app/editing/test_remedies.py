"""A proven remedy in the window: it appears when it is proven, and its button edits the text, which undo reverts."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from tilescope.app.model.bookmark import Bookmark, Setup
from tilescope.app.state.actions import ShowTab
from windows import act, open_window, press, settle, wait_until


def test_the_button_restores_the_skipped_line_that_the_remedy_brings_back():
    setup = Setup("sum-sequential", without=(39,))
    with open_window(mark=Bookmark(panes=(setup,))) as window:
        act(window, ShowTab("findings"))
        settle(window)
        findings, source = window.side.view("findings"), window.side.source
        wait_until(lambda: any(finding.fixed_text for finding in window.focused_session().findings))
        row = next(r for r, f in enumerate(window.focused_session().findings) if f.fixed_text)
        findings.list.setCurrentRow(row)
        assert findings.fix.isVisible() and findings.proof.isVisible()
        assert "before line" in findings.chosen().remedy
        before = source.text()
        QTest.mouseClick(findings.fix, Qt.MouseButton.LeftButton)
        settle(window)
        wait_until(lambda: len(window.stage.sessions) == 2 and window.stage.sessions[1] is not None)
        wait_until(lambda: window.stage.sessions[1].is_examined)
        assert not [f for f in window.stage.sessions[1].findings if f.severity == "error"]
        assert source.text() == before and not source.struck()
        assert not window.stage.setups[1].is_edited  # no "edited · without line 39"
        window.notice.answers[0].click()
        settle(window)
        assert window.stage.setups == (setup,) and source.struck() == {39}


TWO_FAULTS = """
import numpy as np
from numba import cuda

@cuda.jit
def shift(a, out):
    tile = cuda.shared.array(66, np.float32)
    t = cuda.threadIdx.x
    tile[t] = a[t]
    out[t] = tile[t] + tile[t + 1]

shift[1, 64](np.arange(64, dtype=np.float32), np.zeros(64, np.float32))
"""


def test_another_fault_of_the_program_hides_no_remedy(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(TWO_FAULTS)
    with open_window(program=str(path)) as window:
        wait_until(lambda: any(window.stage.sessions))
        settle(window)
        act(window, ShowTab("findings"))
        wait_until(lambda: any(finding.fixed_text for finding in window.focused_session().findings))
        findings = window.side.view("findings")
        kinds = [finding.kind for finding in window.focused_session().findings]
        assert {"race", "unwritten"} <= set(kinds)
        findings.list.setCurrentRow(kinds.index("race"))
        assert findings.fix.isVisible()
        assert "put cuda.syncthreads() between line 9 and line 10" in findings.chosen().remedy
        act(window, ShowTab("source"))
        assert {problem.line for problem in window.side.source.problems.problems} == {10}
        act(window, ShowTab("findings"))
        QTest.mouseClick(findings.fix, Qt.MouseButton.LeftButton)
        wait_until(lambda: len(window.stage.sessions) == 2 and all(window.stage.sessions))
        settle(window)
        headings = [pane.heading for pane in window.central.panes]
        assert [heading.shown.difference for heading in headings] == ["before the edit", "after the edit"]
        press(window, "Ctrl+Z")
        wait_until(lambda: len(window.stage.setups) == 1)
        settle(window)
        assert window.side.source.text() == TWO_FAULTS


def test_undo_in_the_message_leaves_the_focus_in_the_pictures():
    with open_window(mark=Bookmark(panes=(Setup("sum-sequential", without=(39,)),))) as window:
        window.notice.ask("A remedy was applied.", [("Undo", lambda: None)], "edit")
        window.notice.answers[0].setFocus()
        window.notice.answers[0].click()  # as a screen reader does
        assert window.central.panes[0].hasFocus()


LARGEST = """
import numpy as np
from numba import cuda

@cuda.jit
def largest(a, top):
    own = a[cuda.threadIdx.x]
    if own > top[0]:
        top[0] = own

largest[1, 3](np.array([1, 5, 9]), np.zeros(1, np.int64))
"""


def test_a_remedy_of_another_race_has_no_button(tmp_path):
    path = tmp_path / "largest.py"
    path.write_text(LARGEST)
    with open_window(program=str(path)) as window:
        wait_until(lambda: any(window.stage.sessions))
        settle(window)
        wait_until(lambda: any(finding.fixed_text for finding in window.focused_session().findings))
        reads, writes = (f for f in window.focused_session().findings if f.kind == "race")
        assert reads.remedy.startswith("keep the condition of line 8 in a variable")
        assert "written on line 9 by" in writes.message and not writes.remedy
