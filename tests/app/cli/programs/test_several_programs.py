"""`tilescope check` on several files: one report, the worst status, and arguments after `--`."""

import json
from xml.etree import ElementTree

import pytest

from programs import COPY, RACE, run_tilescope

ARGUMENTS = COPY + "print('got', sys.argv[1:])\n"
FAILING = COPY + "sys.exit(3)\n"


@pytest.fixture
def folder(tmp_path):
    for name, text in (
        ("good.py", COPY),
        ("race.py", RACE),
        ("arguments.py", ARGUMENTS),
        ("bad.py", FAILING),
    ):
        (tmp_path / name).write_text(text)
    return tmp_path


def test_an_error_in_the_second_file_is_reported(folder):
    done = run_tilescope("check", "good.py", "race.py", folder=folder)
    assert done.returncode == 1
    assert done.stdout.startswith("race.py:10: error: race: ") and done.stdout.count("\n") == 1
    assert "tilescope: 2 launches of 2 kernels traced: all 3 blocks, lockstep.\n" in done.stderr


def test_the_status_is_the_worst(folder):
    assert run_tilescope("check", "good.py", "arguments.py", folder=folder).returncode == 0
    assert run_tilescope("check", "race.py", "bad.py", "good.py", folder=folder).returncode == 2


def test_each_file_gets_the_arguments_after_two_dashes(folder):
    done = run_tilescope("check", "arguments.py", "good.py", "--", "race.py", "--seed", folder=folder)
    assert done.returncode == 0 and "got ['race.py', '--seed']\n" in done.stderr
    single = run_tilescope("check", "arguments.py", "--", "--format", "json", folder=folder)
    assert single.returncode == 0 and "got ['--format', 'json']\n" in single.stderr
    assert "as an argument" not in single.stderr


def test_a_missing_file_ends_the_check_before_the_first_runs(folder):
    done = run_tilescope("check", "arguments.py", "missing.py", folder=folder)
    assert done.returncode == 2 and "there is no script missing.py" in done.stderr
    assert "got" not in done.stderr


@pytest.mark.parametrize("command", ["check", "run"])
def test_a_trace_is_no_program(command, folder):
    (folder / "scan.npz").write_bytes(b"PK\0")
    done = run_tilescope(command, "scan.npz", folder=folder)
    assert done.returncode == 2
    assert done.stderr == "tilescope: scan.npz is a trace, not a program; `tilescope scan.npz` shows it.\n"


def test_words_after_several_files_need_the_dashes(folder):
    done = run_tilescope("check", "arguments.py", "good.py", "--format", "json", folder=folder)
    assert done.returncode == 2 and "got" not in done.stderr
    assert "--format stands after 2 programs; write options before the programs, and -- before" in done.stderr


@pytest.mark.parametrize("command", ["check", "run"])
@pytest.mark.parametrize("word", ["--patience", "--patiance=3"])
def test_an_option_of_ours_after_the_program_is_pointed_out(command, word, folder):
    quiet = ["--quiet"] if command == "run" else []
    done = run_tilescope(command, *quiet, "arguments.py", word, folder=folder)
    assert done.returncode == 0 and f"got ['{word}']" in done.stderr + done.stdout
    assert (
        f"tilescope: arguments.py gets {word} as an argument: options of tilescope stand before"
        in done.stderr
    )


def test_run_points_out_a_second_program(folder):
    done = run_tilescope("run", "--quiet", "arguments.py", "good.py", folder=folder)
    assert "arguments.py gets good.py as an argument: `tilescope check` takes several" in done.stderr


def test_arguments_like_no_option_are_passed_in_silence(folder):
    done = run_tilescope("check", "arguments.py", "64", "--size=3", "-x", folder=folder)
    assert "got ['64', '--size=3', '-x']" in done.stderr and "as an argument" not in done.stderr


def test_reports_name_each_program(folder):
    formats = [f"--output-format={name}={name}" for name in ("json", "junit", "sarif", "markdown", "github")]
    run_tilescope("check", *formats, "good.py", "bad.py", "race.py", folder=folder)
    data = json.loads((folder / "json").read_text())
    assert data["program"] == "good.py, bad.py, race.py" and not data["complete"]
    assert data["programs"] == [
        {"program": "good.py", "complete": True, "launches": 1},
        {"program": "bad.py", "complete": False, "launches": 1},
        {"program": "race.py", "complete": True, "launches": 1},
    ]
    suite = ElementTree.parse(folder / "junit").getroot()
    broken = [case for case in suite.iter("testcase") if case.find("error") is not None]
    assert [case.get("classname") for case in broken] == ["bad.py"]
    assert len(list(suite.iter("failure"))) == 1
    run = json.loads((folder / "sarif").read_text())["runs"][0]
    assert run["invocations"][0]["executionSuccessful"] is False
    files = [r["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for r in run["results"]]
    assert files == ["race.py"]
    assert "**bad.py did not run to its end.**" in (folder / "markdown").read_text()
    assert "::error file=race.py,line=10" in (folder / "github").read_text()


def test_each_clean_program_is_a_test_that_passes(folder):
    done = run_tilescope("check", "--output-format", "junit", "good.py", "arguments.py", folder=folder)
    suite = ElementTree.fromstring(done.stdout)
    assert [case.get("classname") for case in suite.iter("testcase")] == ["good.py", "arguments.py"]
