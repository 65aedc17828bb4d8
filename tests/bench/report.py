"""Run every measurement, ours and what it is compared with in turn, and print one table.

python tests/bench/report.py [--quick]      --quick leaves out what takes minutes

Each row ends with how many processes wanted a processor in the last minute, and with what the same row said of an
earlier revision (`before.json`), on another day and perhaps another machine.
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

from tilescope.app.cli.common.text_output import align_columns

HERE = Path(__file__).parent
ROUNDS = 5
BEFORE: dict[str, Any] = json.loads((HERE / "before.json").read_text(encoding="utf-8"))


def output(name: str, *words: str, home: str) -> Any:
    """Run one of the scripts in this folder; return its JSON output."""
    environment = os.environ | {"TILESCOPE_HOME": home, "QT_LOGGING_RULES": "*.warning=false"}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # as for most users, modules are compiled once
    if "DISPLAY" not in environment:
        environment["QT_QPA_PLATFORM"] = "offscreen"
    command = [sys.executable, str(HERE / f"{name}.py"), *words]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True, cwd=home)
    return json.loads(done.stdout)


def load() -> str:
    """Return the load average of the last minute."""
    return f"{os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "unknown"


def medians(name: str, *words: str, home: str | None) -> Any:
    """Compute the medians of a script's output over several rounds; lists are joined.

    home: None for a new one in each round, where nothing is cached.
    """
    rounds = []
    for _ in range(ROUNDS):
        with tempfile.TemporaryDirectory() as new:
            rounds.append(output(name, *words, home=home or new))
    return {key: _middle([round[key] for round in rounds]) for key in rounds[0]}


def _middle(values: list[Any]) -> Any:
    if isinstance(values[0], list):
        return [entry for value in values for entry in value]
    return median(values) if isinstance(values[0], int | float) else values[0]


def show(label: str, number: str, rest: str) -> None:
    """Print one row as soon as it is measured."""
    before = BEFORE["rows"].get(label)
    rest += f"; load {load()}" + f"; before {before}" * (before is not None)
    print("  " + align_columns([[label, number, rest]], "<><", (44, 8), " ")[0], flush=True)


def engines(home: str) -> None:
    """Print the traced tiled 64-cube against Numba's own simulator, each in a separate process, in turn."""
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
    show("Numba's simulator, recording nothing", f"{plain:.2f}", "s")
    for place, kind, least in ((1, "lockstep", 5), (2, "sequential", 12)):
        seconds = median(row[place]["seconds"] for row in rows)
        faster = f"{plain / seconds:5.1f} times faster (at least {least})"
        show(f"traced, {kind}", f"{seconds:.2f}", f"s   {faster}")
    figures = output("engine", "analyse", home=home)
    count = f"{figures['accesses']:,} accesses (0.3 for a million)"
    show("requests, counters, findings of all", f"{figures['seconds']:.2f}", f"s   {count}")
    last = rows[-1][1]
    show("requests, sectors, moments of it", f"{last['requests']:.2f}", f"s   {last['accesses']:,} accesses")
    show("bytes an access", f"{last['memory']:.1f}", f"in memory (24), {last['disk']:.2f} on disk (3)")


def compiled(home: str, *, quick: bool) -> None:
    """Print what the compiled engine costs, warm, in turn with Numba's simulator."""
    rows = [(output("numba_simulator", home=home), output("compiled", home=home)) for _ in range(ROUNDS)]
    plain, ours = (median(column) for column in zip(*((a, b["seconds"]) for a, b in rows), strict=True))
    print(f"compiled engine, tiled product, everything recorded; median of {ROUNDS} rounds in turn")
    show("64-cube: Numba's simulator", f"{plain:.3f}", "s   recording nothing")
    show("64-cube: compiled", f"{ours:.3f}", f"s   {plain / ours:5.0f} times faster (at least 300)")
    for order in ("lockstep", "random"):
        figures = medians("compiled", "64", "64", "64", "--order", order, home=home)
        _size(f"64-cube, in turns: {order}", figures, "(100)")
    _size("256-cube (0.5 s, 1,074 MB)", medians("compiled", "256", "256", "256", home=home), "(40)")
    for kind in ("cold", "cached"):
        first = medians("compiled", "--start", kind, home=home)["seconds"]
        show(f"first 64-cube of a process, {kind}", f"{first:.3f}", "s")
    _size("256 x 512 x 256", medians("compiled", "256", "512", "256", "--repeat", "1", home=home))
    for case, row in output("cores", home=home).items():
        busy = f"times as fast as on one ({row['one']:.3f} s; 1.7); processors busy {row['busy']:.2f} times as long"
        show(f"two cores: {case}", f"{row['faster']:.2f}", busy)
    if not quick:
        figures = medians("compiled", "1024", "1024", "1024", "--summary", "--repeat", "1", home=home)
        _size("1024-cube, counters alone (8 s)", figures)
        _accepted()


