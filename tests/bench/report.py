"""Run every measurement, ours and what it is compared with in turn, and print one table.

python tests/bench/report.py [--quick]      --quick leaves out what takes minutes
"""

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


def compiled(home: str, *, quick: bool) -> None:
    """Print what the compiled engine costs, warm, beside Numba's own simulator in turn."""
    rows = [(output("numba_simulator", home=home), output("compiled", home=home)) for _ in range(ROUNDS)]
    plain, ours = (median(column) for column in zip(*((a, b["seconds"]) for a, b in rows), strict=True))
    print(f"compiled engine, tiled product, everything recorded; median of {ROUNDS} rounds in turn")
    print(f"  64-cube: Numba's simulator           {plain:8.3f} s   recording nothing")
    print(
        f"  64-cube: compiled                    {ours:8.3f} s   {plain / ours:5.0f} times faster (at least 300)"
    )
    _size("256-cube", output("compiled", "256", "256", "256", home=home), "(40)")
    for kind in ("cold", "cached"):
        first = output("compiled", "--start", kind, home=home)["seconds"]
        print(f"  first 64-cube of a process, {kind:<8} {first:8.3f} s")
    _size("256 x 512 x 256", output("compiled", "256", "512", "256", "--repeat", "1", home=home))
    if not quick:
        found = output("compiled", "1024", "1024", "1024", "--summary", "--repeat", "1", home=home)
        _size("1024-cube, counters alone", found)
        _accepted()


def _size(name: str, found: dict[str, float], asked: str = "") -> None:
    print(
        f"  {name:<36} {found['seconds']:8.3f} s   {found['ns']:.1f} ns an access {asked}".rstrip()
        + f", {found['accesses']:,} accesses, peak {found['megabytes']:.0f} MB"
    )


def _accepted() -> None:
    """Print how many of the kernels in numba-cuda's tests are compiled; the simulator runs the others."""
    command = [sys.executable, str(HERE.parent / "peer" / "compiled_kernels.py")]
    environment = os.environ | {"PYTHONPATH": str(Path(sys.prefix) / "peer")}
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False, env=environment)
    kernels = json.loads(done.stdout)["kernels"] if done.stdout else {}
    count, refused = sum(kernels.values()), kernels.get("refused", 0)
    if not count:
        print("  kernels of numba-cuda's tests: none, since numba-cuda, filecheck or psutil is not installed")
        return
    other = count - refused - kernels.get("same", 0)
    print(
        f"  kernels of numba-cuda's tests        {count - refused:8} of {count} compiled "
        f"({1 - refused / max(1, count):.0%}), {refused} left to the simulator, {other} traced otherwise"
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


def changes(home: str) -> None:
    """Print how soon the window shows the 64-cube comparison at another size, or with another tile."""
    found = output("window", "change", "0", home=home)
    print("another size or tile, until both panes are drawn and analysed")
    for kind, asked in (("compiled", "0.3"), ("new", "2")):
        times = found[kind]
        text = "kernels compiled" if kind == "compiled" else "kernels not compiled yet"
        print(
            f"  {text:<36} {median(times):8.3f} s median, {max(times):.3f} s worst (under {asked}); "
            f"the window stood still for {1000 * found[f'{kind} still']:.0f} ms at most"
        )


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        compiled(folder, quick="--quick" in sys.argv[1:])
        engines(folder)
        windows(folder)
        changes(folder)
