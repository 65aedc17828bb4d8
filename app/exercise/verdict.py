"""What is said of a student's kernel: each case, the goals, and whether the exercise is passed."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct, field

from ...tracer.judging.result import CaseResult, JudgedFinding
from ...tracer.model.finding import SEVERITIES
from ...tracer.model.trace import Trace


class GoalVerdict(Struct, frozen=True):
    """Whether a goal is met by the last case."""

    words: str  # "no bank conflicts"
    met: bool
    expression: str  # what it needs: "shared_wavefronts == shared_requests"
    measured: str  # what the names in it came to: "shared_wavefronts 64, shared_requests 32"


class Verdict(Struct, frozen=True, eq=False):
    """What a student's file came to."""

    exercise: str  # the name of the exercise
    passed: bool  # whether all cases are right, nothing is an error, and all goals are met
    error: str = ""  # why there are no cases, or fewer than the judge has: one sentence; else ""
    line: int = 0  # of the student's file, of that error; 0 where that is not known
    cases: tuple[CaseResult, ...] = ()  # in the judge's order, up to the first that did not end
    compiled: tuple[
        JudgedFinding, ...
    ] = ()  # what Numba's compiler makes of the kernel: a refusal is an error
    goals: tuple[GoalVerdict, ...] = ()  # none where the last case did not end
    stub_counters: Mapping[str, int] = field(default_factory=dict)  # of the stub as shipped, on the last case
    seconds: float = 0.0  # that it took to come to this
    trace: Trace | None = None  # of the first case, whose launch has the student's text as its source

    @property
    def counters(self) -> Mapping[str, int]:
        """Those of the last case, which the goals are about."""
        return self.cases[-1].counters if self.cases else {}

    @property
    def findings(self) -> tuple[JudgedFinding, ...]:
        """What is told of all cases and by Numba's compiler, each once: errors first, then as they come."""
        return tuple(finding for finding, _ in self.findings_by_case())

    def findings_by_case(self) -> list[tuple[JudgedFinding, int]]:
        """Return the same, each with the first case, from 1, of which it is told; 0 for what the compiler told."""
        told: dict[tuple[str, str, str, int], tuple[JudgedFinding, int]] = {}
        found = [self.compiled, *(case.findings for case in self.cases)]
        for number, findings in enumerate(found):
            for finding in findings:
                told.setdefault(
                    (finding.kind, finding.severity, finding.file, finding.line), (finding, number)
                )
        return sorted(told.values(), key=lambda one: SEVERITIES.index(one[0].severity))