def _size(name: str, results: dict[str, float], asked: str = "") -> None:
    speed = f"{results['ns']:.1f} ns an access {asked}".rstrip()
    size = f"{results['accesses']:,} accesses, peak {results['megabytes']:.0f} MB"
    show(name, f"{results['seconds']:.3f}", f"s   {speed}, {size}")


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
    share = f"of {count} compiled ({1 - refused / max(1, count):.0%})"
    others = f"{refused} left to the simulator, {other} traced otherwise"
    show("kernels of numba-cuda's tests", str(count - refused), f"{share}, {others}")


CHECKS = {
    "sum": "vector sum",
    "histogram": "histogram",
    "product": "tiled product",
    "average": "300 launches",
}


def programs(home: str) -> None:
    """Print how soon `check` answers, and what a launch costs a program apart from the engine's time."""
    print(f"a program of ten lines, from `tilescope check` to its end; median of {ROUNDS}")
    for cold, kind, asked in ((["--cold"], "nothing cached", 2.5), ([], "all cached", 1.2)):
        for name, text in CHECKS.items():
            seconds = median(
                output("programs", "first", name, *cold, home=home)["seconds"] for _ in range(ROUNDS)
            )
            show(f"{text}, {kind}", f"{seconds:.2f}", f"s   ({asked})")
    print(
        f"10 launches in a program, compiled, beside the engine's part of each; median of {ROUNDS} programs"
    )
    for name, text in (("product", "tiled 64-cube"), ("sum", "sum of a million")):
        for words in ("run --quiet", "run", "check"):
            results = [output("programs", "launch", name, *words.split(), home=home) for _ in range(ROUNDS)]
            taken, own = (median(row[part] for row in results) for part in ("launch", "engine"))
            rest = f"ms   {taken / own:.1f} times the engine's {1000 * own:.1f}"
            show(f"{text}, {words}", f"{1000 * taken:.1f}", rest)


def windows(home: str) -> None:
    """Print how soon the window is there and moves, without and with the traces cached, and what a scrub costs."""
    starts = [output("window", "start", str(time.time()), home=home) for _ in range(1 + ROUNDS)]
    print(f"the window, 1600 x 900; median of {ROUNDS}")
    show("start to window", f"{median(s['window'] for s in starts):.2f}", "s   (under 0.5)")
    first, *others = (s["animated"] for s in starts)
    show("start to animated, nothing cached", f"{first:.2f}", "s   (under 6), to its first frame")
    show("start to animated, traces cached", f"{median(others):.2f}", "s   (under 0.7), to its first frame")
    for size, most in (("1600x900", 8), ("2560x1440", 12)):
        for step, text in ((7, "dragging, 7 moments a frame"), (0, "jumping anywhere")):
            figures = medians("window", "scrub", str(step), size, home=home)
            slower = f"{figures['p95']:.1f} ms for 95 of 100 ({most}), {figures['worst']:.1f} ms worst"
            busy = f"of the processor {figures['processor']:.1f} and {figures['processor p95']:.1f}"
            rest = f"ms median, {slower}, {busy}, peak {figures['megabytes']:.0f} MB"
            show(f"{size}, {text}", f"{figures['median']:.1f}", rest)


LARGE = {
    "256-cube, all kept": ("matmul-tiled:m=256,k=256,n=256,keep=all", "", ""),
    "256 x 512 x 256, all kept": ("matmul-tiled:m=256,k=512,n=256,keep=all", " (2.5)", " (2,000)"),
    "4096-cube, one block": ("matmul-tiled:m=4096,k=4096,n=4096,blocks=0", " (1.5)", ""),
}


def large(home: str, *, quick: bool) -> None:
    """Print how soon large launches are on screen, what of that the window stands still, and the memory of both."""
    print(f"large launches in the window, nothing cached but kernels; median of {ROUNDS}")
    for name, (spec, asked, room) in LARGE.items():
        if quick and "512" in name:
            continue
        results = [output("large", spec, home=home) for _ in range(ROUNDS)]
        most = output("large", spec, "--memory", home=home)["megabytes"]
        still, busy = (1000 * median(f[kind] for f in results) for kind in ("still", "busy"))
        rest = (
            f"s{asked}, still for {still:.0f} ms (50), busy for {busy:.0f} ms of them, {most:,.0f} MB{room}"
        )
        show(name, f"{median(f['picture'] for f in results):.2f}", rest)


