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
from ...recording.finish import expect, finish
from ...recording.kernel_loader import arrays_of, content_of, load_kernel, set_constants
from ...recording.partial_totals import totals_of_columns
from ...recording.recorder import TooLarge
from ...recording.run_record import RunRecord, most_rows, resident_blocks
from ...storage.trace_file import TraceFileError
from ..not_compilable import NotCompilable, unexpected
from ..rewrite.program import RecordingProgram
from ..rewrite.rewriter import rewritten
from ..rows.block_counters import counted
from ..state import MOST_TURNS, Word
from .arguments import Arguments
from .beside import Team
from .block_runner import BlockRunner
from .compile import compiled, is_kept
from .memory import LaunchMemory
from .parts import NotBeside, WholeRecorder
from .row_recorder import RowRecorder, ThreadFaultError
from .signals import signals_afterwards, signals_deferred
from .turns_recorder import TurnsRecorder

# Where errors are raised that Numba makes of what a kernel does: at no line of the kernel's.
INSIDE = Path(__file__).resolve().parents[2], Path(numba.__file__).parent


LARGE = 1 << 21  # numbers in the arrays of a large launch


class CompiledLaunch:
    """A launch that can be run compiled, more than once; raises NotCompilable and LoadError.

    `report(done, of)` is called as blocks end. meets: whether its threads are known to meet, by atomics or fences.
    """

    def __init__(self, launch: Launch, report: Callable[[int, int], None]) -> None:
        self._launch, self._report = launch, report
        self._module, self._kernel = load_kernel(launch)
        set_constants(self._module, launch)
        self._given, self._names = arrays_of(launch, self._kernel)
        self._ready: Prepared | None = self._prepared()
        self.meets = self._ready.program.meets

    def _prepared(self) -> Prepared:
        return prepared(
            self._launch, self._names, self._kernel.py_func, self._given,
            debug=_is_debugged(self._kernel), late=late_constants(self._launch),
        )  # fmt: skip

    def run(self, turns: bool, *, to_the_end: bool = False) -> Trace:
        """Run it from the beginning and return the trace; raises NotCompilable.

        turns: whether threads take turns as the schedule says; else they run one after the other.
        to_the_end: whether blocks with more accesses than may be held are counted all the same.
        """
        if self._ready is None:
            self._given, self._names = arrays_of(self._launch, self._kernel)
        ready, self._ready = self._ready or self._prepared(), None
        record = RunRecord(self._launch, self._names, self._report, to_the_end=to_the_end)
        arrays = zip(self._names, self._launch.arguments, strict=True)
        record.contents = {n: content_of(a) for n, a in arrays if isinstance(a, Array) and a.fill != "file"}
        execute(record, self._kernel.py_func, self._given, ready=ready, turns=turns)
        return trace_of_compiled_run(record, str(self._module.__file__))


def run_compiled(launch: Launch, report: Callable[[int, int], None], *, turns: bool = False) -> Trace:
    """Run a launch compiled and return its trace; see `CompiledLaunch`."""
    return CompiledLaunch(launch, report).run(turns)


def compile_kernel(launch: Launch, *, keep: bool = True) -> None:
    """Compile a launch's kernel for its arguments and run nothing, so that a run needs not wait for that.

    keep: whether what is compiled is kept, and not compiled if it has been before. Raises LoadError and NotCompilable.
    """
    kernel, given, names = _loaded(launch)
    debug, late = _is_debugged(kernel), late_constants(launch)
    prepared(launch, names, kernel.py_func, given, debug=debug, late=late, keep=keep)


def is_kernel_kept(launch: Launch) -> bool:
    """Return whether a launch's kernel was compiled before for its arguments, so that it has only to be read.

    Raises LoadError and NotCompilable.
    """
    kernel, given, names = _loaded(launch)
    debug, late = _is_debugged(kernel), late_constants(launch)
    return is_kept(*_rewritten_call(names, kernel.py_func, given, debug=debug, late=late))


def _loaded(launch: Launch) -> tuple[Any, list[Any], tuple[str, ...]]:
    module, kernel = load_kernel(launch)
    set_constants(module, launch)
    return kernel, *arrays_of(launch, kernel)


