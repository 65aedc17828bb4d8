"""The histogram's picture: stacks that are true to the axis, and room for what belongs together."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import QRectF
from PySide6.QtGui import QImage, QPainter

from sessions import application, matmul, picture
from tilescope.app.views.histogram.paint import BarAxes, towers_of
from tilescope.app.views.histogram.seed_spread_paint import draw_spread, text_line
from tilescope.tracer.measure.recorded_outcomes import Spread
from views import H200, LIGHT, counter, show_histogram


def test_lanes_that_add_stand_no_higher_than_their_count():
    session = matmul("histogram-global", count=20000, num_blocks=8, threads=128)
    moment = session.end // 2
    view = show_histogram(session, moment)
    (bars,) = view.bars()
    axes = BarAxes(view.places().plots[0], 150, bars.top)
    towers = towers_of(axes, bars, LIGHT)
    lanes = np.bincount(bars.adding.bin, minlength=150)
    assert lanes.max() > 5
    for place in np.flatnonzero(lanes).tolist():
        above = float(axes.y(np.array(bars.values[place])) - towers.middle[bars.adding.bin == place, 1].min())
        counted = lanes[place] * float(axes.y(np.array(0)) - axes.y(np.array(1)))
        assert above <= counted + towers.side


@pytest.mark.parametrize("size", [(463, 290), (620, 480)])
@pytest.mark.parametrize("name", ["count-racing", "count-atomic"])
def test_additions_are_drawn_beside_the_spread_also_where_there_is_little_room(name, size):
    session = counter(name=name)
    spread = Spread((5,) * 8 + (6,) * 6 + (1, 13), 16, (H200,))
    image = picture(show_histogram(session, session.end, size=size, spread=spread))
    ground = LIGHT.colour("window")
    column = [image.pixelColor(size[0] - 14 if name == "count-atomic" else 60, y) for y in range(size[1])]
    assert column.count(ground) > 15  # of the field in which the lines stand


@pytest.mark.parametrize("high", [120, 150, 200])
def test_the_dots_of_the_spread_stay_below_its_heading(high):
    application()
    image = QImage(440, high, QImage.Format.Format_RGB32)
    image.fill(LIGHT.colour("panel"))
    painter = QPainter(image)
    draw_spread(painter, QRectF(0, 0, 440, high), Spread((5,) * 32, 32, (H200,)), 1024, LIGHT, why=False)
    painter.end()
    line = round(text_line(LIGHT))
    apart = [image.pixelColor(x, y).name() for x in range(440) for y in range(line, line + 4)]
    assert set(apart) == {LIGHT.colour("panel").name()}
