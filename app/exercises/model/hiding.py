"""Hide the line and remedy of findings in exercises such as "Find the race", until hints are used."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
from msgspec.structs import replace

from ....tracer.judging.result import LAUNCH_KINDS, JudgedFinding
from ....tracer.model.finding import Finding
from .document import Exercise

Visibility = Literal["kind", "place", "all"]
SOMEWHERE = "Somewhere in this kernel; the hints show where."


def visibility_of(exercise: Exercise, hints: int) -> Visibility:
    """Return the visible part of an exercise's hidden findings, after so many hints.

    The first hint shows the line, the last one the remedy.
    """
    if not exercise.hides or hints >= len(exercise.hints):
        return "all"
    return "place" if hints else "kind"


def hide_places(
    findings: Sequence[Finding], kinds: Sequence[str], shown: Visibility, *, keeps_kernel: bool = False
) -> tuple[Finding, ...]:
    """Hide the findings of some kinds: replace them by one without a line, or drop their remedies.

    Findings about the launch, which the exercise chose, are left out. keeps_kernel: whether the student must not
    change the kernel, so that no remedy is offered.
    """
    findings = [finding for finding in findings if finding.kind not in LAUNCH_KINDS]
    if keeps_kernel:
        findings = [_without_remedy(finding) for finding in findings]
    if shown == "all":
        return tuple(findings)
    if shown == "place":
        return tuple(_without_remedy(f) if f.kind in kinds else f for f in findings)
    kept = [f for f in findings if f.kind not in kinds]
    hidden = [f for f in findings if f.kind in kinds]
    return (*(_somewhere(kind, hidden) for kind in kinds if any(f.kind == kind for f in hidden)), *kept)


def hide_judged(
    findings: Sequence[JudgedFinding], kinds: Sequence[str], shown: Visibility
) -> list[JudgedFinding]:
    """Do the same for a judge's findings; a finding without a line has line 0."""
    if shown == "all":
        return list(findings)
    return [_judged(finding, shown) if finding.kind in kinds else finding for finding in findings]


def _judged(finding: JudgedFinding, shown: Visibility) -> JudgedFinding:
    if shown == "place":
        return replace(finding, message=_without_suffix(finding.message, finding.remedy), remedy="")
    return replace(finding, message=SOMEWHERE, remedy="", line=0, moment=0)


def _somewhere(kind: str, findings: Sequence[Finding]) -> Finding:
    of_kind = [finding for finding in findings if finding.kind == kind]
    return Finding(
        kind, of_kind[0].severity, SOMEWHERE, "", len(of_kind), (), np.empty(0, np.int64), (), (), 0
    )


def _without_remedy(finding: Finding) -> Finding:
    statement = _without_suffix(finding.statement, finding.remedy)
    return replace(finding, statement=statement, remedy="", fixed_text="")


def _without_suffix(statement: str, remedy: str) -> str:
    """Remove the remedy from the end of a statement."""
    begin = statement.rfind(remedy) if remedy else -1
    if begin < 0:
        return statement
    rest = statement[begin + len(remedy) :].lstrip(".")
    return f"{statement[:begin].rstrip(' ;,')}{rest}.".replace("..", ".")
