"""What is wrong with a kernel that is shown for its fault, and for which parameters. No Qt."""

from __future__ import annotations

from ...kernels.scenario import Scenario, Values
from .wording import listed


def pitfall_text(scenario: Scenario | None) -> str:
    """Return what is wrong, and what comes out right and wrong; "" for a kernel that is right."""
    if scenario is None or not scenario.pitfall:
        return ""
    right, wrong = (
        either([values_text(scenario, values) for values in cases])
        for cases in (scenario.works, scenario.breaks)
    )
    ends = [f"The result is right {right}." if right else "", f"It is wrong {wrong}." if wrong else ""]
    return " ".join([scenario.pitfall, *(end for end in ends if end)])


def either(words: list[str]) -> str:
    """Return words as a choice: a, b or c."""
    return " or ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def values_text(scenario: Scenario, values: Values) -> str:
    """Return parameters as the bar calls them: with M 32 and K 48; none are those that a scenario opens with."""
    if not values:
        return "as it opens"
    labels = {p.name: p.label for p in scenario.parameters}
    return f"with {listed([f'{labels[name]} {value}' for name, value in values.items()])}"
