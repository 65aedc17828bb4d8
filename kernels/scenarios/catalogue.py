"""The catalogue: every scenario by its name. It needs only NumPy and the standard library, no Numba."""

from __future__ import annotations

from .compiler_scenarios import COMPILER
from .copy_scenarios import COPIES
from .count_scenarios import COUNTS, RACING
from .matmul_ladder_scenarios import LADDER
from .matmul_scenarios import MATMULS
from .matmul_variant_scenarios import PITFALLS, VARIANTS, WORK_ITEMS
from .program_scenarios import BARRIERS, CUDA_C, PYTHON
from .scenario import (
    Argument,
    Baseline,
    CatalogueError,
    CudaC,
    Parameter,
    PhaseText,
    Plan,
    Scenario,
    Value,
    Values,
    settle,
)
from .suggestions import did_you_mean
from .transpose_scenarios import TRANSPOSES
from .vector_scenarios import SUMS, TOO_FEW, VECTORS

__all__ = [
    "Argument",
    "Baseline",
    "CatalogueError",
    "CudaC",
    "Parameter",
    "PhaseText",
    "Plan",
    "Scenario",
    "Value",
    "Values",
    "find",
    "groups",
    "names",
    "scenarios",
    "settle",
]


_ALL = (
    *MATMULS, *LADDER, *VARIANTS, *WORK_ITEMS, *CUDA_C, *PYTHON, *BARRIERS, *VECTORS, *COPIES, *COUNTS, *TRANSPOSES,
    *SUMS, *COMPILER, *PITFALLS, TOO_FEW, RACING,
)  # fmt: skip


def scenarios() -> tuple[Scenario, ...]:
    """List all scenarios in teaching order."""
    return _ALL


def groups() -> dict[str, tuple[Scenario, ...]]:
    """Group the scenarios under their headings, both in teaching order."""
    headings = dict.fromkeys(scenario.group for scenario in _ALL)
    return {heading: tuple(s for s in _ALL if s.group == heading) for heading in headings}


def names() -> tuple[str, ...]:
    """List the names of all scenarios."""
    return tuple(scenario.name for scenario in scenarios())


def find(name: str) -> Scenario:
    """Look up a scenario by name; raises CatalogueError with similar names."""
    for scenario in scenarios():
        if scenario.name == name:
            return scenario
    raise CatalogueError(f"no scenario is called {name!r}{did_you_mean(name, names())}")
