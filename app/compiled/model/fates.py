"""The fate of each access in a kernel's source: kept, merged, hoisted, unused, joined. No Qt."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from ....tracer.as_compiled.job import CompiledSite
from ....tracer.model.trace import Op, Trace
from ...model.session import Session

Kind = Literal["kept", "merged", "hoisted", "unused", "joined", "fewer", "added"]
SPACES = ("global", "shared")
LOOKED_AT = 200_000  # accesses that are examined for the origin of removed loads' values
NOUNS = {Op.LOAD: "load", Op.STORE: "store"}


class Fate(Struct, frozen=True):
    """The fate of the accesses at one position in the source."""

    file: str
    line: int  # from 1
    column: int  # from 0
    noun: str  # load, store or atomic
    name: str  # of the array
    written: int  # requests
    compiled: int  # likewise
    kind: Kind
    bytes: int = 0  # of a joined access
    other: int = 0  # the line of the access that it is merged with

    @property
    def tag(self) -> str:
        """A short text next to the line."""
        return {
            "kept": "",
            "merged": f"merged with line {self.other}" if self.other != self.line else "merged",
            "hoisted": "hoisted",
            "unused": "unused",
            "joined": f"joined to {self.bytes} bytes",
            "fewer": "fewer",
            "added": "more",
        }[self.kind]

    @property
    def sentence(self) -> str:
        """A sentence with the numbers."""
        access = f"{self.noun} of {self.name}, column {self.column + 1}"
        counts = f"{self.written:,} requests written, {self.compiled:,} compiled"
        other = "another access of this line" if self.other == self.line else f"line {self.other}"
        result = {
            "kept": "kept",
            "merged": f"merged with {other}: its value is in a register already",
            "hoisted": "hoisted out of the loop",
            "unused": "removed: nothing uses it",
            "joined": f"joined with its neighbours to accesses of {self.bytes} bytes",
            "fewer": "not request_total in every iteration",
            "added": "request_total more often than in the source",
        }[self.kind]
        return f"{access}: {result} ({counts})."


def fates_of(session: Session) -> tuple[Fate, ...]:
    """Find the fate of each access in global and shared memory; none if they are not known.

    The positions can't be compared unless all accesses of a launch are stored.
    """
    fates: tuple[Fate, ...] | None = vars(session).get("fates")
    if fates is None:
        fates = _compute_fates(session)
        if session.compiled is not None:
            vars(session)["fates"] = fates
    return fates


def _compute_fates(session: Session) -> tuple[Fate, ...]:
    compiled, trace = session.compiled, session.trace
    if compiled is None or compiled.reason or trace.totals or trace.error is not None or not len(trace):
        return ()
    home = trace.sites[int(trace.site[0])].file
    by_position = _group_by_position(compiled.sites, {site.file for site in trace.sites}, home)
    return tuple(_fates(session, by_position))


Place = tuple[str, int, int, int, str]  # file, line, column, op and space


def _group_by_position(
    sites: Iterable[CompiledSite], files: set[str], home: str
) -> dict[Place, list[CompiledSite]]:
    groups: dict[Place, list[CompiledSite]] = {}
    for site in sites:
        position = (site.file if site.file in files else home, site.line, site.column, site.op, site.space)
        groups.setdefault(position, []).append(site)
    return groups


def _fates(session: Session, by_position: dict[Place, list[CompiledSite]]) -> Iterable[Fate]:
    trace, requests = session.trace, session.requests
    written = np.bincount(requests.site, minlength=len(trace.sites))
    first = np.full(len(trace.sites), -1)
    sites, rows = np.unique(requests.site, return_index=True)
    first[sites] = rows
    places: dict[int, list[CompiledSite]] = {}
    for number, row in zip(sites.tolist(), rows.tolist(), strict=True):
        buffer = trace.buffers[int(requests.buffer[row])]
        site, op = trace.sites[number], int(requests.op[row])
        if buffer.space in SPACES:
            places[number] = by_position.get((site.file, site.line, site.column, op, buffer.space), [])
    kept = np.array([bool(places.get(n)) for n in range(len(trace.sites))])
    placed = {id(compiled) for group in places.values() for compiled in group}
    # LLVM gives hoisted accesses no position in the source.
    nowhere = [compiled for group in by_position.values() for compiled in group if id(compiled) not in placed]
    for number, matching in places.items():
        site, row = trace.sites[number], int(rows[np.searchsorted(sites, number)])
        buffer, op = trace.buffers[int(requests.buffer[row])], Op(int(requests.op[row]))
        if not matching and op == Op.LOAD and _same_elements(trace, number, kept)[1]:
            alike = [o for o in nowhere if (o.op, o.space, o.size) == (op, buffer.space, buffer.itemsize)]
            matching = alike[:1]
            nowhere = [compiled for compiled in nowhere if compiled not in matching]
        request_total = sum(compiled.requests for compiled in matching)
        size = max((compiled.size for compiled in matching), default=0)
        kind, other = _kind(
            trace, number, op, int(written[number]), request_total, size > buffer.itemsize, kept
        )
        yield Fate(
            site.file, site.line, site.column, NOUNS.get(op, "atomic"), buffer.name, int(written[number]),
            request_total, kind, size if kind == "joined" else 0, other,
        )  # fmt: skip


def _kind(
    trace: Trace, site: int, op: Op, written: int, request_total: int, wider: bool, kept: NDArray[np.bool_]
) -> tuple[Kind, int]:
    """Return the kind of a fate, and the line of the access that it is merged with, 0 for none."""
    if request_total >= written:
        return ("kept" if request_total == written else "added"), 0
    if wider:
        return "joined", 0
    if op != Op.LOAD:
        return ("unused" if not request_total else "fewer"), 0
    same, again = _same_elements(trace, site, kept)
    if not request_total:
        return ("merged", trace.sites[same].line) if same >= 0 else ("unused", 0)
    return ("hoisted", 0) if again else ("fewer", 0)


def _same_elements(trace: Trace, site: int, kept: NDArray[np.bool_]) -> tuple[int, bool]:
    """Find a kept site where the same threads access the same elements, -1 for none.

    Also return whether the site's own threads access some elements repeatedly.
    """
    rows = slice(0, LOOKED_AT)
    own = trace.site[rows] == site
    thread = trace.block[rows].astype(np.int64) * trace.threads + trace.thread[rows]
    element = np.stack(
        [thread, trace.buffer[rows].astype(np.int64), trace.index[rows].astype(np.int64)], axis=1
    )
    asked = np.unique(element[own], axis=0)
    again = len(asked) < int(own.sum())
    for other in np.unique(trace.site[rows]).tolist():
        if other != site and kept[other]:
            there = np.unique(element[trace.site[rows] == other], axis=0)
            if len(there) >= len(asked) and len(np.unique(np.concatenate([there, asked]), axis=0)) == len(
                there
            ):
                return other, again
    return -1, again


class LineFate(Struct, frozen=True):
    """The fates of a line's accesses: a short text, and a sentence for each."""

    tag: str  # "" if all its accesses are kept
    short: str  # the tag for little room
    sentences: tuple[str, ...]


def line_fates(fates: Iterable[Fate], file: str) -> dict[int, LineFate]:
    """Group the fates of a file's accesses by line."""
    lines: dict[int, list[Fate]] = {}
    for fate in fates:
        if fate.file == file:
            lines.setdefault(fate.line, []).append(fate)
    return {
        line: LineFate(
            _tag(group), _short(group), tuple(fate.sentence for fate in sorted(group, key=lambda f: f.column))
        )
        for line, group in lines.items()
    }


def _short(fates: list[Fate]) -> str:
    words = {
        fate.tag.replace("with line ", "").replace("joined to ", "").replace(" bytes", " B")
        for fate in fates
        if fate.tag
    }
    return " · ".join(sorted(words))


def _tag(fates: list[Fate]) -> str:
    """Join the tags of a line, each once, with the number of its accesses."""
    counts: dict[str, int] = {}
    for fate in fates:
        if fate.tag:
            counts[fate.tag] = counts.get(fate.tag, 0) + 1
    return " · ".join(
        tag if len(fates) == 1 or count == len(fates) else f"{count} of {len(fates)} {tag}"
        for tag, count in counts.items()
    )
