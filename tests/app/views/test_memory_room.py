"""How the memory view uses its room: flat matrices, vectors, slices, frames of what is touched, magnified names."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QImage
from PySide6.QtTest import QTest

from sessions import grab_image, matmul
from tilescope.app.model.session import Selection
from tilescope.app.views.common.drawing import panel_line_colour
from tilescope.app.views.common.geometry import Box
from tilescope.app.views.memory.arrangement import Zoom
from tilescope.app.views.memory.footprints import footprints_of
from tilescope.app.views.memory.layout.buffer_position import Metrics
from tilescope.app.views.memory.layout.layout import arrange
from tilescope.app.views.memory.layout.sheet import sheet_of, slice_text
from tilescope.app.views.memory.text import find_name_box, place_caption
from tilescope.app.widgets.theme import Theme
from tilescope.tracer.model.trace import Buffer
from views import LOAD, buffer_number, first_moment, show_memory


def buffer(shape, space="global", name="a"):
    strides = [4 * int(np.prod(shape[axis + 1 :])) for axis in range(len(shape))]
    return Buffer(name, space, "f4", tuple(shape), tuple(strides), 0, 4, int(np.prod(shape)))


def pixels(image):
    image = image.convertToFormat(QImage.Format.Format_RGB32)
    flat = np.frombuffer(image.constBits(), np.uint32)
    return flat.reshape(image.height(), image.bytesPerLine() // 4)[:, : image.width()].copy()


@pytest.mark.parametrize(("m", "n"), [(4, 4), (1, 300), (300, 2)])
def test_few_rows_and_columns_are_separated(m, n):
    product = [buffer((m, 256)), buffer((256, n)), buffer((m, n))]
    layout = arrange(product, {"left": 0, "above": 1, "result": 2}, Box(0, 0, 560, 420), Metrics())
    left, above, result = (layout.places[i] for i in range(3))
    assert left.row >= 8 or m == 300
    assert above.cell >= 8 or n == 300
    assert left.y == result.y and left.row == pytest.approx(result.row) and above.cell == result.cell


def test_a_single_flat_matrix_has_rows_of_a_readable_height():
    place = arrange([buffer((4, 256))], {}, Box(0, 0, 560, 420), Metrics()).places[0]
    assert place.row >= 8 > place.cell
    assert place.element_at(place.x + 1.5 * place.cell, place.y + 3.5 * place.row) == 3 * 256 + 1
    assert place.middle(3 * 256 + 1).tolist() == [place.x + 1.5 * place.cell, place.y + 3.5 * place.row]


def test_a_vector_stands_in_the_middle_with_the_words_right_below_it():
    room = Box(12, 6, 560, 340)
    layout = arrange([buffer((1000,))], {}, room, Metrics())
    box = layout.places[0].box
    assert abs((box.x - room.x) - (room.right - box.right)) <= 2
    assert 0 < layout.caption.y - box.bottom < 16
    assert layout.caption.x == box.x and layout.caption.bottom <= room.bottom
    above, below = box.y - room.y, room.bottom - layout.caption.bottom
    assert above - 1.3 * 16 == pytest.approx(below, abs=3)


def test_slices_carry_their_index_above_them():
    volume = buffer((3, 2, 4, 6))
    sheet = sheet_of(volume, 2.0, above=2)
    corners = sheet.corners()
    assert [sheet.element(*corner) for corner in corners] == [24 * piece for piece in range(6)]
    assert all(sheet.element(row - 1, col) is None is sheet.element(row - 2, col) for row, col in corners)
    assert [slice_text(volume, piece) for piece in (0, 1, 5)] == ["[0, 0]", "[0, 1]", "[2, 1]"]
    place = arrange([volume], {}, Box(0, 0, 560, 420), Metrics()).places[0]
    assert place.sheet.above * place.row >= Metrics().line - 1  # a line of text


def test_a_block_of_a_grid_stride_loop_frames_what_it_touches():
    session = matmul("vector-multiply", count=1024, num_blocks=4, threads=64)
    sheets = {n: sheet_of(b, 4.0) for n, b in enumerate(session.trace.buffers)}
    a = buffer_number(session, "a")
    for block in (0, 3):
        footprint = footprints_of(session.memory.touched(block), sheets).by_buffer[a]
        touched = np.concatenate([np.arange(64) + start + 64 * block for start in range(0, 1024, 256)])
        assert footprint.outline is not None and inside(footprint.outline, sheets[a]) == set(touched.tolist())


def inside(edge, sheet):
    """Return the elements whose cells an outline is around: an odd number of its upright lines is left of them."""
    lines = np.stack([edge.x, edge.y], axis=1).reshape(-1, 2, 2)
    upright = lines[lines[:, 0, 0] == lines[:, 1, 0]]
    sizes = set()
    for element in range(sheet.count):
        row, col = sheet.cells(element)
        left = upright[upright[:, 0, 0] <= col]
        if np.count_nonzero((left[:, :, 1].min(1) <= row) & (row < left[:, :, 1].max(1))) % 2:
            sizes.add(element)
    return sizes


def test_the_picture_at_two_pixels_a_pixel_is_the_same_only_sharper():
    session = matmul("matmul-tiled", m=40, k=40, n=40, tile=8)
    view = show_memory(session, 60.0, Selection(3, 0))
    sharp = QImage(2 * view.size(), QImage.Format.Format_RGB32)
    sharp.setDevicePixelRatio(2)
    view.render(sharp)
    half = sharp.scaled(
        view.size(), Qt.AspectRatioMode.IgnoreAspectRatio, Qt.TransformationMode.SmoothTransformation
    )
    first, other = pixels(grab_image(view)).view(np.uint8), pixels(half).view(np.uint8)
    assert np.count_nonzero(np.abs(first.astype(int) - other) > 80) < 0.03 * first.size


def test_loads_on_their_way_are_translucent():
    session, dark = matmul("matmul-tiled", m=24, k=24, n=24, tile=8), Theme.named("dark")
    moment = first_moment(session, LOAD, "a", 4)
    colour = panel_line_colour("global load", dark).rgb()
    still, flying = (
        pixels(grab_image(show_memory(session, moment + f, Selection(4, 21), theme=dark))) for f in (0.0, 0.5)
    )
    assert not np.array_equal(still, flying)
    assert np.count_nonzero(flying == colour) == 0


def test_a_message_covers_pending_loads():
    session, theme = matmul("matmul-naive-col-on-x", m=24, k=24, n=24, tile=8), Theme.named("light")
    moment = first_moment(session, LOAD, "b", 4)
    view = show_memory(session, moment + 0.5, Selection(4, 21), theme=theme)
    drawn = [piece.name for piece in view._picture.pieces(view._state(), 1.0).above]
    loads = drawn.index(("loads", 0))
    assert all(drawn.index(("name", number)) > loads for number in range(3))
    assert drawn[-1] == "caption"


def test_a_magnified_picture_shows_how_to_see_all_of_it_again():
    session = matmul("matmul-tiled", m=24, k=24, n=24, tile=8)
    view = show_memory(session, 20)
    view.show()
    assert not view.fit_button.isVisible()
    view.zoom = Zoom(3.0, 0.6, 0.6)
    assert view.fit_button.isVisible() and view.rect().contains(view.fit_button.geometry())
    QTest.mouseClick(view.fit_button, Qt.MouseButton.LeftButton)
    assert view.zoom == Zoom() and not view.fit_button.isVisible()


def test_names_of_magnified_buffers_are_next_to_them_if_there_is_space():
    window, seen = Box(0, 0, 400, 300), Box(0, 50, 200, 250)
    spot = find_name_box(seen, 30, 20, window, [seen, Box(300, 0, 100, 300)])
    assert spot == Box(200, 165, 30, 20)
    spot = find_name_box(seen, 30, 20, window, [seen, Box(205, 0, 195, 300)])
    assert spot == Box(0, 30, 30, 20)  # above: at the right there is another
    assert seen.holds(*find_name_box(seen, 30, 20, seen, [seen])[:2])


def test_a_launch_without_races_reports_it_next_to_one_with_races():
    session = matmul("matmul-tiled", m=16, k=16, n=16, tile=8).with_findings()
    view = show_memory(session, session.end, colour_by="races", tops=((("races", "global"), 2048),))
    rows = view._picture._legend(view._state())
    assert next(item.before for row in rows for _, item in row) == "no accesses in a race"
    assert view.hover_text(QPointF(-5, -5)) == ""


def test_a_caption_on_one_line_has_a_veil_over_passing_loads():
    theme = Theme.named("light")
    lines = [("title", "Warp 0 now"), ("text", "reads 32 elements of A"), ("brief", "reads A")]
    texts = place_caption(Box(0, 0, 400, theme.px(22)), lines, theme)
    assert [text.text for text in texts] == ["Warp 0 now", "reads 32 elements of A"]
    assert all(text.veil is not None and text.veil.width() > 0 for text in texts)
