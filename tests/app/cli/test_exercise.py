"""`tilescope exercise`: lists, shows, writes stubs, and checks with a status and a JSON object that graders rely on."""

from __future__ import annotations

import json
import shutil
from types import SimpleNamespace

import pytest

from exercises import EXERCISES, RIGHT, STUB, warm_judge, write_exercise
from folders import ROOT
from tilescope.app.cli import exercise as command
from tilescope.app.cli.main import main
from tilescope.app.exercises.model.progress import FILE
from tilescope.tracer.model.counter_names import NAMES

FOLDER = ("--folder", str(EXERCISES))


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    """A user without progress, in a folder of her own, whose checks share a warm judge."""
    monkeypatch.setenv("TILESCOPE_HOME", str(tmp_path / "home"))
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    monkeypatch.setattr(
        command, "Judge", lambda: SimpleNamespace(judge=warm_judge().judge, close=lambda: None)
    )
    return tmp_path / "work"


def run_command(capsys, *words):
    """Return status, output and errors of a command."""
    status = main(["exercise", *words])
    output = capsys.readouterr()
    return status, output.out, output.err


def test_the_list_marks_finished_exercises(home, capsys):
    assert run_command(capsys, *FOLDER) == (0, "1  add-ten  Add ten\n", "")
    (home / "add-ten.py").write_text(RIGHT)
    status, output, _ = run_command(capsys, "check", "add-ten.py", *FOLDER)
    assert status == 0 and output.splitlines()[-1] == "Add ten: passed"
    assert run_command(capsys, *FOLDER) == (0, "1  add-ten  Add ten  done\n", "")


def test_the_shipped_ones_are_listed(capsys):
    assert run_command(capsys)[0] == 0


def test_the_mistakes_of_a_folder_are_reported_with_status_1(home, capsys):
    write_exercise(home, goals="few: global_load_bytes < colour(3)\nx: 1")
    status, output, _ = run_command(capsys, "--folder", ".")
    assert status == 1 and "01-ten.md:8: 1 is neither true nor false" in output
    status, _, error = run_command(capsys, "ten", "--folder", ".")
    assert status == 2 and error.startswith("tilescope: the exercise ten has a mistake: 01-ten.md:8: ")


def test_a_damaged_progress_is_one_sentence_and_is_kept(home, capsys):
    path = home.parent / "home" / "config" / FILE
    path.parent.mkdir(parents=True)
    path.write_text("{")
    status, output, error = run_command(capsys, *FOLDER)
    assert (status, output) == (0, "1  add-ten  Add ten\n")
    assert error.count("\n") == 1 and "the file is kept" in error and path.read_text() == "{"


def test_one_is_worked_at_in_the_window(capsys, monkeypatch):
    opened = []
    monkeypatch.setattr(command, "has_display", lambda: True)
    monkeypatch.setattr(command, "show_exercise", lambda path: opened.append(path) or 0)
    assert run_command(capsys, str(EXERCISES / "add-ten")) == (0, "", "")
    assert opened == [EXERCISES / "01-add-ten.md"]


def test_one_is_printed_with_its_task_and_goals_where_there_is_no_display(capsys, monkeypatch):
    monkeypatch.setattr(command, "has_display", lambda: False)
    status, output, _ = run_command(capsys, str(EXERCISES / "add-ten"))
    assert status == 0
    assert output.startswith(
        "1. Add ten\n\nWrite to each element of out the element of a at the same place, plus ten."
    )
    assert "Goal: each element is read once (global_load_bytes == 4 * n)." in output
    assert "cuda.grid" not in output  # hints come when they are asked for


def test_the_stub_is_written_once_and_overwrites_nothing(home, capsys):
    assert run_command(capsys, "add-ten", *FOLDER, "-o", "my.py")[:2] == (0, "my.py\n")
    assert (home / "my.py").read_text() == STUB.rstrip() + "\n"
    (home / "my.py").write_text("mine")
    status, _, error = run_command(capsys, "add-ten", *FOLDER, "-o", "my.py")
    assert status == 2 and "my.py exists and is not overwritten" in error
    assert (home / "my.py").read_text() == "mine"
    assert "can't be written" in run_command(capsys, "add-ten", *FOLDER, "-o", "no/my.py")[2]


