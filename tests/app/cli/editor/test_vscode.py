"""The extension for VS Code, in Node.js with a stand-in for the editor."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from folders import ROOT
from patience import PATIENCE
from programs import RACE
from tilescope.app.cli.editor.server import CHECK, MODES

EXTENSION = ROOT / "editors" / "vscode"
SESSION = Path(__file__).with_name("vscode_session.js")
SERVER = [sys.executable, "-m", "tilescope", "server"]
needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="needs Node.js")


def session(path, answer, *command):
    path.write_text(RACE)
    done = subprocess.run(
        ["node", str(SESSION), str(EXTENSION / "extension.js"), str(path), answer, *command],
        capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@needs_node
def test_the_extension_asks_and_shows_findings_counters_and_actions(tmp_path):
    shown = session(tmp_path / "race.py", "Run", *SERVER)
    ((question, titles),) = shown["messages"]
    assert question.startswith("Tilescope runs race.py") and titles[0] == "Run"
    (diagnostic,) = shown["diagnostics"]
    assert (diagnostic["code"], diagnostic["severity"]) == ("TS101", 0)
    assert [related["location"]["range"][0]["line"] for related in diagnostic["relatedInformation"]] == [8, 9]
    assert "| shared load instructions | 2 | 2 |" in shown["hover"]
    remedy, suppression = shown["actions"]
    (edit,) = remedy["edit"]["edits"]
    assert edit["text"] == "    cuda.syncthreads()\n" and edit["start"] == edit["end"]
    assert suppression["title"] == "Suppress TS101 here with a comment"
    assert any("1 launch of 1 kernel traced" in line for line in shown["log"])


@needs_node
def test_the_command_checks_without_a_question(tmp_path):
    shown = session(tmp_path / "race.py", "", *SERVER)
    assert len(shown["diagnostics"]) == 1 and not shown["messages"]


@needs_node
def test_a_server_that_does_not_start_is_reported(tmp_path):
    path = tmp_path / "race.py"
    path.write_text(RACE)
    command = ["node", str(SESSION), str(EXTENSION / "extension.js"), str(path), "Run", "no-such-tilescope"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.returncode == 1 and "no-such-tilescope does not start" in done.stderr


def test_its_settings_are_the_server_s():
    package = json.loads((EXTENSION / "package.json").read_text(encoding="utf-8"))
    settings = package["contributes"]["configuration"]["properties"]
    assert tuple(settings["tilescope.run"]["enum"]) == MODES
    # The settings of a repository can't make its files run.
    assert settings["tilescope.run"]["scope"] == "application"
    assert settings["tilescope.command"]["scope"] == "machine"
    assert not package["capabilities"]["untrustedWorkspaces"]["supported"]
    assert {"dependencies", "devDependencies", "scripts"}.isdisjoint(package)
    text = (EXTENSION / package["main"]).read_text(encoding="utf-8")
    assert f'"{CHECK}"' in text
    assert all(f'"{command["command"]}"' in text for command in package["contributes"]["commands"])
