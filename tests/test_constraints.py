"""The exact versions that script/setup installs: complete, allowed by pyproject.toml, and the ones that it takes."""

from __future__ import annotations

import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PYTHONS = [f"3.{n}" for n in range(30) if f"3.{n}" in SpecifierSet(PROJECT["project"]["requires-python"])]
PIN = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*==[0-9][0-9a-z.+]*")
TOOLS = ("bash", "cat", "cksum", "dirname", "env")  # without dpkg-query nothing of the system is looked for

PYTHON = """#!/bin/sh
case "$*" in
    *version_info*) echo 3.13 ;;
    "-m pip"*) echo "$PIP_CONSTRAINT|$PIP_BUILD_CONSTRAINT|$*" >>"{log}" ;;
esac
"""


def pins(version):
    text = (ROOT / "script" / "constraints" / f"py{version}.txt").read_text(encoding="utf-8")
    return [line for line in text.splitlines() if not line.startswith("#")]


def requirements():
    """Return every requirement of pyproject.toml: to run, the extras, and to build."""
    project = PROJECT["project"]
    extras = [text for texts in project["optional-dependencies"].values() for text in texts]
    texts = [*project["dependencies"], *extras, *PROJECT["build-system"]["requires"]]
    return [Requirement(text) for text in texts]


def test_every_supported_python_has_its_versions():
    assert len(PYTHONS) == 4
    files = {path.name for path in (ROOT / "script" / "constraints").iterdir()}
    assert files == {f"py{version}.txt" for version in PYTHONS}


@pytest.mark.parametrize("version", PYTHONS)
def test_a_line_is_a_name_and_a_version_and_nothing_else(version):
    """No address of a registry among them, which others could not reach."""
    assert [line for line in pins(version) if not PIN.fullmatch(line)] == []


@pytest.mark.parametrize("version", PYTHONS)
def test_every_requirement_has_a_version_that_it_allows(version):
    exact = dict(line.split("==") for line in pins(version))
    wrong = [str(r) for r in requirements() if exact.get(canonicalize_name(r.name), "") not in r.specifier]
    assert wrong == []


@pytest.fixture
def clone(tmp_path):
    """A folder with the scripts and an environment whose Python only notes what it is asked for."""
    folder = tmp_path / "clone"
    shutil.copytree(ROOT / "script", folder / "script")
    shutil.copy(ROOT / "pyproject.toml", folder)
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in TOOLS:
        (tools / name).symlink_to(shutil.which(name))
    for venv in (".venv", ".venv-newest"):
        python = folder / venv / "bin" / "python"
        python.parent.mkdir(parents=True)
        python.write_text(PYTHON.format(log=tmp_path / "log"))
        python.chmod(0o755)
    return folder


def installed(clone, *words):
    """Run script/setup and return what pip was asked for: (versions, versions of what builds, words)."""
    log = clone.parent / "log"
    log.write_text("")
    path = {"PATH": str(clone.parent / "tools")}
    subprocess.run([clone / "script" / "setup", *words], env=path, check=True)
    return [tuple(line.split("|")) for line in log.read_text().splitlines()]


def test_setup_installs_the_exact_versions_once_and_again_when_they_change(clone):
    exact = "script/constraints/py3.13.txt"
    ((versions, building, words),) = installed(clone, "dev")
    assert (versions, building) == (exact, exact)
    assert words.endswith("--editable .[dev]")
    assert installed(clone, "dev") == []
    with (clone / exact).open("a") as file:
        file.write("another==1\n")
    assert len(installed(clone, "dev")) == 1


def test_the_newest_versions_are_looked_up_each_time_in_a_separate_environment(clone):
    for _ in range(2):
        ((versions, building, words),) = installed(clone, "dev", "newest")
        assert (versions, building) == ("", "")
        assert "--upgrade" in words
    assert not (clone / ".venv" / "tilescope-stamp").exists()
    assert (clone / ".venv-newest" / "tilescope-stamp").exists()
