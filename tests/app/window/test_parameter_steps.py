"""To which values a hand moves a parameter."""

from __future__ import annotations

from itertools import islice, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tilescope.app.window.toolbar.parameter_steps import Track, next_values, unit_of
from tilescope.kernels.scenarios.catalogue import Parameter, find, scenarios

TAKEN = {p.name: p for p in find("matmul-tiled").parameters}
COPY = {p.name: p for p in find("copy-stride").parameters}


def values(parameter, text, *, up, unit, count=20):
    return list(islice(next_values(parameter, text, up=up, unit=unit), count))


@pytest.mark.parametrize(
    ("parameter", "text", "unit", "above", "below"),
    [
        (TAKEN["m"], "64", 16, ["80", "96", "112"], ["48", "32", "16", "1"]),
        (TAKEN["m"], "50", 16, ["64", "80", "96"], ["48", "32", "16", "1"]),
        (TAKEN["m"], "4090", 16, ["4096"], ["4080", "4064", "4048"]),
        (TAKEN["m"], "3", 1, ["4", "5", "6"], ["2", "1"]),
        (TAKEN["tile"], "8", 1, ["16", "32"], ["4", "2"]),
        (TAKEN["padding"], "1", 1, ["2", "3", "4"], ["0"]),
        (TAKEN["input"], "ones", 1, ["arange", "arange-ones", "twos-threes"], ["random"]),
        (COPY["count"], "100", 0, ["128", "256", "512"], ["64", "32", "16"]),
        (COPY["count"], "4", 0, ["8", "16", "32"], ["2", "1"]),
        (COPY["count"], "what", 0, ["256", "512", "1024"], ["64", "32", "16"]),
    ],
)
def test_the_values_on_both_sides(parameter, text, unit, above, below):
    assert values(parameter, text, up=True, unit=unit)[:3] == above
    assert values(parameter, text, up=False, unit=unit)[: max(3, len(below))] == below


@given(
    low=st.integers(0, 5), length=st.integers(0, 5000), start_index=st.integers(0, 6000), unit=st.integers(0, 40),
    up=st.booleans(),
)  # fmt: skip
def test_values_stay_within_bounds_and_go_one_way_to_the_last(low, length, start_index, unit, up):
    parameter = Parameter("n", "N", low, low, low + length)
    start = min(max(start_index, low), low + length)
    values = [start, *map(int, next_values(parameter, str(start), up=up, unit=unit))]
    assert all((b > a) == up and a != b for a, b in pairwise(values))
    assert values[-1] == (low + length if up else low)


def test_a_value_that_is_refused_is_passed_over_and_beyond_the_last_it_stays():
    asked = []

    def odd(text):
        asked.append(text)
        return int(text) % 2 == 1

    track = Track(TAKEN["padding"], "2", 1, odd)
    assert [track.value_at(steps) for steps in (1, 2, 3, 9, 0, -1, -5, 1)] == list("46882004")
    assert len(asked) == len(set(asked))
    assert Track(TAKEN["padding"], "2", 1, lambda text: True).value_at(3) == "2"


def test_sizes_of_matrices_go_by_tiles_and_vectors_double():
    assert unit_of(TAKEN["m"], {"tile": "8"}) == 8
    assert unit_of(TAKEN["m"], {"tile": "x"}) == 1
    assert (unit_of(COPY["count"], {}), unit_of(COPY["stride"], {}), unit_of(COPY["threads"], {})) == (
        0,
        1,
        32,
    )


def test_a_step_that_is_another_parameter_names_one_of_the_scenario():
    for scenario in scenarios():
        names = {p.name for p in scenario.parameters}
        assert {p.step for p in scenario.parameters if isinstance(p.step, str)} <= names, scenario.name
