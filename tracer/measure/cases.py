"""What to measure: from scenarios to rows, and the rows that are measured together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

import msgspec
import numpy as np

from ...kernels.scenarios import catalogue
from ...kernels.scenarios.catalogue import Scenario
from ..model.launch import Array, Launch
from ..model.plan import launch_of, parse_spec
from .measurement import Row


class Ask(msgspec.Struct, frozen=True):
    """One row to be measured."""

    scenario: str  # the catalogue's name of it
    values: dict[str, int | str]  # all of its parameters
    baseline: str = ""  # the name of one of its baselines, "" for its kernel
    first: bool = False  # whether its first call is measured too

    @property
    def needs_device(self) -> bool:
        """Whether it runs on a GPU."""
        return not self.baseline and catalogue.find(self.scenario).engine == "cuda"


def asks_of(specs: Sequence[str]) -> list[Ask]:
    """Return the rows that specs name: `NAME` with the parameters of the catalogue, `NAME:m=64` with these.

    Without specs it is all scenarios. Raises CatalogueError or PlanError.
    """
    names = list(specs) or list(catalogue.names())
    return _unique(a for spec in names for a in _asks(spec))


def _unique(asks: Iterable[Ask]) -> list[Ask]:
    return list({msgspec.json.encode(ask): ask for ask in asks}.values())


def _asks(spec: str) -> list[Ask]:
    scenario, values, _ = parse_spec(spec)
    given = [values] if ":" in spec else [catalogue.settle(scenario, timed) for timed in scenario.timed]
    asks = []
    for place, chosen in enumerate(given):
        asks.append(Ask(scenario.name, chosen, first=place == 0))
        asks += [Ask(scenario.name, chosen, b.name, first=place == 0) for b in scenario.baselines]
    return asks


def together(asks: Sequence[Ask]) -> list[list[int]]:
    """Return the places of rows that are measured in turns: those with arrays of the same sizes."""
    groups: dict[tuple[tuple[int, ...], ...], list[int]] = {}
    for place, ask in enumerate(asks):
        groups.setdefault(_sizes(launch_of_ask(ask)), []).append(place)
    return list(groups.values())


def _sizes(launch: Launch) -> tuple[tuple[int, ...], ...]:
    return tuple(a.shape for a in launch.arguments if isinstance(a, Array))


def launch_of_ask(ask: Ask) -> Launch:
    """Return the launch of a row."""
    return launch_of(catalogue.find(ask.scenario), ask.values)


def row_of(ask: Ask) -> Row:
    """Return a row without results."""
    scenario, launch = catalogue.find(ask.scenario), launch_of_ask(ask)
    plan = scenario.plan(ask.values)
    arrays = {a.name: (a.shape, a.dtype) for a in plan.arguments if a.value is None}
    baseline = next((b for b in scenario.baselines if b.name == ask.baseline), None)
    return Row(
        scenario=scenario.name,
        title=f"{scenario.title}, {baseline.title}" if baseline else scenario.title,
        baseline=ask.baseline,
        engine=_engine(scenario, ask.baseline),
        kernel=baseline.function if baseline else _kernel(scenario),
        parameters=ask.values,
        grid=launch.grid,
        block=launch.block,
        shared_bytes=launch.shared_bytes,
        arrays=arrays,
        bytes=sum(int(np.prod(shape)) * np.dtype(dtype).itemsize for shape, dtype in arrays.values()),
        flop=scenario.flop(plan),
    )


def _kernel(scenario: Scenario) -> str:
    return f"{scenario.cuda_c.file}:{scenario.cuda_c.function}" if scenario.cuda_c else scenario.kernel


def _engine(scenario: Scenario, baseline: str) -> Literal["numba-cuda", "cuda-c", "python", "numba", "numpy"]:
    for engine in ("python", "numba", "numpy"):
        if baseline == engine:
            return engine
    if scenario.engine == "python":
        return "python"
    return "cuda-c" if scenario.cuda_c else "numba-cuda"
