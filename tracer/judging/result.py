"""What comes of a kernel on the cases of a judge, as plain data that goes from the worker to whoever asked."""

from __future__ import annotations

import msgspec

from ..model.launch import Dim3


class WrongArgument(msgspec.Struct, frozen=True):
    """An argument that the kernel left otherwise than the judge expects."""

    argument: str  # its name in the student's kernel
    differing: int  # elements that are off by more than the tolerance
    elements: int  # that it has
    index: tuple[int, ...]  # of the first of those that differ, in C order
    got: str  # what it holds there
    expected: str  # what the judge expects there
    largest_error: float | None  # absolute, of all elements; None where one is no number
    untouched: bool = False  # whether it holds all that it held before


class JudgedFinding(msgspec.Struct, frozen=True):
    """A finding, as `tilescope check` tells it."""

    kind: str  # in FINDING_KINDS
    severity: str  # error, warning or note
    file: str  # in which it is
    line: int  # from 1
    message: str  # one sentence
    moment: int  # where to jump to, in the trace of the case


class CaseResult(msgspec.Struct, frozen=True):
    """One case: a launch of the student's kernel."""

    grid: Dim3  # blocks
    block: Dim3  # threads
    correct: bool  # whether it ended, and left what is expected
    error: str  # why it did not end, one sentence; "" where it did
    line: int  # of the student's file, of the error; 0 where that is not known
    wrong: tuple[WrongArgument, ...]
    findings: tuple[JudgedFinding, ...]  # errors first
    counters: dict[str, int]  # of the whole launch, by the names of `tilescope counters`
    sizes: dict[str, float]  # numbers that the judge gives it
    engine: str  # compiled or simulator
    seconds: float  # that it took, with recording
