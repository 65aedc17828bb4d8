"""Judging in the worker: runs the student's kernel on each case, compares the results and collects findings."""

from __future__ import annotations

import hashlib
import inspect
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from ..analysis.counters import counters_of
from ..analysis.requests import requests_of
from ..dataflow.load_uses import depends_on_outside
from ..findings.all_findings import findings_of
from ..model.finding import Finding, coordinates_text, index_in, source_location
from ..model.launch import Array, Launch, Scalar, Schedule
from ..model.trace import KernelError, Op, Trace
from ..recording.kernel_loader import OUTSIDE_LAUNCH, KernelRefusedError, LoadError, load_kernel
from ..recording.run_order import OrderError
from ..storage.trace_file import save
from .cases import Case, InvalidExerciseError, collect_cases
from .compare import wrong_argument
from .cuda_cpp_cases import check_cuda_cpp_parameters, cuda_cpp_cases
from .result import LAUNCH_KINDS, CaseResult, JudgedFinding, Judgement, JudgingTask, WrongArgument
from .student_file import StudentFileError
from .written_order import WrittenOrder, written_order

# Runs a kernel on arrays, which then hold its results. Takes launch, kernel, arguments and parameter names.
RunOn = Callable[[Launch, Any, list[Any], tuple[str, ...]], Trace]
Begin = Callable[[Any, list[Any]], None]  # gets a kernel and its arguments before they run
MOST_PICTURED = 20_000  # accesses of a case that is drawn instead of the first
MAX_KEPT_EXERCISES = 16  # exercises whose stub counters are kept
SWITCHES = "switches"  # the number for goals that counts those of a student's order
_stub_counters: dict[str, dict[str, int]] = {}  # by the exercise's file and text


def judge(task: JudgingTask, run_on: RunOn, begin: Begin) -> Judgement:
    """Judge a student's file; `begin` is called with its kernel, None in CUDA C++, before each case."""
    try:
        cases, names, stub_counters = _prepare(task, run_on)
    except InvalidExerciseError as fault:
        return Judgement(fault=_encodable(str(fault)), fault_line=fault.line)
    try:
        if task.is_cuda_cpp:
            kernel, own_names = None, check_cuda_cpp_parameters(task.student_text, task.kernel, names)
            order = None
        else:
            kernel = _load_student_kernel(task)
            own_names = _check_parameters(kernel, names)
            order = written_order(task) if task.order else None
    except StudentFileError as fault:
        return Judgement(
            error=_encodable(str(fault)), line=fault.line, count=len(cases), stub_counters=stub_counters
        )
    results: list[CaseResult] = []
    pictured, is_fault_pictured = 0, False
    for number, case in enumerate(cases, 1):
        begin(kernel, case.fresh_arguments())
        result, trace = _run_case(task, kernel, case, own_names, run_on, order)
        results.append(result)
        is_first_fault = not is_fault_pictured and order is None and _has_fault(result)
        if trace is not None and (number == 1 or (is_first_fault and trace.accesses <= MOST_PICTURED)):
            save(trace, task.out, compress=False)
            pictured, is_fault_pictured = number, is_first_fault
        if result.error:
            break
    return Judgement(tuple(results), len(cases), stub_counters, pictured)


def _has_fault(result: CaseResult) -> bool:
    return not result.correct or any(finding.severity == "error" for finding in result.findings)


def _prepare(task: JudgingTask, run_on: RunOn) -> tuple[list[Case], tuple[str, ...], dict[str, int]]:
    """Load the judge: its cases, the stub's parameter names, its counters on the last case.

    Raises InvalidExerciseError.
    """
    launch = Launch(f"{task.file}:{task.kernel}", task.text, (), (1, 1, 1), (1, 1, 1))
    try:
        module, stub = load_kernel(launch, complete=True)
    except LoadError as error:
        sentence, line = _sentence_and_line(error, task.file)
        raise InvalidExerciseError(sentence, line) from None
    cases = collect_cases(module.cases, stub, str(module.__file__))
    names = tuple(inspect.signature(stub.py_func).parameters)
    line = stub.py_func.__code__.co_firstlineno
    file, text = task.file, task.text
    if task.is_cuda_cpp:
        cases, names = cuda_cpp_cases(cases, names, task)
        file, text, stub, line = task.stub_file, task.stub_text, None, 1
    key = f"{task.file}\n{task.text}\n{task.stub_text}"
    if key not in _stub_counters:
        while len(_stub_counters) >= MAX_KEPT_EXERCISES:
            del _stub_counters[next(iter(_stub_counters))]
        _stub_counters[key] = _counters_of_stub(
            _build_launch(file, text, task.kernel, cases[-1], ""), line, stub, cases[-1], names, run_on
        )
    return cases, names, _stub_counters[key]


