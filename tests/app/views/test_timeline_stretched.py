"""A timeline stretched by a GPU's clock: where its moments stand, what it says, and that pointer and playhead agree."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import QEvent, QPointF, Qt
from PySide6.QtGui import QColor, QMouseEvent
from PySide6.QtWidgets import QApplication

from gpu_timelines import synthetic_timeline
from sessions import grab_image, matmul
from tilescope.app.model.session import Selection
from tilescope.app.widgets.theme import Theme
from tilescope.tracer.analysis.requests import REQUEST_KINDS
from tilescope.tracer.hardware.moment_clock import phase_cycles
from views import LIGHT, record_requests, show_timeline

VALUES = {"m": 20, "k": 12, "n": 28, "tile": 8}
WIDE = (1300, 150)


@pytest.fixture(scope="module")
def tiled():
    return matmul(**VALUES)


@pytest.fixture(scope="module")
def timeline(tiled):
    return synthetic_timeline(tiled.trace, VALUES)


def stretched(session, timeline, moment=9.0, selection=None, theme=LIGHT, why_not=""):
    view = show_timeline(session, moment, selection or Selection(), theme=theme)
    view.resize(*WIDE)
    view.set_timeline(timeline, True, why_not)
    view.render_moment(moment, selection or Selection())
    return view


@pytest.mark.parametrize("theme", [LIGHT, Theme.named("dark", 1.3)])
def test_moments_are_as_wide_as_they_took(tiled, timeline, theme):
    places = stretched(tiled, timeline, theme=theme).places
    widths = [places.column(moment) for moment in range(1, 45)]
    cycles = np.diff(places.clock.cycles(np.arange(1, 46, dtype=float)))
    assert np.ptp(widths) > 10
    assert widths == pytest.approx(cycles / (places.span[1] - places.span[0]) * places.rows.width(), abs=0.01)


def test_where_the_pointer_is_the_playhead_goes(tiled, timeline):
    view = stretched(tiled, timeline)
    for moment in (1.5, 8.25, 23.0, 40.75):
        assert view.places.moment(view.places.x(moment)) == pytest.approx(moment, abs=1e-3)
    asked = record_requests(view, "seek")
    position = QPointF(view.places.x(17.5), view.places.rows.center().y())
    buttons = Qt.MouseButton.LeftButton, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    QApplication.sendEvent(view, QMouseEvent(QEvent.Type.MouseButtonPress, position, position, *buttons))
    assert asked[0] == pytest.approx(17.5, abs=1e-3)


def test_a_warp_is_drawn_in_the_colour_of_its_request_and_waits_are_hatched(tiled, timeline):
    view = stretched(tiled, timeline)
    image, places = grab_image(view), view.places
    row = places.rows.top() + places.rows.height() / 4
    requests = tiled.requests
    own_requests = np.flatnonzero((requests.block == 0) & (requests.warp == 0))
    for request in own_requests[::7]:
        moment = int(requests.moment[request])
        look = QColor(LIGHT.colour(REQUEST_KINDS[requests.kind[request]]))
        assert image.pixelColor(round(places.x(moment) + 3), round(row)) == look, moment
    warp, start, stop = places.clock.waits[0]
    middle = places.clock.moment((start + stop) / 2)
    around = {image.pixel(round(places.x(middle)) + i, round(row)) for i in range(-3, 4)}
    assert around == {LIGHT.colour("panel").rgb(), LIGHT.colour("waiting").rgb()} and warp == 0


def test_the_same_moment_looks_the_same_whether_or_not_it_was_stretched_before(tiled, timeline):
    view = stretched(tiled, timeline)
    view.set_timeline(timeline, False)
    plain = show_timeline(tiled, 9.0, Selection())
    plain.resize(*WIDE)
    plain.set_timeline(timeline, False)
    plain.render_moment(9.0, Selection())
    assert grab_image(view) == grab_image(plain)
    view.set_timeline(timeline, True)
    assert grab_image(view) == grab_image(stretched(tiled, timeline))


def test_phases_carry_their_cycles_and_say_that_they_were_measured(tiled, timeline):
    view = stretched(tiled, timeline, selection=Selection(2, 0))
    cycles = phase_cycles(timeline, 2)
    band = QPointF(view.places.x(float(tiled.requests.span_start[2, 0]) + 3), view.places.bands.center().y())
    assert f"{cycles[0]:,} cycles \u00b7 measured on NVIDIA Test, 2026-11-23" in view.text_at(band)


def test_unrecorded_parts_are_shown_by_moments_and_marked(tiled):
    view = stretched(tiled, None, why_not="by moments: nobody recorded it")
    assert view.places.clock is None
    assert view.places.column(3) == pytest.approx(view.places.column(30))
    plain = show_timeline(tiled, 9.0, Selection())
    plain.resize(*WIDE)
    assert grab_image(view) != grab_image(plain)  # the sentence beside the axis


def test_an_axis_of_moments_names_no_gpu(tiled, timeline):
    view, plain = stretched(tiled, timeline), stretched(tiled, None)
    view.set_timeline(timeline, False)
    plain.set_timeline(None, False)
    assert grab_image(view) == grab_image(plain)


def test_dragging_the_axis_keeps_what_is_under_the_pointer(tiled, timeline):
    view = stretched(tiled, timeline)
    view.set_x_range(5.0, 25.0)
    places = view.places
    x = places.rows.center().x()
    moment = places.moment(x)
    view._pan(view.x_range(), 60.0)
    assert view.places.x(moment) == pytest.approx(x - 60, abs=2)


def test_a_click_in_a_band_goes_to_its_phase(tiled, timeline):
    view = stretched(tiled, timeline)
    asked = record_requests(view, "seek")
    phase = 2
    start = float(tiled.requests.span_start[0, phase] + 1)
    inside = QPointF(view.places.x(start) + 12, view.places.bands.center().y())
    view._click("bands", inside)
    assert asked[0] == start
