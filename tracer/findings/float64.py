"""Arithmetic that Numba compiles as float64 in a kernel on float32 arrays, from its type inference.

Python's numbers are float64 to Numba ("Types and signatures" in its manual), so `total = 0.0` makes a sum of
float32 products one of float64, which most GPUs compute at 1/32 or 1/64 of the speed (throughput table of the
CUDA C++ Programming Guide).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..analysis.requests import Requests
from ..model.finding import Finding, RelatedPlace, count_noun
from ..model.trace import Trace
from ..type_inference.client import Operation

KIND = "float64"
MOST = 3  # causes, remedies and names of operations that are listed


class Float64Line(NamedTuple):
    """The first line of float64 operations of one cause, or of a loop that has them, and the message about them."""

    file: str  # name of the source, as in Site
    line: int  # from 1
    number: int  # of operations
    severity: str  # a note where no array holds floats, since the precision may be wanted
    message: str  # one sentence, which ends with the remedy
    remedy: str  # what keeps them in float32
    also: tuple[RelatedPlace, ...] = ()  # the other lines


def float64_lines(operations: Sequence[Operation]) -> list[Float64Line]:
    """Group float64 operations by cause, in the order of their lines, where no array holds float64.

    Operations that one number made float64 are one group, since one change mends them all.
    """
    alike: list[tuple[set[_Origin], list[Operation]]] = []
    for operation in operations:
        origins, members = _origins(operation), [operation]
        for group in [group for group in alike if group[0] & origins]:
            alike.remove(group)
            origins, members = origins | group[0], group[1] + members
        alike.append((origins, members))
    return sorted(_described(sorted(members, key=lambda o: (o.file, o.line))) for _, members in alike)


_Origin = tuple[
    str, int, str
]  # the file and line of an operation or a loop, with "", or those of a cause, with its text


def _origins(operation: Operation) -> set[_Origin]:
    """Return the keys that an operation shares with others of the same cause."""
    file = operation.file
    if operation.loop:
        return {(file, operation.loop, "loop")}
    return {(file, operation.line, ""), *((file, line, text) for text, line, _ in operation.causes)}


def _described(operations: list[Operation]) -> Float64Line:
    count, first = len(operations), operations[0]
    file, is_loop = first.file, first.loop > 0
    line = first.loop or first.line
    causes = dict.fromkeys(cause for operation in operations for cause in operation.causes)
    remedy = _remedy(list(dict.fromkeys(remedy for *_, remedy in causes)))
    names = _listed(list(dict.fromkeys(operation.name for operation in operations)))
    verb = "is" if count == 1 else "are"
    subject = f"{count_noun(count, 'operation')} ({names}) {'of this loop ' * is_loop}{verb} float64"
    if is_loop:
        remedy = f"where float32 is precise enough, {remedy}"
        return Float64Line(
            file, line, count, "note", f"{subject} though no array holds floats; {remedy}.", remedy
        )
    cause_text = _listed(
        [
            text if cause_line in (0, line) else f"{text} on line {cause_line}"
            for text, cause_line, _ in causes
        ]
    )
    also = tuple(
        RelatedPlace("", other) for other in sorted({operation.line for operation in operations} - {line})
    )
    return Float64Line(
        file, line, count, "warning", f"{subject} because of {cause_text}; {remedy}.", remedy, also
    )


def _listed(texts: list[str]) -> str:
    """Return texts, at least one, as "a, b and c", or "a, b, c and 2 more"."""
    *shown, last = texts if len(texts) <= MOST + 1 else [*texts[:MOST], f"{len(texts) - MOST} more"]
    return f"{', '.join(shown)} and {last}" if shown else last


def _remedy(remedies: list[str]) -> str:
    """Join remedies, each verb once: write float32(1) and float32(2) and pass n and m as float32."""
    written = [r.removeprefix("write ") for r in remedies if r.startswith("write ")]
    passed: dict[str, list[str]] = {}
    for remedy in remedies:
        if remedy.startswith("pass "):
            name, _, kind = remedy.removeprefix("pass ").partition(" as ")
            passed.setdefault(kind, []).append(name)
    others = [r for r in remedies if not r.startswith(("write ", "pass "))]
    parts = [*([f"write {_listed(written)}"] if written else []), *others[:MOST]]
    return " and ".join(parts + [f"pass {_listed(names)} as {kind}" for kind, names in passed.items()])


def float64_findings(trace: Trace, requests: Requests, operations: Sequence[Operation]) -> list[Finding]:
    """List a warning for the lines of each cause that compute in float64 though no array holds float64."""
    return [_finding(trace, requests, group) for group in float64_lines(operations)]


def _finding(trace: Trace, requests: Requests, group: Float64Line) -> Finding:
    lines = [group.line, *(place.line for place in group.also)]
    places = [(site.file, site.line) for site in trace.sites]
    sites = tuple(i for line in lines for i, place in enumerate(places) if place == (group.file, line))
    rows = np.flatnonzero(np.isin(trace.site, sites))
    moment = int(requests.moment[requests.request[rows]].min(initial=requests.end)) if len(rows) else 0
    return Finding(
        KIND, group.severity, group.message, group.remedy, group.number, sites, rows, (), (), moment,
        (group.file, group.line), also=group.also,
    )  # fmt: skip
