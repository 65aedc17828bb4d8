"""Check a file in a child process, with a limit of time."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from ..policy.policy import is_cpp_file

KEPT_BYTES = 1 << 16  # of standard error, from its end
OURS = "tilescope: "  # the beginning of our lines there


class CheckEnd(NamedTuple):
    """The end of a check."""

    report: dict[str, Any] | None  # as of --output-format json; None if there is none
    sentences: tuple[str, ...]  # of `check`, from standard error
    last_line: str  # of standard error


async def run_check(file: str, folder: Path, seconds: float) -> CheckEnd:
    """Check a file, with the counters of its lines; raises TimeoutError.

    The child and its children end with this coroutine, also if it is cancelled. folder: the working directory.
    seconds: the limit of the wall time.
    """
    more = [] if is_cpp_file(file) else ["--counters", "--try-advice"]
    command = [sys.executable, "-P", "-m", "tilescope", "check", "--output-format", "json", *more, file]
    process = await asyncio.create_subprocess_exec(
        *command, cwd=folder, stdin=DEVNULL, stdout=PIPE, stderr=PIPE, start_new_session=os.name == "posix"
    )
    try:
        async with asyncio.timeout(seconds):
            output, errors = await asyncio.gather(_all_of(process.stdout), _end_of(process.stderr))
            await process.wait()
    finally:
        _kill(process)
    return _ended(output, errors.decode("utf-8", "replace").splitlines())


def _ended(output: bytes, lines: list[str]) -> CheckEnd:
    try:
        report = json.loads(output)
    except ValueError:
        report = None
    sentences = tuple(line.removeprefix(OURS) for line in lines if line.startswith(OURS))
    others = [line for line in lines if line.strip() and not line.startswith(OURS)]
    return CheckEnd(report, sentences, others[-1] if others else "")


async def _all_of(stream: asyncio.StreamReader | None) -> bytes:
    return b"" if stream is None else await stream.read()


async def _end_of(stream: asyncio.StreamReader | None) -> bytes:
    """Read a stream to its end, and keep only the last part: a program may print without an end."""
    kept = b""
    while stream is not None and (part := await stream.read(KEPT_BYTES)):
        kept = (kept + part)[-KEPT_BYTES:]
    return kept


def _kill(process: Process) -> None:
    """Kill a process with its children."""
    with suppress(ProcessLookupError):
        if os.name == "posix":
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
