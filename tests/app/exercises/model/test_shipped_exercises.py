"""The exercises that come with Tilescope: our solutions pass, and what students get wrong does not."""

from __future__ import annotations

import re

import pytest
from PySide6.QtCore import QRectF
from PySide6.QtGui import QColor, QImage, QPainter
from PySide6.QtSvg import QSvgRenderer

from exercises import warm_judge
from folders import DATA
from sessions import application
from tilescope.app.exercises.model.library import exercises_in
from tilescope.app.exercises.model.verdict import Verdict

FILES = DATA / "exercises"
EXERCISES = {exercise.path.stem: exercise for exercise in exercises_in()[0]}
RACES = ("14-heat", "15-centre")  # programs with a fault that is to be found

# What each of the wrong ones is refused for: the kind of an error among the findings, a result, or a goal alone.
WRONG = {
    "01-map--adds-to-the-wrong-array": "result",
    "01-map--every-block-does-the-first-elements": "result",
    "02-guard--guards-the-number-in-the-block": "bounds",
    "02-guard--one-too-few": "result",
    "02-guard--one-too-many": "bounds",
    "02-guard--reads-before-the-guard": "bounds",
    "03-two-dimensions--guards-rows-alone": "bounds",
    "03-two-dimensions--or-for-and": "bounds",
    "03-two-dimensions--rows-and-columns-swapped": "result",
    "04-grid-stride--every-block-does-all": "goal",
    "04-grid-stride--one-step-too-far": "bounds",
    "04-grid-stride--step-of-one-block": "goal",
    "05-coalesced-copy--each-begins-elsewhere-in-its-row": "goal",
    "05-coalesced-copy--step-of-one-block-from-the-thread": "result",
    "06-reverse--barrier-in-a-branch": "barrier",
    "06-reverse--last-piece-as-long-as-the-others": "result",
    "06-reverse--no-barrier": "race",
    "06-reverse--off-by-one": "result",
    "06-reverse--without-shared-memory": "goal",
    "07-stencil--barrier-before-the-halo": "race",
    "07-stencil--barrier-in-a-branch": "barrier",
    "07-stencil--end-of-the-array-not-cleared": "unwritten",
    "07-stencil--halo-outside-the-array": "bounds",
    "07-stencil--no-halo-on-the-right": "unwritten",
    "08-dot--added-without-an-atomic": "race",
    "08-dot--barrier-in-a-branch": "barrier",
    "08-dot--no-barrier-between-rounds": "race",
    "08-dot--sum-of-the-first-block-alone": "result",
    "08-dot--threads-behind-the-end-store-nothing": "unwritten",
    "09-shuffle-sum--by-atomics": "goal",
    "09-shuffle-sum--first-round-missing": "result",
    "09-shuffle-sum--lanes-of-the-mask-missing": "barrier",
    "09-shuffle-sum--written-by-warps-without-elements": "bounds",
    "10-scan--added-in-place": "race",
    "10-scan--first-place-left-out": "result",
    "10-scan--one-barrier-a-round": "race",
    "11-transpose--bank-conflicts-left": "goal",
    "11-transpose--no-barrier": "race",
    "11-transpose--stores-still-scattered": "goal",
    "11-transpose--tiles-not-exchanged": "result",
    "11-transpose--width-computed-in-the-kernel": "compile",
    "12-histogram--added-before-all-have-counted": "race",
    "12-histogram--bins-beyond-the-threads-left-out": "result",
    "12-histogram--counted-without-an-atomic": "race",
    "12-histogram--no-barrier-before-counting": "race",
    "12-histogram--not-cleared": "unwritten",
    "13-tiled-product--last-tile-left-out": "result",
    "13-tiled-product--one-barrier": "race",
    "13-tiled-product--returns-early": "unwritten",
    "13-tiled-product--tiles-not-cleared": "unwritten",
    "14-heat--barrier-in-the-branch": "barrier",
    "14-heat--barrier-moved-and-not-added": "race",
    "14-heat--by-one-thread-from-left-to-right": "result",
    "15-centre--barrier-after-high-is-read": "race",
    "15-centre--barrier-before-low-is-read": "race",
    "16-neighbour--one-access-too-few": "result",
    "17-largest--the-largest-first": "result",
    "17-largest--three-switches": "goal",
}