def _counters_of_stub(
    launch: Launch, line: int, stub: Any, case: Case, names: tuple[str, ...], run_on: RunOn
) -> dict[str, int]:
    """Run the stub on a case and return its counters; raises InvalidExerciseError if it fails."""
    try:
        trace = run_on(launch, stub, case.fresh_arguments(), names)
    except KernelRefusedError as refused:
        raise InvalidExerciseError(
            f"The unchanged stub does not run: {refused.sentence}", refused.line
        ) from refused
    except Exception as error:
        sentence = f"The stub can't be launched ({type(error).__name__}: {error})."
        raise InvalidExerciseError(sentence, line) from error
    if trace.error is not None:
        raise InvalidExerciseError(
            f"The unchanged stub does not run: {_error_text(trace.error, trace)}", trace.error.line
        )
    return counters_of(trace, requests_of(trace)).total


def _load_student_kernel(task: JudgingTask) -> Any:
    """Load the student's kernel; raises StudentFileError."""
    launch = Launch(f"{task.student_file}:{task.kernel}", task.student_text, (), (1, 1, 1), (1, 1, 1))
    try:
        return load_kernel(launch, complete=True)[1]
    except LoadError as error:
        raise StudentFileError(*_sentence_and_line(error, task.student_file)) from None


def _sentence_and_line(error: LoadError, file: str) -> tuple[str, int]:
    """Return an error's message without the leading file name, and the line that it names."""
    text = str(error)
    line_text, separator, rest = text.removeprefix(f"{Path(file).absolute()}:").partition(": ")
    line = int(line_text) if separator and line_text.isdigit() else 0
    if isinstance(error.__cause__, AssertionError) and str(error.__cause__) == OUTSIDE_LAUNCH:
        remedy = 'put the launch under if __name__ == "__main__":, because the exercise launches the kernel'
        return f"Your file launches a kernel when it is imported; {remedy}.", line
    if isinstance(error.__cause__, SyntaxError):
        return f"Syntax error: {rest}", line
    message = (rest if line else text).replace(f"{Path(file).absolute()}", "the file")
    return "T" + message[1:] if message.startswith("the ") else message, line


def _check_parameters(kernel: Any, stub_names: tuple[str, ...]) -> tuple[str, ...]:
    """Return the names of the student's parameters; raises StudentFileError unless there are as many as the stub's."""
    names = tuple(inspect.signature(kernel.py_func).parameters)
    if len(names) != len(stub_names):
        name, line = kernel.py_func.__name__, kernel.py_func.__code__.co_firstlineno
        raise StudentFileError(
            f"{name} takes ({', '.join(stub_names)}) in this exercise, not ({', '.join(names)}).", line
        )
    return names


def _build_launch(file: str, text: str, kernel: str, case: Case, folder: str) -> Launch:
    """Describe a case as a launch; with a folder, save its arrays there, so that it can be run again."""
    arguments = tuple(_describe(argument, folder) for argument in case.arguments)
    return Launch(
        f"{file}:{kernel}",
        text,
        arguments,
        case.grid,
        case.block,
        shared_bytes=case.shared_bytes,
        engine="compiled",
    )


def _describe(value: Any, folder: str) -> Array | Scalar:
    if isinstance(value, np.ndarray):
        return _save_array(value, folder) if folder and value.size else Array(value.shape, str(value.dtype))
    if isinstance(value, np.generic):
        return Scalar(value.item(), str(value.dtype))
    return Scalar(value)


def _save_array(array: NDArray[Any], folder: str) -> Array:
    """Describe an array as a file named by its content, and write the file unless it exists."""
    digest = hashlib.sha256(f"{array.dtype.str}{array.shape}".encode() + array.tobytes()).hexdigest()
    path = Path(folder) / f"{digest}.npy"
    if not path.exists():
        np.save(path, array, allow_pickle=False)
    content = hashlib.sha256(path.read_bytes()).hexdigest()
    return Array(array.shape, str(array.dtype), "file", path=str(path), digest=content)


