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

KIND, SEVERITY = "float64", "warning"


class Told(NamedTuple):
    """What is said of the float64 operations of a line."""

    file: str
    line: int  # from 1
    number: int  # of operations
    message: str  # one sentence, which ends with the remedy
    remedy: str


def told_of(operations: Sequence[Operation]) -> list[Told]:
    """Return what is said of each line that computes in float64 though no array holds such numbers."""
    lines = groupby(sorted(operations), key=lambda o: (o.file, o.line))
    return [_told(file, line, list(some)) for (file, line), some in lines]


def _told(file: str, line: int, operations: list[Operation]) -> Told:
    count = len(operations)
    names = ", ".join(dict.fromkeys(operation.name for operation in operations))
    causes = dict.fromkeys(pair for operation in operations for pair in operation.causes)
    cause = ", and ".join(dict.fromkeys(cause for cause, _ in causes))
    remedy = " and ".join(dict.fromkeys(remedy for _, remedy in causes)).replace(" and write ", " and ")
    message = (
        f"{counted(count, 'operation')} ({names}) on line {line} {'is' if count == 1 else 'are'} done in float64 "
        f"though no array holds such numbers, because of {cause}; {remedy}."
    )
    return Told(file, line, count, message, remedy)


def float64_findings(trace: Trace, requests: Requests, operations: Sequence[Operation]) -> list[Finding]:
    """Return a warning for each line that computes in float64 though no array holds such numbers."""
    return [_finding(trace, requests, told) for told in told_of(operations)]


def _finding(trace: Trace, requests: Requests, told: Told) -> Finding:
    sites = tuple(i for i, site in enumerate(trace.sites) if (site.file, site.line) == (told.file, told.line))
    rows = np.flatnonzero(np.isin(trace.site, sites))
    moment = int(requests.moment[requests.request[rows]].min(initial=requests.end)) if len(rows) else 0
    return Finding(
        KIND, SEVERITY, told.message, told.remedy, told.number, sites, rows, (), (), moment, (told.file, told.line)
    )  # fmt: skip
