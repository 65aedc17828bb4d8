"""The first bookmark of a window: the requested scenarios or trace file, or those of the last time."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from ...tracer.model.plan import TRACE_SUFFIX, parse_file_spec, parse_spec
from .bookmark import Bookmark, Setup
from .named_file import is_file

DEFAULT_PAIR = ("matmul-naive-col-on-x", "matmul-tiled")


def first_bookmark(specs: Sequence[str], last: Bookmark | None) -> Bookmark:
    """Combine the requested panes with the look of the last time; without a request return the last bookmark.

    specs: scenarios with their parameters, or paths of trace files, as `setups_of` reads them. Raises CatalogueError.
    """
    if last is not None and last.panes and not specs:
        return last
    setups = setups_of(specs or DEFAULT_PAIR)
    alike = len({_comparable(setup, setups) for setup in setups}) == 1
    plain = {"panes": setups, "selections": (), "moment": None, "focus": len(setups) - 1, "shared": alike}
    return msgspec.structs.replace(last or Bookmark(()), **plain)


def setups_of(specs: Sequence[str]) -> tuple[Setup, ...]:
    """Parse command line words into setups: scenarios, or trace files; raises CatalogueError.

    Options may follow a file's name; its kernel then runs again with them: `FILE.npz:schedule=random,seed=3`.
    """
    setups = []
    for spec in specs:
        if names_file(spec):
            path, options = parse_file_spec(spec)
            setups.append(Setup(file=str(Path(path).absolute()), rerun=bool(options), **options))
        else:
            scenario, values, options = parse_spec(spec)
            setups.append(Setup(scenario.name, values, **options))
    return tuple(setups)


def names_file(spec: str) -> bool:
    """Check whether a command line word names a trace file, which may be missing, and not a scenario."""
    return parse_file_spec(spec)[0].endswith(TRACE_SUFFIX) or is_file(spec)


def _comparable(setup: Setup, setups: Sequence[Setup]) -> str:
    """Return a key of what linked panes may differ in: the parameters that all setups have, and the schedule."""
    common = [name for name in setup.values if all(name in other.values for other in setups)]
    values = {name: setup.values[name] for name in common}
    return repr((values, setup.schedule, setup.resident, setup.blocks))
