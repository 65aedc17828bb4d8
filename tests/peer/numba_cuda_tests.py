"""Run numba-cuda's own tests under its simulator, plain and under `tilescope run`, module by module.

    python tests/peer/numba_cuda_tests.py [PART OF A MODULE'S NAME ...]

Prints every test that passes under Numba's simulator and not under ours, and both totals of seconds. Exit
status 1 where there is such a test. Needs numba-cuda with what its tests import (filecheck, psutil, cffi).
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from importlib import util
from pathlib import Path

# What is said on standard error once a process, as of numbers that no GPU gave, comes before the outcome.
RESULT = re.compile(r"^(\w+) \((\S+)\)(?:\n[^\n]+?)? ?\.\.\. (?:tilescope: .*\n)*(.*)$", re.MULTILINE)
MINUTES = 5 * 60
# Tests that Numba's simulator refuses what ours takes as a GPU does: the alignment of an array, a stream of another
# library's; and that it transposes an array without the copy that a GPU makes.
TAKEN = (
    "TestCudasimUnsupportedAlignment.test_local_unsupported",
    "TestCudasimUnsupportedAlignment.test_shared_unsupported",
    "TestStreamAPI.test_external_stream_simulator_unavailable",
    "TestCudaArray.test_array_like_2d_view_transpose_simulator",
)


def modules(parts: list[str]) -> list[str]:
    """Return the names of the test modules that hold any of these parts."""
    spec = util.find_spec("numba_cuda")
    assert spec is not None and spec.origin is not None, "numba-cuda is not installed"
    root = Path(spec.origin).parent
    paths = sorted((root / "numba/cuda/tests").rglob("test_*.py"))
    names = [".".join(path.relative_to(root).with_suffix("").parts) for path in paths]
    return [name for name in names if not parts or any(part in name for part in parts)]


def outcomes(command: list[str], module: str) -> tuple[dict[str, str], float]:
    """Return each test's outcome and the seconds that the module took."""
    begin = time.perf_counter()
    try:
        done = subprocess.run(
            [*command, "-m", "unittest", "-v", module],
            env={**os.environ, "NUMBA_ENABLE_CUDASIM": "1"}, capture_output=True, text=True,
            timeout=MINUTES, check=False,
        )  # fmt: skip
        text = done.stderr
    except subprocess.TimeoutExpired:
        text = f"{module} (the module) ... took more than {MINUTES} s"
    results = {test: outcome for _, test, outcome in RESULT.findall(text)}
    return results, time.perf_counter() - begin


def main(parts: list[str]) -> int:
    """Compare module by module; return the exit status."""
    ours = [sys.executable, "-m", "tilescope", "run", "--quiet"]
    seconds, counts, worse = [0.0, 0.0], {"tests": 0, "passed": 0, "ours": 0}, []
    for module in modules(parts):
        (plain, first), (traced, second) = outcomes([sys.executable], module), outcomes(ours, module)
        seconds = [seconds[0] + first, seconds[1] + second]
        counts["tests"] += len(plain)
        counts["passed"] += sum(outcome == "ok" for outcome in plain.values())
        counts["ours"] += sum(outcome == "ok" for outcome in traced.values())
        lost = [
            f"{test}: {traced.get(test, 'gone')}"
            for test, o in plain.items()
            if o == "ok" and traced.get(test) != "ok" and not test.endswith(TAKEN)
        ]
        worse += lost
        print(f"{module}: {first:.1f} s, {second:.1f} s under tilescope run", *lost, sep="\n    ", flush=True)
    print(
        f"{counts['tests']} tests: {counts['passed']} pass in {seconds[0]:.0f} s under Numba's simulator, "
        f"{counts['ours']} in {seconds[1]:.0f} s under tilescope run, {len(worse)} lost"
    )
    return 1 if worse else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
