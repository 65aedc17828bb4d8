"""Launches counted as compiled in a process that has Numba's CUDA target; the cases recorded on an H100 as launches.

As a program it reads jobs, a line of JSON each, and answers each with a line; with `--without-nvidia`, as where
NVIDIA's files are missing.
"""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import msgspec
import numpy as np

from tilescope.tracer.as_compiled.job import ANSWER, JOB, CompiledCounters, Job, LaunchJob
from tilescope.tracer.model.launch import Array, Dim3, Launch, Scalar

HEAD = "import math\n\nimport numpy as np\nfrom numba import cuda, float32, float64, int32, int64, uint32, uint64\n\n\n"
DATA = Path(__file__).parent.parent / "data"
CASES = DATA / "gpu_truth" / "cases.py"


def count_launches(jobs: list[Job], *options: str) -> list[CompiledCounters]:
    """Count launches in a new process."""
    lines = b"".join(msgspec.json.encode(job) + b"\n" for job in jobs)
    command = [sys.executable, __file__, *options]
    done = subprocess.run(command, input=lines, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()[-2000:]
    return [ANSWER.decode(line) for line in done.stdout.splitlines()]


def nonzero_counters(counters: CompiledCounters) -> dict[str, int]:
    """Return the counters that are not 0."""
    assert not counters.reason, counters.reason
    return {name: amount for name, amount in counters.counters.items() if amount}


def launch_of_text(text: str, *arguments: object, grid: int = 1, block: int = 32, folder: Path) -> LaunchJob:
    """Return the job of a kernel called `kernel`, with these arrays and numbers."""
    return LaunchJob(
        Launch(
            f"{folder}/kernel.py:kernel",
            f"{HEAD}{text}",
            convert_arguments(arguments, folder),
            (grid, 1, 1),
            (block, 1, 1),
        )
    )


def convert_arguments(arguments: tuple[object, ...], folder: Path) -> tuple[Array | Scalar, ...]:
    """Return arguments as a launch has them, the arrays in files of a folder."""
    described: list[Array | Scalar] = []
    for argument in arguments:
        if isinstance(argument, np.ndarray):
            path = folder / f"{len(list(folder.iterdir()))}.npy"
            np.save(path, argument)
            described.append(
                Array(argument.shape, str(argument.dtype), "file", path=str(path), digest=str(path))
            )
        elif isinstance(argument, np.generic):
            described.append(Scalar(argument.item(), str(argument.dtype)))
        else:
            assert isinstance(argument, bool | int | float)
            described.append(Scalar(argument))
    return tuple(described)


def recorded_counters(file: str = "h100_more.json") -> dict[str, dict[str, int]]:
    """Return the counters that an H100 had of each case, by its name."""
    truth = json.loads((DATA / file).read_text())
    return {case["case"]: case["counters"] for case in truth if "counters" in case}


def recorded_launches(names: list[str], folder: Path) -> list[LaunchJob]:
    """Return the launches of these cases."""
    cases = _cases()
    cases_by_name = {name: rest for name, *rest in (*cases.cases(), *cases.contended()) if name in names}
    jobs = []
    for name in names:
        kernel, grid, block, arguments, shared = cases_by_name[name]
        function = kernel.py_func if hasattr(kernel, "py_func") else kernel
        file = Path(function.__code__.co_filename)
        source = file.read_text()
        if "import " not in source:  # a text of which the names are those of `cases`
            source = f"{HEAD}@cuda.jit\n{source}"
        launch = Launch(
            f"{file}:{function.__name__}", source, convert_arguments(arguments, folder), _dim3(grid), _dim3(block),
            shared_bytes=shared,
        )  # fmt: skip
        jobs.append(LaunchJob(launch))
    return jobs


def _cases() -> ModuleType:
    spec = importlib.util.spec_from_file_location("cases", CASES)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _dim3(lengths: object) -> Dim3:
    x, y, z, *_ = (*(lengths if isinstance(lengths, tuple) else (lengths,)), 1, 1)
    return int(x), int(y), int(z)


def main() -> None:
    """Answer each job."""
    os.environ.pop("NUMBA_ENABLE_CUDASIM", None)
    from tilescope.tracer.recording import nvidia_files
    from tilescope.tracer.type_inference.process import import_submodules

    if "--without-nvidia" in sys.argv:
        for name in ("libdevice", "libnvvm", "ptxas", "nvdisasm"):
            setattr(nvidia_files, name, lambda: None)
    import_submodules()
    from tilescope.tracer.as_compiled.execution.count import count

    for line in sys.stdin.buffer:
        sys.stdout.buffer.write(msgspec.json.encode(count(JOB.decode(line))) + b"\n")


if __name__ == "__main__":
    main()
