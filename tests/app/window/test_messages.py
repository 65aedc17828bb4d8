"""Messages of the window: they move nothing, stack, go with their cause, and are never shown to an audience."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QTextCursor
from PySide6.QtTest import QTest

from lectures import SMALL as TEXT
from windows import enter, open_window, press, settle, wait_until

PANE = "matmul-tiled:m=8,k=8,n=8,tile=4"


def places(window):
    parts = (*window.central.panes, *window.central.timelines, window.side, window.central.transport)
    return [part.geometry() for part in parts]


def sentences(window):
    return window.notice.sentences()


def fails(window, tmp_path, name="mine.py"):
    """Open a program that launches nothing."""
    path = tmp_path / name
    path.write_text("print(1)\n")
    window.files.run_program(str(path))
    wait_until(lambda: any(name in sentence for sentence in sentences(window)))


@pytest.mark.parametrize("size", [(1280, 800), (1024, 700), (1920, 1080)])
def test_a_message_lies_over_the_panes_and_moves_nothing(window, size):
    window.resize(*size)
    settle(window)
    before, number = places(window), window.toolbar.fields["n"].text()
    enter(window, "n", "0")
    press(window, "Return")
    wait_until(window.notice.isVisible)
    assert places(window) == before
    card, foot = window.notice.geometry(), window.central.foot.mapTo(window.central, QPoint(0, 0)).y()
    assert window.central.rect().contains(card)
    assert card.bottom() < foot
    label = window.notice.sentence
    assert label.height() >= label.heightForWidth(label.width())  # all of it can be read
    enter(window, "n", number)
    press(window, "Return")
    wait_until(lambda: not window.notice.isVisible())
    assert places(window) == before
    window.resize(1280, 800)


def test_messages_of_different_causes_stand_below_each_other(window, tmp_path):
    fails(window, tmp_path)
    number = window.toolbar.fields["n"].text()
    enter(window, "n", "0")
    wait_until(lambda: len(sentences(window)) == 2)
    tops = [banner.geometry().top() for banner in window.notice.banners]
    assert tops == sorted(set(tops))
    assert all(banner.isVisible() for banner in window.notice.banners)
    enter(window, "n", "-1")  # another mistake of the same field
    wait_until(lambda: len(sentences(window)) == 2)
    enter(window, "n", number)
    wait_until(lambda: len(sentences(window)) == 1)
    assert "mine.py" in sentences(window)[0]
    press(window, "Escape", "Escape")
    assert not window.notice.is_shown()


def test_a_failed_program_is_still_reported_when_a_large_launch_is_offered(window, tmp_path):
    fails(window, tmp_path)
    window.navigation.questions.notice.ask(
        "All 9 blocks take long.", [("Count all", lambda: None)], "patience"
    )
    assert len(sentences(window)) == 2
    QTest.mouseClick(window.notice.answers[0], Qt.MouseButton.LeftButton)
    assert "launches no kernel" in " ".join(sentences(window))
    QTest.mouseClick(window.notice.banners[0].close_button, Qt.MouseButton.LeftButton)
    assert not window.notice.isVisible()


@pytest.fixture
def edited():
    """Lend a window whose edited kernel can't be run."""
    with open_window((PANE,)) as window:
        editor = window.side.source.editor
        write(editor, "total += tile_a", "total += = tile_a")
        QTest.keyClick(editor, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
        wait_until(lambda: window.notice.message_type == "error")
        yield window
        window.editing.editing.undo_all()
        settle(window)


def write(editor, old, new):
    editor.setFocus()
    editor.moveCursor(QTextCursor.MoveOperation.Start)
    assert editor.find(old)
    QTest.keyClicks(editor, new)


def test_what_is_wrong_with_an_edited_kernel_goes_when_all_edits_are_undone(edited):
    press(edited, "Ctrl+Shift+U")
    assert not edited.notice.isVisible()


def test_what_is_wrong_with_an_edited_kernel_goes_while_the_mended_one_is_on_its_way(edited):
    editor = edited.side.source.editor
    write(editor, "total += = tile_a", "total -= tile_a")
    QTest.keyClick(editor, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    assert edited.editing.editing.is_busy()
    assert not edited.notice.isVisible()
    wait_until(lambda: not edited.editing.editing.is_busy())


@pytest.fixture
def lecturing(tmp_path):
    """Lend a window that presents a lecture."""
    path = tmp_path / "mine.md"
    path.write_text(TEXT)
    with open_window((PANE,)) as window:
        assert window.lectures.open(path)
        arrived(window)
        yield window
        window.lectures.leave()
        if window.presenting is not None:
            window.presenting.end()


def arrived(window):
    wait_until(lambda: window.lectures.player.awaited is None)
    settle(window)


def test_a_refused_caption_is_reported_until_it_is_mended(lecturing):
    window = lecturing
    press(window, "F2")
    editor = window.desk.caption.caption
    editor.selectAll()
    QTest.keyClicks(editor, "{left.threads: global requests}")
    QTest.keyClick(editor, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    wait_until(window.notice.isVisible)
    assert "'left.threads: global requests' is not the name of a number" in window.notice.sentence.text()
    assert "left.global_requests" in window.notice.sentence.text()
    press(window, "Ctrl+Z")  # it goes while the text is mended
    assert not window.notice.isVisible()
    editor.selectAll()
    QTest.keyClicks(editor, "{left.threads} threads")
    QTest.keyClick(editor, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    wait_until(window.desk.caption.isHidden)
    assert not window.notice.isVisible()
    press(window, "PageDown")
    arrived(window)
    assert not window.notice.isVisible()


def test_a_mistake_in_a_lectures_file_goes_when_the_file_is_mended(lecturing):
    window, path = lecturing, lecturing.lectures.player.lecture.path
    path.write_text(TEXT.replace("at: start", "at: nowhere"))
    window.lectures.player.reload()
    wait_until(window.notice.isVisible)
    path.write_text(TEXT)
    window.lectures.player.reload()
    arrived(window)
    assert not window.notice.isVisible()


def test_an_audience_sees_no_message_and_the_speaker_does(lecturing):
    window = lecturing
    press(window, "F7")
    wait_until(lambda: window.presenting is not None and window.presenting.is_open)
    window.files.open_path("/nowhere/missing.npz")
    window.notice.error("The file can't be written; choose another folder.", "file")
    window.notice.inform("The picture is saved.")
    assert not window.notice.is_shown()
    assert "can't be written" in window.presenting.window.messages.text()
    assert window.presenting.window.messages.isVisible()
    window.lectures.leave()
    settle(window)
    assert not window.presenting.is_open
    assert window.notice.isVisible()


def test_a_mistake_in_a_saved_file_is_the_speakers_also_while_the_lecture_is_written(lecturing):
    window, path = lecturing, lecturing.lectures.player.lecture.path
    press(window, "Ctrl+Shift+L")
    press(window, "F7")
    wait_until(lambda: window.presenting is not None and window.presenting.is_open)
    path.write_text(TEXT.replace("at: start", "at: nowhere"))
    messages = window.presenting.window.messages
    wait_until(lambda: messages.text().startswith("mine.md, line"))
    assert not window.notice.isVisible()


def test_full_screen_shows_an_audience_no_message(lecturing):
    window = lecturing
    window.showFullScreen()
    wait_until(window.isFullScreen)
    window.notice.error("Something is wrong.", "file")
    assert not window.notice.isVisible()
    window.showNormal()
    wait_until(lambda: not window.isFullScreen())
    wait_until(window.notice.isVisible)


def test_the_key_of_the_presenters_window_opens_and_closes_it(lecturing):
    window = lecturing
    press(window, "F7")
    wait_until(lambda: window.presenting is not None and window.presenting.is_open)
    QTest.qWaitForWindowActive(window.presenting.window)
    QTest.keyClick(window.presenting.window, Qt.Key.Key_F7)
    wait_until(lambda: not window.presenting.is_open)
    assert window.isVisible()


def test_a_message_about_a_text_disappears_at_the_first_key(edited):
    QTest.keyClicks(edited.side.source.editor, " ")
    wait_until(lambda: not edited.notice.isVisible())
