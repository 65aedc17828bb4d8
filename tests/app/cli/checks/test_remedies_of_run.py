"""Remedies in the lines of `tilescope run --json`: only proven ones, with the changes that remove the finding."""

from __future__ import annotations

import json
from pathlib import Path

from programs import run_tilescope

PROGRAM = """
import numpy as np
from numba import cuda, float32

@cuda.jit
def reverse(a, out):
    s = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    s[t] = a[t]
    out[t] = s[63 - t]

@cuda.jit
def neighbours(a):
    i = cuda.grid(1)
    a[i] = a[(i + 1) % 128]

a, out = np.arange(64, dtype=np.float32), np.zeros(64, np.float32)
for _ in range(3):
    reverse[1, 64](a, out)
neighbours[2, 64](np.arange(128, dtype=np.float32))
"""


def test_each_launch_has_the_proven_remedy_with_its_changes_and_others_have_none(
    script, tmp_path: Path
) -> None:
    path = script(PROGRAM)
    done = run_tilescope("run", "--quiet", "--json=lines.json", str(path), folder=tmp_path)
    assert done.returncode == 0, done.stderr
    launches = [json.loads(line) for line in (tmp_path / "lines.json").read_text().splitlines()]
    lines = path.read_text().splitlines()
    write = lines.index("    s[t] = a[t]") + 1
    for launch in launches[:3]:
        (race,) = [finding for finding in launch["findings"] if finding["kind"] == "race"]
        assert race["remedy"].startswith(f"put cuda.syncthreads() between line {write}")
        assert race["message"].count(race["remedy"]) == 1
        assert race["fix"] == [{"line": write + 1, "old": [], "new": ["    cuda.syncthreads()"]}]
        assert "trial" not in race and "statement" not in race
    races = [finding for finding in launches[3]["findings"] if finding["kind"] == "race"]
    (between,) = [race for race in races if "threads of different blocks" in race["message"]]
    assert "fix" not in between and "syncthreads" not in between["message"]  # no barrier orders blocks
    (within,) = [race for race in races if race is not between]
    assert within["count"] == 126 and "    cuda.syncthreads()" in within["fix"][0]["new"]
