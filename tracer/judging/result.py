"""What is to be judged, and what comes of it: plain data that goes to the worker and back."""

from __future__ import annotations

import msgspec

from ..model.launch import Dim3


class JudgingTask(msgspec.Struct, frozen=True):
    """A student's kernel and the judge of an exercise."""

    file: str  # of the exercise: Python, with stub and judge
    text: str  # of it
    kernel: str  # the function that is launched
    student_file: str  # what messages and the trace call the student's file; it need not exist
    student_text: str  # of it: what runs
    folder: str  # where the arrays of the first case are kept, so that its launch can be run again
    out: str  # path of its trace file


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
    remedy: str = ""  # the part of the message that says what to do


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
    sizes: dict[str, int | float]  # numbers that the judge gives it
    engine: str  # compiled or simulator
    seconds: float  # that it took, with recording


class Judgement(msgspec.Struct, frozen=True):
    """What came of a student's file."""

    cases: tuple[CaseResult, ...] = ()  # in the judge's order, up to the first that did not end
    count: int = 0  # of the judge's cases
    stub_counters: dict[str, int] = {}  # of the stub on the last case
    traced: bool = False  # whether the trace of the first case is saved
    error: str = ""  # why the student's file can't be run at all: one sentence
    line: int = 0  # of it, 0 where that is not known
    fault: str = ""  # what is wrong with the exercise's own file: one sentence
    fault_line: int = 0  # of it
