"""Judging in the worker: the student's kernel on each case, compared, examined and counted."""

from __future__ import annotations

import hashlib
import inspect
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..analysis.counters import counters_of
from ..analysis.requests import requests_of
from ..dataflow.load_uses import depends_on_outside
from ..findings.all_findings import findings_of
from ..model.finding import Finding, source_location
from ..model.launch import Array, Launch, Scalar
from ..model.trace import KernelError, Op, Trace, unravel
from ..recording.kernel_loader import KernelRefusedError, LoadError, load_kernel
from ..storage.trace_file import save
from .cases import Case, JudgeFault, cases_of
from .compare import wrong_argument
from .result import CaseResult, JudgedFinding, Judgement, JudgingTask, WrongArgument

# Runs a kernel on arrays, which hold afterwards what it left: launch, kernel, arguments, names of its parameters.
RunOn = Callable[[Launch, Any, list[Any], tuple[str, ...]], Trace]
Begin = Callable[[Any, list[Any]], None]  # is told a kernel and its arguments, before it runs
KEPT = 16  # exercises of which the stub's counters are kept
OF_THE_LAUNCH = ("block size", "part")  # kinds of findings about what the exercise chose
_stub_counters: dict[str, dict[str, int]] = {}  # by the exercise's file and text


class StudentFault(Exception):
    """The student's file can't be run: one sentence, and its line."""

    def __init__(self, sentence: str, line: int) -> None:
        super().__init__(sentence)
        self.line = line


def judge(task: JudgingTask, run_on: RunOn, begin: Begin) -> Judgement:
    """Return what comes of a student's file; `begin` is called with its kernel before each case."""
    try:
        cases, names, stub_counters = _prepared(task, run_on)
    except JudgeFault as fault:
        return Judgement(fault=_plain(str(fault)), fault_line=fault.line)
    try:
        kernel = _loaded(task)
        mine = _parameters(kernel, names)
    except StudentFault as fault:
        return Judgement(
            error=_plain(str(fault)), line=fault.line, count=len(cases), stub_counters=stub_counters
        )
    results: list[CaseResult] = []
    for number, case in enumerate(cases):
        begin(kernel, case.fresh_arguments())
        result, trace = _judged(task, kernel, case, mine, run_on, task.folder if number == 0 else "")
        results.append(result)
        if number == 0 and trace is not None:
            save(trace, task.out, compress=False)
        if result.error:
            break
    traced = Path(task.out).exists()
    return Judgement(tuple(results), len(cases), stub_counters, traced)


def _prepared(task: JudgingTask, run_on: RunOn) -> tuple[list[Case], tuple[str, ...], dict[str, int]]:
    """Return the cases, the names of the stub's parameters and its counters on the last; raises JudgeFault."""
    bare = Launch(f"{task.file}:{task.kernel}", task.text, (), (1, 1, 1), (1, 1, 1))
    try:
        module, stub = load_kernel(bare)
    except LoadError as error:
        sentence, line = _said(error, task.file)
        raise JudgeFault(sentence, line) from None
    cases = cases_of(module.cases, stub, str(module.__file__))
    names = tuple(inspect.signature(stub.py_func).parameters)
    key = f"{task.file}\n{task.text}"
    if key not in _stub_counters:
        while len(_stub_counters) >= KEPT:
            del _stub_counters[next(iter(_stub_counters))]
        _stub_counters[key] = _counters_of_stub(task, stub, cases[-1], names, run_on)
    return cases, names, _stub_counters[key]


