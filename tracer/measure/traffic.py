"""Global memory traffic of measured rows: sectors counted from traces, and the file that keeps them.

`python -m tilescope.tracer.measure.traffic` counts them anew, for the recorded measurements and for all that is
measured where nothing else is asked for, and writes the file.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.resources import files
from itertools import pairwise
from typing import Final

import msgspec
import numpy as np

from ... import ROOT, resources
from ...kernels.scenarios import catalogue
from ..analysis.counters import counters_of
from ..analysis.request_cost import SECTOR
from ..analysis.requests import requests_of
from ..model.launch import Array, Launch, Schedule
from ..model.plan import launch_of
from ..run.worker_client import Worker
from ..storage.atomic_write import write_atomically
from .cases import cases_of, row_of
from .measurement import NEWER, Row, load, recorded

FILE: Final = "traffic.json"  # of the resources
APART: Final = ("input", "a", "b")  # parameters that say what the elements are, not which are accessed
SMALL: Final = 5_000_000  # floating-point operations up to which a launch is traced whole


class Traffic(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The global sectors of one launch."""

    scenario: str  # the catalogue's name of it
    parameters: dict[str, int | str]  # but those in APART
    sectors: int  # of 32 bytes, loaded and stored
    blocks: int  # that were traced; the others do as these

    @property
    def bytes(self) -> int:
        """What the sectors hold: the traffic between the multiprocessors and their memory, in bytes."""
        return SECTOR * self.sectors


def traffic_of(row: Row) -> Traffic | None:
    """Return the counted traffic of a row's launch, None where nobody has counted it."""
    return None if row.baseline else _known().get(row_key(row.scenario, row.parameters))


@cache
def _known() -> Mapping[object, Traffic]:
    rows = msgspec.json.decode(files(resources).joinpath(FILE).read_bytes(), type=list[Traffic])
    return {row_key(row.scenario, row.parameters): row for row in rows}


def row_key(scenario: str, parameters: Mapping[str, int | str]) -> object:
    """Return what the accesses of a measured row follow from: equal for rows that differ in their elements alone."""
    told = {n: v for n, v in parameters.items() if n not in APART and NEWER.get(n) != v}
    return scenario, tuple(sorted(told.items()))


def count(worker: Worker, scenario: str, parameters: Mapping[str, int | str]) -> Traffic:
    """Count the sectors of a launch: of all its blocks, or of two pieces of each part of the grid that is alike."""
    found = catalogue.find(scenario)
    # Thread by thread is the fastest order, and in a kernel without data-dependent accesses as good as any.
    launch = launch_of(found, parameters, schedule=Schedule("sequential"))
    full = msgspec.structs.replace(launch, engine="compiled")
    plan = found.plan(catalogue.settle(found, parameters))
    chosen = {n: v for n, v in parameters.items() if n not in APART}
    if found.flop(plan) > SMALL and _in_whole_sectors(full):
        parts = [_part(worker, full, across, down) for down in _spans(full, 1) for across in _spans(full, 0)]
        if all(traced for _, traced in parts):
            return Traffic(scenario, chosen, sum(sectors for sectors, _ in parts), sum(n for _, n in parts))
    return Traffic(scenario, chosen, _sectors(worker, full), math.prod(full.grid))


def _spans(launch: Launch, axis: int) -> list[range]:
    """Return the pieces of the grid along an axis, parted where a side of an array ends: in between they are alike."""
    width, count = _blocks_a_sector(launch), launch.grid[axis]
    sides = {side for a in launch.arguments if isinstance(a, Array) for side in a.shape}
    ends = {side // (launch.block[axis] * width) for side in sides}
    edges = sorted({0, count // width, *(end for end in ends if 0 < end < count // width)})
    return [range(first, last) for first, last in pairwise(edges)]


def _part(worker: Worker, full: Launch, across: range, down: range) -> tuple[int, int]:
    """Return the sectors of a part of the grid and the blocks traced for them, which are 0 where pieces differ."""
    width = _blocks_a_sector(full)
    corners = dict.fromkeys(((across[0], down[0]), (across[-1], down[-1])))
    counts = [_sectors(worker, msgspec.structs.replace(full, blocks=_piece(full, *at))) for at in corners]
    traced = len(counts) * width**2
    return counts[0] * len(across) * len(down), traced if len(set(counts)) == 1 else 0


def _piece(launch: Launch, x: int, y: int) -> tuple[int, ...]:
    """Return the blocks of a piece of the grid, a square as wide as a sector or wider, x fastest."""
    width = _blocks_a_sector(launch)
    square = ((x * width + i, y * width + j) for j in range(width) for i in range(width))
    return tuple(i + j * launch.grid[0] for i, j in square)


def _blocks_a_sector(launch: Launch) -> int:
    """Return how many blocks side by side begin where a sector does and end so: 1, or more of narrow ones."""
    pieces = [launch.block[0] * np.dtype(a.dtype).itemsize for a in launch.arguments if isinstance(a, Array)]
    return math.lcm(*(SECTOR // math.gcd(piece, SECTOR) for piece in pieces))


def _in_whole_sectors(launch: Launch) -> bool:
    """Return whether the grid is made of pieces whose parts of every array are whole sectors, none cut at an edge.

    The accesses of a piece are then those of the first one moved by whole sectors, in kernels whose addresses
    do not depend on data.
    """
    width = _blocks_a_sector(launch)
    sides = [side for a in launch.arguments if isinstance(a, Array) for side in a.shape]
    whole = not any(side % (max(launch.block) * width) for side in sides)
    return whole and not any(count % width for count in launch.grid[:2])


def _sectors(worker: Worker, launch: Launch) -> int:
    trace = worker.run(launch)
    if trace.is_stopped:  # one block makes more accesses than may be held
        from ..run.engine import run_counted  # charts read the file without Numba

        trace = run_counted(launch)
    total = trace.totals or counters_of(trace, requests_of(trace)).total
    return sum(amount for name, amount in total.items() if name.startswith("global") and "sectors" in name)


def count_all(rows: Iterable[Row]) -> list[Traffic]:
    """Count the traffic of every kernel among measured rows that has arithmetic, each launch once."""
    worker, found = Worker(), {}
    try:
        for row in rows:
            key = row_key(row.scenario, row.parameters)
            if row.flop and row.engine in ("numba-cuda", "cuda-c") and key not in found:
                found[key] = count(worker, row.scenario, row.parameters)
                print(found[key], flush=True)
    finally:
        worker.close()
    return list(found.values())


def main() -> None:
    """Count the traffic of all rows that were measured, or will be elsewhere, and write the file."""
    rows = [row for path in recorded() for row in load(path).rows if row.timings]
    rows += [row_of(case) for case in cases_of([])]
    text = msgspec.json.format(msgspec.json.encode(count_all(rows)), indent=1)
    write_atomically(ROOT / "resources" / FILE, text + b"\n")


if __name__ == "__main__":
    main()
