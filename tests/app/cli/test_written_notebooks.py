"""Exercises and lectures as notebooks: their cells run, judge and replay."""

from __future__ import annotations

from pathlib import Path

from notebook_files import cells_of
from notebook_shell import outputs_of
from tilescope.app.cli.main import main
from tilescope.app.exercises.model.library import exercises_in

SOLUTIONS = Path(__file__).parents[2] / "data" / "exercises" / "solutions"
EXERCISES = exercises_in()[0]


def code_of(path: Path) -> list[str]:
    return [cell.source for cell in cells_of(path) if cell.cell_type == "code"]


def test_each_exercise_is_passed_by_its_solution_in_its_notebook(tmp_path):
    cells = []
    for exercise in EXERCISES:
        path = tmp_path / f"{exercise.name}.ipynb"
        assert main(["exercise", exercise.name, "-o", str(path)]) == 0
        stub, check = code_of(path)
        assert stub == exercise.stub.strip("\n")
        [solution] = SOLUTIONS.glob(f"{exercise.path.stem}.py")
        cells += [solution.read_text("utf-8"), check]
    verdicts = [shown.get("text/plain", shown) for [shown] in outputs_of(*cells)[1::2]]
    assert [str(verdict).splitlines()[-1] for verdict in verdicts] == [
        f"{e.title}: passed" for e in EXERCISES
    ]


def test_the_notebook_of_an_exercise_is_complete_without_other_files(tmp_path):
    path = tmp_path / "map.ipynb"
    main(["exercise", "map", "-o", str(path)])
    texts = [cell.source for cell in cells_of(path) if cell.cell_type == "markdown"]
    assert texts[0].startswith("# Map: one thread, one element\n")
    assert "](data:image/svg+xml;base64," in texts[0]
    assert "```exercise" not in texts[0]
    assert [text.splitlines()[0] for text in texts[1:]] == [
        "<details><summary>Hint 1</summary>",
        "<details><summary>Hint 2</summary>",
    ]
    before = path.read_bytes()
    assert main(["exercise", "map", "-o", str(path)]) == 2
    assert path.read_bytes() == before


def test_the_steps_of_a_lecture_replay_in_its_notebook(tmp_path):
    lecture = tmp_path / "lecture.md"
    lecture.write_text(
        "# Sums\n\nTwo of them.\n\n## First\n\n```tilescope\nshow: vector-double:count=64,threads=32\n"
        "ask: How many threads?\nanswer: left.threads_in_all\n```\n\nEach adds.\n\n## Second\n\nNothing moves.\n\n"
        "## Third\n\n```tilescope\nshow: vector-double:count=64,threads=32 vector-increment:count=64,threads=32\n"
        "at: end\n```\n\nBoth: {left.threads}.\n",
        "utf-8",
    )
    path = tmp_path / "lecture.ipynb"
    assert main(["lecture", str(lecture), "-o", str(path)]) == 0
    texts = [cell.source for cell in cells_of(path) if cell.cell_type == "markdown"]
    assert texts[0].startswith("# Sums")
    asked, _, hidden = texts[1].partition("<details><summary>Answer</summary>\n\n64\n\n")
    assert "How many threads?" in asked and "Each adds." not in asked and "Each adds." in hidden
    assert "Both: <b>32</b>." in texts[3]
    outputs = outputs_of(*code_of(path))
    assert [[shown["text/html"].count("<iframe") for shown in cell] for cell in outputs] == [[], [1], [1]]
    assert main(["lecture", str(lecture), "-o", str(path)]) == 2


def test_an_unknown_scenario_is_one_sentence():
    [[unknown], [file]] = outputs_of(
        "import tilescope\ntilescope.scenario('vector-dobule')", "tilescope.scenario('x.npz')"
    )
    assert unknown["error"].startswith(
        "TilescopeError: No scenario is called 'vector-dobule'; did you mean vector-double"
    )
    assert file["error"] == "TilescopeError: x.npz is a file; tilescope open shows it."
