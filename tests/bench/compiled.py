"""Print, as JSON, what the compiled engine costs: seconds, nanoseconds an access, megabytes at most.

python tests/bench/compiled.py M K N [--repeat 5]      trace matmul-tiled of this size, all accesses kept
python tests/bench/compiled.py M K N --summary         the same, but only its counters are kept
python tests/bench/compiled.py M K N --order lockstep  the same in lockstep or random, many blocks at once
python tests/bench/compiled.py --start cold|cached     first trace of a process: compiled, or read from disk
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from statistics import median_low as median
from typing import Any

from tilescope.tracer.processes.json_process import BLAS_ENVIRONMENT

os.environ |= {"NUMBA_ENABLE_CUDASIM": "1"} | BLAS_ENVIRONMENT  # as in the worker

import msgspec

from tilescope.kernels.scenarios.catalogue import find
from tilescope.tracer.model.launch import Launch, Limits, Schedule
from tilescope.tracer.model.plan import launch_of


def launch(m: int, k: int, n: int, kept: int = 100_000_000, order: str = "sequential") -> Launch:
    """Return the tiled product of this size, with room for every access, or none."""
    launch = launch_of(find("matmul-tiled"), {"m": m, "k": k, "n": n}, schedule=Schedule(order, 1))
    return msgspec.structs.replace(launch, limits=Limits(accesses=kept), resident=None)


def seconds(launch_trace: Launch) -> tuple[float, int]:
    """Measure the seconds of a trace, and count its accesses."""
    from tilescope.tracer.compiled.driver.engine import run_compiled

    begin = time.perf_counter()
    trace = run_compiled(
        launch_trace, lambda done, total: None, turns=launch_trace.schedule.kind != "sequential"
    )
    return time.perf_counter() - begin, trace.accesses


def size(m: int, k: int, n: int, repeat: int, kept: int, order: str) -> dict[str, Any]:
    """Return the median of some traces of one size, after one has loaded what each of them needs."""
    seconds(launch(16, 16, 16, kept, order))
    taken, accesses = median(seconds(launch(m, k, n, kept, order)) for _ in range(repeat))
    each = taken / accesses * 1e9
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else float("nan")
    return {
        "size": [m, k, n], "seconds": taken, "accesses": accesses, "ns": each, "megabytes": peak(), "load": load,
    }  # fmt: skip


def peak() -> float:
    """Return the most memory that this process has had, in megabytes."""
    if sys.platform == "win32":
        return float("nan")
    import resource

    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6


def start(kind: str) -> dict[str, Any]:
    """Return the seconds of the first trace in a process, imports left out."""
    with tempfile.TemporaryDirectory() as home:
        environment = os.environ | {"TILESCOPE_HOME": home}
        command = [sys.executable, __file__, "--first"]
        for _ in range(2 if kind == "cached" else 1):
            done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return {"start": kind, **json.loads(done.stdout)}


def first() -> dict[str, Any]:
    """Return the seconds of this process's first trace; what numba loads for any kernel is loaded before."""
    import numba

    numba.njit(lambda x: x + 1)(1)
    begin = time.perf_counter()
    from tilescope.tracer.compiled.driver import engine

    imported = time.perf_counter() - begin
    return {"import": imported, "seconds": seconds(launch(64, 64, 64))[0], "engine": engine.__name__}


def main() -> None:
    """Do what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("size", nargs="*", type=int, default=[64, 64, 64])
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--summary", action="store_true")
    parser.add_argument("--order", choices=("sequential", "lockstep", "random"), default="sequential")
    parser.add_argument("--start", choices=("cold", "cached"))
    parser.add_argument("--first", action="store_true")
    given = parser.parse_args()

    def measured() -> dict[str, Any]:
        kept = 0 if given.summary else 100_000_000
        return size(*given.size, repeat=given.repeat, kept=kept, order=given.order)

    if given.first:
        print(json.dumps(first()))
    else:
        print(json.dumps(start(given.start) if given.start else measured()))


if __name__ == "__main__":
    main()
