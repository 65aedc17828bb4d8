"""The texts of a verdict: its rows in order, in short lines, and the tables of goals. No Qt."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Literal

from msgspec import Struct

from ...tracer.judging.result import CaseResult, JudgedFinding, WrongArgument
from ...tracer.model.finding import count_noun
from ..lectures.model.expressions import Environment, ExpressionError, parse
from ..lectures.model.quantities import Quantity, quantity_text
from .model.document import Exercise
from .model.goals import STUB, Goal, names_in, names_of_case
from .model.hiding import Visibility, hide_judged
from .model.output import case_text, launch_text, result_text
from .model.verdict import GoalVerdict, Verdict

Hide = Callable[[Sequence[JudgedFinding]], list[JudgedFinding]]
Sign = Literal["right", "error", "warning"]  # "right" is a tick, the others are those of findings
PASSED, NOT_YET, JUDGING = "Passed", "Not passed yet", "Judging …"
NOTHING = "Your text can't be run."
MOST_FINDINGS = 12  # shown: more of them share a cause
INSIDE = ",\u00a0"  # keeps an index on one line
ENDLESS = "did not finish, see below"
ALLOWED: dict[type[ast.cmpop], str] = {  # the bounds of a goal
    ast.LtE: "at most", ast.GtE: "at least", ast.Eq: "exactly", ast.Lt: "less than", ast.Gt: "more than",
    ast.NotEq: "anything but",
}  # fmt: skip
SIGNS: dict[str, str] = {"<=": "≤", ">=": "≥", "==": "=", "!=": "≠", "*": "×"}


class Row(Struct, frozen=True):
    """A line of the result."""

    sign: Sign
    text: str  # one sentence, or less
    line: int = 0  # of the student's file, 0 for none
    table: tuple[tuple[str, str, str], ...] = ()  # of a goal: number, the student's, the stub's
    needs: str = ""  # of a goal: its condition
    instead: str = ""  # of a missed goal that compares two numbers: the student's and the bound
    tip: str = ""  # the complete text, if `text` is short


def headline(verdict: Verdict | None) -> str:
    """Return the verdict in a few words."""
    return JUDGING if verdict is None else PASSED if verdict.passed else NOT_YET


def summary(verdict: Verdict) -> str:
    """Summarise a verdict: "2 of 4 cases right, 1 error, 1 of 2 goals met"."""
    cases, goals = verdict.cases, verdict.goals
    errors = sum(finding.severity == "error" for finding in verdict.findings)
    done = sum(case.correct != verdict.asks_wrong and not case.error for case in cases)
    goal = "wrong, as asked" if verdict.asks_wrong else "right"
    parts = [f"{done} of {count_noun(len(cases), 'case')} {goal}" if cases else ""]
    parts.append(count_noun(errors, "error") if errors else "")
    parts.append(f"{sum(g.met for g in goals)} of {count_noun(len(goals), 'goal')} met" if goals else "")
    return ", ".join(filter(None, parts)) or NOTHING


def rows_of(verdict: Verdict, exercise: Exercise, file: str, shown: Visibility = "all") -> Iterator[Row]:
    """Yield the rows of a verdict: failures to run, wrong cases, errors, missed goals, warnings; then successes.

    file: the name of the student's text in findings. shown: how much of hidden findings is shown.
    """
    hide = partial(hide_judged, kinds=exercise.hides, shown=shown)
    goals = [_goal_row(g, met, verdict) for g, met in zip(exercise.goals, verdict.goals, strict=False)]
    if verdict.error:
        yield Row("error", _at_line(verdict.line, verdict.error), verdict.line)
    missed, done = (_wrong_cases, _right_cases) if not verdict.asks_wrong else (_right_cases, _wrong_cases)
    yield from missed(verdict)
    yield from _findings(verdict, "error", file, hide)
    yield from (row for row in goals if row.sign == "error")
    yield from _findings(verdict, "warning", file, hide)
    yield from (row for row in goals if row.sign == "right")
    yield from done(verdict)


def _wrong_cases(verdict: Verdict) -> Iterator[Row]:
    """Yield the details of the first wrong case, a summary of the others, and the cases that did not finish."""
    wrong = [(number, case) for number, case in enumerate(verdict.cases, 1) if not case.correct]
    for number, case in wrong[:1]:
        launch = f" in {launch_text(case).replace(' x ', ' × ')}"
        yield _case_row(number, case, launch, "; ".join(map(_wrong, case.wrong)), verdict)
    others = [(number, case) for number, case in wrong[1:] if not case.error]
    if others:
        text = "; ".join(f"{case_name(case, number)} ({_how_much(case)})" for number, case in others)
        tip = "\n".join(case_text(case, number) for number, case in others)
        yield Row("right" if verdict.asks_wrong else "error", f"Also wrong: {text}", tip=tip)
    yield from (_case_row(number, case, "", "", verdict) for number, case in wrong[1:] if case.error)


def _case_row(number: int, case: CaseResult, launch: str, wrong: str, verdict: Verdict) -> Row:
    ended = ENDLESS if _is_explained(case, verdict) else result_text(case)
    text = f"{case_name(case, number)}{launch}: {ended if case.error else wrong}"
    sign: Sign = "right" if verdict.asks_wrong and not case.error else "error"
    return Row(sign, text, case.line, tip=case_text(case, number))


def _is_explained(case: CaseResult, verdict: Verdict) -> bool:
    """Return True if a finding explains why a case did not finish."""
    reason = case.error.removesuffix(".").casefold()
    return bool(reason) and any(reason in finding.message.casefold() for finding in verdict.findings)


def _wrong(argument: WrongArgument) -> str:
    """Describe the number of wrong elements of an argument, and the first one."""
    amount = (
        f"{argument.differing:,} of {count_noun(argument.elements, 'element')} of {argument.argument} wrong"
    )
    where = f"{argument.argument}[{INSIDE.join(map(str, argument.index))}]"
    nothing = f"; {argument.argument} was not changed" if argument.untouched else ""
    return f"{amount}; {where} is {argument.got}, expected {argument.expected}{nothing}"


def _how_much(case: CaseResult) -> str:
    """Count the wrong elements of a case, in all arguments that have some."""
    differing, elements = sum(a.differing for a in case.wrong), sum(a.elements for a in case.wrong)
    return f"{differing:,} of {elements:,}"


def _right_cases(verdict: Verdict) -> Iterator[Row]:
    """Yield one row for all cases that are right."""
    right = [case_name(case, number) for number, case in enumerate(verdict.cases, 1) if case.correct]
    if right and verdict.asks_wrong:
        yield Row("error", f"Still right in this order: {'; '.join(right)}")
    elif right:
        yield Row("right", f"Right: {'; '.join(right)}")


def _findings(
    verdict: Verdict, severity: Literal["error", "warning"], file: str, hide: Hide
) -> Iterator[Row]:
    findings = [
        (finding, case) for finding, case in verdict.findings_by_case() if finding.severity == severity
    ]
    findings = list(dict.fromkeys((hide([finding])[0], case) for finding, case in findings))
    for finding, case in findings[:MOST_FINDINGS]:
        line = finding.line if finding.file == file else 0
        counts = severity == "warning" and len(verdict.cases) > 1  # the goals use the counts of another case
        of_case = case_name(verdict.cases[case - 1], case) if case > 1 or (case and counts) else ""
        where = ", ".join(filter(None, (f"line {line}" if line else "", of_case)))
        message = f"{finding.kind}: {finding.message}"
        yield Row(severity, f"{where[:1].upper()}{where[1:]}: {message}" if where else message, line)
    if len(findings) > MOST_FINDINGS:
        yield Row(severity, f"and {len(findings) - MOST_FINDINGS:,} more, of the kinds above or others")


def case_name(case: CaseResult, number: int) -> str:
    """Name a case: "n = 1,000", or by its number if it has no sizes."""
    sizes = ", ".join(f"{name} = {value:,}" for name, value in case.sizes.items())
    return sizes or f"Case {number}"


def _at_line(line: int, sentence: str) -> str:
    return f"Line {line}: {sentence}" if line else sentence


def _goal_row(goal: Goal, met: GoalVerdict, verdict: Verdict) -> Row:
    names = names_of_case(verdict.cases[-1], verdict.stub_counters)
    counters = dict.fromkeys(name.removeprefix(f"{STUB}.") for name in names_in(goal.expression.tree))
    table = [row for row in (_numbers(name, names) for name in counters) if row is not None]
    telling = [row for row in table if row[1:] != ("0", "0")] or table  # some terms of a sum may be unused
    return Row(
        "right" if met.met else "error",
        f"Goal {'met' if met.met else 'missed'}: {goal.words}",
        0,
        tuple(telling),
        spoken(goal.expression.text),
        "" if met.met else _comparison(goal, names),
    )


def _comparison(goal: Goal, names: Environment) -> str:
    """Compare the number of a goal with its bound: "you: 10,000, allowed: at most 2,500".

    A factor of that number is moved to the other side. "" if the goal does not compare two numbers.
    """
    tree = goal.expression.tree
    if not (isinstance(tree, ast.Compare) and len(tree.ops) == 1 and type(tree.ops[0]) in ALLOWED):
        return ""
    own, factor = _without_factor(tree.left)
    try:
        own_value, allowed = (
            parse(ast.unparse(side)).evaluate(names).value for side in (own, tree.comparators[0])
        )
    except ExpressionError:
        return ""
    if isinstance(allowed, int | float) and factor > 0:
        allowed = allowed // factor if allowed % factor == 0 else allowed / factor
    own_text, limit = (quantity_text(Quantity(value)) for value in (own_value, allowed))
    return f"you: {own_text}, allowed: {ALLOWED[type(tree.ops[0])]} {limit}"


def _without_factor(side: ast.expr) -> tuple[ast.expr, int]:
    """Split a side of a comparison into an expression and its integer factor."""
    if isinstance(side, ast.BinOp) and isinstance(side.op, ast.Mult):
        for number, other in ((side.left, side.right), (side.right, side.left)):
            if isinstance(number, ast.Constant) and type(number.value) is int:
                return other, number.value
    return side, 1


def _numbers(name: str, names: Environment) -> tuple[str, str, str] | None:
    """Return a counter's name, value and stub value; None if it is not a counter."""
    try:
        values = [parse(text).evaluate(names) for text in (name, f"{STUB}.{name}")]
    except ExpressionError:
        return None
    own, stub = (quantity_text(Quantity(number.value)) for number in values)  # without rounding bytes
    return spoken(name), own, stub


def spoken(expression: str) -> str:
    """Write an expression in words: "16 × global load requests ≤ the stub's global load requests"."""
    words = (SIGNS.get(word, word) for word in expression.split())
    return " ".join(words).replace(f"{STUB}.", "the stub's ").replace("_", " ")
