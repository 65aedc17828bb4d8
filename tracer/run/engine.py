"""Which engine runs a launch: the compiled one where it can, else the simulator."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ..model.launch import Launch, is_python_program
from ..model.trace import Op, Trace
from ..races.detect import races_of
from ..races.missed_barriers import missed_barriers_of
from .worker_events import EARLY

RERUN_AT_MOST = 5_000_000  # accesses that the simulator makes in some ten seconds
EARLY_FROM = 50_000  # accesses that take it so long that the compiled trace is worth being shown before
Report = Callable[[int, int], None]


def has_races(trace: Trace) -> bool:
    """Return whether what a compiled launch does depends on the order of its threads."""
    from ..compiled.rows.race_free_check import keep_apart

    return not keep_apart(trace) and any(race.harmful for race in races_of(trace, missed_barriers_of(trace)))


def run(
    launch: Launch,
    report: Report,
    races: Callable[[Trace], bool] = has_races,
    early: Callable[[Trace], None] | None = None,
) -> Trace:
    """Run a launch by the engine that it names and return its trace; `made_by` says what ran, and why.

    What the compiled engine can't take, the simulator runs. A compiled trace is recorded thread by thread; under
    `lockstep` it is what a GPU would do as long as the order of threads does not matter. So a launch that
    raised, has a race (`races`) or atomics is run again by the simulator; one of more than RERUN_AT_MOST accesses is
    left as it is, and says so. `report(done, of)` is called as blocks end. `early` gets the compiled trace of one that
    is likely to be run again, where that takes a while; its notice says what it is.

    Raises LoadError and UnsupportedSimulator.
    """
    if launch.engine == "simulator" or is_python_program(launch):
        return run_simulated(launch, report, "")
    from ..compiled.driver.engine import run_compiled
    from ..compiled.not_compilable import NotCompilable

    try:
        trace = run_compiled(launch, report)
    except NotCompilable as error:
        return run_simulated(launch, report, f"not compiled: {error}")
    if early is not None and EARLY_FROM <= trace.accesses <= RERUN_AT_MOST and _may_depend_on_order(trace):
        early(replace(trace, notice=f"{trace.notice} {EARLY}".strip()))
    reason = reason_to_rerun(trace, races)
    if is_too_large_to_rerun(trace, reason):
        return with_sequential_notice(trace)
    return run_simulated(launch, report, reason) if reason else trace


def _may_depend_on_order(trace: Trace) -> bool:
    """Return whether a compiled launch may have to run again: at once, where finding the races takes a while."""
    from ..compiled.rows.race_free_check import keep_apart

    return trace.schedule == "lockstep" and (trace.error is not None or not keep_apart(trace))


def is_too_large_to_rerun(trace: Trace, reason: str) -> bool:
    """Return whether a launch that is to run again, for a reason, is too large for the simulator."""
    return bool(reason) and trace.error is None and trace.accesses > RERUN_AT_MOST


def with_sequential_notice(trace: Trace) -> Trace:
    """Return a trace that says that its threads ran one after the other."""
    text = (
        f"Its threads ran one after the other: {trace.accesses:,} accesses are too many to be made again in lockstep, "
        "where races and atomics show what a GPU does. Choose a smaller size."
    )
    return replace(trace, notice=f"{trace.notice} {text}".strip())


def reason_to_rerun(trace: Trace, races: Callable[[Trace], bool] = has_races) -> str:
    """Return why a compiled trace, recorded thread by thread, is not what `lockstep` would show, or nothing."""
    if trace.schedule != "lockstep":
        return ""
    if trace.error is not None:
        return "run again, thread by thread it raised"
    if (trace.op >= Op.ATOMIC).any() or any(
        "atomic" in k or "reduction" in k for k, n in trace.totals.items() if n
    ):
        return "run again for its atomics, whose values depend on the order"
    return "run again for its races" if len(trace) and races(trace) else ""


def run_simulated(launch: Launch, report: Report, reason: str) -> Trace:
    """Run a launch by the simulator; `reason` is added to what made the trace."""
    from ..simulator.numba_patch import run as run_simulator

    trace = run_simulator(launch, report)
    return replace(trace, made_by=f"{trace.made_by}; {reason}") if reason else trace
