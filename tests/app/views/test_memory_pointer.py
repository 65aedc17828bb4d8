"""The memory view under the pointer: its tooltip, its clicks, zoom and pan."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtTest import QTest

from sessions import application, grab_image, matmul
from tilescope.app.model.session import Selection
from tilescope.app.views.memory.view import Zoom
from views import SMALL, element_point, record_requests, show_memory

LEFT = Qt.MouseButton.LeftButton


def test_the_tooltip_shows_element_value_reads_and_writer():
    session = matmul("matmul-tiled", m=24, k=24, n=24, tile=8, input="ones")
    view = show_memory(session, session.end, Selection(4, 0))
    lines = view.hover_text(element_point(view, "c", 9, 13)).splitlines()
    assert lines[:2] == ["C[9, 13] = 24", "read 0 times so far"]
    assert lines[2].startswith("last written by thread (5, 1) of block (1, 1), line ")
    assert view.hover_text(element_point(view, "a", 9, 13)).splitlines() == [
        "A[9, 13] = 1",
        "read 3 times so far",
    ]
    assert view.hover_text(QPointF(1, 1)) == ""
    view.render_moment(0, Selection())
    assert view.hover_text(element_point(view, "c", 9, 13)).splitlines()[0] == "C[9, 13]: not written yet"
    assert view.hover_text(element_point(view, "a", 9, 13)).splitlines()[1] == "read 0 times so far"


def test_the_writer_is_on_the_line_that_stores():
    session = matmul("matmul-tiled", m=8, k=8, n=8, tile=8)
    view = show_memory(session, session.end)
    line = int(view.hover_text(element_point(view, "c", 0, 0)).rsplit(" ", 1)[1])
    assert session.launch.source.splitlines()[line - 1].strip() == "c[row, col] = total"


def asked(view, where):
    heard = record_requests(view, "select")
    QTest.mouseClick(view, LEFT, pos=where.toPoint())
    return heard


def test_a_click_asks_for_the_thread_that_wrote_or_read():
    session = matmul("matmul-tiled", m=24, k=24, n=24, tile=8)
    view = show_memory(session, 50, Selection(4, 0))
    assert asked(view, element_point(view, "c", 9, 13)) == [Selection(4, 13)]
    assert asked(view, element_point(view, "c", 0, 23)) == [Selection(2, 7)]
    assert asked(view, element_point(view, "a", 9, 13)) == [
        Selection(4, 13)
    ]  # the selected block reads it too
    assert asked(view, element_point(view, "a", 0, 0)) == [Selection(0, 0)]
    assert asked(view, element_point(view, "tile_b", 3, 6)) == [Selection(4, 30)]
    assert asked(view, QPointF(2, 2)) == []
    assert view.selection == Selection(4, 0)  # it asks, and changes nothing itself


def turn(view, where, delta):
    buttons, phase = Qt.MouseButton.NoButton, Qt.ScrollPhase.NoScrollPhase
    keys = Qt.KeyboardModifier.NoModifier
    event = QWheelEvent(
        where, view.mapToGlobal(where), QPoint(), QPoint(0, delta), buttons, keys, phase, False
    )
    application().sendEvent(view, event)


def test_the_wheel_zooms_around_the_pointer_and_a_double_click_fits():
    session = matmul("matmul-tiled", **SMALL)
    view = show_memory(session, 40, Selection(5, 3))
    fitted, where = grab_image(view), element_point(view, "c", 9, 13)
    turn(view, where, 5 * 120)
    assert view.zoom.scale == pytest.approx(1.2**5)
    assert (element_point(view, "c", 9, 13) - where).manhattanLength() < 0.1
    assert "C[9, 13]" in view.hover_text(where)
    assert grab_image(view) != fitted
    QTest.mouseDClick(view, LEFT, pos=where.toPoint())
    assert view.zoom == Zoom() and grab_image(view) == fitted


def test_a_drag_moves_the_picture_and_selects_nothing():
    session = matmul("matmul-tiled", **SMALL)
    view = show_memory(session, 40, zoom=Zoom(4, 0.5, 0.5))
    heard, before = record_requests(view, "select"), element_point(view, "c", 9, 13)
    QTest.mousePress(view, LEFT, pos=QPoint(200, 200))
    QTest.mouseMove(view, QPoint(240, 230))
    QTest.mouseRelease(view, LEFT, pos=QPoint(240, 230))
    moved = element_point(view, "c", 9, 13) - before
    assert (moved - QPointF(40, 30)).manhattanLength() < 0.1
    assert heard == []


def test_keys_zoom():
    view = show_memory(matmul("matmul-tiled", **SMALL))
    QTest.keyClicks(view, "++")
    assert view.zoom.scale == pytest.approx(2.25)
    QTest.keyClicks(view, "-")
    assert view.zoom.scale == pytest.approx(1.5)
    QTest.keyClicks(view, "0")
    assert view.zoom == Zoom()


def test_zoom_stays_within_the_picture():
    view = show_memory(matmul("matmul-tiled", **SMALL), zoom=Zoom(1e9, -3, 7))
    scale, x, y = view.zoom
    assert scale < 100 and x == pytest.approx(0.5 / scale) and y == pytest.approx(1 - 0.5 / scale)
    view.zoom = Zoom(0.1, 0, 0)
    assert view.zoom == Zoom()


def test_without_a_session_nothing_is_shown_or_asked():
    view = show_memory(None)
    assert view.hover_text(QPointF(200, 200)) == ""
    assert asked(view, QPointF(200, 200)) == []
    turn(view, QPointF(200, 200), 120)
    assert view.zoom == Zoom()
