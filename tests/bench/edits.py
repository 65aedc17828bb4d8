"""Print, as JSON, how soon an edited kernel's session is ready: the tiled product, 64-cube, asked of SessionJobs.

python tests/bench/edits.py ROUNDS

Milliseconds, of each round one: `cached`, a kernel that was compiled before; `recompiled`, one that Numba recompiles;
`struck`, a barrier struck out whose kernel was compiled ahead, until it is shown early; `final`, until lockstep's order
is there.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from tilescope.kernels.scenarios.catalogue import find
from tilescope.tracer.model.launch import Launch
from tilescope.tracer.model.plan import launch_of

BARRIER = "        cuda.syncthreads()\n"
PEACE = 3.0  # seconds in which what is asked for ahead is compiled


def edited(number: int) -> Launch:
    """Return the tiled 64-cube with another number in its text, which compiles to other code."""
    launch = launch_of(find("matmul-tiled"), {"m": 64, "k": 64, "n": 64, "tile": 16})
    text = launch.source.replace(
        "    total = DTYPE(0)\n    for step", f"    total = DTYPE(0 * {number})\n    for step"
    )
    assert text != launch.source
    return msgspec.structs.replace(launch, source=text)


def without_barrier(launch: Launch, number: int) -> Launch:
    """Return a launch without the first (0) or the second (1) barrier of the tiled product."""
    head, tail = launch.source.split("def tiled")
    parts = tail.split(BARRIER)
    parts[number : number + 2] = ["".join(parts[number : number + 2])]
    return msgspec.structs.replace(launch, source=f"{head}def tiled{BARRIER.join(parts)}")


def seconds(jobs: Any, launch: Launch) -> dict[str, float]:
    """Return the seconds until a launch's session is shown early, if it is, and until it is ready."""
    results: dict[str, float] = {}
    begin = time.perf_counter()

    def note(kind: str) -> Callable[[object], None]:
        return lambda session: results.setdefault(kind, time.perf_counter() - begin)  # type: ignore[func-returns-value]

    jobs.load(launch, early=True).watch(note("ready"), note("failed"), early=note("early"))
    _wait(lambda: "ready" in results)
    _wait(jobs.is_idle)
    return results


def _wait(done: Callable[[], bool], least: float = 0.0) -> None:
    from PySide6.QtWidgets import QApplication

    begin = time.perf_counter()
    while not done() or time.perf_counter() - begin < least:
        QApplication.processEvents()
        time.sleep(0.001)


def measure(rounds: int) -> dict[str, list[float]]:
    """Return the milliseconds of each kind, one a round."""
    from tilescope.app.control.session_jobs import SessionJobs
    from tilescope.app.window.start import application
    from tilescope.tracer.run.worker_client import Worker
    from tilescope.tracer.storage.trace_cache import TraceCache

    application()
    with tempfile.TemporaryDirectory() as folder:
        jobs = SessionJobs(Worker(), TraceCache(Path(folder)))
        first = time.time_ns() % 1_000_000_000  # kernels that no run of this script has compiled
        seconds(jobs, edited(first))
        jobs.compile_ahead([edited(first)])
        _wait(lambda: True, PEACE)
        results: dict[str, list[float]] = {"recompiled": [], "cached": [], "struck": [], "final": []}
        for number in range(first + 1, first + 1 + rounds):
            launch = edited(number)
            results["recompiled"].append(1000 * seconds(jobs, launch)["ready"])
            again = msgspec.structs.replace(
                launch, source=launch.source + "\n# another text, the same kernel\n"
            )
            results["cached"].append(1000 * seconds(jobs, again)["ready"])
            struck = without_barrier(launch, number % 2)
            jobs.compile_ahead([struck])
            _wait(lambda: True, PEACE)
            shown = seconds(jobs, struck)
            results["struck"].append(1000 * shown.get("early", shown["ready"]))
            results["final"].append(1000 * shown["ready"])
        jobs.close()
    return results


if __name__ == "__main__":
    print(json.dumps(measure(int(sys.argv[1]))))
