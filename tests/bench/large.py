"""Print, as JSON, what a large launch costs from the choice to its picture: seconds, standstill, memory.

python tests/bench/large.py SPEC      as `tilescope open` takes it: matmul-tiled:m=256,k=512,n=256,keep=all

Nothing is cached but compiled kernels. Memory is what both processes have at once, in megabytes: shared pages count
once, which only Linux reports.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

from window import main_window, wait_until

BEAT = 3  # milliseconds from one sign of life to the next
LOOK = 0.05  # seconds from one look at the memory to the next
PAINTED = 2  # beats after which what may be painted is


def megabytes(process: int) -> float:
    """Measure a process's proportional memory (PSS); 0 if it is unknown."""
    try:
        lines = Path(f"/proc/{process}/smaps_rollup").read_text(encoding="ascii").splitlines()
    except OSError:
        return 0.0
    return sum(int(line.split()[1]) for line in lines if line.startswith("Pss:")) * 1024 / 1e6


class MemoryPeak(threading.Thread):
    """Looks at the memory of some processes until `stop`."""

    def __init__(self, processes: list[int]) -> None:
        super().__init__(daemon=True)
        self.processes, self.most, self.stopped = processes, 0.0, threading.Event()

    def run(self) -> None:
        """Look again and again."""
        while not self.stopped.wait(LOOK):
            self.most = max(self.most, sum(map(megabytes, self.processes)))


def shown(spec: str, *, looks_at_memory: bool) -> dict[str, Any]:
    """Measure the cost of a launch; measuring its memory takes time, too."""
    window = main_window((spec.split(":")[0] + ":m=16,k=16,n=16",))
    from PySide6.QtCore import QEventLoop, Qt, QTimer

    from tilescope.app.control import session_jobs
    from tilescope.app.model.first_bookmark import first_bookmark

    session_jobs.PATIENCE = 600.0  # whatever else the machine has to do, the whole launch is measured
    wait_until(lambda: window.stage.is_settled() and window.stage.jobs.is_idle())
    rest = time.perf_counter() + 2  # while the worker loads what every launch needs, and all is painted
    wait_until(lambda: time.perf_counter() > rest)
    jobs = window.stage.jobs
    jobs.cache = None
    peak = MemoryPeak([os.getpid(), jobs.worker.pid])
    if looks_at_memory:
        peak.start()
    beats: list[tuple[float, float]] = []
    ends: list[float] = []  # when it was settled, then the beats since what came may be painted
    beat, loop = QTimer(interval=BEAT, timerType=Qt.TimerType.PreciseTimer), QEventLoop()

    def look() -> None:
        beats.append((time.perf_counter(), time.thread_time()))
        if ends and not window.central.is_held:
            ends.append(time.perf_counter())
        if len(ends) > PAINTED:
            loop.quit()

    beat.timeout.connect(look)
    beat.start()
    window.stage.settled.connect(lambda: ends.append(time.perf_counter()))
    begin = time.perf_counter()
    window.show_bookmark(first_bookmark((spec,), None))
    loop.exec()
    settled = time.perf_counter() - begin
    window.draw()
    window.repaint()
    results = {
        "settled": settled,
        "picture": time.perf_counter() - begin,
        "still": max(b[0] - a[0] for a, b in pairwise(beats)) - BEAT / 1000,
        "busy": max(b[1] - a[1] for a, b in pairwise(beats)),
        "accesses": len(window.stage.sessions[0].trace),
        "megabytes": peak.most,
    }
    peak.stopped.set()
    window.close()
    return results


if __name__ == "__main__":
    print(json.dumps(shown(sys.argv[1], looks_at_memory="--memory" in sys.argv[2:])))
