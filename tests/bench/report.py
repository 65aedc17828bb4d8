"""Run every measurement, ours and what it is compared with in turn, and print one table."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

HERE = Path(__file__).parent
ROUNDS = 3


def output(name: str, *words: str, home: str) -> Any:
    """Return what one of the scripts beside this one prints, read as JSON."""
    environment = os.environ | {"TILESCOPE_HOME": home, "QT_LOGGING_RULES": "*.warning=false"}
    if "DISPLAY" not in environment:
        environment["QT_QPA_PLATFORM"] = "offscreen"
    command = [sys.executable, str(HERE / f"{name}.py"), *words]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True, cwd=home)
    return json.loads(done.stdout)


def engines(home: str) -> None:
    """Print the traced tiled 64-cube against Numba's own simulator, each a process of its own, in turn."""
    rows = [
        (
            output("numba_simulator", home=home),
            output("engine", "lockstep", home=home),
            output("engine", "sequential", home=home),
        )
        for _ in range(ROUNDS)
    ]
    plain = median(row[0] for row in rows)
    print(f"tiled 64 x 64 x 64, median of {ROUNDS} rounds in turn")
    print(f"  Numba's simulator, recording nothing {plain:8.2f} s")
    for place, kind, least in ((1, "lockstep", 5), (2, "sequential", 12)):
        seconds = median(row[place]["seconds"] for row in rows)
        print(
            f"  traced, {kind:<28} {seconds:8.2f} s   {plain / seconds:5.1f} times faster (at least {least})"
        )
    found = output("engine", "analyse", home=home)
    count = f"{found['accesses']:,} accesses (0.3 for a million)"
    print(f"  requests, counters, findings of all  {found['seconds']:8.2f} s   {count}")
    last = rows[-1][1]
    print(f"  requests, sectors, moments of it     {last['requests']:8.2f} s   {last['accesses']:,} accesses")
    print(
        f"  bytes an access                      {last['memory']:8.1f} in memory (24), {last['disk']:.2f} on disk (3)"
    )


def windows(home: str) -> None:
    """Print how soon the window is there and moves, without and with the traces cached, and what a scrub costs."""
    starts = [output("window", "start", str(time.time()), home=home) for _ in range(1 + ROUNDS)]
    print("the window, 1600 x 900")
    print(
        f"  start to window                      {median(s['window'] for s in starts):8.2f} s   (under 1.5)"
    )
    print(
        f"  start to first animated frame        {starts[0]['animated']:8.2f} s   (under 6), nothing cached"
    )
    cached = median(s["animated"] for s in starts[1:])
    print(f"  start to first animated frame        {cached:8.2f} s   (under 2.5), traces cached")
    for step, text in ((7, "dragging, 7 moments a frame"), (0, "jumping anywhere")):
        found = output("window", "scrub", str(step), home=home)
        print(
            f"  moment to pixels, {text:<27}{found['median']:6.1f} ms median, {found['p95']:.1f} ms for 95 of 100 "
            f"(16), {found['worst']:.1f} ms worst, peak {found['megabytes']:.0f} MB"
        )


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        engines(folder)
        windows(folder)
