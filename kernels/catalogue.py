"""The catalogue: every scenario by its name. No numba here: NumPy and the standard library alone."""

from __future__ import annotations

from .matmul_scenarios import MATMULS
from .scenario import (
    Argument,
    CatalogueError,
    Parameter,
    PhaseText,
    Plan,
    Scenario,
    Value,
    Values,
    did_you_mean,
    settle,
)

__all__ = [
    "Argument",
    "CatalogueError",
    "Parameter",
    "PhaseText",
    "Plan",
    "Scenario",
    "Value",
    "Values",
    "did_you_mean",
    "find",
    "names",
    "scenarios",
    "settle",
]


def scenarios() -> tuple[Scenario, ...]:
    """Return all scenarios in the order in which they are taught."""
    return MATMULS


def names() -> tuple[str, ...]:
    """Return the names of all scenarios."""
    return tuple(scenario.name for scenario in scenarios())


def find(name: str) -> Scenario:
    """Return the scenario of this name; raises CatalogueError with the names that come near."""
    for scenario in scenarios():
        if scenario.name == name:
            return scenario
    raise CatalogueError(f"no scenario is called {name!r}{did_you_mean(name, names())}")