def test_a_check_reports_mistakes_in_lines_that_editors_follow(home, capsys):
    (home / "01-add-ten.py").write_text(RIGHT.replace("< out.size", "<= out.size"))
    status, output, error = run_command(capsys, "check", "01-add-ten.py", *FOLDER)
    assert (status, error) == (1, "")
    lines = output.splitlines()
    assert lines[0] == "case 1, 3 blocks of 4 threads, n = 10: right"
    assert lines[2].startswith("01-add-ten.py:9: error: bounds: 1 access to a on line 9 is outside it")
    assert lines[2].endswith(" (case 1).")
    assert lines[3].startswith(
        "goal met: each element is read once: global_load_bytes == 4 * n, with global_load"
    )
    assert lines[-1] == "Add ten: not passed yet"
    (home / "01-add-ten.py").write_text("def add_ten(a, out)\n")
    status, output, _ = run_command(capsys, "check", "01-add-ten.py", *FOLDER)
    assert status == 1 and output.startswith("01-add-ten.py:1: Syntax error: expected ':'.\n")


def test_a_wrong_result_is_reported_with_its_first_element(home, capsys):
    (home / "add-ten.py").write_text(RIGHT.replace("+ 10", "+ (10 if i < 7 else 9)"))
    status, output, _ = run_command(capsys, "check", "add-ten.py", *FOLDER)
    assert status == 1
    assert output.splitlines()[0] == (
        "case 1, 3 blocks of 4 threads, n = 10: wrong, 3 of 10 elements of out; out[7] is 16.0, expected 17.0; "
        "off by 1 at most"
    )


FINDING = {
    "kind": str,
    "severity": str,
    "file": str,
    "line": int,
    "message": str,
    "moment": int,
    "remedy": str,
}
WRONG = {
    "argument": str, "differing": int, "elements": int, "index": list, "got": str, "expected": str,
    "largest_error": (float, type(None)), "untouched": bool,
}  # fmt: skip
CASE = {
    "case": int, "grid": list, "block": list, "correct": bool, "error": str, "line": int, "wrong": list,
    "findings": list, "counters": dict, "sizes": dict, "engine": str, "seconds": float,
}  # fmt: skip
VERDICT = {
    "exercise": str, "file": str, "passed": bool, "error": str, "line": int, "cases": list, "compiler": list,
    "goals": list, "counters": dict, "stub_counters": dict, "seconds": float,
}  # fmt: skip
GOAL = {"words": str, "met": bool, "needs": str, "measured": str}


def has_shape(data, shape):
    return data.keys() == shape.keys() and all(isinstance(data[key], kind) for key, kind in shape.items())


@pytest.mark.parametrize("body", ["a[i] + 10", "a[i] + np.nan", "max([a[i]])", "a[i + 3]", "b", "a["])
def test_json_has_the_keys_that_the_document_describes(home, capsys, body):
    (home / "mine.py").write_text(RIGHT.replace("a[i] + 10", body))
    status, output, _ = run_command(
        capsys, "check", "mine.py", *FOLDER, "--exercise", "add-ten", "--format", "json"
    )
    data = json.loads(output)
    assert status == (0 if data["passed"] else 1)
    assert (
        data["passed"] == (body == "a[i] + 10")
        and data["exercise"] == "add-ten"
        and data["file"] == "mine.py"
    )
    findings = [*data["compiler"], *(f for case in data["cases"] for f in case["findings"])]
    wrong = [w for case in data["cases"] for w in case["wrong"]]
    groups = (
        (VERDICT, [data]),
        (CASE, data["cases"]),
        (GOAL, data["goals"]),
        (FINDING, findings),
        (WRONG, wrong),
    )
    for shape, some in groups:
        assert all(has_shape(item, shape) for item in some), some
    assert {f["file"] for f in findings} <= {"mine.py"}
    assert all(set(case["counters"]) in (set(NAMES), set()) for case in data["cases"])
    if body == "a[i] + 10":
        assert data["cases"][1]["sizes"] == {"n": 1000} and data["counters"]["global_load_bytes"] == 4000
        assert not (home.parent / "home" / "config" / FILE).exists()  # a grader's run records no progress


