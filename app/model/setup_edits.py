"""Apply the toolbar's fields to setups, and compare two setups. Pure functions of plain data."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import MappingProxyType

import msgspec

from ...kernels.scenarios.catalogue import CatalogueError, Parameter, Scenario, settle
from ...tracer.model.integers import parse_integer
from ...tracer.model.launch import Schedule
from ...tracer.model.order import parse_order
from ...tracer.model.plan import parse_schedule
from .bookmark import Setup, Value
from .setup_launch import launch_of_setup
from .setup_text import option_texts, options_summary, parse_blocks, parse_resident, parse_seed

FamilySizes = Mapping[str, Mapping[str, Value]]  # values of parameters by name, by the group of scenarios
Texts = Mapping[str, str]  # of fields, by the name of their parameter or option


def parameters_of(scenario: Scenario | None, setup: Setup) -> list[Parameter]:
    """List the parameters that a setup can change: a trace file has none."""
    return [] if scenario is None or setup.file else list(scenario.parameters)


def values_of(setup: Setup, scenario: Scenario | None) -> dict[str, str]:
    """Map the names of a setup's parameters to their values as texts."""
    return {p.name: str(setup.values.get(p.name, p.default)) for p in parameters_of(scenario, setup)}


def with_field_texts(setup: Setup, scenario: Scenario | None, texts: Texts) -> Setup:
    """Apply these fields to a setup; fields that it does not have change nothing.

    If only the first block was shown because the old launch takes long, the new launch runs all its blocks.
    Raises CatalogueError or ValueError for what cannot be used.
    """
    own = {p.name for p in parameters_of(scenario, setup)}
    values = {name: text for name, text in texts.items() if name in own}
    options = {name: text for name, text in texts.items() if name in option_texts(setup)}
    if setup.cut and (values or options):
        setup = msgspec.structs.replace(setup, blocks=None, cut=False)
    if values and scenario is not None:
        setup = msgspec.structs.replace(setup, values=settle(scenario, {**setup.values, **values}))
    return _with_options(setup, options) if options else setup


def setup_of_measured(scenario: Scenario, values: Mapping[str, Value]) -> Setup:
    """Return the setup of a measured kernel; parameters that the scenario no longer has are left out.

    Raises CatalogueError for values that it no longer accepts.
    """
    own = {p.name: values[p.name] for p in scenario.parameters if p.name in values}
    return Setup(scenario.name, settle(scenario, own))


def fitting_choice(setup: Setup, scenario: Scenario | None) -> tuple[Parameter, str] | None:
    """Find a block or tile larger than every length that it divides, and the largest choice that fits.

    Return (parameter, text of the choice), None if the chosen one fits or no other choice is accepted.
    """
    texts = values_of(setup, scenario)
    for parameter in parameters_of(scenario, setup):
        lengths = [int(texts[p.name]) for p in parameters_of(scenario, setup) if p.step == parameter.name]
        if not lengths or not parameter.choices or int(texts[parameter.name]) <= max(lengths):
            continue
        choices = [int(choice) for choice in parameter.choices if int(choice) <= max(lengths)]
        for text in map(str, sorted(choices, reverse=True)):
            if not launch_problem(
                parameter.name, text, [setup], {setup.scenario: scenario} if scenario else {}
            ):
                return parameter, text
    return None


def remember_sizes(
    sizes: FamilySizes, setups: Sequence[Setup], scenarios: Mapping[str, Scenario]
) -> FamilySizes:
    """Return the sizes with the values of these setups that are no defaults; the last setup of a family wins."""
    merged = dict(sizes)
    for setup in setups:
        scenario = scenarios.get(setup.scenario)
        if scenario is not None and not setup.file:
            texts = values_of(setup, scenario)
            own = {p.name: p for p in scenario.parameters if not p.file}
            others = {name: v for name, v in merged.get(scenario.group, {}).items() if name not in own}
            chosen = {n: setup.values[n] for n, p in own.items() if texts[n] != str(p.default)}
            merged[scenario.group] = {**others, **chosen}
    return merged


def with_scenario(
    scenario: Scenario, setup: Setup, sizes: Mapping[str, Value] = MappingProxyType({})
) -> Setup:
    """Replace a setup's scenario; parameters of the same name keep values that the new scenario accepts.

    sizes: values by name that take precedence over those of the setup. An explicit order of threads is dropped.
    """
    former = {**setup.values, **sizes}
    values = {p.name: former[p.name] for p in scenario.parameters if p.name in former}
    kept = {k: v for k, v in values.items() if not problem_of(partial(settle, scenario, {k: v}))}
    return msgspec.structs.replace(
        without_order(setup), scenario=scenario.name, values=kept, blocks=None, cut=False, file="", rerun=False,
        source="", without=(),
    )  # fmt: skip


