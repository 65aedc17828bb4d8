"""`pytest --tilescope` in a project of a user's: which tests fail, and what is printed."""

from __future__ import annotations

import json
import re
import subprocess
import sys

import pytest

from patience import PATIENCE
from pytest_projects import run_pytest

KERNELS = """\
import numpy as np
from numba import cuda, float32

@cuda.jit
def reverse(a, out):
    tile = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    tile[t] = a[t]
    out[t] = tile[63 - t]

@cuda.jit
def right(a, out):
    tile = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    tile[t] = a[16 * t]
    cuda.syncthreads()
    out[t] = tile[63 - t]

@cuda.jit
def appends(a, out):
    names = []
    names.append(a[0])
    names.append("x")

def launch(kernel):
    a = cuda.to_device(np.arange(1024, dtype=np.float32))
    out = cuda.device_array(64, np.float32)
    kernel[1, 64](a, out)
    return out.copy_to_host()
"""
TESTS = """\
import unittest
import pytest
from kernels import appends, launch, reverse, right

def test_right():
    assert launch(right)[0] == 63 * 16

def test_race():
    launch(reverse)

def test_race_and_assertion():
    launch(reverse)
    assert 1 + 1 == 3

def test_refused():
    with pytest.raises(Exception):
        launch(appends)

@pytest.fixture
def raced():
    launch(reverse)

def test_race_of_a_fixture(raced):
    pass

@pytest.fixture
def races_afterwards():
    yield
    launch(reverse)

def test_race_of_a_teardown(races_afterwards):
    pass

@pytest.mark.tilescope(ignore=["TS1"])
def test_allowed():
    launch(reverse)

@pytest.mark.tilescope(ignore=["TS2"])
def test_allowed_for_another_rule():
    launch(reverse)

@pytest.mark.xfail(strict=True)
def test_expected_to_fail():
    launch(reverse)

class Case(unittest.TestCase):
    def test_race_in_a_class(self):
        launch(reverse)
"""
SNAPSHOT = '{"version": %d, "kernel": "right", "grid": [1, 1, 1], "block": [%d, 1, 1], "counters": {}}'
OUTCOME = re.compile(r"^(PASSED|FAILED|ERROR|XFAIL|SKIPPED) \S*?(?:::(\w+))+", re.M)


@pytest.fixture
def project(tmp_path):
    (tmp_path / "kernels.py").write_text(KERNELS)
    (tmp_path / "pyproject.toml").write_text("[tool.tilescope]\n")
    return tmp_path


def run_tests(project, tests, *words):
    (project / "test_it.py").write_text(tests)
    return run_pytest(project, *words)


def outcomes(done) -> dict[str, str]:
    return {name: outcome for outcome, name in OUTCOME.findall(done.stdout)}


def after(text: str, title: str) -> str:
    """Return the part of a report below a title, up to the next one."""
    parts = re.split(r"^[_=-]{3,} (.*?) [_=-]{3,}\n", text, flags=re.MULTILINE)
    return parts[parts.index(title) + 1]


def line_of(text: str) -> int:
    return KERNELS.splitlines().index(text) + 1


def test_findings_fail_the_tests_whose_launches_have_them(project):
    done = run_tests(project, TESTS, "--tilescope", "--strict-markers", "-rA")
    assert outcomes(done) == {
        "test_right": "PASSED", "test_race": "FAILED", "test_race_and_assertion": "FAILED",
        "test_refused": "FAILED", "test_race_of_a_fixture": "FAILED", "test_race_of_a_teardown": "ERROR",
        "test_allowed": "PASSED", "test_allowed_for_another_rule": "FAILED", "test_expected_to_fail": "XFAIL",
        "test_race_in_a_class": "FAILED",
    }, done.stdout  # fmt: skip
    write, read = line_of("    tile[t] = a[t]"), line_of("    out[t] = tile[63 - t]")
    race = after(done.stdout, "test_race")
    assert race.startswith(f"tilescope: TS101 in kernels.py:{read}\n")
    remedy = f"put cuda.syncthreads() between line {write} and line {read}. [TS101 possible]"
    assert f"kernels.py:{read}: error: race: 64 elements of tile" in race and remedy in race
    assert "tilescope explain TS101" in race and "pytest_checks.py" not in done.stdout
    assert "assert (1 + 1) == 3" in done.stdout and "Captured tilescope call" in done.stdout
    assert "TS601 in kernels.py" in after(done.stdout, "test_refused")
    summary = after(done.stdout, "tilescope").splitlines()
    assert summary[0] == "9 launches of 2 kernels traced: all 9 blocks, lockstep."
    assert summary[1].startswith("findings: 7 of TS101 (race), 1 of TS601 ")
    assert summary[2] == "1 finding suppressed: 1 by markers."


