"""Which engine runs a launch: the compiled one where it can, else the simulator."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ..model.launch import Launch, is_python_program
from ..model.trace import Trace
from .order import in_order

Report = Callable[[int, int], None]


def run(launch: Launch, report: Report, early: Callable[[Trace], None] | None = None) -> Trace:
    """Run a launch by the engine that it names and return its trace; `made_by` says what ran, and why.

    What the compiled engine can't take, the simulator runs. `report(done, of)` is called as blocks end. `early` gets
    a trace to be shown until the one that counts is there (`in_order`).

    Raises LoadError and UnsupportedSimulator.
    """
    if launch.engine == "simulator" or is_python_program(launch):
        return run_simulated(launch, report, "")
    from ..compiled.driver.engine import CompiledLaunch
    from ..compiled.not_compilable import NotCompilable

    try:
        compiled = CompiledLaunch(launch, report)
        return in_order(compiled.run, launch.schedule.kind, meets=compiled.meets, early=early)
    except NotCompilable as error:
        return run_simulated(launch, report, f"not compiled: {error}")


def run_simulated(launch: Launch, report: Report, reason: str) -> Trace:
    """Run a launch by the simulator; `reason` is added to what made the trace."""
    from ..simulator.numba_patch import run as run_simulator

    trace = run_simulator(launch, report)
    return replace(trace, made_by=f"{trace.made_by}; {reason}") if reason else trace
