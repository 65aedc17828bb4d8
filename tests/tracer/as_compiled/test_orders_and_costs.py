"""The order in which lanes go through code, and the passes over the banks that wide accesses take."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tilescope.tracer.analysis.request_cost import new_scratch, wavefronts_by_lane, wavefronts_of
from tilescope.tracer.as_compiled.execution.block_order import Loop, dominators, order_blocks

LANES = range(32)


def every(loops: list[Loop]) -> list[Loop]:
    return [item for loop in loops for item in (loop, *every(list(loop.inner)))]


@given(st.lists(st.lists(st.integers(0, 7), max_size=2, unique=True), min_size=8, max_size=8))
def test_each_block_appears_once_and_each_loop_is_one_piece(successors):
    order, loops = order_blocks(successors)
    assert order[0] == 0 or any(0 in loop.blocks for loop in loops)
    assert len(order) == len(set(order))
    for loop in every(loops):
        places = sorted(order.index(block) for block in loop.blocks)
        assert places == list(range(places[0], places[0] + len(places)))


@given(st.lists(st.lists(st.integers(0, 7), max_size=2, unique=True), min_size=8, max_size=8))
def test_a_block_comes_behind_those_that_lead_to_it_but_for_ends_of_loops(successors):
    order, loops = order_blocks(successors)
    back = {(latch, loop.header) for loop in every(loops) for latch in loop.latches}
    irreducible = {block for loop in every(loops) for block in loop.blocks}
    for block in order:
        for following in successors[block]:
            if (block, following) not in back and not {block, following} <= irreducible:
                assert order.index(block) < order.index(following)


def test_dominators_of_a_diamond():
    assert dominators([[1, 2], [3], [3], []]) == [{0}, {0, 1}, {0, 2}, {0, 3}]


@pytest.mark.parametrize(("size", "stride", "wavefronts"), [
    # Counted on an H200: lane t reads element t * stride of 1024.
    (8, 0, 1), (8, 1, 2), (8, 2, 4), (8, 16, 32), (16, 0, 2), (16, 1, 4),
])  # fmt: skip
def test_wide_accesses_take_the_wavefronts_of_an_h200(size, stride, wavefronts):
    low = [lane * stride % 1024 * size for lane in LANES]
    assert wavefronts_by_lane(low, list(LANES), 32, size, new_scratch()) == wavefronts


def test_halves_of_a_warp_that_read_the_same_go_one_after_the_other():
    # As an H100 counted `shared sub float64`: lane t reads element t % 8.
    assert wavefronts_by_lane([lane % 8 * 8 for lane in LANES], list(LANES), 32, 8, new_scratch()) == 2
    assert wavefronts_by_lane([lane * 8 for lane in range(8)], list(range(8)), 8, 8, new_scratch()) == 1


@given(st.lists(st.integers(0, 255), min_size=1, max_size=32))
def test_narrow_accesses_go_together(words):
    low = [4 * word for word in words]
    lanes = list(range(len(low)))
    expected = wavefronts_of(low, len(low), 4, new_scratch())
    assert wavefronts_by_lane(np.array(low), np.array(lanes), len(low), 4, new_scratch()) == expected
