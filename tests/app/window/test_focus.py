"""Where the focus goes: back to the pictures after a field is edited, so that Space plays and arrows step."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QTextCursor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from windows import enter, open_window, parameter_field, press, settle, wait_until

PANE = "matmul-tiled:m=8,k=8,n=8,tile=4"


def in_pictures(window):
    focus = QApplication.focusWidget()
    return any(pane is focus or pane.isAncestorOf(focus) for pane in window.central.panes)


def size(window):
    return {setup.values.get("n", 16) for setup in window.stage.setups}


@pytest.mark.parametrize("key", ["Return", "Enter"])
def test_return_in_a_number_field_takes_the_number_and_leaves_the_field(window, key):
    number = "12" if parameter_field(window, "n").text() != "12" else "16"
    enter(window, "n", number)
    press(window, key)
    wait_until(lambda: size(window) == {int(number)})
    settle(window)
    assert in_pictures(window)
    moment = window.playhead.moment
    press(window, "Home")
    assert window.playhead.moment == 0 != moment
    press(window, "Right")
    assert window.playhead.moment > 0


def test_return_in_the_number_of_a_block_or_thread_leaves_the_field(window):
    window.side.show_tab("thread")
    box = window.side.view("thread").pick_thread.boxes[0]
    box.setFocus()
    QTest.keyClick(box, Qt.Key.Key_Up)
    QTest.keyClick(box, Qt.Key.Key_Return)
    assert in_pictures(window)
    assert window.stage.selections[window.stage.focus].thread == 1
    window.side.show_tab("source")


def test_space_plays_while_a_number_is_typed_and_is_not_typed_itself(window):
    enter(window, "n", "16")
    press(window, "Space")
    assert window.playhead.playing
    assert parameter_field(window, "n").text() == "16"
    press(window, "Space")
    assert not window.playhead.playing


def test_escape_leaves_a_number_field_as_it_was(window):
    before = parameter_field(window, "n").text()
    enter(window, "n", "no number")
    press(window, "Escape")
    assert in_pictures(window)
    assert parameter_field(window, "n").text() == before
    assert not window.notice.isVisible()


def test_a_number_that_is_refused_keeps_the_focus_until_it_is_mended(window):
    before = parameter_field(window, "n").text()
    enter(window, "n", "0")
    press(window, "Return")
    assert parameter_field(window, "n").hasFocus()
    assert window.notice.isVisible()
    enter(window, "n", before)
    press(window, "Return")
    assert in_pictures(window)
    assert not window.notice.isVisible()


@pytest.mark.parametrize("combo", ["speed", "link"])
def test_what_is_chosen_from_a_list_hands_the_focus_back(window, combo):
    choice = getattr(window.central.transport, combo)
    choice.setFocus()
    press(window, "Return")
    wait_until(lambda: choice.view().isVisible())
    QTest.keyClick(choice.view(), Qt.Key.Key_Down)
    QTest.keyClick(choice.view(), Qt.Key.Key_Return)
    wait_until(lambda: not choice.view().isVisible())
    assert in_pictures(window)
    choice.setFocus()
    press(window, "Escape")
    assert in_pictures(window)


def test_keys_that_choose_in_a_closed_list_leave_the_focus_there(window):
    speed = window.central.transport.speed
    speed.setFocus()
    before = window.playhead.speed
    QTest.keyClick(speed, Qt.Key.Key_Down)
    assert window.playhead.speed != before
    assert speed.hasFocus()


def test_the_panel_of_the_order_hands_the_focus_back(window):
    window.toolbar.more.setFocus()
    press(window, "Return")
    wait_until(window.toolbar.panel.isVisible)
    QTest.keyClick(window.toolbar.panel.numbers["resident"], Qt.Key.Key_Return)
    wait_until(lambda: not window.toolbar.panel.isVisible())
    wait_until(lambda: in_pictures(window))


def test_undoing_all_edits_hands_the_focus_to_the_pictures():
    with open_window((PANE,)) as window:
        editor = window.side.source.editor
        editor.setFocus()
        editor.moveCursor(QTextCursor.MoveOperation.Start)
        assert editor.find("total += tile_a")
        QTest.keyClicks(editor, "total -= tile_a")
        QTest.keyClick(editor, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
        wait_until(lambda: not window.editing.editing.is_busy() and len(window.stage.sessions) == 2)
        settle(window)
        window.editing.bar.undo.setFocus()
        press(window, "Return")
        wait_until(lambda: len(window.stage.setups) == 1)
        settle(window)
        assert in_pictures(window)
