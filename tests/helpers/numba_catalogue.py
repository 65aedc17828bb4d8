"""The catalogue as Numba runs it: each kernel in CUDA C is replaced by its twin."""

from __future__ import annotations

from tilescope.kernels.scenarios.catalogue import Scenario, find, scenarios


def numba_scenarios() -> tuple[Scenario, ...]:
    """List all scenarios with kernels in Numba or plain Python."""
    return tuple(scenario.twin or scenario for scenario in scenarios())


def find_numba(name: str) -> Scenario:
    """Look up such a scenario."""
    scenario = find(name)
    return scenario.twin or scenario
