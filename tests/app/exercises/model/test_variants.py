"""Variants of exercises: the same seed gives the same numbers, and an answer to one does not pass another."""

from __future__ import annotations

import pytest

from exercises import CASES, EXERCISES, RIGHT, STUB, warm_judge
from folders import DATA
from tilescope.app.exercises.model.library import SHIPPED, exercise_named, exercises_in, with_seed
from tilescope.app.exercises.model.mistakes import ExerciseError
from tilescope.app.exercises.model.reading import read_exercise

TASK = "# Ten\n\nAdd {TEN}.\n\n```exercise\nkernel: add_ten\nvariant: TEN: 10, 20, 30\n```\n"
PROGRAM = f"{STUB}\n\n# judge\nTEN = 10\n{CASES}".replace("a + 10", "a + TEN")
SEEDS = (7, 31, 2**31 - 1)


def variant_with(name: str, constant: str, value: int):
    """Return the variant with the least seed that chooses a value."""
    variants = (with_seed(exercise_named(name), seed) for seed in range(200))
    return next(variant for variant in variants if variant.variant[constant] == value)


@pytest.mark.parametrize("name", [exercise.name for exercise in exercises_in()[0]])
def test_each_exercise_has_variants_that_a_solution_passes(name):
    for seed in SEEDS:
        exercise = with_seed(exercise_named(name), seed)
        assert exercise.mistakes == ()
        assert exercise == with_seed(exercise_named(name), seed)
        solution = (DATA / "exercises" / "solutions" / f"{exercise.path.stem}.py").read_text("utf-8")
        for constant, first in exercise_named(name).variant.items():
            solution = solution.replace(f"{constant} = {first}", f"{constant} = {exercise.variant[constant]}")
        if name == "two-dimensions":  # the solution has the number in its text
            solution = solution.replace("255", str(exercise.variant["WHITE"]))
        assert warm_judge().judge(exercise, solution).passed
        assert not warm_judge().judge(exercise, exercise.stub).passed


@pytest.mark.parametrize("name", ["two-dimensions", "histogram"])
def test_an_answer_to_one_variant_does_not_pass_another(name):
    solution = next((DATA / "exercises" / "solutions").glob(f"*-{name}.py")).read_text("utf-8")
    assert warm_judge().judge(exercise_named(name), solution).passed
    constant = next(c for c in exercise_named(name).variant if c != "SEED")
    default = exercise_named(name).variant[constant]
    other = next(
        v
        for seed in range(1, 50)
        if (v := with_seed(exercise_named(name), seed)).variant[constant] != default
    )
    assert not warm_judge().judge(other, solution).passed


def test_the_planted_fault_differs():
    stubs = {}
    for fault in (1, 2, 3):
        exercise = variant_with("centre", "FAULT", fault)
        verdict = warm_judge().judge(exercise, exercise.stub)
        races = [f for f in verdict.findings if f.severity == "error"]
        assert {f.kind for f in races} == {"race"}
        stubs[exercise.stub] = frozenset(f.line for f in races)
        assert "only" not in exercise.stub
        assert not any(
            "only FAULT" in span.text for hint in exercise.hints for p in hint.paragraphs for span in p.spans
        )
    assert len(stubs) == 3


def test_seeds_change_the_sizes():
    exercise = exercise_named("stencil")
    sizes = [
        [case.sizes["n"] for case in warm_judge().judge(with_seed(exercise, seed), exercise.stub).cases]
        for seed in (0, 1, 1, 2)
    ]
    assert sizes[1] == sizes[2]
    assert len({tuple(row) for row in sizes}) == 3


def test_all_texts_get_the_numbers(tmp_path):
    (tmp_path / "01-ten.md").write_text(TASK)
    (tmp_path / "01-ten.py").write_text(PROGRAM)
    assert read_exercise(tmp_path / "01-ten.md").mistakes == ()
    assert warm_judge().judge(read_exercise(tmp_path / "01-ten.md"), RIGHT).passed
    exercise = next(
        e for seed in range(1, 50) if (e := read_exercise(tmp_path / "01-ten.md", seed)).variant["TEN"] == 30
    )
    assert exercise.task.paragraphs[0].spans[0].text == "Add 30."
    assert not warm_judge().judge(exercise, RIGHT).passed
    assert warm_judge().judge(exercise, RIGHT.replace("+ 10", "+ 30")).passed


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("TEN", "Name a constant and its values, such as variant: WHITE: 255, 200, 100."),
        ("ten: 1, 2", "Name a constant"),
        ("SEED: 1, 2", "Name a constant"),
        ("TEN: 1, x", "Name a constant"),
        ("TEN: 1", "A variant needs 2 to 16 different values."),
        ("TEN: 1, 1", "A variant needs 2 to 16 different values."),
        ("TEN: 10, 20\nvariant: TEN: 1, 2", "TEN is a variant already; give all its values in one line."),
    ],
)
def test_mistakes_in_the_line_are_reported(tmp_path, line, sentence):
    (tmp_path / "01-ten.md").write_text(TASK.replace("TEN: 10, 20, 30", line))
    (tmp_path / "01-ten.py").write_text(PROGRAM)
    [mistake] = read_exercise(tmp_path / "01-ten.md", 3).mistakes
    assert mistake.sentence.startswith(sentence)


@pytest.mark.parametrize("seed", [-1, 2**31])
def test_other_seeds_are_refused(seed):
    with pytest.raises(ExerciseError, match="A seed is a whole number from 0 to 2,147,483,647"):
        read_exercise(EXERCISES / "01-add-ten.md", seed)
    with pytest.raises(ExerciseError):
        with_seed(exercise_named("map", SHIPPED), seed)
