"""Verdicts as text for terminals, and as JSON for graders: docs/pages/how-to/exercises.md describes the keys."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from msgspec import to_builtins

from ....tracer.judging.result import CaseResult, JudgedFinding, WrongArgument
from ....tracer.model.finding import count_noun
from ....tracer.model.launch import Dim3
from .document import Exercise
from .verdict import GoalVerdict, Verdict


def verdict_text(verdict: Verdict, exercise: Exercise, file: str) -> list[str]:
    """List the lines of the report on a file: its cases, findings, goals, and the verdict."""
    lines = [case_text(case, number) for number, case in enumerate(verdict.cases, 1)]
    if verdict.error:
        lines.append(
            f"{file}:{verdict.line}: {verdict.error}" if verdict.line else f"{file}: {verdict.error}"
        )
    lines += [finding_text(finding, case, file) for finding, case in verdict.findings_by_case()]
    lines += [goal_text(goal) for goal in verdict.goals]
    return [*lines, f"{exercise.title}: {'passed' if verdict.passed else 'not passed yet'}"]


def case_text(case: CaseResult, number: int) -> str:
    """Format a case as one line: "case 1, 3 blocks of 4 threads, n = 10: right"."""
    sizes = "".join(f", {name} = {value:,}" for name, value in case.sizes.items())
    return f"case {number}, {launch_text(case)}{sizes}: {result_text(case)}"


def launch_text(case: CaseResult) -> str:
    """Describe a launch: "3 blocks of 4 threads"."""
    return f"{_shape(case.grid, 'block')} of {_shape(case.block, 'thread')}"


def _shape(lengths: Dim3, noun: str) -> str:
    """Format numbers of blocks or threads: 3 blocks, 4 x 4 threads."""
    used = max((axis + 1 for axis in range(3) if lengths[axis] > 1), default=1)
    if used == 1:
        return count_noun(lengths[0], noun)
    return f"{' x '.join(f'{n:,}' for n in lengths[:used])} {noun}s"


def result_text(case: CaseResult) -> str:
    """Describe the result of a case: "right", the first mistake, or the reason why it did not end."""
    if case.error:
        return f"line {case.line}: {case.error}" if case.line else case.error
    return "; ".join(map(wrong_text, case.wrong)) if case.wrong else "right"


def wrong_text(wrong: WrongArgument) -> str:
    """Describe a wrong argument: "wrong, 3 of 1,000 elements of out; out[7] is 0.0, expected 17.0"."""
    where = f"{wrong.argument}[{', '.join(map(str, wrong.index))}]"
    first = f"{where} is {wrong.got}, expected {wrong.expected}"
    differing = f"{wrong.differing:,} of {count_noun(wrong.elements, 'element')} of {wrong.argument}"
    error = wrong.largest_error
    largest = f"; off by {error:.3g} at most" if error is not None and wrong.differing > 1 else ""
    untouched = f"; {wrong.argument} is unchanged" if wrong.untouched else ""
    return f"wrong, {differing}; {first}{largest}{untouched}"


def finding_text(finding: JudgedFinding, case: int, file: str) -> str:
    """Format a finding as `tilescope check` does, with the case of its numbers, 0 for none."""
    where = f"{_file_name(finding, file)}:{finding.line}"
    of_case = f" (case {case})" if case else ""
    return f"{where}: {finding.severity}: {finding.kind}: {finding.message.removesuffix('.')}{of_case}."


def goal_text(goal: GoalVerdict) -> str:
    """Format a goal as one line."""
    return f"goal {'met' if goal.met else 'missed'}: {goal.words}: {goal.expression}, with {goal.measured}"


def json_of(verdict: Verdict, file: str) -> str:
    """Encode a verdict as JSON, with the keys that docs/pages/how-to/exercises.md describes."""
    cases = [
        {"case": number, **to_builtins(case), "findings": _finding_data(case.findings, file)}
        for number, case in enumerate(verdict.cases, 1)
    ]
    goals = [
        {"words": g.words, "met": g.met, "needs": g.expression, "measured": g.measured} for g in verdict.goals
    ]
    data = {
        "exercise": verdict.exercise, "file": file, "passed": verdict.passed, "error": verdict.error,
        "line": verdict.line, "cases": cases, "compiler": _finding_data(verdict.compiled, file), "goals": goals,
        "counters": dict(verdict.counters), "stub_counters": dict(verdict.stub_counters), "seconds": verdict.seconds,
    }  # fmt: skip
    return json.dumps(data, indent=1)


def _finding_data(findings: Sequence[JudgedFinding], file: str) -> list[dict[str, Any]]:
    return [{**to_builtins(finding), "file": _file_name(finding, file)} for finding in findings]


def _file_name(finding: JudgedFinding, file: str) -> str:
    """Return the file of a finding; for the student's file, the name that the user gave."""
    return file if finding.file == str(Path(file).absolute()) else finding.file


def task_text(exercise: Exercise) -> Iterator[str]:
    """Yield the lines of a task for a terminal: title, text, goals."""
    yield f"{exercise.number}. {exercise.title}"
    for paragraph in exercise.task.paragraphs:
        text = "".join(span.text for span in paragraph.spans)
        yield ""
        yield f"{paragraph.bullet} {text}" if paragraph.bullet else text
    for goal in exercise.goals:
        yield f"\nGoal: {goal.words} ({goal.expression.text})."
