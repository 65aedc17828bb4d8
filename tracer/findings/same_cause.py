"""Findings that one change of the kernel mends are one: the worst is told, with the other places."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from msgspec.structs import replace

from ..model.array_types import AnyInts
from ..model.finding import SEVERITIES, Finding, Place, source_location
from ..model.trace import Trace


def one_for_each_cause(findings: Sequence[Finding], trace: Trace) -> list[Finding]:
    """Return findings, of those of one kind and cause just the worst, which names the places of the others."""
    alike: dict[tuple[str, str], list[Finding]] = {}
    for number, finding in enumerate(findings):
        alike.setdefault((finding.kind, finding.cause or str(number)), []).append(finding)
    return [together(some, trace) if len(some) > 1 else some[0] for some in alike.values()]


def together(findings: Sequence[Finding], trace: Trace) -> Finding:
    """Return one finding for some of one cause."""
    # What is wrong is followed from where it begins, waste from where it costs most.
    first, *others = sorted(findings, key=lambda f: _rank(f, trace))
    file, line = source_location(first, trace)
    places = [(*source_location(finding, trace), finding.name) for finding in others]
    found = {Place("" if at == file else at, number, name) for at, number, name in places}
    found.update(place for finding in findings for place in finding.also)
    return replace(
        first,
        sites=tuple(dict.fromkeys(site for finding in (first, *others) for site in finding.sites)),
        rows=_united([finding.rows for finding in findings]),
        also=tuple(sorted(found - {Place("", line, first.name)})),
    )


def _rank(finding: Finding, trace: Trace) -> tuple[int, int]:
    line = source_location(finding, trace)[1]
    return SEVERITIES.index(finding.severity), line if finding.severity == "error" else -finding.count


def _united(rows: Sequence[AnyInts]) -> AnyInts:
    """Return the rows that are in any, ascending, in as few bits as the first has."""
    there = np.zeros(1 + max(int(some.max(initial=0)) for some in rows), bool)
    for some in rows:
        there[some] = True
    return np.flatnonzero(there).astype(rows[0].dtype, copy=False)
