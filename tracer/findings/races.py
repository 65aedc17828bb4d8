"""What is reported of a data race: how many elements, which two threads, and the remedy; one for those it mends."""

from __future__ import annotations

from functools import reduce

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from ..analysis.requests import Requests
from ..model.finding import (
    Finding,
    Place,
    access_element,
    block_text,
    counted,
    line_text,
    thread_text,
    value_text,
)
from ..model.trace import WARP, Trace
from ..races.conflicting_accesses import Race, united
from .benign_races import with_excuse
from .race_barrier_placement import Gap, PhaseAccesses
from .race_remedies import ATOMIC, BOTH_ATOMIC, contended_sites, remedy_of
from .source.index_expressions import index_text

CHAIN = 4  # barriers missing behind one another from which on they are told as one
PAST = ("read", "written", "updated", "updated")
EXCUSES = {
    "": "all with the same value",
    "unchanged": "which nothing orders, but what is written was there before",
    "unchanged here": "which nothing orders, though with these values what is written was there before",
    "own copy": "which nothing orders, but each thread that reads it has stored the same there before",
    "own copy here": "which nothing orders, though with these values all have stored the same there before they read",
    "set once": "which nothing orders, but whoever finds it unset sets it to the same",
}
PRESENT = ("reads", "writes", "updates", "updates")
WHO = {"warp": "lanes of one warp", "block": "threads of one block", "grid": "threads of different blocks"}


class _RaceReport(Struct, frozen=True):
    """A race, and what would mend it."""

    race: Race
    remedy: str
    gaps: tuple[Gap, ...]  # the paths on which a barrier is missing, if that is what is

    def is_mended_with(self, other: _RaceReport) -> bool:
        """Return whether what mends another race mends this one too: a barrier those of all buffers on its way."""
        if not (self.race.harmful and other.race.harmful):
            return False
        if not self.gaps and self.race.buffer != other.race.buffer:
            return False
        if self.gaps or other.gaps:
            inside = (any(theirs.lies_in(mine) for theirs in other.gaps) for mine in self.gaps)
            return bool(self.gaps) and all(inside)
        alike = self.remedy == other.remedy or (self.remedy, other.remedy) == (BOTH_ATOMIC, ATOMIC)
        return alike and not set(self.race.sites).isdisjoint(other.race.sites)


def race_findings(trace: Trace, requests: Requests, races: list[Race]) -> list[Finding]:
    """Return the races as findings: errors, or notes and warnings where every order gives the same values.

    Where some need a barrier of the block, that is said of those between lanes too: one orders both. What the
    remedy of one race mends too is counted to that race and not reported by itself.
    """
    races = [with_excuse(trace, race) for race in races]
    in_warps = trace.threads > WARP and all(race.scope != "block" for race in races if race.harmful)
    barrier = "cuda.syncwarp()" if in_warps else "cuda.syncthreads()"
    accesses = PhaseAccesses(trace)
    contended = contended_sites(trace, [race for race in races if race.harmful])
    reports = [_RaceReport(race, *remedy_of(accesses, race, barrier, contended)) for race in races]
    found: dict[int, list[Race]] = {}
    for one in range(len(reports)):
        found.setdefault(_reported_with(reports, one), []).append(reports[one].race)
    each = [_finding(trace, requests, reports[one], others) for one, others in found.items()]
    return [
        replace(finding, cause=_cause(trace, reports[one], reports))
        for one, finding in zip(found, each, strict=True)
    ]


def _cause(trace: Trace, report: _RaceReport, reports: list[_RaceReport]) -> str:
    """Return what races have in common that one mistake makes.

    Several barriers that are missing behind one another are one: code of which each line waits for the one before.
    """
    name, race = trace.buffers[report.race.buffer].name, report.race
    if not race.harmful:
        return f"{name} {race.excuse}"
    if report.gaps:
        lines = [f"{trace.sites[site].line}" for site in race.sites]
        return f"{name} {'barriers' if _is_chain(report, reports) else ' '.join(lines)}"
    indices = {index_text(trace, trace.sites[site]) for site in race.sites}
    computed = any(text and not text.isdecimal() for text in indices)
    return f"{race.scope} {' and '.join(sorted(indices)) if computed else name}"


def _is_chain(report: _RaceReport, reports: list[_RaceReport]) -> bool:
    alike = [r for r in reports if r.gaps and r.race.harmful and r.race.buffer == report.race.buffer]
    return len({gap.upper[0] for r in alike for gap in r.gaps if not gap.loop_carried}) >= CHAIN


def _reported_with(reports: list[_RaceReport], one: int) -> int:
    """Return the race with which one is reported: itself, or one whose remedy mends it; of those alike the first."""
    for other, candidate in enumerate(reports):
        mends = other != one and reports[one].is_mended_with(candidate)
        if mends and (other < one or not candidate.is_mended_with(reports[one])):
            return _reported_with(reports, other)
    return one


def _finding(trace: Trace, requests: Requests, report: _RaceReport, together: list[Race]) -> Finding:
    race, remedy = report.race, report.remedy
    first, second = race.first, race.second
    count = _elements(trace, race)
    message = f"{_elements_text(trace, race, count)} {'is' if count == 1 else 'are'} {_what(trace, race)}: "
    message += f"{_example(trace, race)}; {remedy}."
    threads = tuple((int(trace.block[row]), int(trace.thread[row])) for row in (first, second))
    sites = tuple(dict.fromkeys(int(trace.site[row]) for row in (second, first)))
    moment = int(requests.moment[requests.request[[first, second]]].max())
    rows = reduce(united, (other.rows for other in together))
    return Finding(
        "race", _severity(race), message, remedy, count, sites, rows, (first, second), threads,
        moment, name=trace.buffers[race.buffer].name, also=_of_other_buffers(trace, race, together),
    )  # fmt: skip


def _of_other_buffers(trace: Trace, race: Race, together: list[Race]) -> tuple[Place, ...]:
    """Return the lines where other arrays are raced for that the same remedy mends."""
    own = trace.sites[race.sites[0]].file
    found = {}
    for other in (other for other in together if other.buffer != race.buffer):
        site = trace.sites[int(trace.site[other.second])]
        found[other.buffer] = Place(
            "" if site.file == own else site.file, site.line, trace.buffers[other.buffer].name
        )
    return tuple(found.values())


def _severity(race: Race) -> str:
    """Return what a race is that does no harm: a note where that is sure, a warning where other values may show it."""
    return "error" if race.harmful else "note" if race.excuse in ("", "unchanged", "own copy") else "warning"


def _elements_text(trace: Trace, race: Race, count: int) -> str:
    """Return the elements on which they meet: 16 elements of s, or 64 elements of s in 4 blocks."""
    buffer = trace.buffers[race.buffer]
    blocks = len(np.unique(trace.block[race.rows])) if buffer.space == "shared" else 1
    return f"{counted(count, 'element')} of {buffer.name}" + (f" in {blocks:,} blocks" if blocks > 1 else "")


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
        return f"{' and '.join(dict.fromkeys(deeds))} by {who}, {EXCUSES[race.excuse]}"
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
