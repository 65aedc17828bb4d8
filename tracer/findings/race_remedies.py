"""What mends a race: a fence, an atomic, a mask that names both lanes, a barrier, or another division of the work."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..analysis.kernel_structure import library_function
from ..model.array_types import AnyInts, Ints
from ..model.finding import line_text
from ..model.trace import FENCE, FENCE_BLOCK, WARP, Op, Trace
from ..races.conflicting_accesses import Race
from ..races.sync_events import locations_of
from .race_barrier_placement import Gap, PhaseAccesses, barrier_remedy, gaps_of

HARMLESS = {
    "": "harmless, but one thread that writes it is enough",
    "unchanged": "harmless, as long as nobody reads what another changes in the same launch",
    "unchanged here": "try values that differ, with which it may show",
    "own copy": "harmless, but it is enough that one thread writes it, before a barrier",
    "own copy here": "try values that differ, with which it may show",
    "set once": "harmless if nothing else hangs on who came first, else let cuda.atomic.cas decide that",
}
ATOMIC = "let cuda.atomic read and write it in one go"
BOTH_ATOMIC = "let cuda.atomic read and write it in one go on both lines"
WARP_SYNC = "cuda.syncwarp()"


def contended_sites(trace: Trace, races: Sequence[Race]) -> frozenset[int]:
    """Return the sites at which several threads load, change and store one element."""
    return frozenset(site for race in races if _atomic_remedy(trace, race) for site in race.sites)


def remedy_of(
    accesses: PhaseAccesses, race: Race, barrier: str, contended: frozenset[int] = frozenset()
) -> tuple[str, tuple[Gap, ...]]:
    """Return what mends a race, and the paths on which a barrier is missing if that is it.

    contended: see `contended_sites`; between two of them no barrier helps, since others change the element meanwhile.
    """
    if not race.harmful:
        return HARMLESS[race.excuse], ()
    trace = accesses.trace
    if name := _in_one_call(trace, race):
        return f"let each thread give {name} elements of its own", ()
    if other := _fence_remedy(trace, race) or _atomic_remedy(trace, race) or _mask_remedy(trace, race):
        return other, ()
    if contended.issuperset(race.sites):
        return BOTH_ATOMIC, ()
    if race.scope == "grid":
        return (
            "blocks run in any order, so give each block elements of its own, use cuda.atomic for both, "
            "or do the second in another launch"
        ), ()
    if race.sites[0] == race.sites[1]:
        return f"let only one thread write each element, or put {barrier} between the writes", ()
    gaps = gaps_of(accesses, race)
    remedy = barrier_remedy(accesses, race, gaps, barrier)
    enough = f", where {WARP_SYNC} suffices as long as a block is one warp" if barrier in remedy else ""
    return (remedy + enough if trace.threads <= WARP else remedy), gaps


def _in_one_call(trace: Trace, race: Race) -> str:
    """Return the library's function in a call of which both accesses are made; "" where they are not."""
    one, other = (trace.sites[site] for site in race.sites)
    loads_and_stores = all(trace.op[row] <= Op.STORE for row in (race.first, race.second))
    return library_function(trace, one) if one == other and loads_and_stores else ""


def _atomic_remedy(trace: Trace, race: Race) -> str:
    lines = {line_text(trace, site) for site in race.sites}
    ops = {int(trace.op[row]) for row in (race.first, race.second)}
    if ops == {Op.LOAD, Op.STORE} and len(lines) == 1 and _same_thread_does_both(trace, race):
        return ATOMIC
    return ""


def _same_thread_does_both(trace: Trace, race: Race) -> bool:
    """Return whether the thread of the first access also reads and writes that element at these sites itself."""
    rows, first = race.rows, race.first
    mine = (trace.block[rows] == trace.block[first]) & (trace.thread[rows] == trace.thread[first])
    mine &= (trace.index[rows] == trace.index[first]) & (trace.buffer[rows] == trace.buffer[first])
    return len(np.unique(trace.site[rows[mine]])) == 2


