"""Where buffers stand in the memory view, how they become cells, and which cells are marked: pure functions."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from msgspec.structs import replace

from tilescope.app.views.common import cell_colours
from tilescope.app.views.common.descriptions import index_of
from tilescope.app.views.common.geometry import Box
from tilescope.app.views.memory import outlines
from tilescope.app.views.memory.layout.buffer_position import Metrics, snap_cell
from tilescope.app.views.memory.layout.layout import arrange, roles_of
from tilescope.app.views.memory.layout.sheet import sheet_of
from tilescope.app.views.memory.loads import bend_arcs, distinct_pairs
from tilescope.tracer.model.trace import Buffer

SIZES = st.integers(1, 300)
ROOMS = st.builds(Box, st.just(12.0), st.just(6.0), st.floats(240, 1600), st.floats(200, 1100))
METRICS = st.builds(
    Metrics, st.floats(14, 30), st.floats(10, 90), st.floats(10, 90), st.floats(10, 90), st.booleans(),
    large=st.booleans(),
)  # fmt: skip


def buffer(shape, space="global", name="a", itemsize=4):
    strides = [itemsize * math.prod(shape[axis + 1 :]) for axis in range(len(shape))]
    return Buffer(name, space, f"f{itemsize}", tuple(shape), tuple(strides), 0, itemsize, math.prod(shape))


def overlap(first, other):
    wide = min(first.right, other.right) - max(first.x, other.x)
    high = min(first.bottom, other.bottom) - max(first.y, other.y)
    return wide > 1e-6 and high > 1e-6


def assert_apart_and_inside(layout, room):
    boxes = [place.box for place in layout.places.values()]
    assert not [pair for pair in itertools.combinations(boxes, 2) if overlap(*pair)]
    for box in boxes:
        assert box.x >= room.x - 1 and box.y >= room.y - 1
        assert box.right <= room.right + 1 and box.bottom <= room.bottom + 1


@given(SIZES, SIZES, SIZES, st.lists(st.tuples(SIZES, SIZES), max_size=3), ROOMS, METRICS)
def test_a_product_of_any_size_fits_and_nothing_overlaps(m, k, n, tiles, room, metrics):
    matrices = [buffer((m, k)), buffer((k, n)), buffer((m, n))]
    shared = [buffer(shape, "shared", f"tile_{i}") for i, shape in enumerate(tiles)]
    roles = {"left": 0, "above": 1, "result": 2}
    layout = arrange([*matrices, *shared], roles, room, metrics)
    assert_apart_and_inside(layout, room)
    left, above, result = (layout.places[number] for number in range(3))
    assert left.row == pytest.approx(result.row) and left.cell == pytest.approx(above.row)
    assert above.cell == result.cell
    assert left.y == result.y and left.box.right < result.x  # rows of A and C stand in line
    assert above.x == result.x and above.box.bottom < result.y  # so do columns of B and C


@given(
    st.lists(
        st.tuples(
            st.lists(st.integers(0, 40), max_size=4),
            st.sampled_from(["global", "shared", "local", "constant"]),
        ),
        min_size=1,
        max_size=6,
    ),
    ROOMS,
    METRICS,
)
def test_any_buffers_fit_and_none_overlap(kinds, room, metrics):
    buffers = [buffer(shape, space) for shape, space in kinds]
    layout = arrange(buffers, {}, room, metrics)
    assert set(layout.places) == set(range(len(buffers)))
    assert_apart_and_inside(layout, room)


@pytest.mark.parametrize("size", [(550, 380), (900, 720)])
def test_tiles_are_enlarged_in_the_corner(size):
    tiles = [buffer((16, 16), "shared", name) for name in ("tile_a", "tile_b")]
    roles = {"left": 0, "above": 1, "result": 2}
    layout = arrange([buffer((64, 64))] * 3 + tiles, roles, Box(12, 6, *size), Metrics())
    first, other = layout.places[3], layout.places[4]
    assert first.cell == other.cell > 1.5 * layout.places[0].cell
    assert first.y == other.y and first.box.right < other.x
    assert other.box.right < layout.places[1].x and first.box.bottom < layout.places[0].y
    assert layout.caption.y >= first.box.bottom


def test_local_arrays_stand_below_the_tiles_where_that_leaves_more_room():
    matrices = [buffer((64, 32)), buffer((32, 64)), buffer((64, 64))]
    tiles = [buffer((8, 36), "shared", "tile_a"), buffer((8, 32), "shared", "tile_b")]
    locals_ = [
        buffer((4, 4), "local", "sums"),
        buffer((4,), "local", "part_a"),
        buffer((4,), "local", "part_b"),
    ]
    roles, room = {"left": 0, "above": 1, "result": 2}, Box(12, 6, 1130, 720)
    layout = arrange([*matrices, *tiles, *locals_], roles, room, Metrics())
    without = arrange([*matrices, *tiles], roles, room, Metrics())
    assert layout.places[2].cell == without.places[2].cell  # the matrices lose nothing
    for n in (5, 6, 7):
        box = layout.places[n].box
        assert box.right < layout.places[0].x and box.y > layout.caption.y
    assert layout.places[5].box.height > 2 * layout.places[6].box.height  # what a thread computes is larger
    low = arrange([*matrices, *tiles, *locals_], roles, Box(12, 6, 500, 300), Metrics())
    assert low.places[5].y > low.places[2].box.bottom  # no room beside: a strip below


@given(
    st.lists(st.lists(st.integers(1, 40), min_size=1, max_size=3), min_size=1, max_size=5), SIZES, SIZES, SIZES, ROOMS,
    METRICS,
)  # fmt: skip
def test_a_product_with_local_arrays_of_any_shape_fits(shapes, m, k, n, room, metrics):
    locals_ = [buffer(shape, "local", f"own_{i}") for i, shape in enumerate(shapes)]
    buffers = [buffer((m, k)), buffer((k, n)), buffer((m, n)), buffer((16, 17), "shared"), *locals_]
    layout = arrange(buffers, {"left": 0, "above": 1, "result": 2}, room, metrics)
    assert set(layout.places) == set(range(len(buffers)))
    assert_apart_and_inside(layout, room)


def test_in_a_lecture_cells_are_no_smaller_and_only_some_buffers_have_larger_ones():
    room, usual, large = Box(4, 3, 940, 700), Metrics(), Metrics(large=True)
    matrices = [buffer((64, 64), name=name) for name in ("a", "out")] + [buffer((32, 33), "shared", "cells")]
    before, after = (arrange(matrices, {}, room, metrics).places for metrics in (usual, large))
    assert all(after[n].cell >= before[n].cell for n in range(3)) and after[2].cell >= 1.4 * before[2].cell
    for shown in ([0], [2], [0, 2]):
        layout = arrange(matrices, {}, room, large, shown=shown)
        assert sorted(layout.places) == shown
        assert_apart_and_inside(layout, room)
        assert layout.places[shown[0]].cell >= after[shown[0]].cell
    assert arrange(matrices, {}, room, large, shown=[0]).places[0].cell > after[0].cell


def test_roles_follow_the_scenario_else_the_shapes():
    a, b, c = (buffer(shape, name=name) for shape, name in (((5, 7), "x"), ((7, 3), "y"), ((5, 3), "z")))
    assert roles_of([a, b, c], [2], {}) == {"left": 0, "above": 1, "result": 2}
    assert roles_of([c, b, a], [0], {}) == {"left": 2, "above": 1, "result": 0}
    assert roles_of([a, b, c], [], {}) == {}  # nothing is written: no result
    assert roles_of([buffer((9,)), b, c], [2], {}) == {}
    square = [buffer((4, 4), name=name) for name in "pqr"]
    named = {"p": "result", "q": "above", "r": "left"}
    assert roles_of(square, [0], named) == {"left": 2, "above": 1, "result": 0}


@given(st.lists(st.integers(1, 9), max_size=4), st.floats(0.2, 5))
def test_every_element_has_a_cell_of_its_own(shape, aspect):
    sheet, count = sheet_of(buffer(shape), aspect), math.prod(shape)
    rows, cols = sheet.cells(np.arange(count))
    here = [sheet.element(r, c) for r, c in zip(rows.tolist(), cols.tolist(), strict=True)]
    assert here == [number // sheet.channels * sheet.channels for number in range(count)]
    spread = sheet.spread(np.arange(count).reshape(shape), -1)
    assert spread.shape == (sheet.rows, sheet.cols)
    assert np.array_equal(spread[rows, cols], np.array(here, int) + sheet.channels - 1)
    assert np.count_nonzero(spread >= 0) == count // sheet.channels
    outside = [
        sheet.element(-1, 0),
        sheet.element(0, -1),
        sheet.element(sheet.rows, 0),
        sheet.element(0, sheet.cols),
    ]
    assert outside == [None] * 4


def test_the_access_index_of_an_element_follows_the_strides():
    columns = Buffer("columns", "global", "float64", (3, 2), (8, 24), 256, 8, 6)
    assert [index_of(columns, element) for element in range(6)] == columns.elements().ravel().tolist()


@given(st.sets(st.tuples(st.integers(0, 12), st.integers(0, 12)), min_size=1, max_size=60))
def test_an_outline_consists_of_the_edges_that_only_one_cell_has(cells):
    rows, cols = np.array(sorted(cells)).T
    path = outlines.outline(rows, cols)
    ends = np.stack([path.x, path.y], axis=1).reshape(-1, 2, 2).astype(int)
    drawn = set()
    for (x0, y0), (x1, y1) in ends.tolist():
        assert (x0 == x1) != (y0 == y1)
        for step in range(abs(x1 - x0) + abs(y1 - y0)):
            drawn.add((x0 + step, y0, "level") if y0 == y1 else (x0, y0 + step, "upright"))
    expected = set()
    for row, col in cells:
        edges = {
            (row - 1, col): (col, row, "level"),
            (row + 1, col): (col, row + 1, "level"),
            (row, col - 1): (col, row, "upright"),
            (row, col + 1): (col + 1, row, "upright"),
        }
        expected |= {edge for neighbour, edge in edges.items() if neighbour not in cells}
    assert drawn == expected


def test_codes_distinguish_unread_read_unwritten_and_valued_cells():
    reads = cell_colours.read_codes(np.array([[0, 1, 2, 64, 99]]), 64)
    assert reads.tolist()[0][:2] == [cell_colours.UNREAD, cell_colours.FIRST]
    assert reads[0, 2] > cell_colours.FIRST and reads[0, 3] == reads[0, 4] == cell_colours.LAST
    few = cell_colours.read_codes(np.array([[0, 1, 2, 64, 99] + [0] * 40]), 64)
    assert few.tolist() == [reads.tolist()[0] + [cell_colours.UNREAD] * 40]
    values, is_written = np.array([np.nan, 1.0, 2.0, 3.0]), np.array([False, True, True, True])
    blank = np.array([False, True, False, False])
    codes = cell_colours.value_codes(values, is_written, blank, cell_colours.ValueRange(1, 3))
    assert codes.tolist() == [
        cell_colours.POISON,
        cell_colours.UNREAD,
        (cell_colours.FIRST + cell_colours.LAST) // 2,
        cell_colours.LAST,
    ]


def test_many_cells_in_a_pixel_show_the_most_read_one():
    codes = np.full((7, 10), cell_colours.UNREAD, np.uint8)
    codes[6, 9] = cell_colours.LAST
    small = cell_colours.downsample_codes(codes, 4)
    assert small.shape == (2, 3) and small[1, 2] == cell_colours.LAST
    assert np.count_nonzero(small == cell_colours.UNREAD) == 5


def test_arcs_start_and_end_where_they_should():
    start, end = np.array([[0.0, 0.0], [10.0, 5.0]]), np.array([[100.0, 0.0], [10.0, 90.0]])
    way = bend_arcs(start, end)
    assert np.allclose(way.points_at(0.0), start) and np.allclose(way.points_at(1.0), end)
    assert (way.points_at(0.5)[0] != [50.0, 0.0]).any()  # it bends


def test_equal_ways_are_drawn_once_and_never_too_many():
    start, end = np.repeat([[1.0, 2.0]], 64, axis=0), np.repeat([[9.0, 9.0]], 64, axis=0)
    assert distinct_pairs(start, end)[0].tolist() == [[1.0, 2.0]]
    many_points = np.stack([np.arange(500.0), np.zeros(500)], axis=1)
    assert len(distinct_pairs(many_points, many_points + 1, limit=12)[0]) == 12


@pytest.mark.parametrize(("cell", "expected"), [(3.1, 3), (5.9, 5), (1.5, 1.5), (0.3, 0.3)])
def test_cells_are_integral_pixels_if_that_costs_little(cell, expected):
    assert snap_cell(cell) == expected


@pytest.mark.parametrize(
    ("shape", "dtype", "is_one"),
    [((9, 12, 3), "u1", True), ((9, 12, 4), "f4", True), ((9, 12, 3), "i4", False), ((9, 12, 2), "u1", False),
     ((2, 12, 3), "u1", False), ((2, 9, 12, 3), "u1", False)],
)  # fmt: skip
def test_an_image_has_a_cell_for_each_pixel(shape, dtype, is_one):
    sheet = sheet_of(replace(buffer(shape, itemsize=np.dtype(dtype).itemsize), dtype=dtype))
    assert (sheet.channels > 1) == is_one
    assert ((sheet.rows, sheet.cols) == shape[:2]) == is_one


@pytest.mark.parametrize("length", [*range(30, 41), 64])
def test_few_elements_have_cells_for_their_values_in_a_narrow_pane(length):
    buffers = [buffer((length,)), buffer((32,), "shared", "s"), buffer((length,), name="out")]
    layout = arrange(buffers, {}, Box(12.0, 6.0, 450.0, 560.0), Metrics(18.0, 40.0, 40.0, 40.0, large=True))
    assert min(min(place.cell, place.row) for place in layout.places.values()) >= 22


@pytest.mark.parametrize("room", [(440, 260), (440, 330), (900, 300)])
@pytest.mark.parametrize(("long", "short"), [(200, 4), (1000, 4), (256, 16)])
def test_a_short_array_next_to_a_long_one_has_room_for_its_values(long, short, room):
    layout = arrange(
        [buffer((long,)), buffer((short,), name="out")], {}, Box(12, 6, *room), Metrics(), stored={1}
    )
    assert min(layout.places[1].cell, layout.places[1].row) >= 16


@pytest.mark.parametrize("room", [(700, 330), (1200, 600), (420, 260), (1110, 560), (1110, 720)])
def test_buffers_of_one_dimension_share_a_scale(room):
    numbers = [buffer((192,), name="src"), buffer((34,), "shared", "s"), buffer((192,), name="dst")]
    layout = arrange(numbers, {}, Box(12, 6, *room), Metrics(), stored={2})
    assert len({(place.cell, place.row) for place in layout.places.values()}) == 1
    assert layout.places[1].sheet.rows == 1  # the shared elements stand in a row
    assert (
        layout.places[0].y < layout.places[1].y < layout.places[2].y
    )  # from what is read to what is written


@given(st.lists(st.integers(0, 5000), min_size=1, max_size=9), ROOMS, METRICS)
@example(
    [0, 2, 81, 648], Box(12, 6, 240, 200), Metrics(21, 10, 10, 10)
)  # lengths far apart twice over, in little room
def test_strips_of_any_lengths_fit_and_none_overlap(lengths, room, metrics):
    buffers = [buffer((length,), "shared" if length % 3 == 0 else "global") for length in lengths]
    layout = arrange(buffers, {}, room, metrics)
    assert set(layout.places) == set(range(len(buffers)))
    assert_apart_and_inside(layout, room)