STREAMS = """\
import numpy as np
import pytest
from numba import cuda

@cuda.jit
def double(x):
    i = cuda.grid(1)
    x[i] *= 2

@pytest.fixture
def x():
    return cuda.to_device(np.ones(64, np.float32))

def test_unordered(x):
    double[2, 32, cuda.stream()](x)
    double[2, 32, cuda.stream()](x)

def test_ordered(x):
    first, second, done = cuda.stream(), cuda.stream(), cuda.event()
    double[2, 32, first](x)
    done.record(first)
    done.wait(second)
    double[2, 32, second](x)
"""


def test_streams_that_nothing_orders_fail_the_test_that_launches_in_them(project):
    done = run_tests(project, STREAMS, "--tilescope", "-rA")
    assert outcomes(done) == {"test_unordered": "FAILED", "test_ordered": "PASSED"}, done.stdout
    text = after(done.stdout, "test_unordered")
    first, second = (n for n, line in enumerate(STREAMS.splitlines(), 1) if "cuda.stream()](x)" in line)
    assert (
        f"test_it.py:{second}: error: race: double writes 64 elements of x that double of line {first}"
        in text
    )


def test_processes_of_xdist_check_and_report_together(project):
    done = run_tests(project, TESTS, "--tilescope", "-n2", "-rA", "-k", "test_race or test_right")
    assert outcomes(done)["test_right"] == "PASSED" and outcomes(done)["test_race"] == "FAILED"
    assert after(done.stdout, "tilescope").startswith(
        "6 launches of 2 kernels traced: all 6 blocks, lockstep.\n"
    )


def test_policy_and_baseline_are_those_of_check(project):
    tests = "from kernels import launch, reverse, right\ndef test_race(): launch(reverse)\ndef test(): launch(right)\n"
    assert outcomes(run_tests(project, tests, "--tilescope", "-rA")) == {
        "test_race": "FAILED",
        "test": "PASSED",
    }
    strict = run_tests(project, tests, "--tilescope", "-k", "not race", "--tilescope-fail-on=warning")
    assert strict.returncode == 1 and "TS801 in kernels.py" in strict.stdout
    (project / "pyproject.toml").write_text('[tool.tilescope]\nignore = ["TS101"]\n')
    ignoring = run_tests(project, tests, "--tilescope")
    assert ignoring.returncode == 0 and "1 finding not selected: 1 of TS101." in ignoring.stdout
    (project / "pyproject.toml").write_text('[tool.tilescope]\nbaseline = "known.json"\n')
    (project / "program.py").write_text("from kernels import launch, reverse\nlaunch(reverse)\n")
    check = [
        sys.executable,
        "-m",
        "tilescope",
        "check",
        "--baseline",
        "known.json",
        "--add-to-baseline",
        "old",
    ]
    subprocess.run([*check, "program.py"], cwd=project, capture_output=True, timeout=PATIENCE, check=True)
    assert json.loads((project / "known.json").read_text())["entries"]
    accepted = run_tests(project, tests, "--tilescope")
    assert accepted.returncode == 0 and "1 finding suppressed: 1 by the baseline." in accepted.stdout
    commented = KERNELS.replace("[63 - t]\n", "[63 - t]  # tilescope: ignore[TS101] known\n", 1)
    commented = commented.replace("= a[t]\n", "= a[t]  # tilescope: ignore[TS101] known\n", 1)
    (project / "kernels.py").write_text(commented)
    (project / "pyproject.toml").write_text("[tool.tilescope]\n")
    assert "1 finding suppressed: 1 by comments." in run_tests(project, tests, "--tilescope").stdout


def test_launches_of_an_import_fail_the_module(project):
    done = run_tests(project, "from kernels import *\nlaunch(reverse)\ndef test(): pass\n", "--tilescope")
    assert done.returncode == 2 and "ERROR test_it.py - tilescope: TS101 in kernels.py:9" in done.stdout


