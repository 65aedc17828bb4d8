"""Remedies for a race: a fence, an atomic, a mask with both lanes, a barrier, or another division of the work."""

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
    "unchanged": "harmless, as long as no thread reads what another changes in the same launch",
    "unchanged here": "try values that differ, with which it may show",
    "own copy": "harmless, but it is enough that one thread writes it, before a barrier",
    "own copy here": "try values that differ, with which it may show",
    "stored last": "harmless, but one thread that writes it is enough, before any reads it",
    "stored last here": "let one thread write it, before a barrier, if other values may differ",
    "swapped": "harmless if that compares with what the thread read",
    "compared again": "harmless if the thread uses what it read only to spare the atomic",
    "set once": "harmless if nothing else hangs on who came first, else let cuda.atomic.cas decide that",
}
ATOMIC = "use cuda.atomic to read and write it in one step"
BOTH_ATOMIC = "use cuda.atomic to read and write it in one step on both lines"
WARP_SYNC = "cuda.syncwarp()"


def contended_sites(trace: Trace, races: Sequence[Race]) -> frozenset[int]:
    """List the sites at which several threads load, change and store one element."""
    return frozenset(site for race in races if _atomic_remedy(trace, race) for site in race.sites)


def remedy_of(
    accesses: PhaseAccesses, race: Race, barrier: str, contended: frozenset[int] = frozenset()
) -> tuple[str, tuple[Gap, ...]]:
    """Choose the remedy of a race, and list the paths on which a barrier is missing if it is a barrier.

    contended: see `contended_sites`; no barrier between two of them helps, since other threads change the element.
    """
    if not race.harmful:
        return HARMLESS[race.excuse], ()
    if race.excuse == "set once":
        return "let cuda.atomic.cas set it, and only the thread that gets the old value go on", ()
    trace = accesses.trace
    if name := _in_one_call(trace, race):
        return f"let each thread give {name} its own elements", ()
    if remedy := _fence_remedy(trace, race) or _atomic_remedy(trace, race) or _mask_remedy(trace, race):
        return remedy, ()
    if contended.issuperset(race.sites):
        return BOTH_ATOMIC, ()
    if race.scope == "grid":
        return (
            "blocks run in any order, so give each block its own elements, use cuda.atomic for both, "
            "or do the second in another launch"
        ), ()
    if race.sites[0] == race.sites[1]:
        return f"let only one thread write each element, or put {barrier} between the writes", ()
    gaps = gaps_of(accesses, race)
    placed = barrier_remedy(accesses, race, gaps, barrier)
    enough = f", where {WARP_SYNC} suffices as long as a block is one warp" if barrier in placed else ""
    return (placed + enough if trace.threads <= WARP else placed), gaps


def _in_one_call(trace: Trace, race: Race) -> str:
    """Name the library function that makes both accesses in one call; "" where there is none."""
    first, second = (trace.sites[site] for site in race.sites)
    loads_and_stores = all(trace.op[row] <= Op.STORE for row in (race.first, race.second))
    return library_function(trace, first) if first == second and loads_and_stores else ""


def _atomic_remedy(trace: Trace, race: Race) -> str:
    lines = {line_text(trace, site) for site in race.sites}
    operations = {int(trace.op[row]) for row in (race.first, race.second)}
    if operations == {Op.LOAD, Op.STORE} and len(lines) == 1 and _same_thread_does_both(trace, race):
        return ATOMIC
    return ""


def _same_thread_does_both(trace: Trace, race: Race) -> bool:
    """Check whether the thread of the first access both reads and writes that element at these sites."""
    rows, first = race.rows, race.first
    of_thread = (trace.block[rows] == trace.block[first]) & (trace.thread[rows] == trace.thread[first])
    of_thread &= (trace.index[rows] == trace.index[first]) & (trace.buffer[rows] == trace.buffer[first])
    return len(np.unique(trace.site[rows[of_thread]])) == 2


