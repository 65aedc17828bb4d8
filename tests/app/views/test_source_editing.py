"""The source while it is edited: what keys do to it, what is taken back, and what goes with its lines."""

from __future__ import annotations

import random

import pytest
from PySide6.QtCore import QMimeData, QPoint, Qt, QUrl
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit, QMainWindow, QToolTip, QVBoxLayout, QWidget

from sessions import application
from tilescope.app.views.source.editor import Editor
from tilescope.app.views.source.history import Step, difference, joined
from tilescope.app.views.source.line_map import line_after_change, line_map
from tilescope.app.views.source.problems import Problem
from tilescope.app.widgets.theme import Theme
from views import record_calls, record_signal
from windows import wait_until

Key, Held = Qt.Key, Qt.KeyboardModifier
CONTROL, SHIFT, NONE = Held.ControlModifier, Held.ShiftModifier, Held.NoModifier
TEXT = "def f(a):\n    if a:\n        return 1  # one\n    return {'(': [2]}\n"


def an_editor(text=TEXT, width=420, name="k.py"):
    application()
    editor = Editor(Theme.named("light"))
    editor.resize(width, 300)
    editor.show_text(name, text, 1)
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


def test_lines_of_cpp_are_indented_after_braces_and_conditions():
    editor = an_editor("", name="k.cu")
    for line in (
        "__global__ void k(int *a) {  // one",
        "if (a[0] > (1))",
        "a[0] = 1;",
        "for (;;) {",
        "a[1] = 2;",
        "}",
    ):
        QTest.keyClicks(editor, line)
        press(editor, Key.Key_Return)
    QTest.keyClicks(editor, "}")
    assert editor.text() == (
        "__global__ void k(int *a) {  // one\n"
        "    if (a[0] > (1))\n"
        "        a[0] = 1;\n"
        "    for (;;) {\n"
        "        a[1] = 2;\n"
        "    }\n"
        "}"
    )


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


def test_random_changes_are_all_taken_back_and_made_again():
    seed = 7
    pick, editor = random.Random(seed), an_editor("def f():\n    x = '😀'\n\treturn x\n")
    first = editor.text()
    for _ in range(60):
        size = editor.document().characterCount() - 1
        cursor = editor.textCursor()
        cursor.setPosition(pick.randint(0, size))
        if pick.random() < 0.3:
            cursor.setPosition(pick.randint(0, size), cursor.MoveMode.KeepAnchor)
        editor.setTextCursor(cursor)
        held, key = pick.choice([
            (NONE, Key.Key_A), (NONE, Key.Key_Return), (NONE, Key.Key_Tab), (SHIFT, Key.Key_Tab), (NONE, Key.Key_Space),
            (CONTROL, Key.Key_Slash), (NONE, Key.Key_Backspace), (NONE, Key.Key_Delete),
        ])  # fmt: skip
        QTest.keyClick(editor, key, held)
    last = editor.text()
    while editor.history.can_undo():
        editor.undo()
    assert editor.text() == first, f"seed {seed}"
    while editor.history.can_redo():
        editor.redo()
    assert editor.text() == last, f"seed {seed}"


def test_what_is_typed_after_a_step_back_ends_what_could_be_made_again():
    editor = an_editor()
    put(editor, 4, 0)
    QTest.keyClicks(editor, "a")
    editor.undo()
    QTest.keyClicks(editor, "b")
    editor.redo()
    assert editor.text().splitlines()[3][0] == "b"


@pytest.mark.parametrize(
    ("last", "step", "both"),
    [
        (Step(3, "", "a"), Step(4, "", "b"), Step(3, "", "ab")),
        (Step(3, "", "a "), Step(5, "", "b"), None),
        (Step(3, "", "a"), Step(9, "", "b"), None),
        (Step(3, "b", ""), Step(2, "a", ""), Step(2, "ab", "")),
        (Step(3, "a", ""), Step(3, "b", ""), Step(3, "ab", "")),
        (Step(3, "", "a"), Step(4, "", "\n"), None),
        (Step(3, "old", "n"), Step(4, "", "e"), Step(3, "old", "ne")),
    ],
)
def test_letters_of_a_word_are_one_step(last, step, both):
    assert joined(last, step) == both


