"""The kernel in the source panel, edited and run: skipped lines, the version before next to it, mistakes, leaving."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QTextCursor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QMessageBox, QPushButton

from tilescope.app.editing.live_editing import TYPING_PAUSE, UNCHANGED
from tilescope.app.model.bookmark import TracedValue
from tilescope.app.state.actions import TraceValue
from tilescope.app.views.source.gutter import Gutter
from tilescope.tracer.model.plan import kernel_source
from tilescope.tracer.model.skipped_lines import barrier_lines
from windows import act, open_window, press, settle, wait_until

SPEC = "matmul-tiled:m=8,k=8,n=8,tile=4"
FILE, TEXT = kernel_source("tilescope.kernels.matmul:tiled")
FIRST, SECOND = barrier_lines(TEXT, "tiled")


@pytest.fixture(scope="module")
def shared():
    with open_window((SPEC,)) as window:
        yield window
        window.editing.editing.undo_all()


@pytest.fixture
def window(shared):
    yield shared
    shared.editing.editing.cancel()
    shared.editing.editing.undo_all()
    shared.notice.clear()
    settle(shared)
    assert [setup.is_edited for setup in shared.stage.setups] == [False]


def editor(window):
    return window.side.source.editor


def written(window, old, new):
    """Replace the first occurrence of a text by typing."""
    page = editor(window)
    page.setFocus()
    page.moveCursor(QTextCursor.MoveOperation.Start)
    assert page.find(old)
    QTest.keyClicks(page, new)


def run(window):
    QTest.keyClick(editor(window), Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    wait_for_sessions(window)


def wait_for_sessions(window):
    """Wait until what was asked for is shown, or refused."""
    wait_until(lambda: not window.editing.editing.is_busy())
    settle(window)


def click_gutter(window, line):
    """Click on the handle of a line."""
    page = editor(window)
    page.go_to(line)
    top, height = next((top, height) for number, top, height in page.lines_in_sight() if number == line)
    QTest.mouseClick(
        page.findChild(Gutter), Qt.MouseButton.LeftButton, pos=QPoint(6, int(top + min(height, 14) / 2))
    )
    wait_for_sessions(window)


def kernels(window):
    return [session.launch.source for session in window.stage.sessions]


def test_typed_text_runs_next_to_the_version_before(window):
    before = FILE.read_bytes()
    written(window, "total += tile_a", "total -= tile_a")
    run(window)
    assert kernels(window) == [TEXT, TEXT.replace("total += tile_a", "total -= tile_a")]
    assert window.stage.focus == 1 and editor(window).hasFocus()
    assert "the result is wrong in 64 of 64 elements" in window.editing.bar.texts()
    assert FILE.read_bytes() == before  # nothing is written until it is saved
    written(window, "total -= tile_a", "total += 2 * tile_a")
    run(window)
    assert [text.count("2 * tile_a") for text in kernels(window)] == [0, 1]
    assert "total -= tile_a" in kernels(window)[0]  # the version before stands on the left
    press(window, "Ctrl+Z")
    assert "2 * tile_a" not in editor(window).file_text()  # also what has run can be taken back


def test_arrays_keep_their_names_when_a_line_is_typed_above_the_kernel():
    with open_window((f"{SPEC},engine=simulator",)) as window:
        names = [buffer.name for buffer in window.stage.sessions[0].trace.buffers]
        assert "tile_a" in names
        for note in ("# one", "# two"):
            page = editor(window)
            page.setFocus()
            page.moveCursor(QTextCursor.MoveOperation.Start)
            assert page.find("from numba import cuda, float32")
            QTest.keyClick(page, Qt.Key.Key_End)
            QTest.keyClick(page, Qt.Key.Key_Return)
            QTest.keyClicks(page, note)
            run(window)
            shown = window.stage.sessions[-1]
            noted, again = note in shown.launch.source, [buffer.name for buffer in shown.trace.buffers]
            if not noted or again != names:
                break
        window.editing.editing.undo_all()
        settle(window)
        assert (noted, again) == (True, names)


def test_the_same_text_is_not_run_again(window):
    run(window)
    assert window.notice.news.sentence.text() == UNCHANGED
    assert len(window.stage.setups) == 1


def test_a_click_strikes_a_barrier_out_and_another_puts_it_back(window):
    click_gutter(window, FIRST)
    assert window.stage.setups[1].without == (FIRST,)
    assert [text.count("syncthreads") for text in kernels(window)] == [2, 1]
    assert window.stage.sessions[1].findings[0].kind == "race"
    assert "1 race more" in window.editing.bar.texts()
    assert editor(window).struck == {FIRST} and "cuda.syncthreads()" in editor(window).toPlainText()
    problems = window.side.source.problems
    assert [problem.severity for problem in problems.problems] == ["error"]
    assert "which nothing orders" in problems.problems[0].sentence
    wait_until(
        lambda: "put cuda.syncthreads() " in problems.problems[0].sentence
    )  # once a trial has proven it
    click_gutter(window, SECOND)
    assert window.stage.setups[1].without == (FIRST, SECOND) and not window.stage.setups[0].is_edited
    click_gutter(window, FIRST)
    click_gutter(window, SECOND)
    assert [setup.is_edited for setup in window.stage.setups] == [False]  # as it was before
    assert not window.editing.bar.isVisible()


@pytest.mark.parametrize("width", [1500, 1000])
def test_the_bar_of_differences_keeps_one_row(window, width):
    window.resize(width, 700)
    click_gutter(window, FIRST)
    wait_until(lambda: window.stage.sessions[1].is_examined and "1 race more" in window.editing.bar.texts())
    bar = window.editing.bar
    assert bar.isVisible() and bar.height() < 2 * bar.undo.height()
    click_gutter(window, FIRST)
    window.resize(1280, 800)


def test_a_path_is_compared_with_the_version_before_the_edit(window):
    click_gutter(window, FIRST)
    act(window, TraceValue(TracedValue("C[0, 0]"), appears=True))
    view = window.side.view("why")
    assert view.list.item(0).text() == "Every write on the path equals that of the version before the edit."
    act(window, TraceValue(None))


def test_a_skipped_barrier_offers_the_race_and_reports_that_the_result_is_right_by_luck(window):
    click_gutter(window, FIRST)
    wait_until(lambda: window.stage.sessions[1].is_examined and "1 race more" in window.editing.bar.texts())
    assert window.stage.sessions[1].trace.check.equal
    left, right = (pane.heading for pane in window.central.panes)
    assert "by luck" in right.verdict.toolTip() and right.verdict.objectName() == "bad"
    assert "by luck" not in left.verdict.toolTip() and left.verdict.objectName() == "good"
    assert "the result is right by luck" in window.editing.bar.texts()
    assert not any("picture after" in text for text in window.editing.bar.texts())
    race = window.stage.sessions[1].findings[0]
    shows = [
        b for b in window.editing.bar.findChildren(QPushButton) if b.text() == "Show it" and b.isVisible()
    ]
    window.stage.seek(1, window.stage.ends()[1])
    QTest.mouseClick(shows[0], Qt.MouseButton.LeftButton)
    settle(window)
    assert (window.stage.focus, window.stage.moments()[1]) == (1, race.moment)
    marked = window.central.panes[1].memory.session.requests.moment[
        window.stage.sessions[1].requests.request[list(race.example)]
    ]
    assert race.moment in marked.tolist()


def test_back_and_forward_go_through_the_versions(window):
    click_gutter(window, SECOND)
    window.navigation.travel(-1)
    settle(window)
    assert [setup.without for setup in window.stage.setups] == [()]
    window.navigation.travel(1)
    settle(window)
    assert [setup.without for setup in window.stage.setups] == [(), (SECOND,)]
    assert editor(window).struck == {SECOND}


def test_a_skipped_guard_is_reported_immediately(shared):
    shared.change_setups(shared.toolbar.setups and _named("vector-double:count=40,threads=32"))
    settle(shared)
    line = next(
        n
        for n, row in enumerate(editor(shared).file_text().splitlines(), 1)
        if row.lstrip().startswith("if ")
    )
    click_gutter(shared, line)
    assert [finding.kind for finding in shared.stage.sessions[1].findings][:1] == ["bounds"]
    assert any(text.startswith("1 bounds") for text in shared.editing.bar.texts())
    shared.editing.editing.undo_all()
    settle(shared)
    shared.change_setups(_named(SPEC))
    settle(shared)


def _named(spec):
    from tilescope.app.model.first_bookmark import setups_of

    return setups_of([spec])


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("total += tile_a", "total += (tile_a", "'(' was never closed"),
        ("def tiled", "def other", "no kernel named tiled"),
        ("TILE = 16", "TILE = none", "NameError"),
        ("from numba import cuda", "import os, cuda_ ", "cuda_"),
    ],
)
def test_a_mistake_is_reported_at_its_line_and_the_window_stays_as_it_was(window, old, new, message):
    written(window, old, new)
    run(window)
    assert message in window.notice.sentence.text()
    assert kernels(window) == [TEXT] and len(window.stage.setups) == 1
    assert new in editor(window).file_text()  # nothing that was typed is lost


def test_a_kernel_that_raises_is_shown_with_its_error_at_its_line(window):
    written(window, "        k = step * TILE", "        k = step * TILE; raise ValueError(7)")
    line = editor(window).textCursor().blockNumber() + 1
    run(window)
    assert window.stage.sessions[1].trace.error is not None
    assert line in [problem.line for problem in window.side.source.problems.problems]


def test_a_version_does_not_follow_the_user_who_went_elsewhere_meanwhile(window):
    window.stage.jobs._sessions.clear()
    editor(window).toggle(FIRST)
    assert window.editing.editing.is_busy()
    window.change_setups(_named("vector-double:count=40,threads=32"))
    wait_for_sessions(window)
    assert [setup.scenario for setup in window.stage.setups] == ["vector-double"]
    window.navigation.travel(-1)
    wait_for_sessions(window)
    assert [setup.without for setup in window.stage.setups] == [()]


def test_a_line_that_is_put_back_before_its_version_is_there_changes_nothing(window):
    window.stage.jobs._sessions.clear()
    editor(window).toggle(SECOND)
    editor(window).toggle(SECOND)
    wait_for_sessions(window)
    assert len(window.stage.setups) == 1 and not editor(window).struck


def test_a_line_that_failed_can_be_put_back(window):
    click_gutter(window, TEXT.splitlines().index("from numba import cuda, float32") + 1)
    assert "NameError" in window.notice.sentence.text() and len(editor(window).struck) == 1
    click_gutter(window, next(iter(editor(window).struck)))
    assert len(window.stage.setups) == 1 and not window.notice.is_shown()


def test_all_that_is_undone_is_of_the_kernel_that_is_shown(window):
    click_gutter(window, FIRST)
    window.change_setups(_named("vector-double:count=40,threads=32"))
    settle(window)
    written(window, "data[i] *= 2", "data[i] *= 3")
    run(window)
    for _ in range(2):
        window.navigation.travel(-1)
        settle(window)
    assert [setup.without for setup in window.stage.setups] == [(), (FIRST,)]
    window.editing.editing.undo_all()
    settle(window)
    assert [setup.scenario for setup in window.stage.setups] == ["matmul-tiled"]


def test_marks_are_those_of_the_version_that_is_shown(window):
    click_gutter(window, FIRST)
    window.navigation.travel(-1)
    settle(window)
    assert not window.side.source.problems.problems
    window.navigation.travel(1)
    settle(window)
    assert [problem.severity for problem in window.side.source.problems.problems] == ["error"]
    window.editing.editing.undo_all()
    settle(window)
    assert not window.side.source.problems.problems


def test_barriers_are_those_of_the_kernel_of_several_in_one_file(window):
    window.change_setups(_named("matmul-naive-col-on-x:m=8,k=8,n=8,tile=4"))
    settle(window)
    assert editor(window).file == str(FILE) and not editor(window).barriers
    window.change_setups(_named(SPEC))
    settle(window)
    assert editor(window).barriers == {FIRST, SECOND}


def test_a_barrier_that_is_removed_and_typed_again_is_marked_again(window):
    line = TEXT.splitlines()[SECOND - 1].strip()
    page = editor(window)
    page.setFocus()
    cursor = QTextCursor(page.document().findBlockByNumber(SECOND - 1))
    cursor.movePosition(QTextCursor.MoveOperation.EndOfBlock)
    page.setTextCursor(cursor)
    for _ in line:
        QTest.keyClick(page, Qt.Key.Key_Backspace)
    QTest.keyClicks(page, "pass")
    wait_until(lambda: page.barriers == {FIRST})
    for _ in "pass":
        QTest.keyClick(page, Qt.Key.Key_Backspace)
    QTest.keyClicks(page, line)
    wait_until(lambda: page.barriers == {FIRST, SECOND})
    assert window.side.source.text() == TEXT and not window.side.source.is_edited()


def test_a_constant_that_the_bar_sets_is_reported(window):
    written(window, "TILE = 16", "TILE = 8")
    run(window)
    assert "The toolbar sets TILE" in window.notice.news.sentence.text()
    assert window.stage.sessions[1].launch.constants["TILE"] == 4


def test_two_texts_that_come_to_one_kernel_are_shown_each_by_itself(window):
    click_gutter(window, FIRST)
    rows = TEXT.split("\n")
    rows[FIRST - 1] = rows[FIRST - 1].replace("cuda.syncthreads()", "pass")
    editor(window).replace("\n".join(rows))
    run(window)
    assert window.stage.sessions[0] is window.stage.sessions[1]
    assert "        pass" in editor(window).file_text()
    assert not window.side.source.is_edited()


def test_lines_that_have_to_stay_say_why(window):
    reason = editor(window).toggle(TEXT.splitlines().index("def tiled(a, b, c):") + 1)
    assert "begins a function" in reason
    assert len(window.stage.setups) == 1


def test_another_size_is_traced_of_the_edited_kernel(window):
    click_gutter(window, FIRST)
    window.toolbar.put("m", "4")
    settle(window)
    assert [session.trace.buffers[0].shape[0] for session in window.stage.sessions] == [4, 4]
    assert [text.count("syncthreads") for text in kernels(window)] == [2, 1]


def test_a_copy_is_saved_completely_without_the_skipped_lines(window, tmp_path):
    written(window, "total += tile_a", "total += 1 * tile_a")
    run(window)
    click_gutter(window, SECOND)
    assert window.editing.store(tmp_path / "mine.py")
    saved = (tmp_path / "mine.py").read_text()
    assert "1 * tile_a" in saved and saved.count("syncthreads") == 1
    assert not window.editing.unsaved()
    assert not window.editing.store(Path(tmp_path / "none" / "mine.py"))
    assert "can't be written" in window.notice.sentence.text()
    assert not window.editing.store(FILE)
    assert "copy" in window.notice.sentence.text() and FILE.read_text() == TEXT


def test_leaving_with_edits_asks_once(monkeypatch, tmp_path):
    asked = []
    buttons = QMessageBox.StandardButton
    answers = iter([buttons.Cancel, buttons.Discard])
    monkeypatch.setattr(QMessageBox, "question", lambda *words: asked.append(words[2]) or next(answers))
    with open_window((SPEC,), settings=tmp_path / "window.json") as window:
        written(window, "total += tile_a", "total -= tile_a")
        assert not window.close() and window.isVisible()
        run(window)
        assert window.close()
    assert len(asked) == 2 and "matmul-tiled was edited" in asked[0]
    with open_window((), settings=tmp_path / "window.json", mark=window.settings.bookmark) as again:
        assert not any(setup.is_edited for setup in again.stage.setups)


PROGRAM = """
import numpy as np
from numba import cuda


