"""Writing a lecture in the window: steps from the screen, words in place, order, undo, and what may go wrong."""

from __future__ import annotations

import errno
import json
import os
import shutil
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QTextCursor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QFileDialog, QMessageBox

from lectures import SMALL as TEXT
from tilescope.app.lectures.model.document import read_lecture
from tilescope.app.lectures.model.scenes import scenes_of
from tilescope.app.lectures.writing.drafts import Drafts
from tilescope.app.model.bookmark import Bookmark
from tilescope.app.model.session import Selection
from windows import open_window, press, reset, settle, wait_until

PROGRAM = """
import numpy as np
from numba import cuda

@cuda.jit
def double(a, out):
    i = cuda.grid(1)
    out[i] = a[i]

double[1, 8](np.arange(8, dtype=np.float32), np.zeros(8, np.float32))
"""


@pytest.fixture(scope="module")
def shared():
    """Lend one window to the tests of this file."""
    with open_window() as window:
        yield window
        window.desk.writer.discard()
        window.desk.writer.is_unsaved = False


@pytest.fixture
def window(shared):
    """Lend a window without a lecture."""
    reset(shared)
    yield shared
    desk = shared.desk
    if desk.caption is not None:
        desk.caption.give_up()
    if desk.dock is not None:
        desk.dock.hide()
    desk.writer.is_unsaved = False
    shared.lectures.player.close()
    desk.writer.discard()
    settle(shared)
    shared.notice.clear()


def saved_in(window, path):
    """Answer the question for a file."""
    window.desk.writer._choose_path = lambda suggested: path


def presented(window, path, text=TEXT, number=0):
    """Present a lecture of this text."""
    path.write_bytes(text.encode())
    assert window.lectures.open(path, number)
    arrived(window)
    return window.desk.writer


def arrived(window):
    """Wait for the picture of a step."""
    wait_until(lambda: window.lectures.player.awaited is None)
    settle(window)


def titles(path):
    """Return the titles of a file's steps."""
    return [step.title for step in read_lecture(path).steps]


def shows(window):
    """Return the window's view of a lecture: panes, moment, highlights."""
    mark = window.bookmark()
    return mark.panes, mark.moment, mark.selections, mark.colour_by, mark.tab, mark.zoom


def test_a_new_lecture_is_saved_where_its_user_looks(window, monkeypatch):
    suggested = []
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *given: (suggested.append(given[2]) or "", ""))
    for _ in range(2):  # the drafts have a folder once there is one
        press(window, "Ctrl+D")
        press(window, "Ctrl+Shift+S")
    assert suggested == [str(Path.home() / "Lecture.md")] * 2


def test_three_screens_become_a_lecture_that_is_written_moved_copied_and_undone(window, tmp_path):
    path = tmp_path / "mine.md"
    saved_in(window, path)
    writer, player = window.desk.writer, window.lectures.player
    screens = []
    for move in (
        lambda: None,
        lambda: window.stage.step_phase(1),
        lambda: window.stage.select(1, Selection(2, 5)),
    ):
        move()
        settle(window)
        before = shows(window)
        press(window, "Ctrl+D")
        arrived(window)
        assert shows(window) == before
        screens.append(before)
    assert writer.is_unsaved and not path.exists() and player.number == 2
    press(window, "Ctrl+Shift+S")
    assert path.exists() and not writer.is_unsaved
    first = path.read_bytes()

    assert writer.set_caption(0, "There are {left.threads_in_all} threads.")
    assert writer.set_notes(0, "Slowly.")
    assert writer.set_step_title(1, "Second")
    assert writer.set_question(2, "How many?", "1 | {left.tile}", "left.tile")
    assert writer.copy(2)
    assert writer.move(1, 0)
    assert writer.take_out(1)
    arrived(window)
    assert titles(path)[0] == "Second" and len(titles(path)) == 3
    for screen, number in ((screens[1], 0), (screens[2], 1), (screens[2], 2)):
        player.go(number, play=False)
        arrived(window)
        assert shows(window) == screen
    steps = len(read_lecture(path).steps)
    for _ in range(7):
        writer.undo()
    arrived(window)
    assert path.read_bytes() == first
    for _ in range(7):
        writer.redo()
    arrived(window)
    assert len(read_lecture(path).steps) == steps
    player.close()
    assert window.lectures.open(path)
    arrived(window)
    assert [scene.panes for scene in player.scenes] == [
        scene.panes for scene in scenes_of(read_lecture(path))
    ]
    assert player.lecture.problems == ()