EXPORTS = {
    "64-cube": ("matmul-tiled:m=64,k=64,n=64", ("csv", "parquet", "pftrace")),
    "256 x 512 x 256": ("matmul-tiled:m=256,k=512,n=256,keep=all", ("csv", "parquet")),
}


def exports(home: str, *, quick: bool) -> None:
    """Print what `tilescope export` takes for a trace file, the memory of all of its process, and the size."""
    print("tilescope export of a saved trace, a process each (80 million rows within 1,000 MB)")
    for name, (spec, endings) in EXPORTS.items():
        if quick and name != "64-cube":
            continue
        figures = output("exports", spec, *endings, home=home)
        show(
            f"{name}, as it is saved",
            f"{figures['bytes'] / 1e6:.1f}",
            f"MB   {figures['accesses']:,} accesses",
        )
        for ending in endings:
            cost = figures[ending]
            busy = f"of the processor {cost['processor']:.1f}, peak {cost['megabytes']:,.0f} MB"
            rest = f"s   {busy}, a file of {cost['bytes'] / 1e6:,.1f} MB"
            show(f"{name}, {ending}", f"{cost['seconds']:.1f}", rest)


def typing(home: str) -> None:
    """Print what a key costs in a kernel's file of 2,000 lines."""
    figures = output("window", "typing", "2000", home=home)
    slower = f"{figures['p95']:.1f} ms for 95 of 100, {figures['worst']:.1f} ms worst"
    show("key to pixels, file of 2,000 lines", f"{figures['median']:.1f}", f"ms median, {slower}")


def cells(home: str) -> None:
    """Print how large the cells of the pictures are, in the layout of a lecture and in the ordinary one."""
    figures = output("window", "cells", "0", home=home)
    print("size of a cell, 16 x 16 product beside its tiled form, 1920 x 1080, with a caption of two lines")
    for layout, asked in (("lecture", " (24)"), ("ordinary", "")):
        values = f"px{asked}, {figures[layout]['values']:,} of 1,664 values written"
        show(f"{layout} layout", f"{figures[layout]['side']:.0f}", values)


def lectures(home: str) -> None:
    """Print how soon a key shows the next step of a lecture, once its first is shown."""
    output("window", "lectures", "0", home=home)  # which fills the cache, as `tilescope lecture --check` does
    figures = output("window", "lectures", "0", home=home)
    print(f"the {figures['steps']} steps of the shipped lectures, 1920 x 1080, from a key to the picture")
    slower = f"{figures['p95']:.0f} ms for 95 of 100 (100), {figures['worst']:.0f} ms worst"
    show("key to picture", f"{figures['median']:.0f}", f"ms median, {slower}")


def changes() -> None:
    """Print how soon the window shows the 64-cube comparison at another size, or with another tile."""
    figures = medians("window", "change", "0", home=None)
    print("another size or tile, until both panes are drawn and analysed")
    for kind, asked in (("compiled", "0.15"), ("new", "0.15")):
        times = figures[kind]
        text = "another size" if kind == "compiled" else "another tile"
        worst = f"{max(times):.3f} s worst (under {asked})"
        still = f"the window stood still for {1000 * figures[f'{kind} still']:.0f} ms at most"
        show(text, f"{median(times):.3f}", f"s median, {worst}; {still}")


def edits(home: str) -> None:
    """Print how soon the session of an edited kernel is ready, without the window that draws it."""
    figures = output("edits", "20", home=home)
    print("an edited kernel, tiled 64-cube, from the launch to its session; 20 of each")
    rows = {
        "cached": ("compiled before", " (300)"),
        "recompiled": ("recompiled", " (500)"),
        "struck": ("barrier struck out, shown early", " (300)"),
        "final": ("barrier struck out, in lockstep", ""),
    }
    for kind, (text, asked) in rows.items():
        times = sorted(figures[kind])
        rest = f"ms median, {times[int(len(times) * 0.95) - 1]:.0f} ms for 95 of 100{asked}, {times[-1]:.0f} ms worst"
        show(text, f"{median(times):.0f}", rest)


def editing(home: str) -> None:
    """Print how soon the window shows an edited kernel, from Ctrl+Enter and from a click in the gutter."""
    figures = output("editing", "6", home=home)
    print("an edit in the window, tiled 64-cube, until the new version is painted")
    rows = {
        "compiled": ("Ctrl+Enter, compiled before", "0.3"),
        "recompiled": ("Ctrl+Enter, recompiled", "0.5"),
        "struck": ("click, a barrier struck out", "0.3"),
        "back": ("click, it is put back", "0.3"),
    }
    for kind, (text, asked) in rows.items():
        times = sorted(figures[kind])
        rest = f"s median, {times[int(len(times) * 0.95) - 1]:.3f} s for 95 of 100 ({asked}), {times[-1]:.3f} s worst"
        show(text, f"{median(times):.3f}", rest)


