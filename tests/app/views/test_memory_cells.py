"""The codes of the cells of the memory view at a moment are those of all its values, computed anew."""

from __future__ import annotations

import math

import numpy as np
import pytest

from sessions import matmul, odd, uneven
from tilescope.app.model.session import Selection
from tilescope.app.views.common import cell_colours
from tilescope.app.views.memory.layout.sheet import sheet_of
from tilescope.app.views.memory.view_data import MemoryViewData
from tilescope.tracer.model.trace import is_poison

SESSIONS = {"matmul": lambda folder: matmul(), "uneven": uneven, "odd": odd}


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
                    found = data.codes(number, sheet, group, moment, selection)
                    np.testing.assert_array_equal(found, sheet.spread(expected, cell_colours.OUTSIDE))
                    compared += len(set(expected.ravel().tolist()))
    assert compared > 40


def test_codes_of_values_beyond_the_scale_are_its_ends():
    values = np.array([-math.inf, -5, 1, 2, 3, 9e300, math.inf, math.nan])
    codes = cell_colours.scale_codes(values, cell_colours.ValueRange(1, 3)).tolist()
    first, last, middle = cell_colours.FIRST, cell_colours.LAST, (cell_colours.FIRST + cell_colours.LAST) // 2
    assert codes == [first, first, first, middle, last, last, last, cell_colours.POISON]
