"""Kernels that Numba refuses to compile for a GPU, in `check` and `run`: asked once, and cached."""

from __future__ import annotations

import os

import pytest

from programs import HEAD, RACE, run_tilescope

OPENS = (
    HEAD
    + """
@cuda.jit
def logged(out):
    i = cuda.grid(1)
    file = open("log.txt", "a")
    out[i] = i

logged[2, 32](np.zeros(64, np.int32))
logged[1, 32](np.zeros(64, np.int32))
"""
)
LINE = 1 + OPENS.splitlines().index('    file = open("log.txt", "a")')
REFUSAL = "Numba can't compile logged for a GPU: a GPU has no open()."
TWINS = (
    HEAD
    + """
def made(width, fails):
    if fails:
        @cuda.jit(device=True)
        def helper(x):
            return [x][0] + open
    else:
        @cuda.jit(device=True)
        def helper(x):
            return x + 1

    @cuda.jit
    def kernel(out):
        tile = cuda.shared.array(width, np.int32)
        tile[0] = 1
        out[cuda.grid(1)] = helper(tile[0]) if out.size > 99 else 0

    return kernel

made(32, FAILS)[1, 32](np.zeros(32, np.int32))
"""
)


def test_a_kernel_that_a_gpu_refuses_is_an_error(script, tmp_path):
    path = script(OPENS)
    done = run_tilescope("check", str(path), folder=tmp_path)
    assert done.returncode == 1
    assert done.stdout == f"{path}:{LINE}: error: compile: {REFUSAL} [TS601 confirmed]\n"


def test_run_raises_it_at_the_launch(script, tmp_path):
    path = script(OPENS)
    done = run_tilescope("run", "--quiet", "--json=lines.json", str(path), folder=tmp_path)
    assert done.returncode == 1
    assert f"TypingError: {path}:{LINE}: {REFUSAL}" in done.stderr
    assert not (tmp_path / "lines.json").read_text()


@pytest.mark.parametrize(("fails", "status"), [("True", 1), ("False", 0)])
def test_functions_are_those_that_the_kernel_calls(script, tmp_path, fails, status):
    """Of two functions of one name, the one that the kernel got counts, also where it was not called."""
    done = run_tilescope("check", str(script(TWINS.replace("FAILS", fails))), folder=tmp_path)
    assert done.returncode == status, done.stdout
    assert ("error: compile: " in done.stdout) == bool(status)


def test_what_was_asked_once_starts_no_process_again(script, tmp_path, monkeypatch):
    """A Python without numba's compiler on its path could not answer: the second answer is the kept one."""
    monkeypatch.setenv("TILESCOPE_HOME", str(tmp_path / "home"))
    path = script(OPENS)
    first = run_tilescope("check", str(path), folder=tmp_path)
    kept = list((tmp_path / "home").rglob("*.types"))
    assert len(kept) == 1
    os.utime(kept[0], ns=(0, 0))
    assert run_tilescope("check", str(path), folder=tmp_path).stdout == first.stdout
    assert kept[0].stat().st_mtime_ns == 0
    kept[0].write_bytes(b"damaged")
    assert run_tilescope("check", str(path), folder=tmp_path).stdout == first.stdout


def test_findings_of_a_program_are_next_to_it(script, tmp_path):
    done = run_tilescope("check", str(script(RACE + OPENS.removeprefix(HEAD))), folder=tmp_path)
    assert "error: race: " in done.stdout and "error: compile: " in done.stdout
    assert "TypingError: " in done.stderr
