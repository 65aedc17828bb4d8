"""The compiled engine: rewrite, compile, run block by block, and return the trace."""

from __future__ import annotations

import math
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from types import FunctionType
from typing import Any, NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from ...model.array_types import Columns
from ...model.launch import Array, Launch, Schedule
from ...model.trace import STOPPED, KernelError, Trace, unravel
from ...nvidia_math.precision import inexact, names_in
from ...recording.finish import finish, precompute_expected
from ...recording.kernel_loader import create_arguments, load_kernel, set_constants, shared_content
from ...recording.partial_totals import totals_of_columns
from ...recording.recorder import TooManyAccessesError
from ...recording.run_order import OrderError
from ...recording.run_record import RunRecord, max_rows, resident_blocks
from ...storage.trace_file import TraceFileError
from ..not_compilable import NotCompilableError, describe_unexpected
from ..rewrite.program import RecordingProgram
from ..rewrite.rewriter import rewrite_kernel
from ..rows.block_counters import count_block_rows
from ..state import MAX_TURNS, Word
from .arguments import Arguments
from .block_runner import BlockRunner
from .compile import compile_program, is_cached
from .memory import LaunchMemory
from .parallel_run import ParallelRun
from .parts import LaunchRecorder, NeedsSerialRunError
from .row_recorder import RowRecorder, ThreadFaultError
from .signals import delay_signals, redirect_signals
from .turns_recorder import TurnsRecorder

# Errors raised in these folders have lost the kernel's line.
INTERNAL_FOLDERS = Path(__file__).resolve().parents[2], Path(numba.__file__).parent


LARGE = 1 << 21  # elements in the arrays of a large launch


class CompiledLaunch:
    """A launch that can run compiled, more than once; raises NotCompilableError and LoadError.

    `report(done, of)` is called as blocks end. meets: whether its threads are known to interact, by atomics or fences.
    """

    def __init__(self, launch: Launch, report: Callable[[int, int], None]) -> None:
        self._launch, self._report = launch, report
        self._module, self._kernel = load_kernel(launch)
        set_constants(self._module, launch)
        self._arguments, self._names = create_arguments(launch, self._kernel)
        self._prepared_call: PreparedCall | None = self._prepare()
        self.threads_interact = self._prepared_call.program.threads_interact

    def _prepare(self) -> PreparedCall:
        return prepare_call(
            self._launch, self._names, self._kernel.py_func, self._arguments,
            debug=_is_debugged(self._kernel), late=launch_time_constants(self._launch),
        )  # fmt: skip

    def run(self, turns: bool, *, count_past_limit: bool = False) -> Trace:
        """Run the launch from the beginning and return the trace; raises NotCompilableError.

        turns: whether threads take turns as the schedule says; else they run one after the other.
        count_past_limit: whether to count on when a block makes more accesses than can be held.
        """
        if self._prepared_call is None:
            self._arguments, self._names = create_arguments(self._launch, self._kernel)
        prepared_call, self._prepared_call = self._prepared_call or self._prepare(), None
        record = RunRecord(self._launch, self._names, self._report, count_past_limit=count_past_limit)
        arrays = zip(self._names, self._launch.arguments, strict=True)
        record.contents = {
            n: shared_content(a) for n, a in arrays if isinstance(a, Array) and a.fill != "file"
        }
        execute(record, self._kernel.py_func, self._arguments, prepared_call=prepared_call, turns=turns)
        return trace_of_compiled_run(record, str(self._module.__file__))


def run_compiled(launch: Launch, report: Callable[[int, int], None], *, turns: bool = False) -> Trace:
    """Run a launch compiled and return its trace; see `CompiledLaunch`."""
    return CompiledLaunch(launch, report).run(turns)


def compile_kernel(launch: Launch, *, keep: bool = True) -> None:
    """Compile a launch's kernel for its arguments without running it, so that a run need not wait for that.

    keep: whether to use the cache. Raises LoadError and NotCompilableError.
    """
    kernel, arguments, names = _load(launch)
    debug, late = _is_debugged(kernel), launch_time_constants(launch)
    prepare_call(launch, names, kernel.py_func, arguments, debug=debug, late=late, keep=keep)


def is_kernel_cached(launch: Launch) -> bool:
    """Check if a launch's kernel is in the cache for its arguments.

    Raises LoadError and NotCompilableError.
    """
    kernel, arguments, names = _load(launch)
    debug, late = _is_debugged(kernel), launch_time_constants(launch)
    return is_cached(*_rewritten_call(names, kernel.py_func, arguments, debug=debug, late=late))


def _load(launch: Launch) -> tuple[Any, list[Any], tuple[str, ...]]:
    module, kernel = load_kernel(launch)
    set_constants(module, launch)
    return kernel, *create_arguments(launch, kernel)


