"""Questions of a lecture: choices, numbers, lines and bars."""

from __future__ import annotations

import pytest

from tilescope.app.lectures.model.expressions import ExpressionError
from tilescope.app.lectures.model.quantities import Quantity
from tilescope.app.lectures.model.questions import answer_of, parse_question

NAMES = {"n": Quantity(64, "exact"), "tile": Quantity(4)}


@pytest.mark.parametrize(
    ("choices", "answer", "kind", "texts"),
    [
        ("16 | {n}", "n", "choose", ("16", "{n}")),
        ("", "n", "number", ()),
        ("", 'line "s +="', "line", ()),
        ("naive | tiled", "n | n / tile", "bars", ()),
    ],
)
def test_the_answer_decides_how_the_audience_answers(choices, answer, kind, texts):
    question = parse_question("How many?", choices, answer)
    assert (question.kind, question.texts) == (kind, texts)
    assert bool(question.hint) == (kind in ("line", "bars"))


def test_bars_have_a_value_for_each_label():
    answer = answer_of(parse_question("Compare.", "naive | n = {n}", "n | n / tile"), NAMES)
    assert answer.text == "naive 64, n = {n} 16" and answer.values == (64.0, 16.0)
    assert (answer.choices, answer.right) == ((), None)


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
