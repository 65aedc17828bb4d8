"""From the sums of each instruction to the counters of a launch, and of each place in its source."""

from __future__ import annotations

from collections.abc import Iterator

from ...model.array_types import Ints
from ...model.counter_names import GROUPS, MEASURES, NAMES
from .instrument import LOOP_END, Access
from ..job import CompiledSite
from .lockstep import GLOBAL, REQUESTS, SHARED
from ..compiler.numba_ir import CodeSite

SPACES = ((GLOBAL, "global"), (SHARED, "shared"))


def sites_of(
    accesses: tuple[Access, ...], sites: tuple[CodeSite, ...], sums: Ints
) -> tuple[CompiledSite, ...]:
    """Return what each place asks of memory, those of one place, kind and size added up."""
    found: dict[tuple[object, ...], CompiledSite] = {}
    for one in _each(accesses, sites, sums):
        key = (one.file, one.line, one.column, one.op, one.space, one.size)
        known = found.get(key)
        found[key] = one if known is None else _added(known, one)
    return tuple(found.values())


def _each(accesses: tuple[Access, ...], sites: tuple[CodeSite, ...], sums: Ints) -> Iterator[CompiledSite]:
    for number, access in enumerate(accesses):
        if access.op >= LOOP_END:
            continue
        site = sites[access.site] if access.site < len(sites) else sites[0]
        for space, name in SPACES:
            requests, cost, lanes = sums[number, space].tolist()
            if space == SHARED and access.mark >= 0:
                requests = int(sums[access.mark, SHARED, REQUESTS])
            if requests:
                place = (site.file, site.line, site.column)
                yield CompiledSite(*place, int(access.op), name, access.size, requests, cost, lanes)  # type: ignore[arg-type]  # one of both


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
