"""Spotlights in pictures: what stands out stays as it is, all else is fainter and can still be read."""

import sys

import numpy as np
import pytest
from PySide6.QtCore import QRect, QRectF
from PySide6.QtGui import QColor, QImage

from sessions import grab_image, matmul, uneven_session
from tilescope.app.model.session import Selection
from tilescope.app.model.spotlight import DIM_ALL, resolve_highlights
from tilescope.app.views.common.dimming import contrast, dim_theme
from tilescope.app.views.counters.view import CountersView
from tilescope.app.views.source.view import SourceView
from tilescope.app.views.timeline.spotlight import row_rect
from tilescope.app.widgets.theme import Theme
from views import (
    SMALL,
    counter_session,
    element_point,
    show_histogram,
    show_memory,
    show_panel,
    show_timeline,
    show_warp,
)

TILED = {"m": 8, "k": 8, "n": 8, "tile": 4}


def spot(view, *names):
    """Let what has these names stand out in a view, and return its picture."""
    (highlight,) = resolve_highlights(names, [view.session])
    view.set_spotlight(highlight)
    return grab_image(view)


def region(image: QImage, box) -> np.ndarray:
    """Return the pixels of a box as numbers, shape (height, width, 3)."""
    part = image.copy(box.toRect() if isinstance(box, QRectF) else box).convertToFormat(
        QImage.Format.Format_RGB32
    )
    rows = np.frombuffer(part.constBits(), np.uint8).reshape(part.height(), part.bytesPerLine())
    return rows[:, : 4 * part.width()].reshape(part.height(), part.width(), 4)[..., :3].astype(int)


def distance(image: QImage, box, theme: Theme) -> float:
    """Return the mean distance of a box's pixels from the panel's colour."""
    ground = theme.colour("panel")
    return float(abs(region(image, box) - [ground.blue(), ground.green(), ground.red()]).mean())


def cell(view, name, *place, side=3) -> QRect:
    """Return the middle of an element's cell."""
    middle = element_point(view, name, *place).toPoint()
    return QRect(middle.x() - side, middle.y() - side, 2 * side, 2 * side)


def is_fainter(image, before, box, theme) -> bool:
    return distance(image, box, theme) < 0.6 * distance(before, box, theme)


def same(image, before, box) -> bool:
    """Compare a box in two images; thin clipped lines may differ by a few levels of 255."""
    return bool((abs(region(image, box) - region(before, box)) <= 4).all())


@pytest.mark.parametrize("name", ["light", "dark"])
@pytest.mark.parametrize("colour_by", ["auto", "value", "reads"])
def test_a_buffer_stays_as_it_is_and_the_others_are_fainter(name, colour_by):
    theme = Theme.named(name)
    view = show_memory(matmul("matmul-tiled", **SMALL), 10**6, theme=theme, colour_by=colour_by)
    before = grab_image(view)
    after = spot(view, "A")
    for row, col in ((1, 2), (10, 20), (19, 23)):
        assert same(after, before, cell(view, "a", row, col, side=1))
    for other in ("b", "tile_a", "tile_b"):
        assert is_fainter(after, before, cell(view, other, 3, 3), theme)
    assert spot(view) == before


def test_an_element_stays_as_it_is_inside_a_frame():
    view = show_memory(matmul("matmul-naive-col-on-x", **TILED), 10**6)
    before = grab_image(view)
    after = spot(view, "B[2, 5]", "A[0:2, 1]")
    for name, place in (("b", (2, 5)), ("a", (0, 1)), ("a", (1, 1))):
        assert same(after, before, cell(view, name, *place))
    for name, place in (("b", (2, 4)), ("b", (3, 5)), ("a", (0, 4)), ("c", (6, 6))):
        assert not same(after, before, cell(view, name, *place))
    step = element_point(view, "b", 2, 5) - element_point(view, "b", 2, 4)
    edge = (element_point(view, "b", 2, 5) - step / 2).toPoint()  # not by colour alone
    assert contrast(after.pixelColor(edge.x() - 2, edge.y()), view.theme.colour("panel")) > 10


@pytest.mark.parametrize(
    "names",
    [["A[0, 0]", "A[2, 3]"], ["A[0, :]", "A[1, 0]"], ["A[0:2, 1]", "A[5, 1]", "A[5, 2]", "A[6, 2]"]],
    ids=["apart", "a step", "both"],
)
@pytest.mark.parametrize("colour_by", ["value", "reads"])
def test_elements_that_form_no_rectangle_stay_as_they_are(names, colour_by):
    view = show_memory(matmul("matmul-naive-col-on-x", **TILED), 10**6, size=(1200, 900), colour_by=colour_by)
    before = grab_image(view)
    (highlight,) = resolve_highlights(names, [view.session])
    bright = {
        (row, col)
        for _, ((row0, row1), (col0, col1)) in highlight.elements
        for row in range(row0, min(row1, 8))
        for col in range(col0, min(col1, 8))
    }
    after = spot(view, *names)
    side = int((element_point(view, "a", 0, 1) - element_point(view, "a", 0, 0)).x() / 2) - 3
    for row, col in np.ndindex(8, 8):
        box = cell(view, "a", row, col, side=side)
        assert same(after, before, box) == ((row, col) in bright), (row, col)


