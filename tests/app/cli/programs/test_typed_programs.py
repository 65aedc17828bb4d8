"""Programs that depend on how Numba types a kernel: both engines run them as a GPU does, and refuse what it refuses."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from folders import DATA
from programs import printed_by_program, run_tilescope

FOLDER = DATA / "typed_programs"
SEEDS = Path(__file__).parents[5] / "shared" / "seeds"  # documents with programs, beside the repository


@dataclass(frozen=True)
class Expected:
    """What a program prints on a GPU, or the last line of its error; the exit status of `check`, and what it says."""

    printed: str = ""
    error: str = ""
    status: int = 0
    finding: str = ""


PROGRAMS = {
    "array_method_in_kernel.py": Expected("160.0"),
    "array_of_another_type.py": Expected("[0.    0.    0.    1.875]", status=1, finding="error: dtype mismatch"),
    "atomic_at_a_float.py": Expected("200 True True"),
    "device_array_by_name.py": Expected("[255   0   1]"),
    "global_after_signature.py": Expected("1.0"),
    "jitable_function.py": Expected("True"),
    "namespace_by_name.py": Expected(
        error=r"TypingError: .*:14: .*settings is a SimpleNamespace", status=1,
        finding=":14: error: compile: .*SimpleNamespace",
    ),
    "np_sqrt_in_kernel.py": Expected(
        error=r"LoweringError: .*np_sqrt_in_kernel.py:\d+: .*np.sqrt", status=1,
        finding=":10: error: compile: .*np.sqrt",
    ),
    "pointer_argument.py": Expected("[9.1000004e+00 1.0487809e+06]"),
    "range_of_a_float.py": Expected("[25769803776 25769803776 25769803776 25769803776]"),
    "refused_but_run.py": Expected(
        error=r"TypingError: .*refused_but_run.py:8: .*shape", status=1, finding=":8: error: compile: .*the shape"
    ),
    "returned_slice_words.py": Expected(
        error="TypingError: .*:14: .*a part of an array", status=1, finding="a part of an array"
    ),
    "variable_set_on_one_path.py": Expected("1.0 6.0"),
}  # fmt: skip


def test_none_is_forgotten():
    assert {path.name for path in FOLDER.glob("*.py")} == PROGRAMS.keys()


@pytest.mark.parametrize("name", PROGRAMS)
def test_runs_compiled_as_on_a_gpu(name, tmp_path):
    done = run_tilescope("run", "--quiet", "--engine", "compiled", str(FOLDER / name), folder=tmp_path)
    assert done.returncode == bool(PROGRAMS[name].error), done.stderr
    assert_printed(PROGRAMS[name], done.stdout.strip(), done.stderr.strip())


@pytest.mark.parametrize("name", PROGRAMS)
def test_is_checked_and_runs_in_the_simulator_as_on_a_gpu(name, tmp_path):
    done = run_tilescope("check", "--engine", "simulator", str(FOLDER / name), folder=tmp_path)
    assert done.returncode == PROGRAMS[name].status, done.stdout + done.stderr
    assert re.search(PROGRAMS[name].finding, done.stdout), done.stdout
    printed = printed_by_program(done)
    assert_printed(PROGRAMS[name], printed, printed)


def assert_printed(expected, out, err):
    """Assert that a program printed what is expected, or ended with the expected error."""
    if expected.error:
        assert re.search(expected.error, err.splitlines()[-1]), err
    else:
        assert out == expected.printed, out + err


@pytest.mark.skipif(not SEEDS.is_dir(), reason="the documents are not beside the repository")
@pytest.mark.parametrize("engine", ["simulator", "compiled"])
def test_programs_of_documents_run_word_for_word(engine, tmp_path):
    import subprocess

    subprocess.run([sys.executable, str(SEEDS / "extract.py"), str(SEEDS), str(tmp_path)], check=True)
    programs = sorted(tmp_path.glob("s*.py"))
    assert programs
    for program in programs:
        done = run_tilescope("run", "--quiet", "--engine", engine, str(program), folder=tmp_path)
        assert done.returncode == 0, f"{program.name}: {done.stderr}"
        assert "False" not in done.stdout, f"{program.name}: {done.stdout}"
