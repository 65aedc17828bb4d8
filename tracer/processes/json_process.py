"""A process that runs a module of ours and is spoken to in JSON, a line each way: started, heard, ended.

A kernel, a driver or a lack of memory may end it at any time. Whoever started it goes on, and says how it ended.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

import msgspec

from .parent_death import tie_to_this_process

LONGEST = 200  # characters of a last line


class StartError(Exception):
    """A process can't be started; the text is one sentence."""


def module_command(module: str) -> tuple[str, ...]:
    """Return what runs a module of ours, in whose way no file of the working folder comes (-P)."""
    return (sys.executable, "-P", "-m", module)


def cause_of_death(status: int) -> str:
    """Return how a process ended: the signal (where the status is negative, as in `subprocess`) or the exit code."""
    if status >= 0:
        return f"exit code {status}"
    killed = status == -9  # Linux ends processes so when memory runs out
    return f"signal {-status}" + ", perhaps for want of memory" * killed


# After NumPy has multiplied matrices, OpenBLAS lets threads on all other cores spin for a tenth of a second, which no
# trace can have then; 2 to this power are the cycles for which they do. OpenBLAS looks when it is loaded.
CALM_BLAS = {"OPENBLAS_THREAD_TIMEOUT": "16"}


class JsonProcess:
    """A process, from its start on; one thread talks to it, and any may `kill` it.

    In a session of its own: Ctrl+C in the terminal is for us alone, and ours to pass on. What it says on standard
    error is kept in a file without a name, in `folder` or where temporary files go.
    """

    def __init__(self, name: str, command: Sequence[str], folder: Path | None = None) -> None:
        """Start it; raises StartError, whose sentence calls it by its name: "tracing process"."""
        try:
            with contextlib.ExitStack() as undo:
                self._errors = undo.enter_context(tempfile.TemporaryFile(dir=folder))
                self._process = subprocess.Popen(
                    command,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=self._errors,
                    env=CALM_BLAS | os.environ,
                    start_new_session=True,
                    creationflags=_flags(),
                )
                tie_to_this_process(self._process.pid)
                undo.pop_all()
        except OSError as error:
            raise StartError(f"The {name} can't be started ({error}); close other programs.") from error
        assert self._process.stdin is not None and self._process.stdout is not None
        self._input, self._output = self._process.stdin, self._process.stdout
        self._explained = 0  # bytes of its errors that explain no death to come

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.end()

    def send(self, message: object) -> None:
        """Write a message on a line; one that has ended gets none, which `lines` shows."""
        with contextlib.suppress(OSError):
            self._input.write(msgspec.json.encode(message) + b"\n")
            self._input.flush()

    def end_input(self) -> None:
        """Say that no message follows."""
        with contextlib.suppress(OSError):  # what was not sent is not needed
            self._input.close()

    def lines(self) -> Iterator[bytes]:
        """Yield what it writes, line by line, until it ends; half a line of one that died is left out."""
        with contextlib.suppress(ValueError):  # another thread has ended it, and closed what it says
            for line in self._output:
                if line.endswith(b"\n"):
                    yield line

    @property
    def pid(self) -> int:
        """The number of the process."""
        return self._process.pid

    def poll(self) -> int | None:
        """Return the status it ended with (see `cause_of_death`), None while it runs."""
        return self._process.poll()

    def forget_errors(self) -> None:
        """Take what it has said on standard error until now as reported: it explains no death to come."""
        self._explained = os.fstat(self._errors.fileno()).st_size

    def death(self) -> str:
        """Wait until it has ended and return how: the signal or exit code, and the last line of its errors."""
        cause = cause_of_death(self._process.wait())
        try:
            self._errors.seek(self._explained)
            lines = self._errors.read().decode(errors="replace").splitlines()
        except ValueError:  # another thread has ended it, and closed what it said
            return cause
        last = next((line for line in reversed(lines) if line.strip()), "")
        return f"{cause}: {last[:LONGEST]}" if last else cause

    def leave_to_parent(self) -> None:
        """In a process that was forked: close what leads to it, so that it ends with the one that started it."""
        nowhere = os.open(os.devnull, os.O_RDWR)
        for stream in (self._input, self._output):  # whose locks threads of the parent may have held
            os.dup2(nowhere, stream.fileno(), inheritable=False)
        os.close(nowhere)

    def kill(self) -> None:
        """End it at once; nothing happens where it has ended."""
        self._process.kill()

    def end(self) -> None:
        """Kill it, wait until it is gone, and close what led to it."""
        self._process.kill()
        self._process.wait()
        self.end_input()
        self._output.close()
        self._errors.close()


def _flags() -> int:
    if sys.platform == "win32":
        return subprocess.CREATE_NO_WINDOW | subprocess.CREATE_NEW_PROCESS_GROUP
    return 0
