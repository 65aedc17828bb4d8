"""Accesses outside arrays and results that differ from NumPy, as every view shows them."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import QRectF

from launching import Array, trace
from launching import launch as launch_text
from sessions import grab_image
from tilescope.app.model.session import Selection, Session, build_session
from tilescope.app.views.common.descriptions import warp_captions
from tilescope.app.views.common.differences import differences_of, differing_now
from tilescope.app.views.common.outside import outside_of
from tilescope.app.views.inspect.thread import ThreadView, rows_of, thread_activity
from tilescope.app.views.memory.descriptions import hover_text
from tilescope.app.views.warp.lanes import lanes_of
from tilescope.app.views.warp.lanes_text import figures, lane_text
from tilescope.app.widgets.theme import Theme
from tilescope.kernels.scenarios.catalogue import find
from tilescope.tracer.model.plan import launch_of, parse_spec
from tilescope.tracer.simulator.numba_patch import run
from views import show_memory, show_panel, show_timeline

SHIFT = """
@cuda.jit
def kernel(a, out):
    i = cuda.grid(1)
    out[i] = a[i + {0}]
"""
TILES = """
@cuda.jit
def kernel(a, out):
    tile_a = cuda.shared.array((4, 4), float32)
    tile_b = cuda.shared.array((4, 4), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    tile_a[ty, tx] = a[ty * 4 + tx]
    tile_b[ty, tx] = a[ty * 4 + tx]
    cuda.syncthreads()
    total = float32(0)
    for j in range(4):
        total += tile_a[ty, j] * tile_b[j, tx + 1]
    out[ty * 4 + tx] = total
"""


def session(folder, text: str, block: tuple[int, int, int] = (16, 1, 1), n: int = 16) -> Session:
    arguments = (Array((n,), fill="arange"), Array((n,), fill="zeros"))
    launched = launch_text(folder, text, arguments, grid=(1, 1, 1), block=block)
    return build_session(
        launched, trace(folder, text, arguments, grid=(1, 1, 1), block=block), None
    ).with_findings()


def red_pixels(image, box: QRectF, colour) -> int:
    """Count the pixels of a box that have nearly a colour."""
    matches = 0
    for x in range(int(box.left()), int(box.right()) + 1):
        for y in range(int(box.top()), int(box.bottom()) + 1):
            if image.rect().contains(x, y):
                pixel = image.pixelColor(x, y)
                parts = zip(pixel.getRgb()[:3], colour.getRgb()[:3], strict=True)
                matches += all(abs(first - other) < 12 for first, other in parts)
    return matches


def finding(session: Session):
    (bounds_finding,) = [f for f in session.findings if f.kind == "bounds"]
    return bounds_finding


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("offset", [1, -17, 40])
def test_a_cell_with_a_red_cross_is_next_to_the_array(tmp_path, offset, theme):
    traced = session(tmp_path, SHIFT.format(offset))
    moment = finding(traced).moment
    look = Theme.named(theme)
    view = show_memory(traced, float(moment), size=(700, 300), theme=look)
    first, last = view.position_of(0, 0), view.position_of(0, 15)
    cell = (last.x() - first.x()) / 15
    left, right = first.x() - cell / 2, last.x() + cell / 2
    box = (
        QRectF(right, last.y() - 15, cell, 30) if offset > 0 else QRectF(left - cell, last.y() - 15, cell, 30)
    )
    red = look.colour("bad")
    assert red_pixels(grab_image(view), box, red) > 10
    later = show_memory(traced, float(traced.end), size=(700, 300), theme=look)
    assert traced.end == moment or red_pixels(grab_image(later), box, red) == 0


def test_a_click_on_the_finding_lands_on_the_access_itself(tmp_path):
    traced = session(tmp_path, TILES, block=(4, 4, 1))
    bounds_finding = finding(traced)
    (request,) = traced.memory.request_rows(bounds_finding.moment)
    assert traced.trace.buffers[int(traced.requests.buffer[request])].name == "tile_b"
    assert bounds_finding.threads[0] == (0, 3)
    shown = outside_of(traced).accesses_of_moment(bounds_finding.moment, 0)
    assert [access.text for access in shown] == ["tile_b[0, 4]"]


def test_every_view_reports_lanes_out_of_bounds(tmp_path):
    traced = session(tmp_path, TILES, block=(4, 4, 1))
    moment, selection = finding(traced).moment, Selection(0, 3)
    assert "4 lanes out of bounds: tile_b[0, 4]" in warp_captions(traced, moment, selection)[0]
    (request,) = traced.memory.request_rows(moment)
    lanes = lanes_of(traced, request)
    assert ("4", "lanes out of bounds") in figures(lanes)
    assert lane_text(lanes, 3).endswith("accesses tile_b[0, 4], which is out of bounds.")
    rows = rows_of(traced, thread_activity(traced, selection), moment)
    assert rows["Now"] == "reads tile_b[0, 4]: out of bounds"
    assert "out of bounds" not in rows_of(traced, thread_activity(traced, Selection(0, 0)), moment)["Now"]
    assert isinstance(show_panel(ThreadView, traced, float(moment), selection), ThreadView)


def test_one_lane_is_one_lane(tmp_path):
    traced = session(tmp_path, SHIFT.format(1))
    assert "; 1 lane out of bounds: a[16]" in warp_captions(traced, finding(traced).moment, Selection())[0]


@pytest.mark.parametrize("text", [SHIFT.format(1), SHIFT.format(40)])
def test_the_timeline_has_a_mark_where_lanes_are_out_of_bounds(tmp_path, text):
    traced = session(tmp_path, text)
    view = show_timeline(traced, 0.0, size=(600, 120))
    places, red, image = view.places, view.theme.colour("bad"), grab_image(view)

    def column(moment: int) -> QRectF:
        return QRectF(
            places.x(moment) + 2, places.rows.top(), places.column(moment) - 4, places.rows.height()
        )

    marked = {moment for moment in range(1, traced.end + 1) if red_pixels(image, column(moment), red)}
    assert finding(traced).moment in marked
    assert marked == {moment for _, moment in outside_of(traced).warp_moments(0)}


def racing() -> Session:
    scenario, values, options = parse_spec(
        "matmul-tiled:m=16,k=16,n=16,tile=8,without=barrier1,schedule=random,seed=3"
    )
    launched = launch_of(scenario, values, **options)
    return build_session(launched, run(launched, lambda done, total: None), scenario)


def test_elements_that_differ_from_numpy_are_marked_and_say_what_numpy_has():
    traced = racing()
    check = traced.trace.check
    assert check is not None and check.differing > 0
    ((number, differences),) = differences_of(traced).items()
    assert traced.trace.buffers[number].name == "c" and len(differences.elements) == check.differing
    assert len(differing_now(traced, number, 0)) == 0
    assert differing_now(traced, number, traced.end).tolist() == differences.elements.tolist()
    first = int(differences.elements[0])
    assert "NumPy has " in hover_text(traced, number, first, traced.end, Selection())
    right = next(n for n in range(256) if n not in set(differences.elements.tolist()))
    assert "NumPy" not in hover_text(traced, number, right, traced.end, Selection())
    view = show_memory(traced, float(traced.end), size=(900, 800))
    image, red = grab_image(view), view.theme.colour("bad")
    places = [view.position_of(number, element) for element in (first, right)]
    boxes = [QRectF(p.x() - 9, p.y() - 9, 18, 18) for p in places]
    assert red_pixels(image, boxes[0], red) > red_pixels(image, boxes[1], red)


def test_nothing_is_marked_where_the_result_is_right():
    scenario = find("matmul-tiled")
    launched = launch_of(scenario, {"m": 16, "k": 16, "n": 16, "tile": 8})
    built = build_session(launched, run(launched, lambda done, total: None), scenario)
    assert not differences_of(built) and not len(outside_of(built))
    assert np.array_equal(differing_now(built, 2, built.end), [])
