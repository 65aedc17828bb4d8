"""Where one looks in the chart of a GPU, in words and back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tilescope.app.gpu_timelines.model.place import (
    GpuPlace,
    PanePlace,
    gpu_place_text,
    is_gpu,
    parse_gpu_place,
)

NUMBERS = st.none() | st.integers(0, 2**31 - 1)


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("gpu", GpuPlace()),
        ("gpu multiprocessor=5", GpuPlace("multiprocessor", (PanePlace(multiprocessor=5),))),
        ("gpu block=12/-", GpuPlace("block", (PanePlace(block=12), PanePlace()))),
        ("gpu block=12 warp=3", GpuPlace("warp", (PanePlace(block=12, warp=3),))),
        ("gpu size=1024 range=0:4.5", GpuPlace(panes=(PanePlace("1024"),), range=(0.0, 4.5))),
    ],
)
def test_words_mean_an_anchor_and_are_written_again(text, place):
    assert parse_gpu_place(text) == place
    assert gpu_place_text(place) == text
    assert is_gpu(text)


def test_charts_of_times_are_no_places():
    assert not is_gpu("scaling matmul-tiled") and not is_gpu("gpus") and not is_gpu("")


def test_the_last_size_goes_for_all_panes_behind_it():
    place = parse_gpu_place("gpu size=1024 block=3")
    assert place.pane(0) == PanePlace("1024", block=3)
    assert place.pane(1) == PanePlace("1024")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("gpu blok=3", "'blok=3' is not an option of the chart gpu"),
        ("gpu block", "'block' is not an option of the chart gpu"),
        ("gpu block=-1", "block=-1 is not a whole number from 0 on"),
        ("gpu block=99999999999", "not a whole number"),
        ("gpu range=4:1", "the first before the last"),
        ("gpu range=4", "write microseconds"),
        ("gpu range=0:nan", "write microseconds"),
        ("gpu size=a;b", "is not a size"),
        ("scaling", "is not a place on a GPU"),
    ],
)
def test_words_without_an_anchor_are_refused_in_a_sentence(text, why):
    with pytest.raises(ValueError, match=why) as raised:
        parse_gpu_place(text)
    assert str(raised.value).endswith((".", "?"))


@given(st.floats(0, 1e6), st.floats(0.02, 1e6))
def test_a_time_of_nanoseconds_in_a_second_comes_back(first, length):
    span = parse_gpu_place(gpu_place_text(GpuPlace(range=(first, first + length)))).range
    assert span == pytest.approx((first, first + length), abs=1e-5)


@given(st.lists(st.tuples(NUMBERS, NUMBERS), min_size=1, max_size=2))
def test_blocks_and_warps_of_any_panes_come_back(numbers):
    place = GpuPlace("warp", tuple(PanePlace(block=block, warp=warp) for block, warp in numbers))
    assert parse_gpu_place(gpu_place_text(place)) == place
