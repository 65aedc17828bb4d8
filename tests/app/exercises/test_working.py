"""Working at an exercise in the window: the text judged while it is written, hints, what is kept, what may go wrong."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QFileDialog

from cuda_cpp import needs_compiler
from exercises import warm_judge
from lectures import SMALL as TEXT
from tilescope.app.exercises.model.library import SHIPPED, exercise_named
from tilescope.app.exercises.model.progress import FILE
from tilescope.app.exercises.verdict_text import NOT_YET, PASSED
from tilescope.app.model.first_bookmark import first_bookmark
from tilescope.app.state.actions import Focus, ShowTab
from windows import PAIR, act, open_window, press, settle, wait_until

DATA = Path(__file__).parents[2] / "data" / "exercises"
ZERO, RIGHT = "out[i] = 0", "out[i] = a[i] + 10"
LINE = 9  # of the stub's store


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a teacher's folder: an exercise, and one that does not judge."""
    week_folder = tmp_path_factory.mktemp("week3")
    for path in DATA.glob("01-add-ten.*"):
        shutil.copy(path, week_folder)
        shutil.copy(path, week_folder / path.name.replace("01-add-ten", "02-twice"))
    (week_folder / "02-twice.md").write_text(
        (week_folder / "02-twice.md").read_text().replace("01-add", "01-add")
    )
    return week_folder


@pytest.fixture(scope="module")
def shared(folder):
    """Lend one window, with the judge of all tests, to those of this file."""
    judge = warm_judge()
    with open_window((PAIR[1],), settings=folder / "settings" / "window.json") as window:
        window.exercises.make_judge = lambda: SimpleNamespace(
            judge=judge.judge, cancel=judge.cancel, start=judge.start, close=lambda: None
        )
        window.exercises.work._pause.setInterval(20)
        yield window


@pytest.fixture
def window(shared, folder):
    """Lend the window with no exercise open, and nothing remembered of any."""
    (folder / "settings" / FILE).unlink(missing_ok=True)
    shared.exercises._progress = None
    shared.notice.clear()
    yield shared
    shared.exercises.leave()
    settle(shared)


def at_work(window, path):
    """Open an exercise and wait for its picture and verdict."""
    assert window.exercises.open_path(path)
    wait_until(lambda: window.exercises.panel.verdict is not None)
    wait_until(lambda: window.exercises.work.is_here() and window.stage.is_settled())
    settle(window)
    return window.exercises.panel


def test_no_other_kernel_is_shown_before_the_first_verdict(window, folder):
    assert window.central.down.isVisible()
    assert window.exercises.open_path(folder / "01-add-ten.md")
    assert window.central.waiting.isVisible() and not window.central.down.isVisible()
    wait_until(lambda: window.central.down.isVisible())
    assert window.exercises.work.is_here() and not window.central.waiting.isVisible()


def editor(window):
    return window.side.source.editor


def judged(window, text):
    """Wait for the verdict on a text, and for its picture."""
    work, job = window.exercises.work, window.exercises.job
    wait_until(lambda: work._last is not None and work._last.text == text and not job.is_busy())
    settle(window)


def write(window, old, new):
    """Replace a text, and wait for the verdict."""
    text = editor(window).text().replace(old, new)
    window.exercises.work.put(text)
    judged(window, text)


def type_in(window, line, deleted, keys):
    """Type at the end of a line, after so many characters are deleted there."""
    editor(window).go_to(line)
    QTest.keyClick(editor(window), Qt.Key.Key_End)
    for _ in range(deleted):
        QTest.keyClick(editor(window), Qt.Key.Key_Backspace)
    QTest.keyClicks(editor(window), keys)


def remembered(folder):
    """Return the saved progress of the first exercise."""
    saved = json.loads((folder / "settings" / FILE).read_text())["exercises"]
    return saved.get(str(folder / "add-ten"), {})


def texts(panel):
    return [row.text for row in panel.rows.rows]


