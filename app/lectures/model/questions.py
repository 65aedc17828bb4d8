"""Questions of a lecture: the question, its choices, and the answer, which is computed when it is revealed."""

from __future__ import annotations

import math

from msgspec import Struct

from .expressions import Environment, Expression, ExpressionError, parse
from .quantities import Quantity

MOST_CHOICES = 6


class Choice(Struct, frozen=True):
    """One of the answers that the audience chooses from."""

    text: str  # as written: words, a number, or an expression in braces
    expression: Expression | None = None  # of a text in braces

    def value(self, names: Environment) -> Quantity:
        """Compute its value; raises ExpressionError."""
        if self.expression is not None:
            return self.expression.evaluate(names)
        number = _number_of(self.text)
        return Quantity(self.text if number is None else number)


class Question(Struct, frozen=True):
    """A question with its answer as an expression."""

    ask: str  # the question
    answer: Expression  # its value is the answer
    choices: tuple[Choice, ...] = ()  # none if the answer is a number


class Answer(Struct, frozen=True):
    """A question's answer at a moment."""

    quantity: Quantity  # the answer, with its mark
    text: str  # in words
    choices: tuple[str, ...]  # the choices in words
    right: int | None  # index of the right choice, None without choices


def parse_question(ask: str, choices: str, answer: str) -> Question | None:
    """Parse the texts of a question, None if all are empty; raises ValueError and ExpressionError."""
    if not (ask or choices or answer):
        return None
    if not ask or not answer:
        raise ValueError("A question needs ask: and answer:, and optionally choices:.")
    texts = [text.strip() for text in choices.split("|")] if choices else []
    if texts and (not 2 <= len(texts) <= MOST_CHOICES or not all(texts)):
        raise ValueError(f"A question has 2 to {MOST_CHOICES} choices, with | between them.")
    return Question(ask, parse(answer), tuple(map(_choice, texts)))


def _choice(text: str) -> Choice:
    braced = text.startswith("{") and text.endswith("}")
    return Choice(text, parse(text[1:-1]) if braced else None)


def answer_of(question: Question, names: Environment) -> Answer:
    """Compute the answer to a question; raises ExpressionError, also unless exactly one choice is right."""
    answer = question.answer.evaluate(names)
    text = question.answer.format(answer)
    if not question.choices:
        return Answer(answer, text, (), None)
    values = [choice.value(names) for choice in question.choices]
    right = [i for i, value in enumerate(values) if _equal(value, answer)]
    texts = tuple(
        choice.expression.format(value) if choice.expression else choice.text
        for value, choice in zip(values, question.choices, strict=True)
    )
    if len(right) != 1:
        number = "none" if not right else "more than one"
        raise ExpressionError(
            f"The answer is {text}, but {number} of the choices {', '.join(texts)} equals it."
        )
    return Answer(answer, text, texts, right[0])


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
