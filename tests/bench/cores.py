"""Print, as JSON, how many times faster several cores trace a launch than one: the medians of both in turn.

python tests/bench/cores.py [--cores 2] [--repeat 5]      of the tiled 256-cube and of a vector, kept and counted
"""

from __future__ import annotations

import argparse
import json
import os
import time
from statistics import median
from typing import Any

from tilescope.tracer.processes.json_process import BLAS_ENVIRONMENT

os.environ |= {"NUMBA_ENABLE_CUDASIM": "1"} | BLAS_ENVIRONMENT  # as in the worker

import msgspec

from tilescope.kernels.scenarios.catalogue import find
from tilescope.tracer.compiled.driver import parallel_run
from tilescope.tracer.compiled.driver.engine import run_compiled
from tilescope.tracer.model.launch import Launch, Limits, Schedule
from tilescope.tracer.model.plan import launch_of

CASES = {
    "tiled 256-cube": ("matmul-tiled", {"m": 256, "k": 256, "n": 256}),
    "vector": ("vector-double", {"count": 1 << 23}),
}
KEPT = 100_000_000


def launch(name: str, values: dict[str, Any], kept: int) -> Launch:
    """Return a launch of which so many accesses are kept."""
    launch = launch_of(find(name), values, schedule=Schedule("sequential"))
    return msgspec.structs.replace(launch, limits=Limits(accesses=kept))


def seconds(launch: Launch, cores: int) -> tuple[float, float]:
    """Measure the seconds of a trace on a number of cores, and its processor time."""
    parallel_run.cores = lambda: cores
    begin, busy = time.perf_counter(), time.process_time()
    run_compiled(launch, lambda done, total: None)
    return time.perf_counter() - begin, time.process_time() - busy


def compared(launch: Launch, cores: int, repeat: int) -> dict[str, float]:
    """Return the medians on one core and on several, in turn, after one of each has loaded what they need."""
    rows = [(seconds(launch, 1), seconds(launch, cores)) for _ in range(1 + repeat)][1:]
    item, several = ([row[i][0] for row in rows] for i in (0, 1))
    faster = median(a / b for a, b in zip(item, several, strict=True))
    more = median(row[1][1] / row[0][1] for row in rows)
    return {"one": median(item), "several": median(several), "faster": faster, "busy": more}


def main() -> None:
    """Measure each case, kept and counted."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--repeat", type=int, default=5)
    given = parser.parse_args()
    results = {
        f"{case}, {label}": compared(launch(*total, kept), given.cores, given.repeat)
        for case, total in CASES.items()
        for label, kept in (("kept", KEPT), ("counters alone", 0))
    }
    print(json.dumps(results))


if __name__ == "__main__":
    main()