def _fence_remedy(trace: Trace, race: Race) -> str:
    """Name the missing fence between threads that synchronise by atomics on one element; "" where there is none.

    After the first access its thread, or another of its block, makes an atomic. Before the second access the other
    block, or in the same block the other thread, makes an atomic on the same element and uses its result.
    """
    if not trace.access_counts[:, Op.ATOMIC].any():
        return ""
    first, second = race.first, race.second
    acquires = _acquiring_atomics(trace, race)
    releases = _releasing_atomics(trace, race, trace.site[acquires])
    locations = locations_of(trace, np.concatenate([releases, acquires]))
    released, acquired = locations[: len(releases)], locations[len(releases) :]
    if not np.isin(released, acquired).any():
        return ""
    release, acquire = releases[np.isin(released, acquired)][0], acquires[np.isin(acquired, released)][-1]
    first_line, second_line, release_line, acquire_line = (
        line_text(trace, int(trace.site[row])) for row in (first, second, release, acquire)
    )
    across_blocks = race.scope == "grid"
    fence = "cuda.threadfence()" if across_blocks else "cuda.threadfence_block()"
    reach = FENCE if across_blocks else FENCE_BLOCK
    if not across_blocks and not _met_at_warp_barrier(trace, first, int(release)):
        return f"put cuda.syncwarp(), then {fence}, between {first_line} and the atomic on {release_line}"
    if not _fenced(trace, first, int(release), reach):
        return f"put {fence} between {first_line} and the atomic on {release_line}"
    if not _fenced(trace, int(acquire), second, reach):
        return f"put {fence} after the atomic on {acquire_line}, before {second_line}"
    return ""


def _releasing_atomics(trace: Trace, race: Race, acquire_sites: AnyInts) -> Ints:
    """Find the atomics that may release the first access: after a read, only those of the same thread.

    acquire_sites: where the other side acquires. In one block, other threads' atomics at these sites release nothing.
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
    """Find the atomics by which the second access's side may acquire the first."""
    second = race.second
    rows: Ints = np.flatnonzero((trace.op == Op.ATOMIC) & (trace.block == trace.block[second]))
    rows = rows[rows < second]
    if race.scope != "grid" or trace.op[race.first] != Op.STORE:
        rows = rows[trace.thread[rows] == trace.thread[second]]
        rows = rows[_lines(trace, rows) < trace.sites[int(trace.site[second])].line]
    return rows


def _lines(trace: Trace, rows: Ints) -> Ints:
    site_lines = np.array([site.line for site in trace.sites], np.int64)
    lines: Ints = site_lines[trace.site[rows]]
    return lines


def _fenced(trace: Trace, first: int, last: int, reach: int) -> bool:
    """Check whether the block made a fence of at least `reach` between two of its accesses."""
    events = trace.warp_barriers
    wide_enough = (events.reach >= reach) & (events.block == trace.block[first])
    return bool((wide_enough & (events.step > trace.step[first]) & (events.step <= trace.step[last])).any())


def _met_at_warp_barrier(trace: Trace, first: int, release: int) -> bool:
    """Check whether a warp barrier lies between an access and an atomic of its warp, or one lane made both."""
    events, thread = trace.warp_barriers, int(trace.thread[first])
    if thread == trace.thread[release] or thread // WARP != trace.thread[release] // WARP:
        return True
    meetings = (events.reach > 0) & (events.reach < FENCE_BLOCK) & (events.block == trace.block[first])
    meetings &= (
        (events.thread == thread) & (events.step > trace.step[first]) & (events.step <= trace.step[release])
    )
    return bool(meetings.any())


def _mask_remedy(trace: Trace, race: Race) -> str:
    """Name the syncwarp between two lanes whose mask leaves one of them out; "" where there is none."""
    events, (first, second) = trace.warp_barriers, (race.first, race.second)
    if race.scope != "warp":
        return ""
    between = (events.block == trace.block[first]) & (events.reach > 0) & (events.reach < FENCE_BLOCK)
    between &= (events.step > trace.step[first]) & (events.step <= trace.step[second])
    for caller, partner in ((first, second), (second, first)):
        lane = int(trace.thread[partner]) % WARP
        left_out = (events.reach.astype(np.int64) >> lane & 1) == 0
        calls = np.flatnonzero(between & left_out & (events.thread == trace.thread[caller]))
        if len(calls):
            line = line_text(trace, int(events.site[calls[0]]))
            return f"name both lanes in the mask of cuda.syncwarp() on {line}"
    return ""
