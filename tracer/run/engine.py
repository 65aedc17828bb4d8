"""Which engine runs a launch, and in which order: compiled in that of its schedule, wherever the order may matter."""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from ..compiled.not_compilable import TooManyTurns, WaitsForOthers
from ..compiled.state import MOST_TURNS
from ..model.launch import Launch, Limits, is_python_program
from ..model.trace import Trace
from ..races.detect import races_of
from ..races.missed_barriers import missed_barriers_of
from ..recording.kernel_loader import LoadError
from ..storage.recorded_traces import MEASURED, NotRecorded, recorded
from ..storage.trace_file import TraceFileError
from .worker_events import EARLY

EARLY_FROM = 1_000_000  # accesses that take turns so long that the trace of before is worth being shown
Report = Callable[[int, int], None]


def run(launch: Launch, report: Report, early: Callable[[Trace], None] | None = None) -> Trace:
    """Run a launch by the engine that it names and return its trace; `made_by` says what ran, and why.

    What a GPU has done is taken from its recording. What the compiled engine can't take, the simulator runs.
    `report(done, of)` is called as blocks end. `early` gets a trace to be shown until the one that counts is there
    (`in_order`).

    Raises LoadError and UnsupportedSimulator.
    """
    if launch.schedule.kind == MEASURED:
        return _recorded(launch)
    if launch.engine == "simulator" or is_python_program(launch):
        return run_simulated(launch, report, "")
    from ..compiled.driver.engine import CompiledLaunch
    from ..compiled.not_compilable import NotCompilable

    try:
        compiled = CompiledLaunch(launch, report)
        return in_order(compiled.run, launch.schedule.kind, meets=compiled.meets, early=early)
    except NotCompilable as error:
        return run_simulated(launch, report, f"not compiled: {error}")


def _recorded(launch: Launch) -> Trace:
    """Return the trace that a GPU made of a launch; raises LoadError where nobody has recorded it."""
    try:
        return recorded(launch)
    except (NotRecorded, TraceFileError) as error:
        raise LoadError(str(error)) from error


def run_simulated(launch: Launch, report: Report, reason: str) -> Trace:
    """Run a launch by the simulator; `reason` is added to what made the trace."""
    from ..simulator.numba_patch import run as run_simulator

    trace = run_simulator(launch, report)
    return replace(trace, made_by=f"{trace.made_by}; {reason}") if reason else trace


def run_counted(launch: Launch) -> Trace:
    """Return a trace of the counters alone of a launch, of blocks too that make more accesses than may be held.

    It is compiled, thread by thread; raises NotCompilable.
    """
    from ..compiled.driver.engine import CompiledLaunch

    counted = replace(launch, limits=Limits(accesses=0))
    return CompiledLaunch(counted, lambda done, of: None).run(turns=False, to_the_end=True)


def has_races(trace: Trace) -> bool:
    """Return whether what a launch does, thread by thread, depends on the order of its threads."""
    from ..compiled.rows.race_free_check import keep_apart

    return not keep_apart(trace) and any(race.harmful for race in races_of(trace, missed_barriers_of(trace)))


def in_order(
    run: Callable[[bool], Trace],
    schedule: str,
    *,
    meets: bool,
    early: Callable[[Trace], None] | None = None,
) -> Trace:
    """Return the trace of a launch in the order of its schedule.

    run: runs it from the beginning, its threads in turns or (False) one after the other, which is far faster, and shows
    what a GPU would do as long as the order of threads does not matter; under `lockstep` that is looked at then. meets:
    whether threads are known to meet, by atomics or fences. `early` gets the trace of a large launch that is likely to
    be run again; its notice says what it is. Raises NotCompilable.
    """
    if schedule == "sequential":
        return run(False)
    if schedule == "random":
        return run(True)
    return _in_turns(run) if meets else _in_turns_where_it_matters(run, early)


def _in_turns(run: Callable[[bool], Trace], reason: str = "") -> Trace:
    """Return the trace in turns, or thread by thread, which it says, where there are too many accesses."""
    try:
        trace = run(True)
    except TooManyTurns:
        return _with_sequential_notice(run(False))
    return replace(trace, made_by=f"{trace.made_by}; {reason}") if reason else trace


def _in_turns_where_it_matters(run: Callable[[bool], Trace], early: Callable[[Trace], None] | None) -> Trace:
    from ..compiled.driver.beside import cores
    from ..compiled.rows.race_free_check import look_at

    try:
        trace = run(False)
    except WaitsForOthers:
        return _in_turns(run, "in turns, since a thread waits for another")
    if trace.error is None:
        look = look_at(trace, cores())
        if look.apart or not len(trace):
            return trace.looked_at(apart=True, written_first=look.written_first)
    if trace.accesses > MOST_TURNS:
        return _with_sequential_notice(trace) if has_races(trace) else trace
    if early is not None and trace.accesses >= EARLY_FROM:
        early(replace(trace, notice=f"{trace.notice} {EARLY}".strip()))
    why = "thread by thread it raised" if trace.error is not None else "its threads may meet"
    return _in_turns(run, f"run again in turns: {why}")


def _with_sequential_notice(trace: Trace) -> Trace:
    """Return a trace that says that its threads ran one after the other."""
    text = (
        f"Its threads ran one after the other: {trace.accesses:,} accesses are too many to be made again in lockstep, "
        "where races and atomics show what a GPU does. Choose a smaller size."
    )
    return replace(trace, notice=f"{trace.notice} {text}".strip())