def late_constants(launch: Launch) -> frozenset[str]:
    """Return the constants that compiled code of a launch is told as it begins, so that others need no new code.

    It is up to a tenth slower so: a launch that may take many seconds has code with its constants compiled.
    """
    elements = sum(math.prod(a.shape) for a in launch.arguments if isinstance(a, Array))
    told = {name for name, value in launch.constants.items() if type(value) is int}
    return frozenset(told if elements < LARGE else ())


def _is_debugged(kernel: Any) -> bool:
    return bool(getattr(kernel, "_debug", False) or getattr(kernel, "targetoptions", {}).get("debug"))


def trace_of_compiled_run(record: RunRecord, file: str) -> Trace:
    """Return the trace of a run of a kernel in this file, which has been executed."""
    trace = finish(record, file, f"numba {numba.__version__}, compiled")
    assert isinstance(record.recorder, RowRecorder)
    record.recorder.release()
    return trace


class Prepared(NamedTuple):
    """A call of a kernel, ready to be run compiled."""

    program: RecordingProgram
    arguments: Arguments
    entry: int  # address of the compiled kernel


def prepared(
    launch: Launch,
    names: Sequence[str],
    function: FunctionType,
    given: Sequence[Any],
    *,
    debug: bool = False,
    late: frozenset[str] = frozenset(),
    keep: bool = True,
) -> Prepared:
    """Return a kernel rewritten, its arguments, and its compiled code; raises NotCompilable.

    late: constants that the code is told as it begins, if it can be compiled so. keep: see `compile_kernel`.
    """
    program, arguments = _rewritten_call(names, function, given, debug=debug, late=late)
    try:
        with _refused(), signals_afterwards():
            return Prepared(program, arguments, compiled(program, arguments, keep=keep))
    except NotCompilable:
        if not program.late:
            raise
        return prepared(launch, names, function, given, debug=debug, keep=keep)


def _rewritten_call(
    names: Sequence[str],
    function: FunctionType,
    given: Sequence[Any],
    *,
    debug: bool,
    late: frozenset[str],
) -> tuple[RecordingProgram, Arguments]:
    """Return a kernel rewritten, and its arguments; raises NotCompilable."""
    with _refused():
        named = dict(
            zip((*names, *(f"argument {n}" for n in range(len(names), len(given)))), given, strict=False)
        )
        dtypes = {name: value.dtype for name, value in named.items() if isinstance(value, np.ndarray)}
        program, arguments = rewritten(function, dtypes, debug=debug, late=late), Arguments()
        for name, value in named.items():
            arguments.add(name, value)
        return program, arguments


@contextmanager
def _refused() -> Iterator[None]:
    """Say of whatever goes wrong that the kernel is not compilable."""
    try:
        yield
    except NotCompilable:
        raise
    except Exception as error:  # whatever fails in numba or here, the simulator does not need it
        raise NotCompilable(unexpected(error)) from error


def execute(
    record: RunRecord,
    function: FunctionType,
    given: Sequence[Any],
    *,
    debug: bool = False,
    ready: Prepared | None = None,
    turns: bool = False,
) -> RowRecorder:
    """Run a kernel's chosen blocks on these arguments; what went wrong ends up in `error` or `notice`.

    ready: the call, where it has been prepared. turns: whether threads take turns as the schedule says;
    else they run one after the other. Returns what has recorded them. Raises NotCompilable, before or after some of the
    blocks have run.
    """
    call = ready or prepared(record.launch, record.names, function, given, debug=debug)
    if call.program.prints and not turns and record.launch.schedule.kind != "sequential":
        raise NotCompilable("what it prints depends on the order of its threads")
    try:
        return _executed(record, call, turns=turns, beside=not turns)
    except NotBeside as why:
        if why.unforeseen is not None:
            warnings.warn(f"Tilescope ran blocks on one core after an error of its own: {why}", stacklevel=2)
        record.begin_again()
        return _executed(record, call, turns=turns, beside=False)


