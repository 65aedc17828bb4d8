"""The source view while its text differs from the traced one: notes at lines, and kept texts."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest

from sessions import grab_image, matmul
from tilescope.app.model.session import Selection
from tilescope.app.views.source.find_bar import find_matches
from tilescope.app.views.source.traced_text import FileText
from tilescope.app.views.source.view import NOT_RUN, SourceView
from tilescope.app.widgets.theme import Theme
from views import record_calls, record_signal, show_panel

Key = Qt.Key
CONTROL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier


@pytest.fixture(scope="module")
def tiled():
    return matmul(m=20, k=12, n=28, tile=8)


@pytest.fixture(scope="module")
def another():
    return matmul(m=20, k=12, n=28, tile=4)


def an_editable(session, size=(420, 420), moment=12):
    view = show_panel(SourceView, session, moment, size=size)
    view.set_editable(True)
    grab_image(view)
    return view


def line_of(view, code, number=0):
    return [i for i, line in enumerate(view.text().split("\n"), 1) if code in line][number]


def put(view, line, column=0):
    cursor = view.editor.textCursor()
    cursor.setPosition(view.editor.document().findBlockByNumber(line - 1).position() + column)
    view.editor.setTextCursor(cursor)


def test_text_is_read_only_until_editing_is_allowed(tiled):
    view = show_panel(SourceView, tiled, 12)
    before = grab_image(view)
    assert view.editor.handle() == 0 and not view.editor.is_editable()
    view.set_editable(True)
    assert view.editor.is_editable() and grab_image(view) != before
    view.set_editable(False)
    assert grab_image(view) == before


def test_figures_are_next_to_their_lines(tiled):
    view = an_editable(tiled)
    counts, marked = dict(view.editor.counts), view.editor.line
    load = line_of(view, "tile_b[ty, tx] = b")
    put(view, line_of(view, "def tiled"), 0)
    QTest.keyClick(view.editor, Key.Key_Return)
    assert view.editor.counts == {line + 1: count for line, count in counts.items()}
    assert view.editor.line == marked + 1 and len(view.editor.changed) == 1
    put(view, load + 1, 12)
    QTest.keyClicks(view.editor, "x")
    assert view.editor.counts == {line + 1: count for line, count in counts.items() if line != load}
    assert load + 1 in view.editor.changed
    view.render_moment(tiled.end, Selection(0, 33))
    assert load + 1 not in view.editor.counts and view.editor.counts.keys() >= {
        line + 1 for line in counts
    } - {load + 1}
    while view.editor.history.can_undo():
        view.editor.undo()
    view.render_moment(12, Selection())
    assert view.editor.counts == counts and view.editor.line == marked and not view.editor.changed


def test_the_strip_reports_that_a_text_was_not_run(tiled):
    view = an_editable(tiled)
    assert view.state.isHidden()
    put(view, 1)
    QTest.keyClicks(view.editor, "#")
    assert view.state.text() == NOT_RUN and view.is_edited()
    view.set_state_text("Tracing…")
    assert view.state.text() == "Tracing…"
    view.set_state_text("")
    view.revert()
    assert view.state.isHidden() and view.text() == tiled.launch.source and not view.is_edited()


def test_what_was_run_stays_with_its_history_and_what_was_typed_since(tiled, another):
    view = an_editable(tiled)
    put(view, line_of(view, "total = DTYPE(0)"), 4)
    QTest.keyClicks(view.editor, "x")
    ran = view.text()
    QTest.keyClick(view.editor, Key.Key_Return, CONTROL)
    QTest.keyClicks(view.editor, "y")
    place, scrolled = view.editor.textCursor().position(), view.editor.verticalScrollBar().value()
    view.file_of = lambda session: FileText(ran)
    view.load(another)
    view.render_moment(3, Selection())
    assert view.text() == ran.replace("x    total", "xy    total") and view.is_edited()
    assert (view.editor.textCursor().position(), view.editor.verticalScrollBar().value()) == (place, scrolled)
    view.editor.undo()
    assert view.text() == ran and not view.is_edited() and not view.editor.changed
    view.editor.undo()
    assert view.text() == tiled.launch.source and view.is_edited()


def test_what_was_typed_in_another_pane_is_kept_for_it(tiled, another):
    texts = {id(tiled): FileText(tiled.launch.source), id(another): FileText("# two\n" + tiled.launch.source)}
    view = an_editable(tiled)
    view.file_of = lambda session: texts[id(session)]
    shown = record_signal(view.file_shown)
    put(view, 1)
    QTest.keyClicks(view.editor, "# mine")
    own_text = view.text()
    view.set_problems([(3, "so")])
    view.load(another)
    view.render_moment(3, Selection())
    assert view.text() == texts[id(another)].text and not view.is_edited() and view.drafts() == [own_text]
    assert view.problems.isHidden() and len(shown) == 1
    view.load(tiled)
    view.render_moment(3, Selection())
    assert view.text() == own_text and view.is_edited() and view.drafts() == []
    assert [p.line for p in view.editor.problems] == [3]
    view.editor.undo()
    view.editor.undo()
    assert view.text() == tiled.launch.source


def test_other_files_can_only_be_read_and_the_draft_stays(tiled):
    view = an_editable(tiled)
    put(view, 1)
    QTest.keyClicks(view.editor, "# ")
    own_text = view.text()
    view.point_at("elsewhere.py", 1)
    assert not view.editor.is_editable() and view.editor.file == "elsewhere.py"
    assert view.text() == own_text and view.is_edited()
    view.render_moment(view.moment + 1, view.selection)
    view.render_moment(view.moment + 1, view.selection)
    assert view.text() == own_text and view.editor.text() == own_text and view.editor.is_editable()


def test_lines_that_were_taken_out_are_struck_where_the_trace_has_none(tiled):
    view = an_editable(tiled)
    barrier = line_of(view, "cuda.syncthreads()")
    view.editor.may_strike = lambda line: "" if line >= barrier else "not this one"
    asked = record_calls(view.editor, "line_toggled")
    ((top, height),) = [(top, tall) for n, top, tall in view.editor.lines_in_sight() if n == barrier]
    QTest.mouseClick(view.editor._gutter, Qt.MouseButton.LeftButton, pos=QPoint(5, round(top + height / 2)))
    assert asked == [barrier]
    view.set_struck(frozenset(asked))
    assert view.editor.changed == {barrier} and view.state.text() == NOT_RUN
    view.show_file(tiled.launch.source, frozenset(asked))
    assert (
        view.editor.struck == view.struck() == {barrier} and not view.editor.changed and view.state.isHidden()
    )
    assert view.text() == tiled.launch.source
    view.show_file(tiled.launch.source)
    assert view.editor.struck == frozenset()


def test_a_trace_that_comes_late_does_not_undo_what_was_struck_since(tiled):
    view = an_editable(tiled)
    first, second = line_of(view, "cuda.syncthreads()"), line_of(view, "cuda.syncthreads()", 1)
    view.set_struck(frozenset({first}))
    view.set_struck(frozenset({first, second}))
    view.show_file(tiled.launch.source, frozenset({first}))
    assert view.editor.struck == {first, second} and view.editor.changed == {second}
    view.show_file(tiled.launch.source, frozenset({first, second}))
    assert view.editor.struck == {first, second} and not view.editor.changed
    view.show_file(tiled.launch.source, frozenset({first}))
    assert view.editor.struck == {first}


def test_a_problem_is_reported_below_the_text_and_leads_to_its_line(tiled):
    view = an_editable(tiled, size=(420, 200))
    last = len(view.text().split("\n")) - 1
    view.set_problems(
        [(last, "<b>name</b> isn't defined"), (2, "slow", "note"), (5, "a", "warning"), (6, "b")]
    )
    labels = [view.problems.column.itemAt(i).widget() for i in range(view.problems.column.count())]
    assert labels[0].text() == "Line 6: b"
    assert labels[1].text() == f"Line {last}: <b>name</b> isn't defined"
    assert labels[1].textFormat() == Qt.TextFormat.PlainText and len(labels) == 4
    QTest.mouseClick(labels[1], Qt.MouseButton.LeftButton)
    assert view.editor.textCursor().blockNumber() + 1 == last
    assert last in [line for line, *_ in view.editor.lines_in_sight()]
    put(view, 1)
    QTest.keyClick(view.editor, Key.Key_Return)
    assert view.problems.problems[0].line == 7
    view.set_problems([])
    assert view.problems.isHidden()


def test_problems_of_the_trace_are_marked_where_their_lines_stand_now(tiled):
    view = an_editable(tiled)
    put(view, 5)
    QTest.keyClick(view.editor, Key.Key_Return)
    put(view, 9)
    QTest.keyClicks(view.editor, "x")
    view.set_problems([(4, "above"), (7, "below"), (8, "changed")], traced=True)
    assert [(p.line, p.sentence) for p in view.editor.problems] == [(4, "above"), (8, "below")]


def test_a_long_sentence_leaves_the_text_its_room(tiled):
    view = an_editable(tiled, size=(300, 500))
    view.set_problems([(3, "many words and " * 40)])
    grab_image(view)
    label = view.problems.column.itemAt(0).widget()
    assert label.text().endswith("words …") or label.text().endswith(" …")
    assert label.height() < 5 * label.fontMetrics().lineSpacing()
    assert label.toolTip().startswith("many words and many")
    view.resize(2000, 500)
    grab_image(view)
    assert len(label.text()) > 400


# --- find


def test_matches_are_marked_counted_and_visited(tiled):
    view = an_editable(tiled)
    view.show()
    view.activateWindow()
    assert QTest.qWaitForWindowActive(view)
    view.editor.setFocus()
    put(view, line_of(view, "def tiled"))
    QTest.keyClick(view.editor, Key.Key_F, CONTROL)
    assert view.find_bar.search_field.hasFocus()
    QTest.keyClicks(view.find_bar.search_field, "tile_a[")
    count = view.text().count("tile_a[")
    chosen = view.editor.textCursor
    assert view.find_bar.count.text() == f"1 of {count}" and chosen().selectedText() == "tile_a["
    assert len(view.editor.extraSelections()) == count
    first = chosen().position()
    QTest.keyClick(view.find_bar.search_field, Key.Key_F3)
    assert view.find_bar.count.text() == f"2 of {count}" and chosen().position() > first
    QTest.keyClick(view.find_bar.search_field, Key.Key_Return, SHIFT)
    QTest.keyClick(view.find_bar.search_field, Key.Key_F3, SHIFT)
    assert view.find_bar.count.text() == f"{count} of {count}"
    QTest.keyClick(view.find_bar.search_field, Key.Key_Escape)
    assert view.find_bar.isHidden() and view.editor.hasFocus() and not view.editor.extraSelections()
    QTest.keyClick(view.editor, Key.Key_F3)
    assert not view.find_bar.isHidden()
    view.editor.setFocus()
    QTest.keyClick(view.editor, Key.Key_Escape)
    assert view.find_bar.isHidden()
    view.close()


def test_text_that_can_only_be_read_is_searched_as_well(tiled):
    view = show_panel(SourceView, tiled, 12)
    view.find_bar.open()
    view.find_bar.search_field.setText("nowhere to be found")
    assert view.find_bar.count.text() == "No matches" and view.find_bar.search_field.property("invalid")
    view.find_bar.search_field.setText("cuda.jit")
    assert view.find_bar.count.text().endswith(f" of {tiled.launch.source.count('cuda.jit')}")


@pytest.mark.parametrize(
    ("text", "wanted", "matches"),
    [
        ("aAa", "a", [0, 1, 2]),
        ("aAa", "A", [1]),
        ("a.b", ".", [1]),
        ("😀a", "a", [2]),
        ("é\na", "a", [2]),
        ("a", "", []),
    ],
)
def test_letters_match_in_any_case_unless_capitals_are_wanted(text, wanted, matches):
    assert find_matches(text, wanted) == matches


@pytest.mark.parametrize("name", ["light", "dark"])
def test_the_same_text_gives_the_same_picture_however_it_came_about(tiled, name):
    theme = Theme.named(name, 1.6)
    pictures = []
    for typed in (True, False):
        view = show_panel(SourceView, tiled, 12, size=(620, 700), theme=theme)
        view.set_theme(theme)
        view.set_editable(True)
        if typed:
            put(view, 34, 0)
            QTest.keyClicks(view.editor, "    x = 'y' + 1")
            view.set_struck(frozenset({40}))
            view.editor.undo()
            while view.editor.history.can_undo():
                view.editor.undo()
            view.set_struck(frozenset())
        put(view, 1)
        grab_image(view)
        bar = view.editor.verticalScrollBar()
        bar.triggerAction(bar.SliderAction.SliderToMinimum)
        pictures.append(grab_image(view))
    assert pictures[0] == pictures[1]
