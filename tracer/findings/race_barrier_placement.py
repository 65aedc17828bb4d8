"""The place of a barrier that orders two accesses and that every thread reaches."""

from __future__ import annotations

import numpy as np
from msgspec import Struct

from ..analysis.kernel_structure import Suite, returns_before, site_in_kernel, suites_at
from ..model.array_types import Ints
from ..model.finding import line_text
from ..model.trace import WARP, Op, Site, Trace
from ..races.conflicting_accesses import Race

SourcePosition = tuple[
    int, int
]  # of an access in the source: its line, and 0 for a load, 1 for a store or atomic


class Gap(Struct, frozen=True):
    """The path of a thread from one access to another on which a barrier is missing."""

    upper: SourcePosition  # of the access that stands first in the source
    lower: SourcePosition  # of the other
    upper_site: int  # number in trace.sites
    lower_site: int  # number in trace.sites
    loop_carried: bool  # whether the path leads from the lower access around a loop to the upper one
    suites: tuple[Suite, ...]  # those that the barrier would lie in, the outermost first

    def lies_in(self, other: Gap) -> bool:
        """Return True if every thread on the other path also passes this one, or the two are the same."""
        if self.loop_carried != other.loop_carried or self.suites != other.suites[: len(self.suites)]:
            return False
        if self.loop_carried:
            return self.lower >= other.lower and self.upper <= other.upper
        return self.upper >= other.upper and self.lower <= other.lower


