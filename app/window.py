"""The start of the window: the worker first, which loads numba while Qt is loaded here."""

from __future__ import annotations

import signal
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ..tracer.client import Worker

if TYPE_CHECKING:
    from .bookmark import Bookmark, Setup

DEFAULT_PAIR = ("matmul-naive-col-on-x", "matmul-tiled")


def run_window(specs: Sequence[str], program: str = "") -> int:
    """Open the window on scenarios, on a trace file, or on what it showed last; return when it is closed.

    program: the path of a Python file whose launches are shown, now and whenever it is saved.

    Raises CatalogueError for a scenario that does not exist or a parameter that it cannot take.
    """
    # Python calls a signal's handler between any two steps, also in the midst of painting: only take note here.
    interrupted: list[int] = []
    signal.signal(signal.SIGINT, lambda number, _: interrupted.append(number))
    worker = Worker()
    worker.start()
    from .run import run

    return run(worker, specs, program, interrupted)


def setups_of(specs: Sequence[str]) -> tuple[Setup, ...]:
    """Return the setups that command line words name: a trace file, or scenarios; raises CatalogueError."""
    from ..tracer.plan import parse_spec
    from .bookmark import Setup

    setups = []
    for spec in specs:
        if spec.endswith(".npz") or Path(spec).is_file():
            setups.append(Setup(file=str(Path(spec).absolute())))
        else:
            scenario, values, options = parse_spec(spec)
            setups.append(Setup(scenario.name, values, **options))
    return tuple(setups)


def first_bookmark(specs: Sequence[str], last: Bookmark | None) -> Bookmark:
    """Return what to show first: what was asked for in the look of the last time, else all of the last time."""
    import msgspec

    from .bookmark import Bookmark

    if last is not None and last.panes and not specs:
        return last
    setups = setups_of(specs or DEFAULT_PAIR)
    alike = len({_options(setup, setups) for setup in setups}) == 1
    plain = {"panes": setups, "places": (), "moment": None, "focus": len(setups) - 1, "shared": alike}
    return msgspec.structs.replace(last or Bookmark(()), **plain)


def _options(setup: Setup, setups: Sequence[Setup]) -> str:
    """Return what may differ between panes that are changed alike: the parameters that all have, the schedule."""
    common = [name for name in setup.values if all(name in other.values for other in setups)]
    values = {name: setup.values[name] for name in common}
    return repr((values, setup.schedule, setup.resident, setup.blocks))
