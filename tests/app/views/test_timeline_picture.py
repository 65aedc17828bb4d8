"""The timeline's picture: kinds keep their colours and marks, names take the room there is."""

from __future__ import annotations

import pytest
from msgspec.structs import replace
from PySide6.QtCore import QPointF
from PySide6.QtGui import QColor, QFontMetricsF
from PySide6.QtTest import QTest

from sessions import grab_image, matmul
from tilescope.app.model.session import Selection
from tilescope.app.views.timeline.paint import name_lines
from tilescope.app.widgets.theme import KIND_COLOURS, Theme
from tilescope.tracer.analysis.requests import REQUEST_KINDS
from views import cell_colours, row_point, show_timeline
from windows import open_window


@pytest.fixture(scope="module")
def tiled():
    return matmul(m=20, k=12, n=28, tile=8)


@pytest.mark.parametrize("theme", [Theme.named("light"), Theme.named("dark")])
def test_the_present_moment_keeps_the_colours_of_its_kinds(theme):
    session = matmul("count-atomic")
    view = show_timeline(session, 1.0, theme=theme)
    colours = cell_colours(grab_image(view), view, 1, 0)
    assert max(set(colours), key=colours.count) == KIND_COLOURS["atomic"]
    view.render_moment(0, Selection())
    places, image = view.places, grab_image(view)
    x, under = round((places.x(1) + places.x(2)) / 2), round(places.rows.bottom()) + 1
    assert image.pixelColor(x, under) != theme.colour("text")
    view.render_moment(1, Selection())
    assert grab_image(view).pixelColor(x, under) == theme.colour("text")  # the bracket


@pytest.mark.parametrize(("height", "lines"), [(112, False), (160, True)])
def test_rows_and_marks_of_32_warps_stay_readable(height, lines):
    session = matmul("transpose-tile")
    view = show_timeline(session, 0, Selection(0, 40), size=(1570, height))
    image, places = grab_image(view), view.places
    requests = session.requests
    shared = next(r for r in range(len(requests)) if REQUEST_KINDS[requests.kind[r]] == "shared load")
    left, right = (round(places.x(int(requests.moment[shared]) + more)) for more in (0, 1))
    box = [[image.pixelColor(x, y) for x in range(left + 3, right - 3)]
           for y in range(round(places.rows.top()), round(places.rows.bottom()))]  # fmt: skip
    ink = QColor(KIND_COLOURS["shared load"])
    lighter = sum(c.lightness() > ink.lightness() + 40 for row in box for c in row)
    assert lighter > 50  # dots of shared memory
    darker = [row for row in box if sum(c.lightness() < ink.lightness() for c in row) > len(row) / 2]
    assert len(darker) == (32 if lines else 0)


@pytest.mark.parametrize(
    "title", ["Histogram, adding into global memory", "Double in place once more, and so on"]
)
def test_names_take_the_lines_that_there_are(tiled, title):
    view, theme = (
        show_timeline(replace(tiled, title=title), selection=Selection(0, 40)),
        Theme.named("light"),
    )
    lines = name_lines(view._data, 5, 90, theme)
    assert " ".join(text for text, _ in lines) == f"{title.replace(',', '')} warp 1 of 0–1"
    for text, is_title in lines:
        font = theme.font(13, bold=True) if is_title else theme.font(10.5)
        assert QFontMetricsF(font).horizontalAdvance(text) <= 90
    assert len(lines) > 3 and len(name_lines(view._data, 3, 90, theme)) == 3


def test_names_are_broken_at_their_commas(tiled):
    title = "Tiled, shared memory, tile 16"
    view = show_timeline(replace(tiled, title=title), selection=Selection(0, 40))
    lines = [text for text, _ in name_lines(view._data, 5, 100, Theme.named("light"))]
    assert lines == ["Tiled", "shared memory", "tile 16", "warp 1 of 0–1"]


def test_the_mark_at_a_row_is_explained(tiled):
    view = show_timeline(tiled, selection=Selection(0, 40))
    places = [QPointF(20, row_point(view, 1, warp).y()) for warp in (0, 1)]
    assert view.text_at(places[0]) == "warp 0: click to select"
    assert view.text_at(places[1]) == "warp 1: selected, \u25b8 marks its row"
    tip = QPointF(view.places.rows.left() - 6, places[1].y())
    assert grab_image(view).pixelColor(tip.toPoint()) == QColor(Theme.named("light").palette.text)
    assert view.text_at(QPointF(20, view.places.bands.center().y())) == ""


def test_a_wide_timeline_gives_its_names_more_room(tiled):
    wide, narrow = show_timeline(tiled, size=(1570, 112)), show_timeline(tiled, size=(900, 112))
    assert wide.places.rows.left() > narrow.places.rows.left() + 30


def test_a_timeline_of_32_warps_gets_the_height_that_its_rows_ask_for():
    size = "m=32,k=32,n=32"
    with open_window((f"matmul-tiled:{size},tile=8", f"matmul-tiled:{size},tile=32")) as window:
        window.resize(1600, 900)
        QTest.qWait(20)
        few, other = window.central.timelines
        assert other.height() >= other.sizeHint().height() > few.sizeHint().height()
        assert few.height() >= few.sizeHint().height()
        assert other.places.rows.height() / 32 >= 3
