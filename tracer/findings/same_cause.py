"""Merging of findings with the same cause: the worst is reported, with the other places."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from msgspec.structs import replace

from ..model.array_types import AnyInts
from ..model.finding import SEVERITIES, Finding, RelatedPlace, source_location
from ..model.trace import Trace


def merge_by_cause(findings: Sequence[Finding], trace: Trace) -> list[Finding]:
    """Merge the findings of one kind and cause into the worst of them, which lists the places of the others."""
    groups: dict[tuple[str, str], list[Finding]] = {}
    for number, finding in enumerate(findings):
        groups.setdefault((finding.kind, finding.cause or str(number)), []).append(finding)
    return [merge_findings(group, trace) if len(group) > 1 else group[0] for group in groups.values()]


def merge_findings(findings: Sequence[Finding], trace: Trace) -> Finding:
    """Merge findings of one cause into one."""
    # Errors are shown at their first line, waste at its most expensive one.
    first, *others = sorted(findings, key=lambda f: _rank(f, trace))
    file, line = source_location(first, trace)
    places = [(*source_location(finding, trace), finding.name) for finding in others]
    unique_places = {
        RelatedPlace("" if other_file == file else other_file, number, name)
        for other_file, number, name in places
    }
    unique_places.update(place for finding in findings for place in finding.also)
    return replace(
        first,
        sites=tuple(dict.fromkeys(site for finding in (first, *others) for site in finding.sites)),
        rows=_united([finding.rows for finding in findings]),
        also=tuple(sorted(unique_places - {RelatedPlace("", line, first.name)})),
    )


def _rank(finding: Finding, trace: Trace) -> tuple[int, int]:
    line = source_location(finding, trace)[1]
    return SEVERITIES.index(finding.severity), line if finding.severity == "error" else -finding.count


def _united(rows: Sequence[AnyInts]) -> AnyInts:
    """Merge row numbers, ascending and without repeats, in the first array's dtype."""
    present = np.zeros(1 + max(int(part.max(initial=0)) for part in rows), bool)
    for part in rows:
        present[part] = True
    return np.flatnonzero(present).astype(rows[0].dtype, copy=False)