@pytest.mark.parametrize("name", ["light", "dark"])
def test_values_of_faint_cells_can_be_read(name):
    theme = Theme.named(name)
    view = show_memory(matmul("matmul-naive-col-on-x", **TILED), 10**6, size=(1200, 900), theme=theme)
    after = spot(view, "C[0, 0]")
    box = cell(view, "c", 7, 7, side=14)
    pixels = region(after, box).reshape(-1, 3)
    ground, ink = (QColor(*reversed([int(v) for v in pixels[n]])) for n in _extremes(pixels))
    assert contrast(ground, ink) >= 2.9


def _extremes(pixels):
    """Return the positions of the commonest pixel, and of the one that differs most from it."""
    colours, counts = np.unique(pixels, axis=0, return_counts=True)
    ground = colours[counts.argmax()]
    return int((pixels == ground).all(axis=1).argmax()), int(abs(pixels - ground).sum(axis=1).argmax())


@pytest.mark.parametrize("name", ["light", "dark"])
def test_dimmed_words_keep_3_to_1(name):
    theme = Theme.named(name)
    for keep in (0.28, 0.42):
        for ink in ("text", "muted", "good", "bad", "accent", "keyword"):
            assert contrast(dim_theme(theme, keep).colour(ink), theme.colour("panel")) >= 3


@pytest.mark.parametrize(
    "names", [["A"], ["B[:, 3]"], ["warp 1"], ["thread 9"], ["block 2"], ["counter global sectors"]]
)
def test_a_spotlight_looks_the_same_wherever_one_comes_from(names):
    session, selection = matmul("matmul-tiled", **SMALL), Selection(2, 33)
    view = show_memory(session, 9.5, selection)
    plain, first = grab_image(view), spot(view, *names)
    view.render_moment(31.25, selection)
    later = grab_image(view)
    assert first not in (plain, later)
    fresh = show_memory(session, 31.25, Selection(1, 0))
    spot(fresh, *names)
    fresh.render_moment(31.25, selection)
    assert grab_image(fresh) == later
    view.render_moment(9.5, selection)
    assert grab_image(view) == first
    assert spot(view) == plain


def test_a_thread_lights_the_cells_that_it_accesses_now_and_those_that_it_writes():
    view = show_memory(matmul("matmul-naive-col-on-x", **TILED), 3, Selection(0, 0))
    before = grab_image(view)
    after = spot(view, "thread 5")  # column 1, row 1
    assert same(after, before, cell(view, "c", 1, 1))
    assert not same(after, before, cell(view, "c", 6, 2))
    faint = [not same(after, before, cell(view, "a", 1, k)) for k in range(8)]
    assert sum(faint) == 7


def test_a_block_lights_what_it_touches_and_its_shared_memory_where_it_is_looked_at():
    view = show_memory(matmul("matmul-tiled", **TILED), 10**6, Selection(3, 0))
    before = grab_image(view)
    after = spot(view, "block 3")
    assert same(after, before, cell(view, "c", 6, 6))
    assert same(after, before, cell(view, "tile_a", 2, 2))
    assert is_fainter(after, before, cell(view, "c", 1, 1), view.theme)
    view.render_moment(10**6, Selection(0, 0))
    assert not same(grab_image(view), before, cell(view, "tile_a", 2, 2))


def test_a_zoomed_picture_and_one_of_some_buffers_are_dimmed_too():
    view = show_memory(matmul("matmul-tiled", **TILED), 20)
    view.only = ("A", "tile_a")
    before = grab_image(view)
    assert spot(view, "block 0", "tile_b") != before
    view.zoom = view.zoom._replace(scale=3.0)
    magnified = grab_image(view)
    assert spot(view) != magnified


def test_a_picture_without_any_of_it_dims_half_and_one_in_the_other_pane_more():
    session = matmul("matmul-tiled", **SMALL)
    for view in (show_memory(session, 10**6), show_timeline(session, 9)):
        plain = grab_image(view)
        half = spot(view, "counter global sectors")
        view.set_spotlight(DIM_ALL)
        dark = grab_image(view)
        box = view.rect()
        distances = [distance(image, box, view.theme) for image in (plain, half, dark)]
        assert distances[0] > distances[1] > distances[2] > 0


def test_the_row_of_a_warp_stands_out_in_the_timeline():
    session = matmul("matmul-tiled", **SMALL)  # two warps in a block
    view = show_timeline(session, 0, Selection(1, 0))
    before = grab_image(view)
    after = spot(view, "warp 1")
    rows = [row_rect(view.places, warp, 2).adjusted(150, 4, -150, -4) for warp in (0, 1)]
    assert same(after, before, rows[1])
    assert is_fainter(after, before, rows[0], view.theme)
    assert spot(view, "thread 40") == after
    assert same(spot(view, "block 1"), before, rows[0])
    assert not same(spot(view, "block 2"), before, rows[1])
    view.render_moment(5, Selection(1, 0))
    view.render_moment(0, Selection(1, 0))
    assert spot(view, "warp 1") == after


