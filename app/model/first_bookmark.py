"""What is shown first: the scenarios or the trace file that were asked for, or what was shown last."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from ...tracer.model.plan import parse_spec
from .bookmark import Bookmark, Setup
from .named_file import is_file

DEFAULT_PAIR = ("matmul-naive-col-on-x", "matmul-tiled")


def first_bookmark(specs: Sequence[str], last: Bookmark | None) -> Bookmark:
    """Return what to show first: what was asked for in the look of the last time, else all of the last time.

    specs: scenarios with their parameters, or the path of a trace file. Raises CatalogueError.
    """
    if last is not None and last.panes and not specs:
        return last
    setups = setups_of(specs or DEFAULT_PAIR)
    alike = len({_comparable(setup, setups) for setup in setups}) == 1
    plain = {"panes": setups, "selections": (), "moment": None, "focus": len(setups) - 1, "shared": alike}
    return msgspec.structs.replace(last or Bookmark(()), **plain)


def setups_of(specs: Sequence[str]) -> tuple[Setup, ...]:
    """Return the setups that command line words name: a trace file, or scenarios; raises CatalogueError."""
    setups = []
    for spec in specs:
        if spec.endswith(".npz") or is_file(spec):
            setups.append(Setup(file=str(Path(spec).absolute())))
        else:
            scenario, values, options = parse_spec(spec)
            setups.append(Setup(scenario.name, values, **options))
    return tuple(setups)


def _comparable(setup: Setup, setups: Sequence[Setup]) -> str:
    """Return what may differ between panes that are changed alike: the parameters that all have, the schedule."""
    common = [name for name in setup.values if all(name in other.values for other in setups)]
    values = {name: setup.values[name] for name in common}
    return repr((values, setup.schedule, setup.resident, setup.blocks))
