"""`tilescope why`: the sentences of a path, its accesses as JSON, and one sentence for bad input."""

from __future__ import annotations

import json

import pytest

from programs import run_tilescope
from sessions import matmul
from tilescope.app.cli.main import main
from tilescope.tracer.storage.trace_file import save

SMALL = "m=16,k=16,n=16,tile=8"
TILED, EARLY = f"matmul-tiled:{SMALL}", "matmul-tiled-early-return:m=20,k=20,n=20,tile=8"


def why(capsys, *words, status=0):
    assert main(["why", *words]) == status
    captured = capsys.readouterr()
    return captured.err if status else captured.out


@pytest.fixture
def file(tmp_path, monkeypatch):
    save(matmul(m=16, k=16, n=16, tile=4).trace, tmp_path / "t.npz", compress=True)
    monkeypatch.chdir(tmp_path)
    return "t.npz"


def test_sentences_lead_from_the_element_to_the_inputs(capsys):
    lines = why(capsys, TILED, "C[3, 5]").splitlines()
    assert "equals NumPy's result" in lines[0]
    assert "Thread (5, 3) of block (0, 0) wrote C[3, 5]" in lines[1] and "on line" in lines[1]
    assert any("16 reads of 8 elements of tile_a" in line for line in lines)
    assert lines[-1] == "The path ends at inputs: 16 elements of A and 16 elements of B."


def test_without_an_element_the_first_wrong_one_is_explained(capsys):
    lines = why(capsys, EARLY).splitlines()
    assert "is wrong: NumPy has" in lines[0]
    assert lines[1].startswith("? ") and "left from line" in lines[1]
    assert why(capsys, EARLY, "C[16, 3]").splitlines()[1].endswith("which nothing had written.")
    assert "equals NumPy's; name an element" in why(capsys, TILED)


def test_forward_counts_the_threads_that_a_load_served(capsys):
    out = why(capsys, TILED, "A[0, 3]", "--forward")
    assert "tile_a[0, 3], which serves 16 threads." in out
    assert out.splitlines()[-1] == "It reaches 16 elements of C."


def test_json_holds_every_access(capsys, file):
    document = json.loads(why(capsys, file, "c[3, 5]", "--json"))
    assert document["element"] == "C[3, 5]" and document["exact"] and document["complete"]
    arrays = [access["array"] for access in document["writes"]]
    assert arrays.count("c") == 1 and arrays.count("tile_a") == arrays.count("tile_b") == 16
    inputs = [access for access in document["reads"] if access["source"] == "input"]
    assert sorted(access["array"] for access in inputs) == ["a"] * 16 + ["b"] * 16
    assert all(access["moment"] > 0 and access["line"] > 0 for access in document["reads"])


def test_value_at_a_moment_and_in_a_block(capsys):
    early = why(capsys, TILED, "tile_a[0, 0]", "--at", "10", "--block", "3")
    late = why(capsys, TILED, "tile_a[0, 0]", "--block", "3")
    assert "tile_a[0, 0] of block (1, 1): not written yet, so it has no content. Thread" in early
    assert "of block (1, 1) wrote tile_a[0, 0]" in late


def test_reference_names_the_first_value_that_differs(capsys):
    faulty = f"matmul-tiled-one-barrier:{SMALL},schedule=random,seed=3"
    lines = why(capsys, faulty, "C[0, 0]", "--against", f"matmul-tiled-one-barrier:{SMALL}").splitlines()
    assert "goes wrong here" in lines[0] or lines[0].startswith("Every write on the path equals")
    same = why(capsys, TILED, "C[0, 0]", "--against", TILED).splitlines()
    assert same[0] == f"Every write on the path equals that of {TILED}."


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ((TILED, "X[0, 3]"), "the launch accesses no array 'X'"),
        ((TILED, "tile_c[0, 3]"), "; did you mean tile_"),
        ((TILED, "C[16, 0]"), "whose last element is C[15, 15]."),
        ((TILED, "C["), "names no element"),
        ((TILED, "tile_a[0, 0]", "--block", "99"), "block 99 did not run"),
        ((TILED, "C[0, 0]", "--at", "x"), "must be a whole number from 0 on"),
        ((TILED, "C[0, 0]", "--forward", "--against", TILED), "can't be used together"),
        (("no-such.npz", "C[0, 0]"), "there is no file no-such.npz"),
        (("matmul-tilde", "C[0, 0]"), "did you mean"),
    ],
)
def test_bad_input_ends_in_one_sentence(capsys, words, sentence):
    text = why(capsys, *words, status=2)
    assert text.startswith("tilescope: ") and sentence in text and text.count("\n") == 1


def test_file_without_a_comparison_needs_an_element(capsys, tmp_path):
    (tmp_path / "p.py").write_text(
        "import numpy as np\nfrom numba import cuda\n\n@cuda.jit\ndef kernel(a):\n    a[cuda.grid(1)] += 1\n\n"
        "kernel[1, 4](np.zeros(4))\n"
    )
    run_tilescope("run", "--out", "out", "p.py", folder=tmp_path)
    (trace,) = (tmp_path / "out").glob("*.npz")
    assert "compared with nothing" in why(capsys, str(trace), status=2)
    assert "wrote a[2] = 1 on line 6" in why(capsys, str(trace), "a[2]")


PROGRAM = """
import numpy as np
from numba import cuda

@cuda.jit
def double(x, out):
    i = cuda.grid(1)
    out[i] = 2 * x[i]

@cuda.jit
def add(x, y):
    i = cuda.grid(1)
    y[i] += x[i]

x = np.arange(4.0)
out, y = np.zeros(4), np.zeros(4)
double[1, 4](x, out)
add[1, 4](out, y)
"""


def test_a_program_runs_and_its_last_launch_with_the_array_is_explained(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "program.py").write_text(PROGRAM)
    lines = run_tilescope("why", "program.py", "out[3]", folder=tmp_path).stdout.splitlines()
    assert "wrote out[3]" in lines[0] and lines[-1] == "The path ends at inputs: 1 element of x."
    assert "wrote y[1]" in run_tilescope("why", "program.py", "y[1]", folder=tmp_path).stdout
    first = run_tilescope("why", "program.py", "x[1]", "--forward", "--launch", "1", folder=tmp_path).stdout
    assert first.splitlines()[-1] == "It reaches 1 element of out."
    refused = run_tilescope("why", "program.py", "y[1]", "--launch", "3", folder=tmp_path)
    assert refused.returncode == 2 and "has 2 launches, so it has no launch 3" in refused.stderr
    unnamed = run_tilescope("why", "program.py", folder=tmp_path)
    assert unnamed.returncode == 2 and "name an element" in unnamed.stderr
