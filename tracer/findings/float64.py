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


class Float64Line(NamedTuple):
    """A line with float64 operations, and what is said of these."""

    file: str  # name of the source, as in Site
    line: int  # from 1
    number: int  # of operations
    message: str  # one sentence, which ends with the remedy
    remedy: str  # what keeps them in float32


def float64_lines(operations: Sequence[Operation]) -> list[Float64Line]:
    """Return each line that computes in float64 though no array holds such numbers."""
    lines = groupby(sorted(operations), key=lambda o: (o.file, o.line))
    return [_described(file, line, list(some)) for (file, line), some in lines]


def _described(file: str, line: int, operations: list[Operation]) -> Float64Line:
    count = len(operations)
    names = ", ".join(dict.fromkeys(operation.name for operation in operations))
    causes = dict.fromkeys(pair for operation in operations for pair in operation.causes)
    cause = ", and ".join(dict.fromkeys(cause for cause, _ in causes))
    remedy = " and ".join(dict.fromkeys(remedy for _, remedy in causes)).replace(" and write ", " and ")
    message = (
        f"{counted(count, 'operation')} ({names}) on line {line} {'is' if count == 1 else 'are'} done in float64 "
        f"though no array holds such numbers, because of {cause}; {remedy}."
    )
    return Float64Line(file, line, count, message, remedy)


def float64_findings(trace: Trace, requests: Requests, operations: Sequence[Operation]) -> list[Finding]:
    """Return a warning for each line that computes in float64 though no array holds such numbers."""
    return [_finding(trace, requests, one) for one in float64_lines(operations)]


def _finding(trace: Trace, requests: Requests, one: Float64Line) -> Finding:
    sites = tuple(i for i, site in enumerate(trace.sites) if (site.file, site.line) == (one.file, one.line))
    rows = np.flatnonzero(np.isin(trace.site, sites))
    moment = int(requests.moment[requests.request[rows]].min(initial=requests.end)) if len(rows) else 0
    return Finding(
        KIND, SEVERITY, one.message, one.remedy, one.number, sites, rows, (), (), moment, (one.file, one.line)
    )  # fmt: skip