def test_the_launches_of_a_test_have_exact_counters(project):
    tests = """\
from kernels import launch, reverse, right
import pytest, tilescope
pytestmark = pytest.mark.tilescope(ignore=["ALL"])

def test_equal(tilescope_launches):
    launch(right)
    tilescope_launches[0].assert_counters(global_load_sectors=64, global_sectors=72, shared_store_wavefronts=2)

def test_different(tilescope_launches):
    launch(reverse)
    launch(right)
    first, second = tilescope_launches
    second.assert_counters(global_sectors=16, global_load_requests=2, shared_atomic_wavefronts=1)

def test_unknown(tilescope_launches):
    launch(right)
    with pytest.raises(KeyError, match="no counter is called 'sectors'"):
        tilescope_launches[0].assert_counters(sectors=16)
    with pytest.raises(tilescope.TilescopeError, match="compares nothing"):
        tilescope_launches[0].assert_counters()

def test_no_launches_of_other_tests(tilescope_launches):
    assert tilescope_launches == []
"""
    done = run_tests(project, tests, "--tilescope", "-rA")
    failed = [name for name, outcome in outcomes(done).items() if outcome != "PASSED"]
    assert failed == ["test_different"], done.stdout
    load, store = line_of("    tile[t] = a[16 * t]"), line_of("    cuda.syncthreads()") + 1
    lines = [
        line.removeprefix("E").strip()
        for line in after(done.stdout, "test_different").splitlines()
        if line[:1] == "E"
    ]
    assert lines == [
        "AssertionError: global_sectors of right is 72, not 16:",
        f"64 in kernels.py:{load}: tile[t] = a[16 * t]",
        f"8 in kernels.py:{store}: out[t] = tile[63 - t]",
        "shared_atomic_wavefronts of right is 0, not 1.",
    ]
    assert "counter_differences.py" not in done.stdout
    without = run_tests(project, tests, "-rA", "-k", "test_equal")
    assert "tilescope_launches needs pytest --tilescope" in without.stdout


def test_counters_may_fall_below_a_snapshot_but_not_rise(project):
    tests = """\
from kernels import launch, right
def test_kept(tilescope_launches):
    launch(right)
    tilescope_launches[0].assert_counters("right.json")
"""
    missing = run_tests(project, tests, "--tilescope")
    assert missing.returncode == 1 and "there is no right.json; run pytest --tilescope" in missing.stdout
    for words, variables in (
        (["--tilescope-update-snapshots"], {}),
        ([], {"TILESCOPE_UPDATE_SNAPSHOTS": "1"}),
    ):
        (project / "right.json").unlink(missing_ok=True)
        assert run_pytest(project, "--tilescope", *words, **variables).returncode == 0
        assert run_pytest(project, "--tilescope").returncode == 0
    kept = json.loads((project / "right.json").read_text())
    assert kept["kernel"] == "right" and kept["counters"]["global_load_sectors"] == 64
    (project / "kernels.py").write_text(KERNELS.replace("tile[t] = a[16 * t]", "tile[t] = a[8 * t]"))
    assert run_pytest(project, "--tilescope").returncode == 0
    (project / "kernels.py").write_text(
        KERNELS.replace("out[t] = tile[63 - t]", "out[t] = tile[63 - t] + a[t]")
    )
    risen = run_pytest(project, "--tilescope")
    line = line_of("    cuda.syncthreads()") + 1
    assert risen.returncode == 1
    assert "global_load_sectors of right rose from 64 to 72 (+8):" in risen.stdout
    assert f"8 in kernels.py:{line}: out[t] = tile[63 - t] + a[t]" in risen.stdout
    assert "The earlier counters are in right.json" in risen.stdout


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("{", "right.json is no snapshot of counters: "),
        (SNAPSHOT % (2, 64), "right.json has version 2, and this Tilescope reads version 1."),
        (SNAPSHOT % (1, 32), "right.json is about right[(1, 1, 1), (32, 1, 1)], and not right[(1, 1, 1), (64, 1, 1)]"),
    ],
)  # fmt: skip
def test_a_snapshot_that_cannot_be_used_is_one_sentence(project, content, sentence):
    (project / "right.json").write_text(content)
    tests = "from kernels import launch, right\ndef test(tilescope_launches):\n    launch(right)\n"
    done = run_tests(
        project, tests + '    tilescope_launches[0].assert_counters("right.json")\n', "--tilescope"
    )
    assert done.returncode == 1 and sentence in done.stdout and "counter_snapshots.py" not in done.stdout


