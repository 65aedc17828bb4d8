"""Previews of edited texts: a caption with its numbers, a question with its answer, or their errors."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtWidgets import QLabel

from ..model.captions import fill_caption
from ..model.changes import parse_change
from ..model.check import environment_of
from ..model.document import parse_lecture
from ..model.edit.source import caption_problem
from ..model.expressions import Environment, ExpressionError
from ..model.problems import LectureError
from ..model.quantities import MARK_TEXTS
from ..model.questions import answer_of, parse_question
from ..player.player import LecturePlayer


def names_of(player: LecturePlayer) -> Environment | None:
    """Return the environment of names in the current step, None if it has no picture."""
    sessions, moment = player.sessions(), player.moment()
    if sessions is None or moment is None:
        return None
    return environment_of(player.scenes[player.number], sessions, moment)


def caption_look(markdown: str, path: Path, names: Environment | None) -> tuple[str, str]:
    """Return (the text of a caption with its numbers, its error); either or both may be ""."""
    problem = caption_problem(markdown, path.parent)
    if problem:
        return "", problem
    try:
        lecture = parse_lecture(f"# Title\n\n## Step\n\n{markdown}\n", path)
    except LectureError as error:
        return "", str(error)
    if lecture.problems:
        return "", lecture.problems[0].sentence
    if names is None:
        return "", ""
    filled = fill_caption(lecture.steps[0].caption, names)
    return filled.text, filled.problems[0].sentence if filled.problems else ""


def change_problem(lines: str, folder: Path) -> str:
    """Return the error in the lines of a change, "" for none."""
    _, problems = parse_change(dict(enumerate(lines.split("\n"), 1)), folder)
    return problems[0][1] if problems else ""


def question_gap(ask: str, choices: str, answer: str) -> str:
    """Name the missing parts of an incomplete question; "" for a complete one or none."""
    ask, choices, answer = (text.strip() for text in (ask, choices, answer))
    if not (ask or choices or answer) or (ask and answer):
        return ""
    missing = " and ".join(name for name, text in (("Question", ask), ("Answer", answer)) if not text)
    return f"The question is not complete: fill in {missing}."


def answer_look(ask: str, choices: str, answer: str, names: Environment | None) -> tuple[str, str]:
    """Return (the answer to a question, its error), one of them ""."""
    if gap := question_gap(ask, choices, answer):
        return "", gap
    try:
        question = parse_question(ask, choices, answer)
        if question is None or names is None:
            return "", ""
        result = answer_of(question, names)
    except (ExpressionError, ValueError) as error:
        return "", str(error)
    mark = MARK_TEXTS.get(result.quantity.mark, "")
    return f"{result.text} · {mark}" if mark else result.text, ""


def show_preview(label: QLabel, text: str, problem: str) -> None:
    """Show a preview or an error below a field; hide the label if both are empty."""
    shown = problem[:1].upper() + problem[1:] or text
    label.setObjectName("wrong" if problem else "muted")
    label.style().unpolish(label)
    label.style().polish(label)
    label.setText(shown)
    label.setVisible(bool(shown))
