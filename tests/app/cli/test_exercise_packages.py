"""`tilescope exercise NAME --for GRADER`: the files of an assignment, whose cells and tests judge."""

from __future__ import annotations

import subprocess
import sys

import pytest

from exercises import EXERCISES
from notebook_files import cells_of
from notebook_shell import outputs_of
from patience import PATIENCE
from tilescope.app.cli.main import main
from tilescope.app.exercises.model.library import exercise_named, with_seed

FOLDER = ("--folder", str(EXERCISES))
RIGHT = ("out[i] = 0", "out[i] = a[i] + 10")


def written(tmp_path, grader, name="map", *options):
    """Write a package, and return its folder."""
    assert main(["exercise", name, "--for", grader, "-o", str(tmp_path / grader), *options]) == 0
    return tmp_path / grader


def codes(cells):
    return [cell.source for cell in cells if cell.cell_type == "code"]


def test_nbgrader_gets_a_locked_cell_that_fails_with_the_verdict(tmp_path):
    path = (
        written(tmp_path, "nbgrader", "two-dimensions", "--seed", "7")
        / "source/two-dimensions/two-dimensions.ipynb"
    )
    cells = cells_of(path)
    [graded] = [cell for cell in cells if "nbgrader" in cell.metadata]
    assert graded.metadata.nbgrader == {
        "cell_type": "code", "grade": True, "grade_id": "judge-two-dimensions", "locked": True, "points": 1,
        "schema_version": 3, "solution": False, "task": False,
    }  # fmt: skip
    stub, judge = codes(cells)
    assert judge == graded.source
    assert stub == with_seed(exercise_named("two-dimensions"), 7).stub.strip("\n")
    right = stub[: stub.index("    if x")] + (
        "    if x < image.shape[1] and y < image.shape[0]:\n        out[y, x] = WHITE - image[y, x]\n"
    )
    wrong, passed = outputs_of(stub, judge, right, judge)[1::2]
    assert wrong[0]["text/html"].count("<iframe") == 1
    assert wrong[1]["error"].startswith("AssertionError: case 1, 2 x 2 blocks")
    assert [shown["text/plain"].splitlines()[-1] for shown in passed] == [
        "Two dimensions: a thread for each pixel: passed"
    ]


def test_otter_gets_a_master_notebook(tmp_path, monkeypatch):
    cells = cells_of(written(tmp_path, "otter", "add-ten", *FOLDER) / "add-ten.ipynb")
    raw = [cell.source for cell in cells if cell.cell_type == "raw"]
    assert raw[0].startswith("# ASSIGNMENT CONFIG\nname: add-ten\n")
    assert "files:\n  - exercise/01-add-ten.md\n" in raw[0]
    assert [text.splitlines()[0] for text in raw[1:]] == [
        "# BEGIN QUESTION", "# BEGIN TESTS", "# END TESTS", "# END QUESTION"
    ]  # fmt: skip
    stub, check, test = codes(cells)
    monkeypatch.chdir(tmp_path / "otter")
    shown = outputs_of(
        stub, check, test, "test_add_ten(add_ten)", stub.replace(*RIGHT), "test_add_ten(add_ten)"
    )
    assert shown[1][0]["text/plain"].endswith("Add ten: not passed yet")
    assert shown[3][0]["error"].startswith("AssertionError: case 1, ")
    assert shown[5] == []


@pytest.mark.parametrize("language", ["numba", "broken"])
def test_classroom_gets_a_test_whose_feedback_replays_the_failure(tmp_path, language):
    folder = written(tmp_path, "classroom", "add-ten", *FOLDER)
    workflow = (folder / ".github/workflows/classroom.yml").read_text("utf-8")
    assert "command: python -m pytest -q test_add_ten.py\n" in workflow
    assert 'JUDGE_RESULTS: "${{steps.judge.outputs.result}}"' in workflow
    assert (folder / "README.md").read_text("utf-8").startswith("# Add ten\n")
    assert (folder / "01-add-ten.svg").is_file()
    test = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_add_ten.py"]

    def run() -> subprocess.CompletedProcess[str]:
        return subprocess.run(test, cwd=folder, capture_output=True, text=True, timeout=PATIENCE)

    stub = (folder / "add-ten.py").read_text("utf-8")
    if language == "broken":
        (folder / "add-ten.py").write_text("def add_ten(", "utf-8")
        done = run()
        assert done.returncode == 1
        assert "Syntax error: " in done.stdout
        assert "Syntax error: " in (folder / "feedback.html").read_text("utf-8")
        return
    done = run()
    assert done.returncode == 1
    assert "AssertionError: case 1, 3 blocks of 4 threads, n = 10: wrong" in done.stdout
    assert (folder / "feedback.html").read_text("utf-8").count("<iframe") == 1
    (folder / "add-ten.py").write_text(stub.replace(*RIGHT), "utf-8")
    done = run()
    assert done.returncode == 0, done.stdout
    assert "<iframe" not in (folder / "feedback.html").read_text("utf-8")


def test_no_file_is_overwritten_and_mistakes_are_one_sentence(tmp_path, capsys):
    folder = written(tmp_path, "classroom")
    (folder / "map.py").write_text("mine", "utf-8")
    refused = {
        "is not overwritten; choose another folder": ["map", "--for", "classroom", "-o", str(folder)],
        "name the folder of the files": ["map", "--for", "otter"],
        "name the exercise": ["--for", "otter", "-o", str(folder)],
        "name exactly one file to check": ["check", "map.py", "--for", "otter"],
        "A seed is a whole number": ["map", "--for", "otter", "-o", str(folder), "--seed", "-1"],
        "can't be written": ["map", "--for", "otter", "-o", str(folder / "map.py")],
    }
    capsys.readouterr()
    for sentence, words in refused.items():
        assert main(["exercise", *words]) == 2
        output = capsys.readouterr()
        assert sentence in output.err and output.err.count("\n") == 1 and not output.out
    assert (folder / "map.py").read_text("utf-8") == "mine"


def test_a_file_is_judged_as_its_variant(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["exercise", "two-dimensions", "--seed", "7", "-o", "mine.py"]) == 0
    text = (tmp_path / "mine.py").read_text("utf-8")
    right = "    if x < image.shape[1] and y < image.shape[0]:\n        out[y, x] = WHITE - image[y, x]\n"
    (tmp_path / "mine.py").write_text(text[: text.index("    if x")] + right, "utf-8")
    assert main(["exercise", "check", "mine.py", "--exercise", "two-dimensions", "--seed", "7"]) == 0
    assert main(["exercise", "check", "mine.py", "--exercise", "two-dimensions"]) == 1