def refused_for(verdict: Verdict) -> set[str]:
    """List a verdict's objections to a file: kinds of errors, "result", and "goal" if all else is right."""
    kinds = {finding.kind for finding in verdict.findings if finding.severity == "error"}
    kinds |= set() if all(case.correct != verdict.asks_wrong for case in verdict.cases) else {"result"}
    return kinds or (set() if all(goal.met for goal in verdict.goals) else {"goal"})


def test_there_are_seventeen_without_mistakes():
    exercises, mistakes = exercises_in()
    assert mistakes == []
    assert [exercise.number for exercise in exercises] == list(range(1, 18))
    assert (
        len({exercise.kernel for exercise in exercises}) == 17
    )  # so that a file says by its kernel what it is for


def test_solutions_and_wrong_ones_are_of_the_shipped_exercises():
    assert {path.stem for path in (FILES / "solutions").glob("*.py")} == set(EXERCISES)
    assert {path.stem for path in (FILES / "wrong").glob("*.py")} == set(WRONG)
    assert {name.partition("--")[0] for name in WRONG} == set(EXERCISES)


@pytest.mark.parametrize("name", EXERCISES)
def test_an_exercise_has_a_task_a_short_stub_and_hints(name):
    exercise = EXERCISES[name]
    assert exercise.task
    assert 2 <= len(exercise.hints) <= 4
    assert 5 <= len(exercise.stub.splitlines()) <= 40
    assert exercise.program.text.count("\n# judge\n") == 1


@pytest.mark.parametrize("name", EXERCISES)
def test_its_picture_is_small_self_contained_and_drawn(name):
    application()
    picture = EXERCISES[name].picture
    assert len(picture.text) > 40
    text = picture.path.read_text(encoding="utf-8")
    assert len(text.encode()) < 8_000
    assert not re.search(r"<script|href|url\(|<style|<image|<!", text)
    renderer = QSvgRenderer(text.encode())
    assert renderer.isValid()
    assert (renderer.defaultSize().width(), renderer.defaultSize().height()) == (360, 220)
    drawn = QImage(360, 220, QImage.Format.Format_ARGB32)
    drawn.fill(QColor("black"))
    painter = QPainter(drawn)
    renderer.render(painter, QRectF(0, 0, 360, 220))
    painter.end()
    assert len({drawn.pixel(x, y) for x in range(0, 360, 3) for y in range(0, 220, 3)}) > 6


@pytest.mark.parametrize("name", EXERCISES)
def test_the_stub_ends_and_does_not_pass(name):
    exercise = EXERCISES[name]
    verdict = warm_judge().judge(exercise, exercise.stub)
    assert verdict.error == ""
    assert not any(case.error for case in verdict.cases)
    assert not verdict.passed
    if name in RACES:
        assert refused_for(verdict) == {"race"}


@pytest.mark.parametrize("name", EXERCISES)
def test_our_solution_passes(name):
    file = FILES / "solutions" / f"{name}.py"
    verdict = warm_judge().judge(EXERCISES[name], file.read_text(encoding="utf-8"), file)
    assert verdict.error == ""
    assert refused_for(verdict) == set()
    assert verdict.passed
    assert [finding for finding in verdict.findings if finding.severity == "warning"] == []


@pytest.mark.parametrize("name", WRONG)
def test_what_students_get_wrong_does_not_pass(name):
    file = FILES / "wrong" / f"{name}.py"
    verdict = warm_judge().judge(EXERCISES[name.partition("--")[0]], file.read_text(encoding="utf-8"), file)
    assert verdict.error == ""
    assert not verdict.passed
    assert WRONG[name] in refused_for(verdict)
