"""Print, as JSON, what a traced tiled 64-cube costs: seconds by schedule, and bytes an access."""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from pathlib import Path

os.environ["NUMBA_ENABLE_CUDASIM"] = "1"

from tilescope.kernels.scenarios.catalogue import find
from tilescope.tracer.analysis.counters import counters_of
from tilescope.tracer.analysis.requests import requests_of
from tilescope.tracer.findings.all_findings import findings_of
from tilescope.tracer.model.launch import Launch, Schedule
from tilescope.tracer.model.plan import launch_of
from tilescope.tracer.model.trace import Trace
from tilescope.tracer.simulator.numba_patch import run
from tilescope.tracer.storage.trace_file import save


def trace(launch: Launch) -> tuple[Trace, float]:
    """Return the trace of a launch and the seconds it took."""
    begin = time.perf_counter()
    trace = run(launch, lambda done, total: None)
    return trace, time.perf_counter() - begin


def measure(kind: str) -> dict[str, float]:
    """Return seconds to trace and to analyse, and bytes an access in memory and in a file."""
    launch = launch_of(find("matmul-tiled"), {}, schedule=Schedule(kind))  # type: ignore[arg-type]
    launch_trace, seconds = trace(launch)
    begin = time.perf_counter()
    requests_of(launch_trace)
    analysed = time.perf_counter() - begin
    with tempfile.TemporaryDirectory() as folder:
        save(launch_trace, Path(folder) / "trace.npz")
        size = (Path(folder) / "trace.npz").stat().st_size
    return {
        "seconds": seconds, "requests": analysed, "accesses": len(launch_trace),
        "memory": launch_trace.nbytes / len(launch_trace),
        "disk": size / len(launch_trace),
    }  # fmt: skip


def analyse() -> dict[str, float]:
    """Return the seconds that all analyses of about a million accesses take."""
    launch, _ = trace(launch_of(find("matmul-naive-col-on-x"), {"m": 80, "k": 80, "n": 80}))
    begin = time.perf_counter()
    requests = requests_of(launch)
    counters_of(launch, requests)
    findings_of(launch, requests)
    return {"seconds": time.perf_counter() - begin, "accesses": len(launch)}


if __name__ == "__main__":
    trace(launch_of(find("matmul-tiled"), {"m": 8, "k": 8, "n": 8, "tile": 8}))
    print(json.dumps(analyse() if sys.argv[1] == "analyse" else measure(sys.argv[1])))