def test_a_difference_counts_as_qt_does():
    assert difference(5, "😀ab", "😀cb") == Step(7, "a", "c")
    assert difference(0, "aa", "aaa") == Step(2, "", "a")
    assert difference(0, "a", "a") is None


# --- keys


@pytest.mark.parametrize(
    ("text", "place", "key", "after"),
    [
        ("    if a:  # b", (1, 9), Key.Key_Return, "    if a:\n        # b"),
        ("    if a:  # b:", (1, 15), Key.Key_Return, "    if a:  # b:\n        "),
        ("    a = ':'", (1, 11), Key.Key_Return, "    a = ':'\n    "),
        ("a  b", (1, 1), (SHIFT, Key.Key_Enter), "a\nb"),
        ("      a", (1, 6), Key.Key_Backspace, "    a"),
        ("    a", (1, 4), Key.Key_Backspace, "a"),
        ("    a", (1, 5), Key.Key_Backspace, "    "),
        ("ab", (1, 1), Key.Key_Tab, "a   b"),
        ("\tx\na\n\tb", (2, 0), Key.Key_Tab, "\tx\n\ta\n\tb"),
        ("     a", (1, 6), Key.Key_Backtab, "    a"),
        ("a\n\n  b", (1, 0, (3, 1)), Key.Key_Tab, "    a\n\n      b"),
        ("    a\n  b\nc", (1, 2, (3, 0)), Key.Key_Backtab, "a\nb\nc"),
        ("  a\n\n    b", (1, 0, (3, 2)), (CONTROL, Key.Key_Slash), "  # a\n\n  #   b"),
        ("  # a\n  #   b", (1, 0, (2, 4)), (CONTROL, Key.Key_Slash), "  a\n    b"),
        ("\n", (1, 0), (CONTROL, Key.Key_Slash), "\n"),
    ],
)  # fmt: skip
def test_keys_keep_a_program_in_shape(text, place, key, after):
    editor = an_editor(text)
    put(editor, *place)
    press(editor, key)
    assert editor.text() == after
    editor.undo()
    assert editor.text() == text


def test_home_goes_to_where_the_text_begins():
    editor = an_editor("    ab")
    put(editor, 1, 5)
    columns = []
    for _ in range(3):
        press(editor, Key.Key_Home)
        columns.append(editor.textCursor().positionInBlock())
    assert columns == [4, 0, 4]
    press(editor, (SHIFT, Key.Key_Home))
    assert editor.textCursor().selectedText() == "    "


def test_the_other_half_of_a_bracket_is_shown_but_not_of_one_in_a_string():
    editor = an_editor("f(g[1],\n  '(', # )\n  {2})")
    marked = lambda: [s.cursor.selectionStart() for s in editor.extraSelections()]  # noqa: E731
    put(editor, 1, 2)
    assert marked() == [1, len(editor.text()) - 1]
    put(editor, 3, 6)
    assert marked() == [len(editor.text()) - 1, 1]
    grounds = lambda: [s.format.background().color().name() for s in editor.extraSelections()]  # noqa: E731
    light = grounds()
    editor.set_theme(Theme.named("dark"))
    assert len(light) == 2 and grounds()[0] not in light
    put(editor, 2, 3)
    assert marked() == []


def test_what_is_pasted_is_plain_text_of_a_program():
    editor, mime = an_editor("ab"), QMimeData()
    mime.setHtml("<b>x</b>")
    mime.setText("x\u00a0=\u200b 1\r\n\ty\rz\u2029")
    put(editor, 1, 1)
    assert editor.canInsertFromMimeData(mime)
    editor.insertFromMimeData(mime)
    assert editor.text() == "ax = 1\n    y\nz\nb"
    editor.undo()
    assert editor.text() == "ab"
    mime.setUrls([QUrl.fromLocalFile("trace.npz")])
    assert not editor.canInsertFromMimeData(mime)  # the window opens it


