"""Remedies of an exercise's findings: shown once a trial on the pictured case has proven them."""

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
from ....tracer.remedies.trial import leave_out_untried as without_untried
from .verdict import Verdict


def leave_out_untried(findings: Sequence[JudgedFinding]) -> tuple[JudgedFinding, ...]:
    """Drop the remedies that have to be tried first."""
    return tuple(
        replace(finding, message=without_remedy(finding.message, finding.remedy), remedy="")
        if is_mechanical(finding)
        else finding
        for finding in findings
    )


def with_remedies(verdict: Verdict, findings: Sequence[Finding], trace: Trace) -> Verdict:
    """Add the proven remedies of the pictured case's findings to a verdict.

    A finding of another case gets the remedy of its line if the pictured case has one finding of that kind there.
    """
    if not any(finding.fixed_text for finding in findings):
        return verdict
    at_line: dict[tuple[str, str, int], list[Finding]] = {}
    for finding in findings:
        at_line.setdefault((finding.kind, *source_location(finding, trace)), []).append(finding)

    def with_own_remedy(finding: JudgedFinding) -> JudgedFinding:
        candidates = at_line.get((finding.kind, finding.file, finding.line), [])
        same = [other for other in candidates if _known_part(other) == finding.message]
        own = same or candidates
        if finding.remedy or len(own) != 1 or not own[0].fixed_text:
            return finding
        return replace(finding, message=with_remedy(finding.message, own[0].remedy), remedy=own[0].remedy)

    cases = [replace(case, findings=tuple(map(with_own_remedy, case.findings))) for case in verdict.cases]
    return replace(verdict, cases=tuple(cases))


def _known_part(finding: Finding) -> str:
    """Return a finding's message without its remedy."""
    return without_remedy(finding.message, finding.remedy)


def prove_remedies(verdict: Verdict) -> Verdict:
    """Try the remedies of the pictured case's findings, and add those that work."""
    trace = verdict.trace
    if trace is None or not any(case.findings for case in verdict.cases):
        return verdict
    findings = findings_of(trace, requests_of(trace))
    untried = [finding for finding in findings if is_mechanical(finding)]
    fixes = Trials().prove_findings(trace, untried, findings) if untried else []
    proven = {id(finding): with_fix(without_untried(finding), fix.remedy, fix.text) for finding, fix in fixes}
    return with_remedies(verdict, [proven.get(id(finding), finding) for finding in findings], trace)
