"""Findings about data races: the number of elements, two threads as an example, and the remedy."""

from __future__ import annotations

from functools import reduce

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from ..analysis.requests import Requests
from ..model.array_types import Ints
from ..model.finding import (
    Finding,
    RelatedPlace,
    access_element,
    block_text,
    count_noun,
    lines_text,
    thread_text,
    value_text,
)
from ..model.trace import WARP, Trace
from ..races.conflicting_accesses import Race, union_rows
from .benign_races import excuse_harmless
from .race_barrier_placement import Gap, PhaseAccesses
from .race_remedies import ATOMIC, BOTH_ATOMIC, contended_sites, remedy_of
from .source.index_expressions import index_text

CHAIN = 4  # missing barriers in a row from which on they are reported as one
VERBS_PAST = ("read", "written", "updated", "updated")
EXCUSES = {
    "": "all with the same value",
    "unchanged": "which nothing orders, but what is written was there before",
    "unchanged here": "which nothing orders, though with these values what is written was there before",
    "own copy": "which nothing orders, but each thread that reads it has stored the same there before",
    "own copy here": "which nothing orders, though with these values all have stored the same there before they read",
    "stored last": "which nothing orders, but each thread that writes it writes the same in the end",
    "stored last here": "which nothing orders, though with these values all write the same in the end",
    "set once": "which nothing orders, but whoever finds it unset sets it to the same",
    "swapped": "which nothing orders, but a compare-and-swap of the thread that reads it comes next",
    "compared again": "which nothing orders, though the atomic compares it again",
}
VERBS_PRESENT = ("reads", "writes", "updates", "updates")
SCOPES = ("warp", "block", "grid")
THREADS_BY_SCOPE = {
    "warp": "lanes of one warp",
    "block": "threads of one block",
    "grid": "threads of different blocks",
}


class _RaceReport(Struct, frozen=True):
    """A race and its remedy."""

    race: Race
    remedy: str
    gaps: tuple[Gap, ...]  # the paths on which a barrier is missing, if the remedy is one

    def is_mended_with(self, other: _RaceReport) -> bool:
        """Return True if another race's remedy mends this one too: a barrier mends every race on its paths."""
        if not (self.race.harmful and other.race.harmful):
            return False
        if not self.gaps and self.race.buffer != other.race.buffer:
            return False
        if self.gaps or other.gaps:
            inside = (any(other_gap.lies_in(gap) for other_gap in other.gaps) for gap in self.gaps)
            return bool(self.gaps) and all(inside)
        alike = self.remedy == other.remedy or (self.remedy, other.remedy) == (BOTH_ATOMIC, ATOMIC)
        return alike and not set(self.race.sites).isdisjoint(other.race.sites)


def race_findings(trace: Trace, requests: Requests, races: list[Race]) -> list[Finding]:
    """List the races as findings: errors, or notes and warnings where every order gives the same values.

    If some races need a barrier of the block, races between lanes get it too, since it orders both. A race that
    another race's remedy mends is counted with that race and not reported separately.
    """
    races = [excuse_harmless(trace, race) for race in races]
    in_warps = trace.threads > WARP and all(race.scope != "block" for race in races if race.harmful)
    barrier = "cuda.syncwarp()" if in_warps else "cuda.syncthreads()"
    accesses = PhaseAccesses(trace)
    contended = contended_sites(trace, [race for race in races if race.harmful])
    reports = [_RaceReport(race, *remedy_of(accesses, race, barrier, contended)) for race in races]
    groups: dict[int, list[Race]] = {}
    for index in range(len(reports)):
        groups.setdefault(_reported_with(reports, index), []).append(reports[index].race)
    findings = [_finding(trace, requests, reports[index], group) for index, group in groups.items()]
    return [
        replace(finding, cause=_cause(trace, reports[index], reports))
        for index, finding in zip(groups, findings, strict=True)
    ]