def launch_time_constants(launch: Launch) -> frozenset[str]:
    """List the module constants that compiled code gets at launch, so that other values need no new code.

    This makes code up to 10 % slower, so a launch that may take many seconds has its constants compiled in.
    """
    elements = sum(math.prod(a.shape) for a in launch.arguments if isinstance(a, Array))
    names = {name for name, value in launch.constants.items() if type(value) is int}
    return frozenset(names if elements < LARGE else ())


def _is_debugged(kernel: Any) -> bool:
    return bool(getattr(kernel, "_debug", False) or getattr(kernel, "targetoptions", {}).get("debug"))


def trace_of_compiled_run(record: RunRecord, file: str) -> Trace:
    """Return the trace of a run that has been executed; `file` has the kernel."""
    trace = finish(record, file, f"numba {numba.__version__}, compiled")
    assert isinstance(record.recorder, RowRecorder)
    record.recorder.release()
    return trace


class PreparedCall(NamedTuple):
    """A call of a kernel, ready to run compiled."""

    program: RecordingProgram
    arguments: Arguments
    entry: int  # address of the compiled kernel


def prepare_call(
    launch: Launch,
    names: Sequence[str],
    function: FunctionType,
    values: Sequence[Any],
    *,
    debug: bool = False,
    late: frozenset[str] = frozenset(),
    keep: bool = True,
) -> PreparedCall:
    """Rewrite and compile a kernel for a call; raises NotCompilableError.

    late: constants that the code gets at launch, if it compiles that way. keep: see `compile_kernel`.
    """
    program, arguments = _rewritten_call(names, function, values, debug=debug, late=late)
    try:
        with _as_not_compilable(), delay_signals():
            return PreparedCall(program, arguments, compile_program(program, arguments, keep=keep))
    except NotCompilableError:
        if not program.launch_time_names:
            raise
        return prepare_call(launch, names, function, values, debug=debug, keep=keep)


def _rewritten_call(
    names: Sequence[str],
    function: FunctionType,
    values: Sequence[Any],
    *,
    debug: bool,
    late: frozenset[str],
) -> tuple[RecordingProgram, Arguments]:
    """Rewrite a kernel, and collect its arguments; raises NotCompilableError."""
    with _as_not_compilable():
        named_values = dict(
            zip((*names, *(f"argument {n}" for n in range(len(names), len(values)))), values, strict=False)
        )
        dtypes = {name: value.dtype for name, value in named_values.items() if isinstance(value, np.ndarray)}
        program, arguments = rewrite_kernel(function, dtypes, debug=debug, late=late), Arguments()
        for name, value in named_values.items():
            arguments.add(name, value)
        return program, arguments


@contextmanager
def _as_not_compilable() -> Iterator[None]:
    """Convert any error to NotCompilableError."""
    try:
        yield
    except NotCompilableError:
        raise
    except Exception as error:  # the simulator doesn't need what failed in numba or here
        raise NotCompilableError(describe_unexpected(error)) from error


def execute(
    record: RunRecord,
    function: FunctionType,
    values: Sequence[Any],
    *,
    debug: bool = False,
    prepared_call: PreparedCall | None = None,
    turns: bool = False,
) -> RowRecorder:
    """Run a kernel's chosen blocks on these arguments; errors go to `error` or `notice` of the record.

    prepared_call: the call, if it is prepared. turns: whether threads take turns as the schedule says; else they run
    one after the other. Returns the recorder. Raises NotCompilableError, before or after some of the blocks have run.
    """
    call = prepared_call or prepare_call(record.launch, record.names, function, values, debug=debug)
    if call.program.prints and not turns and record.launch.schedule.kind != "sequential":
        raise NotCompilableError("its output depends on the order of its threads")
    try:
        return _run_call(record, call, turns=turns, in_parallel=not turns)
    except NeedsSerialRunError as refusal:
        if refusal.unforeseen is not None:
            warnings.warn(
                f"Tilescope ran the blocks on one core after an internal error: {refusal}", stacklevel=2
            )
        record.reset()
        return _run_call(record, call, turns=turns, in_parallel=False)