class PhaseAccesses:
    """The accesses of a trace by block and phase, computed on first use."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self._rows: dict[tuple[int, int], Ints] = {}

    def rows_near(self, row: int) -> Ints:
        """Return the accesses that the block of an access makes in its phase."""
        block, phase = key = int(self.trace.block[row]), int(self.trace.phase[row])
        if key not in self._rows:
            rows = np.flatnonzero(self.trace.block == block)
            self._rows[key] = rows[self.trace.phase[rows] == phase]
        return self._rows[key]


def gaps_of(accesses: PhaseAccesses, race: Race) -> tuple[Gap, ...]:
    """List the paths between the two sites of a race on which a barrier is missing."""
    if race.sites[0] == race.sites[1]:
        return ()
    trace = accesses.trace
    first_site, second_site = int(trace.site[race.first]), int(trace.site[race.second])
    sites = _comparable_sites(trace, first_site, second_site)
    position = {int(trace.site[row]): _position(trace, sites, row) for row in (race.first, race.second)}
    upper, lower = sorted((first_site, second_site), key=lambda site: position[site])
    common = _common_suites(trace, upper, lower)
    forth, back = _paths(accesses, race, upper, lower) or _guess_paths(upper == first_site, common)
    loop = max((i + 1 for i, suite in enumerate(common) if suite.kind == "loop"), default=len(common))
    gaps = (Gap(position[upper], position[lower], upper, lower, False, common),) if forth else ()
    return (*gaps, Gap(position[upper], position[lower], upper, lower, True, common[:loop])) if back else gaps


def _comparable_sites(trace: Trace, first: int, second: int) -> dict[int, Site]:
    """Locate two sites in one function: their own, or the kernel by the calls that lead to them."""
    sites = {number: trace.sites[number] for number in (first, second)}
    if len({(site.file, site.function) for site in sites.values()}) == 1:
        return sites
    return {number: site_in_kernel(trace, site) for number, site in sites.items()}


def _position(trace: Trace, places: dict[int, Site], row: int) -> SourcePosition:
    return places[int(trace.site[row])].line, int(trace.op[row] != Op.LOAD)


def _paths(accesses: PhaseAccesses, race: Race, upper: int, lower: int) -> tuple[bool, bool] | None:
    """Test whether a thread goes from the upper site to the lower one in that phase, and whether back to it.

    Return None if neither of the two threads reaches both sites.
    """
    for row in (race.first, race.second):
        rows, trace = accesses.rows_near(row), accesses.trace
        rows = rows[trace.thread[rows] == trace.thread[row]]
        upper_rows, lower_rows = (rows[trace.site[rows] == site] for site in (upper, lower))
        if len(upper_rows) and len(lower_rows):
            return bool(upper_rows[0] < lower_rows[-1]), bool(lower_rows[0] < upper_rows[-1])
    return None


def _guess_paths(forth: bool, common: tuple[Suite, ...]) -> tuple[bool, bool]:
    """Guess the paths where no thread goes either: in the order of the two accesses, and back only around a loop."""
    forth |= not any(suite.kind == "loop" for suite in common)
    return forth, not forth


def _common_suites(trace: Trace, first: int, second: int) -> tuple[Suite, ...]:
    """List the suites that contain both sites; none if the sites are in two functions."""
    sites = tuple(_comparable_sites(trace, first, second).values())
    if (sites[0].file, sites[0].function) != (sites[1].file, sites[1].function):
        return ()
    of_other = suites_at(trace, sites[1])
    return tuple(suite for suite in suites_at(trace, sites[0]) if suite in of_other)


def barrier_remedy(accesses: PhaseAccesses, race: Race, gaps: tuple[Gap, ...], barrier: str) -> str:
    """Describe where the barriers belong: never where only some threads would reach them."""
    trace = accesses.trace
    no_fit = next(
        (
            text
            for gap in gaps
            if not gap.loop_carried and (text := _remedy_without_barrier(trace, gap, barrier))
        ),
        "",
    )
    remedy = no_fit or f"put {barrier} {' and '.join(_text(trace, gap) for gap in gaps)}"
    skipped = next(
        (suite for gap in gaps for suite in gap.suites if _some_skip(accesses, race, suite, barrier)), None
    )
    if skipped is None:
        return remedy
    members = "lanes of the warp" if WARP_BARRIER in barrier else "threads"
    if no_fit or any(
        suite.kind == "loop" and suite.first >= skipped.first for gap in gaps for suite in gap.suites
    ):
        return (
            f"let another array be written than is read, since a barrier can't stand in the branch of line "
            f"{skipped.line}, to which only some {members} come"
        )
    return f"{remedy}, outside the branch of line {skipped.line}, split in two there, so that all {members} come to it"


WARP_BARRIER = "syncwarp"


def _text(trace: Trace, gap: Gap) -> str:
    upper, lower = line_text(trace, gap.upper_site), line_text(trace, gap.lower_site)
    if gap.loop_carried:
        return f"after {lower}, before {upper} comes again"
    return f"between {upper} and {lower}" if upper != lower else f"between the two accesses of {upper}"


def _remedy_without_barrier(trace: Trace, gap: Gap, barrier: str) -> str:
    """Describe a remedy where no barrier fits between two accesses, such as a condition and its branch."""
    sites = _comparable_sites(trace, gap.upper_site, gap.lower_site).values()
    upper, lower = ([suite for suite in suites_at(trace, site) if suite not in gap.suites] for site in sites)
    if lower and lower[0].kind == "branch" and not upper and lower[0].line == gap.upper[0] < lower[0].first:
        line = line_text(trace, gap.upper_site)
        return f"keep what {line} reads in a variable, and put {barrier} after it, before the branch"
    if upper and lower and upper[0].kind == "branch" and upper[0].line == lower[0].line:
        lines = " and ".join(line_text(trace, site) for site in (gap.upper_site, gap.lower_site))
        return f"put {lines}, in two branches of line {upper[0].line}, under an `if` each, and {barrier} between these"
    return ""


def _some_skip(accesses: PhaseAccesses, race: Race, suite: Suite, barrier: str) -> bool:
    """Check whether some threads that a barrier is for skip a branch in which the race's access is made."""
    if suite.kind != "branch":
        return False
    trace, rows = accesses.trace, accesses.rows_near(race.first)
    first, last = 0, trace.threads
    if WARP_BARRIER in barrier:
        first = int(trace.thread[race.first]) // WARP * WARP
        last = min(last, first + WARP)
    file = next(iter(_comparable_sites(trace, *race.sites).values())).file
    places = [site_in_kernel(trace, site) for site in trace.sites]
    inside = np.array(
        [
            any(site.file == file and suite.first <= site.line <= suite.last for site in both)
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