def _cause(trace: Trace, report: _RaceReport, reports: list[_RaceReport]) -> str:
    """Name the mistake that makes a race, the same for races with one cause.

    Several barriers missing in a row are one mistake: each line of that code waits for the line before.
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
    alike = [
        other
        for other in reports
        if other.gaps and other.race.harmful and other.race.buffer == report.race.buffer
    ]
    return len({gap.upper[0] for other in alike for gap in other.gaps if not gap.loop_carried}) >= CHAIN


def _reported_with(reports: list[_RaceReport], index: int) -> int:
    """Find the index of the race to report a race with: one whose remedy mends it, the first of equals, or itself."""
    for other, candidate in enumerate(reports):
        mends = other != index and reports[index].is_mended_with(candidate)
        if mends and (other < index or not candidate.is_mended_with(reports[index])):
            return _reported_with(reports, other)
    return index


def _finding(trace: Trace, requests: Requests, report: _RaceReport, group: list[Race]) -> Finding:
    race, remedy = report.race, report.remedy
    first, second = race.first, race.second
    same_buffer = [other for other in group if other.buffer == race.buffer]
    own_rows = reduce(union_rows, (other.rows for other in same_buffer))
    count = _count_elements(trace, race.buffer, own_rows)
    between = [other.rows for other in same_buffer if other.scope == "grid"]
    within = count - _count_elements(trace, race.buffer, reduce(union_rows, between)) if between else 0
    message = f"{_elements_text(trace, race.buffer, own_rows, count)} {'is' if count == 1 else 'are'} "
    message += f"{_accesses_text(trace, race, same_buffer, within)}: "
    message += f"{_example_text(trace, race)}; {remedy}."
    threads = tuple((int(trace.block[row]), int(trace.thread[row])) for row in (first, second))
    sites = tuple(dict.fromkeys(int(trace.site[row]) for row in (second, first)))
    moment = int(requests.moment[requests.request[[first, second]]].max())
    rows = reduce(union_rows, (other.rows for other in group))
    return Finding(
        "race", _severity(race), message, remedy, count, sites, rows, (first, second), threads,
        moment, name=trace.buffers[race.buffer].name, also=_places_of_other_buffers(trace, race, group),
    )  # fmt: skip


def _places_of_other_buffers(trace: Trace, race: Race, group: list[Race]) -> tuple[RelatedPlace, ...]:
    """List the lines of races on other arrays that the same remedy mends."""
    own = trace.sites[race.sites[0]].file
    places = {}
    for other in (member for member in group if member.buffer != race.buffer):
        site = trace.sites[int(trace.site[other.second])]
        places[other.buffer] = RelatedPlace(
            "" if site.file == own else site.file, site.line, trace.buffers[other.buffer].name
        )
    return tuple(places.values())


def _severity(race: Race) -> str:
    """Classify a race; a harmless one is a note if that is certain, a warning if other values may harm."""
    return (
        "error"
        if race.harmful
        else "note"
        if race.excuse in ("", "unchanged", "own copy", "stored last", "swapped")
        else "warning"
    )


def _elements_text(trace: Trace, number: int, rows: Ints, count: int) -> str:
    """Describe the elements that are raced for: 16 elements of s, or 64 elements of s in 4 blocks."""
    buffer = trace.buffers[number]
    blocks = len(np.unique(trace.block[rows])) if buffer.space == "shared" else 1
    return f"{count_noun(count, 'element')} of {buffer.name}" + (
        f" in {blocks:,} blocks" if blocks > 1 else ""
    )


def _count_elements(trace: Trace, number: int, rows: Ints) -> int:
    """Count the elements that are raced for, each copy of a shared one counted."""
    rows = rows[trace.buffer[rows] == number]
    key = trace.index[rows].astype(np.int64)
    if trace.buffers[number].space == "shared":
        key += trace.block[rows].astype(np.int64) * trace.buffers[number].size
    return len(np.unique(key))


def _accesses_text(trace: Trace, race: Race, group: list[Race], within: int) -> str:
    """Describe the accesses of races: written on lines 4 and 5 and read on line 6 by lanes of one warp.

    within: the number of elements that only threads of one block race for, if others race between blocks.
    """
    sites: dict[str, list[int]] = {}
    for row in (row for other in (race, *group) for row in (other.first, other.second)):
        sites.setdefault(VERBS_PAST[trace.op[row]], []).append(int(trace.site[row]))
    actions = [f"{verb} on {lines_text(trace, of_verb)}" for verb, of_verb in sites.items()]
    threads = THREADS_BY_SCOPE[max((other.scope for other in group), key=SCOPES.index)]
    if not race.harmful:
        return f"{' and '.join(actions)} by {threads}, {EXCUSES[race.excuse]}"
    threads += f", {within:,} of them by threads of one block" if within else ""
    return f"{' and '.join(actions)} by {threads}, which nothing orders"


def _example_text(trace: Trace, race: Race) -> str:
    """Describe both accesses with their threads: thread 0 writes s[1] = 4, thread 1 reads s[1] = 4."""
    across_blocks = race.scope == "grid" and trace.block[race.first] != trace.block[race.second]
    texts = [access_text(trace, row, block=across_blocks) for row in (race.first, race.second)]
    block = (
        ""
        if across_blocks or len(trace.blocks) == 1
        else f"in {block_text(trace, int(trace.block[race.first]))} "
    )
    return f"{block}{texts[0]} and {texts[1]}"


def access_text(trace: Trace, row: int, *, block: bool = True) -> str:
    """Describe an access with its thread, and its block if `block` is set: thread 0 writes s[1] = 4."""
    value = value_text(trace, row)
    action = f"{VERBS_PRESENT[trace.op[row]]} {access_element(trace, row)}"
    return f"{thread_text(trace, row, block=block)} {action}{f' = {value}' if value else ''}"