def _counters_of_stub(
    task: JudgingTask, stub: Any, case: Case, names: tuple[str, ...], run_on: RunOn
) -> dict[str, int]:
    """Return the counters of the stub on a case; raises JudgeFault where it does not run as it is."""
    launch = _launch(task.file, task.text, task.kernel, case, "")
    line = stub.py_func.__code__.co_firstlineno
    try:
        trace = run_on(launch, stub, case.fresh_arguments(), names)
    except KernelRefusedError as refused:
        raise JudgeFault(f"The stub does not run as it is: {refused.sentence}", refused.line) from refused
    except Exception as error:
        sentence = f"The stub can't be launched ({type(error).__name__}: {error})."
        raise JudgeFault(sentence, line) from error
    if trace.error is not None:
        raise JudgeFault(f"The stub does not run as it is: {_error_text(trace.error)}", trace.error.line)
    return counters_of(trace, requests_of(trace)).total


def _loaded(task: JudgingTask) -> Any:
    """Return the student's kernel; raises StudentFault."""
    bare = Launch(f"{task.student_file}:{task.kernel}", task.student_text, (), (1, 1, 1), (1, 1, 1))
    try:
        return load_kernel(bare)[1]
    except LoadError as error:
        raise StudentFault(*_said(error, task.student_file)) from None


def _said(error: LoadError, file: str) -> tuple[str, int]:
    """Return the sentence of an error without the file's name before it, and the line that it names."""
    text = str(error)
    where, parted, rest = text.removeprefix(f"{Path(file).absolute()}:").partition(": ")
    line = int(where) if parted and where.isdigit() else 0
    if isinstance(error.__cause__, AssertionError) and "outside a launch" in str(error.__cause__):
        begins = 'put that under if __name__ == "__main__":, since here the exercise launches it'
        return f"Your file launches a kernel by itself; {begins}.", line
    if isinstance(error.__cause__, SyntaxError):
        return f"This is no Python: {rest}", line
    said = (rest if line else text).replace(f"{Path(file).absolute()}", "the file")
    return "T" + said[1:] if said.startswith("the ") else said, line


def _parameters(kernel: Any, stubs: tuple[str, ...]) -> tuple[str, ...]:
    """Return the names of the student's parameters; raises StudentFault for more or fewer than the stub has."""
    names = tuple(inspect.signature(kernel.py_func).parameters)
    if len(names) != len(stubs):
        name, line = kernel.py_func.__name__, kernel.py_func.__code__.co_firstlineno
        raise StudentFault(
            f"{name} takes ({', '.join(stubs)}) in this exercise, not ({', '.join(names)}).", line
        )
    return names


def _launch(file: str, text: str, kernel: str, case: Case, folder: str) -> Launch:
    """Return a case as a launch; with a folder its arrays are kept there, so that it can be run again."""
    arguments = tuple(_described(argument, folder) for argument in case.arguments)
    return Launch(
        f"{file}:{kernel}",
        text,
        arguments,
        case.grid,
        case.block,
        shared_bytes=case.shared_bytes,
        engine="compiled",
    )


def _described(value: Any, folder: str) -> Array | Scalar:
    if isinstance(value, np.ndarray):
        return _kept(value, folder) if folder and value.size else Array(value.shape, str(value.dtype))
    if isinstance(value, np.generic):
        return Scalar(value.item(), str(value.dtype))
    return Scalar(value)


def _kept(array: NDArray[Any], folder: str) -> Array:
    """Return an array as a file of its content, which is written unless it is there."""
    digest = hashlib.sha256(f"{array.dtype.str}{array.shape}".encode() + array.tobytes()).hexdigest()
    path = Path(folder) / f"{digest}.npy"
    if not path.exists():
        np.save(path, array, allow_pickle=False)
    content = hashlib.sha256(path.read_bytes()).hexdigest()
    return Array(array.shape, str(array.dtype), "file", path=str(path), digest=content)


