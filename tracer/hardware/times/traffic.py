"""Global memory traffic of measured rows: sectors counted from traces, and the file that stores them.

`python -m tilescope.tracer.hardware.times.traffic` counts the traffic of the recorded measurements and of all
default cases, and writes the file.
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

from .... import ROOT, resources
from ....kernels.scenarios import catalogue
from ...analysis.counters import counters_of
from ...analysis.request_cost import SECTOR
from ...analysis.requests import requests_of
from ...model.launch import Array, Launch, Schedule
from ...model.plan import launch_of
from ...run.worker_client import Worker
from ...storage.atomic_write import write_atomically
from .cases import cases_of, row_of
from .measurement import NEWER, Row, load, recorded_measurements

FILE: Final = "traffic.json"  # of the resources
CONTENT_PARAMETERS: Final = ("input", "a", "b")  # parameters that determine contents, not accesses
SMALL: Final = 5_000_000  # floating-point operations up to which a complete launch is traced


class Traffic(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The global sectors of one launch."""

    scenario: str  # the name in the catalogue
    parameters: dict[str, int | str]  # except those in APART
    sectors: int  # of 32 bytes, loaded and stored
    blocks: int  # that were traced; the others are equivalent

    @property
    def bytes(self) -> int:
        """The bytes of the sectors: the traffic between the multiprocessors and their memory."""
        return SECTOR * self.sectors


def traffic_of(row: Row) -> Traffic | None:
    """Return the counted traffic of a row's launch, or None."""
    return None if row.baseline else _counted_traffic().get(row_key(row.scenario, row.parameters))


@cache
def _counted_traffic() -> Mapping[object, Traffic]:
    rows = msgspec.json.decode(files(resources).joinpath(FILE).read_bytes(), type=list[Traffic])
    return {row_key(row.scenario, row.parameters): row for row in rows}


def row_key(scenario: str, parameters: Mapping[str, int | str]) -> object:
    """Return a key of a row's accesses: equal for rows that differ only in contents."""
    relevant = {n: v for n, v in parameters.items() if n not in CONTENT_PARAMETERS and NEWER.get(n) != v}
    return scenario, tuple(sorted(relevant.items()))


def count(worker: Worker, scenario: str, parameters: Mapping[str, int | str]) -> Traffic:
    """Count the sectors of a launch: of all its blocks, or of two pieces of each uniform part of the grid."""
    subject = catalogue.find(scenario)
    subject = subject.twin or subject  # which makes the same accesses
    # The sequential schedule is the fastest; without data-dependent accesses all schedules give the same count.
    launch = launch_of(subject, parameters, schedule=Schedule("sequential"))
    full = msgspec.structs.replace(launch, engine="compiled")
    plan = subject.plan(catalogue.settle(subject, parameters))
    chosen = {n: v for n, v in parameters.items() if n not in CONTENT_PARAMETERS}
    if subject.flop(plan) > SMALL and _has_sector_aligned_pieces(full):
        parts = [_part(worker, full, across, down) for down in _spans(full, 1) for across in _spans(full, 0)]
        if all(traced for _, traced in parts):
            return Traffic(scenario, chosen, sum(sectors for sectors, _ in parts), sum(n for _, n in parts))
    return Traffic(scenario, chosen, _sectors(worker, full), math.prod(full.grid))


def _spans(launch: Launch, axis: int) -> list[range]:
    """Split the grid along an axis where a side of an array ends; the parts in between are uniform."""
    width, count = _blocks_per_sector(launch), launch.grid[axis]
    sides = {side for a in launch.arguments if isinstance(a, Array) for side in a.shape}
    ends = {side // (launch.block[axis] * width) for side in sides}
    edges = sorted({0, count // width, *(end for end in ends if 0 < end < count // width)})
    return [range(first, last) for first, last in pairwise(edges)]


def _part(worker: Worker, full: Launch, across: range, down: range) -> tuple[int, int]:
    """Return the sectors of a part of the grid and the number of traced blocks, which is 0 if pieces differ."""
    width = _blocks_per_sector(full)
    corners = dict.fromkeys(((across[0], down[0]), (across[-1], down[-1])))
    counts = [
        _sectors(worker, msgspec.structs.replace(full, blocks=_piece(full, *corner))) for corner in corners
    ]
    traced = len(counts) * width**2
    return counts[0] * len(across) * len(down), traced if len(set(counts)) == 1 else 0


def _piece(launch: Launch, x: int, y: int) -> tuple[int, ...]:
    """Return the blocks of a square piece of the grid that is as wide as a sector or wider, x fastest."""
    width = _blocks_per_sector(launch)
    square = ((x * width + i, y * width + j) for j in range(width) for i in range(width))
    return tuple(i + j * launch.grid[0] for i, j in square)


def _blocks_per_sector(launch: Launch) -> int:
    """Return the least number of adjacent blocks that begin and end at a sector boundary."""
    pieces = [launch.block[0] * np.dtype(a.dtype).itemsize for a in launch.arguments if isinstance(a, Array)]
    return math.lcm(*(SECTOR // math.gcd(piece, SECTOR) for piece in pieces))


def _has_sector_aligned_pieces(launch: Launch) -> bool:
    """Return True if pieces of the grid cover complete sectors of every array, and none is cut at an edge.

    The accesses of a piece are then those of the first one, moved by complete sectors, if addresses do not depend on
    data.
    """
    width = _blocks_per_sector(launch)
    sides = [side for a in launch.arguments if isinstance(a, Array) for side in a.shape]
    is_uncut = not any(side % (max(launch.block) * width) for side in sides)
    return is_uncut and not any(count % width for count in launch.grid[:2])


def _sectors(worker: Worker, launch: Launch) -> int:
    trace = worker.run(launch)
    if trace.is_stopped:  # one block makes more accesses than can be held
        from ...run.engine import run_counted  # imported late: charts read the file without Numba

        trace = run_counted(launch)
    total = trace.totals or counters_of(trace, requests_of(trace)).total
    return sum(amount for name, amount in total.items() if name.startswith("global") and "sectors" in name)


def count_all(rows: Iterable[Row]) -> list[Traffic]:
    """Count the traffic of every kernel with arithmetic among measured rows, each launch once."""
    worker, traffic = Worker(), {}
    try:
        for row in rows:
            key = row_key(row.scenario, row.parameters)
            if row.flop and row.engine in ("numba-cuda", "cuda-c") and key not in traffic:
                traffic[key] = count(worker, row.scenario, row.parameters)
                print(traffic[key], flush=True)
    finally:
        worker.close()
    return list(traffic.values())


def main() -> None:
    """Count the traffic of all measured rows and all default cases, and write the file."""
    rows = [row for path in recorded_measurements() for row in load(path).rows if row.timings]
    rows += [row_of(case) for case in cases_of([])]
    text = msgspec.json.format(msgspec.json.encode(count_all(rows)), indent=1)
    write_atomically(ROOT / "resources" / FILE, text + b"\n")


if __name__ == "__main__":
    main()
