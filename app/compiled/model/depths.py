"""The counters of a launch at three depths: as written, as compiled, and as measured on a GPU. No Qt."""

from __future__ import annotations

from msgspec import Struct

from ....kernels.scenarios.suggestions import joined_words
from ....tracer.as_compiled.job import CompiledCounters
from ....tracer.hardware.times.recorded_counters import LaunchCounters, recorded_counters_of
from ....tracer.model.counter_names import GROUPS, NAMES
from ...model.session import Session

MAIN = {"global": "requests", "shared": "instructions"}  # the main counter of a space
SECOND = {"global": "sectors", "shared": "wavefronts"}  # the counter to show if the main ones are equal


class Depth(Struct, frozen=True):
    """A counter at each depth."""

    name: str  # of `NAMES`
    written: int
    compiled: int | None = None  # None if it is not known
    measured: int | None = None  # None if it was not measured
    is_at_least: bool = False  # whether a GPU may count more than compiled: its warps contend

    @property
    def label(self) -> str:
        """Its label."""
        return self.name.replace("_instructions", "_requests").replace("_", " ")

    @property
    def short_label(self) -> str:
        """A short label: "global loads" for requests of loads."""
        return self.label.removesuffix(" requests") + "s" * self.label.endswith(" requests")

    @property
    def is_same(self) -> bool:
        """Whether all known depths are equal."""
        return {self.compiled, self.measured} <= {None, self.written} and not self.is_at_least


class Depths(Struct, frozen=True):
    """The counters of a launch that are not 0 at some depth."""

    counters: tuple[Depth, ...]  # in the order of `NAMES`
    compiled: CompiledCounters
    measured: LaunchCounters | None

    def differing(self) -> tuple[Depth, ...]:
        """Return one counter for each kind of access that differs: requests, or else their cost."""
        by_name = {depth.name: depth for depth in self.counters}
        chosen = []
        for group, (space, _) in GROUPS.items():
            names = [f"{group}_{measure}" for measure in (MAIN.get(space), SECOND.get(space))]
            differing = [by_name[name] for name in names if name in by_name and not by_name[name].is_same]
            chosen += differing[:1]
        return tuple(chosen)


def depths_of(session: Session) -> Depths | None:
    """Return the counters of a session at each depth, None until the compiler has answered."""
    compiled = session.compiled
    if compiled is None:
        return None
    measured = recorded_counters_of(session.launch) if session.is_unmodified else None
    read = measured.counters if measured else {}
    written = session.counters.total
    counters = (
        Depth(
            name,
            written.get(name, 0),
            compiled.counters.get(name, 0) if not compiled.reason else None,
            read.get(name),
            name in compiled.at_least,
        )
        for name in NAMES
    )
    return Depths(tuple(d for d in counters if d.written or d.compiled or d.measured), compiled, measured)


def depth_text(depth: Depth) -> str:
    """Format a counter at its depths: "written 720 · compiled 600 · measured 600"; equal depths are joined."""
    amounts = [("written", depth.written), ("compiled", depth.compiled), ("measured", depth.measured)]
    open_ended = [amounts.pop(1)] if depth.is_at_least else []
    same = [name for name, amount in amounts if amount == depth.written]
    others = [f"{name} at least {amount:,}" for name, amount in open_ended]
    others += [f"{name} {amount:,}" for name, amount in amounts if amount not in (None, depth.written)]
    names = joined_words(same, "and")
    return " · ".join([f"{names} {depth.written:,}", *others])


def short_compiler(compiled: CompiledCounters) -> str:
    """Return the name of the compiler without its package: "LLVM 22.1"."""
    return compiled.compiler.partition(" of ")[0]