def _judged(
    task: JudgingTask, kernel: Any, case: Case, names: tuple[str, ...], run_on: RunOn, folder: str
) -> tuple[CaseResult, Trace | None]:
    """Run a case; return what came of it, and its trace if there is one."""
    launch, start = (
        _launch(task.student_file, task.student_text, task.kernel, case, folder),
        time.perf_counter(),
    )
    arguments = case.fresh_arguments()
    try:
        trace = run_on(launch, kernel, arguments, names)
    except KernelRefusedError as refused:
        seconds = time.perf_counter() - start
        line = refused.line if refused.file == task.student_file else 0
        return _result(case, refused.sentence, line, (), (), {}, "simulator", seconds), None
    except (Exception, SystemExit) as raised:  # noqa: BLE001  # whatever a student's kernel makes numba raise
        sentence = f"The kernel can't be launched ({type(raised).__name__}: {raised})."
        seconds = time.perf_counter() - start
        return _result(case, sentence, 0, (), (), {}, "simulator", seconds), None
    requests = requests_of(trace)
    told = (finding for finding in findings_of(trace, requests) if finding.kind not in OF_THE_LAUNCH)
    found = tuple(_finding(finding, trace) for finding in told)
    counters = counters_of(trace, requests).total
    error, line = _end_of(trace, task.student_file)
    if not error and depends_on_outside(trace):
        error, line = _by_chance(trace, task.student_file)
    wrong = () if error else _wrong(case, arguments, names)
    engine = "compiled" if ", compiled" in trace.made_by.partition(";")[0] else "simulator"
    seconds = time.perf_counter() - start
    return _result(case, error, line, wrong, found, counters, engine, seconds), trace


def _result(
    case: Case, error: str, line: int, wrong: tuple[WrongArgument, ...], found: tuple[JudgedFinding, ...],
    counters: dict[str, int], engine: str, seconds: float,
) -> CaseResult:  # fmt: skip
    correct = not error and not wrong
    return CaseResult(
        case.grid,
        case.block,
        correct,
        _plain(error),
        line,
        wrong,
        found,
        counters,
        dict(case.sizes),
        engine,
        seconds,
    )


def _wrong(case: Case, arguments: list[Any], names: tuple[str, ...]) -> tuple[WrongArgument, ...]:
    compared = (
        wrong_argument(names[place], case.arguments[place], arguments[place], expected, case.tolerance)
        for place, expected in case.expected.items()
    )
    return tuple(wrong for wrong in compared if wrong is not None)


def _end_of(trace: Trace, file: str) -> tuple[str, int]:
    """Return why a launch did not come to its end, one sentence, and the line of the student's file; "" if it did."""
    if trace.error is not None:
        mine = trace.error.file == str(Path(file).absolute())
        return _error_text(trace.error), trace.error.line if mine else 0
    return (trace.notice, 0) if trace.is_stopped else ("", 0)


def _by_chance(trace: Trace, file: str) -> tuple[str, int]:
    """Return why no result counts that depends on a load outside its array, and the line of the student's file."""
    outside = trace.outside
    first = int(np.flatnonzero(outside.op != Op.STORE)[0])
    thread = unravel(int(outside.thread[first]), trace.block_dim)
    block, site = unravel(int(outside.block[first]), trace.grid), trace.sites[int(outside.site[first])]
    sentence = (
        f"Thread {thread} of block {block} reads {outside.text[first]}, which is outside its array, and a result "
        "depends on what lies there."
    )
    return sentence, site.line if site.file == str(Path(file).absolute()) else 0


def _error_text(error: KernelError) -> str:
    if error.type == "NeverEnds":
        return f"{error.message[:1].upper()}{error.message[1:]}."
    text = f"{error.type}: {error.message}" if error.message else error.type
    return f"Thread {error.thread} of block {error.block} raised {text.removesuffix('.')}."


def _finding(finding: Finding, trace: Trace) -> JudgedFinding:
    file, line = source_location(finding, trace)
    return JudgedFinding(
        finding.kind, finding.severity, _plain(file), line, _plain(finding.message), finding.moment,
        _plain(finding.remedy),
    )  # fmt: skip


def _plain(text: str) -> str:
    """Return text that can be sent: messages and names may hold what UTF-8 can't."""
    return text.encode("utf-8", "replace").decode()