def test_an_exercise_shows_task_picture_stub_and_what_is_wrong_at_first(window, folder):
    before = window.stage.setups
    panel = at_work(window, folder / "01-add-ten.md")
    assert panel.title.text() == "1. Add ten"
    assert "<i>plus ten</i>" in panel.task.text() and panel.picture.isVisible()
    assert editor(window).text() == (folder / "01-add-ten.py").read_text().split("\n\n\n# judge")[0] + "\n"
    assert editor(window).is_editable() and window.side.tab == "source" and window.side.isVisible()
    assert window.stage.focused().trace.kernel == "add_ten"
    assert editor(window).lines_in_sight()[0][0] == 1  # the imports too
    assert panel.head.words.text() == NOT_YET
    assert texts(panel)[:2] == [
        "n = 10 in 3 blocks of 4 threads: 10 of 10 elements of out wrong; out[0] is 0.0, expected 10.0; "
        "out was not changed",
        "Also wrong: n = 1,000 (1,000 of 1,000)",
    ]
    assert "out[0] is 0.0, expected 10.0" in panel.rows.rows[1].tip
    kinds = {finding.kind for finding in window.stage.focused().findings}
    assert "block size" not in kinds  # the task asks for blocks of 4 threads
    window.exercises.leave()
    settle(window)
    assert window.stage.setups == before, window.notice.sentence.text()
    assert not panel.isVisible()


def test_a_solution_typed_passes_is_shown_and_remembered(window, folder):
    panel = at_work(window, folder / "01-add-ten.md")
    outputs, work = [], window.exercises.work
    mark = work.stale

    def note(is_stale: bool) -> None:
        mark(is_stale)
        outputs.append((is_stale, panel.head.line.text()))

    work.stale = note
    type_in(window, LINE, 1, "a[i] + 10")
    judged(window, editor(window).text())
    assert panel.head.words.text() == PASSED and panel.next.isVisible() and not panel.is_stale
    assert any(
        stale and text.startswith("For the previous text. 0 of 2 cases right") for stale, text in outputs
    )
    assert window.stage.focused().launch.source == editor(window).text()
    assert remembered(folder)["done"] and RIGHT in remembered(folder)["text"]
    window.exercises.leave()
    panel = at_work(window, folder / "01-add-ten.md")
    assert RIGHT in editor(window).text() and "(done)" in panel.title.text()
    assert panel.head.words.text() == PASSED


def test_each_goal_shows_its_number_next_to_the_stubs_and_its_limit(window, folder):
    panel = at_work(window, folder / "01-add-ten.md")
    write(window, ZERO, "out[i] = a[i] + a[i] - a[i] + 10")
    goal = panel.rows.rows[0]
    assert panel.rows.rows[-1].text == "Right: n = 10; n = 1,000"
    assert goal.sign == "error" and goal.text == "Goal missed: each element is read once"
    assert goal.table == (("global load bytes", "12,000", "0"),) and goal.needs == "global load bytes = 4 × n"
    assert goal.instead == "you: 12,000, allowed: exactly 4,000"


def test_hints_come_one_by_one_fold_and_stay(window, folder):
    panel = at_work(window, folder / "01-add-ten.md")
    assert panel.hint.text() == "Hint 1 of 2" and not panel.hint_boxes
    panel.hint.click()
    settle(window)
    assert [box.text.isVisible() for box in panel.hint_boxes] == [True]
    press(window, "Ctrl+Shift+H")
    assert "out.size" in panel.hint_boxes[1].text.text() and not panel.hint.isVisible()
    assert [box.text.isVisible() for box in panel.hint_boxes] == [False, True]
    assert [box.head.text() for box in panel.hint_boxes] == ["Hint 1 ▸", "Hint 2 ▾"]
    QTest.mouseClick(panel.hint_boxes[0].head, Qt.MouseButton.LeftButton)
    assert [box.text.isVisible() for box in panel.hint_boxes] == [True, True]
    assert panel.head.isVisible()
    bottom = panel.head.mapTo(panel, panel.head.rect().bottomLeft()).y()
    assert bottom < panel.height()
    assert remembered(folder)["hints"] == 2
    window.exercises.leave()
    assert len(at_work(window, folder / "01-add-ten.md").hint_boxes) == 2


