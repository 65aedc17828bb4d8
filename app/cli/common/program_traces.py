"""The traces of a program that a command runs by itself."""

from __future__ import annotations

import subprocess
from pathlib import Path

from ....tracer.model.plan import TRACE_SUFFIX
from ....tracer.processes.json_process import module_command
from ...model.named_file import is_file
from .arguments import UsageError, missing_file_text

PROGRAMS = (".py", ".cu")
STDERR = 2  # file descriptor


def traces_of_program(name: str, folder: Path) -> list[Path]:
    """Run a program and save a trace of each launch; raises UsageError without any."""
    if not is_file(name):
        raise UsageError(missing_file_text(name))
    traces = folder / "traces"
    command = [*module_command("tilescope"), "run", "--out", str(traces), name]
    # The program's own output goes to standard error: standard output has the results.
    status = subprocess.run(command, stdout=STDERR, check=False).returncode
    paths = sorted(traces.glob(f"*{TRACE_SUFFIX}")) if traces.is_dir() else []
    if not paths:
        ended = f"; it ended with status {status}" if status else ""
        raise UsageError(f"{name} launches no kernel that leaves a trace{ended}.")
    return paths
