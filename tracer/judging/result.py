"""The task and the result of judging: plain data exchanged with the worker."""

from __future__ import annotations

import msgspec

from ..model.launch import Dim3

LAUNCH_KINDS = ("block size", "part")  # kinds of findings about the launch, which the exercise chose


class JudgingTask(msgspec.Struct, frozen=True):
    """A student's kernel and the judge of an exercise."""

    file: str  # of the exercise: Python, with stub and judge
    text: str  # content of `file`
    kernel: str  # the function that is launched
    student_file: str  # the student's file in messages and in the trace; it need not exist
    student_text: str  # the code that runs
    folder: str  # for the arrays of the cases, so that their launches can be run again
    out: str  # path for the trace of the pictured case
    # The stub in CUDA C++ and its file, if the student writes CUDA C++; "" for Numba. The judge is the same.
    stub_file: str = ""
    stub_text: str = ""
    # The constant with the order in which the student breaks the kernel; "" if the student writes the kernel.
    order: str = ""

    @property
    def is_cuda_cpp(self) -> bool:
        """Whether the student writes CUDA C++."""
        return bool(self.stub_text)


class WrongArgument(msgspec.Struct, frozen=True):
    """An argument whose values differ from the judge's after the launch."""

    argument: str  # its name in the student's kernel
    differing: int  # elements that differ by more than the tolerance
    elements: int  # number of elements
    index: tuple[int, ...]  # of the first differing element, in C order
    got: str  # its value
    expected: str  # the value that the judge expects there
    largest_error: float | None  # absolute, of all elements; None if an error is not finite
    untouched: bool = False  # whether the kernel changed no element


class JudgedFinding(msgspec.Struct, frozen=True):
    """A finding as `tilescope check` reports it."""

    kind: str  # in FINDING_KINDS
    severity: str  # error, warning or note
    file: str
    line: int  # from 1
    message: str  # one sentence
    moment: int  # moment to jump to in the trace of the case
    remedy: str = ""  # the advice at the end of the message


class CaseResult(msgspec.Struct, frozen=True):
    """One case: a launch of the student's kernel."""

    grid: Dim3  # blocks
    block: Dim3  # threads
    correct: bool  # whether it finished with the expected results
    error: str  # why it did not finish, one sentence; "" if it did
    line: int  # of the error in the student's file; 0 if unknown
    wrong: tuple[WrongArgument, ...]
    findings: tuple[JudgedFinding, ...]  # errors first
    counters: dict[str, int]  # totals of the launch, named as in `tilescope counters`
    sizes: dict[str, int | float]  # numbers from the judge, for goals
    engine: str  # compiled or simulator
    seconds: float  # duration, including the recording


class Judgement(msgspec.Struct, frozen=True):
    """The result of judging a student's file."""

    cases: tuple[CaseResult, ...] = ()  # in the judge's order, up to the first that did not finish
    count: int = 0  # number of the judge's cases
    stub_counters: dict[str, int] = {}  # counters of the stub on the last case
    pictured: int = (
        0  # the case whose trace is saved, from 1: the first with a fault, else the first; 0 for none
    )
    error: str = ""  # why the student's file can't be run at all: one sentence
    line: int = 0  # line of `error`, 0 if unknown
    fault: str = ""  # the mistake in the exercise's file: one sentence
    fault_line: int = 0  # line of `fault`
