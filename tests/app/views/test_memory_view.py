"""The memory view on real traces: what it draws at which moment."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QColor, QImage

from folders import IMAGES
from launching import Array, Scalar, launch, trace
from sessions import grab_image, matmul, uneven_session
from tilescope.app.model.session import Selection, build_session
from tilescope.app.views.memory.arrangement import ViewState, Zoom
from tilescope.app.views.memory.footprints import Footprint, footprints_of, phase_at
from tilescope.app.views.memory.layout.sheet import sheet_of
from tilescope.app.views.memory.loads import bend_arcs
from tilescope.app.views.memory.outlines import CellRect
from tilescope.app.views.memory.picture import MemoryPicture
from tilescope.app.widgets.theme import KIND_COLOURS, Theme
from views import LOAD, SMALL, STORE, buffer_number, element_point, first_moment, show_memory


def colour(view, name, *place):
    return grab_image(view).pixelColor(element_point(view, name, *place).toPoint())


@pytest.mark.parametrize("name", ["matmul-tiled", "matmul-naive-col-on-x", "matmul-naive-row-on-x"])
@pytest.mark.parametrize("moments", [(9, 3), (31.5, 12.25), (10**6, 0)])
def test_a_moment_looks_the_same_wherever_one_comes_from(name, moments):
    session, selection = matmul(name, **SMALL), Selection(5, 9)
    view = show_memory(session, moments[0], selection)
    before = grab_image(view)
    view.render_moment(moments[1], selection)
    after = grab_image(view)
    assert after == grab_image(show_memory(session, moments[1], selection))
    assert after != before
    view.render_moment(moments[0], selection)
    assert grab_image(view) == before


@pytest.mark.parametrize("shape", [(1, 1, 1), (4, 4, 4), (5, 23, 7), (1, 70, 1), (64, 1, 3)])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_size_is_drawn(shape, theme):
    values = dict(zip("mkn", shape, strict=True)) | {"tile": 8}
    for name in ("matmul-tiled", "matmul-naive-col-on-x"):
        session = matmul(name, **values)
        for size, scale in (((550, 450), 1.0), ((300, 200), 1.6), ((1200, 300), 1.0)):
            view = show_memory(session, session.end, size=size, theme=Theme.named(theme, scale))
            image = grab_image(view)
            last = tuple(n - 1 for n in (shape[0], shape[2]))
            centre = element_point(view, "c", *last)
            assert view.rect().contains(centre.toPoint())
            assert image.pixelColor(centre.toPoint()) != view.theme.colour("panel")


def test_a_block_of_a_large_product_is_drawn_as_a_part():
    session = matmul("matmul-tiled", (37,), m=256, k=256, n=256)
    view = show_memory(session, session.end, Selection(37, 0))
    assert colour(view, "c", 200, 10) != colour(view, "c", 40, 88)  # hatched, and written by block (5, 2)
    assert colour(view, "a", 40, 7) != colour(view, "a", 100, 7)  # read, and not read


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_read_unread_written_and_unwritten_cells_differ(theme):
    session = matmul("matmul-naive-col-on-x", **SMALL)
    done = int(session.requests.span_end[0].max())
    view = show_memory(session, done, Selection(1, 0), theme=Theme.named(theme))
    read, unread = colour(view, "a", 3, 20), colour(view, "a", 17, 20)
    assert unread == view.theme.colour("cell_unread")
    assert contrast(read, unread) > 1.4
    assert colour(view, "c", 3, 3) != colour(view, "c", 17, 17)


def contrast(first, other):
    """Return the contrast ratio of WCAG 2.1."""
    high, low = sorted((luminance(first), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def luminance(colour):
    parts = [v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4 for v in colour.getRgbF()[:3]]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


def test_cells_are_coloured_by_what_is_chosen():
    session = matmul("matmul-tiled", **SMALL)
    views = {
        choice: show_memory(session, session.end, colour_by=choice) for choice in ("auto", "value", "reads")
    }
    assert colour(views["auto"], "a", 2, 2) == colour(views["reads"], "a", 2, 2)
    assert colour(views["auto"], "c", 2, 2) == colour(views["value"], "c", 2, 2)
    assert colour(views["reads"], "c", 2, 2) == views["reads"].theme.colour("cell_unread")  # C is never read
    assert colour(views["value"], "a", 2, 2) != colour(views["reads"], "a", 2, 2)
    with pytest.raises(ValueError, match="mood"):
        views["auto"].colour_by = "mood"


def test_two_panes_can_share_the_scale_of_reads():
    naive, tiled = (show_memory(matmul(n, **SMALL), 10**6) for n in ("matmul-naive-col-on-x", "matmul-tiled"))
    most = [view.own_tops(Selection())["reads", "global"] for view in (naive, tiled)]
    assert most == [28, 4]  # N; N / tile, rounded up
    lone_colour = colour(tiled, "a", 2, 2)
    assert lone_colour == colour(naive, "a", 2, 2)
    tiled.tops = tuple(naive.own_tops(Selection()).items())
    assert luminance(colour(tiled, "a", 2, 2)) > luminance(lone_colour)


@pytest.mark.parametrize(
    ("name", "op", "buffer"), [("matmul-naive-col-on-x", LOAD, "b"), ("matmul-tiled", STORE, "tile_a")]
)
def test_accesses_of_the_moment_are_marked_in_the_colour_of_their_kind(name, op, buffer):
    session = matmul(name, m=8, k=8, n=8, tile=8)
    moment = first_moment(session, op, buffer, 0)
    view = show_memory(session, moment, theme=Theme.named("light", reduced_motion=True))
    kind = f"{session.trace.buffers[buffer_number(session, buffer)].space} {('load', 'store')[op]}"
    assert has_colour(grab_image(view), KIND_COLOURS[kind])
    view.render_moment(0, Selection())
    assert not has_colour(grab_image(view), KIND_COLOURS[kind])


def has_colour(image, wanted):
    return np.count_nonzero(pixels(image) == QColor(wanted).rgb()) > 10


def pixels(image):
    image = image.convertToFormat(QImage.Format.Format_ARGB32)
    flat = np.frombuffer(image.constBits(), np.uint32)
    return flat.reshape(image.height(), image.bytesPerLine() // 4)[:, : image.width()]


def test_the_frames_are_what_the_block_touches():
    session = matmul("matmul-tiled", m=24, k=24, n=24, tile=8)
    trace, sheets = session.trace, {n: sheet_of(b) for n, b in enumerate(session.trace.buffers)}
    # Block (2, 1): rows 8 to 16, columns 16 to 24.
    footprints = footprints_of(session.memory.touched(5), sheets)
    a, b, c = (buffer_number(session, name) for name in "abc")
    assert footprints.by_buffer[a] == Footprint(CellRect(8, 0, 16, 24)) and footprints.by_buffer[
        b
    ] == Footprint(CellRect(0, 16, 24, 24))
    assert footprints.by_buffer[c] == Footprint(CellRect(8, 16, 16, 24))
    assert footprints.in_phase(a, 0) == Footprint(CellRect(8, 0, 16, 8)) and footprints.in_phase(
        b, 2
    ) == Footprint(CellRect(8, 16, 16, 24))
    assert footprints.in_phase(a, 3) == footprints.in_phase(
        a, 2
    )  # it computes with what it loaded in the phase before
    assert footprints.in_phase(c, 2) is None and footprints.in_phase(a, -1) is None
    first = int(session.requests.span_start[5].min())
    assert phase_at(session.requests, trace, 5, first) == -1
    assert phase_at(session.requests, trace, 5, first + 1) == 0
    assert phase_at(session.requests, trace, 5, session.end) == 6


def drawn(session, moment, selection):
    picture_of = MemoryPicture(session, Theme.named("light"))
    state = ViewState(550, 450, 1, None, "auto", (), Zoom(), moment, selection)
    return picture_of.data, picture_of.zoomed(state).places


def test_a_loaded_element_flies_to_its_place_in_the_tile():
    session = matmul("matmul-tiled", m=24, k=24, n=24, tile=8)
    moment, selection = first_moment(session, LOAD, "a", 4), Selection(4, 21)
    data, places = drawn(session, moment, selection)
    (flight,) = data.loads_in_flight(moment, selection, places)
    assert flight.kind == "global load" and flight.own.sum() == 32
    (chosen,) = np.flatnonzero(
        flight.chosen
    )  # thread (5, 2) of block (1, 1) fetches A[10, 5] into tile_a[2, 5]
    assert np.allclose(flight.start[chosen], places[buffer_number(session, "a")].middle(10 * 24 + 5))
    landed = bend_arcs(flight.start, flight.end).points_at(1.0)
    assert np.allclose(landed[chosen], places[buffer_number(session, "tile_a")].middle(2 * 8 + 5))


def test_a_loaded_element_flies_into_the_result_of_its_thread():
    session = matmul("matmul-naive-col-on-x", m=24, k=24, n=24, tile=8)
    moment, selection = first_moment(session, LOAD, "b", 4), Selection(4, 21)
    data, places = drawn(session, moment, selection)
    (flight,) = data.loads_in_flight(moment, selection, places)
    (chosen,) = np.flatnonzero(flight.chosen)
    assert np.allclose(flight.start[chosen], places[buffer_number(session, "b")].middle(13))
    assert np.allclose(flight.end[chosen], places[buffer_number(session, "c")].middle(10 * 24 + 13))


def test_loads_move_with_time_unless_motion_is_reduced():
    session = matmul("matmul-tiled", **SMALL)
    moment = first_moment(session, LOAD, "a", 5)
    views = [
        show_memory(session, moment, Selection(5), theme=Theme.named("dark", 1.0, still))
        for still in (False, True)
    ]
    pictures = [
        [grab_image(v) for f in (0.25, 0.75) if v.render_moment(moment + f, Selection(5)) is None]
        for v in views
    ]
    assert pictures[0][0] != pictures[0][1]
    assert pictures[1][0] == pictures[1][1]


def test_large_cells_show_their_values():
    session = matmul("matmul-naive-col-on-x", m=4, k=4, n=4, tile=8, input="arange")
    view = show_memory(session, session.end)
    grab_image(view)
    expected = np.arange(16.0).reshape(4, 4) @ np.arange(16.0).reshape(4, 4)
    assert view.cell_texts()["c"] == {(r, k): f"{expected[r, k]:.4g}" for r in range(4) for k in range(4)}
    from_far = show_memory(session, session.end, size=(160, 130))
    assert grab_image(from_far) != grab_image(show_memory(session, 0, size=(160, 130)))


def test_a_number_computed_from_nothing_is_marked_between_short_ones():
    sides = {"m": 6, "k": 4, "n": 4, "tile": 4}
    session = matmul("matmul-tiled-early-return", **sides, dtype="float64", input="arange-ones")
    view = show_memory(session, session.end)
    grab_image(view)
    assert [view.cell_texts()["c"][row, 0] for row in range(6)] == ["6", "22", "38", "54", "nan", "nan"]


def test_a_kernel_without_roles_is_drawn_and_described(tmp_path):
    session = uneven_session(tmp_path)
    view = show_memory(session, session.end, Selection(1, 3))
    assert view.hover_text(element_point(view, "a", 65)) == "a[65] = 65\nread 5 times so far"
    boxes = [view.position_of(n, 0) for n in range(len(session.trace.buffers))]
    assert all(view.rect().contains(p.toPoint()) for p in boxes)
    assert "out[0]" in view.hover_text(element_point(view, "out", 0))


@pytest.mark.parametrize("dtype", ["f4,i2", "complex64", "bool", "uint8", ""])
def test_buffers_of_any_type_are_drawn_and_a_launch_without_any(tmp_path, dtype):
    field = "['f0']" if "," in dtype else ""
    source = f"@cuda.jit\ndef kernel(a):\n    {f'a[0]{field} = 1' if dtype else 'pass'}\n"
    arguments = (Array((3,), dtype=dtype, fill="empty") if dtype else Scalar(1),)
    session = build_session(launch(tmp_path, source, arguments), trace(tmp_path, source, arguments), None)
    view = show_memory(session, session.end)
    assert len(np.unique(pixels(grab_image(view)))) > 2
    texts = [view.hover_text(view.position_of(n, 0)) for n in range(len(session.trace.buffers))]
    assert any("written by thread 0 of block 0" in text for text in texts) == bool(dtype)


def test_it_describes_itself_for_screen_readers():
    session = matmul("matmul-tiled", **SMALL)
    view = show_memory(session, first_moment(session, LOAD, "a", 0))
    assert view.accessibleName() == "Memory"
    assert (
        "Warp 0 of block (0, 0): reads 32 elements of A from global memory." in view.accessibleDescription()
    )
    view.render_moment(session.end, Selection())
    assert view.accessibleDescription().endswith("its block is done.")
    view.render_moment(0, Selection(7))
    assert view.accessibleDescription().endswith("its block has not begun.")
    assert view.focusPolicy() & Qt.FocusPolicy.TabFocus


def test_without_a_session_it_reports_it():
    session = matmul("matmul-tiled", **SMALL)
    empty = grab_image(show_memory(None))
    view = show_memory(session, 20)
    view.load(None)
    assert grab_image(view) == empty
    assert len(np.unique(pixels(empty))) > 2  # words, not an empty page
    assert view.accessibleDescription() == "Nothing traced yet"
    assert view.hover_text(QPointF(200, 200)) == ""


def test_a_new_theme_draws_what_a_view_of_that_theme_draws():
    session, dark = matmul("matmul-tiled", **SMALL), Theme.named("dark", 1.3)
    view = show_memory(session, 33, Selection(2, 5))
    grab_image(view)
    view.set_theme(dark)
    assert grab_image(view) == grab_image(show_memory(session, 33, Selection(2, 5), theme=dark))


# Scenario, theme, text scale, and a moment: so many after block 6 first reads this buffer.
REFERENCES = {
    "tiled-light": ("matmul-tiled", "light", 1.0, "b", 0),
    "tiled-dark-large-text": ("matmul-tiled", "dark", 1.6, "tile_a", 4.5),
    "naive-light": ("matmul-naive-col-on-x", "light", 1.0, "a", 40),
    "naive-dark": ("matmul-naive-row-on-x", "dark", 1.0, "a", 24.5),
}


@pytest.mark.parametrize("name", REFERENCES)
def test_it_looks_as_approved(name, tmp_path):
    """Compare with a picture that a person approved; to approve another, copy the one that the failure names."""
    scenario, theme, scale, buffer, after = REFERENCES[name]
    session = matmul(scenario, m=32, k=32, n=32, tile=8, input="arange")
    view = show_memory(
        session,
        first_moment(session, LOAD, buffer, 6) + after,
        Selection(6, 37),
        theme=Theme.named(theme, scale),
    )
    image, path = grab_image(view), tmp_path / f"memory-{name}.png"
    image.save(str(path))
    approved = QImage(str(IMAGES / path.name))
    assert not approved.isNull(), f"no picture approved; see {path}"
    assert difference(image, approved) < 0.05, f"see {path}"
    view.render_moment(20, Selection(1, 3))
    assert difference(grab_image(view), approved) > 0.05  # the comparison can tell


def difference(first, other):
    """Return the share of pixels whose colours differ clearly: fonts differ from machine to machine."""
    if first.size() != other.size():
        return 1.0
    channels = [
        pixels(i).view(np.uint8).reshape(i.height(), i.width(), 4).astype(int) for i in (first, other)
    ]
    return float((np.abs(channels[0] - channels[1]).max(axis=2) > 40).mean())
