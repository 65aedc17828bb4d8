"""Where a barrier belongs that orders two accesses, so that every thread comes to it."""

from __future__ import annotations

import numpy as np
from msgspec import Struct

from ..analysis.kernel_structure import Suite, returns_before, site_in_kernel, suites_at
from ..model.array_types import Ints
from ..model.finding import line_text
from ..model.trace import WARP, Op, Site, Trace
from ..races.conflicting_accesses import Race

SourcePosition = tuple[int, int]  # of an access in the source: its line, and 0 for a load, 1 for what stores


class Gap(Struct, frozen=True):
    """The path of a thread from one access to another on which a barrier is missing."""

    upper: SourcePosition  # where the access is that stands first in the source
    lower: SourcePosition  # of the other
    upper_site: int  # number in trace.sites
    lower_site: int  # number in trace.sites
    loop_carried: bool  # whether the path leads from the lower round a loop to the upper
    suites: tuple[Suite, ...]  # those that the barrier would lie in, the outermost first

    def lies_in(self, other: Gap) -> bool:
        """Return whether whoever goes the other path goes this one too, or just this one."""
        if self.loop_carried != other.loop_carried or self.suites != other.suites[: len(self.suites)]:
            return False
        if self.loop_carried:
            return self.lower >= other.lower and self.upper <= other.upper
        return self.upper >= other.upper and self.lower <= other.lower


