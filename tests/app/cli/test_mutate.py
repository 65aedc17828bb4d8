"""`tilescope mutate`: the changes of kernels, which a program misses, and what it refuses."""

from __future__ import annotations

import json

import pytest

from programs import run_tilescope
from tilescope.app.cli.programs.mutants import mutants_of

KERNELS = """\
import numpy as np
from numba import cuda


@cuda.jit
def reverse(a, out):
    tile = cuda.shared.array(64, np.int32)
    t = cuda.threadIdx.x
    if t < a.size:
        tile[t] = a[t]
    cuda.syncthreads()
    out[t] = tile[63 - t]
    cuda.syncthreads()


@cuda.jit
def count(a, out):
    i = cuda.grid(1)
    cuda.atomic.add(out, 0, a[i])
"""
TESTS = """\
import numpy as np
from kernels import count, reverse

def test_reverse():
    a, out = np.arange(64, dtype=np.int32), np.zeros(64, np.int32)
    reverse[1, 64](a, out)
    assert (out == a[::-1]).all()

def test_count_runs():
    count[1, 32](np.ones(32, np.int32), np.zeros(1, np.int32))
"""


def changes(body, kernel=""):
    text = f"from numba import cuda\n\n@cuda.jit(fastmath=True)\ndef kernel(a, b, i, j):\n    {body}\n"
    return [(m.change, m.text.splitlines()[4].strip()) for m in mutants_of(text, kernel)]


@pytest.mark.parametrize(
    ("body", "mutated"),
    [
        ("cuda.syncthreads()", ["pass"]),
        ("cuda.cg.this_grid().sync()", ["pass"]),
        ("b[j, i] = 0", ["b[i, j] = 0"]),
        ("b[i, i] = a[i]", []),
        ("b['é'] = (i) < (j)", ["b['é'] = (i) <= (j)"]),
        ("a[0] = i < j > 3", ["a[0] = i <= j > 3", "a[0] = i < j >= 3"]),
        ("a[0] = i <= j", []),
        ("cuda.atomic.add(a, (i, j), b[i])", ["a[(i, j)] += b[i]"]),
        ("cuda.atomic.max(a, i, b[i] + 1)", ["a[i] = max(a[i], b[i] + 1)"]),
        ("a[0] = cuda.atomic.add(b, 0, 1)", []),
        ("if i < j: cuda.syncthreads()", ["if i <= j: cuda.syncthreads()", "if i < j: pass"]),
    ],
)
def test_one_thing_changes_at_a_time(body, mutated):
    assert [text for _, text in changes(body)] == mutated


def test_only_kernels_change():
    assert mutants_of("def plain(a, i, j):\n    return a[i, j] < 3\n") == []
    assert changes("a[i, j] = 0", "another") == [] and len(changes("a[i, j] = 0", "kernel")) == 1


def test_the_changes_that_tests_miss_are_reported(tmp_path):
    (tmp_path / "kernels.py").write_text(KERNELS)
    (tmp_path / "test_kernels.py").write_text(TESTS)
    (tmp_path / "pyproject.toml").write_text('[tool.tilescope]\nignore = ["TS8"]\n')
    words = ("kernels.py", "-m", "pytest", "-p", "no:cacheprovider", "test_kernels.py")
    done = run_tilescope("mutate", "--json", *words, folder=tmp_path)
    assert done.returncode == 1, done.stderr
    results = json.loads(done.stdout)
    first, second = (i + 1 for i, line in enumerate(KERNELS.splitlines()) if "syncthreads" in line)
    verdicts = {
        (r["line"], r["change"].split(" ")[-1]): (r["caught"], r["rules"], r["redundant_barrier"])
        for r in results
    }
    assert verdicts == {
        (first - 2, "<="): (False, [], False),
        (first, "removed"): (False, ["TS101"], False),
        (second, "removed"): (False, [], True),
        (len(KERNELS.splitlines()), "a[i]"): (False, ["TS101"], False),
    }
    assert (tmp_path / "kernels.py").read_text() == KERNELS
    assert not list(tmp_path.glob("__pycache__/kernels*"))  # of the mutants


def test_a_program_that_catches_all_ends_with_0(tmp_path):
    program = (
        KERNELS.partition("@cuda.jit\ndef reverse")[0]
        + """\
@cuda.jit
def fill(a):
    i, j = cuda.grid(2)
    a[i, j] = i

a = np.zeros((8, 8), np.int32)
fill[1, (8, 8)](a)
assert (a[3] == 3).all()
"""
    )
    (tmp_path / "program.py").write_text(program)
    done = run_tilescope("mutate", "program.py", folder=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[1].split(maxsplit=3) == ["8", "fill", "caught", "a[i, j] became [j, i]"]
    assert lines[2] == "1 change of program.py; the program misses 0."


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ([], "no file is named; name a Python file with kernels."),
        (["missing.py"], "there is no file missing.py"),
        (["plain.py"], "plain.py has nothing to change"),
        (["--kernel", "other", "kernels.py"], "kernels.py has nothing of other to change"),
        (["broken.py"], "broken.py is no Python file that can be read"),
        (["kernels.py", "plain.py"], "the program does not import kernels.py"),
        (["kernels.py", "fails.py"], "the program fails without a change"),
    ],
)
def test_bad_input_is_one_sentence(words, sentence, tmp_path):
    for name, text in (
        ("kernels.py", KERNELS), ("plain.py", "x = 1\n"), ("broken.py", "def ("),
        ("fails.py", "import kernels\n1 / 0\n"),
    ):  # fmt: skip
        (tmp_path / name).write_text(text)
    done = run_tilescope("mutate", *words, folder=tmp_path)
    assert done.returncode == 2 and sentence in done.stderr and "Traceback" not in done.stderr
