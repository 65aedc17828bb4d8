"""Where the lanes of a warp wait for each other, and what each takes away; for the scheduler.

The rules are those of tracer/simulator/warp_barriers.py and tracer/recording/warp_operations.py.
"""

from __future__ import annotations

from typing import Any

from ...model.trace import COMPARED, VOTED_NO, VOTED_YES, WARP
from ..cached import part
from ..state import PLACE_WORDS, DriverCall, PlaceWord, StopReason, WarpWord, Word
from ..words import lowest, peek, poke
from .blocks import is_in, lane_of, put_in, warp_at
from .switching import ask_or_stop

_PLACE_BYTES, _ALL, _NEVER = 8 * PLACE_WORDS, 0xFFFFFFFF, 1 << 62


def _mask_of(place: Any) -> Any:
    """Return the lanes that a thread's operation names; those of `activemask` share its site."""
    if peek(place, PlaceWord.REASON) == StopReason.ACTIVE:
        return ~peek(place, PlaceWord.SITE)
    return peek(place, PlaceWord.MASK) & _ALL


mask_of = part(_mask_of)


def _reach_of(place: Any) -> Any:
    """Return the lanes whose memory a warp operation orders: those of syncwarp alone."""
    return peek(place, PlaceWord.MASK) & _ALL if peek(place, PlaceWord.REASON) == StopReason.SYNCWARP else 0


reach_of = part(_reach_of)


def _giver_of(place: Any) -> Any:
    """Return the lane whose value a shuffle takes, which may not exist; -1000 where it is no shuffle."""
    reason, extra = peek(place, PlaceWord.REASON), peek(place, PlaceWord.EXTRA)
    lane = peek(place, PlaceWord.THREAD) % WARP
    if reason == StopReason.SHUFFLE:
        return extra % WARP
    if reason == StopReason.UP:
        return lane - extra
    if reason == StopReason.DOWN:
        return lane + extra
    return lane ^ extra if reason == StopReason.XOR else -1000


giver_of = part(_giver_of)


def _part_of(place: Any) -> Any:
    """Return which part a thread takes in the warp operation that it has come to; see `Barriers`."""
    reason = peek(place, PlaceWord.REASON)
    if reason >= StopReason.SHUFFLE and reason <= StopReason.XOR:
        giver = giver_of(place)
        return giver + 1 if giver >= 0 and giver < WARP else peek(place, PlaceWord.THREAD) % WARP + 1
    if reason >= StopReason.ALL and reason <= StopReason.BALLOT:
        return VOTED_YES if peek(place, PlaceWord.OUT) != 0 else VOTED_NO
    return COMPARED if reason == StopReason.MATCH_ANY or reason == StopReason.MATCH_ALL else 0


part_of = part(_part_of)


def _warp_of(state: Any, place: Any) -> Any:
    """Return (address of the place of a warp's first thread, address of the warp's words)."""
    lane = peek(place, PlaceWord.THREAD) % WARP
    return place - lane * _PLACE_BYTES, warp_at(state, peek(place, PlaceWord.WARP))


warp_of = part(_warp_of)


def _running_lanes(warp: Any) -> Any:
    """Return a bit for each lane whose thread has not ended."""
    return peek(warp, WarpWord.RUNS) | peek(warp, WarpWord.AT_BARRIER) | peek(warp, WarpWord.MEETS)


running_lanes = part(_running_lanes)


def _group_of(first: Any, warp: Any, mask: Any) -> Any:
    """Return a bit for each lane that waits at an operation of this mask."""
    found, left = 0, peek(warp, WarpWord.MEETS)
    while left:
        lane = lowest(left)
        left &= left - 1
        if mask_of(first + lane * _PLACE_BYTES) == mask:
            found |= 1 << lane
    return found


group_of = part(_group_of)


def _brings(place: Any) -> Any:
    """Return whether a thread has brought a value to its operation: of another sort than others of this mask, maybe."""
    return peek(place, PlaceWord.REASON) != StopReason.SYNCWARP


brings = part(_brings)


def _votes_of(first: Any, group: Any) -> Any:
    """Return a bit for each lane of a group that brought something else than 0."""
    found, left = 0, group
    while left:
        lane = lowest(left)
        left &= left - 1
        place = first + lane * _PLACE_BYTES
        if brings(place) and peek(place, PlaceWord.OUT) != 0:
            found |= 1 << lane
    return found


votes_of = part(_votes_of)


def _same_as(first: Any, group: Any, value: Any) -> Any:
    """Return a bit for each lane of a group that brought this value."""
    found, left = 0, group
    while left:
        lane = lowest(left)
        left &= left - 1
        place = first + lane * _PLACE_BYTES
        if brings(place) and peek(place, PlaceWord.OUT) == value:
            found |= 1 << lane
    return found


same_as = part(_same_as)


def _given_by(giver: Any, own: Any) -> Any:
    return peek(giver, PlaceWord.OUT) if brings(giver) else own


given_by = part(_given_by)


def _taken_by(first: Any, group: Any, place: Any, votes: Any) -> Any:
    """Return what a lane takes away of an operation of a group; `votes` as `votes_of` gives them."""
    reason, own = peek(place, PlaceWord.REASON), peek(place, PlaceWord.OUT)
    if reason <= StopReason.XOR:
        giver = giver_of(place)
        there = giver >= 0 and giver < WARP and (group >> giver & 1) != 0
        return given_by(first + giver * _PLACE_BYTES, own) if there else own
    if reason == StopReason.ALL:
        return 1 if votes == group else 0
    if reason == StopReason.ANY:
        return 1 if votes else 0
    if reason == StopReason.EQUAL:
        return 1 if votes == group or votes == 0 else 0
    if reason == StopReason.BALLOT:
        return votes
    if reason == StopReason.MATCH_ANY:
        return same_as(first, group, own)
    if reason == StopReason.MATCH_ALL:
        return mask_of(place) if same_as(first, group, own) == group else 0
    return group  # activemask


