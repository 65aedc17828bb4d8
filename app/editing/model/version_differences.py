"""The differences between two versions of a kernel: counters, findings, result, moments. No Qt."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np
from msgspec import Struct

from ....tracer.model.finding import Finding, count_noun
from ....tracer.model.trace import Op
from ....tracer.run.worker_events import EARLY_NOTICE
from ...model.session import Session, buffer_text, have_same_inputs
from ...views.common.wording import is_right_by_luck

# Compared counters: name, and the space and measure that are summed, as below a pane.
COUNTERS = (
    ("global sectors", "global", "sectors"),
    ("global requests", "global", "requests"),
    ("shared wavefronts", "shared", "wavefronts"),
    ("shared requests", "shared", "instructions"),
)


RIGHT_NOW = "the result is now right"
OTHER_INPUTS = "inputs differ, so results are not compared"


class NumberChange(Struct, frozen=True):
    """A number that differs between the versions."""

    name: str  # of the counter
    before: int
    after: int


class FindingChange(Struct, frozen=True):
    """A change in the number of findings of a kind."""

    kind: str  # in FINDING_KINDS
    severity: str  # the worst of them
    more: int  # negative for fewer findings
    first: Finding | None  # the first new one, None for fewer findings


class VersionDifferences(Struct, frozen=True):
    """The differences between two versions; findings are None until both are known."""

    numbers: tuple[NumberChange, ...]  # counters and moments
    findings: tuple[FindingChange, ...] | None  # errors first
    result: str  # describes the final memory, "" if both versions leave the same
    is_part: bool  # whether the counters of either version cover only a part of its launch


def version_differences(before: Session, after: Session) -> VersionDifferences:
    """Compare two versions."""
    are_examined = before.is_examined and after.is_examined
    return VersionDifferences(
        numbers=tuple(n for n in _numbers(before, after) if n.before != n.after),
        findings=tuple(_findings(before.findings, after.findings)) if are_examined else None,
        result=_result(before, after),
        is_part=any(len(s.trace) < s.trace.accesses and not s.trace.totals for s in (before, after)),
    )


def _numbers(before: Session, after: Session) -> Iterator[NumberChange]:
    old, new = (
        session.trace.totals or session.counters.values_at(session.end) for session in (before, after)
    )
    for name, space, measure in COUNTERS:
        yield NumberChange(name, _sum(old, space, measure), _sum(new, space, measure))
    yield NumberChange("moments", before.end, after.end)


def _sum(counters: dict[str, int], space: str, measure: str) -> int:
    return sum(n for name, n in counters.items() if name.startswith(space) and name.endswith(measure))


def _findings(before: tuple[Finding, ...], after: tuple[Finding, ...]) -> Iterator[FindingChange]:
    """Yield the kinds whose number changed; both lists have errors first."""
    had, has = Counter(f.kind for f in before), Counter(f.kind for f in after)
    for kind in dict.fromkeys([*(f.kind for f in after), *(f.kind for f in before)]):
        if had[kind] != has[kind]:
            more = has[kind] > had[kind]
            shown = next(f for f in (after if more else before) if f.kind == kind)
            yield FindingChange(kind, shown.severity, has[kind] - had[kind], shown if more else None)


def _result(before: Session, after: Session) -> str:
    """Describe the final memory: compared with NumPy if it was checked, else with the other version."""
    if EARLY_NOTICE in after.trace.notice:
        return ""  # lockstep's order, still to come, may give another result
    error = after.trace.error
    if error is not None:
        return f"raises {error.type} on line {error.line}"
    old, new = before.trace.check, after.trace.check
    if old is not None and new is not None:
        if old.equal and new.equal:
            return (
                "the result is right by luck"
                if is_right_by_luck(after) and not is_right_by_luck(before)
                else ""
            )
        if new.equal:
            return RIGHT_NOW
        if (old.equal, old.differing) != (new.equal, new.differing):
            return f"the result is wrong in {new.differing:,} of {new.elements:,} elements"
    if not have_same_inputs(before, after):
        return OTHER_INPUTS
    differing = sum(_differing(before, after, number) for number in _written(after))
    return f"the result differs in {count_noun(differing, 'element')}" if differing else ""


def _written(session: Session) -> list[int]:
    """List the global buffers that a launch writes."""
    written = np.unique(session.requests.buffer[session.requests.op != Op.LOAD]).tolist()
    return [number for number in written if session.trace.buffers[number].space == "global"]


def _differing(before: Session, after: Session, number: int) -> int:
    """Count the elements of a buffer whose final values differ between the versions."""
    name = buffer_text(after.trace.buffers[number])
    matches = [
        n for n, b in enumerate(before.trace.buffers) if buffer_text(b) == name and b.space == "global"
    ]
    if not matches or before.trace.buffers[matches[0]].shape != after.trace.buffers[number].shape:
        return 0
    old, new = before.memory.values(matches[0], before.end), after.memory.values(number, after.end)
    return int(
        (~np.isclose(old, new, equal_nan=True)).sum() if old.dtype.kind in "fc" else (old != new).sum()
    )
