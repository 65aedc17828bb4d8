"""What is wrong with a kernel that is shown for its fault, and for which parameters. No Qt."""

from __future__ import annotations

from ...kernels.scenario import Scenario, Values
from .wording import listed


def pitfall_text(scenario: Scenario | None) -> str:
    """Return what is wrong, and what comes out right and wrong; "" for a kernel that is right."""
    if scenario is None or not scenario.pitfall:
        return ""
    right, wrong = (
        "; ".join(values_text(scenario, values) for values in cases)
        for cases in (scenario.works, scenario.breaks)
    )
    parts = [
        scenario.pitfall,
        f"Right with {right}." if right else "",
        f"Wrong with {wrong}." if wrong else "",
    ]
    return " ".join(part for part in parts if part)


def values_text(scenario: Scenario, values: Values) -> str:
    """Return parameters as the bar calls them: M 32, K 48; the defaults of a scenario are those it opens with."""
    if not values:
        return "what it opens with"
    labels = {p.name: p.label for p in scenario.parameters}
    return listed([f"{labels[name]} {value}" for name, value in values.items()])
