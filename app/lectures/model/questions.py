"""Questions of a lecture: the question, its choices, and the answer, which is computed when it is revealed."""

from __future__ import annotations

import math
import re
from typing import Literal

from msgspec import Struct

from .expressions import Environment, Expression, ExpressionError, Names, parse
from .filled_text import FilledText, parse_filled_text
from .quantities import Quantity

MOST_CHOICES = 6
Kind = Literal["choose", "number", "line", "bars"]


class Choice(Struct, frozen=True):
    """One of the answers that the audience chooses from, or the label of a bar."""

    words: FilledText  # words, a number, or an expression in braces

    def value(self, names: Environment) -> Quantity:
        """Compute its value; raises ExpressionError."""
        if self.words.number is not None:
            return self.words.number.evaluate(names)
        text = self.words.fill(names)
        number = _number_of(text)
        return Quantity(text if number is None else number)


class Wording(Struct, frozen=True):
    """The texts of a question as the audience reads them."""

    ask: str  # the question
    choices: tuple[str, ...]  # none if the audience does not choose
    hint: str  # what the audience does if it neither chooses nor types; "" if it does


class Question(Struct, frozen=True):
    """A question with its answer as an expression."""

    ask: FilledText  # the question
    answers: tuple[Expression, ...]  # the value of each bar, or that of the answer; none for a line
    choices: tuple[Choice, ...] = ()  # or the labels of bars; none if the answer is a number or a line
    line: str = ""  # text of the line that is the answer

    @property
    def kind(self) -> Kind:
        """The way in which the audience answers."""
        if self.line:
            return "line"
        return "bars" if len(self.answers) > 1 else "choose" if self.choices else "number"

    def wording(self, names: Environment | None) -> Wording:
        """Fill the texts with their numbers; None leaves them open. Raises ExpressionError."""
        texts = tuple(choice.words.fill(names) for choice in self.choices)
        hint = f"Compare: {', '.join(texts)}" if self.kind == "bars" else ""
        if self.line:
            hint = "Mark a line of the source"
        return Wording(self.ask.fill(names), texts if self.kind == "choose" else (), hint)


class Answer(Struct, frozen=True):
    """A question's answer at a moment."""

    quantity: Quantity  # the answer, with its mark
    text: str  # in words
    wording: Wording  # of the question
    right: int | None = None  # index of the right choice, None without choices
    bars: tuple[str, ...] = ()  # labels of bars
    values: tuple[float, ...] = ()  # of bars, or the numbers of the lines that are right


def parse_question(ask: str, choices: str, answer: str) -> Question | None:
    """Parse the texts of a question, None if all are empty; raises ValueError and ExpressionError."""
    if not (ask or choices or answer):
        return None
    if not ask or not answer:
        raise ValueError("A question needs ask: and answer:, and optionally choices:.")
    texts = [text.strip() for text in choices.split("|")] if choices else []
    if texts and (not 2 <= len(texts) <= MOST_CHOICES or not all(texts)):
        raise ValueError(f"A question has 2 to {MOST_CHOICES} choices, with | between them.")
    if line := re.fullmatch(r'line "(.+)"', answer.strip()):
        if texts:
            raise ValueError("A line is marked and not chosen; remove choices: or ask for a number.")
        return Question(parse_filled_text(ask), (), (), line[1])
    answers = [text.strip() for text in answer.split("|")] if texts else [answer]
    if len(answers) not in (1, len(texts)):
        raise ValueError(
            f"{len(texts)} bars need {len(texts)} answers with | between them, not {len(answers)}."
        )
    labels = tuple(Choice(parse_filled_text(text)) for text in texts)
    return Question(parse_filled_text(ask), tuple(map(parse, answers)), labels)


def answer_of(question: Question, names: Environment) -> Answer:
    """Compute the answer to a question; raises ExpressionError, also unless exactly one choice is right."""
    wording = question.wording(names)
    if question.line:
        return _line_answer(question.line, wording, names)
    answers = [expression.evaluate(names) for expression in question.answers]
    texts = tuple(
        expression.format(value) for expression, value in zip(question.answers, answers, strict=True)
    )
    if question.kind == "bars":
        labels = tuple(choice.words.fill(names) for choice in question.choices)
        return _bars_answer(labels, answers, texts, wording)
    answer, text = answers[0], texts[0]
    if not question.choices:
        return Answer(answer, text, wording)
    right = [i for i, choice in enumerate(question.choices) if _equal(choice.value(names), answer)]
    if len(right) != 1:
        number = "none" if not right else "more than one"
        raise ExpressionError(
            f"The answer is {text}, but {number} of the choices {', '.join(wording.choices)} equals it."
        )
    return Answer(answer, text, wording, right[0])


def _line_answer(text: str, wording: Wording, names: Environment) -> Answer:
    """Find the lines of the kernel in focus that contain a text."""
    pane = names.get("here")
    lines = pane.lines_with(text) if isinstance(pane, Names) else ()
    if not lines:
        raise ExpressionError(f"No line of the kernel contains {text!r}.")
    numbers = " or ".join(map(str, lines))
    return Answer(Quantity(lines[0]), f"line {numbers}", wording, values=lines)


def _bars_answer(
    labels: tuple[str, ...], answers: list[Quantity], texts: tuple[str, ...], wording: Wording
) -> Answer:
    """Return the values of bars, which are 0 or more."""
    values = [float(answer.value) for answer in answers if answer.is_number and float(answer.value) >= 0]
    if len(values) < len(answers):
        raise ExpressionError("The values of bars must be numbers from 0 on.")
    text = ", ".join(f"{label} {value}" for label, value in zip(labels, texts, strict=True))
    return Answer(answers[0], text, wording, None, labels, tuple(values))


def _equal(choice: Quantity, answer: Quantity) -> bool:
    if isinstance(answer.value, bool) or isinstance(choice.value, bool):
        words = ["yes" if value else "no" for value in (answer.value,)]
        return str(choice.value).lower() in (*words, str(answer.value).lower())
    if isinstance(choice.value, str) or isinstance(answer.value, str):
        return str(choice.value).strip() == str(answer.value).strip()
    try:
        return math.isclose(choice.value, answer.value, rel_tol=1e-9, abs_tol=1e-9)
    except OverflowError:  # integers beyond the range of floats
        return choice.value == answer.value


def _number_of(text: str) -> float | int | None:
    plain = text.replace(",", "")
    try:
        return int(plain) if plain.lstrip("-").isdigit() and len(plain) < 20 else float(plain)
    except ValueError:
        return None
