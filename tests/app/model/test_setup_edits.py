"""The fields of the toolbar in setups: what is refused is named as the field is, and orders belong to a launch."""

from __future__ import annotations

import pytest

from tilescope.app.model.bookmark import Setup
from tilescope.app.model.setup_edits import text_problem, with_scenario, without_order_of_version
from tilescope.kernels.scenarios.catalogue import find
from tilescope.tracer.model.launch import Schedule

SCENARIO = find("vector-increment")


@pytest.mark.parametrize("text", ["0", "abc"])
def test_a_refused_field_is_named_as_in_the_window(text):
    setups = [Setup(SCENARIO.name)]
    sentence = text_problem("count", text, setups, {SCENARIO.name: SCENARIO})
    assert sentence.startswith("Elements must be a whole number from 1 to ")
    assert text_problem("count", "8", setups, {SCENARIO.name: SCENARIO}) == ""


def test_an_explicit_order_stays_with_its_scenario_and_version():
    ordered = Setup("count-racing", schedule=Schedule("order", order="vabcdef:t1x2"))
    assert with_scenario(SCENARIO, ordered).schedule == Schedule()
    assert without_order_of_version(ordered).schedule == Schedule()
    chosen = Setup("count-racing", schedule=Schedule("order", order="t1x2"))  # of any version
    assert without_order_of_version(chosen) == chosen
    shuffled = Setup("count-racing", schedule=Schedule("random", 3))
    assert with_scenario(SCENARIO, shuffled).schedule == shuffled.schedule