def test_no_shortcut_of_the_window_takes_what_is_typed():
    editor, window = an_editor(), QMainWindow()
    window.setCentralWidget(editor)
    fired = []
    for keys in (
        "Space",
        "B",
        "T",
        "Home",
        "Right",
        "Ctrl+Right",
        "Ctrl+Return",
        "F5",
        "Escape",
        "Ctrl+R",
        "[, -",
    ):
        for key in keys.split(", "):
            action = QAction(key, window)
            action.setShortcut(QKeySequence(key))
            action.triggered.connect(lambda _checked=False, key=key: fired.append(key))
            window.addAction(action)
    window.show()
    window.activateWindow()
    assert QTest.qWaitForWindowActive(window)
    editor.setFocus()
    put(editor, 1, 0)
    QTest.keyClicks(editor, "b t[-")
    press(editor, Key.Key_Home, Key.Key_Right, (CONTROL, Key.Key_Right), (CONTROL, Key.Key_Slash))
    assert fired == [] and editor.text().startswith("# b t[-def")
    press(editor, (CONTROL, Key.Key_Return), Key.Key_F5, Key.Key_Escape, (CONTROL, Key.Key_R))
    assert fired == ["Ctrl+Return", "F5", "Escape", "Ctrl+R"]
    click(editor, 2)
    assert editor.hasFocus()
    editor.set_editable(False)
    press(editor, Key.Key_Space)
    assert fired[4:] == ["Space"]
    window.close()


def test_the_window_has_its_keys_after_a_click_in_the_gutter():
    editor, window, fired = an_editor(), QMainWindow(), []
    box, other = QWidget(), QLineEdit()
    row = QVBoxLayout(box)
    row.addWidget(other)
    row.addWidget(editor)
    window.setCentralWidget(box)
    action = QAction("Play", window)
    action.setShortcut(QKeySequence("Space"))
    action.triggered.connect(lambda: fired.append("Space"))
    window.addAction(action)
    window.show()
    window.activateWindow()
    assert QTest.qWaitForWindowActive(window)
    other.setFocus()
    click(editor, 3)
    QTest.keyClick(QApplication.focusWidget(), Key.Key_Space)
    assert fired == ["Space"] and editor.text() == TEXT
    window.close()


def test_the_keyboard_leaves_the_text_and_a_text_that_cant_be_changed_keeps_no_key():
    editor, window, other = an_editor(), QMainWindow(), QLineEdit()
    box = QWidget()
    row = QVBoxLayout(box)
    row.addWidget(editor)
    row.addWidget(other)
    window.setCentralWidget(box)
    window.show()
    window.activateWindow()
    assert QTest.qWaitForWindowActive(window)
    ways = ([Key.Key_Escape, Key.Key_Tab], [(CONTROL, Key.Key_Tab)])
    for way in ways:
        editor.setFocus()
        press(editor, *way)
        assert other.hasFocus() and editor.text() == TEXT
    editor.set_editable(False)
    editor.setFocus()
    press(editor, Key.Key_Tab)
    assert other.hasFocus()
    window.close()


# --- what can't be changed


@pytest.mark.parametrize(
    ("file", "text"),
    [("k.py", "a = '\u202e'\n"), ("k.py", "x = 1\n" * 50_002)],
    ids=["what can't be seen", "too many lines"],
)
def test_what_is_not_the_file_to_the_letter_stays_as_it_is(file, text):
    application()
    editor = Editor(Theme.named("light"))
    editor.show_text(file, text, 1)
    editor.set_editable(True)
    shown, lines = editor.text(), record_calls(editor, "line_toggled")
    put(editor, 1, 0)
    press(editor, Key.Key_A, Key.Key_Backspace, Key.Key_Return, Key.Key_Tab, (CONTROL, Key.Key_Slash))
    press(editor, (CONTROL | SHIFT, Key.Key_X))
    assert editor.text() == shown and not lines and not editor.is_editable() and editor.handle() == 0
    assert editor.file_text() == text


def test_a_line_of_cuda_cpp_is_commented_out_as_in_cpp():
    application()
    editor = Editor(Theme.named("light"))
    editor.show_text("k.cu", "  int a;\n", 1)
    editor.set_editable(True)
    put(editor, 1, 0)
    press(editor, (CONTROL, Key.Key_Slash))
    assert editor.file_text() == "  // int a;\n"
    press(editor, (CONTROL, Key.Key_Slash))
    assert editor.file_text() == "  int a;\n"


