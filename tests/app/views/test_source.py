"""The source view: the marked line, the counts next to it, and complete lines in sight."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtGui import QFontMetricsF
from PySide6.QtTest import QTest

from sessions import grab_image, matmul, uneven_session
from tilescope.app.model.session import Selection
from tilescope.app.views.source.highlight import python_tokens
from tilescope.app.views.source.lines import hanging_column, top_line
from tilescope.app.views.source.view import SourceView
from tilescope.app.widgets.theme import KIND_COLOURS, Theme
from views import show_panel


@pytest.fixture(scope="module")
def tiled():
    return matmul(m=20, k=12, n=28, tile=8)


def sites_of(session, line):
    return [i for i, site in enumerate(session.trace.sites) if site.line == line]


def test_the_line_of_the_chosen_warp_is_marked_in_its_kinds_colour(tiled):
    requests = tiled.requests
    view = show_panel(SourceView, tiled, 0)
    for moment, block in ((1, 0), (9, 0), (60, 1)):
        view.render_moment(moment + 0.5, Selection(block, 33))
        own_requests = (requests.block == block) & (requests.warp == 1) & (requests.moment == moment)
        if own_requests.any():
            assert view.editor.line == tiled.trace.sites[requests.site[own_requests][0]].line
            assert KIND_COLOURS[view.editor.look]
        else:
            assert view.editor.line == 0
    assert view.editor.counts == {
        line: int((np.isin(requests.site, sites_of(tiled, line)) & (requests.moment <= 60)).sum())
        for line in {tiled.trace.sites[site].line for site in np.unique(requests.site)}
    }


def test_the_page_begins_at_the_decorator_and_the_marked_line_is_in_sight(tiled):
    view = show_panel(SourceView, tiled, 0, size=(420, 200))
    grab_image(view)  # lays it out
    lines = tiled.launch.source.splitlines()
    first = lines.index("def tiled(a, b, c):")
    seen = [line for line, _, _ in view.editor.lines_in_sight()]
    assert lines[first - 1] == "@cuda.jit" and seen[0] == first
    view.render_moment(tiled.end, Selection(11, 0))
    page = {line for line, top, tall in view.editor.lines_in_sight() if top >= 0 and top + tall <= 200}
    assert lines[view.editor.line - 1].strip() == "c[row, col] = total" and view.editor.line in page


def test_a_skipped_line_is_in_sight_before_the_first_access(tiled):
    view = show_panel(SourceView, tiled, 0, size=(420, 120))
    lines = [line.strip() for line in tiled.launch.source.splitlines()]
    store = lines.index("c[row, col] = total") + 1
    view.show_file(tiled.launch.source, frozenset({store}))
    grab_image(view)
    assert view.editor.line == 0
    assert store in {line for line, _, _ in view.editor.lines_in_sight()}


def test_a_text_that_fits_is_shown_from_its_first_line(tiled):
    lines = len(tiled.launch.source.splitlines())
    view = show_panel(SourceView, tiled, float(tiled.end), size=(900, 40 * lines))
    grab_image(view)  # lays it out
    assert view.editor.lines_in_sight()[0][0] == 1


def test_a_page_that_the_user_scrolled_stays_until_the_line_is_in_sight(tiled):
    view = show_panel(SourceView, tiled, 1, size=(420, 120))
    grab_image(view)
    bar = view.editor.verticalScrollBar()
    bar.triggerAction(bar.SliderAction.SliderToMinimum)
    view.render_moment(9, Selection())
    assert bar.value() == 0
    bar.setValue(round(view.editor.source_location(view.editor.line - 1).top()))
    view.render_moment(10, Selection())
    seen = [line for line, _, _ in view.editor.lines_in_sight()]
    assert view.editor.line in seen


@pytest.mark.parametrize(
    ("first", "line", "page", "top"),
    [(30, 0, 20, 30), (30, 35, 20, 30), (30, 50, 20, 33), (30, 5, 20, 3), (1, 1, 1, 1)],
)
def test_the_page_moves_as_little_as_shows_the_line(first, line, page, top):
    assert top_line(first, line, float, page) == top


@pytest.mark.parametrize("scale", [1.0, 1.6])
@pytest.mark.parametrize("width", [300, 388, 620])
def test_no_part_of_a_line_is_out_of_sight(tiled, width, scale):
    view = show_panel(SourceView, tiled, 12, size=(width, 480), theme=Theme.named("light", scale))
    grab_image(view)
    editor, document = view.editor, view.editor.document()
    column = QFontMetricsF(editor.font()).horizontalAdvance(" ")
    broken = 0
    for number in range(document.blockCount()):
        block = document.findBlockByNumber(number)
        rows = [block.layout().lineAt(i) for i in range(block.layout().lineCount())]
        left = document.documentLayout().blockBoundingRect(block).left()
        for row in rows:
            assert left + row.x() + row.naturalTextWidth() - column <= editor.viewport().width()
        indent = len(block.text()) - len(block.text().lstrip())
        broken += len(rows) > 1
        assert all(left + row.x() >= min(indent, 6) * column for row in rows[1:])
    assert broken or width > 600
    assert not editor.horizontalScrollBar().isVisible()


def test_a_line_goes_on_further_in_than_it_begins():
    assert [hanging_column(text, 60) for text in ("", "a = 1", "        b", " " * 50 + "c")] == [2, 2, 10, 30]


def test_the_marked_line_has_a_ground_over_all_rows_that_it_takes(tiled):
    view = show_panel(SourceView, tiled, 12, size=(330, 480))
    image, editor = grab_image(view.editor.viewport()), view.editor
    ((top, tall),) = [(top, tall) for line, top, tall in editor.lines_in_sight() if line == editor.line]
    assert tall >= 2 * editor.fontMetrics().lineSpacing()
    for y in range(round(top) + 1, round(top + tall) - 1):
        assert image.pixelColor(image.width() - 2, y) == editor.line_colour()
    assert image.pixelColor(image.width() - 2, round(top) - 2) != editor.line_colour()


def test_a_waiting_warp_marks_its_barrier(tmp_path):
    session = uneven_session(tmp_path)
    view = show_panel(SourceView, session, 2, Selection(0, 40))
    assert (session.launch.source.splitlines()[view.editor.line - 1].strip(), view.editor.look) == (
        "cuda.syncthreads()", "waiting",
    )  # fmt: skip


def test_the_source_can_be_selected_and_not_changed(tiled):
    view = show_panel(SourceView, tiled)
    editor = view.editor
    editor.selectAll()
    assert editor.textCursor().selectedText().replace("\u2029", "\n") == tiled.launch.source
    QTest.keyClicks(editor, "x")
    assert editor.toPlainText() == tiled.launch.source


def test_python_is_coloured_also_where_it_breaks_off():
    text = "@f\ndef g(a):  # why\n    return 'x' + 1\n"
    lines = {
        text.splitlines()[line][c : c + n]: style
        for line, p in python_tokens(text).items()
        for c, n, style in p
    }
    assert lines == {"@": "name", "def": "keyword", "g": "name", "# why": "comment", "return": "keyword",
                     "'x'": "string", "1": "number"}  # fmt: skip
    assert python_tokens('x = """two\nlines"""')[1] == [(0, 8, "string")]
    assert python_tokens("def f(:\n  '''never closed")[0][0] == (0, 3, "keyword")


def test_counts_give_way_to_the_text_where_there_is_little_room(tiled):
    views = [show_panel(SourceView, tiled, 12, size=(width, 300)) for width in (388, 230)]
    for view in views:
        grab_image(view)
    (numbers, counts, _), (few_numbers, few_counts, _) = (view.editor.columns() for view in views)
    assert counts > numbers
    assert few_counts == few_numbers and views[1].editor.counts


@pytest.mark.parametrize(
    ("text", "lines", "formats"),
    [("x = 1\n" * 60_000, 50_001, 0), ("1" + "+1" * 20_000, 1, 0), ("x = 1\n" * 10, 11, 1)],
    ids=["many lines", "a long line", "a usual text"],
)
def test_a_text_too_long_to_be_drawn_at_once_is_shown_in_part_or_without_colours(tiled, text, lines, formats):
    view = show_panel(SourceView, tiled)
    editor = view.editor
    editor.show_text("k.py", text, 1)
    document = editor.document()
    assert document.blockCount() == lines
    assert len(document.firstBlock().layout().formats()) == formats
    assert (document.lastBlock().text() == "… only the first 50,000 lines are shown") == (lines > 50_000)
