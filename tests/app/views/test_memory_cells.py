"""The cells of the memory view: their codes at a moment, and the lines between them, are what the slow way gives."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest
from PySide6.QtCore import QLineF, QRect
from PySide6.QtGui import QColor, QPainter, QPixmap

from sessions import application, matmul, odd_session, uneven_session
from tilescope.app.model.session import Selection
from tilescope.app.views.common import cell_colours
from tilescope.app.views.common.drawing import pen
from tilescope.app.views.memory.layout.buffer_position import BufferPosition
from tilescope.app.views.memory.layout.sheet import Sheet, sheet_of
from tilescope.app.views.memory.outlines import CellRect
from tilescope.app.views.memory.paint import draw_grid_pixels, grid_pixels, lines_of
from tilescope.app.views.memory.view_data import MemoryViewData
from tilescope.tracer.model.trace import is_poison

SESSIONS = {"matmul": lambda folder: matmul(), "uneven": uneven_session, "odd": odd_session}


@pytest.mark.parametrize("make", SESSIONS.values(), ids=SESSIONS)
def test_codes_of_a_moment_are_those_of_all_its_values(make, tmp_path):
    session = make(tmp_path)
    data, memory, compared = MemoryViewData(session), session.memory, 0
    for block in session.trace.blocks[:2].tolist():
        selection = Selection(block, 3)
        for group in data.groups("value", selection):
            for number in (n for n in group.buffers if group.measure == "value"):
                for moment in np.linspace(0, session.end, 7).astype(int).tolist():
                    values = memory.values(number, moment, block, selection.thread)
                    written = memory.written(number, moment, block, selection.thread)
                    blank = ~written & (number in data.stored - data.loaded)
                    expected = cell_colours.value_codes(
                        values, written | ~is_poison(values), blank, group.span
                    )
                    sheet = sheet_of(session.trace.buffers[number])
                    codes = data.codes(number, sheet, group, moment, selection)
                    np.testing.assert_array_equal(codes, sheet.spread(expected, cell_colours.OUTSIDE))
                    compared += len(set(expected.ravel().tolist()))
    assert compared > 40


def test_codes_of_values_beyond_the_scale_are_its_ends():
    values = np.array([-math.inf, -5, 1, 2, 3, 9e300, math.inf, math.nan])
    codes = cell_colours.scale_codes(values, cell_colours.ValueRange(1, 3)).tolist()
    first, last, middle = cell_colours.FIRST, cell_colours.LAST, (cell_colours.FIRST + cell_colours.LAST) // 2
    assert codes == [first, first, first, middle, last, last, last, cell_colours.POISON]


def blue(ratio: float) -> QPixmap:
    pixmap = QPixmap(round(160 * ratio), round(160 * ratio))
    pixmap.setDevicePixelRatio(ratio)
    pixmap.fill(QColor(40, 90, 160))
    return pixmap


@pytest.mark.parametrize("seed", range(60))
def test_a_grid_has_the_pixels_that_lines_would_have(seed):
    print("seed", seed)
    application()
    chance = random.Random(seed)
    ratio, colour = chance.choice([1, 1, 1.1, 1.25, 1.5, 2, 3]), QColor(255, 255, 255, 107)
    rows, cols = chance.randint(1, 8), chance.randint(1, 8)
    left, top = (chance.choice([10, 10.5, chance.uniform(0, 30)]) for _ in "xy")
    cell = chance.choice([4, 6, 8, chance.uniform(4, 20)])
    place = BufferPosition(Sheet(rows * cols, 1, rows, cols), left, top, cell, tall=chance.choice([1, 2.3]))
    part = CellRect(0, 0, rows, chance.randint(1, cols))
    clip = QRect(*(chance.randint(0, 3) for _ in "xy"), *(chance.randint(60, 150) for _ in "xy"))
    plain, drawn, filled = blue(ratio), blue(ratio), blue(ratio)
    xs, ys = lines_of(place, part)
    with QPainter(drawn) as painter:
        painter.setClipRect(clip)
        painter.setPen(pen("#FFFFFF", 1 / ratio, colour.alpha()))
        painter.drawLines([QLineF(x, ys[0], x, ys[-1]) for x in xs])
        painter.drawLines([QLineF(xs[0], y, xs[-1], y) for y in ys])
    with QPainter(filled) as painter:
        painter.setClipRect(clip)
        draw_grid_pixels(painter, grid_pixels(place, part, ratio, colour.rgba()), ratio)
    assert filled.toImage() == drawn.toImage() != plain.toImage()
