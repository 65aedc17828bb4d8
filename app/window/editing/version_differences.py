"""What tells two versions of one kernel apart: counters, findings, result, moments. No Qt."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np
from msgspec import Struct

from ....tracer.model.finding import Finding, counted
from ....tracer.model.trace import Op
from ....tracer.run.worker_events import EARLY
from ...model.session import Session, buffer_text
from ...views.common.wording import is_lucky

# Counters that are compared: what it is called, and the space and measure that are summed up, as under a pane.
COUNTERS = (
    ("global sectors", "global", "sectors"),
    ("global requests", "global", "requests"),
    ("shared wavefronts", "shared", "wavefronts"),
    ("shared requests", "shared", "instructions"),
)


RIGHT_NOW = "the result is right now"


class NumberChange(Struct, frozen=True):
    """A number that is not the same in both versions."""

    name: str  # what is counted
    before: int
    after: int


class FindingChange(Struct, frozen=True):
    """Findings of a kind of which there are more or fewer now."""

    kind: str  # in FINDING_KINDS
    severity: str  # the worst of them
    more: int  # negative where there are fewer
    first: Finding | None  # the first of the new ones, None where there are fewer


class VersionDifferences(Struct, frozen=True):
    """What differs between two versions; findings are None while they are not known of both."""

    numbers: tuple[NumberChange, ...]  # counters and moments
    findings: tuple[FindingChange, ...] | None  # errors first
    result: str  # a few words on what is in memory at the end, "" where both left the same
    is_part: bool  # whether the counters are of a part of a launch, in one of the two


def are_versions(before: Session, after: Session) -> bool:
    """Return whether two sessions are one kernel on the same data, of which the text was changed in between."""
    one, other = before.launch, after.launch
    same = (one.kernel, one.grid, one.block, one.arguments, one.scenario, one.constants)
    changed = (other.kernel, other.grid, other.block, other.arguments, other.scenario, other.constants)
    return same == changed and one.source != other.source


def version_differences(before: Session, after: Session) -> VersionDifferences:
    """Return what the version after does otherwise than the one before."""
    known = before.is_examined and after.is_examined
    return VersionDifferences(
        numbers=tuple(n for n in _numbers(before, after) if n.before != n.after),
        findings=tuple(_findings(before.findings, after.findings)) if known else None,
        result=_result(before, after),
        is_part=any(len(s.trace) < s.trace.accesses and not s.trace.totals for s in (before, after)),
    )


def _numbers(before: Session, after: Session) -> Iterator[NumberChange]:
    one, other = (session.trace.totals or session.counters.at(session.end) for session in (before, after))
    for name, space, measure in COUNTERS:
        yield NumberChange(name, _sum(one, space, measure), _sum(other, space, measure))
    yield NumberChange("moments", before.end, after.end)


def _sum(counters: dict[str, int], space: str, measure: str) -> int:
    return sum(n for name, n in counters.items() if name.startswith(space) and name.endswith(measure))


def _findings(before: tuple[Finding, ...], after: tuple[Finding, ...]) -> Iterator[FindingChange]:
    """Yield the kinds of which the number changed; both lists have errors first."""
    had, has = Counter(f.kind for f in before), Counter(f.kind for f in after)
    for kind in dict.fromkeys([*(f.kind for f in after), *(f.kind for f in before)]):
        if had[kind] != has[kind]:
            more = has[kind] > had[kind]
            shown = next(f for f in (after if more else before) if f.kind == kind)
            yield FindingChange(kind, shown.severity, has[kind] - had[kind], shown if more else None)


def _result(before: Session, after: Session) -> str:
    """Say what the versions left in memory: against NumPy where it was checked, else against each other."""
    if EARLY in after.trace.notice:
        return ""  # it may be another in the order of lockstep, which is being made
    error = after.trace.error
    if error is not None:
        return f"raises {error.type} on line {error.line}"
    one, other = before.trace.check, after.trace.check
    if one is not None and other is not None:
        if one.equal and other.equal:
            return "the result is right by luck" if is_lucky(after) and not is_lucky(before) else ""
        if other.equal:
            return RIGHT_NOW
        if (one.equal, one.differing) != (other.equal, other.differing):
            return f"the result is wrong in {other.differing:,} of {other.elements:,} elements"
    differing = sum(_differing(before, after, number) for number in _written(after))
    return f"the result differs in {counted(differing, 'element')}" if differing else ""


def _written(session: Session) -> list[int]:
    """Return the global buffers that a launch writes."""
    written = np.unique(session.requests.buffer[session.requests.op != Op.LOAD]).tolist()
    return [number for number in written if session.trace.buffers[number].space == "global"]


def _differing(before: Session, after: Session, number: int) -> int:
    """Return in how many elements of a buffer the two versions end with another value."""
    name = buffer_text(after.trace.buffers[number])
    like = [n for n, b in enumerate(before.trace.buffers) if buffer_text(b) == name and b.space == "global"]
    if not like or before.trace.buffers[like[0]].shape != after.trace.buffers[number].shape:
        return 0
    one, other = before.memory.values(like[0], before.end), after.memory.values(number, after.end)
    return int(
        (~np.isclose(one, other, equal_nan=True)).sum() if one.dtype.kind in "fc" else (one != other).sum()
    )