def _run_call(record: RunRecord, call: PreparedCall, *, turns: bool, in_parallel: bool) -> RowRecorder:
    """Run a call; see `execute`.

    in_parallel: whether blocks may run in parallel, which may raise NeedsSerialRunError.
    """
    program, arguments, entry = call
    state, launch = np.zeros(len(Word), np.int64), record.launch
    threads = record.dim[0] * record.dim[1] * record.dim[2]
    count = record.grid[0] * record.grid[1] * record.grid[2]
    record.resident = resident_blocks(launch.schedule, launch.resident, threads)
    record.inexact = inexact(names_in(program.text()))
    order = launch.schedule if turns else Schedule("sequential")
    is_interleaved = turns or program.waits_for_grid  # whether several blocks run at once
    limit = (
        min(launch.limits.accesses, max_rows(launch.limits.memory))
        if is_interleaved
        else launch.limits.accesses
    )
    recorder = (TurnsRecorder if is_interleaved else LaunchRecorder)(
        limit, launch.limits.memory, lambda columns: _count(record, threads, columns), program, state,
        lambda region, code: memory.number_of(region, code), count, threads,
    )  # fmt: skip
    if isinstance(recorder, TurnsRecorder) and launch.schedule.kind == "lockstep":
        recorder.max_accesses = MAX_TURNS
    record.recorder, recorder.count_past_limit = recorder, record.count_past_limit
    memory: LaunchMemory = LaunchMemory(record, program, arguments, state, threads)

    def report(done: int) -> None:
        record.report(done, len(record.chosen_blocks()))

    blocks = BlockRunner(
        entry, state, recorder, memory, record.grid, record.dim, order, record.resident if turns else 1,
        report, fixed=launch.resident is not None, recursive=bool(program.recursive),
        explicit=record.start_order() if turns else None,
    )  # fmt: skip
    parallel_run = None
    if in_parallel and isinstance(recorder, LaunchRecorder) and not recorder.records_rounds:
        parallel_run = ParallelRun(
            record, recorder, memory, entry, _count, report, partial(precompute_expected, record)
        )
    try:
        _run_blocks(record, blocks, recorder, state, parallel_run)
    finally:
        memory.declare()
        recorder.end()
    recorder.print_lines()
    if recorder.streaming is not None:
        record.add_totals(recorder.streaming.totals())
    return recorder


def _count(record: RunRecord, threads: int, columns: Columns) -> None:
    """Add the counters of some complete blocks' rows to those of the launch."""
    recorder = record.recorder
    counters = (
        count_block_rows(columns, recorder.buffers, len(recorder.sites), threads)
        if "round" not in columns
        else None
    )
    record.add_totals(totals_of_columns(record, columns) if counters is None else counters)


def _run_blocks(
    record: RunRecord,
    blocks: BlockRunner,
    recorder: RowRecorder,
    state: NDArray[np.int64],
    parallel_run: ParallelRun | None,
) -> None:
    try:
        with redirect_signals(parallel_run.stop if parallel_run else recorder.stop), record.running():
            remaining = blocks.run(record.chosen_blocks(), parallel_run.is_worth_it if parallel_run else None)
            if parallel_run and len(remaining):
                parallel_run.run(remaining)
        recorder.raise_failure()
    except Exception as error:  # noqa: BLE001  # errors of a kernel are shown to its author
        _record_end(record, recorder.failure or error, state)
    finally:
        record.resident = max(record.resident, blocks.slots)


def _record_end(record: RunRecord, error: BaseException, state: NDArray[np.int64]) -> None:
    """Record the end of a launch that stopped early."""
    recorder = record.recorder
    if isinstance(error, TooManyAccessesError) and isinstance(recorder, RowRecorder):
        record.notice = (
            f"{STOPPED} {recorder.accesses:,} accesses: {recorder.exceeded_limit}. Choose a smaller size."
        )
        return
    if isinstance(error, OrderError):
        raise error from None
    if isinstance(error, NotCompilableError | NeedsSerialRunError | TraceFileError) or not isinstance(
        error, Exception
    ):
        if isinstance(recorder, RowRecorder) and not isinstance(
            error, NotCompilableError | NeedsSerialRunError
        ):
            recorder.print_lines()
        raise error from None
    if isinstance(error, ThreadFaultError):
        position = unravel(error.block, record.grid), unravel(error.thread, record.dim)
        kind = type(error.error).__name__
        record.error = KernelError(kind, str(error), *position, error.site.file, error.site.line)
        record.raised = error.error
        return
    frame = traceback.extract_tb(error.__traceback__)[-1]  # numba adds a frame for the line that raised
    if isinstance(recorder, RowRecorder) and not _is_kernel_line(frame.filename):
        raise NotCompilableError(
            f"Numba raised {type(error).__name__} without a line; the simulator finds it"
        ) from None
    block = (int(state[Word.BX]), int(state[Word.BY]), int(state[Word.BZ]))
    thread = unravel(int(state[Word.THREAD]), record.dim)
    record.error = KernelError(
        type(error).__name__, str(error), block, thread, frame.filename, frame.lineno or 0
    )
    record.raised = error


def _is_kernel_line(file: str) -> bool:
    """Check if a file, where an error was raised, is the kernel's and not internal."""
    return not any(Path(file).is_relative_to(folder) for folder in INTERNAL_FOLDERS)
