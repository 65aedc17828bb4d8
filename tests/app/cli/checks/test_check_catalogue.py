"""`tilescope check` on every file of the catalogue: a program of a user's that launches the kernels in it."""

from __future__ import annotations

import json
from itertools import groupby
from pathlib import Path

import pytest

from finding_kernels import ERRORS, KERNELS, PITFALLS
from programs import run_tilescope
from tilescope.kernels.scenarios.catalogue import Scenario
from tilescope.tracer.model.launch import Array, encode
from tilescope.tracer.model.plan import launch_of

# The file is run as it stands, under its own name, and then its kernels are launched as the catalogue says.
PROGRAM = """
import importlib, sys
import numba
from tilescope.tracer.model.launch import decode
from tilescope.tracer.recording.kernel_loader import create_arguments
for text in open(sys.argv[1], encoding="utf-8"):
    launch = decode(text)
    place, _, name = launch.kernel.rpartition(":")
    module = importlib.import_module(place)
    for constant, value in launch.constants.items():
        setattr(module, constant, getattr(numba.types, value) if isinstance(value, str) else value)
    kernel = getattr(module, name)
    given, _ = create_arguments(launch, kernel)
    kernel[launch.grid, launch.block, 0, launch.shared_bytes](*given)
"""


def file_of(scenario: Scenario) -> str:
    return scenario.kernel.partition(":")[0]


def small_sizes(group: str, scenario: Scenario) -> dict[str, int]:
    """Return the sizes of a small product of several blocks; pitfalls have those at which they are wrong."""
    names = {parameter.name for parameter in scenario.parameters}
    return {} if group == PITFALLS else dict.fromkeys(names & {"m", "n"}, 32)


FILES = {
    file: [(group, scenario) for group, scenario in some]
    for file, some in groupby(sorted(KERNELS, key=lambda k: file_of(k[1])), key=lambda k: file_of(k[1]))
}


@pytest.mark.parametrize("file", FILES)
def test_check_finds_errors_only_in_the_pitfalls(tmp_path: Path, file: str) -> None:
    launches = [launch_of(scenario, small_sizes(group, scenario)) for group, scenario in FILES[file]]
    assert all(a.fill != "file" for launch in launches for a in launch.arguments if isinstance(a, Array))
    (tmp_path / "program.py").write_text(PROGRAM)
    (tmp_path / "launches").write_text("".join(f"{encode(launch)}\n" for launch in launches))
    done = run_tilescope("check", "--format", "json", "program.py", "launches", folder=tmp_path)
    errors = [finding for finding in json.loads(done.stdout) if finding["severity"] == "error"]
    expected = set().union(*(ERRORS.get(scenario.name, set()) for _, scenario in FILES[file]))
    assert {finding["kind"] for finding in errors} == expected
    assert done.returncode == bool(expected), done.stderr
    taught = {scenario.kernel.partition(":")[2] for group, scenario in FILES[file] if group != PITFALLS}
    pitfalls = {scenario.kernel.partition(":")[2] for group, scenario in FILES[file] if group == PITFALLS}
    assert {finding["kernel"] for finding in errors} <= pitfalls - taught
    assert not [f for f in json.loads(done.stdout) if f["kind"] == "float64" and f["kernel"] in taught]


def test_check_of_a_file_without_launches_reports_it(tmp_path: Path) -> None:
    (tmp_path / "all.py").write_text("".join(f"import {file}\n" for file in FILES))
    done = run_tilescope("check", "all.py", folder=tmp_path)
    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    assert done.stderr == "tilescope: the program launched no kernel, so nothing was checked.\n"
