"""Arithmetic that Numba compiles as float64 in a kernel on float32 arrays, from its type inference.

Python's numbers are float64 to Numba ("Types and signatures" in its manual), so `total = 0.0` makes a sum of
float32 products one of float64, which most GPUs compute at 1/32 or 1/64 of the speed (throughput table of the
CUDA C++ Programming Guide). Inference needs Numba's compiler and no GPU, but not its simulator: it runs in a
process of its own (see inference).
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from itertools import groupby
from typing import NamedTuple

import msgspec
import numpy as np

from .finding import Finding, counted
from .launch import Array, Launch, Scalar
from .requests import Requests
from .trace import Trace

KIND, SEVERITY = "float64", "warning"


class Operation(msgspec.Struct, frozen=True, order=True):
    """An operation computed in float64: where, what ("add"), and each thing that made it so, with what helps."""

    file: str
    line: int
    name: str
    causes: tuple[tuple[str, str], ...]


def may_have_operations(launch: Launch) -> bool:
    """Return whether a launch's arguments leave the question open: float arrays, none of them of float64."""
    try:
        types = [np.dtype(a.dtype) for a in launch.arguments if a.dtype]
    except (TypeError, ValueError):  # records, whose text NumPy does not read
        return False
    if any(t.kind == "O" for t in types):
        return False  # an argument that is not known
    arrays = [np.dtype(a.dtype) for a in launch.arguments if isinstance(a, Array)]
    floats = [t for t in arrays if t.kind in "fc"]
    return bool(floats) and all(t.itemsize < (16 if t.kind == "c" else 8) for t in floats)


class TypeInference:
    """Asks Numba's type inference, in a process for each question."""

    def __init__(self, seconds: float = 60.0) -> None:
        self._seconds = seconds
        self._process: subprocess.Popen[bytes] | None = None
        self._closed = False

    def operations_of(self, launches: Sequence[Launch]) -> list[tuple[Operation, ...]]:
        """Return the float64 operations of each launch's kernel whose float arrays are all narrower.

        Takes a second. None where the kernel can't be compiled, or not in time.
        """
        nothing: list[tuple[Operation, ...]] = [()] * len(launches)
        asked = [launch for launch in launches if may_have_operations(launch)]
        if not asked or self._closed:
            return nothing
        try:
            answers = iter(self._ask(asked))
            return [next(answers) if may_have_operations(launch) else () for launch in launches]
        except (OSError, subprocess.SubprocessError, msgspec.MsgspecError, IndexError, StopIteration):
            return nothing

    def _ask(self, launches: list[Launch]) -> list[tuple[Operation, ...]]:
        environment = {k: v for k, v in os.environ.items() if k != "NUMBA_ENABLE_CUDASIM"}
        command = [sys.executable, "-P", "-m", f"{__package__}.inference"]
        pipe = subprocess.PIPE
        with subprocess.Popen(
            command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, env=environment
        ) as self._process:  # fmt: skip
            try:
                answer, _ = self._process.communicate(msgspec.json.encode(launches), self._seconds)
            except subprocess.TimeoutExpired:
                self._process.kill()
                raise
        return msgspec.json.decode(answer.splitlines()[-1], type=list[tuple[Operation, ...]])

    def close(self) -> None:
        """End what is asked, from another thread; nothing is asked any more."""
        self._closed = True
        if self._process is not None:
            self._process.kill()


class Told(NamedTuple):
    """What is said of the float64 operations of a line."""

    file: str
    line: int
    number: int
    message: str
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


def question_of(launch: Launch) -> Launch:
    """Return the launch of one thread that has the same answer: only types matter, not sizes."""
    arguments = tuple(
        Array((1,) * len(a.shape), a.dtype) if isinstance(a, Array) else Scalar(type(a.value)(0), a.dtype)
        for a in launch.arguments
    )
    return Launch(launch.kernel, launch.source, arguments, (1, 1, 1), (1, 1, 1), launch.constants)
