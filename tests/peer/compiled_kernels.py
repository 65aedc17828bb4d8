"""Run every launch of numba-cuda's own tests by both engines, thread by thread, and compare what they recorded.

    python tests/peer/compiled_kernels.py [PART OF A MODULE'S NAME ...]

Prints, as JSON, how many kernels and launches the compiled engine takes, refuses (each with its sentence) and
traces otherwise than the simulator. Exit status 1 where a launch differs. Needs numba-cuda with what its tests import.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import warnings
from collections import Counter
from collections.abc import Iterator
from importlib import util
from pathlib import Path
from typing import Any

os.environ["NUMBA_ENABLE_CUDASIM"] = "1"

import numpy as np

from tilescope.tracer.model.launch import Schedule
from tilescope.tracer.run.program_hook import RecordingOptions, record_launches

MARK = "@@compiled "
SECONDS = 300


def modules(parts: list[str]) -> list[str]:
    """Return the names of the test modules that hold any of these parts."""
    spec = util.find_spec("numba_cuda")
    assert spec is not None and spec.origin is not None, "numba-cuda is not installed"
    root = Path(spec.origin).parent
    paths = sorted((root / "numba/cuda/tests").rglob("test_*.py"))
    names = [".".join(path.relative_to(root).with_suffix("").parts) for path in paths]
    return [name for name in names if not parts or any(part in name for part in parts)]


def arrays(value: Any) -> Iterator[np.ndarray[Any, Any]]:
    """Yield the arrays in an argument."""
    if isinstance(value, tuple):
        for part in value:
            yield from arrays(part)
    elif isinstance(value, np.ndarray):
        yield value


def compare_every_launch() -> None:
    """Make every launch of this process run by both engines, and print how they compare."""
    sys.path.append(str(Path(__file__).parent.parent / "helpers"))
    from engines import traces_equal, values_close
    from tilescope.tracer.compiled.driver import engine as compiled
    from tilescope.tracer.compiled.not_compilable import NotCompilableError
    from tilescope.tracer.recording.finish import finish
    from tilescope.tracer.recording.run_record import RunRecord
    from tilescope.tracer.simulator.execution import Execution

    simulate = Execution.execute

    def execute(
        self: Execution, kernel: Any, grid: Any, dim: Any, arguments: tuple[Any, ...], debug: bool, typed: Any
    ) -> None:
        theirs = self.record
        before = [(a, a.copy()) for value in arguments for a in arrays(value)]
        ours = RunRecord(theirs.launch, theirs.names, lambda done, total: None)
        ours.grid, ours.dim = grid, dim
        output = ""
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                compiled.execute(ours, kernel, arguments, debug=debug)
        except NotCompilableError as why:
            output = str(why)
        results = [a.copy() for a, _ in before]
        for array, content in before:
            if array.flags.writeable:
                array[...] = content
        simulate(self, kernel, grid, dim, arguments, debug, typed)
        verdict = "refused" if output else "same"
        if not output:
            file = kernel.__code__.co_filename
            alike = all(values_close(a, r, 1e-4) for (a, _), r in zip(before, results, strict=True))
            if not (alike and traces_equal(finish(ours, file, ""), finish(theirs, file, ""), 1e-4)):
                verdict = "differs"
        print(MARK + json.dumps([verdict, f"{kernel.__module__}.{kernel.__qualname__}", output]), flush=True)

    Execution.execute = execute  # type: ignore[method-assign]


def child(module: str) -> None:
    """Run one module's tests."""
    import unittest

    record_launches(
        RecordingOptions(schedule=Schedule("sequential"), engine="simulator"), lambda trace, seconds: None
    )
    import numba.cuda  # noqa: F401  # record_launches waits for it

    compare_every_launch()
    unittest.main(module=None, argv=["tests", module], exit=False, verbosity=0)


def launches(module: str) -> Iterator[tuple[str, str, str]]:
    """Yield (verdict, kernel, sentence) of each launch of a module's tests."""
    command = [sys.executable, __file__, "--child", module]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired:
        yield "crashed", module, f"took more than {SECONDS} s"
        return
    if done.returncode < 0:
        yield "crashed", module, f"ended by signal {-done.returncode}"
    for line in done.stdout.splitlines():
        if line.startswith(MARK):
            yield tuple(json.loads(line.removeprefix(MARK)))


def main(parts: list[str]) -> int:
    """Compare module by module; return the exit status."""
    results = [item for module in modules(parts) for item in launches(module)]
    verdicts: dict[str, str] = {}
    for verdict, kernel, _ in results:
        verdicts[kernel] = min(verdicts.get(kernel, verdict), verdict)  # anything before "same"
    sentences = sorted({f"{kernel}: {output}" for _, kernel, output in results if output})
    differing = sorted({kernel for verdict, kernel, _ in results if verdict in ("differs", "crashed")})
    counts = {"launches": Counter(v for v, _, _ in results), "kernels": Counter(verdicts.values())}
    print(json.dumps({**counts, "differing": differing, "refused": sentences}, indent=1))
    return 1 if differing else 0


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        child(sys.argv[2])
    else:
        sys.exit(main(sys.argv[1:]))
