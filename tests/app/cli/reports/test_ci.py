"""The files for CI services: the action, the template, the hook and the problem matcher, run without a network."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import textwrap

import pytest

from folders import ROOT
from patience import PATIENCE
from programs import COPY, RACE, run_tilescope

CI = ROOT / "resources" / "ci"
BASH = shutil.which("bash")
needs_bash = pytest.mark.skipif(BASH is None or os.name == "nt", reason="without bash")


def block_of(text: str, key: str) -> str:
    """Return the indented lines below a key of a YAML file."""
    match = re.search(rf"^( *)(?:- )?{re.escape(key)}\n((?:\1 +.*\n|\n)+)", text, re.MULTILINE)
    return textwrap.dedent(match[2])


def run_script(script: str, folder, **variables: str):
    """Run a script of a CI service with our `tilescope` on its PATH."""
    tools = folder / "tools"
    tools.mkdir(exist_ok=True)
    command = tools / "tilescope"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m tilescope "$@"\n')
    command.chmod(0o755)
    environment = {k: v for k, v in os.environ.items() if k != "NUMBA_ENABLE_CUDASIM"} | variables
    environment["PATH"] = f"{tools}{os.pathsep}{environment['PATH']}"
    return subprocess.run(
        [BASH, "-e", "-o", "pipefail", "-c", script],
        cwd=folder, env=environment, capture_output=True, text=True, timeout=PATIENCE, check=False,
    )  # fmt: skip


@needs_bash
@pytest.mark.parametrize(("text", "status"), [(RACE, 1), (COPY, 0)])
def test_the_action_reports_in_the_log_the_summary_and_a_file(text, status, tmp_path):
    (tmp_path / "kernels.py").write_text(text)
    script = block_of((ROOT / "action.yml").read_text(encoding="utf-8"), "run: |")
    summary = tmp_path / "summary.md"
    variables = {
        "ACTION_PATH": str(ROOT), "OPTIONS": "--ignore TS8", "PROGRAM": "kernels.py 3", "SARIF": "out.sarif",
        "GITHUB_STEP_SUMMARY": str(summary),
    }  # fmt: skip
    done = run_script(script, tmp_path, **variables)
    assert done.returncode == status, done.stderr
    first, *_, last = done.stdout.splitlines()
    assert (
        first == f"::add-matcher::{CI / 'problem-matcher.json'}"
        and last == "::remove-matcher owner=tilescope::"
    )
    results = json.loads((tmp_path / "out.sarif").read_text())["runs"][0]["results"]
    assert [result["ruleId"] for result in results] == ["TS101"] * status
    shown = summary.read_text(encoding="utf-8")
    assert shown.startswith("## Tilescope\n\n1 launch of 1 kernel traced: ")
    assert ("| TS101 race |  | 1 |  |" in shown, '"TS101 race" : 1' in shown) == (status == 1, status == 1)


@needs_bash
def test_the_action_checks_the_project_without_a_program(tmp_path):
    (tmp_path / "kernels.py").write_text(COPY)
    (tmp_path / "pyproject.toml").write_text('[tool.tilescope]\nprograms = ["kernels.py"]\n')
    script = block_of((ROOT / "action.yml").read_text(encoding="utf-8"), "run: |")
    variables = {"ACTION_PATH": str(ROOT), "OPTIONS": "", "PROGRAM": "", "SARIF": "out.sarif"}
    done = run_script(script, tmp_path, **variables, GITHUB_STEP_SUMMARY=str(tmp_path / "summary.md"))
    assert done.returncode == 0, done.stderr
    assert "no findings" in done.stdout and "No findings." in (tmp_path / "summary.md").read_text()


@needs_bash
def test_the_template_of_gitlab_writes_both_reports(tmp_path):
    (tmp_path / "kernels.py").write_text(RACE)
    text = (CI / "gitlab.yml").read_text(encoding="utf-8")
    install, check = block_of(text, "script:").splitlines()
    assert "pip install" in install
    done = run_script(
        check.removeprefix("- "), tmp_path, TILESCOPE_OPTIONS="", TILESCOPE_PROGRAM="kernels.py"
    )
    assert done.returncode == 1, done.stderr
    reports = dict(re.findall(r"^ +(codequality|junit): (\S+)$", text, re.MULTILINE))
    (issue,) = json.loads((tmp_path / reports["codequality"]).read_text())
    assert issue["check_name"] == "TS101" and "<failure" in (tmp_path / reports["junit"]).read_text()


def test_the_hook_checks_the_programs_of_the_project(tmp_path):
    text = (ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8")
    program, *words = shlex.split(re.search(r"^  entry: (.+)$", text, re.MULTILINE)[1])
    assert program == "tilescope" and "pass_filenames: false" in text
    (tmp_path / "kernels.py").write_text(RACE)
    (tmp_path / "pyproject.toml").write_text('[tool.tilescope]\nprograms = ["kernels.py"]\n')
    assert run_tilescope(*words, folder=tmp_path).returncode == 1


def test_the_problem_matcher_reads_the_concise_lines(tmp_path):
    (matcher,) = json.loads((CI / "problem-matcher.json").read_text())["problemMatcher"]
    (pattern,) = matcher["pattern"]
    (tmp_path / "race.py").write_text(RACE)
    (line,) = run_tilescope("check", "race.py", folder=tmp_path).stdout.splitlines()
    match = re.match(pattern["regexp"], line)
    assert [match[pattern[key]] for key in ("file", "line", "severity", "code")] == [
        "race.py",
        "10",
        "error",
        "TS101",
    ]
    assert match[pattern["message"]].startswith("race: 64 elements")


def test_markdown_escapes_what_a_message_contains(tmp_path):
    (tmp_path / "race.py").write_text(RACE.replace("tile", "tile_of_a"))
    done = run_tilescope("check", "--output-format", "markdown", "race.py", folder=tmp_path)
    assert r"64 elements of tile\_of\_a" in done.stdout and "```mermaid\npie showData" in done.stdout
