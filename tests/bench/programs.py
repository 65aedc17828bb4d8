"""Print, as JSON, what `tilescope check` and `run` cost a program.

python tests/bench/programs.py first NAME [--cold]     seconds of a complete `check`, with all cached or nothing
python tests/bench/programs.py launch NAME WORD ...    of a launch under `tilescope WORD ...`: all of it, and the
                                                       compiled engine's part, medians in seconds

NAME is one of PROGRAMS: vector sum, tiled product of 64 x 64 matrices, histogram, or an average launched 300 times.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HEAD = "import numpy as np\nfrom numba import cuda, float32\n"
PROGRAMS = {
    "sum": """
@cuda.jit
def add(a, b, c):
    i = cuda.grid(1)
    if i < c.size:
        c[i] = a[i] + b[i]

a, c = np.ones({n}, np.float32), np.zeros({n}, np.float32)
for _ in range({times}):
    add[({n} + 127) // 128, 128](a, a, c)
""",
    "product": """
@cuda.jit
def tiled(a, b, c):
    tile_a, tile_b = cuda.shared.array((16, 16), float32), cuda.shared.array((16, 16), float32)
    column, row = cuda.grid(2)
    x, y, total = cuda.threadIdx.x, cuda.threadIdx.y, float32(0)
    for start in range(0, a.shape[1], 16):
        tile_a[y, x] = a[row, start + x]
        tile_b[y, x] = b[start + y, column]
        cuda.syncthreads()
        for k in range(16):
            total += tile_a[y, k] * tile_b[k, x]
        cuda.syncthreads()
    c[row, column] = total

a, c = np.ones((64, 64), np.float32), np.zeros((64, 64), np.float32)
for _ in range({times}):
    tiled[(4, 4), (16, 16)](a, a, c)
""",
    "histogram": """
@cuda.jit
def count(data, bins):
    i = cuda.grid(1)
    if i < data.size:
        cuda.atomic.add(bins, data[i], 1)

data, bins = np.arange(4096, dtype=np.int32) * 7919 % 32, np.zeros(32, np.int32)
for _ in range({times}):
    count[32, 128](data, bins)
""",
    "average": """
@cuda.jit
def average(a, b):
    i = cuda.grid(1)
    if 0 < i < a.size - 1:
        b[i] = (a[i - 1] + a[i + 1]) // 2

a, b = np.arange(256, dtype=np.int32), np.zeros(256, np.int32)
for _ in range(300 * {times}):
    average[2, 128](a, b)
""",
}
LAUNCHES = 12
# Stands around the launches and the engine: what each took, the first ones left out, goes to a file.
TIMED = """
import json, statistics, time
from tilescope.tracer.compiled.driver import engine
from tilescope.tracer.simulator import numba_patch

taken, engines = [], []

def timed(call, times):
    def calling(*arguments, **names):
        begin = time.perf_counter()
        try:
            return call(*arguments, **names)
        finally:
            times.append(time.perf_counter() - begin)
    return calling

for name in ("execute", "trace_of_compiled_run"):
    setattr(engine, name, timed(getattr(engine, name), engines))
kind = numba_patch.kernel_class()
inner, depth = kind.__call__, []

def launch(*arguments, **names):
    if depth:
        return inner(*arguments, **names)
    depth.append(0)
    try:
        return timed(inner, taken)(*arguments, **names)
    finally:
        depth.clear()

kind.__call__ = launch
"""
TIMING = """
each = [a + b for a, b in zip(engines[::2], engines[1::2])]
found = {"launch": statistics.median(taken[2:]), "engine": statistics.median(each[1:])}
open({path!r}, "w").write(json.dumps(found))
"""


def first(name: str, cold: bool) -> dict[str, float]:
    """Return the seconds of one `check`, from the command to its end."""
    with tempfile.TemporaryDirectory() as folder:
        home = folder if cold else os.environ.get("TILESCOPE_HOME", folder)
        script = Path(home) / f"{name}.py"
        script.write_text(HEAD + PROGRAMS[name].format(n=1024, times=1))
        for _ in range(1 if cold else 2):
            begin = time.perf_counter()
            run(["check", str(script)], home)
        return {"seconds": time.perf_counter() - begin}


def launches(name: str, words: list[str]) -> dict[str, float]:
    """Measure the time of a launch under a command."""
    with tempfile.TemporaryDirectory() as folder:
        script, messages = Path(folder) / f"{name}.py", Path(folder) / "told.json"
        program = PROGRAMS[name].format(n=1 << 20, times=LAUNCHES)
        script.write_text(HEAD + TIMED + program + TIMING.replace("{path!r}", repr(str(messages))))
        for _ in range(2):  # the first compiles
            run([*words, str(script)], folder)
        output: dict[str, float] = json.loads(messages.read_text())
        return output


def run(words: list[str], home: str) -> None:
    """Run one of our commands in a separate folder."""
    environment = os.environ | {"TILESCOPE_HOME": home}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # as for most users, modules are compiled once
    command = [sys.executable, "-P", "-m", "tilescope", *words]
    subprocess.run(command, env=environment, capture_output=True, check=True, cwd=home)


def main() -> None:
    """Do what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("first", "launch"))
    parser.add_argument("name", choices=PROGRAMS)
    parser.add_argument("--cold", action="store_true")
    given, words = parser.parse_known_args()
    results = first(given.name, given.cold) if given.what == "first" else launches(given.name, words)
    print(json.dumps(results))


if __name__ == "__main__":
    main()
