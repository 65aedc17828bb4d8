"""The source while it is edited: what keys do to it, what is taken back, and what it tells."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest

from sessions import application, matmul
from tilescope.app.views.source.editor import Editor
from tilescope.app.widgets.theme import Theme
from views import heard

Key, Held = Qt.Key, Qt.KeyboardModifier
CONTROL, SHIFT, NONE = Held.ControlModifier, Held.ShiftModifier, Held.NoModifier
TEXT = "def f(a):\n    if a:\n        return 1  # one\n    return {'(': [2]}\n"


@pytest.fixture(scope="module")
def tiled():
    return matmul(m=20, k=12, n=28, tile=8)


def an_editor(text=TEXT, width=420):
    application()
    editor = Editor(Theme.named("light"))
    editor.resize(width, 300)
    editor.show_text("k.py", text, 1)
    editor.set_editable(True)
    editor.grab()  # lays it out
    return editor


def put(editor, line, column, to=None):
    """Put the cursor at a line (from 1) and a column, perhaps with all selected up to another place."""
    cursor = editor.textCursor()
    cursor.setPosition(editor.document().findBlockByNumber(line - 1).position() + column)
    if to:
        end = editor.document().findBlockByNumber(to[0] - 1).position() + to[1]
        cursor.setPosition(end, cursor.MoveMode.KeepAnchor)
    editor.setTextCursor(cursor)


def press(editor, *keys):
    for key in keys:
        held, code = (key[0], key[1]) if isinstance(key, tuple) else (NONE, key)
        QTest.keyClick(editor, code, held)


def click(editor, line):
    ((top, height),) = [(top, height) for n, top, height in editor.lines_in_sight() if n == line]
    QTest.mouseClick(editor._gutter, Qt.MouseButton.LeftButton, pos=QPoint(6, round(top + height / 2)))


def test_typing_is_taken_back_word_by_word_and_made_again():
    editor = an_editor()
    put(editor, 1, 9)
    QTest.keyClicks(editor, "  two words")
    assert editor.text().splitlines()[0] == "def f(a):  two words"
    press(editor, (CONTROL, Key.Key_Z))
    assert editor.text().splitlines()[0] == "def f(a):  two "
    press(editor, (CONTROL, Key.Key_Z))
    assert editor.text() == TEXT and not editor.is_edited()
    press(editor, (CONTROL | SHIFT, Key.Key_Z), (CONTROL, Key.Key_Y))
    assert editor.text().splitlines()[0] == "def f(a):  two words"


def test_looks_are_no_steps_and_lose_none():
    editor = an_editor()
    put(editor, 3, 8)
    QTest.keyClicks(editor, "x = " + "a + " * 12)
    editor.set_theme(Theme.named("dark", 1.6))
    editor.resize(230, 300)
    editor.grab()
    press(editor, (SHIFT, Key.Key_Tab))
    editor.set_struck(frozenset({2}))
    for _ in range(40):
        press(editor, (CONTROL, Key.Key_Z))
    assert editor.text() == TEXT and not editor.history.can_undo()


def test_a_click_beside_a_line_asks_for_it_to_be_taken_out():
    editor = an_editor()
    lines, edited, ran = heard(editor.line_toggled), heard(editor.edited), heard(editor.run_asked)
    editor.may_strike = lambda line: "a function needs its first line" if line == 1 else ""
    click(editor, 3)
    click(editor, 1)
    editor.set_struck(frozenset({3}))
    click(editor, 3)
    put(editor, 4, 2)
    press(editor, (CONTROL | SHIFT, Key.Key_X), (CONTROL, Key.Key_Return))
    assert lines == [3, 3, 4] and len(ran) == 1
    press(editor, Key.Key_A, Key.Key_B)
    assert not edited
    QTest.qWait(1)
    assert edited == [editor.text()] == [TEXT.replace("    return {", "  ab  return {")]
