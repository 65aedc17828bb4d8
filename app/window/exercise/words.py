"""What the panel says of a verdict: its rows in order, in short lines, and the tables of goals. No Qt."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from ....tracer.judging.result import CaseResult
from ....tracer.model.finding import counted
from ...exercise.document import Exercise
from ...exercise.goals import STUB, Goal, names_in, names_of_case
from ...exercise.output import result_text
from ...exercise.verdict import GoalVerdict, Verdict
from ...lecture.expressions import Environment, ExpressionError, parse
from ...lecture.quantities import Quantity, quantity_text

Sign = Literal["right", "error", "warning"]  # "right" is a tick, the others are those of findings
PASSED, NOT_YET, JUDGING = "Passed", "Not passed yet", "Judging …"
NOTHING = "Your text can't be run as it is."
MOST_FINDINGS = 12  # that are told: more of them have one cause
SIGNS: dict[str, str] = {"<=": "≤", ">=": "≥", "==": "=", "!=": "≠", "*": "×"}


@dataclass(frozen=True)
class Row:
    """A line of the result."""

    sign: Sign
    text: str  # one sentence, or less
    line: int = 0  # of the student's file, 0 where it is about none
    table: tuple[tuple[str, str, str], ...] = ()  # of a goal: number, the student's, the stub's
    needs: str = ""  # of a goal: what must hold


def headline(verdict: Verdict | None) -> str:
    """Return what is said in large letters."""
    return JUDGING if verdict is None else PASSED if verdict.passed else NOT_YET


def summary(verdict: Verdict) -> str:
    """Return a line on all of it: "2 of 4 cases right, 1 error, 1 of 2 goals met"."""
    cases, goals = verdict.cases, verdict.goals
    errors = sum(finding.severity == "error" for finding in verdict.findings)
    parts = [f"{sum(case.correct for case in cases)} of {counted(len(cases), 'case')} right" if cases else ""]
    parts.append(counted(errors, "error") if errors else "")
    parts.append(f"{sum(g.met for g in goals)} of {counted(len(goals), 'goal')} met" if goals else "")
    return ", ".join(filter(None, parts)) or NOTHING


def rows_of(verdict: Verdict, exercise: Exercise, file: str) -> Iterator[Row]:
    """Yield the rows of a verdict: why it did not run, cases, errors, goals, warnings.

    file: what the student's text is called in findings.
    """
    if verdict.error:
        yield Row("error", _at(verdict.line, verdict.error), verdict.line)
    for number, case in enumerate(verdict.cases, 1):
        yield Row(
            "right" if case.correct else "error", f"{case_name(case, number)}: {result_text(case)}", case.line
        )
    yield from _findings(verdict, "error", file)
    for goal, met in zip(exercise.goals, verdict.goals, strict=False):
        yield _goal_row(goal, met, verdict)
    yield from _findings(verdict, "warning", file)


def _findings(verdict: Verdict, severity: Literal["error", "warning"], file: str) -> Iterator[Row]:
    told = [finding for finding in verdict.findings if finding.severity == severity]
    for finding in told[:MOST_FINDINGS]:
        line = finding.line if finding.file == file else 0
        yield Row(severity, _at(line, f"{finding.kind}: {finding.message}"), line)
    if len(told) > MOST_FINDINGS:
        yield Row(severity, f"and {len(told) - MOST_FINDINGS:,} more, of the kinds above or others")


def case_name(case: CaseResult, number: int) -> str:
    """Return what a case is called: "n = 1,000", or its number where the judge gives it no sizes."""
    sizes = ", ".join(f"{name} = {value:,}" for name, value in case.sizes.items())
    return sizes or f"Case {number}"


def _at(line: int, sentence: str) -> str:
    return f"Line {line}: {sentence}" if line else sentence


def _goal_row(goal: Goal, met: GoalVerdict, verdict: Verdict) -> Row:
    names = names_of_case(verdict.counters, verdict.stub_counters, dict(verdict.cases[-1].sizes))
    counters = dict.fromkeys(name.removeprefix(f"{STUB}.") for name in names_in(goal.expression.tree))
    table = (_numbers(name, names) for name in counters)
    return Row(
        "right" if met.met else "error",
        f"Goal {'met' if met.met else 'missed'}: {goal.words}",
        0,
        tuple(row for row in table if row is not None),
        spoken(goal.expression.text),
    )


def _numbers(name: str, names: Environment) -> tuple[str, str, str] | None:
    """Return a counter with what it is now and what it is of the stub; None for what is no counter."""
    try:
        found = [parse(text).evaluate(names) for text in (name, f"{STUB}.{name}")]
    except ExpressionError:
        return None
    mine, stub = (quantity_text(Quantity(number.value)) for number in found)  # bytes are not to be rounded
    return spoken(name), mine, stub


def spoken(expression: str) -> str:
    """Return an expression as it is read: "16 × global load requests ≤ the stub's global load requests"."""
    words = (SIGNS.get(word, word) for word in expression.split())
    return " ".join(words).replace(f"{STUB}.", "the stub's ").replace("_", " ")
