"""Arithmetic that Numba compiles as float64 in a kernel on float32 arrays, from its type inference.

Python's numbers are float64 to Numba ("Types and signatures" in its manual), so `total = 0.0` makes a sum of
float32 products one of float64, which most GPUs compute at 1/32 or 1/64 of the speed (throughput table of the
CUDA C++ Programming Guide). Inference needs Numba's compiler and no GPU, but not its simulator: it runs in a
process of its own.
"""

from __future__ import annotations

import os
import subprocess
import sys
from itertools import groupby

import msgspec
import numpy as np

from .finding import Finding, counted
from .launch import Launch, encode
from .requests import Requests
from .trace import Trace


class Operation(msgspec.Struct, frozen=True, order=True):
    """An operation computed in float64: where, what ("add"), what made it float64, and what helps."""

    file: str
    line: int
    name: str
    cause: str
    remedy: str


def operations_of(launch: Launch, seconds: float = 60.0) -> tuple[Operation, ...]:
    """Return the float64 operations of a launch's kernel whose float arrays are all narrower.

    Runs the launch's file in a new process. Returns none where the kernel can't be compiled, or not in time.
    """
    environment = {k: v for k, v in os.environ.items() if k != "NUMBA_ENABLE_CUDASIM"}
    command = [sys.executable, "-P", "-m", f"{__package__}.inference"]
    try:
        done = subprocess.run(
            command,
            input=encode(launch).encode(),
            capture_output=True,
            env=environment,
            timeout=seconds,
            check=True,
        )
        return tuple(msgspec.json.decode(done.stdout.splitlines()[-1], type=list[Operation]))
    except (subprocess.SubprocessError, msgspec.MsgspecError, IndexError):
        return ()


def float64_findings(trace: Trace, requests: Requests, operations: tuple[Operation, ...]) -> list[Finding]:
    """Return a warning for each line that computes in float64 though no array holds such numbers."""
    lines = groupby(sorted(operations), key=lambda o: (o.file, o.line))
    return [_finding(trace, requests, file, line, list(some)) for (file, line), some in lines]


def _finding(trace: Trace, requests: Requests, file: str, line: int, operations: list[Operation]) -> Finding:
    first, count = operations[0], len(operations)
    names = ", ".join(dict.fromkeys(operation.name for operation in operations))
    message = (
        f"{counted(count, 'operation')} ({names}) on line {line} {'is' if count == 1 else 'are'} done in float64 "
        f"though no array holds such numbers, because of {first.cause}; {first.remedy}."
    )
    sites = tuple(i for i, site in enumerate(trace.sites) if (site.file, site.line) == (file, line))
    rows = np.flatnonzero(np.isin(trace.site, sites))
    moment = int(requests.moment[requests.request[rows]].min(initial=requests.end)) if len(rows) else 0
    return Finding(
        "float64", "warning", message, first.remedy, count, sites, rows, (), (), moment, (file, line)
    )  # fmt: skip
