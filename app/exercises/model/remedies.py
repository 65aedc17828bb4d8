"""Remedies of an exercise's findings: shown once a trial on the first case has proven them."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from ....tracer.analysis.requests import requests_of
from ....tracer.findings.all_findings import findings_of
from ....tracer.judging.result import JudgedFinding
from ....tracer.model.finding import Finding, source_location
from ....tracer.model.trace import Trace
from ....tracer.remedies.candidates import is_mechanical
from ....tracer.remedies.trial import Trials, with_fix, with_remedy, without_remedy
from .verdict import Verdict

Key = tuple[str, str, int]  # kind, file and line


def leave_out_untried(findings: Sequence[JudgedFinding]) -> tuple[JudgedFinding, ...]:
    """Drop the remedies that have to be tried first."""
    return tuple(
        replace(finding, message=without_remedy(finding.message, finding.remedy), remedy="")
        if is_mechanical(finding)
        else finding
        for finding in findings
    )


def with_remedies(verdict: Verdict, findings: Sequence[Finding], trace: Trace) -> Verdict:
    """Add the proven remedies of the first case's findings to a verdict."""
    proven: dict[Key, str] = {
        (finding.kind, *source_location(finding, trace)): finding.remedy
        for finding in findings
        if finding.fixed_text
    }
    cases = [
        replace(case, findings=tuple(_with_remedy(finding, proven) for finding in case.findings))
        for case in verdict.cases
    ]
    return replace(verdict, cases=tuple(cases)) if proven else verdict


def _with_remedy(finding: JudgedFinding, proven: dict[Key, str]) -> JudgedFinding:
    remedy = proven.get((finding.kind, finding.file, finding.line), "")
    if not remedy or finding.remedy:
        return finding
    return replace(finding, message=with_remedy(finding.message, remedy), remedy=remedy)


def prove_remedies(verdict: Verdict) -> Verdict:
    """Try the remedies of the first case's findings, and add those that work."""
    trace = verdict.trace
    if trace is None or not any(case.findings for case in verdict.cases):
        return verdict
    findings = findings_of(trace, requests_of(trace))
    untried = [finding for finding in findings if is_mechanical(finding)]
    proven = Trials().prove_findings(trace, untried, findings) if untried else []
    return with_remedies(verdict, [with_fix(finding, fix.remedy, fix.text) for finding, fix in proven], trace)