def test_without_the_option_nothing_is_imported(project):
    tests = """\
import sys
def test():
    ours = {name for name in sys.modules if name.startswith("tilescope")}
    assert ours == {"tilescope", "tilescope.api", "tilescope.api.pytest_option"}
    assert "numba" not in sys.modules
"""
    done = run_tests(project, tests, "--strict-markers")
    assert done.returncode == 0 and "tilescope" not in done.stdout


@pytest.mark.parametrize(
    ("words", "status", "sentence"),
    [
        (["-p", "no:tilescope"], 4, "unrecognized arguments: --tilescope"),
        (["-p", "numba"], 4, "another plugin has imported it; load that plugin later, from a conftest.py."),
        (["-p", "no:xdist", "-k", "no_launch"], 0, "no test launched a kernel, so nothing was checked."),
    ],
)  # fmt: skip
def test_bad_input_is_one_sentence(project, words, status, sentence):
    done = run_tests(project, "def test_no_launch(): pass\n", "--tilescope", *words)
    printed = done.stdout + done.stderr
    assert done.returncode == status and sentence in printed and "Traceback" not in printed


def test_a_marker_that_cannot_be_used_fails_its_test(project):
    tests = """\
import pytest
@pytest.mark.tilescope("TS101")
def test_form(): pass
@pytest.mark.tilescope(ignore=["TS7777"])
def test_rule(): pass
"""
    done = run_tests(project, tests, "--tilescope")
    assert 'write @pytest.mark.tilescope(ignore=["TS101"])' in after(
        done.stdout, "ERROR at setup of test_form"
    )
    assert "the marker tilescope: there is no rule 'TS7777'" in after(
        done.stdout, "ERROR at setup of test_rule"
    )


def test_a_mistake_in_the_settings_is_named_with_its_line(project):
    (project / "pyproject.toml").write_text("[tool.tilescope]\nignored = []\n")
    done = run_tests(project, "", "--tilescope")
    assert (
        done.returncode == 4 and "pyproject.toml:2: [tool.tilescope] has no setting 'ignored'" in done.stderr
    )


def test_the_verdict_needs_no_terminal(project):
    done = run_tests(
        project, TESTS, "--tilescope", "-p", "no:terminal", "--junitxml=out.xml", "-k", "test_race"
    )
    assert done.returncode == 1 and "tilescope: TS101 in kernels.py:9" in (project / "out.xml").read_text()


@pytest.mark.parametrize(
    ("words", "module", "variables", "status"),
    [
        ((), ("pytest",), {"TILESCOPE": "1"}, 1),
        (("-n", "2"), ("pytest",), {"TILESCOPE": "1"}, 1),
        ((), ("pytest",), {"TILESCOPE": "0", "NUMBA_ENABLE_CUDASIM": "1"}, 0),
        (("-q",), ("tilescope", "test"), {}, 1),
    ],
    ids=["variable", "variable, two processes", "variable of 0", "command"],
)
def test_other_ways_to_the_option(project, words, module, variables, status):
    (project / "test_it.py").write_text(
        "from kernels import launch, reverse\n\ndef test_race():\n    launch(reverse)\n"
    )
    done = run_pytest(project, *words, module=module, **variables)
    assert done.returncode == status, done.stdout + done.stderr
    assert ("TS101 in kernels.py" in done.stdout) == bool(status)


def test_kernels_have_line_coverage(project):
    tests = "from kernels import launch, reverse, right\n\ndef test_right():\n    launch(right)\n"
    (project / "test_it.py").write_text(tests)
    module = ("coverage", "run", "--include=kernels.py", "-m", "pytest")
    assert run_pytest(project, "--tilescope", module=module).returncode == 0
    command = [sys.executable, "-m", "coverage", "json", "-o", "-"]
    report = json.loads(subprocess.run(command, cwd=project, capture_output=True, check=True).stdout)
    file = report["files"]["kernels.py"]
    assert line_of("    out[t] = tile[63 - t]") in file["missing_lines"]  # of the first kernel
    first = line_of("def right(a, out):")
    assert {*range(first + 1, first + 6)} <= {*file["executed_lines"]}