def _executed(record: RunRecord, call: Prepared, *, turns: bool, beside: bool) -> RowRecorder:
    """Run a call; see `execute`. beside: whether blocks may run beside each other, which may raise NotBeside."""
    program, arguments, entry = call
    state, launch = np.zeros(len(Word), np.int64), record.launch
    threads = record.dim[0] * record.dim[1] * record.dim[2]
    count = record.grid[0] * record.grid[1] * record.grid[2]
    record.resident = resident_blocks(launch.schedule, launch.resident, threads)
    record.inexact = inexact(names_in(program.text()))
    order = launch.schedule if turns else Schedule("sequential")
    several = turns or program.waits_for_grid  # blocks under way at once
    limit = (
        min(launch.limits.accesses, most_rows(launch.limits.memory)) if several else launch.limits.accesses
    )
    recorder = (TurnsRecorder if several else WholeRecorder)(
        limit, launch.limits.memory, lambda columns: _count(record, threads, columns), program, state,
        lambda region, code: memory.number_of(region, code), count, threads,
    )  # fmt: skip
    if isinstance(recorder, TurnsRecorder) and launch.schedule.kind == "lockstep":
        recorder.most = MOST_TURNS
    record.recorder, recorder.to_the_end = recorder, record.to_the_end
    memory: LaunchMemory = LaunchMemory(record, program, arguments, state, threads)

    def report(done: int) -> None:
        record.report(done, len(record.chosen_blocks()))

    blocks = BlockRunner(
        entry, state, recorder, memory, record.grid, record.dim, order, record.resident if turns else 1,
        report, fixed=launch.resident is not None, recursive=bool(program.recursive),
    )  # fmt: skip
    team = None
    if beside and isinstance(recorder, WholeRecorder):
        team = Team(record, recorder, memory, entry, _count, report, partial(expect, record))
    try:
        _run_blocks(record, blocks, recorder, state, team)
    finally:
        memory.declare()
        recorder.end()
    recorder.print_lines()
    if recorder.streaming is not None:
        record.add_totals(recorder.streaming.totals())
    return recorder


def _count(record: RunRecord, threads: int, columns: Columns) -> None:
    """Add the counters of some whole blocks' rows to those of the launch."""
    recorder = record.recorder
    found = counted(columns, recorder.buffers, len(recorder.sites), threads)
    record.add_totals(totals_of_columns(record, columns) if found is None else found)


def _run_blocks(
    record: RunRecord, blocks: BlockRunner, recorder: RowRecorder, state: NDArray[np.int64], team: Team | None
) -> None:
    try:
        with signals_deferred(team.stop if team else recorder.stop):
            left = blocks.run(record.chosen_blocks(), team.is_worth_it if team else None)
            if team and len(left):
                team.run(left)
        recorder.raise_failure()
    except Exception as error:  # noqa: BLE001  # whatever a kernel raises is shown to its author
        _end(record, recorder.failure or error, state)
    finally:
        record.resident = max(record.resident, blocks.slots)


def _end(record: RunRecord, error: BaseException, state: NDArray[np.int64]) -> None:
    """Note how a launch ended that did not come to its end."""
    recorder = record.recorder
    if isinstance(error, TooLarge) and isinstance(recorder, RowRecorder):
        record.notice = (
            f"{STOPPED} {recorder.accesses:,} accesses: {recorder.too_many}. Choose a smaller size."
        )
        return
    if isinstance(error, NotCompilable | NotBeside | TraceFileError) or not isinstance(error, Exception):
        if isinstance(recorder, RowRecorder) and not isinstance(error, NotCompilable | NotBeside):
            recorder.print_lines()
        raise error from None
    if isinstance(error, ThreadFaultError):
        where = unravel(error.block, record.grid), unravel(error.thread, record.dim)
        kind = type(error.error).__name__
        record.error = KernelError(kind, str(error), *where, error.site.file, error.site.line)
        record.raised = error.error
        return
    frame = traceback.extract_tb(error.__traceback__)[-1]  # numba adds one for the line that raised
    if isinstance(recorder, RowRecorder) and not _is_said(frame.filename):
        raise NotCompilable(
            f"{type(error).__name__} of Numba's, of which the simulator says where it is"
        ) from None
    block = (int(state[Word.BX]), int(state[Word.BY]), int(state[Word.BZ]))
    thread = unravel(int(state[Word.THREAD]), record.dim)
    record.error = KernelError(
        type(error).__name__, str(error), block, thread, frame.filename, frame.lineno or 0
    )
    record.raised = error


def _is_said(file: str) -> bool:
    """Return whether an error, raised in this file, is at the kernel's line that raised it."""
    return not any(Path(file).is_relative_to(folder) for folder in INSIDE)