def without_order(setup: Setup) -> Setup:
    """Drop an explicit order of threads, which belongs to the launch that it was made for."""
    explicit = setup.schedule.kind == "order"
    return msgspec.structs.replace(setup, schedule=Schedule()) if explicit else setup


def without_order_of_version(setup: Setup) -> Setup:
    """Drop an order that names its version of the kernel, before another version runs."""
    order = setup.schedule.order_text
    return without_order(setup) if order and parse_order(order).version else setup


def _with_options(setup: Setup, options: Texts) -> Setup:
    texts = {**option_texts(setup), **options}
    return msgspec.structs.replace(
        setup,
        rerun=bool(setup.file),
        schedule=parse_schedule(texts["schedule"], parse_seed(texts["seed"])),
        resident=parse_resident(texts["resident"]) if "resident" in options else setup.resident,
        blocks=parse_blocks(texts["blocks"]) if "blocks" in options else setup.blocks,
    )


def problem_of(attempt: Callable[[], object]) -> str:
    """Run a call; return "" if it succeeds, else the sentence of its error."""
    try:
        attempt()
    except (CatalogueError, ValueError) as error:
        return str(error)
    return ""


def text_problem(name: str, text: str, setups: Sequence[Setup], scenarios: Mapping[str, Scenario]) -> str:
    """Find the sentence with which one of these setups refuses a field's text, or ""; it names the field's label."""
    attempts = [
        partial(with_field_texts, setup, scenarios.get(setup.scenario), {name: text}) for setup in setups
    ]
    sentence = next(filter(None, map(problem_of, attempts)), "")
    parameters = (p for setup in setups for p in parameters_of(scenarios.get(setup.scenario), setup))
    label = next((parameter.label for parameter in parameters if parameter.name == name), name)
    return re.sub(rf"^{re.escape(name)} of \S+ (?=must be )", f"{label} ", sentence)


def launch_problem(name: str, text: str, setups: Sequence[Setup], scenarios: Mapping[str, Scenario]) -> str:
    """Find the sentence with which a launch of one of these setups with a field's text is refused, or ""."""

    def attempt(setup: Setup) -> None:
        changed = with_field_texts(setup, scenarios.get(setup.scenario), {name: text})
        if not changed.file:
            launch_of_setup(changed)

    return next(filter(None, (problem_of(partial(attempt, setup)) for setup in setups)), "")


def differences(setups: Sequence[Setup], scenarios: Mapping[str, Scenario]) -> list[str]:
    """Describe what distinguishes each setup from the other: "tile 16 · type float64 · sequential", or "".

    Panes of one kernel differ in parameters, schedule and blocks; panes of other kernels differ in their titles.
    """
    if len({setup.scenario for setup in setups}) > 1 or not all(setup.scenario for setup in setups):
        return [edit_text(setup) for setup in setups]
    entries = [_entries(setup, scenarios.get(setup.scenario)) for setup in setups]
    differing = [name for name in entries[0] if len({of_setup[name][0] for of_setup in entries}) > 1]
    return [" · ".join(of_setup[name][1] for name in differing) for of_setup in entries]


def _entries(setup: Setup, scenario: Scenario | None) -> dict[str, tuple[str, str]]:
    """Map everything that may differ to (value, its text)."""
    values = values_of(setup, scenario)
    parameters = {
        p.name: (values[p.name], parameter_text(p, values[p.name])) for p in parameters_of(scenario, setup)
    }
    seed = f", seed {setup.schedule.seed}" if setup.schedule.kind == "random" else ""
    options = options_summary(setup) + seed
    edit = (f"{setup.source} {setup.without}", edit_text(setup) or "as it was")
    return {"edit": edit, **parameters, "schedule": (f"{options} {setup.blocks}", options)}


def edit_text(setup: Setup) -> str:
    """Describe the edits of a setup's kernel: "edited", "without line 48"; "" for none."""
    lines = ", ".join(map(str, setup.without))
    without = f"without line{'s' * (len(setup.without) > 1)} {lines}" if lines else ""
    return " · ".join(filter(None, ("edited" if setup.source else "", without)))


def parameter_text(parameter: Parameter, text: str) -> str:
    """Format a parameter with its value: "M 64", "tile 16", "type float64"."""
    if parameter.file:
        return f"{parameter.label} {Path(text).name or 'none'}"
    first = parameter.label.partition(" ")[0]
    label = parameter.label if len(first) == 1 else parameter.label[:1].lower() + parameter.label[1:]
    number = parse_integer(text)
    return f"{label} {number:,}" if number is not None else f"{label} {text}"
