"""The memory picture of a user's kernel: images, races, exchanges of lanes, names."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtGui import QColor

from launching import Array, Scalar, launch, trace
from sessions import grab_image
from tilescope.app.model.session import Selection, Session, build_session
from tilescope.app.views.common.wording import buffer_text
from tilescope.app.widgets.theme import Theme
from views import buffer_number, show_memory, show_timeline, show_warp

COPY = """
@cuda.jit
def kernel(image, out):
    x, y = cuda.grid(2)
    for c in range(image.shape[2]):
        out[y, x, c] = image[y, x, c]
"""
RACE = """
@cuda.jit
def kernel(x, out):
    s = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    s[t] = x[t]
    out[t] = s[63 - t]
"""
SUM = """
@cuda.jit
def kernel(a, out):
    t = cuda.threadIdx.x
    v = a[t]
    v += cuda.shfl_down_sync(-1, v, 16)
    out[t] = cuda.ballot_sync(-1, v > 20)
"""


def session_of(folder, source, arguments, **shape) -> Session:
    traced = trace(folder, source, arguments, **shape)
    assert traced.error is None
    return build_session(launch(folder, source, arguments, **shape), traced, None)


@pytest.mark.parametrize(("channels", "dtype"), [(3, "uint8"), (4, "uint8"), (3, "float32")])
def test_an_image_is_drawn_in_its_own_colours(tmp_path, channels, dtype):
    shape = (8, 12, channels)
    arguments = (Array(shape, dtype, fill="arange"), Array(shape, dtype, fill="zeros"))
    session = session_of(tmp_path, COPY, arguments, grid=(3, 2, 1), block=(4, 4, 1))
    view = show_memory(session, session.end, Selection(5, 0), size=(640, 420))
    content = np.arange(8 * 12 * channels).reshape(shape).astype(dtype)
    top = 255.0 if dtype == "uint8" else content.max()
    for name in ("image", "out"):
        for row, col in ((2, 3), (1, 8)):  # whose blocks are not framed
            element = (row * 12 + col) * channels
            x = view.position_of(buffer_number(session, name), element).toPoint()
            seen = np.array(QColor(grab_image(view).pixel(x)).getRgb()[:3])
            expected = content[row, col, :3].astype(float) * 255 / (255 if top <= 255 else top)
            assert np.abs(seen - np.clip(expected, 0, 255)).max() <= 2, name
    assert "pixel (" in view.hover_text(view.position_of(buffer_number(session, "image"), 0))


def test_an_image_that_is_not_written_yet_is_blank(tmp_path):
    arguments = (Array((8, 12, 3), "uint8", fill="arange"), Array((8, 12, 3), "uint8", fill="zeros"))
    session = session_of(tmp_path, COPY, arguments, grid=(3, 2, 1), block=(4, 4, 1))
    view = show_memory(session, 0, Selection(5, 0), size=(640, 420))
    place = view.position_of(buffer_number(session, "out"), 13 * 3).toPoint()
    assert QColor(grab_image(view).pixel(place)) == Theme.named("light").colour("cell_unread")


def test_a_race_is_seen_in_the_picture_and_its_threads_are_named(tmp_path):
    arguments = (Array((64,), fill="arange"), Array((64,)))
    session = session_of(tmp_path, RACE, arguments, block=(64, 1, 1))
    store = int(session.requests.moment[session.requests.buffer == buffer_number(session, "s")].min())
    view = show_memory(session, store, Selection(0, 3), size=(700, 460))
    before = grab_image(view)
    spot = view.position_of(buffer_number(session, "s"), 3)
    assert "Race" not in view.hover_text(spot)  # as long as nobody knows
    session.with_findings()
    view.reload()
    assert grab_image(view) != before
    hover_line = view.hover_text(spot).splitlines()[-1]
    assert (
        hover_line.startswith("Race: thread 3 writes s[3] on line")
        and "thread 60 reads it at moment" in hover_line
    )
    assert "Race: thread 3 writes s[3]" in view.accessibleDescription()
    view.render_moment(0, Selection(0, 3))
    assert "Race" not in view.accessibleDescription() + view.hover_text(spot)


def test_lanes_that_exchange_values_are_drawn_and_described(tmp_path):
    arguments = (Array((32,), "int32", fill="arange"), Array((32,), "int64"))
    session = session_of(tmp_path, SUM, arguments, block=(32, 1, 1))
    shuffle, ballot = session.requests.exchanges.moment.tolist()
    view = show_memory(session, shuffle, Selection(0, 2), size=(700, 460))
    assert "shuffles: 16 lanes of 32 get another lane's value" in view.accessibleDescription()
    pictures = [grab_image(view)]
    for moment, thread in ((shuffle, 9), (ballot, 2), (session.end, 2)):
        view.render_moment(moment, Selection(0, thread))
        pictures.append(grab_image(view))
    assert all(first != other for n, first in enumerate(pictures) for other in pictures[:n])
    view.render_moment(ballot, Selection(0, 2))
    assert "votes: 29 of 32 lanes vote yes" in view.accessibleDescription()
    assert grab_image(view) == pictures[2]  # the same moment, from wherever one comes
    warp = show_warp(session, shuffle, Selection(0, 2))
    assert warp.title.text() == "Shuffle, line 9"
    assert warp.description.text() == "Lane 2 gets the value of lane 18."
    warp.render_moment(ballot, Selection(0, 1))
    assert warp.description.text() == "Lane 1 votes no."
    warp.render_moment(session.end, Selection(0, 1))
    assert warp.title.text().startswith("Store of out")
    timeline = show_timeline(session, shuffle)
    assert grab_image(timeline) != grab_image(show_timeline(session, session.end))


def test_a_block_of_fewer_threads_than_a_warp_exchanges_values_among_its_lanes(tmp_path):
    arguments = (Array((8,), "int32", fill="arange"), Array((8,), "int64"))
    session = session_of(tmp_path, SUM.replace(", 16)", ", 4)"), arguments, block=(8, 1, 1))
    moment, selection = session.requests.exchanges.moment.tolist()[0], Selection(0, 2)
    warp = show_warp(session, moment, selection)
    assert warp.picture.exchange.lanes == session.lanes == 8
    assert warp.description.text() == "Lane 2 gets the value of lane 6."
    grab_image(warp)
    view = show_memory(session, moment, selection, size=(700, 460))
    assert view._picture.data.exchange(moment, selection).lanes == 8
    grab_image(view)


def test_a_buffer_has_the_name_that_its_kernel_gives_it(tmp_path):
    source = "@cuda.jit\ndef kernel(a, B, n):\n    B[0] = a[0] + n\n"
    session = session_of(tmp_path, source, (Array((8,)), Array((8,)), Scalar(1)))
    assert [buffer_text(buffer) for buffer in session.trace.buffers] == ["a", "B"]


def test_matrices_that_are_no_factors_are_not_drawn_as_a_product(tmp_path):
    source = "@cuda.jit\ndef kernel(a, b, c):\n    x, y = cuda.grid(2)\n    c[y, x] = a[y, x] + b[y, x]\n"
    square = Array((8, 8), fill="arange")
    session = session_of(tmp_path, source, (square, square, Array((8, 8))), block=(8, 8, 1))
    view = show_memory(session, 1, size=(700, 460))
    tops = [view.position_of(buffer_number(session, name), 0).y() for name in "abc"]
    assert len(set(tops)) == 1  # beside each other
