"""Sums of each instruction converted to the counters of a launch, and of each place in its source."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ...model.array_types import Ints
from ...model.counter_names import GROUPS, MEASURES, NAMES
from ...model.trace import Op
from ..compiler.numba_ir import CodeSite
from ..compiler.nvidia import JoinedAccesses, NvidiaCode, Place
from ..job import CompiledSite
from .instrument import LOOP_END, Access
from .lockstep import APART, COST, COST_8, COST_16, GLOBAL, LANES, REQUESTS, SHARED

_KINDS = {int(Op.LOAD): "load", int(Op.STORE): "store"}
SPACES = ((GLOBAL, "global"), (SHARED, "shared"))


def sites_of(
    accesses: tuple[Access, ...], sites: tuple[CodeSite, ...], sums: Ints, code: NvidiaCode | None = None
) -> tuple[CompiledSite, ...]:
    """Sum up the requests of each place, kind and size.

    code: the kernel's code by NVIDIA's compilers, which decides on joined accesses.
    """
    totals: dict[tuple[object, ...], CompiledSite] = {}
    for entry in _each(accesses, sites, sums, code):
        key = (entry.file, entry.line, entry.column, entry.op, entry.space, entry.size)
        previous = totals.get(key)
        totals[key] = entry if previous is None else _added(previous, entry)
    return tuple(totals.values())


def _each(
    accesses: tuple[Access, ...], sites: tuple[CodeSite, ...], sums: Ints, code: NvidiaCode | None
) -> Iterator[CompiledSite]:
    joined = code.joined if code else {}
    joined_sums: dict[Place, Ints] = {}
    for number, access in enumerate(accesses):
        if access.op >= LOOP_END:
            continue
        for space, name in SPACES:
            row = sums[number, space].copy()
            if space == SHARED and access.mark >= 0:
                row[REQUESTS] = sums[access.mark, SHARED, REQUESTS]
            place = (name, _KINDS.get(access.op, ""), access.site)
            if row[REQUESTS] and place in joined:
                joined_sums[place] = joined_sums.get(place, np.zeros_like(row)) + row
            elif row[REQUESTS]:
                yield _site(sites, access.site, access.op, name, access.size, *row[: LANES + 1].tolist())
    for place, row in joined_sums.items():
        yield from _joined(sites, place, row, joined[place])


def _joined(
    sites: tuple[CodeSite, ...], place: Place, row: Ints, joined: JoinedAccesses
) -> Iterator[CompiledSite]:
    """Yield the counts of a place's accesses as ptxas joins them."""
    space, kind, site = place
    for size, share in joined.each.items():
        column = {8: COST_8, 16: COST_16}.get(size, COST)
        amounts = (round(int(row[column_index]) * share) for column_index in (REQUESTS, column, LANES))
        yield _site(sites, site, Op.LOAD if kind == "load" else Op.STORE, space, size, *amounts)


def _site(
    sites: tuple[CodeSite, ...], number: int, op: int, space: str, size: int, *amounts: int
) -> CompiledSite:
    site = sites[number] if number < len(sites) else sites[0]
    return CompiledSite(site.file, site.line, site.column, int(op), space, size, *amounts)  # type: ignore[arg-type]  # global or shared


def _added(first: CompiledSite, second: CompiledSite) -> CompiledSite:
    return CompiledSite(
        first.file, first.line, first.column, first.op, first.space, first.size,
        first.requests + second.requests, first.cost + second.cost, first.lanes + second.lanes,
    )  # fmt: skip


def counters_of(sites: tuple[CompiledSite, ...]) -> dict[str, int]:
    """Compute the counters of a launch by their names."""
    counters = dict.fromkeys(NAMES, 0)
    for site in sites:
        for group, (space, ops) in GROUPS.items():
            if space != site.space or site.op not in ops:
                continue
            amounts = {
                "requests": site.requests, "sectors": site.cost, "bytes": site.lanes * site.size,
                "instructions": site.requests, "wavefronts": site.cost,
            }  # fmt: skip
            for measure in MEASURES[space]:
                counters[f"{group}_{measure}"] += amounts[measure]
    return counters


def at_least(accesses: tuple[Access, ...], sums: Ints) -> tuple[str, ...]:
    """Return the counters that may be higher on a GPU where warps contend: of loops, and of what follows."""
    names = set()
    for number, access in enumerate(accesses):
        for space, name in SPACES:
            if access.op < LOOP_END and sums[number, space, APART]:
                names |= {
                    f"{group}_{measure}"
                    for group, (where, ops) in GROUPS.items()
                    if where == name and access.op in ops
                    for measure in MEASURES[where]
                }
    return tuple(name for name in NAMES if name in names)
