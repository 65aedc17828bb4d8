"""Packages of an exercise for graders: the files that nbgrader, Otter and GitHub Classroom take."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ...model.notebook_file import NotebookCell, notebook_text
from .document import SUFFIXES, Exercise
from .library import SHIPPED
from .notebook import call_text, exercise_cells, task_text

Files = dict[str, bytes]  # by path in the package

OWN = "exercise"  # the folder that contains a teacher's own exercise
POINTS = 1
# The schema of nbgrader's metadata is versioned. Students edit the other cells, of which it keeps everything.
LOCKED: Mapping[str, object] = {
    "cell_type": "code", "grade": True, "locked": True, "points": POINTS, "schema_version": 3, "solution": False,
    "task": False,
}  # fmt: skip
WORKFLOW = """\
name: Autograding Tests
on: [push, workflow_dispatch, repository_dispatch]
permissions:
  checks: write
  actions: read
  contents: read
jobs:
  run-autograding-tests:
    runs-on: ubuntu-latest
    if: github.actor != 'github-classroom[bot]'
    steps:
      - uses: actions/checkout@v4
      - uses: actions/setup-python@v5
        with:
          python-version: "3.12"
      - run: pip install pytest ./tilescope
      - name: {name}
        id: judge
        uses: classroom-resources/autograding-command-grader@v1
        with:
          test-name: {name}
          command: python -m pytest -q {test}
          timeout: 5
          max-score: {points}
      - uses: actions/upload-artifact@v4
        if: always()
        with:
          name: feedback
          path: feedback.html
          if-no-files-found: ignore
      - uses: classroom-resources/autograding-grading-reporter@v1
        env:
          JUDGE_RESULTS: "${{{{steps.judge.outputs.result}}}}"
        with:
          runners: judge
"""
TEST = '''\
"""Judge {file}. feedback.html then has the verdict, and a replay of the first case that fails."""

import tilescope


def test_{identifier}():
    verdict = {call}.check("{file}")
    verdict.save("feedback.html")
    assert verdict.passed, str(verdict)
'''


def nbgrader_files(exercise: Exercise) -> Files:
    """Build the source of an assignment: nbgrader generates the students' version, and grades it."""
    name = exercise.name
    task, stub, _, *hints = exercise_cells(exercise)
    verdict = f"verdict = {call_text(exercise, _own(exercise))}.check({exercise.kernel})"
    judge = f"import tilescope\nfrom IPython.display import display\n\n{verdict}\n"
    judge += "display(verdict)\nassert verdict.passed, str(verdict)"
    locked = NotebookCell("code", judge, {"nbgrader": {**LOCKED, "grade_id": f"judge-{name}"}})
    folder = f"source/{name}"
    files = {f"{folder}/{name}.ipynb": notebook_text([task, stub, locked, *hints]).encode()}
    return files | _own_files(exercise, f"{folder}/")


def otter_files(exercise: Exercise) -> Files:
    """Build the master notebook of an assignment, from which `otter assign` makes notebook and grader."""
    name = exercise.name
    own = _own_files(exercise, "")
    settings = f"# ASSIGNMENT CONFIG\nname: {name}\nrun_tests: false\ngenerate: true\nexport_cell: false\n"
    settings += "tests:\n  ok_format: false\n"
    settings += "".join(["files:\n", *(f"  - {path}\n" for path in own)]) if own else ""
    task, stub, check, *hints = exercise_cells(exercise, _own(exercise))
    test = f"def test_{_identifier(name)}({exercise.kernel}):\n    import tilescope\n\n"
    test += f"    verdict = {call_text(exercise, _own(exercise))}.check({exercise.kernel})\n"
    test += "    assert verdict.passed, str(verdict)"
    cells = [
        NotebookCell("raw", settings),
        task,
        stub,
        check,
        NotebookCell("raw", f"# BEGIN QUESTION\nname: {name}\npoints: {POINTS}"),
        NotebookCell("markdown", "The next cell judges your kernel."),
        NotebookCell("raw", "# BEGIN TESTS"),
        NotebookCell("code", test),
        NotebookCell("raw", "# END TESTS"),
        NotebookCell("raw", "# END QUESTION"),
        *hints,
    ]
    return {f"{name}.ipynb": notebook_text(cells).encode()} | own


def classroom_files(exercise: Exercise) -> Files:
    """Build the template repository of an assignment: task, stub, a test, and the workflow that grades."""
    name, file = exercise.name, f"{exercise.name}{SUFFIXES[exercise.language]}"
    call, test = call_text(exercise, _own(exercise)), f"test_{_identifier(name)}.py"
    files = {
        "README.md": task_text(exercise, with_picture=False).encode(),
        file: exercise.stub.encode(),
        test: TEST.format(file=file, identifier=_identifier(name), call=call).encode(),
        ".github/workflows/classroom.yml": WORKFLOW.format(name=name, test=test, points=POINTS).encode(),
    }
    if exercise.picture is not None:
        files[exercise.picture.path.name] = exercise.picture.path.read_bytes()
    return files | _own_files(exercise, "")


BUILDERS: dict[str, Callable[[Exercise], Files]] = {
    "nbgrader": nbgrader_files,
    "otter": otter_files,
    "classroom": classroom_files,
}  # by the name of the grader


def _identifier(name: str) -> str:
    return "".join(letter if letter.isalnum() else "_" for letter in name)


def _own(exercise: Exercise) -> str:
    """Return the folder of the exercise's files in a package; "" for a shipped one."""
    return "" if exercise.folder == SHIPPED else OWN


def _own_files(exercise: Exercise, prefix: str) -> Files:
    """Copy the files of a teacher's own exercise, which a grader's computer lacks."""
    if not _own(exercise):
        return {}
    paths = [exercise.path, *(exercise.path.with_suffix(suffix) for suffix in SUFFIXES.values())]
    paths += [exercise.picture.path] if exercise.picture is not None else []
    return {f"{prefix}{OWN}/{path.name}": path.read_bytes() for path in paths if path.is_file()}