def recordings(home: str) -> None:
    """Print how fast the 64-cube comparison is recorded, and how large five seconds of it are in each format."""
    print("five seconds of the 64-cube comparison recorded, 1920 x 1080; frames a second")
    for suffix in (".mp4", ".webm", ".gif", ".webp", "png"):
        figures = output("recording", suffix, home=home)
        asked = " (20)" if suffix == ".mp4" else ""
        each = f"{figures['draw']:.0f} + {figures['write']:.0f} ms a frame"
        rest = f"on two free processors{asked}, {each}; {figures['rate']:.0f} just now"
        size = f"{figures['bytes'] / 1e6:.2f} MB for {figures['frames']} frames"
        size += f", {figures['expected'] / 1e6:.2f} expected"
        show(f"recorded as {suffix}", f"{figures['free']:.0f}", f"{rest}; {size}")


DRAGS = {
    "cached": "ten sizes, traces cached",
    "traced": "ten sizes, kernel compiled",
    "compiled": "eight paddings, to and fro",
    "new": "eight paddings, the first time",
    "both": "ten sizes, the naive one beside it",
}


def drags(home: str) -> None:
    """Print how many pictures a second come while a parameter of the tiled 64-cube is dragged."""
    figures = output("window", "drag", "0", home=home)
    print("a drag, tiled 64 x 64 x 64, the next value as soon as one is painted")
    for kind, text in DRAGS.items():
        drag = figures[kind]
        still = f"{1000 * drag['still']:.0f} ms at most"
        show(
            text,
            f"{drag['a second']:.1f}",
            f"pictures a second (at least 5); the window stood still for {still}",
        )


def cuda_cpp(home: str) -> None:
    """Print what programs in CUDA C++ cost, from the text to the trace."""
    print(f"CUDA C++, naive product, from the text to the trace; median of {ROUNDS}")
    for size, order, asked in (
        ("64", "sequential", "10"),
        ("64", "lockstep", "60"),
        ("256", "sequential", ""),
    ):
        figures = medians("cuda_cpp", size, order, home=home)
        limit = f"({asked} ns)" if asked else "(1.5 s in all)"
        rest = f"s   {figures['ns']:.0f} ns an access {limit}, {figures['accesses']:,} accesses"
        show(f"{size}-cube, {order}", f"{figures['traced']:.2f}", rest)
        show(f"{size}-cube, {order}, edited", f"{figures['edit']:.2f}", "s   (0.5 for a 64-cube)")
    for kept, text in (("0", "only counted"), ("12000000", "as many kept as usual")):
        figures = medians("cuda_cpp", "256", "sequential", kept, home=home)
        ratio = figures["traced"] / figures["numba"]
        show(
            f"256-cube, {text}",
            f"{ratio:.2f}",
            f"times the seconds of Numba's kernel; {figures['traced']:.2f} s",
        )


REPLAYS = {
    "64-cube, naive beside tiled": ("matmul-naive-col-on-x matmul-tiled", 10),
    "lecture of 16 steps": ("tiling", 15),
}


def replays(home: str) -> None:
    """Print how large replays are, what it takes to write them, and how fast a browser draws them."""
    print("replays, one file each; pictures in Chromium, drawn by the processor, 1280 x 800 at 2x")
    for name, (label, most) in REPLAYS.items():
        figures = output("replay", *label.split(), home=home)
        rest = f"MB ({most}), written in {figures['seconds']:.0f} s of the processor, {figures['moments']:,} moments"
        if "open" in figures:
            drawn = f"{figures['played']:.1f} ms a picture in order, {figures['jumped']:.1f} ms anywhere"
            rest += f", opened in {figures['open']:.1f} s, {drawn}"
        show(name, f"{figures['megabytes']:.1f}", rest)


if __name__ == "__main__":
    print(f"before: revision {BEFORE['revision']}, {BEFORE['about']}")
    with tempfile.TemporaryDirectory() as folder:
        compiled(folder, quick="--quick" in sys.argv[1:])
        engines(folder)
        programs(folder)
        windows(folder)
        large(folder, quick="--quick" in sys.argv[1:])
        exports(folder, quick="--quick" in sys.argv[1:])
        typing(folder)
        cells(folder)
        lectures(folder)
        changes()
        edits(folder)
        editing(folder)
        drags(folder)
        recordings(folder)
        cuda_cpp(folder)
        replays(folder)