def test_unfinished_python_is_reported_at_its_line_and_the_verdict_stays(window, folder):
    panel = at_work(window, folder / "01-add-ten.md")
    labels = texts(panel)
    type_in(window, LINE, 0, " +")
    wait_until(lambda: bool(editor(window).problems))
    assert [problem.line for problem in editor(window).problems] == [LINE]
    assert texts(panel) == labels and panel.is_stale
    assert "out[i] = 0 +" in remembered(folder)["text"]
    window.exercises.leave()
    assert window.exercises.open_path(folder / "01-add-ten.md")  # which shows the stub's picture and the text
    wait_until(lambda: window.exercises.work.is_here() and "out[i] = 0 +" in editor(window).text())
    settle(window)
    panel = window.exercises.panel
    assert [problem.line for problem in editor(window).problems] == [LINE]
    assert panel.verdict is None and "previous" not in panel.head.line.text()  # the stub was not judged
    QTest.keyClicks(editor(window), "1")
    type_in(window, LINE, 2, "")
    wait_until(lambda: not panel.is_stale)


def test_a_kernel_that_is_gone_raises_or_never_ends_is_reported(window, folder, monkeypatch):
    panel = at_work(window, folder / "01-add-ten.md")
    write(window, "def add_ten", "def add_eleven")
    assert "add_ten" in texts(panel)[0] and panel.head.words.text() == NOT_YET
    write(window, "def add_eleven", "def add_ten")
    write(window, ZERO, "out[i] = a[i + 1]")
    assert any(row.line == LINE for row in panel.rows.rows)
    panel.line_asked(LINE)
    assert editor(window).textCursor().blockNumber() == LINE - 1
    monkeypatch.setattr(warm_judge(), "_seconds", 1.0)
    write(window, "out[i] = a[i + 1]", "while i >= 0: i += 1")
    monkeypatch.undo()
    assert "did not end after 1 s" in texts(panel)[0]
    write(window, "while i >= 0: i += 1", RIGHT)
    assert panel.head.words.text() == PASSED


def test_the_stub_comes_back_once_one_agrees_and_can_be_undone(window, folder):
    at_work(window, folder / "01-add-ten.md")
    write(window, ZERO, RIGHT)
    window.exercises.ask_for_stub()
    assert RIGHT in editor(window).text()
    window.notice.answers[0].click()
    assert ZERO in editor(window).text()
    judged(window, editor(window).text())
    press(window, "Ctrl+Z") if editor(window).hasFocus() else editor(window).undo()
    assert RIGHT in editor(window).text()
    judged(window, editor(window).text())


def test_live_editing_stands_aside_and_is_there_for_all_else(window, folder):
    panel = at_work(window, folder / "01-add-ten.md")
    setups = window.stage.setups
    assert window.editing.unsaved() == "" and "Ctrl+/" in editor(window).may_strike(LINE)
    write(window, ZERO, RIGHT)
    editor(window).run_asked.emit()
    settle(window)
    assert (
        len(window.stage.setups) == 1 and window.stage.setups != setups
    )  # the new text's picture, and no version
    window.change_setups(first_bookmark(PAIR[:1], None).panes)
    settle(window)
    assert not window.editing.editing.is_suspended() and panel.back.isVisible()
    panel.back.click()
    settle(window)
    assert RIGHT in editor(window).text() and not panel.back.isVisible()
    window.change_setups(
        (*window.stage.setups, *first_bookmark(PAIR[:1], None).panes)
    )  # beside another kernel
    settle(window)
    act(window, Focus(0))
    write(window, RIGHT, ZERO)
    assert len(window.stage.setups) == 2 and not window.stage.setups[1].file
    assert window.stage.sessions[0].launch.source == editor(window).text()


