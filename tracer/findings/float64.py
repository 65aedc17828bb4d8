"""Arithmetic that Numba compiles as float64 in a kernel on float32 arrays, from its type inference.

Python's numbers are float64 to Numba ("Types and signatures" in its manual), so `total = 0.0` makes a sum of
float32 products one of float64, which most GPUs compute at 1/32 or 1/64 of the speed (throughput table of the
CUDA C++ Programming Guide).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import NamedTuple

import numpy as np

from ..analysis.requests import Requests
from ..model.finding import Finding, counted
from ..model.trace import Trace
from ..type_inference.client import Operation

KIND = "float64"
MOST = 3  # causes, remedies and names of operations that are listed


class Float64Line(NamedTuple):
    """A line with float64 operations, or with a loop that has them, and what is said of these."""

    file: str  # name of the source, as in Site
    line: int  # from 1
    number: int  # of operations
    severity: str  # a note where no array holds floats, since the precision may be wanted
    message: str  # one sentence, which ends with the remedy
    remedy: str  # what keeps them in float32


def float64_lines(operations: Sequence[Operation]) -> list[Float64Line]:
    """Return each line that computes in float64 though no array holds such numbers."""

    def place(operation: Operation) -> tuple[str, int, bool]:
        return operation.file, operation.loop or operation.line, operation.loop > 0

    return [
        _described(*where, list(some)) for where, some in groupby(sorted(operations, key=place), key=place)
    ]


def _described(file: str, line: int, is_loop: bool, operations: list[Operation]) -> Float64Line:
    count = len(operations)
    causes = dict.fromkeys(pair for operation in operations for pair in operation.causes)
    remedy = _remedy(list(dict.fromkeys(remedy for _, remedy in causes)))
    names = _listed(list(dict.fromkeys(operation.name for operation in operations)))
    verb = "is" if count == 1 else "are"
    subject = f"{counted(count, 'operation')} ({names}) {'of this loop ' * is_loop}{verb} float64"
    if is_loop:
        remedy = f"where float32 is precise enough, {remedy}"
        return Float64Line(
            file, line, count, "note", f"{subject} though no array holds floats; {remedy}.", remedy
        )
    why = _listed(list(dict.fromkeys(cause for cause, _ in causes)))
    return Float64Line(file, line, count, "warning", f"{subject} because of {why}; {remedy}.", remedy)


def _listed(texts: list[str]) -> str:
    """Return texts, at least one, as "a, b and c", or "a, b, c and 2 more"."""
    *shown, last = texts if len(texts) <= MOST + 1 else [*texts[:MOST], f"{len(texts) - MOST} more"]
    return f"{', '.join(shown)} and {last}" if shown else last


def _remedy(remedies: list[str]) -> str:
    """Return what helps, each verb once: write float32(1) and float32(2) and pass n and m as float32."""
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
    """Return a warning for each line that computes in float64 though no array holds such numbers."""
    return [_finding(trace, requests, one) for one in float64_lines(operations)]


def _finding(trace: Trace, requests: Requests, one: Float64Line) -> Finding:
    sites = tuple(i for i, site in enumerate(trace.sites) if (site.file, site.line) == (one.file, one.line))
    rows = np.flatnonzero(np.isin(trace.site, sites))
    moment = int(requests.moment[requests.request[rows]].min(initial=requests.end)) if len(rows) else 0
    return Finding(
        KIND, one.severity, one.message, one.remedy, one.number, sites, rows, (), (), moment, (one.file, one.line)
    )  # fmt: skip
