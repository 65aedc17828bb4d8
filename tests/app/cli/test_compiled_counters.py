"""Counters as compiled where users meet them: tilescope counters, tilescope run --json, programs and captions."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from sessions import matmul
from tilescope.app.cli.main import main
from tilescope.app.lectures.model.expressions import ExpressionError, parse
from tilescope.app.lectures.model.values import build_environment
from tilescope.app.model.session import Selection
from tilescope.tracer.as_compiled.job import CompiledCounters
from tilescope.tracer.model.counter_names import NAMES

SMALL = "matmul-tiled:m=32,n=32,k=32"
# A kernel that loads twice what it needs once, and what it does not need at all.
PROGRAM = """
import numpy as np
from numba import cuda

FACTOR = np.array([2, 3], np.float32)


@cuda.jit
def scale(a, unused, out):
    i = cuda.grid(1)
    if i < a.size:
        x = unused[i]
        out[i] = a[i] * a[i] * FACTOR[i % 2]


numbers = np.arange(1000, dtype=np.float32)
result = np.zeros_like(numbers)
scale[4, 256](numbers, numbers, result)
scale[2, 256](numbers[:500], numbers, result)
"""


def rows(printed: str) -> dict[str, list[str]]:
    """Return the numbers and marks of each counter that is printed."""
    names = [name.replace("_", " ") for name in NAMES]
    counters = {}
    for line in printed.splitlines():
        name = next((option for option in names if line.startswith(option)), "")
        if name:
            counters[name] = line[len(name) :].split()
    return counters


def test_counters_are_printed_at_each_depth(capsys):
    assert main(["counters", SMALL, "--as", "written", "--as", "compiled"]) == 0
    printed = capsys.readouterr().out
    written, exact, compiled, mark = rows(printed)["global load sectors"]
    assert (exact, mark) == ("exact", "compiled")
    assert written == compiled  # a tiled product loads nothing twice
    assert "compiled by LLVM" in printed


def test_counters_as_compiled_by_line_add_up(capsys):
    assert main(["counters", SMALL, "--as", "compiled"]) == 0
    total = rows(capsys.readouterr().out)["global load requests"][0]
    assert main(["counters", SMALL, "--as", "compiled", "--by", "line"]) == 0
    lines = capsys.readouterr().out.splitlines()
    parts = [line.split()[-1] for line in lines if "global load requests" in line]
    assert sum(int(part.replace(",", "")) for part in parts) == int(total.replace(",", ""))


def test_each_launch_of_a_program_has_counters_as_compiled(tmp_path: Path):
    program, lines = tmp_path / "scale.py", tmp_path / "launches.jsonl"
    program.write_text(PROGRAM)
    command = [sys.executable, "-P", "-m", "tilescope", "run", "--quiet", "--json", str(lines), str(program)]
    subprocess.run(command, check=True, cwd=tmp_path)
    launches = [json.loads(line) for line in lines.read_text().splitlines()]
    assert [launch["compiled_counters"]["global_load_requests"] for launch in launches] == [32, 16]
    assert [launch["counters"]["global_load_requests"] for launch in launches] == [96, 48]
    for launch in launches:
        assert launch["compiled"]["compiler"].startswith("LLVM")
        assert set(launch["compiled_counters"]) == set(NAMES)


CONTENDED = """
import numpy as np
from numba import cuda


@cuda.jit
def highest(a, out):
    i = cuda.grid(1)
    cuda.atomic.max(out, i % 8, a[i])


numbers = np.arange(256, dtype=np.float32)
highest[2, 128](numbers, np.zeros(8, np.float32))
"""


def checked(tmp_path, *options):
    """Return the JSON that `tilescope check` prints of the contended program."""
    program = tmp_path / "program.py"
    program.write_text(CONTENDED)
    command = [sys.executable, "-m", "tilescope", "check", "--format", "json", *options, str(program)]
    return json.loads(subprocess.run(command, capture_output=True, check=True, cwd=tmp_path).stdout)


def test_check_adds_the_counters_of_each_launch_where_asked(tmp_path):
    assert checked(tmp_path) == []
    output = checked(tmp_path, "--counters")
    assert output["findings"] == []
    (launch,) = output["launches"]
    assert (launch["kernel"], launch["counters"]["global_load_requests"]) == ("highest", 8)
    assert launch["compiled_counters"]["global_load_requests"] == 16
    assert "global_atomic_requests" in launch["compiled"]["at_least"]
    assert "global_load_requests" not in launch["compiled"]["at_least"]


def test_the_counters_of_the_lines_of_a_launch_add_up(tmp_path):
    (launch,) = checked(tmp_path, "--counters")["launches"]
    assert not launch["part"]
    for lines, totals in (("lines", "counters"), ("compiled_lines", "compiled_counters")):
        sums = dict.fromkeys(NAMES, 0)
        for line in launch[lines]:
            assert (line["file"], line["line"]) == (str(tmp_path / "program.py"), 9)
            for name, amount in line["counters"].items():
                sums[name] += amount
        assert sums == launch[totals]


def test_check_counts_only_for_json(tmp_path, capsys):
    program = tmp_path / "program.py"
    program.write_text("")
    assert main(["check", "--counters", str(program)]) == 2
    assert "--output-format json" in capsys.readouterr().err


def names_of(session):
    return build_environment([session], [0], [Selection()], [{}], 0)


def test_captions_have_counters_as_compiled_with_their_mark():
    session = matmul(m=16, n=16, k=16)
    session.add_compiled(CompiledCounters("LLVM 1.0", dict.fromkeys(NAMES, 0) | {"global_load_sectors": 7}))
    quantity = parse("left.compiled.global_load_sectors").evaluate(names_of(session))
    assert (quantity.value, quantity.mark) == (7, "compiled")


def test_a_caption_explains_missing_counters():
    session = matmul(m=16, n=16, k=16)
    session.add_compiled(CompiledCounters(reason="It calls what nobody knows."))
    with pytest.raises(ExpressionError, match="what nobody knows"):
        parse("left.compiled.global_sectors").evaluate(names_of(session))
