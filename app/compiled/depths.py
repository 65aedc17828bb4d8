"""The counters of a launch at three depths: as written, as compiled, and as a GPU's counters said. No Qt."""

from __future__ import annotations

from msgspec import Struct

from ...kernels.scenarios.suggestions import joined_words
from ...tracer.as_compiled.job import CompiledCounters
from ...tracer.measure.recorded_counters import LaunchCounters, recorded_counters_of
from ...tracer.model.counter_names import GROUPS, NAMES
from ..model.session import Session

MAIN = {"global": "requests", "shared": "instructions"}  # what tells most of a space
SECOND = {"global": "sectors", "shared": "wavefronts"}  # and what is looked at where that is equal


class Depth(Struct, frozen=True):
    """A counter at each depth."""

    name: str  # of `NAMES`
    written: int
    compiled: int | None = None  # None where it is not known
    measured: int | None = None  # None where nobody has measured it

    @property
    def label(self) -> str:
        """What it is called."""
        return self.name.replace("_instructions", "_requests").replace("_", " ")

    @property
    def short_label(self) -> str:
        """The same where there is little room: "global loads" for requests of them."""
        return self.label.removesuffix(" requests") + "s" * self.label.endswith(" requests")

    @property
    def is_same(self) -> bool:
        """Whether all depths that are known say the same."""
        return {self.compiled, self.measured} <= {None, self.written}


class Depths(Struct, frozen=True):
    """The counters of a launch, those that are not 0 at some depth."""

    counters: tuple[Depth, ...]  # in the order of `NAMES`
    compiled: CompiledCounters
    measured: LaunchCounters | None

    def telling(self) -> tuple[Depth, ...]:
        """Return one counter of each kind of access that differs: requests, else what they cost."""
        known = {depth.name: depth for depth in self.counters}
        found = []
        for group, (space, _) in GROUPS.items():
            names = [f"{group}_{measure}" for measure in (MAIN.get(space), SECOND.get(space))]
            differing = [known[name] for name in names if name in known and not known[name].is_same]
            found += differing[:1]
        return tuple(found)


def depths_of(session: Session) -> Depths | None:
    """Return the counters of a session at each depth, None while the compiler has not answered."""
    compiled = session.compiled
    if compiled is None:
        return None
    measured = recorded_counters_of(session.launch) if session.runs_as_shipped else None
    read = measured.counters if measured else {}
    written = session.counters.total
    counters = (
        Depth(
            name,
            written.get(name, 0),
            compiled.counters.get(name, 0) if not compiled.reason else None,
            read.get(name),
        )
        for name in NAMES
    )
    return Depths(tuple(d for d in counters if d.written or d.compiled or d.measured), compiled, measured)


def depth_text(depth: Depth) -> str:
    """Return a counter at its depths: "written 720 · compiled 600 · measured 600"; what equals the written is one."""
    named = (("written", depth.written), ("compiled", depth.compiled), ("measured", depth.measured))
    same = [name for name, amount in named if amount == depth.written]
    others = [f"{name} {amount:,}" for name, amount in named if amount not in (None, depth.written)]
    names = joined_words(same, "and")
    return " · ".join([f"{names} {depth.written:,}", *others])


def short_compiler(compiled: CompiledCounters) -> str:
    """Return the name of the compiler without the package that it came in: "LLVM 22.1"."""
    return compiled.compiler.partition(" of ")[0]