def test_what_was_typed_and_is_no_python_yet_waits_while_something_else_is_shown(window, folder):
    at_work(window, folder / "01-add-ten.md")
    type_in(window, LINE, 0, " +")
    typed = editor(window).text()
    window.change_setups(first_bookmark(PAIR[:1], None).panes)
    settle(window)
    assert not window.side.source.drafts() and window.editing.unsaved() == ""  # nothing is asked on closing
    window.exercises.panel.back.click()
    settle(window)
    assert editor(window).text() == typed and "out[i] = 0 +" in remembered(folder)["text"]


def test_the_text_is_saved_where_one_likes(window, folder, tmp_path, monkeypatch):
    at_work(window, folder / "01-add-ten.md")
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(tmp_path / "mine"), ""))
    window.exercises.save_as()
    assert (tmp_path / "mine.py").read_text() == editor(window).text()
    assert not window.exercises.store(tmp_path / "nowhere" / "mine.py")
    assert "can't be written" in window.notice.sentence.text()


def test_the_next_exercise_comes_after_this_one_and_the_menu_ticks_what_is_done(window, folder):
    at_work(window, folder / "01-add-ten.md")
    write(window, ZERO, RIGHT)
    window.exercises.next()
    wait_until(
        lambda: window.exercises.exercise.name == "twice" and window.exercises.panel.verdict is not None
    )
    settle(window)
    assert ZERO in editor(window).text()
    menu = window.menu.parts["Exercises"]
    menu.aboutToShow.emit()
    menu.aboutToShow.emit()
    shown = [(action.text(), action.isChecked()) for action in menu.actions()[:3]]
    assert shown == [("1. Add ten", True), ("2. Add ten", False), ("List the shipped exercises", False)]
    window.exercises.next()
    assert (
        window.exercises.exercise.name == "twice" and "1 of 2 are done" in window.notice.news.sentence.text()
    )


def test_a_teachers_folder_runs_once_one_agrees(window, folder, tmp_path):
    window.exercises._agreed.discard(folder)
    assert window.exercises.open_folder(folder)
    assert "2 exercises" in window.notice.sentence.text() and not window.exercises.is_open()
    window.notice.answers[0].click()
    wait_until(lambda: window.exercises.panel.verdict is not None)
    assert window.exercises.exercise.name == "add-ten"
    assert not window.exercises.open_folder(tmp_path)
    assert "There are no exercises in" in window.notice.sentence.text()
    assert not window.exercises.open_folder(tmp_path / "missing")
    assert "There is no folder" in window.notice.sentence.text()


@pytest.mark.parametrize(
    "old, new, message",
    [
        ("def cases():", "def cases():\n    raise ValueError('no seed')", "no seed"),
        ("def cases():", "def case():", "no function cases()"),
        ("@cuda.jit\n", "", "is not a kernel"),
    ],
)
def test_an_exercise_that_can_not_judge_leaves_the_window_as_it_was(
    window, folder, tmp_path, old, new, message
):
    before = window.stage.setups
    for path in folder.glob("01-add-ten.*"):
        shutil.copy(path, tmp_path)
    program = tmp_path / "01-add-ten.py"
    program.write_text(program.read_text().replace(old, new))
    window.exercises.open_path(tmp_path / "01-add-ten.md")
    wait_until(lambda: window.notice.message_type == "error")
    settle(window)
    assert message in window.notice.sentence.text() and "01-add-ten.py" in window.notice.sentence.text()
    assert not window.exercises.is_open() and window.stage.setups == before


def test_a_lecture_takes_the_place_of_an_exercise_and_the_window_forgets_its_traces(window, folder):
    before = window.stage.setups
    at_work(window, folder / "01-add-ten.md")
    assert window._lasting().panes == before
    assert not any(window.exercises.owns(path) for path in window.files.recent())
    lecture = folder / "lecture.md"
    lecture.write_text(TEXT)
    assert window.lectures.open(lecture)
    assert not window.exercises.is_open()
    wait_until(lambda: window.lectures.player.awaited is None)
    window.lectures.player.close()
    settle(window)
    window.notice.clear()


