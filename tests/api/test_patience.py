"""Endless launches in the Python API: stopped, and reported by one exception with the line."""

from __future__ import annotations

import inspect
import os
import re
import subprocess
import sys

import pytest

import tilescope
from patience import PATIENCE
from tilescope.tracer.run.long_launch import CHECK_PATIENCE, RUN_PATIENCE

HEAD = """
import warnings
warnings.simplefilter("ignore")
import numpy as np
import tilescope
from numba import cuda

@cuda.jit
def endless(a):
    while True:
        a[0] += 1

@cuda.jit
def add_one(a):
    a[0] += 1

a = np.zeros(1, np.int32)
"""
LINE = 1 + HEAD.splitlines().index("        a[0] += 1")


def run(folder, text):
    (folder / "script.py").write_text(HEAD + text)
    environment = {k: v for k, v in os.environ.items() if k != "NUMBA_ENABLE_CUDASIM"}
    done = subprocess.run(
        [sys.executable, "script.py"], cwd=folder, capture_output=True, text=True, timeout=PATIENCE, check=False,
        env=environment,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize(
    "calls",
    [
        "tilescope.trace(endless[1, 1], a, patience=1)",
        """
    with tilescope.trace_launches(patience=1): endless[1, 1](a)""",
    ],
)
def test_an_endless_launch_raises_one_exception_with_its_line(calls, tmp_path):
    text = run(
        tmp_path,
        f"""
try:
    {calls}
except tilescope.LaunchTimeoutError as error:
    print(error, "#", len(error.launch.trace["line"]) > 0, isinstance(error, tilescope.KernelRaised))
tilescope.trace(add_one[1, 1], a := np.zeros(1, np.int32))
print(a[0])
""",
    )
    sentence = rf".*script\.py:({LINE - 1}|{LINE}): The launch .* A larger `patience` lets it take longer\."
    assert re.fullmatch(rf"{sentence} # True True\n1\n", text), text


def test_check_reports_an_endless_launch_as_a_finding(tmp_path):
    text = run(
        tmp_path,
        """
try:
    tilescope.check(lambda: endless[1, 1](a), patience=1)
except tilescope.FindingsError as error:
    print(error)
""",
    )
    assert re.match(rf".*script\.py:({LINE - 1}|{LINE}): error: launch: 1 launch does not end: ", text), text


def test_the_defaults_are_those_of_the_command_line():
    def default(function):
        return inspect.signature(function).parameters["patience"].default

    assert default(tilescope.check) == CHECK_PATIENCE
    assert default(tilescope.trace) == default(tilescope.trace_launches) == RUN_PATIENCE


@pytest.mark.parametrize("patience", [0, -1, "3", float("nan"), float("inf")])
def test_another_patience_is_refused(patience):
    with pytest.raises(tilescope.TilescopeError, match="patience must be a number of seconds above 0, not"):
        tilescope.check(print, patience=patience)
