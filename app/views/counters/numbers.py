"""What the counters strip counts: the numbers of a session, their names and ranks, at any moment. No Qt."""

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

# Room that a number gets even where it stays smaller, so that two panes side by side look alike.
USUAL = "888,888"


class CounterNumber(NamedTuple):
    """What becomes a `Tile`."""

    label: str  # what it is called
    meaning: str  # a sentence
    amount: Amount  # it itself at a moment
    words: Words  # how it is written
    rank: int  # 0 is shown first where room is short
    widest: str = USUAL  # the least room that it gets


def tiles_of(session: Session, wavefronts: bool = False) -> list[Tile]:
    """Return the numbers of a session, from left to right.

    wavefronts: whether those of shared memory are the lesson, here or in the launch beside this one. Where each
    request takes one they say nothing that the requests do not.
    """
    if session.is_python_program:
        numbers = [*_accesses(session), *_reads(session)]
    elif totals_of(session.trace):
        numbers = _requests(session, wavefronts)
    else:
        numbers = [*_atomics(session), *_requests(session, wavefronts), *_reads(session)]
    return [Tile(*n[:5], max(n.words(n.amount(session.end)), n.widest, key=len)) for n in numbers]


def totals_of(trace: Trace) -> dict[str, int]:
    """Return the counters of the whole launch where the trace lacks accesses, so that its moments can't show them."""
    return {} if trace.error is not None else trace.totals


def notice_of(trace: Trace) -> str:
    """Return one sentence about what the numbers are of, "" where they are of a whole launch of ours by now."""
    return "Counters of the whole launch, at any moment." if totals_of(trace) else notice_text(trace)


def _sum(counters: dict[str, int], space: str, measure: str) -> int:
    """Return the sum of a measure over loads, stores and atomics on a space."""
    return sum(counters.get(name, 0) for name in _names(space, measure))


@cache
def _names(space: str, measure: str) -> tuple[str, ...]:
    return tuple(name for name in NAMES if name.startswith(space) and name.endswith(measure))


def has_conflicts(session: Session) -> bool:
    """Return whether some requests of shared memory take more than one wavefront, or did with less padding."""
    if session.scenario and any(p.name == "padding" and not p.seldom for p in session.scenario.parameters):
        return True
    counters = totals_of(session.trace) or session.counters.at(session.end)
    return _sum(counters, "shared", "wavefronts") > _sum(counters, "shared", "instructions")


def _requests(session: Session, wavefronts: bool) -> list[CounterNumber]:
    """Return the counters of requests by now or, where only those of the whole launch are known, of all."""
    totals = totals_of(session.trace)
    at = lru_cache(8)(session.counters.at)  # one of two moments in turn takes it milliseconds

    def number(space: str, measure: str) -> Callable[[int], int]:
        return lambda moment: _sum(totals or at(moment), space, measure)

    sectors, requests, asked = (number("global", measure) for measure in ("sectors", "requests", "bytes"))
    shared, passes = number("shared", "instructions"), number("shared", "wavefronts")
    found = [
        CounterNumber("global sectors", "32-byte pieces of global memory touched, counted request by request.",
               sectors, _count, 0),
        CounterNumber("global requests", "Times that a warp asked global memory for up to 32 elements at once.",
               requests, _count, 2),
        CounterNumber("global bytes", "Bytes that threads asked of global memory; what moves is 32 bytes a sector.",
               asked, _bytes, 6, "1023.9 KiB"),
        *([CounterNumber("shared wavefronts", "Passes over the 32 banks of shared memory: more than requests where "
                  "lanes of a warp meet in a bank.", passes, _count, 1)] if wavefronts else []),
        CounterNumber("shared requests", "Times that a warp asked shared memory for up to 32 elements at once.",
               shared, _count, 3),
    ]  # fmt: skip
    return found if shared(session.end) else found[:3]


def _accesses(session: Session) -> list[CounterNumber]:
    """Return what a plain Python program does, which knows neither warps nor sectors."""
    requests = session.requests
    loads, stores = (
        np.cumsum(np.bincount(requests.moment[op], requests.lanes[op], session.end + 1)).astype(np.int64)
        for op in (requests.op == Op.LOAD, requests.op != Op.LOAD)
    )
    return [
        CounterNumber("accesses", "Times that the program read or wrote an element of an array.",
               _reached(loads + stores), _count, 0),
        CounterNumber("reads", "Times that the program read an element of an array.", _reached(loads), _count, 2),
        CounterNumber("writes", "Times that the program wrote an element of an array.", _reached(stores), _count, 3),
    ]  # fmt: skip


def _atomics(session: Session) -> list[CounterNumber]:
    """Return the counters of atomic operations on each space that has any."""
    spaces = np.array([buffer.space for buffer in session.trace.buffers])
    atomics = np.flatnonzero(session.requests.op >= Op.ATOMIC)
    found: list[CounterNumber] = []
    for space in ("global", "shared"):
        made = atomics[spaces[session.requests.buffer[atomics]] == space]
        if len(made):
            lanes = np.bincount(session.requests.moment[made], session.requests.lanes[made])
            meaning = (
                f"Atomic operations of threads on {space} memory; lanes that meet in an element take turns."
            )
            done = np.cumsum(lanes).astype(np.int64)
            found.append(CounterNumber(f"{space} atomics", meaning, _reached(done), _count, 0))
    return found


def _reads(session: Session) -> list[CounterNumber]:
    """Return how often the elements of the operands were read; of a single element, or none read, it says nothing."""
    counters, buffers, found = session.counters, session.trace.buffers, []
    where = "" if session.is_python_program else " from global memory"
    for rank, (buffer, name) in zip((1, 5), operands(session), strict=False):
        if counters.mean_reads(buffer, session.end) and np.prod(buffers[buffer].shape) > 1:
            meaning = f"How often an element of {name} was read{where} so far, on average."
            found.append(
                CounterNumber(
                    f"mean reads of {name}",
                    meaning,
                    partial(counters.mean_reads, buffer),
                    times_text,
                    rank,
                    "",
                )
            )
    return found


def _reached(done: NDArray[np.int64]) -> Amount:
    """Return the sum that was reached by a moment."""
    return lambda m: int(done[min(max(m, 0), len(done) - 1)])


def _count(number: float) -> str:
    return count_text(int(number))


def _bytes(number: float) -> str:
    return bytes_text(int(number))