def test_find_the_race_shows_line_and_remedy_only_as_hints_are_asked_for(window):
    panel = at_work(window, SHIPPED / "15-centre.md")
    wait_until(lambda: window.stage.focused().is_examined)
    settle(window)
    assert panel.hints == 0

    def shown_findings():
        """Return the texts of panel, findings tab and source about the race."""
        act(window, ShowTab("findings"))
        settle(window)
        rows = window.side.view("findings").list
        listed = [rows.item(i).text() for i in range(rows.count())]
        row = next(row for row in panel.rows.rows if row.sign == "error" and "race" in row.text)
        marks = [problem.sentence for problem in editor(window).problems]
        return row, listed, marks

    row, listed, marks = shown_findings()
    assert "Somewhere in this kernel" in row.text and row.line == 0
    assert any("Somewhere in this kernel" in text for text in listed)
    assert not marks
    assert "syncthreads" not in " ".join([row.text, row.tip, *listed]) and "line 2" not in " ".join(listed)
    assert "1 race" in panel.head.line.text() or "1 error" in panel.head.line.text()
    panel.hint.click()
    settle(window)
    row, listed, marks = shown_findings()
    assert row.line and marks and any("part[" in text for text in listed)
    assert "put cuda.syncthreads()" not in " ".join([row.text, *listed, *marks])
    while panel.hint.isVisible():
        panel.hint.click()
        settle(window)
    wait_until(
        lambda: any("cuda.syncthreads()" in text for text in shown_findings()[1])
    )  # once the remedy is proven
    assert "cuda.syncthreads()" in shown_findings()[0].text  # of the panel
    assert "cuda.syncthreads()" in " ".join(shown_findings()[2])  # of the source


STENCIL = """from numba import cuda, int32

THREADS, RADIUS = 64, 2
SPAN = THREADS + 2 * RADIUS


@cuda.jit
def five_point_sum(a, out):
    tile = cuda.shared.array(SPAN, int32)
    i = cuda.grid(1)
    t = cuda.threadIdx.x
    n = a.shape[0]
    tile[t + RADIUS] = a[i] if i < n else 0
    if t < RADIUS:
        tile[t] = a[i - RADIUS] if i >= RADIUS else 0
        tile[t + THREADS + RADIUS] = a[i + THREADS] if i + THREADS < n else 0
    if i < n:
        total = 0
        for k in range(SPAN - THREADS + 1):
            total += tile[t + k]
        out[i] = total
"""


def test_the_remedy_of_a_finding_is_applied_to_the_students_text_and_undone(window):
    panel = at_work(window, SHIPPED / "07-stencil.md")
    editor(window).replace(STENCIL)
    judged(window, STENCIL)
    act(window, ShowTab("findings"))
    findings = window.side.view("findings")
    wait_until(lambda: any(finding.fixed_text for finding in window.focused_session().findings))
    settle(window)
    number, finding = next((r, f) for r, f in enumerate(window.focused_session().findings) if f.fixed_text)
    row = next(i for i, row in enumerate(panel.rows.rows) if row.line and finding.kind in row.text)
    window.stage.seek(0, 0)
    QTest.mouseClick(panel.rows.column.itemAt(row).widget(), Qt.MouseButton.LeftButton)
    settle(window)
    assert window.side.tab == "source" and editor(window).pointed == panel.rows.rows[row].line
    assert window.stage.moments()[0] == finding.moment
    act(window, ShowTab("findings"))
    findings.list.setCurrentRow(number)
    QTest.mouseClick(findings.fix, Qt.MouseButton.LeftButton)
    wait_until(lambda: panel.head.words.text() == PASSED)
    settle(window)
    fixed = window.side.source.text()
    assert fixed.count("cuda.syncthreads()") == 1
    assert window.stage.focused().launch.source == fixed
    assert not window.stage.focused().findings
    assert not editor(window).hasFocus()
    QTest.mouseClick(window.notice.answers[0], Qt.MouseButton.LeftButton)
    judged(window, STENCIL)
    assert window.side.source.text() == STENCIL and panel.head.words.text() != PASSED


