"""What is said of a data race: how many elements, which two threads, and what would order them."""

from __future__ import annotations

import numpy as np

from .finding import Finding, access_element, block_text, counted, line_text, thread_text, value_text
from .meetings import Race
from .race_remedies import fence_remedy, mask_remedy
from .requests import Requests
from .trace import Op, Trace

PAST = ("read", "written", "updated", "updated")
PRESENT = ("reads", "writes", "updates", "updates")
WHO = {"warp": "lanes of one warp", "block": "threads of one block", "grid": "threads of different blocks"}


def race_findings(trace: Trace, requests: Requests, races: list[Race]) -> list[Finding]:
    """Return the races as findings: errors, or notes where all write the same value.

    Where some need a barrier of the block, that is said of those between lanes too: one orders both.
    """
    in_warps = all(race.scope != "block" for race in races if race.harmful)
    barrier = "cuda.syncwarp()" if in_warps else "cuda.syncthreads()"
    return [_finding(trace, requests, race, barrier) for race in races]


def _finding(trace: Trace, requests: Requests, race: Race, barrier: str) -> Finding:
    first, second = race.first, race.second
    count, remedy = _elements(trace, race), _remedy(trace, race, barrier)
    name = trace.buffers[race.buffer].name
    message = f"{counted(count, 'element')} of {name} {'is' if count == 1 else 'are'} {_what(trace, race)}: "
    message += f"{_example(trace, race)}; {remedy}."
    threads = tuple((int(trace.block[row]), int(trace.thread[row])) for row in (first, second))
    sites = tuple(dict.fromkeys(int(trace.site[row]) for row in (second, first)))
    moment = int(requests.moment[requests.request[[first, second]]].max())
    severity = "error" if race.harmful else "note"
    return Finding(
        "race", severity, message, remedy, count, sites, race.rows, (first, second), threads, moment
    )  # fmt: skip


def _elements(trace: Trace, race: Race) -> int:
    """Return on how many elements they meet, each copy of a shared one counted."""
    rows = race.rows[trace.buffer[race.rows] == race.buffer]
    key = trace.index[rows].astype(np.int64)
    if trace.buffers[race.buffer].space == "shared":
        key += trace.block[rows].astype(np.int64) * trace.buffers[race.buffer].size
    return len(np.unique(key))


def _what(trace: Trace, race: Race) -> str:
    """Return what is done by whom: written on line 4 and read on line 6 by lanes of one warp in no order."""
    deeds = [
        f"{PAST[trace.op[row]]} on {line_text(trace, int(trace.site[row]))}"
        for row in (race.first, race.second)
    ]
    who = WHO[race.scope]
    if not race.harmful:
        return f"{' and '.join(dict.fromkeys(deeds))} by {who}, all with the same value"
    return f"{' and '.join(dict.fromkeys(deeds))} by {who}, which nothing orders"


def _example(trace: Trace, race: Race) -> str:
    """Return both accesses in words: thread 0 writes s[1] = 4, thread 1 reads s[1] = 4."""
    across = race.scope == "grid" and trace.block[race.first] != trace.block[race.second]
    texts = []
    for row in (race.first, race.second):
        value = value_text(trace, row)
        deed = f"{PRESENT[trace.op[row]]} {access_element(trace, row)}" + (f" = {value}" if value else "")
        texts.append(f"{thread_text(trace, row, block=across)} {deed}")
    here = (
        "" if across or len(trace.blocks) == 1 else f"in {block_text(trace, int(trace.block[race.first]))} "
    )
    return f"{here}{texts[0]} and {texts[1]}"


def _remedy(trace: Trace, race: Race, barrier: str) -> str:
    lines = {line_text(trace, site) for site in race.sites}
    ops = {int(trace.op[row]) for row in (race.first, race.second)}
    if not race.harmful:
        return "harmless, but one thread that writes it is enough"
    if ops == {Op.LOAD, Op.STORE} and len(lines) == 1 and _same_thread_does_both(trace, race):
        return "let cuda.atomic read and write it in one go"
    if race.scope == "grid":
        return fence_remedy(trace, race) or (
            "blocks run in any order, so give each block elements of its own, use cuda.atomic for both, "
            "or do the second in another launch"
        )
    if in_mask := mask_remedy(trace, race):
        return in_mask
    if race.sites[0] == race.sites[1]:
        return f"let only one thread write each element, or put {barrier} between the writes"
    return f"put {barrier} {_where(trace, race)}"


def _same_thread_does_both(trace: Trace, race: Race) -> bool:
    """Return whether the thread of the first access also reads and writes that element at these sites itself."""
    rows, first = race.rows, race.first
    mine = (trace.block[rows] == trace.block[first]) & (trace.thread[rows] == trace.thread[first])
    mine &= (trace.index[rows] == trace.index[first]) & (trace.buffer[rows] == trace.buffer[first])
    return len(np.unique(trace.site[rows[mine]])) == 2


def _where(trace: Trace, race: Race) -> str:
    """Return where the barrier belongs, by the order in which one of the threads comes to both lines in that phase."""
    one, other = int(trace.site[race.first]), int(trace.site[race.second])
    for row in (race.first, race.second):
        mine = (trace.block == trace.block[row]) & (trace.thread == trace.thread[row])
        rows = np.flatnonzero(mine & (trace.phase == trace.phase[race.first]))
        a, b = (rows[trace.site[rows] == site] for site in (one, other))
        if len(a) and len(b):
            return _places(trace, one, other, bool(a[0] < b[-1]), bool(b[0] < a[-1]))
    backward = trace.sites[one].line > trace.sites[other].line
    return _places(trace, one, other, forth=not backward, back=backward)


def _places(trace: Trace, one: int, other: int, forth: bool, back: bool) -> str:
    """Return the barriers needed where a thread goes from `one` to `other` (forth), and on to `one` again (back)."""
    first, second = line_text(trace, one), line_text(trace, other)
    if trace.sites[one].line > trace.sites[other].line:
        first, second, forth, back = second, first, back, forth
    between = f"between {first} and {second}" if first != second else f"between the two accesses of {first}"
    again = f"after {second}, before {first} comes again"
    return " and ".join([between] * forth + [again] * back)
