"""The verdict on a student's kernel: each case, the goals, and whether the exercise is passed."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct, field

from ....tracer.judging.result import CaseResult, JudgedFinding
from ....tracer.model.finding import SEVERITIES
from ....tracer.model.trace import Trace


class GoalVerdict(Struct, frozen=True):
    """The verdict on a goal, for the last case."""

    words: str  # "no bank conflicts"
    met: bool
    expression: str  # the condition: "shared_wavefronts == shared_requests"
    measured: str  # the values of its names: "shared_wavefronts 64, shared_requests 32"


class Verdict(Struct, frozen=True, eq=False):
    """The verdict on a student's file."""

    exercise: str  # the name of the exercise
    # Whether all cases are right, or wrong if that is the task; no finding is an error, and all goals are met.
    passed: bool
    error: str = ""  # one sentence if cases are missing, else ""
    line: int = 0  # of that error in the student's file; 0 if unknown
    cases: tuple[CaseResult, ...] = ()  # in the judge's order, up to the first that did not end
    compiled: tuple[JudgedFinding, ...] = ()  # findings of Numba's compiler; a refusal is an error
    goals: tuple[GoalVerdict, ...] = ()  # none if the last case did not end
    stub_counters: Mapping[str, int] = field(default_factory=dict)  # of the stub as shipped, on the last case
    seconds: float = 0.0  # duration of the judging
    trace: Trace | None = None  # of the pictured case; its launch has the student's text as its source
    asks_wrong: bool = False  # whether the task is to make the cases wrong
    pictured: int = (
        0  # the case of `trace`, from 1: the first with a fault, else the first; 0 without a trace
    )

    @property
    def counters(self) -> Mapping[str, int]:
        """The counters of the last case, which the goals use."""
        return self.cases[-1].counters if self.cases else {}

    @property
    def findings(self) -> tuple[JudgedFinding, ...]:
        """The findings of all cases and of Numba's compiler, each once: errors first, then in order."""
        return tuple(finding for finding, _ in self.findings_by_case())

    def findings_by_case(self) -> list[tuple[JudgedFinding, int]]:
        """Return the same, each with its first case, from 1; 0 for a finding of the compiler.

        A later case's finding is the same if an earlier one has its kind and severity on its line.
        """
        first_findings: list[tuple[JudgedFinding, int]] = []
        places: set[tuple[str, str, str, int]] = set()
        groups = [self.compiled, *(case.findings for case in self.cases)]
        for number, findings in enumerate(groups):
            own = [(finding, _place(finding)) for finding in findings]
            first_findings += [(finding, number) for finding, place in own if place not in places]
            places.update(place for _, place in own)
        return sorted(first_findings, key=lambda item: SEVERITIES.index(item[0].severity))


def _place(finding: JudgedFinding) -> tuple[str, str, str, int]:
    return finding.kind, finding.severity, finding.file, finding.line
