"""The cases to measure: reading specs, grouping cases of equal size, and the rows of results."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import get_args

import msgspec
import numpy as np

from ....kernels.scenarios import catalogue
from ....kernels.scenarios.catalogue import Scenario
from ...model.launch import Array, Launch
from ...model.plan import launch_of, parse_spec
from .measurement import Engine, Row


class Case(msgspec.Struct, frozen=True):
    """A scenario or one of its baselines, with parameters: the subject of one row."""

    scenario: str  # the name in the catalogue
    values: dict[str, int | str]  # all parameters, by name
    baseline: str = ""  # the name of a baseline, "" for the kernel
    first: bool = False  # the first call is measured too

    @property
    def needs_device(self) -> bool:
        """The case runs on a GPU."""
        scenario = catalogue.find(self.scenario)
        if self.baseline:
            return any(b.on_device for b in scenario.baselines if b.name == self.baseline)
        return scenario.engine == "cuda"


def cases_of(specs: Sequence[str]) -> list[Case]:
    """List the cases of specs: `NAME` with the catalogue's parameters, `NAME:m=64` with these.

    Without specs, list the cases of all scenarios. Raises CatalogueError or PlanError.
    """
    names = list(specs) or list(catalogue.names())
    return _unique(a for spec in names for a in _cases(spec))


def _unique(cases: Iterable[Case]) -> list[Case]:
    return list({msgspec.json.encode(case): case for case in cases}.values())


def _cases(spec: str) -> list[Case]:
    scenario, values, _ = parse_spec(spec)
    chosen_values = (
        [values] if ":" in spec else [catalogue.settle(scenario, timed) for timed in scenario.timed]
    )
    cases = []
    for index, chosen in enumerate(chosen_values):
        cases.append(Case(scenario.name, chosen, first=index == 0))
        cases += [Case(scenario.name, chosen, b.name, first=index == 0) for b in scenario.baselines]
    return cases


def groups_of_equal_size(cases: Sequence[Case]) -> list[list[int]]:
    """Group the indices of cases whose arrays have the same sizes; they are measured alternately."""
    groups: dict[tuple[tuple[int, ...], ...], list[int]] = {}
    for index, case in enumerate(cases):
        groups.setdefault(_sizes(launch_of_case(case)), []).append(index)
    return list(groups.values())


def _sizes(launch: Launch) -> tuple[tuple[int, ...], ...]:
    return tuple(a.shape for a in launch.arguments if isinstance(a, Array))


def launch_of_case(case: Case) -> Launch:
    """Describe the launch of a case."""
    return launch_of(catalogue.find(case.scenario), case.values)


def row_of(case: Case) -> Row:
    """Build the row of a case, without results."""
    scenario, launch = catalogue.find(case.scenario), launch_of_case(case)
    plan = scenario.plan(case.values)
    arrays = {a.name: (a.shape, a.dtype) for a in plan.arguments if a.value is None}
    baseline = next((b for b in scenario.baselines if b.name == case.baseline), None)
    return Row(
        scenario=scenario.name,
        title=baseline.title_with_kernel(scenario.title) if baseline else scenario.title,
        baseline=case.baseline,
        engine=_engine(scenario, case.baseline),
        kernel=baseline.function if baseline else _kernel(scenario),
        parameters=case.values,
        grid=launch.grid,
        block=launch.block,
        shared_bytes=launch.shared_bytes,
        arrays=arrays,
        bytes=sum(int(np.prod(shape)) * np.dtype(dtype).itemsize for shape, dtype in arrays.values()),
        flop=scenario.flop(plan),
    )


def _kernel(scenario: Scenario) -> str:
    return f"{scenario.cuda_c.file}:{scenario.cuda_c.function}" if scenario.cuda_c else scenario.kernel


def _engine(scenario: Scenario, baseline: str) -> Engine:
    engines: tuple[Engine, ...] = get_args(Engine)
    for engine in engines:
        if baseline == engine:
            return engine
    if scenario.engine == "python":
        return "python"
    return "cuda-c" if scenario.cuda_c else "numba-cuda"
