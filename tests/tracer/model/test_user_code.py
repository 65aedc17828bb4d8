"""Findings are reported in the user's code, by the file's location, and never in a library."""

from __future__ import annotations

import importlib.metadata
import json
import os
import sysconfig
import zipfile
from pathlib import Path

import numpy as np
import pytest

from engines import assert_engines_agree, run_both
from launching import Array, launch
from programs import HEAD, check_program
from tilescope.tracer.analysis.requests import requests_of
from tilescope.tracer.findings.all_findings import findings_of
from tilescope.tracer.model import user_code
from tilescope.tracer.model.user_code import UserCode
from tilescope.tracer.simulator.numba_patch import run

DEVICE = """
import numpy as np
from numba import cuda

@cuda.jit(device=True)
def strided(a, i):
    return a[i * 16]

@cuda.jit(device=True)
def deeper(a, i):
    return -strided(a, i)

@cuda.jit(device=True)
def reversed_in(tile, t, x):
    tile[t] = x
    return tile[tile.size - 1 - t]

@cuda.jit(device=True)
def applied(function, a, i):
    return function(a, i)

@cuda.jit(device=True)
def refused(a, i):
    if i == 3:
        raise ValueError("no")
    return a[i]

@cuda.jit(device=True)
def waited(flag):
    while flag[0] == 0:
        pass
    return 1

@cuda.jit
def far(a, out):
    i = cuda.grid(1)
    out[i + 1] = a[i * 16]
"""
SITE = "env/lib/python3.99/site-packages"
USING = """
import sys
sys.path.append({folder!r})
import parts as library
from parts import applied, deeper, far, refused, reversed_in, strided, waited
"""


