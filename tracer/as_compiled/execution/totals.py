"""From the sums of each instruction to the counters of a launch, and of each place in its source."""

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
    """Return what each place asks of memory, those of one place, kind and size added up.

    code: what NVIDIA's compilers made of the kernel, by which accesses are joined.
    """
    found: dict[tuple[object, ...], CompiledSite] = {}
    for one in _each(accesses, sites, sums, code):
        key = (one.file, one.line, one.column, one.op, one.space, one.size)
        known = found.get(key)
        found[key] = one if known is None else _added(known, one)
    return tuple(found.values())


def _each(
    accesses: tuple[Access, ...], sites: tuple[CodeSite, ...], sums: Ints, code: NvidiaCode | None
) -> Iterator[CompiledSite]:
    joined = code.joined if code else {}
    together: dict[Place, Ints] = {}
    for number, access in enumerate(accesses):
        if access.op >= LOOP_END:
            continue
        for space, name in SPACES:
            row = sums[number, space].copy()
            if space == SHARED and access.mark >= 0:
                row[REQUESTS] = sums[access.mark, SHARED, REQUESTS]
            place = (name, _KINDS.get(access.op, ""), access.site)
            if row[REQUESTS] and place in joined:
                together[place] = together.get(place, np.zeros_like(row)) + row
            elif row[REQUESTS]:
                yield _site(sites, access.site, access.op, name, access.size, *row[: LANES + 1].tolist())
    for place, row in together.items():
        yield from _joined(sites, place, row, joined[place])


def _joined(
    sites: tuple[CodeSite, ...], place: Place, row: Ints, joined: JoinedAccesses
) -> Iterator[CompiledSite]:
    """Yield what the accesses of a place come to as ptxas joins them."""
    space, kind, site = place
    for size, share in joined.each.items():
        column = {8: COST_8, 16: COST_16}.get(size, COST)
        amounts = (round(int(row[one]) * share) for one in (REQUESTS, column, LANES))
        yield _site(sites, site, Op.LOAD if kind == "load" else Op.STORE, space, size, *amounts)


def _site(
    sites: tuple[CodeSite, ...], number: int, op: int, space: str, size: int, *amounts: int
) -> CompiledSite:
    site = sites[number] if number < len(sites) else sites[0]
    return CompiledSite(site.file, site.line, site.column, int(op), space, size, *amounts)  # type: ignore[arg-type]  # global or shared


def _added(a: CompiledSite, b: CompiledSite) -> CompiledSite:
    return CompiledSite(
        a.file, a.line, a.column, a.op, a.space, a.size,
        a.requests + b.requests, a.cost + b.cost, a.lanes + b.lanes,
    )  # fmt: skip


def counters_of(sites: tuple[CompiledSite, ...]) -> dict[str, int]:
    """Return the counters of a launch by their names."""
    counters = dict.fromkeys(NAMES, 0)
    for one in sites:
        for group, (space, ops) in GROUPS.items():
            if space != one.space or one.op not in ops:
                continue
            amounts = {
                "requests": one.requests, "sectors": one.cost, "bytes": one.lanes * one.size,
                "instructions": one.requests, "wavefronts": one.cost,
            }  # fmt: skip
            for measure in MEASURES[space]:
                counters[f"{group}_{measure}"] += amounts[measure]
    return counters


def at_least(accesses: tuple[Access, ...], sums: Ints) -> tuple[str, ...]:
    """Return the counters that may be higher on a GPU where warps contend: of loops, and of what follows."""
    found = set()
    for number, access in enumerate(accesses):
        for space, name in SPACES:
            if access.op < LOOP_END and sums[number, space, APART]:
                found |= {
                    f"{group}_{measure}"
                    for group, (where, ops) in GROUPS.items()
                    if where == name and access.op in ops
                    for measure in MEASURES[where]
                }
    return tuple(name for name in NAMES if name in found)