@cuda.jit
def reverse(a, out):
    s = cuda.shared.array(32, "float32")
    t = cuda.threadIdx.x
    s[t] = a[t]
    cuda.syncthreads()
    out[t] = s[31 - t]


reverse[1, 32](np.arange(32, dtype=np.float32), np.zeros(32, np.float32))
"""


def test_a_program_of_the_users_runs_again_with_the_edited_text(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(PROGRAM)
    with open_window((SPEC,)) as window:
        window.files.run_program(str(path))
        wait_until(lambda: [s.trace.kernel for s in window.stage.sessions if s] == ["reverse"])
        settle(window)
        barrier = PROGRAM.splitlines().index("    cuda.syncthreads()") + 1
        click_gutter(window, barrier)
        assert [text.count("syncthreads") for text in kernels(window)] == [1, 0]
        assert editor(window).struck == {barrier} and editor(window).file_text() == PROGRAM
        click_gutter(window, barrier)
        assert [text.count("syncthreads") for text in kernels(window)] == [1]
        written(window, "np.arange(32", "2 * np.arange(32")
        run(window)
        assert window.stage.sessions[1].trace.initial[0].tolist() == [2.0 * i for i in range(32)]
        written(window, "2 * np.arange(32", "3 * nowhere(32")
        run(window)
        assert "nowhere" in window.notice.sentence.text()
        assert [problem.line for problem in window.side.source.problems.problems] == [
            len(PROGRAM.splitlines())
        ]
        assert path.read_text() == PROGRAM
        written(window, "3 * nowhere(32", "np.arange(32")
        written(window, "reverse[1, 32](", "kept = reverse, (")
        run(window)
        assert "launches no kernel" in window.notice.sentence.text()
        written(window, "kept = reverse, (np", "__import__('time').sleep(99); reverse[1, 32](np")
        QTest.keyClick(editor(window), Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
        assert window.editing.editing.is_busy()
        window.escape()
        assert not window.editing.editing.is_busy() and not window.files.end_program()
        written(window, "sleep(99)", "sleep(0)")
        written(window, "np.arange(32", "4 * np.arange(32")
        assert window.editing.store(path)
        wait_until(
            lambda: len(window.stage.sessions) == 1 and window.stage.sessions[0].trace.initial[0][1] == 4
        )
        settle(window)
        assert not window.editing.unsaved()


def test_nothing_is_compiled_ahead_while_a_session_is_being_prepared(window, monkeypatch):
    editing, messages, settled = window.editing.editing, [], [False]
    monkeypatch.setattr(window.stage.jobs, "compile_ahead", messages.append)
    monkeypatch.setattr(window.stage, "is_settled", lambda: settled[0])
    editing._compile_timer.start(1)
    QTest.qWait(50)
    assert not messages and editing._compile_timer.isActive()
    settled[0] = True
    wait_until(lambda: messages)
    editing._compile_timer.setInterval(TYPING_PAUSE)
    assert [launch.source != TEXT for launch in messages[0]] == [True, True]  # one for each barrier