def _run_case(
    task: JudgingTask, kernel: Any, case: Case, names: tuple[str, ...], run_on: RunOn, order: WrittenOrder | None
) -> tuple[CaseResult, Trace | None]:  # fmt: skip
    """Run a case, in the student's order if there is one; return its result, and its trace if there is one."""
    launch, start = (
        _build_launch(task.student_file, task.student_text, task.kernel, case, task.folder),
        time.perf_counter(),
    )
    if order is not None:
        problem = order.check(task, case.grid, case.block)
        if problem:
            return _result(case, problem, order.line, (), (), {}, "simulator", 0.0), None
        launch = replace(launch, schedule=Schedule("order", order=order.text))
        case = replace(case, sizes={**case.sizes, SWITCHES: order.switches})
    arguments = case.fresh_arguments()
    try:
        trace = run_on(launch, kernel, arguments, names)
    except OrderError as refused:
        seconds, line = time.perf_counter() - start, order.line if order else 0
        return _result(case, str(refused), line, (), (), {}, "simulator", seconds), None
    except KernelRefusedError as refused:
        seconds = time.perf_counter() - start
        line = refused.line if refused.file == task.student_file else 0
        return _result(case, refused.sentence, line, (), (), {}, "simulator", seconds), None
    except (Exception, SystemExit) as raised:  # noqa: BLE001  # a student's kernel can make numba raise anything
        sentence = f"The kernel can't be launched ({type(raised).__name__}: {raised})."
        seconds = time.perf_counter() - start
        return _result(case, sentence, 0, (), (), {}, "simulator", seconds), None
    requests = requests_of(trace)
    # A race is what the student of an order needs.
    examined = findings_of(trace, requests) if order is None else ()
    reported = (finding for finding in examined if finding.kind not in LAUNCH_KINDS)
    findings = tuple(_judged_finding(finding, trace) for finding in reported)
    counters = counters_of(trace, requests).total
    error, line = _failure(trace, task.student_file)
    if not error and depends_on_outside(trace):
        error, line = _undefined_result(trace, task.student_file)
    wrong = () if error else _wrong_arguments(case, arguments, names)
    engine = "compiled" if ", compiled" in trace.made_by.partition(";")[0] else "simulator"
    seconds = time.perf_counter() - start
    return _result(case, error, line, wrong, findings, counters, engine, seconds), trace


def _result(
    case: Case, error: str, line: int, wrong: tuple[WrongArgument, ...], findings: tuple[JudgedFinding, ...],
    counters: dict[str, int], engine: str, seconds: float,
) -> CaseResult:  # fmt: skip
    correct = not error and not wrong
    return CaseResult(
        case.grid,
        case.block,
        correct,
        _encodable(error),
        line,
        wrong,
        findings,
        counters,
        dict(case.sizes),
        engine,
        seconds,
    )


def _wrong_arguments(case: Case, arguments: list[Any], names: tuple[str, ...]) -> tuple[WrongArgument, ...]:
    compared = (
        wrong_argument(names[index], case.arguments[index], arguments[index], expected, case.tolerance)
        for index, expected in case.expected.items()
    )
    return tuple(wrong for wrong in compared if wrong is not None)


def _failure(trace: Trace, file: str) -> tuple[str, int]:
    """Explain why a launch did not finish, in one sentence, with the student's line; "" if it did."""
    if trace.error is not None:
        is_in_file = trace.error.file == str(Path(file).absolute())
        return _error_text(trace.error, trace), trace.error.line if is_in_file else 0
    return (trace.notice, 0) if trace.is_stopped else ("", 0)


def _undefined_result(trace: Trace, file: str) -> tuple[str, int]:
    """Explain that a result depends on a load outside its array, with the student's line."""
    outside = trace.outside
    first = int(np.flatnonzero(outside.op != Op.STORE)[0])
    thread = coordinates_text(int(outside.thread[first]), trace.block_dim)
    block = coordinates_text(int(outside.block[first]), trace.grid)
    site = trace.sites[int(outside.site[first])]
    sentence = (
        f"Thread {thread} of block {block} reads {outside.text[first]}, which is outside its array, and a result "
        "depends on the value."
    )
    return sentence, site.line if site.file == str(Path(file).absolute()) else 0


def _error_text(error: KernelError, trace: Trace) -> str:
    if error.type in ("LivelockError", "LaunchTimeoutError"):  # the launch never ends
        return f"{error.message[:1].upper()}{error.message[1:].removesuffix('.')}."
    block, thread = index_in(error.block, trace.grid), index_in(error.thread, trace.block_dim)
    if error.type == "Endless":  # of CUDA C++
        return f"Thread {thread} of block {block} {error.message}."
    text = f"{error.type}: {error.message}" if error.message else error.type
    return f"Thread {thread} of block {block} raised {text.removesuffix('.')}."


def _judged_finding(finding: Finding, trace: Trace) -> JudgedFinding:
    file, line = source_location(finding, trace)
    return JudgedFinding(
        finding.kind, finding.severity, _encodable(file), line, _encodable(finding.message), finding.moment,
        _encodable(finding.remedy),
    )  # fmt: skip


def _encodable(text: str) -> str:
    """Replace characters that UTF-8 can't encode, which messages and names may contain."""
    return text.encode("utf-8", "replace").decode()