def test_a_caption_is_written_in_place(window, tmp_path):
    path = tmp_path / "mine.md"
    presented(window, path)
    QTest.mouseDClick(window.central.caption, Qt.MouseButton.LeftButton)
    editor = window.desk.caption
    assert editor.isVisible() and editor.caption.hasFocus()
    assert editor.caption.words() == "There are {left.threads_in_all} threads, and *each* makes one element."
    editor.caption.setPlainText("So many: {left.threads}, {left.nothing}")
    wait_until(lambda: "nothing" in editor.foot.text())
    editor.caption.setPlainText("So many: {left.threads}")
    wait_until(lambda: editor.foot.text() == "Reads: So many: 16")
    editor.notes.setPlainText("Say it\nonce.")
    QTest.keyClick(editor.caption, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    assert editor.isHidden()
    arrived(window)
    assert "So many: {left.threads}\n\n> Say it\n> once.\n" in path.read_text()
    assert "So many: " in window.central.caption.text.text()


def test_a_title_is_written_in_place(window, tmp_path):
    path = tmp_path / "mine.md"
    presented(window, path)
    press(window, "F2")
    QTest.keyClicks(window.desk.caption.caption, " Indeed.")  # after what stands there
    press(window, "Shift+Tab")
    press(window, "Shift+Tab")
    assert window.desk.caption.title.hasFocus()
    press(window, "Ctrl+A")
    QTest.keyClicks(window.desk.caption.title, "Begin")
    press(window, "Return")
    arrived(window)
    assert window.desk.caption.isHidden() and titles(path)[0] == "Begin"
    assert "makes one element. Indeed.\n" in path.read_text()


def test_a_step_at_the_start_is_named_after_both_kernels(window):
    window.stage.seek(1, 0)
    settle(window)
    press(window, "Ctrl+D")
    arrived(window)
    left, right = (session.title for session in window.stage.sessions)
    assert window.lectures.player.step.title == f"{left} and {right}"


def test_numbers_are_chosen_from_a_list_with_their_present_values(window, tmp_path):
    presented(window, tmp_path / "mine.md")
    press(window, "F2")
    editor = window.desk.caption
    editor.caption.setPlainText("So far ")
    editor.caption.moveCursor(QTextCursor.MoveOperation.End)
    press(window, "Ctrl+Space")
    parts = [action.menu() for action in editor.menu.actions()]
    assert "so far" in parts[0].title()  # the numbers of the moment are first
    entries = {entry.text().split("\t")[0]: entry for part in parts for entry in part.actions()}
    assert entries["left.threads"].text() == "left.threads\t16"
    now, total = (entries[f"left.{name}global_requests"].text().split("\t")[1] for name in ("now.", ""))
    assert now != total
    editor.menu.close()
    entries["left.now.global_requests"].trigger()
    assert editor.caption.words() == "So far {left.now.global_requests}" and editor.caption.hasFocus()
    wait_until(lambda: editor.foot.text() == f"Reads: So far {now}")
    editor.give_up()


@pytest.mark.parametrize("is_shown", [False, True])
def test_no_edit_changes_whether_the_answer_is_shown(window, tmp_path, is_shown):
    path = tmp_path / "mine.md"
    presented(window, path, number=2)
    player = window.lectures.player
    player.show_final_moment()
    press(window, "3")
    if is_shown:
        press(window, "PageDown")
    window.desk.set_theme(window.theme)

    def check(title):
        wait_until(lambda: player.lecture.title == title)
        arrived(window)
        assert (player.number, player.is_revealed, player.chosen) == (2, is_shown, 2)

    check("Naive against tiled")
    path.write_text(path.read_text().replace("# Naive against tiled", "# Another title"))
    check("Another title")
    press(window, "F2")
    press(window, "Ctrl+A")
    QTest.keyClicks(window.desk.caption.caption, "New")
    QTest.keyClick(window.desk.caption.caption, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    check("Another title")
    assert "\nNew\n" in path.read_text()
    press(window, "Ctrl+Shift+L")
    panel = window.desk.panel
    panel.buttons["Delete"].click()
    arrived(window)
    panel.buttons["Undo"].click()
    arrived(window)
    assert player.number == 2 and not player.is_revealed


def test_escape_gives_a_caption_up_and_leaving_it_takes_it(window, tmp_path):
    path = tmp_path / "mine.md"
    presented(window, path)
    press(window, "F2")
    editor = window.desk.caption
    QTest.keyClicks(editor.caption, "B, C and l are letters here")
    QTest.keyClick(editor.caption, Qt.Key.Key_Escape)
    assert editor.isHidden() and path.read_text() == TEXT
    press(window, "F2")
    press(window, "Ctrl+A")
    QTest.keyClicks(editor.caption, "Taken")
    window.central.transport.play.setFocus()
    wait_until(editor.isHidden)
    assert "\nTaken\n" in path.read_text()
    press(window, "F2")
    QTest.keyClicks(editor.caption, " Of step 1")
    window.lectures.player.go(1)
    arrived(window)
    assert editor.isHidden() and "\nTaken Of step 1\n" in path.read_text()


def test_what_is_no_caption_stays_in_its_field(window, tmp_path):
    path = tmp_path / "mine.md"
    presented(window, path)
    press(window, "F2")
    editor = window.desk.caption
    editor.caption.setPlainText("Fine\n\n## Not fine")
    window.lectures.player.go(1)
    arrived(window)
    assert editor.isVisible() and "heading" in window.notice.sentence.text()
    assert editor.caption.words() == "Fine\n\n## Not fine" and path.read_text() == TEXT


def test_the_panel_edits_all_that_a_step_has(window, tmp_path):
    path = tmp_path / "mine.md"
    presented(window, path)
    press(window, "Ctrl+Shift+L")
    panel = window.desk.panel
    assert [panel.steps.item(i).text() for i in range(3)][1].endswith("The first tile")
    panel.title.setPlainText("A title")
    panel.fields["title"].setPlainText("Begin")
    panel.fields["change"].setPlainText(panel.fields["change"].words() + "\ncolour: reads")
    panel.fields["ask"].setPlainText("How many?")
    panel.fields["answer"].setPlainText("left.threads")
    wait_until(lambda: panel.previews["answer"].text() == "Here: 16 · exact from the trace")
    assert panel.take()
    arrived(window)
    text = path.read_text()
    assert text.startswith("# A title\n") and "## Begin\n" in text
    assert "spotlight: A[0, :], C[0, 0]\ncolour: reads\nask: How many?\nanswer: left.threads\n```" in text
    assert window.bookmark().colour_by == "reads"
    QTest.keyClick(panel.steps, Qt.Key.Key_Down, Qt.KeyboardModifier.AltModifier)
    arrived(window)
    assert titles(path) == ["The first tile", "Begin", "Until the end"] and panel.steps.currentRow() == 1
    panel.buttons["Delete"].click()
    panel.buttons["Undo"].click()
    arrived(window)
    assert titles(path) == ["The first tile", "Begin", "Until the end"]


def test_a_question_is_typed_field_by_field_and_nothing_is_lost(window, tmp_path):
    path = tmp_path / "mine.md"
    presented(window, path)
    press(window, "Ctrl+Shift+L")
    panel = window.desk.panel
    ask, choices, answer = (panel.fields[name] for name in ("ask", "choices", "answer"))
    QTest.mouseClick(ask.viewport(), Qt.MouseButton.LeftButton)
    QTest.keyClicks(ask, "Why so many?")
    press(window, "Tab")
    assert choices.hasFocus() and ask.words() == "Why so many?"
    QTest.keyClicks(choices, "6 | 16 | 34")
    press(window, "Tab")
    assert answer.hasFocus() and choices.words() == "6 | 16 | 34" and path.read_text() == TEXT
    QTest.mouseClick(panel.fields["notes"].viewport(), Qt.MouseButton.LeftButton)
    assert (ask.words(), choices.words()) == ("Why so many?", "6 | 16 | 34")
    assert panel.previews["answer"].text() == "The question is not complete: fill in Answer."
    window.lectures.player.toggle_blank()  # the player changes, the fields do not
    window.lectures.player.toggle_blank()
    assert (ask.words(), choices.words()) == ("Why so many?", "6 | 16 | 34")
    press(window, "PageDown")
    arrived(window)
    assert panel.number == 0 and ask.words() == "Why so many?"
    assert "fill in Answer" in window.notice.sentence.text()
    window.lectures.player.go(0)
    arrived(window)
    QTest.mouseClick(answer.viewport(), Qt.MouseButton.LeftButton)
    QTest.keyClicks(answer, "left.threads")
    assert not window.notice.sentence.text()
    press(window, "Tab")
    arrived(window)
    assert "ask: Why so many?\nchoices: 6 | 16 | 34\nanswer: left.threads\n" in path.read_text()
    assert not window.lectures.player.is_revealed


def test_an_unfinished_question_is_not_written_into_another_lecture(window, tmp_path):
    presented(window, tmp_path / "mine.md")
    press(window, "Ctrl+Shift+L")
    panel = window.desk.panel
    panel.fields["ask"].setFocus()
    QTest.keyClicks(panel.fields["ask"], "Why?")
    other = tmp_path / "other.md"
    presented(window, other)
    assert not panel.fields["ask"].words() and other.read_text() == TEXT


def test_a_mistake_in_a_field_is_reported_below_it_and_not_written(window, tmp_path):
    path = tmp_path / "mine.md"
    presented(window, path)
    press(window, "Ctrl+Shift+L")
    panel = window.desk.panel
    panel.fields["change"].setPlainText("colour: pink")
    wait_until(lambda: "'pink' is not known here" in panel.previews["change"].text())
    window.lectures.player.go(1)
    arrived(window)
    assert panel.number == 0 and path.read_text() == TEXT
    panel.fields["change"].setFocus()
    QTest.keyClick(panel.fields["change"], Qt.Key.Key_Escape)
    panel.follow()
    assert panel.number == 1 and panel.fields["change"].words() == "next phase"


def test_a_file_that_was_changed_elsewhere_is_not_overwritten(window, tmp_path):
    path = tmp_path / "mine.md"
    writer = presented(window, path)
    other = TEXT.replace("For a test.", "By another hand.")
    path.write_bytes(other.encode())
    assert not writer.set_step_title(1, "Mine")
    arrived(window)
    assert "was changed by another program" in window.notice.sentence.text() and path.read_text() == other
    assert writer.set_step_title(1, "Mine")
    assert path.read_text() == other.replace("## The first tile", "## Mine")


def test_a_save_of_another_editor_is_taken_into_the_history(window, tmp_path):
    path = tmp_path / "mine.md"
    writer = presented(window, path)
    other = TEXT.replace("## The first tile", "## Theirs")
    path.write_bytes(other.encode())
    wait_until(lambda: writer.text == other)
    writer.undo()
    assert path.read_text() == TEXT


def test_a_folder_that_cannot_be_written_to_loses_nothing(window, tmp_path, monkeypatch):
    path = tmp_path / "mine.md"
    writer = presented(window, path)

    def refuse(*_):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    with monkeypatch.context() as patch:
        patch.setattr("tilescope.app.lectures.model.edit.file.write_atomically", refuse)
        assert writer.set_step_title(1, "Mine")
        arrived(window)
        sentence = window.notice.sentence.text()
        assert "can't be written: Permission denied" in sentence and "Ctrl+Shift+S" in sentence
        saved_in(window, tmp_path / "other.md")
        assert not writer.save_as()
    assert path.read_text() == TEXT and writer.is_unsaved
    assert window.lectures.player.lecture.steps[1].title == "Mine"
    assert writer.save_as() and titles(tmp_path / "other.md")[1] == "Mine"
    assert not writer.is_unsaved


def test_the_same_step_twice_and_one_taken_out_that_others_build_on(window, tmp_path):
    path = tmp_path / "mine.md"
    writer = presented(window, path)
    player = window.lectures.player
    player.go(2, play=False)
    arrived(window)
    last = shows(window)
    assert writer.take_out(1)
    assert writer.take_out(0)
    arrived(window)
    assert titles(path) == ["Until the end"] and shows(window) == last
    assert not writer.take_out(0) and "at least one step" in window.notice.sentence.text()


def test_leaving_a_lecture_in_no_file_keeps_it_and_asks(window, monkeypatch, tmp_path):
    writer, player = window.desk.writer, window.lectures.player
    press(window, "Ctrl+D")
    arrived(window)
    text = writer.text
    window.lectures.leave()
    wait_until(lambda: "has not been saved yet" in window.notice.sentence.text())
    asked = []
    monkeypatch.setattr(
        QMessageBox, "question", lambda *_: asked.append(1) or QMessageBox.StandardButton.Cancel
    )
    window.close()
    assert window.isVisible() and asked == [1]
    saved_in(window, tmp_path / "kept.md")
    press(window, "Ctrl+Shift+S")
    arrived(window)
    assert (tmp_path / "kept.md").read_text() == text and player.lecture is not None


def test_an_unsaved_lecture_is_listed_after_it_was_left(window):
    writer, player = window.desk.writer, window.lectures.player
    press(window, "Ctrl+D")
    arrived(window)
    text = writer.text
    window.lectures.leave()
    wait_until(lambda: "has not been saved yet" in window.notice.sentence.text())
    settle(window)
    press(window, "Escape")
    assert not window.notice.sentence.text() and player.lecture is None
    window.menu.parts["Lectures"].aboutToShow.emit()
    recent = next(action.menu() for action in window.menu.parts["Lectures"].actions() if action.menu())
    recent.aboutToShow.emit()
    entry = recent.actions()[0]
    assert entry.text() == "Lecture (not saved yet)"
    entry.trigger()
    arrived(window)
    assert player.lecture is not None and writer.text == text


def test_going_back_is_not_offered_in_another_lecture(window, tmp_path):
    presented(window, tmp_path / "mine.md")
    window.lectures.leave()
    settle(window)
    assert "was left at step 1" in window.notice.sentence.text()
    presented(window, tmp_path / "other.md")
    assert not window.notice.sentence.text()
    window.lectures.leave()
    settle(window)
    press(window, "Ctrl+D")
    arrived(window)
    assert not window.notice.sentences()


def test_an_unsaved_lecture_outlives_a_killed_program(window, tmp_path):
    press(window, "Ctrl+D")
    arrived(window)
    writer = window.desk.writer
    (kept,) = (path for path in window.desk.drafts.folder.glob("*.json") if writer.text in read_draft(path))
    folder = tmp_path / "unsaved"
    folder.mkdir()
    shutil.copy(kept, folder / kept.name)  # without its lock: its program is gone
    with open_window() as other:
        other.desk.drafts = Drafts(folder)
        other.desk.recover()
        assert "earlier session has not been saved" in other.notice.sentence.text()
        assert Drafts(folder).recover() is None  # another program does not offer it too
        next(button for button in other.notice.answers if button.text() == "Present it again").click()
        arrived(other)
        assert other.desk.writer.text == writer.text and not other.notice.sentences()
        saved_in(other, tmp_path / "mine.md")
        press(other, "Ctrl+Shift+S")
        assert (tmp_path / "mine.md").read_text() == writer.text and not list(folder.glob("*.json"))


def read_draft(path):
    """Return the text of a draft."""
    return json.loads(path.read_text())["text"]


def test_the_panel_takes_the_keys(window, tmp_path):
    presented(window, tmp_path / "mine.md")
    press(window, "Ctrl+Shift+L")
    press(window, "B")
    assert not window.lectures.player.is_blank
    assert "B" in window.desk.panel.fields["caption"].words().upper()
    press(window, "Escape")


def test_a_shipped_lecture_is_edited_as_a_copy(window, tmp_path, monkeypatch):
    folder = tmp_path / "shipped"
    folder.mkdir()
    monkeypatch.setattr("tilescope.app.lectures.model.edit.file.FOLDER", folder)
    path, copy = folder / "1-test.md", tmp_path / "copy.md"
    writer = presented(window, path)
    saved_in(window, None)
    assert not writer.set_step_title(0, "Mine")
    saved_in(window, copy)
    assert writer.set_step_title(0, "Mine")
    assert path.read_text() == TEXT and titles(copy)[0] == "Mine"
    assert window.lectures.player.lecture.path == copy


def test_a_launch_of_a_program_is_named_by_its_program(window, tmp_path):
    program = tmp_path / "mine.py"
    program.write_text(PROGRAM)
    setups, player = window.stage.setups, window.lectures.player
    window.files.run_program(str(program))
    wait_until(lambda: window.stage.setups != setups and window.stage.is_settled())
    settle(window)
    press(window, "Ctrl+D")
    assert window.desk.writer.path == tmp_path / "Lecture.md" and "show: mine.py\n" in window.desk.writer.text
    wait_until(lambda: player.moment() is not None)
    settle(window)
    window.stage.seek(0, 2)
    press(window, "Ctrl+D")
    wait_until(lambda: player.moment() is not None and player.number == 1)
    assert "`end`" in window.desk.writer.text and window.desk.writer.text.count("show:") == 1
    window.desk.writer.is_unsaved = False
    player.close()
    window.change_setups(setups)
    settle(window)


def test_keys_for_writing_belong_to_others_without_a_lecture(window, tmp_path):
    names = ("Redo edit", "Edit caption and notes")
    assert not any(window.commands[name].isEnabled() for name in names)
    presented(window, tmp_path / "mine.md")
    assert all(window.commands[name].isEnabled() for name in names)


def test_nothing_on_screen_is_no_step():
    with open_window(mark=Bookmark(())) as main_window:
        notices: list[str] = []
        main_window.desk.writer.problem = notices.append
        assert not main_window.desk.writer.add_screen()
        assert notices == ["The screen is empty. Show a scenario first."]
