"""Questions of a lecture: choices, numbers, lines and bars."""

from __future__ import annotations

import pytest

from tilescope.app.lectures.model.check import check_lecture
from tilescope.app.lectures.model.document import parse_lecture
from tilescope.app.lectures.model.expressions import ExpressionError
from tilescope.app.lectures.model.quantities import Quantity
from tilescope.app.lectures.model.questions import answer_of, parse_question
from tilescope.app.lectures.model.sessions import Sessions
from tilescope.tracer.run.worker_client import Worker

NAMES = {"n": Quantity(64, "exact"), "tile": Quantity(4)}


@pytest.mark.parametrize(
    ("choices", "answer", "kind", "texts", "hint"),
    [
        ("16 | {n}", "n", "choose", ("16", "64"), ""),
        ("", "n", "number", (), ""),
        ("", 'line "s +="', "line", (), "Mark a line of the source"),
        ("naive | n = {n}", "n | n / tile", "bars", (), "Compare: naive, n = 64"),
    ],
)
def test_the_answer_decides_how_the_audience_answers(choices, answer, kind, texts, hint):
    question = parse_question("How many?", choices, answer)
    wording = question.wording(NAMES)
    assert (question.kind, wording.choices, wording.hint) == (kind, texts, hint)


def test_bars_have_a_value_for_each_label():
    answer = answer_of(parse_question("Compare.", "naive | n = {n}", "n | n / tile"), NAMES)
    assert answer.text == "naive 64, n = 64 16" and answer.values == (64.0, 16.0)
    assert (answer.bars, answer.right) == (("naive", "n = 64"), None)


def test_numbers_in_braces_are_filled_in_the_question_and_its_choices():
    question = parse_question(
        "Tiles of {tile} in {n * n:,d}: {{how many}}?", "{n} or more | {tile} by {tile}", '"4 by 4"'
    )
    assert question.wording(NAMES).ask == "Tiles of 4 in 4,096: {how many}?"
    answer = answer_of(question, NAMES)
    assert (answer.wording.choices, answer.right) == (("64 or more", "4 by 4"), 1)
    assert question.wording(None).ask == "Tiles of … in …: {how many}?"


def test_a_number_that_a_question_can_not_fill_in_is_reported_at_its_line(tmp_path):
    change = "show: vector-increment\nask: Is {left.depth} deep?\nanswer: 1"
    text = f"# Lecture\n\n## A step\n\n```tilescope\n{change}\n```\n"
    worker = Worker()
    (problem,) = check_lecture(parse_lecture(text, tmp_path / "a.md"), Sessions(worker, None).session_of)
    worker.close()
    assert problem.line == 7 and "has no depth" in problem.sentence
    (problem,) = parse_lecture(text.replace("left.depth", "1 +"), tmp_path / "a.md").problems
    assert problem.sentence == "1 + can't be read as arithmetic."


@pytest.mark.parametrize(
    ("choices", "answer", "sentence"),
    [
        ("a | b | c", "n | n", "3 bars need 3 answers with | between them, not 2."),
        ("a | b", 'line "x"', "A line is marked and not chosen; remove choices: or ask for a number."),
    ],
)
def test_a_question_with_the_wrong_parts_is_refused(choices, answer, sentence):
    with pytest.raises(ValueError, match="^" + sentence.replace("|", r"\|").replace(".", r"\.")):
        parse_question("How many?", choices, answer)


def test_bars_and_lines_that_can_not_be_computed_are_reported():
    with pytest.raises(ExpressionError, match="numbers from 0 on"):
        answer_of(parse_question("Compare.", "a | b", "n | 0 - n"), NAMES)
    with pytest.raises(ExpressionError, match="No line of the kernel contains 'x'"):
        answer_of(parse_question("Which?", "", 'line "x"'), NAMES)