@needs_compiler
def test_an_exercise_is_continued_in_cuda_cpp_and_both_texts_are_kept(window):
    panel = at_work(window, SHIPPED / "01-map.md")
    assert panel.languages.isVisible()
    write(window, "out[i] = a[i]  #", "out[i] = a[i] + 10  #")
    assert panel.verdict.passed
    in_numba = editor(window).text()

    def choose(language):
        QTest.mouseClick(panel.languages.buttons[language], Qt.MouseButton.LeftButton)
        at_once = editor(window).text()
        QTest.keyClicks(editor(window), "lost")
        assert editor(window).text() == at_once and "as soon as" in window.side.source.state.text()
        wait_until(lambda: panel.verdict is not None and window.exercises.work.is_here())
        settle(window)
        assert editor(window).text() == at_once and not editor(window).isReadOnly()

    choose("cuda-cpp")
    assert editor(window).text() == window.exercises.exercise.stub
    assert editor(window).file.endswith("map.cu") and not panel.verdict.passed
    write(window, "out[i] = a[i];", "out[i] = a[i] + ten;")
    assert [problem.line for problem in editor(window).problems] == [6]
    write(window, "a[i] + ten;", "a[i] + 10;")
    assert panel.verdict.passed and window.stage.sessions[0].trace.kernel == "add_ten"
    in_cpp = editor(window).text()
    choose("numba")
    assert editor(window).text() == in_numba and panel.verdict.passed
    choose("cuda-cpp")
    assert editor(window).text() == in_cpp and panel.verdict.passed


def test_the_first_case_with_a_fault_is_in_the_pane(window, folder):
    at_work(window, folder / "01-add-ten.md")
    title = window.central.panes[0].heading.title
    write(window, ZERO, RIGHT)
    assert title.text() == "add-ten"
    write(window, "i < out.size", "i < min(out.size, 100)")
    assert title.text() == "add-ten, n = 1,000"
    assert window.stage.focused().trace.grid == (8, 1, 1)


def test_the_source_states_that_the_picture_is_of_an_earlier_text(window, folder):
    at_work(window, folder / "01-add-ten.md")
    state = window.side.source.state
    assert state.text() == "judged as you type"
    write(window, ZERO, "out[i] = unknown")
    wait_until(lambda: state.text().startswith("the pictures show an earlier text"))
    write(window, "out[i] = unknown", RIGHT)
    wait_until(lambda: state.text() == "judged as you type")


def test_the_pictures_have_the_focus_once_another_exercise_is_open(window, folder):
    at_work(window, folder / "01-add-ten.md")
    window.activateWindow()
    editor(window).setFocus()
    press(window, "Ctrl+Shift+N")
    wait_until(lambda: window.exercises.exercise.name == "twice" and window.exercises.work.is_here())
    settle(window)
    text = editor(window).text()
    QTest.keyClick(QApplication.focusWidget(), Qt.Key.Key_Space)
    assert window.stage.playhead.playing and editor(window).text() == text
    window.stage.playhead.pause()


def test_no_remedy_is_offered_where_the_kernel_must_stay(window):
    window.exercises.open(exercise_named("neighbour"))
    wait_until(lambda: window.stage.focused() and window.stage.focused().trace.kernel == "shift")
    settle(window)
    session = window.stage.focused()
    wait_until(lambda: session.is_examined and window.editing.remedies.is_idle())
    assert [finding.kind for finding in session.findings if finding.severity == "error"]
    assert not any(finding.fixed_text or finding.remedy for finding in session.findings)
