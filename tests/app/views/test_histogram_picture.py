"""The histogram's picture: stacks that are true to the axis, and room for what belongs together."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import QRectF
from PySide6.QtGui import QImage, QPainter

from sessions import application, grab_image, matmul
from tilescope.app.model.session import Selection
from tilescope.app.replays.paint_recorder import record_drawing, units
from tilescope.app.views.histogram.layout import bin_middle
from tilescope.app.views.histogram.paint import BarAxes, draw_legend
from tilescope.app.views.histogram.seed_spread_paint import draw_spread, text_line
from tilescope.app.widgets.patterns import mixed
from tilescope.app.widgets.theme import Theme
from tilescope.tracer.hardware.times.recorded_outcomes import Spread
from views import H200, LIGHT, counter_session, show_histogram

SESSIONS = {
    "global": lambda: matmul("histogram-global", count=4096),
    "private": lambda: matmul("histogram-private", count=900, num_blocks=2, threads=64, bins=20),
}


@pytest.mark.parametrize("name", SESSIONS)
@pytest.mark.parametrize("share", [0.2, 0.5, 1.0])
def test_the_stack_of_lanes_ends_where_the_bar_of_the_count_after_them_ends(name, share):
    session = SESSIONS[name]()
    adds = (
        session.histogram_launch.result.moment if share == 1 else session.histogram_launch.of_samples.moment
    )
    moment = int(adds[round(share * (len(adds) - 1))])
    view = show_histogram(session, moment, Selection(), size=(1400, 280))
    assert not view.places().lanes.height  # whose lines to the stacks have the stacks' colour
    all_bars = view.bars()
    shown = next(i for i, bars in enumerate(all_bars) if len(bars.adding.bin))
    bars, plot = all_bars[shown], view.places().plots[shown]
    axes, seen = BarAxes(plot, len(bars.values), bars.top), grab_image(view)
    strong = LIGHT.colour("global store" if session.histogram_launch.races else "atomic")
    looks = {strong.name(), mixed(LIGHT.colour("panel"), strong.name(), 0.4).name()}
    tall = axes.y(bars.before) - axes.y(bars.values) > 5  # pixels: what is lower may lie behind a line
    tall &= ~np.isin(np.arange(len(tall)), bars.adding.bin[bars.adding.chosen])  # which is framed
    assert tall.any()
    for place in np.flatnonzero(tall).tolist():
        x = round(bin_middle(plot.field, len(bars.values), place))
        column = [y for y in range(int(plot.field.y), int(plot.field.bottom))
                  if seen.pixelColor(x, y).name() in looks]  # fmt: skip
        after, before = (float(axes.y(np.array(count[place]))) for count in (bars.values, bars.before))
        assert column
        assert min(column) >= after - 2
        assert max(column) <= before + 2
        assert max(column) - min(column) >= before - after - 3


@pytest.mark.parametrize("name", SESSIONS)
def test_what_stands_below_the_stack_is_the_count_of_the_moment_before(name):
    session = SESSIONS[name]()
    for moment in range(1, min(session.end, 60)):
        view = show_histogram(session, moment)
        before = show_histogram(session, moment - 1).bars()
        for bars, earlier in zip(view.bars(), before, strict=True):
            grows = np.isin(np.arange(len(bars.values)), bars.adding.bin)
            assert bars.before[~grows].tolist() == bars.values[~grows].tolist()
            least = np.minimum(earlier.values, bars.values)
            assert bars.before[grows].tolist() == least[grows].tolist()


@pytest.mark.parametrize("size", [(463, 290), (620, 480)])
@pytest.mark.parametrize("name", ["count-racing", "count-atomic"])
def test_additions_are_drawn_next_to_the_spread_also_in_little_space(name, size):
    session = counter_session(name=name)
    spread = Spread((5,) * 8 + (6,) * 6 + (1, 13), 16, (H200,))
    image = grab_image(show_histogram(session, session.end, size=size, spread=spread))
    ground = LIGHT.colour("window")
    column = [image.pixelColor(size[0] - 14 if name == "count-atomic" else 60, y) for y in range(size[1])]
    assert column.count(ground) > 15  # of the field in which the lines stand


@pytest.mark.parametrize("high", [120, 150, 200])
def test_the_dots_of_the_spread_stay_below_its_heading(high):
    application()
    image = QImage(440, high, QImage.Format.Format_RGB32)
    image.fill(LIGHT.colour("panel"))
    painter = QPainter(image)
    draw_spread(
        painter, QRectF(0, 0, 440, high), Spread((5,) * 32, 32, (H200,)), 1024, LIGHT, with_reason=False
    )
    painter.end()
    line = round(text_line(LIGHT))
    apart = [image.pixelColor(x, y).name() for x in range(440) for y in range(line, line + 4)]
    assert set(apart) == {LIGHT.colour("panel").name()}


@pytest.mark.parametrize("scale", [1.0, 1.3, 1.6])
@pytest.mark.parametrize("width", [320, 420, 640, 1200])
def test_the_legend_is_not_cut(scale, width):
    application()
    theme = Theme.named("light", scale)

    def draw(painter):
        draw_legend(painter, QRectF(0, 0, width, 30), 8, "atomic", True, "exact", theme)

    texts = [operation for operation in record_drawing(draw, width, 30).operations if operation[0] == "t"]
    words = [str(operation[-1]) for operation in texts]
    assert "8" in words and words[0].endswith("1") and not any("…" in text for text in words)
    ends = [operation[3] + operation[5] for operation in texts]
    assert max(ends) <= units(width)
    if width == 1200:
        assert words[0] == "lanes that met in a bin: 1"