def test_a_file_keeps_its_line_ends():
    editor = an_editor("a\r\nb\r\n")
    assert editor.file_text() == "a\r\nb\r\n"
    put(editor, 1, 1)
    press(editor, Key.Key_Return)
    assert editor.file_text() == "a\r\n\r\nb\r\n"
    editor.revert()
    assert not editor.is_edited()
    editor.undo()
    assert editor.is_edited()


# --- lines that are taken out, and what is marked of lines


def test_a_click_in_the_gutter_asks_to_skip_the_line():
    editor = an_editor()
    lines, edited, ran = (
        record_calls(editor, "line_toggled"),
        record_signal(editor.edited),
        record_signal(editor.run_asked),
    )
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
    wait_until(lambda: edited)
    assert edited == [editor.text()] == [TEXT.replace("    return {", "  ab  return {")]


def test_what_is_marked_of_lines_goes_with_them():
    editor = an_editor("a\nb\nc\nd\ne\n")
    editor.set_struck(frozenset({2, 4}))
    editor.set_barriers(frozenset({5}))
    editor.set_problems([Problem(4, "so")])
    put(editor, 2, 0)
    press(editor, Key.Key_Return, Key.Key_Return)
    assert (editor.struck, editor.barriers, editor.problems[0].line) == ({4, 6}, {7}, 6)
    put(editor, 6, 1)
    press(editor, Key.Key_Return)
    assert (editor.struck, editor.barriers) == ({4, 6}, {8})
    put(editor, 3, 0, (5, 0))
    press(editor, Key.Key_Delete)
    assert (editor.struck, editor.barriers, editor.problems[0].line) == ({4}, {6}, 4)
    editor.selectAll()
    press(editor, Key.Key_Tab)
    assert editor.struck == {4}


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_line_that_is_taken_out_is_struck_through_and_has_a_sign(theme):
    editor = an_editor()
    editor.set_theme(Theme.named(theme))
    plain, gutter = formats(editor, 3), editor._gutter.grab().toImage()
    editor.set_struck(frozenset({3}))
    assert all(f.format.fontStrikeOut() for f in formats(editor, 3)) and len(formats(editor, 3)) == 1
    assert editor._gutter.grab().toImage() != gutter
    put(editor, 3, 8)
    press(editor, Key.Key_A)
    assert all(f.format.fontStrikeOut() for f in formats(editor, 3))
    press(editor, Key.Key_Backspace)
    editor.set_struck(frozenset())
    assert formats(editor, 3) == plain and editor._gutter.grab().toImage() == gutter


def test_all_lines_of_a_statement_that_is_taken_out_are_struck_through():
    editor = an_editor("a = [\n    1,\n]\nb = 2\n")
    editor.rows_of = lambda line: range(1, 4) if line == 1 else (line,)
    editor.may_strike = lambda line: "it stays"
    asked = record_calls(editor, "line_toggled")
    editor.set_struck(frozenset({1}))
    struck = [n for n in range(1, 5) if any(f.format.fontStrikeOut() for f in formats(editor, n))]
    assert struck == [1, 2, 3]
    click(editor, 3)
    click(editor, 4)
    assert asked == [3] and QToolTip.text() == "it stays"
    put(editor, 1, 0)
    press(editor, Key.Key_Return)
    assert (editor.struck, editor.struck_rows) == ({2}, {2, 3, 4})


def test_the_line_that_was_clicked_stays_where_it_is_while_the_panel_gets_narrow():
    editor = an_editor("a = 'a long line that is broken'\n" * 60, width=600)
    editor.verticalScrollBar().setValue(300)
    line, top, _ = editor.lines_in_sight()[4]
    click(editor, line)
    for width, height in ((200, 300), (200, 120)):
        editor.resize(width, height)
        editor.grab()
        places = {number: (top, top + tall) for number, top, tall in editor.lines_in_sight()}
        assert places[line][1] <= height and (height < 300 or abs(places[line][0] - top) <= 1)


