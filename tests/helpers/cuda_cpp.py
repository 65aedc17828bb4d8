"""CUDA C++ programs for tests: compile and run a text, and take its traces."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

from tilescope.tracer.cuda_cpp.build import build
from tilescope.tracer.cuda_cpp.compilers import CompilerError, find_compiler
from tilescope.tracer.cuda_cpp.session import ProgramEnd, Session, SessionOptions
from tilescope.tracer.model.launch import Limits, Schedule
from tilescope.tracer.model.trace import Trace

LOCKSTEP, ALL = Schedule(), Limits()


def has_compiler() -> bool:
    try:
        find_compiler()
    except CompilerError:
        return False
    return True


needs_compiler = pytest.mark.skipif(not has_compiler(), reason="there is no C++ compiler")


class Ran(NamedTuple):
    """A program that ran."""

    traces: list[Trace]
    end: ProgramEnd
    output: str


def run_file(
    path: Path,
    *,
    schedule: Schedule = LOCKSTEP,
    resident: int | None = None,
    arguments: Sequence[str] = (),
    limits: Limits = ALL,
) -> Ran:
    """Compile and run a file; its output is what it wrote to standard output."""
    built = build(path)
    traces: list[Trace] = []
    session = Session(
        SessionOptions(schedule, resident, patience=2.0, limits=limits),
        lambda trace, seconds: traces.append(trace),
        lambda program: (built.sources.texts, built.compiler.version),
    )
    output = Path(tempfile.mkdtemp()) / "output"
    command = ["/bin/sh", "-c", 'exec "$0" "$@" > "$OUTPUT"', str(built.path), *arguments]
    try:
        end = session.run(command, os.environ | {"OUTPUT": str(output)})
    finally:
        session.close()
    return Ran(traces, end, output.read_text())


def run_text(
    folder: Path,
    text: str,
    *,
    schedule: Schedule = LOCKSTEP,
    resident: int | None = None,
    limits: Limits = ALL,
) -> Ran:
    """Compile and run a text."""
    path = folder / "program.cu"
    path.write_text(text)
    return run_file(path, schedule=schedule, resident=resident, limits=limits)