def test_a_number_under_a_pane_stands_out_and_is_shown_where_few_are():
    view = show_panel(CountersView, matmul("matmul-tiled", **SMALL), 9, size=(300, 54))
    assert "global bytes" not in [tile.label for tile, _ in view.shown()]
    plain = grab_image(view)
    spot(view, "counter global bytes", "counter shared wavefronts")
    assert {"global bytes", "shared wavefronts"} <= {tile.label for tile, _ in view.shown()}
    assert spot(view) == plain
    wide = show_panel(CountersView, matmul("matmul-tiled", **SMALL), 9, size=(900, 54))
    before, usual = grab_image(wide), boxes_of(wide)["global requests"]
    after = spot(wide, "counter global requests")
    boxes = boxes_of(wide)
    others = [contrast_of(after, box) for label, box in boxes.items() if label != "global requests"]
    assert contrast_of(after, boxes["global requests"]) > 10 and max(others) < 4
    assert text_height(after, boxes["global requests"]) > text_height(before, usual)


def boxes_of(view):
    """Return the inside of each tile, by its label."""
    return {tile.label: box.adjusted(8, 6, -8, -20) for tile, box in view.shown()}


def text_height(image, box) -> int:
    return int((region(image, box).sum(axis=2) < 300).any(axis=1).sum())


def contrast_of(image, box) -> float:
    pixels = region(image, box).reshape(-1, 3)
    return max(
        contrast(QColor(*reversed([int(v) for v in p])), QColor("white")) for p in np.unique(pixels, axis=0)
    )


def test_a_line_of_the_source_stands_out_and_is_brought_in_sight():
    session = matmul("matmul-tiled", **SMALL)
    view = show_panel(SourceView, session, 3.0, size=(420, 260))
    before = grab_image(view)
    spot(view, 'line "c[row, col] = total"')
    ((_, line),) = view.highlight.lines
    assert view.editor.highlighted_lines == {line}
    assert line in [number for number, *_ in view.editor.lines_in_sight()]
    wide = view.editor.viewport().width() - 8
    for number, top, height in view.editor.lines_in_sight():
        strongest = contrast_of(grab_image(view.editor.viewport()), QRectF(4, top + 3, wide, height - 6))
        assert (strongest > 10) == (number == line) or not _text(view, number).strip()
    view.render_moment(20.0, Selection())
    view.render_moment(3.0, Selection())
    assert spot(view) == before


def _text(view, number):
    return view.editor.document().findBlockByNumber(number - 1).text()


def test_lanes_of_threads_stand_out_in_the_warp_panel_and_another_warp_has_a_veil():
    session = matmul("matmul-tiled", **SMALL)
    view = show_warp(session, 5.0, Selection(0, 0))
    before = grab_image(view)
    after = spot(view, "thread 3", "thread 4")
    assert view.picture.bright == {3, 4}
    assert after != before
    assert spot(view, "warp 0") == before
    veiled = spot(view, "warp 1")
    assert distance(veiled, view.rect(), view.theme) < distance(before, view.rect(), view.theme)
    view.render_moment(5.0, Selection(0, 32))
    assert not view._veil.isVisibleTo(view)


def test_arrays_bins_and_lanes_stand_out_in_a_histogram():
    session = matmul("histogram-private", count=512, num_blocks=2)
    view = show_histogram(session, session.end, theme=Theme.named("light", reduced_motion=True))
    before = grab_image(view)
    plots = view.places().plots
    fields = [QRectF(p.field.x, p.field.y, p.field.width, p.field.height) for p in plots]
    after = spot(view, "bins")
    assert same(after, before, fields[1])
    assert is_fainter(after, before, fields[0], view.theme)
    some = spot(view, "bins[40:60]")
    column = fields[1].adjusted(fields[1].width() * 42 / 150, 4, -fields[1].width() * 92 / 150, -4)
    assert same(some, before, column)
    assert not same(some, before, fields[1])
    assert spot(view, "warp 0") != spot(view, "warp 1")
    assert spot(view) == before


@pytest.fixture
def uncaught(monkeypatch):
    """What the handlers of events report."""
    highlights = []
    monkeypatch.setattr(sys, "excepthook", lambda *error: highlights.append(error[1]))
    return highlights


def test_the_spotlight_of_the_launch_before_does_no_harm(uncaught, tmp_path):
    first = matmul("matmul-tiled", **SMALL)
    names = ("C[2, 3]", "tile_a", "block 11", "warp 1", "thread 60", "line 50", "counter global sectors")
    (highlight,) = resolve_highlights(names, [first])
    for session in (
        uneven_session(tmp_path),
        counter_session(),
        matmul("histogram-private", count=512, num_blocks=2),
    ):
        for show in (show_memory, show_timeline, show_histogram, show_warp):
            view = show(first, 3.0)
            view.set_spotlight(highlight)
            view.load(session)
            grab_image(view)
    assert uncaught == []


def test_a_warp_that_has_made_no_request_yet_is_drawn(uncaught):
    view = show_warp(matmul("matmul-tiled", **SMALL), 0.0, Selection(7, 0))
    spot(view, "thread 3")
    assert uncaught == []
