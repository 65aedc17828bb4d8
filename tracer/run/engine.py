"""Chooses the engine of a launch and the order of its threads: the schedule's order wherever it may matter."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from msgspec.structs import replace

from ..compiled.not_compilable import EndlessWaitError, TooManyTurnsError
from ..compiled.state import MAX_TURNS
from ..model.launch import Launch, Limits, is_cuda_cpp_launch, is_python_program
from ..model.trace import Trace
from ..races.detect import races_of
from ..races.missed_barriers import missed_barriers_of
from ..recording.kernel_loader import LoadError
from ..storage.recorded_traces import MEASURED, NotRecordedError, recorded
from ..storage.trace_file import TraceFileError
from .worker_events import EARLY_NOTICE

BLOCK_SECONDS = 10.0  # of CPU time after which a block in CUDA C++ counts as endless
EARLY_FROM = 1_000_000  # accesses; from here on lockstep is so slow that an early trace is worth showing
Report = Callable[[int, int], None]


def run(
    launch: Launch,
    report: Report,
    early: Callable[[Trace], None] | None = None,
    block_seconds: float | None = BLOCK_SECONDS,
) -> Trace:
    """Run a launch with the engine that it names and return its trace; `made_by` names the engine and the reason.

    A launch measured on a GPU is read from its recording. The simulator runs launches that can't be compiled.
    `report(done, total)` is called as blocks end. `early` gets a preliminary trace (see `in_order`). block_seconds: of
    CPU time for a block in CUDA C++, None for no limit.

    Raises LoadError and UnsupportedSimulator.
    """
    if launch.schedule.kind == MEASURED:
        return _load_recorded(launch)
    if is_cuda_cpp_launch(launch):
        from .cuda_cpp_launch import run_cuda_cpp

        return run_cuda_cpp(launch, report, block_seconds, partial(run, report=report, early=early))
    if launch.engine == "simulator" or is_python_program(launch):
        return run_simulated(launch, report, "")
    from ..compiled.driver.engine import CompiledLaunch
    from ..compiled.not_compilable import NotCompilableError

    try:
        compiled = CompiledLaunch(launch, report)
        return trace_in_order(
            compiled.run, launch.schedule.kind, meets=compiled.threads_interact, early=early
        )
    except NotCompilableError as error:
        return run_simulated(launch, report, f"not compiled: {error}")


def _load_recorded(launch: Launch) -> Trace:
    """Load the trace that a GPU made of a launch; raises LoadError if there is no recording."""
    try:
        return recorded(launch)
    except (NotRecordedError, TraceFileError) as error:
        raise LoadError(str(error)) from error


def run_simulated(launch: Launch, report: Report, reason: str) -> Trace:
    """Run a launch in the simulator; `reason` is appended to the trace's `made_by`."""
    from ..simulator.numba_patch import run as run_simulator

    trace = run_simulator(launch, report)
    return replace(trace, made_by=f"{trace.made_by}; {reason}") if reason else trace


def run_counted(launch: Launch) -> Trace:
    """Trace only the counters of a launch, even if its blocks make more accesses than a trace can hold.

    The launch runs compiled, thread by thread; raises NotCompilableError, and for CUDA C++ LoadError.
    """
    from ..compiled.driver.engine import CompiledLaunch

    if is_cuda_cpp_launch(launch):
        return run(replace(launch, limits=Limits(accesses=0)), lambda done, total: None)
    counted = replace(launch, limits=Limits(accesses=0))
    return CompiledLaunch(counted, lambda done, total: None).run(turns=False, count_past_limit=True)


def has_races(trace: Trace) -> bool:
    """Check whether the result of a launch that ran thread by thread depends on the order of its threads."""
    from ..compiled.rows.race_free_check import is_race_free

    return not is_race_free(trace) and any(
        race.harmful for race in races_of(trace, missed_barriers_of(trace))
    )


def trace_in_order(
    run: Callable[[bool], Trace],
    schedule: str,
    *,
    meets: bool,
    early: Callable[[Trace], None] | None = None,
) -> Trace:
    """Trace a launch in the order of its schedule.

    run: runs the launch from the beginning, with True in turns, with False one thread after the other. The latter is
    far faster, and behaves as on a GPU if the order of threads does not matter; `lockstep` checks that afterwards.
    meets: whether threads interact by atomics or fences. `early` gets the trace of a large launch that is likely to be
    run again; its notice explains it. Raises NotCompilableError.
    """
    if schedule == "sequential":
        return run(False)
    if schedule in ("random", "order"):
        return run(True)
    return _in_turns(run) if meets else _in_turns_if_order_matters(run, early)


def _in_turns(run: Callable[[bool], Trace], reason: str = "") -> Trace:
    """Trace in turns; with too many accesses thread by thread, with a notice."""
    try:
        trace = run(True)
    except TooManyTurnsError:
        return _with_sequential_notice(run(False))
    return replace(trace, made_by=f"{trace.made_by}; {reason}") if reason else trace


def _in_turns_if_order_matters(run: Callable[[bool], Trace], early: Callable[[Trace], None] | None) -> Trace:
    from ..compiled.driver.parallel_run import cores
    from ..compiled.rows.race_free_check import scan_trace

    try:
        trace = run(False)
    except EndlessWaitError:
        return _in_turns(run, "in turns, because a thread waits for another")
    if trace.error is None:
        scan = scan_trace(trace, cores())
        if scan.race_free or not len(trace):
            return trace.with_scan_results(is_race_free=True, is_initialised=scan.initialised)
    if trace.accesses > MAX_TURNS:
        return _with_sequential_notice(trace) if has_races(trace) else trace
    if early is not None and trace.accesses >= EARLY_FROM:
        early(replace(trace, notice=f"{trace.notice} {EARLY_NOTICE}".strip()))
    reason = "thread by thread it raised" if trace.error is not None else "its threads may interact"
    return _in_turns(run, f"run again in turns: {reason}")


def _with_sequential_notice(trace: Trace) -> Trace:
    """Add the notice that the threads ran one after the other."""
    text = (
        f"The threads ran one after the other: {trace.accesses:,} accesses are too many to repeat in lockstep, "
        "the order in which races and atomics behave as on a GPU. Choose a smaller size."
    )
    return replace(trace, notice=f"{trace.notice} {text}".strip())
