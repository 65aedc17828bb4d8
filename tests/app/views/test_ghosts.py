"""Cells that stand for accesses outside an array: none covers a cell of an array, or its name."""

from __future__ import annotations

import pytest

from tilescope.app.views.common.geometry import Box
from tilescope.app.views.common.outside import OutsideAccess
from tilescope.app.views.memory.layout.buffer_position import BufferPosition
from tilescope.app.views.memory.layout.ghosts import LARGEST, ghosts_of
from tilescope.app.views.memory.layout.sheet import wrap_buffer
from tilescope.tracer.model.trace import Buffer, Op

WINDOW = Box(0, 0, 460, 300)


def ghosts(length, width, cell, indices):
    buffer = Buffer("a", "global", "<i4", (length,), (4,), 256, 4, length)
    place = BufferPosition(wrap_buffer(buffer, width), LARGEST + 12, 60, cell)
    accesses = [OutsideAccess(0, (index,), Op.LOAD, f"a[{index}]") for index in indices]
    return place, ghosts_of(accesses, [buffer], {0: place}, WINDOW)


@pytest.mark.parametrize(("length", "width", "cell"), [(10, 10, 35.0), (96, 16, 22.0), (100, 16, 22.0)])
def test_no_ghost_covers_a_cell_another_ghost_or_the_space_below(length, width, cell):
    indices = [-2, -1, *range(length, length + 12)]
    place, cells = ghosts(length, width, cell, indices)
    boxes = [Box(*ghost.box) for ghost in cells]
    for number, box in enumerate(boxes):
        middle = (box.x + box.width / 2, box.y + box.height / 2)
        assert place.element_at(*middle) is None
        assert box.x >= 0 and box.right <= WINDOW.right
        assert box.y + box.height / 2 < place.box.bottom
        for other in boxes[:number]:
            assert min(box.right, other.right) - max(box.x, other.x) <= 1 or box.y != other.y


def test_ghosts_at_one_position_name_an_index_and_count_the_others():
    _, cells = ghosts(10, 10, 35.0, [10, 11, 12])
    assert [ghost.label for ghost in cells] == ["[10] +2"]


@pytest.mark.parametrize("gap", [13.0, 30.0, 90.0])
def test_no_ghost_covers_the_next_array(gap):
    buffer = Buffer("a", "global", "<i4", (100,), (4,), 256, 4, 100)
    sheet, cell = wrap_buffer(buffer, 8), 18.0
    places = {n: BufferPosition(sheet, 50 + n * (8 * cell + gap), 30, cell) for n in range(2)}
    accesses = [OutsideAccess(0, (i,), Op.LOAD, f"a[{i}]") for i in range(100, 128)]
    accesses += [OutsideAccess(1, (-i,), Op.LOAD, f"b[{-i}]") for i in range(1, 9)]
    cells = ghosts_of(accesses, [buffer, buffer], places, WINDOW)
    assert len(cells) >= 6
    for box in (Box(*ghost.box) for ghost in cells):
        for x in (box.x + 0.5, box.x + box.width / 2, box.right - 0.5):
            assert all(place.element_at(x, box.middle) is None for place in places.values())
    assert any("+" in ghost.label for ghost in cells)  # those without room are counted
