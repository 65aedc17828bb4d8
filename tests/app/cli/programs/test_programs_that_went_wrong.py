"""Small programs that went wrong once: both engines print what an H200 prints, and `check` says what is true."""

from __future__ import annotations

import re
from dataclasses import dataclass

import pytest

from folders import DATA
from programs import printed_by_each, printed_by_program, run_tilescope, run_together

FOLDER = DATA / "programs"
STREAM = "stream_is_shared.py"  # which a GPU refuses


@dataclass(frozen=True)
class Expected:
    """What a program prints on an H200, and what `check` says."""

    printed: str
    status: int = 0  # of `check`
    reported: tuple[str, ...] = ()  # regular expressions that its findings match
    silent: tuple[str, ...] = ()  # that none matches
    compiled: bool = False  # whether the compiled engine must take it: it did not once


PROGRAMS = {
    "array_unpacked.py": Expected("79872.0", compiled=True),
    "atomic_negative.py": Expected("[7 7 7 7 6 6 6 6 6 6]", reported=("negative",)),
    "barrier_advice_in_a_branch.py": Expected(
        "20211612832",
        1,
        reported=("race: .*another array be written", "unwritten"),
        silent=("race: .*put cuda",),
    ),
    "configure.py": Expected("32.0"),
    "cuda_random_attr.py": Expected("True"),
    "dtype_of_argument.py": Expected("[255. 254. 253.]", compiled=True),
    "early_return_that_misses_nothing.py": Expected(
        "3160.0", reported=("note: 48 threads returned",), silent=("is missing", "warning: 48")
    ),
    "event_elapsed.py": Expected("True"),
    "f32_accumulate.py": Expected("16777217.0"),
    "float64_int_output.py": Expected("82138", reported=("float64",)),
    "garbage_that_goes_nowhere.py": Expected("80.0", silent=("unwritten",)),
    "hot_atomic.py": Expected("[0.99997795]", reported=("8,192",)),
    "import_cudadecl.py": Expected("True True", 2),  # launches no kernel
    "jit_of_jit.py": Expected("[2. 2. 2. 2.]"),
    "math_domain.py": Expected("[ nan -inf  inf  inf]"),
    "own_copy_of_shared_table.py": Expected(
        "160", reported=("stored the same there before",), silent=("error",)
    ),
    "paren.py": Expected("", reported=(r"float32\(\(n \+ 1\) \* \(n \+ 2\)\)",)),
    "record_blocks.py": Expected("19200.0 19200", compiled=True),
    "redundant_store.py": Expected("262144.0", reported=("overwritten",)),
    "reload_stencil.py": Expected("99.99999999997246", silent=("local variables",)),
    "row_out_of_bounds.py": Expected("40.0", silent=("error",)),
    "row_out_of_bounds_read.py": Expected(
        "nan", 1, reported=(r":10: error: bounds: 22 accesses .* reads a\[10, 0\]",)
    ),
    "same_finding_twice.py": Expected("", 1, reported=("race|store",)),
    "shape_computed.py": Expected("[31. 30. 29.]", silent=("compile", "computed")),
    STREAM: Expected("", 2, reported=("stream",)),
    "sum_without_atomics_words.py": Expected(
        "7.0",
        1,
        reported=(":10: error: race: .*write cuda.atomic.add", ":11: error: race: .*write cuda.atomic.add"),
        silent=("syncthreads",),
    ),
    "tuple_index_uint32.py": Expected("90000.0", compiled=True),
    "uint64_minus.py": Expected("[-1  0  1  2]"),
    "uint64_range.py": Expected("[ 0  5 10 15]"),
    "unpack_words.py": Expected("32.0", reported=("let halves return float32",), silent=(r"\[0\]",)),
    "unwritten_after_bounds.py": Expected(
        "", 1, reported=("outside",), silent=("nobody", "never", ": error: unwritten|: uninitialised")
    ),
    "vectorize_cuda.py": Expected("[2. 2. 2. 2.]"),
}


def test_none_is_forgotten():
    assert {path.name for path in FOLDER.glob("*.py")} == PROGRAMS.keys()


@pytest.fixture(scope="module", params=[False, True], ids=["in any engine", "in the compiled engine"])
def compiled_runs(request, tmp_path_factory):
    """Return the programs that the compiled engine need not or must take, and how their run ended."""
    names = [name for name in PROGRAMS if name != STREAM and PROGRAMS[name].compiled == request.param]
    paths, folder = [FOLDER / name for name in names], tmp_path_factory.mktemp("compiled")
    return names, run_together("run", paths, "--engine", "compiled", folder=folder)


def test_prints_compiled_what_a_gpu_prints(compiled_runs):
    names, done = compiled_runs
    assert done.returncode == 0, done.stderr
    printed = printed_by_each(done.stdout)
    assert {name: printed[name] for name in names if not same(printed[name], PROGRAMS[name].printed)} == {}
    if PROGRAMS[names[0]].compiled:
        assert "in the simulator" not in done.stderr, done.stderr


def same(printed: str, expected: str) -> bool:
    """Compare texts up to their last digits: a GPU rounds once when it multiplies and adds."""
    numbers = re.compile(r"-?\d+\.\d{6,}")
    numbers_printed, wanted = numbers.findall(printed), numbers.findall(expected)
    rest = numbers.sub("#", printed) == numbers.sub("#", expected)
    return rest and all(
        float(a) == pytest.approx(float(b), rel=1e-9) for a, b in zip(numbers_printed, wanted, strict=True)
    )


@pytest.mark.parametrize("name", PROGRAMS)
def test_is_checked_and_prints_in_the_simulator_what_a_gpu_prints(name, tmp_path):
    expected = PROGRAMS[name]
    words = ("--engine", "simulator", "--output-format", "full=full.txt")
    done = run_tilescope("check", *words, str(FOLDER / name), folder=tmp_path)
    output = done.stdout + (done.stderr if expected.status == 2 else "")
    full = output + (tmp_path / "full.txt").read_text(encoding="utf-8")  # it lists all advice
    assert done.returncode == expected.status, output + done.stderr
    for text in expected.reported:
        assert re.search(text, full), full
    for text in expected.silent:
        assert not re.search(text, output), output
    if name != STREAM:  # what the program prints is in standard error
        assert same(printed_by_program(done), expected.printed), done.stderr


def test_one_race_is_reported_once(tmp_path):
    done = run_tilescope("check", str(FOLDER / "same_finding_twice.py"), folder=tmp_path)
    assert len(re.findall(r"\berror\b", done.stdout)) == 1, done.stdout


def test_a_launch_that_a_gpu_refuses_is_refused_at_its_line(tmp_path):
    done = run_tilescope("run", "--quiet", str(FOLDER / STREAM), folder=tmp_path)
    assert done.returncode == 1
    assert "stream" in done.stderr.strip().splitlines()[-1]
