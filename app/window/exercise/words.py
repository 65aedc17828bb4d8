"""What the panel says of a verdict: its rows in order, in short lines, and the tables of goals. No Qt."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Literal

from msgspec import Struct

from ....tracer.judging.result import CaseResult, JudgedFinding, WrongArgument
from ....tracer.model.finding import counted
from ...exercise.document import Exercise
from ...exercise.goals import STUB, Goal, names_in, names_of_case
from ...exercise.hiding import Shown, hide_judged
from ...exercise.output import case_text, launch_text, result_text
from ...exercise.verdict import GoalVerdict, Verdict
from ...lecture.expressions import Environment, ExpressionError, parse
from ...lecture.quantities import Quantity, quantity_text

Hide = Callable[[Sequence[JudgedFinding]], list[JudgedFinding]]
Sign = Literal["right", "error", "warning"]  # "right" is a tick, the others are those of findings
PASSED, NOT_YET, JUDGING = "Passed", "Not passed yet", "Judging …"
NOTHING = "Your text can't be run as it is."
MOST_FINDINGS = 12  # that are told: more of them have one cause
INSIDE = ",\u00a0"  # an index stays on one line
ENDLESS = "did not come to its end, see below"
ALLOWED: dict[type[ast.cmpop], str] = {  # what a goal allows of a number
    ast.LtE: "at most", ast.GtE: "at least", ast.Eq: "exactly", ast.Lt: "less than", ast.Gt: "more than",
    ast.NotEq: "anything but",
}  # fmt: skip
SIGNS: dict[str, str] = {"<=": "≤", ">=": "≥", "==": "=", "!=": "≠", "*": "×"}


class Row(Struct, frozen=True):
    """A line of the result."""

    sign: Sign
    text: str  # one sentence, or less
    line: int = 0  # of the student's file, 0 where it is about none
    table: tuple[tuple[str, str, str], ...] = ()  # of a goal: number, the student's, the stub's
    needs: str = ""  # of a goal: what must hold
    instead: str = (
        ""  # of a goal that is missed, and compares two numbers: the student's, and what is allowed
    )
    tip: str = ""  # all of it, where the text is short


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


def rows_of(verdict: Verdict, exercise: Exercise, file: str, shown: Shown = "all") -> Iterator[Row]:
    """Yield the rows of a verdict: why it did not run, wrong cases, errors, goals missed, warnings; then what is right.

    file: what the student's text is called in findings. shown: of findings that the exercise hides.
    """
    hide = partial(hide_judged, kinds=exercise.hides, shown=shown)
    goals = [_goal_row(g, met, verdict) for g, met in zip(exercise.goals, verdict.goals, strict=False)]
    if verdict.error:
        yield Row("error", _at(verdict.line, verdict.error), verdict.line)
    yield from _wrong_cases(verdict)
    yield from _findings(verdict, "error", file, hide)
    yield from (row for row in goals if row.sign == "error")
    yield from _findings(verdict, "warning", file, hide)
    yield from (row for row in goals if row.sign == "right")
    yield from _right_cases(verdict)


def _wrong_cases(verdict: Verdict) -> Iterator[Row]:
    """Yield what is wrong with the first case that is not right, how much of the others, and which did not end."""
    wrong = [(number, case) for number, case in enumerate(verdict.cases, 1) if not case.correct]
    for number, case in wrong[:1]:
        launch = f" in {launch_text(case).replace(' x ', ' × ')}"
        yield _case_row(number, case, launch, "; ".join(map(_wrong, case.wrong)), verdict)
    others = [(number, case) for number, case in wrong[1:] if not case.error]
    if others:
        text = "; ".join(f"{case_name(case, number)} ({_how_much(case)})" for number, case in others)
        tip = "\n".join(case_text(case, number) for number, case in others)
        yield Row("error", f"Wrong too: {text}", tip=tip)
    yield from (_case_row(number, case, "", "", verdict) for number, case in wrong[1:] if case.error)


def _case_row(number: int, case: CaseResult, launch: str, wrong: str, verdict: Verdict) -> Row:
    ended = ENDLESS if _is_told(case, verdict) else result_text(case)
    text = f"{case_name(case, number)}{launch}: {ended if case.error else wrong}"
    return Row("error", text, case.line, tip=case_text(case, number))


def _is_told(case: CaseResult, verdict: Verdict) -> bool:
    """Return whether a finding says why a case did not end, and what to do."""
    why = case.error.removesuffix(".").casefold()
    return bool(why) and any(why in finding.message.casefold() for finding in verdict.findings)


def _wrong(argument: WrongArgument) -> str:
    """Return how many elements of an argument are wrong, and the first of them."""
    some = f"{argument.differing:,} of {counted(argument.elements, 'element')} of {argument.argument} wrong"
    where = f"{argument.argument}[{INSIDE.join(map(str, argument.index))}]"
    nothing = f"; {argument.argument} is as it was before" if argument.untouched else ""
    return f"{some}; {where} is {argument.got}, expected {argument.expected}{nothing}"


def _how_much(case: CaseResult) -> str:
    """Return how many elements of a case are wrong, of all its arguments that have some."""
    differing, elements = sum(a.differing for a in case.wrong), sum(a.elements for a in case.wrong)
    return f"{differing:,} of {elements:,}"


def _right_cases(verdict: Verdict) -> Iterator[Row]:
    """Yield one row for all cases that are right."""
    right = [case_name(case, number) for number, case in enumerate(verdict.cases, 1) if case.correct]
    if right:
        yield Row("right", f"Right: {'; '.join(right)}")


def _findings(
    verdict: Verdict, severity: Literal["error", "warning"], file: str, hide: Hide
) -> Iterator[Row]:
    told = [(finding, case) for finding, case in verdict.findings_by_case() if finding.severity == severity]
    told = list(dict.fromkeys((hide([finding])[0], case) for finding, case in told))
    for finding, case in told[:MOST_FINDINGS]:
        line = finding.line if finding.file == file else 0
        counts = severity == "warning" and len(verdict.cases) > 1  # numbers, which are not those of the goals
        of_case = case_name(verdict.cases[case - 1], case) if case > 1 or (case and counts) else ""
        where = ", ".join(filter(None, (f"line {line}" if line else "", of_case)))
        said = f"{finding.kind}: {finding.message}"
        yield Row(severity, f"{where[:1].upper()}{where[1:]}: {said}" if where else said, line)
    if len(told) > MOST_FINDINGS:
        yield Row(severity, f"and {len(told) - MOST_FINDINGS:,} more, of the kinds above or others")


def case_name(case: CaseResult, number: int) -> str:
    """Return what a case is called: "n = 1,000", or its number where the judge gives it no sizes."""
    sizes = ", ".join(f"{name} = {value:,}" for name, value in case.sizes.items())
    return sizes or f"Case {number}"


def _at(line: int, sentence: str) -> str:
    return f"Line {line}: {sentence}" if line else sentence


def _goal_row(goal: Goal, met: GoalVerdict, verdict: Verdict) -> Row:
    names = names_of_case(verdict.cases[-1], verdict.stub_counters)
    counters = dict.fromkeys(name.removeprefix(f"{STUB}.") for name in names_in(goal.expression.tree))
    table = [row for row in (_numbers(name, names) for name in counters) if row is not None]
    telling = [row for row in table if row[1:] != ("0", "0")] or table  # a sum has parts that nobody uses
    return Row(
        "right" if met.met else "error",
        f"Goal {'met' if met.met else 'missed'}: {goal.words}",
        0,
        tuple(telling),
        spoken(goal.expression.text),
        "" if met.met else _instead(goal, names),
    )


def _instead(goal: Goal, names: Environment) -> str:
    """Return the number that a goal is about and what it allows: "you: 10,000, allowed: at most 2,500".

    A factor of that number is taken to the other side. "" where the goal compares no two numbers.
    """
    tree = goal.expression.tree
    if not (isinstance(tree, ast.Compare) and len(tree.ops) == 1 and type(tree.ops[0]) in ALLOWED):
        return ""
    own, factor = _without_factor(tree.left)
    try:
        mine, allowed = (
            parse(ast.unparse(side)).evaluate(names).value for side in (own, tree.comparators[0])
        )
    except ExpressionError:
        return ""
    if isinstance(allowed, int | float) and factor > 0:
        allowed = allowed // factor if allowed % factor == 0 else allowed / factor
    told, limit = (quantity_text(Quantity(value)) for value in (mine, allowed))
    return f"you: {told}, allowed: {ALLOWED[type(tree.ops[0])]} {limit}"


def _without_factor(side: ast.expr) -> tuple[ast.expr, int]:
    """Return a side of a comparison without the whole number that it is multiplied by, and that number."""
    if isinstance(side, ast.BinOp) and isinstance(side.op, ast.Mult):
        for number, other in ((side.left, side.right), (side.right, side.left)):
            if isinstance(number, ast.Constant) and type(number.value) is int:
                return other, number.value
    return side, 1


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