def test_handles_grow_with_the_text_and_barriers_have_one_that_is_always_seen():
    editor = an_editor()
    assert editor.handle() == 16
    without = editor._gutter.grab().toImage()
    editor.set_barriers(frozenset({4}))
    assert editor._gutter.grab().toImage() != without
    editor.set_theme(Theme.named("light", 1.6))
    assert editor.handle() == 26
    editor.set_editable(False)
    assert editor.handle() == 0


def test_a_problem_is_underlined_in_its_line():
    editor = an_editor()
    editor.set_problems([Problem(3, "so"), Problem(3, "too", "note")])
    waves = [f.format.underlineStyle() == f.format.UnderlineStyle.WaveUnderline for f in formats(editor, 3)]
    assert waves and all(waves)
    assert not any(f.format.fontUnderline() for f in formats(editor, 4))
    assert [p.sentence for p in editor.problems_at(3)] == ["so", "too"]


def formats(editor, line):
    return editor.document().findBlockByNumber(line - 1).layout().formats()


def test_a_string_of_many_lines_is_coloured_while_it_is_typed():
    editor = an_editor("a = 1\nb = 2\nc = 3\n")
    string = editor.theme.colour("string")
    strings = lambda line: any(f.format.foreground().color() == string for f in formats(editor, line))  # noqa: E731
    put(editor, 1, 4)
    QTest.keyClicks(editor, '"""')
    assert strings(2) and strings(3)
    put(editor, 2, 0)
    QTest.keyClicks(editor, '"""')
    assert not strings(3)
    assert strings(2)


def test_cuda_cpp_is_coloured_while_it_is_typed():
    editor = an_editor("", name="k.cu")
    keyword, comment = (editor.theme.colour(style) for style in ("keyword", "muted"))

    def coloured(line, colour):
        return [(f.start, f.length) for f in formats(editor, line) if f.format.foreground().color() == colour]

    put(editor, 1, 0)
    QTest.keyClicks(editor, "int a;\rfor (;;)\rint b;")
    assert coloured(1, keyword) == [(0, 3)] and coloured(2, keyword) == [(0, 3)]
    put(editor, 1, 0)
    QTest.keyClicks(editor, "/*")
    assert coloured(2, comment) and coloured(3, comment) and not coloured(3, keyword)
    put(editor, 2, 0)
    QTest.keyClicks(editor, "*/")
    assert coloured(2, keyword) == [(2, 3)] and len(coloured(3, keyword)) == 1


# --- which line is which


def test_lines_stand_where_they_did_around_a_change():
    before = list("abcdefg")
    mapping = line_map(before, list("abxdefgh"))
    assert mapping.forward == {1: 1, 2: 2, 4: 4, 5: 5, 6: 6, 7: 7} and mapping.changed == {3, 8}
    assert mapping.values({4: "d", 3: "c"}) == {4: "d"}
    assert line_map(before, before).changed == frozenset()
    assert line_map(["a", "b"], ["b", "a"], most=1).complete is False


@pytest.mark.parametrize("seed", range(5))
def test_unchanged_lines_are_the_same_in_both_texts(seed):
    pick = random.Random(seed)
    before = [pick.choice("abc") for _ in range(30)]
    after = [line for line in before if pick.random() < 0.8]
    for _ in range(5):
        after.insert(pick.randint(0, len(after)), pick.choice("abcx"))
    mapping = line_map(before, after)
    assert all(before[first - 1] == after[other - 1] for first, other in mapping.forward.items()), (
        f"seed {seed}"
    )
    assert list(mapping.forward.values()) == sorted(mapping.forward.values())
    assert mapping.changed | set(mapping.forward.values()) == set(range(1, len(after) + 1))


@pytest.mark.parametrize(
    ("line", "change", "after"),
    [
        (1, (2, True, 0, 1), 1), (2, (2, True, 0, 1), 3), (2, (2, False, 0, 1), 2), (3, (2, False, 0, 1), 4),
        (2, (2, True, 1, 0), 0), (3, (2, True, 1, 0), 2), (2, (2, False, 1, 0), 2), (3, (2, False, 1, 0), 0),
        (4, (2, True, 1, 0), 3), (3, (2, True, 3, 3), 3),
    ],
)  # fmt: skip
def test_a_line_moves_with_its_text(line, change, after):
    assert line_after_change(line, *change) == after