def put(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


# --- where a file lies


@pytest.fixture
def project(tmp_path):
    """Create the UserCode of a kernel whose folder has files of all kinds."""
    for name in (
        "kernel.py",
        "helper.py",
        "shapes/__init__.py",
        "shapes/round/ball.py",
        f"{SITE}/lib/fast.py",
    ):
        put(tmp_path / "program" / name, "")
    return UserCode(str(tmp_path / "program" / "kernel.py"))


@pytest.mark.parametrize("name", ["kernel.py", "helper.py", "shapes/round/ball.py", "later.py"])
def test_files_next_to_a_kernel_are_the_user_s(project, tmp_path, name):
    assert project.owns(str(tmp_path / "program" / name))


@pytest.mark.parametrize(
    "folder",
    [SITE, "env/Lib/site-packages", "usr/lib/python3/dist-packages", ".local/lib/python3.11/site-packages"],
)
def test_installed_files_are_a_library_s_even_in_the_program_s_folder(project, tmp_path, folder):
    assert not project.owns(str(tmp_path / "program" / folder / "lib" / "fast.py"))


def test_a_folder_of_installed_packages_is_a_library_s_whatever_its_name(project, tmp_path):
    """As by `pip install --target vendor`."""
    path = put(tmp_path / "program" / "vendor" / "lib" / "fast.py", "")
    assert project.owns(str(put(tmp_path / "program" / "own" / "lib" / "fast.py", "")))
    put(tmp_path / "program" / "vendor" / "lib-1.0.dist-info" / "METADATA", "")
    assert not project.owns(str(path))


def test_an_archive_is_a_library_s_unless_it_is_the_program(project, tmp_path):
    archive = tmp_path / "program" / "parts.zip"
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("parts.py", "")
    assert not project.owns(str(archive / "parts.py"))
    assert UserCode(str(archive / "kernel.py")).owns(str(archive / "parts.py"))


def test_files_imported_from_elsewhere_are_a_library_s(project, tmp_path):
    """A library in development is installed with --editable."""
    assert not project.owns(str(put(tmp_path / "elsewhere" / "lib" / "fast.py", "")))


def test_links_change_nothing(project, tmp_path):
    """Environments link to packages in a store; a folder of the user's may be a link too."""
    stored = put(tmp_path / "store" / "lib" / "fast.py", "")
    linked = tmp_path / "program" / SITE / "linked.py"
    linked.symlink_to(stored)
    assert not project.owns(str(linked))
    (tmp_path / "also").symlink_to(tmp_path / "program")
    assert project.owns(str(tmp_path / "also" / "helper.py"))
    assert not project.owns(str(tmp_path / "also" / SITE / "lib" / "fast.py"))


def test_a_kernel_of_a_package_owns_the_complete_package(tmp_path):
    for name in ("__init__.py", "filters/__init__.py", "filters/blur.py", "common.py"):
        put(tmp_path / "src" / "images" / name, "")
    own = UserCode(str(tmp_path / "src" / "images" / "filters" / "blur.py"))
    assert own.owns(str(tmp_path / "src" / "images" / "common.py"))


def test_python_numba_and_tilescope_are_not_the_user_s(project, monkeypatch, tmp_path):
    import numba

    for module in (os, json, np, numba, pytest, importlib.metadata, user_code):
        assert not UserCode(module.__file__).owns(module.__file__), module
    assert not project.owns("<frozen runpy>")
    assert project.owns("<string>")
    assert sysconfig.get_path("stdlib") in os.__file__
    checkout = put(tmp_path / "program" / "numba" / "__init__.py", "")
    assert project.owns(str(checkout))
    monkeypatch.setattr(numba, "__file__", str(checkout))
    assert not UserCode(str(tmp_path / "program" / "kernel.py")).owns(str(checkout))


# --- what is told


def program(tmp_path, folder, kernel):
    """Return the text of a program whose kernel uses device functions from a file in a folder."""
    put(tmp_path / folder / "parts.py", DEVICE)
    return HEAD + USING.format(folder=str(tmp_path / folder)) + kernel


WASTE = """
@cuda.jit
def gather(a, out):
    i = cuda.grid(1)
    out[i] = deeper(a, i)

gather[2, 32](np.zeros(1024, np.float32), np.zeros(64, np.float32))
"""


@pytest.mark.parametrize("engine", ["compiled", "simulator"])
@pytest.mark.parametrize(("folder", "expected"), [(SITE, []), (".", ["parts.py"])])
def test_waste_in_a_user_module_is_reported_there_and_a_library_s_nowhere(
    script, tmp_path, folder, expected, engine
):
    findings = check_program(tmp_path, script(program(tmp_path, folder, WASTE)), "--engine", engine)
    assert [Path(finding["file"]).name for finding in findings] == expected


RACE = """
@cuda.jit
def turn(a, out):
    tile = cuda.shared.array(64, np.float32)
    t = cuda.threadIdx.x
    first = reversed_in(tile, t, a[t])
    cuda.syncthreads()
    out[t] = first

turn[1, 64](np.arange(64, dtype=np.float32), np.zeros(64, np.float32))
"""


def test_a_race_in_a_library_is_reported_at_the_calling_line_by_both_engines(script, tmp_path):
    path = script(program(tmp_path, SITE, RACE))
    ours, theirs = (check_program(tmp_path, path, "--engine", engine) for engine in ("compiled", "simulator"))
    assert ours == theirs
    (finding,) = ours
    assert finding["file"] == str(path)
    assert path.read_text().splitlines()[finding["line"] - 1] == "    first = reversed_in(tile, t, a[t])"
    assert finding["remedy"] == "let each thread give reversed_in its own elements"


RANDOM = """
from numba.cuda.random import create_xoroshiro128p_states, xoroshiro128p_uniform_float32

@cuda.jit
def draw(states, out):
    out[cuda.grid(1)] = xoroshiro128p_uniform_float32(states, 0)

draw[1, 32](create_xoroshiro128p_states(32, seed=1), np.zeros(32, np.float32))
"""


@pytest.mark.parametrize("engine", ["compiled", "simulator"])
def test_a_shared_state_of_random_numbers_is_reported_where_threads_draw(script, tmp_path, engine):
    path = script(HEAD + RANDOM)
    findings = check_program(tmp_path, path, "--engine", engine)
    line = 1 + path.read_text().splitlines().index(
        "    out[cuda.grid(1)] = xoroshiro128p_uniform_float32(states, 0)"
    )
    assert {(finding["kind"], finding["file"], finding["line"]) for finding in findings} == {
        ("race", str(path), line)
    }


FAR = """
a, out = np.zeros(1024, np.float32), np.zeros(64, np.float32)
far[2, 32](
    a, out)
"""


@pytest.mark.parametrize("engine", ["compiled", "simulator"])
def test_errors_of_a_library_s_kernel_are_reported_at_its_launch_and_its_waste_nowhere(
    script, tmp_path, engine
):
    path = script(program(tmp_path, SITE, FAR))
    (finding,) = check_program(tmp_path, path, "--engine", engine)
    assert (finding["kind"], finding["file"]) == ("bounds", str(path))
    assert path.read_text().splitlines()[finding["line"] - 1] == "far[2, 32]("
    assert finding["message"].endswith(f"(in far of {tmp_path / SITE / 'parts.py'}).")


BODIES = {
    "loads": "out[t] = deeper(a, t) + strided(a, t)",
    "calls back": "out[t] = applied(own, a, t)",
    "shared memory": "tile = cuda.shared.array(32, float32)\nout[t] = reversed_in(tile, t, a[t])",
    "misses": "out[t] = strided(a, 2 * t + 3)",
    "several lines": "x = (\n  1.0 +\n  deeper(\n    a,\n    t,\n  )\n)\nout[t] = library.strided(\n  a, t\n)",
    "an error": "out[t] = refused(a, t)",
}


def kernel(tmp_path, body):
    """Return a launch of 32 threads whose kernel uses a library; `own` is a device function next to it."""
    name = f"parts_{tmp_path.name}"  # a module that no other test has imported
    put(tmp_path / SITE / f"{name}.py", DEVICE)
    using = USING.format(folder=str(tmp_path / SITE)).replace("parts", name)
    own = "@cuda.jit(device=True)\ndef own(a, i):\n    return a[i * 8]\n"
    lines = "".join(f"    {line}\n" for line in ["t = cuda.grid(1)", *body.splitlines()])
    text = f"{using}\n{own}\n@cuda.jit\ndef kernel(a, out):\n{lines}"
    return launch(tmp_path, text, (Array((1024,), fill="random"), Array((64,))), block=(32, 1, 1))


@pytest.mark.parametrize("name", BODIES)
def test_both_engines_report_the_same_places_all_of_the_user_s(tmp_path, name):
    trace = assert_engines_agree(kernel(tmp_path, BODIES[name]))
    assert {site.file for site in trace.sites} == {str(tmp_path / "kernels.py")}
    assert set(trace.sources) == {str(tmp_path / "kernels.py")}
    assert (trace.error is None) == (name != "an error")


def test_each_access_of_a_library_keeps_a_separate_site(tmp_path):
    """So that what a request is does not change: one warp at one place in a library's code."""
    for trace in run_both(kernel(tmp_path, BODIES["shared memory"])):
        lines = [site.line for site in trace.sites]
        assert len(trace.sites) == 4
        assert len(set(lines)) == 1


def test_an_error_in_a_library_is_reported_at_the_calling_line(tmp_path):
    for trace in run_both(kernel(tmp_path, BODIES["an error"])):
        assert trace.error.file == str(tmp_path / "kernels.py")
        assert "refused(a, t)" in trace.sources[trace.error.file].splitlines()[trace.error.line - 1]


def test_an_endless_wait_in_a_library_is_reported_at_the_calling_line(tmp_path):
    built = kernel(tmp_path, "out[t] = waited(out)")
    trace = run(built, lambda done, total: None)
    (finding,) = [f for f in findings_of(trace, requests_of(trace)) if f.kind == "launch"]
    assert finding.location == (
        str(tmp_path / "kernels.py"),
        1 + built.source.splitlines().index("    out[t] = waited(out)"),
    )
    assert f"on line {finding.location[1]} thread 0 of block 0" in finding.message
