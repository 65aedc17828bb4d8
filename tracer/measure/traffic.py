"""Global memory traffic of measured rows: sectors counted from traces, and the file that keeps them.

`python -m tilescope.tracer.measure.traffic` counts them anew for the recorded measurements and writes the file.
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
from .measurement import Row, load, recorded

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
    return None if row.baseline else _known().get(_key(row.scenario, row.parameters))


@cache
def _known() -> Mapping[object, Traffic]:
    rows = msgspec.json.decode(files(resources).joinpath(FILE).read_bytes(), type=list[Traffic])
    return {_key(row.scenario, row.parameters): row for row in rows}


def _key(scenario: str, parameters: Mapping[str, int | str]) -> object:
    return scenario, tuple(sorted((n, v) for n, v in parameters.items() if n not in APART))


def count(worker: Worker, scenario: str, parameters: Mapping[str, int | str]) -> Traffic:
    """Count the sectors of a launch: of all its blocks, or of two from each part of the grid that is alike."""
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
    """Return the blocks along an axis, parted where a side of an array ends: in between they are alike."""
    sides = {side for a in launch.arguments if isinstance(a, Array) for side in a.shape}
    ends = {side // launch.block[axis] for side in sides}
    edges = sorted({0, launch.grid[axis], *(end for end in ends if 0 < end < launch.grid[axis])})
    return [range(first, last) for first, last in pairwise(edges)]


def _part(worker: Worker, full: Launch, across: range, down: range) -> tuple[int, int]:
    """Return the sectors of a part of the grid and the blocks traced for them, which are 0 where blocks differ."""
    corners = dict.fromkeys((x + y * full.grid[0] for x, y in ((across[0], down[0]), (across[-1], down[-1]))))
    counts = [_sectors(worker, msgspec.structs.replace(full, blocks=(block,))) for block in corners]
    return counts[0] * len(across) * len(down), len(counts) if len(set(counts)) == 1 else 0


def _in_whole_sectors(launch: Launch) -> bool:
    """Return whether a block's part of every array begins where a sector does, and none is cut at an edge.

    A block's accesses are then those of the first block moved by whole sectors, in kernels whose addresses
    do not depend on data.
    """
    for array in (a for a in launch.arguments if isinstance(a, Array)):
        piece = launch.block[0] * np.dtype(array.dtype).itemsize
        if piece % SECTOR or any(side % max(launch.block) for side in array.shape):
            return False
    return True


def _sectors(worker: Worker, launch: Launch) -> int:
    trace = worker.run(launch)
    total = counters_of(trace, requests_of(trace)).total
    return sum(amount for name, amount in total.items() if name.startswith("global") and "sectors" in name)


def count_all(rows: Iterable[Row]) -> list[Traffic]:
    """Count the traffic of every kernel among measured rows that has arithmetic, each launch once."""
    worker, found = Worker(), {}
    try:
        for row in rows:
            key = _key(row.scenario, row.parameters)
            if row.flop and row.timings and row.engine in ("numba-cuda", "cuda-c") and key not in found:
                found[key] = count(worker, row.scenario, row.parameters)
                print(found[key], flush=True)
    finally:
        worker.close()
    return list(found.values())


def main() -> None:
    """Count the traffic of all recorded measurements and write the file."""
    rows = [row for path in recorded() for row in load(path).rows]
    text = msgspec.json.format(msgspec.json.encode(count_all(rows)), indent=1)
    write_atomically(ROOT / "resources" / FILE, text + b"\n")


if __name__ == "__main__":
    main()