class PhaseAccesses:
    """The accesses of a trace by block and phase, found once."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self._found: dict[tuple[int, int], Ints] = {}

    def of(self, row: int) -> Ints:
        """Return the accesses of the block of one, in its phase."""
        block, phase = key = int(self.trace.block[row]), int(self.trace.phase[row])
        if key not in self._found:
            rows = np.flatnonzero(self.trace.block == block)
            self._found[key] = rows[self.trace.phase[rows] == phase]
        return self._found[key]


def gaps_of(accesses: PhaseAccesses, race: Race) -> tuple[Gap, ...]:
    """Return the paths on which a barrier orders a race of two sites, as one of its threads goes them."""
    if race.sites[0] == race.sites[1]:
        return ()
    trace = accesses.trace
    one, other = int(trace.site[race.first]), int(trace.site[race.second])
    places = _side_by_side(trace, one, other)
    position = {int(trace.site[row]): _position(trace, places, row) for row in (race.first, race.second)}
    upper, lower = sorted((one, other), key=lambda site: position[site])
    common = _common(trace, upper, lower)
    forth, back = _paths(accesses, race, upper, lower) or _guessed(upper == one, common)
    loop = max((i + 1 for i, suite in enumerate(common) if suite.kind == "loop"), default=len(common))
    found = (Gap(position[upper], position[lower], upper, lower, False, common),) if forth else ()
    return (
        (*found, Gap(position[upper], position[lower], upper, lower, True, common[:loop])) if back else found
    )


def _side_by_side(trace: Trace, one: int, other: int) -> dict[int, Site]:
    """Return where two sites stand: in one function, or by the calls in the kernel that lead to them."""
    sites = {number: trace.sites[number] for number in (one, other)}
    if len({(site.file, site.function) for site in sites.values()}) == 1:
        return sites
    return {number: site_in_kernel(trace, site) for number, site in sites.items()}


def _position(trace: Trace, places: dict[int, Site], row: int) -> SourcePosition:
    return places[int(trace.site[row])].line, int(trace.op[row] != Op.LOAD)


def _paths(accesses: PhaseAccesses, race: Race, upper: int, lower: int) -> tuple[bool, bool] | None:
    """Return whether a thread goes from the upper site to the lower one in that phase, and whether back to it.

    None where neither of the two threads comes to both.
    """
    for row in (race.first, race.second):
        rows, trace = accesses.of(row), accesses.trace
        rows = rows[trace.thread[rows] == trace.thread[row]]
        a, b = (rows[trace.site[rows] == site] for site in (upper, lower))
        if len(a) and len(b):
            return bool(a[0] < b[-1]), bool(b[0] < a[-1])
    return None


def _guessed(forth: bool, common: tuple[Suite, ...]) -> tuple[bool, bool]:
    """Return the paths where no thread goes either: as the launch made the two accesses, back only round a loop."""
    forth |= not any(suite.kind == "loop" for suite in common)
    return forth, not forth


def _common(trace: Trace, one: int, other: int) -> tuple[Suite, ...]:
    """Return the suites that two sites both lie in; none where they are in two functions."""
    sites = tuple(_side_by_side(trace, one, other).values())
    if (sites[0].file, sites[0].function) != (sites[1].file, sites[1].function):
        return ()
    of_other = suites_at(trace, sites[1])
    return tuple(suite for suite in suites_at(trace, sites[0]) if suite in of_other)


def barrier_remedy(accesses: PhaseAccesses, race: Race, gaps: tuple[Gap, ...], barrier: str) -> str:
    """Return where the barriers belong: never where only some threads would come to them."""
    trace = accesses.trace
    apart = next(
        (text for gap in gaps if not gap.loop_carried and (text := _where_none_fits(trace, gap, barrier))), ""
    )
    remedy = apart or f"put {barrier} {' and '.join(_text(trace, gap) for gap in gaps)}"
    skipped = next((s for gap in gaps for s in gap.suites if _some_skip(accesses, race, s, barrier)), None)
    if skipped is None:
        return remedy
    who = "lanes of the warp" if WARP_BARRIER in barrier else "threads"
    if apart or any(s.kind == "loop" and s.first >= skipped.first for gap in gaps for s in gap.suites):
        return (
            f"let another array be written than is read, since a barrier can't stand in the branch of line "
            f"{skipped.line}, to which only some {who} come"
        )
    return f"{remedy}, outside the branch of line {skipped.line}, split in two there, so that all {who} come to it"


WARP_BARRIER = "syncwarp"


def _text(trace: Trace, gap: Gap) -> str:
    upper, lower = line_text(trace, gap.upper_site), line_text(trace, gap.lower_site)
    if gap.loop_carried:
        return f"after {lower}, before {upper} comes again"
    return f"between {upper} and {lower}" if upper != lower else f"between the two accesses of {upper}"


def _where_none_fits(trace: Trace, gap: Gap, barrier: str) -> str:
    """Return what to do where no place lies between two accesses: one decides on the other, or just one is done."""
    sites = _side_by_side(trace, gap.upper_site, gap.lower_site).values()
    upper, lower = ([s for s in suites_at(trace, site) if s not in gap.suites] for site in sites)
    if lower and lower[0].kind == "branch" and not upper and lower[0].line == gap.upper[0] < lower[0].first:
        line = line_text(trace, gap.upper_site)
        return f"keep what {line} reads in a variable, and put {barrier} after it, before the branch"
    if upper and lower and upper[0].kind == "branch" and upper[0].line == lower[0].line:
        two = " and ".join(line_text(trace, site) for site in (gap.upper_site, gap.lower_site))
        return f"put {two}, in two branches of line {upper[0].line}, under an `if` each, and {barrier} between these"
    return ""


def _some_skip(accesses: PhaseAccesses, race: Race, suite: Suite, barrier: str) -> bool:
    """Return whether some threads that a barrier is for make no access in a branch, where one makes the race's."""
    if suite.kind != "branch":
        return False
    trace, rows = accesses.trace, accesses.of(race.first)
    first, last = 0, trace.threads
    if WARP_BARRIER in barrier:
        first = int(trace.thread[race.first]) // WARP * WARP
        last = min(last, first + WARP)
    file = next(iter(_side_by_side(trace, *race.sites).values())).file
    places = [site_in_kernel(trace, site) for site in trace.sites]
    inside = np.array(
        [
            any(s.file == file and suite.first <= s.line <= suite.last for s in both)
            for both in zip(places, trace.sites, strict=True)
        ]
    )
    came = np.zeros(trace.threads, bool)
    came[trace.thread[rows[inside[trace.site[rows]]]]] = True
    there = np.ones(trace.threads, bool)
    if returns_before(trace, trace.sites[race.sites[0]]) != ():
        there[:] = False
        there[trace.thread[rows]] = True
    return bool((there & ~came)[first:last].any())
