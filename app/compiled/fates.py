"""What the compiler did with each access of a kernel's source: kept, merged, hoisted, unused, joined. No Qt."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from ...tracer.as_compiled.job import CompiledSite
from ...tracer.model.trace import Op, Trace
from ..model.session import Session

Kind = Literal["kept", "merged", "hoisted", "unused", "joined", "fewer", "added"]
SPACES = ("global", "shared")
LOOKED_AT = 200_000  # accesses by which it is found out where the values of removed loads come from
NOUNS = {Op.LOAD: "load", Op.STORE: "store"}


class Fate(Struct, frozen=True):
    """What became of the accesses that one place in the source makes."""

    file: str
    line: int  # from 1
    column: int  # from 0
    noun: str  # load, store or atomic
    name: str  # of the array
    written: int  # requests
    compiled: int  # likewise
    kind: Kind
    bytes: int = 0  # of a joined access
    other: int = 0  # the line with which it is merged

    @property
    def tag(self) -> str:
        """The few words that stand beside the line."""
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
        """The same in a sentence, with its numbers."""
        what = f"{self.noun} of {self.name}, column {self.column + 1}"
        counts = f"{self.written:,} requests written, {self.compiled:,} compiled"
        other = "another access of this line" if self.other == self.line else f"line {self.other}"
        why = {
            "kept": "kept",
            "merged": f"merged with {other}: its value is in a register already",
            "hoisted": "hoisted out of the loop",
            "unused": "removed: nothing uses it",
            "joined": f"joined with its neighbours to accesses of {self.bytes} bytes",
            "fewer": "not made in every round",
            "added": "made more often than the source says",
        }[self.kind]
        return f"{what}: {why} ({counts})."


def fates_of(session: Session) -> tuple[Fate, ...]:
    """Return the fate of each access in global and shared memory; none where they are not known.

    Where not all accesses of a launch are kept, its places in the source can't be compared.
    """
    known: tuple[Fate, ...] | None = vars(session).get("fates")
    if known is None:
        known = _found(session)
        if session.compiled is not None:
            vars(session)["fates"] = known
    return known


def _found(session: Session) -> tuple[Fate, ...]:
    compiled, trace = session.compiled, session.trace
    if compiled is None or compiled.reason or trace.totals or trace.error is not None or not len(trace):
        return ()
    home = trace.sites[int(trace.site[0])].file
    known = _by_place(compiled.sites, {site.file for site in trace.sites}, home)
    return tuple(_fates(session, known))


Place = tuple[str, int, int, int, str]  # file, line, column, op and space


def _by_place(sites: Iterable[CompiledSite], files: set[str], home: str) -> dict[Place, list[CompiledSite]]:
    found: dict[Place, list[CompiledSite]] = {}
    for one in sites:
        place = (one.file if one.file in files else home, one.line, one.column, one.op, one.space)
        found.setdefault(place, []).append(one)
    return found


def _fates(session: Session, known: dict[Place, list[CompiledSite]]) -> Iterable[Fate]:
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
            places[number] = known.get((site.file, site.line, site.column, op, buffer.space), [])
    kept = np.array([bool(places.get(n)) for n in range(len(trace.sites))])
    placed = {id(one) for found in places.values() for one in found}
    # LLVM gives what it hoists no place in the source.
    nowhere = [one for found in known.values() for one in found if id(one) not in placed]
    for number, found in places.items():
        site, row = trace.sites[number], int(rows[np.searchsorted(sites, number)])
        buffer, op = trace.buffers[int(requests.buffer[row])], Op(int(requests.op[row]))
        if not found and op == Op.LOAD and _same_elements(trace, number, kept)[1]:
            alike = [o for o in nowhere if (o.op, o.space, o.size) == (op, buffer.space, buffer.itemsize)]
            found = alike[:1]
            nowhere = [one for one in nowhere if one not in found]
        made, size = sum(one.requests for one in found), max((one.size for one in found), default=0)
        kind, other = _kind(trace, number, op, int(written[number]), made, size > buffer.itemsize, kept)
        yield Fate(
            site.file, site.line, site.column, NOUNS.get(op, "atomic"), buffer.name, int(written[number]), made, kind,
            size if kind == "joined" else 0, other,
        )  # fmt: skip


def _kind(
    trace: Trace, site: int, op: Op, written: int, made: int, wider: bool, kept: NDArray[np.bool_]
) -> tuple[Kind, int]:
    """Return the kind of a fate, and the line with which an access is merged, 0 for none."""
    if made >= written:
        return ("kept" if made == written else "added"), 0
    if wider:
        return "joined", 0
    if op != Op.LOAD:
        return ("unused" if not made else "fewer"), 0
    same, again = _same_elements(trace, site, kept)
    if not made:
        return ("merged", trace.sites[same].line) if same >= 0 else ("unused", 0)
    return ("hoisted", 0) if again else ("fewer", 0)


def _same_elements(trace: Trace, site: int, kept: NDArray[np.bool_]) -> tuple[int, bool]:
    """Return a site that is kept where the same threads access the same elements, -1 for none.

    And whether the site's own threads access some elements again and again.
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
    """What is said of a line: in few words, and in a sentence for each access."""

    tag: str  # "" where all its accesses are kept
    short: str  # the same where there is little room
    sentences: tuple[str, ...]


def line_fates(fates: Iterable[Fate], file: str) -> dict[int, LineFate]:
    """Return the fates of the accesses of each line of a file."""
    lines: dict[int, list[Fate]] = {}
    for fate in fates:
        if fate.file == file:
            lines.setdefault(fate.line, []).append(fate)
    return {
        line: LineFate(
            _tag(found), _short(found), tuple(fate.sentence for fate in sorted(found, key=lambda f: f.column))
        )
        for line, found in lines.items()
    }


def _short(fates: list[Fate]) -> str:
    words = {
        fate.tag.replace("with line ", "").replace("joined to ", "").replace(" bytes", " B")
        for fate in fates
        if fate.tag
    }
    return " · ".join(sorted(words))


def _tag(fates: list[Fate]) -> str:
    """Return the words for a line: each that differs from kept once, with how many accesses it is of."""
    counts: dict[str, int] = {}
    for fate in fates:
        if fate.tag:
            counts[fate.tag] = counts.get(fate.tag, 0) + 1
    return " · ".join(
        tag if len(fates) == 1 or count == len(fates) else f"{count} of {len(fates)} {tag}"
        for tag, count in counts.items()
    )
