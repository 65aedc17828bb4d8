"""The pages about scenarios and lectures, from the catalogue and the lectures' files."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from markdown import code_block, plain, replay_block, table
from program import Program

from tilescope.app.lectures.model.document import read_lecture
from tilescope.app.lectures.model.library import lecture_name, shipped_lectures
from tilescope.kernels.scenarios.catalogue import (
    CatalogueError,
    Parameter,
    Scenario,
    groups,
    scenarios,
    settle,
)
from tilescope.tracer.model.plan import launch_of

# Sizes that keep a replay small, for each parameter that a scenario has.
SMALL = {
    "m": 16, "k": 16, "n": 16, "tile": 4, "side": 2, "count": 256, "rows": 32, "cols": 32, "num_blocks": 4,
    "threads": 64, "bins": 16,
}  # fmt: skip
PYTHON = {"m": 4, "k": 8, "n": 4, "tile": 2}  # of programs that play a launch, thread by thread
LADDER = {"m": 32, "k": 16, "n": 32, "tile": 16, "side": 2}

SCENARIOS = """# Scenarios

A scenario is a kernel as a lesson, with parameters. `tilescope NAME` opens one in the window,
and `tilescope NAME NAME` opens two next to each other.

"""
LECTURES = """# Lectures

`tilescope lecture NAME` presents a lecture in the window. Here you can play each one in the browser.

"""


def scenario_pages(program: Program) -> Iterator[tuple[str, str]]:
    """Yield (path, text) of the pages about scenarios."""
    parts = []
    for group, members in groups().items():
        rows = [[f"[{s.name}]({s.name}.md)", plain(s.title), plain(s.lesson)] for s in members]
        parts.append(f"## {group}\n\n{table(['name', 'title', 'lesson'], rows)}")
    yield "scenarios/index.md", SCENARIOS + "\n\n".join(parts) + "\n"
    for scenario in scenarios():
        yield f"scenarios/{scenario.name}.md", _scenario_page(scenario, program)


def _scenario_page(scenario: Scenario, program: Program) -> str:
    spec = _spec(scenario)
    parts = [f"# {scenario.title}", plain(scenario.lesson)]
    if scenario.pitfall:
        parts.append(f'!!! warning "This kernel has a fault"\n\n    {plain(scenario.pitfall)}')
    parts.append(code_block(f"tilescope {scenario.name}", "sh"))
    replay = program.write(f"scenario-{scenario.name}.html", f"tilescope render {spec}")
    parts += ["## Replay", f"The replay shows `{spec}`.", replay_block(replay, scenario.title, 1)]
    parts += [
        "## Counters",
        code_block(f"$ tilescope counters {spec}\n{program.output(f'tilescope counters {spec}')}", "text"),
    ]
    if scenario.parameters:
        rows = [
            [f"`{p.name}`", plain(p.label), f"`{p.default}`" if p.default != "" else "", _values(p)]
            for p in scenario.parameters
        ]
        parts += ["## Parameters", table(["parameter", "label", "default", "values"], rows)]
    language = "cpp" if scenario.cuda_c else "python"
    parts += ["## Kernel", f"`{scenario.kernel}`", code_block(_kernel_text(scenario), language)]
    return "\n\n".join(parts) + "\n"


def _values(parameter: Parameter) -> str:
    """Return the values that a parameter can have."""
    if parameter.choices:
        return ", ".join(map(str, parameter.choices))
    return "a `.npy` file" if parameter.file else f"{parameter.minimum} to {parameter.maximum}"


def _spec(scenario: Scenario) -> str:
    """Return a scenario with small sizes, as the command line has it: those of SMALL that it can be launched with."""
    known = {parameter.name for parameter in scenario.parameters}
    for sizes in (PYTHON,) if scenario.engine == "python" else (SMALL, LADDER):
        values = {name: number for name, number in sizes.items() if name in known}
        try:
            launch_of(scenario, settle(scenario, values))
        except (CatalogueError, ValueError):
            continue
        return ":".join(
            [scenario.name, ",".join(f"{name}={number}" for name, number in values.items())]
        ).rstrip(":")
    return scenario.name


def _kernel_text(scenario: Scenario) -> str:
    """Return the text of a scenario's kernel, without the rest of its file."""
    source, name = launch_of(scenario, {}).source, scenario.kernel.rpartition(":")[2]
    if scenario.cuda_c:
        return source
    for node in ast.parse(source).body:
        if isinstance(node, ast.FunctionDef) and node.name == name:
            first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
            return "\n".join(source.splitlines()[first - 1 : node.end_lineno])
    return source


def lecture_pages(program: Program) -> Iterator[tuple[str, str]]:
    """Yield (path, text) of the pages about lectures."""
    files = {lecture_name(path): path for path in shipped_lectures()}
    rows = [[f"[{name}]({name}.md)", plain(read_lecture(path).title)] for name, path in files.items()]
    yield "lectures/index.md", LECTURES + table(["lecture", "title"], rows) + "\n"
    for name, path in files.items():
        yield f"lectures/{name}.md", _lecture_page(name, path, program)


def _lecture_page(name: str, path: Path, program: Program) -> str:
    lecture = read_lecture(path)
    replay = program.write(f"lecture-{name}.html", f"tilescope render {name}")
    steps = "\n".join(f"{number}. {plain(step.title)}" for number, step in enumerate(lecture.steps, 1))
    text = code_block(path.read_text(encoding="utf-8"), "markdown").replace("\n", "\n    ")
    parts = [
        f"# {plain(lecture.title)}", code_block(f"tilescope lecture {name}", "sh"), "## Replay",
        replay_block(replay, lecture.title, 1), "## Steps", steps, "## Source",
        f'??? note "The Markdown of this lecture"\n\n    {text}',
    ]  # fmt: skip
    return "\n\n".join(parts) + "\n"
