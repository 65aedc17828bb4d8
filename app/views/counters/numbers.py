"""The numbers of the counters strip: their values at any moment, names and ranks. No Qt."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, lru_cache, partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ....tracer.model.counter_names import NAMES
from ....tracer.model.trace import Op, Trace
from ...model.session import Session
from ..common.wording import bytes_text, count_text, notice_text, operands, times_text
from .tiles import Amount, Tile, Words

# A number gets at least this room, so that two panes side by side look alike.
USUAL = "888,888"


class CounterNumber(NamedTuple):
    """The content of a `Tile`."""

    label: str
    meaning: str  # a sentence
    amount: Amount  # the number at a moment
    words: Words  # formats the number
    rank: int  # the lowest ranks are shown if there is little room
    widest: str = USUAL  # a text as wide as the least room


def tiles_of(session: Session, wavefronts: bool = False) -> list[Tile]:
    """List the numbers of a session, from left to right.

    wavefronts: shared memory's wavefronts matter, here or in the other pane. If each request takes one, they add
    nothing to the requests.
    """
    if session.is_python_program:
        numbers = [*_accesses(session), *_reads(session)]
    elif totals_of(session.trace):
        numbers = _requests(session, wavefronts)
    else:
        numbers = [*_atomics(session), *_requests(session, wavefronts), *_reads(session)]
    return [Tile(*n[:5], max(n.words(n.amount(session.end)), n.widest, key=len)) for n in numbers]


def totals_of(trace: Trace) -> dict[str, int]:
    """Return the counters of the complete launch if the trace lacks accesses, so that moments have no counters."""
    return {} if trace.error is not None else trace.totals


def notice_of(trace: Trace) -> str:
    """Return a sentence about the scope of the numbers; "" for a complete launch up to the moment."""
    return "Counters of the complete launch, at any moment." if totals_of(trace) else notice_text(trace)


def _sum(counters: dict[str, int], space: str, measure: str) -> int:
    """Sum a measure over loads, stores and atomics on a space."""
    return sum(counters.get(name, 0) for name in _names(space, measure))


@cache
def _names(space: str, measure: str) -> tuple[str, ...]:
    return tuple(name for name in NAMES if name.startswith(space) and name.endswith(measure))


def has_conflicts(session: Session) -> bool:
    """Return True if requests of shared memory take more than one wavefront, or would with less padding."""
    if session.scenario and any(p.name == "padding" and not p.seldom for p in session.scenario.parameters):
        return True
    counters = totals_of(session.trace) or session.counters.values_at(session.end)
    return _sum(counters, "shared", "wavefronts") > _sum(counters, "shared", "instructions")


def _requests(session: Session, wavefronts: bool) -> list[CounterNumber]:
    """List the counters of requests up to a moment or, if only those are known, of the complete launch."""
    totals = totals_of(session.trace)
    counters_at = lru_cache(8)(
        session.counters.values_at
    )  # two alternating moments would take milliseconds each

    def number(space: str, measure: str) -> Callable[[int], int]:
        return lambda moment: _sum(totals or counters_at(moment), space, measure)

    sectors, requests, bytes_requested = (
        number("global", measure) for measure in ("sectors", "requests", "bytes")
    )
    shared, passes = number("shared", "instructions"), number("shared", "wavefronts")
    numbers = [
        CounterNumber("global sectors", "32-byte pieces of global memory that were accessed, counted per request.",
               sectors, _count, 0),
        CounterNumber("global requests", "Requests of warps to global memory, each for up to 32 elements.",
               requests, _count, 2),
        CounterNumber("global bytes", "Bytes that threads requested from global memory; 32 bytes per sector are moved.",
               bytes_requested, _bytes, 6, "1023.9 KiB"),
        *([CounterNumber("shared wavefronts", "Passes over the 32 banks of shared memory: more than requests if "
                  "lanes of a warp access the same bank.", passes, _count, 1)] if wavefronts else []),
        CounterNumber("shared requests", "Requests of warps to shared memory, each for up to 32 elements.",
               shared, _count, 3),
    ]  # fmt: skip
    return numbers if shared(session.end) else numbers[:3]


def _accesses(session: Session) -> list[CounterNumber]:
    """List the counters of a plain Python program, which has neither warps nor sectors."""
    requests = session.requests
    loads, stores = (
        np.cumsum(np.bincount(requests.moment[op], requests.lanes[op], session.end + 1)).astype(np.int64)
        for op in (requests.op == Op.LOAD, requests.op != Op.LOAD)
    )
    return [
        CounterNumber("accesses", "Reads and writes of array elements by the program.",
               _cumulative(loads + stores), _count, 0),
        CounterNumber("reads", "Reads of array elements by the program.", _cumulative(loads), _count, 2),
        CounterNumber("writes", "Writes of array elements by the program.", _cumulative(stores), _count, 3),
    ]  # fmt: skip


def _atomics(session: Session) -> list[CounterNumber]:
    """List the counters of atomic operations, for each space that has any."""
    spaces = np.array([buffer.space for buffer in session.trace.buffers])
    atomics = np.flatnonzero(session.requests.op >= Op.ATOMIC)
    numbers: list[CounterNumber] = []
    for space in ("global", "shared"):
        in_space = atomics[spaces[session.requests.buffer[atomics]] == space]
        if len(in_space):
            lanes = np.bincount(session.requests.moment[in_space], session.requests.lanes[in_space])
            meaning = f"Atomic operations of threads on {space} memory; lanes that access the same element take turns."
            done = np.cumsum(lanes).astype(np.int64)
            numbers.append(CounterNumber(f"{space} atomics", meaning, _cumulative(done), _count, 0))
    return numbers


def _reads(session: Session) -> list[CounterNumber]:
    """List the mean reads of the operands' elements, except of single or unread elements."""
    counters, buffers, numbers = session.counters, session.trace.buffers, list[CounterNumber]()
    source = "" if session.is_python_program else " from global memory"
    for rank, (buffer, name) in zip((1, 5), operands(session), strict=False):
        if counters.mean_reads(buffer, session.end) and np.prod(buffers[buffer].shape) > 1:
            meaning = f"How often an element of {name} was read{source} so far, on average."
            numbers.append(
                CounterNumber(
                    f"mean reads of {name}",
                    meaning,
                    partial(counters.mean_reads, buffer),
                    times_text,
                    rank,
                    "",
                )
            )
    return numbers


def _cumulative(done: NDArray[np.int64]) -> Amount:
    """Return a function that looks up a cumulative sum at a moment."""
    return lambda m: int(done[min(max(m, 0), len(done) - 1)])


def _count(number: float) -> str:
    return count_text(int(number))


def _bytes(number: float) -> str:
    return bytes_text(int(number))
