"""The cases to measure: from scenarios to cases, those measured in turns, and the row of results of each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import get_args

import msgspec
import numpy as np

from ...kernels.scenarios import catalogue
from ...kernels.scenarios.catalogue import Scenario
from ..model.launch import Array, Launch
from ..model.plan import launch_of, parse_spec
from .measurement import Engine, Row


class Case(msgspec.Struct, frozen=True):
    """What is measured for one row: a scenario or a baseline of it, with parameters."""

    scenario: str  # the catalogue's name of it
    values: dict[str, int | str]  # all of its parameters, by name
    baseline: str = ""  # the name of one of its baselines, "" for its kernel
    first: bool = False  # whether its first call is measured too

    @property
    def needs_device(self) -> bool:
        """Whether it runs on a GPU."""
        scenario = catalogue.find(self.scenario)
        if self.baseline:
            return any(b.on_device for b in scenario.baselines if b.name == self.baseline)
        return scenario.engine == "cuda"


def cases_of(specs: Sequence[str]) -> list[Case]:
    """Return the cases that specs name: `NAME` with the parameters of the catalogue, `NAME:m=64` with these.

    Without specs it is all scenarios. Raises CatalogueError or PlanError.
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
    for place, chosen in enumerate(chosen_values):
        cases.append(Case(scenario.name, chosen, first=place == 0))
        cases += [Case(scenario.name, chosen, b.name, first=place == 0) for b in scenario.baselines]
    return cases


def groups_of_equal_size(cases: Sequence[Case]) -> list[list[int]]:
    """Return the positions of cases that are measured in turns: those with arrays of the same sizes."""
    groups: dict[tuple[tuple[int, ...], ...], list[int]] = {}
    for place, case in enumerate(cases):
        groups.setdefault(_sizes(launch_of_case(case)), []).append(place)
    return list(groups.values())


def _sizes(launch: Launch) -> tuple[tuple[int, ...], ...]:
    return tuple(a.shape for a in launch.arguments if isinstance(a, Array))


def launch_of_case(case: Case) -> Launch:
    """Return the launch of a case."""
    return launch_of(catalogue.find(case.scenario), case.values)


def row_of(case: Case) -> Row:
    """Return the row of a case, without results."""
    scenario, launch = catalogue.find(case.scenario), launch_of_case(case)
    plan = scenario.plan(case.values)
    arrays = {a.name: (a.shape, a.dtype) for a in plan.arguments if a.value is None}
    baseline = next((b for b in scenario.baselines if b.name == case.baseline), None)
    return Row(
        scenario=scenario.name,
        title=baseline.title_beside(scenario.title) if baseline else scenario.title,
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