def _fence_remedy(trace: Trace, race: Race) -> str:
    """Return where a fence is missing between threads that both make an atomic on one element; "" where they don't.

    After the first access its thread, or another of its block, makes an atomic; the other's block, or in the same
    block its thread, made one on the same element, and uses what it got, before the second.
    """
    if not trace.access_counts[:, Op.ATOMIC].any():
        return ""
    first, second = race.first, race.second
    acquires = _acquiring_atomics(trace, race)
    releases = _releasing_atomics(trace, race, trace.site[acquires])
    where = locations_of(trace, np.concatenate([releases, acquires]))
    there, here = where[: len(releases)], where[len(releases) :]
    if not np.isin(there, here).any():
        return ""
    release, acquire = releases[np.isin(there, here)][0], acquires[np.isin(here, there)][-1]
    one, other, releasing, acquiring = (
        line_text(trace, int(trace.site[r])) for r in (first, second, release, acquire)
    )
    wide = race.scope == "grid"
    fence = "cuda.threadfence()" if wide else "cuda.threadfence_block()"
    reach = FENCE if wide else FENCE_BLOCK
    if not wide and not _met_at_warp_barrier(trace, first, int(release)):
        return f"put cuda.syncwarp(), then {fence}, between {one} and the atomic on {releasing}"
    if not _fenced(trace, first, int(release), reach):
        return f"put {fence} between {one} and the atomic on {releasing}"
    if not _fenced(trace, int(acquire), second, reach):
        return f"put {fence} after the atomic on {acquiring}, before {other}"
    return ""


def _releasing_atomics(trace: Trace, race: Race, acquire_sites: AnyInts) -> Ints:
    """Return the atomics that may release the first access: after a read, those of its own thread alone.

    acquire_sites: where the other side acquires; in one block others who acquire there too release nothing.
    """
    first = race.first
    rows: Ints = np.flatnonzero((trace.op >= Op.ATOMIC) & (trace.block == trace.block[first]))
    rows = rows[rows > first]
    if trace.op[first] != Op.STORE:
        rows = rows[trace.thread[rows] == trace.thread[first]]
    elif race.scope != "grid":
        below = _lines(trace, rows) > trace.sites[int(trace.site[first])].line
        passes_on = (trace.thread[rows] == trace.thread[first]) | ~np.isin(trace.site[rows], acquire_sites)
        rows = rows[below & passes_on & (trace.thread[rows] != trace.thread[race.second])]
    return rows


def _acquiring_atomics(trace: Trace, race: Race) -> Ints:
    """Return the atomics by which the second access's side may acquire the first."""
    second = race.second
    rows: Ints = np.flatnonzero((trace.op == Op.ATOMIC) & (trace.block == trace.block[second]))
    rows = rows[rows < second]
    if race.scope != "grid" or trace.op[race.first] != Op.STORE:
        rows = rows[trace.thread[rows] == trace.thread[second]]
        rows = rows[_lines(trace, rows) < trace.sites[int(trace.site[second])].line]
    return rows


def _lines(trace: Trace, rows: Ints) -> Ints:
    line = np.array([site.line for site in trace.sites], np.int64)
    found: Ints = line[trace.site[rows]]
    return found


def _fenced(trace: Trace, first: int, last: int, reach: int) -> bool:
    """Return whether the block of an access made a fence that reaches as far after it and before another of its own."""
    events = trace.warp_barriers
    mine = (events.reach >= reach) & (events.block == trace.block[first])
    return bool((mine & (events.step > trace.step[first]) & (events.step <= trace.step[last])).any())


def _met_at_warp_barrier(trace: Trace, first: int, release: int) -> bool:
    """Return whether the lane of an access met that of an atomic after it in their warp, or is that lane."""
    events, thread = trace.warp_barriers, int(trace.thread[first])
    if thread == trace.thread[release] or thread // WARP != trace.thread[release] // WARP:
        return True
    met = (events.reach > 0) & (events.reach < FENCE_BLOCK) & (events.block == trace.block[first])
    met &= (
        (events.thread == thread) & (events.step > trace.step[first]) & (events.step <= trace.step[release])
    )
    return bool(met.any())


def _mask_remedy(trace: Trace, race: Race) -> str:
    """Return which syncwarp between two lanes leaves one of them out of its mask; "" where there is none."""
    events, (first, second) = trace.warp_barriers, (race.first, race.second)
    if race.scope != "warp":
        return ""
    between = (events.block == trace.block[first]) & (events.reach > 0) & (events.reach < FENCE_BLOCK)
    between &= (events.step > trace.step[first]) & (events.step <= trace.step[second])
    for one, other in ((first, second), (second, first)):
        lane = int(trace.thread[other]) % WARP
        left_out = (events.reach.astype(np.int64) >> lane & 1) == 0
        found = np.flatnonzero(between & left_out & (events.thread == trace.thread[one]))
        if len(found):
            line = line_text(trace, int(events.site[found[0]]))
            return f"name both lanes in the mask of cuda.syncwarp() on {line}"
    return ""