def test_every_key_of_the_json_is_described():
    text = (ROOT / "docs/pages/how-to/exercises.md").read_text(encoding="utf-8")
    described = text.partition("## Grading")[2]
    for key in (*VERDICT, *CASE, *GOAL, *WRONG, *FINDING):
        assert f"`{key}`" in described, key


def test_the_exercise_is_chosen_by_the_file_s_name_or_by_its_kernel(home, capsys):
    for name in ("add-ten.py", "01-add-ten.py", "anything.py"):
        (home / name).write_text(RIGHT)
        assert run_command(capsys, "check", name, *FOLDER)[0] == 0
    (home / "other.py").write_text(RIGHT.replace("add_ten", "add"))
    status, output, error = run_command(capsys, "check", "other.py", *FOLDER)
    assert (status, output) == (
        2,
        "",
    ) and "with --exercise NAME: neither its name nor a kernel in it belongs to" in error
    shutil.copytree(EXERCISES, home / "two")
    for ending in ("md", "py"):
        shutil.copy(EXERCISES / f"01-add-ten.{ending}", home / "two" / f"02-again.{ending}")
    status, _, error = run_command(capsys, "check", "anything.py", "--folder", "two")
    assert status == 2 and "several exercises have its kernel: add-ten, again" in error


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("check",), "name exactly one file to check"),
        (("check", "a.py", "b.py"), "name exactly one file to check"),
        (("check", "none.py"), "There is no file none.py"),
        (("check", "."), "can't be read"),
        (("nine", *FOLDER), "There is no exercise nine; there is add-ten."),
        (("add-ten", "more", *FOLDER), "name one exercise, not"),
        (("--folder", "none"), "There is no folder none"),
        (("-o", "a.py"), "name the exercise of the stub"),
        (("add-ten", *FOLDER, "--format", "json"), "need check"),
    ],
)
def test_what_cannot_be_done_is_one_sentence_with_status_2(capsys, words, message):
    status, output, error = run_command(capsys, *words)
    assert (status, output) == (2, "") and message in error and error.count("\n") == 1


def test_an_exercise_that_cannot_judge_is_status_2_and_no_output(home, capsys):
    write_exercise(home, "def cases():\n    yield 3\n")
    (home / "ten.py").write_text(RIGHT)
    status, output, error = run_command(capsys, "check", "ten.py", "--folder", ".", "--format", "json")
    assert (
        (status, output) == (2, "")
        and "The exercise ten can't be judged: " in error
        and "it is int, not a dict" in error
    )


def test_a_remedy_is_printed_once_it_is_proven(home, capsys):
    assert run_command(capsys, "centre", "-o", "centre.py")[0] == 0  # its stub has a race
    status, output, _ = run_command(capsys, "check", "centre.py", "--format", "json")
    races = [
        finding
        for case in json.loads(output)["cases"]
        for finding in case["findings"]
        if finding["kind"] == "race"
    ]
    assert status == 1 and races
    for race in races:
        assert race["remedy"].startswith("put cuda.syncthreads() ") and race["remedy"] in race["message"]


DOT_WITHOUT_BARRIERS = """from numba import cuda, float32


@cuda.jit
def dot(a, b, total):
    part = cuda.shared.array(64, float32)
    i, t = cuda.grid(1), cuda.threadIdx.x
    part[t] = a[i] * b[i] if i < a.shape[0] else 0
    step = 32
    while step > 0:
        if t < step:
            part[t] += part[t + step]
        step //= 2
    if t == 0:
        cuda.atomic.add(total, 0, part[0])
"""


def test_two_races_on_one_line_are_both_printed_each_with_its_own_remedy(home, capsys):
    (home / "dot.py").write_text(DOT_WITHOUT_BARRIERS)
    status, output, _ = run_command(capsys, "check", "dot.py", "--exercise", "dot")
    first, second = (line for line in output.splitlines() if "error: race: " in line)
    assert status == 1
    assert "written on line 8 and read on line 12" in first
    assert "put cuda.syncthreads() between line 8 and line 10" in first
    assert "written on line 12 and read on line 12" in second
    assert "put cuda.syncthreads() after line 12, outside the branch of line 11" in second
