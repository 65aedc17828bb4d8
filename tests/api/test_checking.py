"""`tilescope.check` in tests of a user's, run by pytest as a course would."""

from __future__ import annotations

import os
import re
import subprocess
import sys

from patience import PATIENCE

TESTS = """
import numpy as np
import pytest
import tilescope
from numba import cuda, float32

pytestmark = pytest.mark.filterwarnings("ignore::Warning:numba")

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
def appends(a):
    names = []
    names.append(a[0])
    names.append("x")

@pytest.fixture
def a():
    return np.arange(1024, dtype=np.float32)

def launch(kernel, a):
    out = np.zeros(64, np.float32)
    kernel[1, 64](a, out)
    return out

def test_right(a):
    out = tilescope.check(launch, right, a)
    assert out.tolist() == a[::16][::-1].tolist()

def test_races(a):
    tilescope.check(launch, reverse, a)

def test_wasteful_strictly(a):
    tilescope.check(launch, right, a, fail_on="warning")

def test_refused(a):
    tilescope.check(lambda: appends[1, 1](a))

def test_nothing():
    tilescope.check(lambda: None)

def test_findings_come_before_what_the_function_raises(a):
    with pytest.raises(tilescope.FindingsError) as caught:
        tilescope.check(lambda: launch(reverse, a) + launch(None, a))
    assert isinstance(caught.value.__cause__, TypeError)
    assert [finding.kind for finding in caught.value.findings] == ["race"]
    (edit,) = caught.value.findings[0].fix  # a trial proved it
    assert (edit.old, edit.new) == ((), ("    cuda.syncthreads()",))
    assert isinstance(edit, tilescope.Edit) and edit.line == caught.value.findings[0].line
    assert [one.kernel for one in caught.value.launches] == ["reverse"]
"""


def test_pytest_fails_with_the_findings_as_its_message(tmp_path):
    (tmp_path / "test_homework.py").write_text(TESTS)
    environment = {k: v for k, v in os.environ.items() if k != "NUMBA_ENABLE_CUDASIM"}
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-q", "-rA", "test_homework.py"]
    done = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, env=environment, timeout=PATIENCE
    )
    outcome = dict(reversed(item) for item in re.findall(r"^(PASSED|FAILED) \S+::(\w+)", done.stdout, re.M))
    assert outcome == {
        "test_right": "PASSED", "test_races": "FAILED",
        "test_wasteful_strictly": "FAILED", "test_refused": "FAILED", "test_nothing": "FAILED",
        "test_findings_come_before_what_the_function_raises": "PASSED",
    }, done.stdout  # fmt: skip
    file, line = tmp_path / "test_homework.py", TESTS.splitlines().index("    out[t] = tile[63 - t]") + 1
    assert f"FindingsError: {file}:{line}: error: race: 64 elements of tile are written" in done.stdout
    assert ": warning: 32 sectors for each load of a by a warp" in done.stdout
    assert "TilescopeError: " in done.stdout and "Numba can't compile appends for a GPU" in done.stdout
    assert "def check(" not in done.stdout  # what fails is the test
    assert "TilescopeError: <lambda> launched no kernel, so nothing was checked." in done.stdout