taken_by = part(_taken_by)


def _sites_differ(first: Any, group: Any) -> Any:
    """Return whether the lanes of a group are at different sites."""
    site, left = peek(first + lowest(group) * _PLACE_BYTES, PlaceWord.SITE), group
    while left:
        if peek(first + lowest(left) * _PLACE_BYTES, PlaceWord.SITE) != site:
            return True
        left &= left - 1
    return False


sites_differ = part(_sites_differ)


def _release_of(state: Any, first: Any, warp: Any, group: Any, mask: Any) -> None:
    """Let the lanes of a group go on from the next sweep on, each with what it takes away."""
    if mask >= 0 and (mask != group or sites_differ(first, group)):
        poke(state, Word.GROUP, group)
        poke(state, Word.GROUP_MASK, mask)
        poke(state, Word.GROUP_PLACE, (first - peek(state, Word.PLACES)) // _PLACE_BYTES)
        ask_or_stop(state, DriverCall.MASK_FAULT)
    votes, left = votes_of(first, group), group
    while left:
        place = first + lowest(left) * _PLACE_BYTES
        left &= left - 1
        poke(place, PlaceWord.IN, taken_by(first, group, place, votes))
        poke(state, Word.IN_WARPS, peek(state, Word.IN_WARPS) - 1)
    poke(warp, WarpWord.MEETS, peek(warp, WarpWord.MEETS) & ~group)
    poke(warp, WarpWord.RUNS, peek(warp, WarpWord.RUNS) | group)
    poke(state, Word.CHANGED, 1)
    poke(state, Word.NEWS, 1)
    poke(state, Word.RESUMED, 1)


release = part(_release_of)


def _next_group(first: Any, warp: Any, after: Any) -> Any:
    """Return the lane whose group was begun first after an arrival of this number, or -1."""
    found, came, left = -1, _NEVER, peek(warp, WarpWord.MEETS)
    while left:
        lane = lowest(left)
        left &= left - 1
        number = peek(first + lane * _PLACE_BYTES, PlaceWord.CAME)
        if number > after and number < came:
            found, came = lane, number
    return found


next_group = part(_next_group)


def _release_complete(state: Any, first: Any, warp: Any, late: Any) -> None:
    """Let the operations of a warp go on for which no lane is missing, all where nobody else can come (late)."""
    running, after = running_lanes(warp), -1
    while True:
        lane = next_group(first, warp, after)
        if lane < 0:
            break
        place = first + lane * _PLACE_BYTES
        mask, after = mask_of(place), peek(place, PlaceWord.CAME)
        group = group_of(first, warp, mask)
        if late or (mask >= 0 and (mask & running & ~group) == 0):
            release(state, first, warp, group, mask)
    release_open(state, first, warp)


def _release_open(state: Any, first: Any, warp: Any) -> None:
    """Let those go on that asked who is there, where all others of their warp wait or have ended."""
    if peek(warp, WarpWord.RUNS):
        return
    after = -1
    while True:
        lane = next_group(first, warp, after)
        if lane < 0:
            break
        place = first + lane * _PLACE_BYTES
        mask, after = mask_of(place), peek(place, PlaceWord.CAME)
        if mask < 0:
            release(state, first, warp, group_of(first, warp, mask), mask)


release_open = part(_release_open)
release_complete = part(_release_complete)


def _leave_warp(state: Any, place: Any) -> None:
    """Look, after a thread came to a barrier or to its end, which operations of its warp it held up."""
    first, warp = warp_of(state, place)
    if peek(warp, WarpWord.MEETS):
        release_complete(state, first, warp, False)


leave_warp = part(_leave_warp)


def _converge(state: Any, place: Any) -> None:
    """Take in a thread that has come to a warp operation."""
    put_in(state, place, WarpWord.MEETS)
    poke(place, PlaceWord.CAME, peek(state, Word.CAME))
    poke(state, Word.CAME, peek(state, Word.CAME) + 1)
    poke(state, Word.IN_WARPS, peek(state, Word.IN_WARPS) + 1)
    first, warp = warp_of(state, place)
    mask = mask_of(place)
    if mask >= 0 and not mask & lane_of(place):
        release(state, first, warp, lane_of(place), mask)
    elif not peek(warp, WarpWord.RUNS) or (mask >= 0 and (mask & peek(warp, WarpWord.RUNS)) == 0):
        # Else only others can complete what waits here: no group but its own is nearer to that than before.
        release_complete(state, first, warp, False)


converge = part(_converge)


def _first_to_come(state: Any, places: Any) -> Any:
    """Return the address of the thread of a block that came first to a warp operation that still waits, or 0."""
    found, came = 0, _NEVER
    for thread in range(peek(state, Word.THREADS)):
        place = places + thread * _PLACE_BYTES
        if is_in(state, place, WarpWord.MEETS) and peek(place, PlaceWord.CAME) < came:
            found, came = place, peek(place, PlaceWord.CAME)
    return found


first_to_come = part(_first_to_come)


def _release_all(state: Any, places: Any) -> None:
    """Let the warp operations of a block go on without the lanes that never come."""
    place = first_to_come(state, places)
    while place:
        first, warp = warp_of(state, place)
        release_complete(state, first, warp, True)
        place = first_to_come(state, places)


release_all = part(_release_all)
