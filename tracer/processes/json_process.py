"""A child process that runs one of our modules and exchanges lines of JSON with its parent.

A kernel, a driver or a lack of memory may end it at any time. The parent goes on and reports how it ended.
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

MAX_ERROR_LENGTH = 200  # characters of the last line of standard error


class StartError(Exception):
    """A process can't be started; the message is one sentence."""


def module_command(module: str) -> tuple[str, ...]:
    """Build the command line that runs one of our modules; -P keeps the working folder off the import path."""
    return (sys.executable, "-P", "-m", module)


def describe_exit_status(status: int) -> str:
    """Describe how a process ended: by a signal (a negative status, as in `subprocess`) or with an exit code."""
    if status >= 0:
        return f"exit code {status}"
    killed = status == -9  # Linux kills processes with it when memory runs out
    return f"signal {-status}" + ", perhaps for lack of memory" * killed


# After a matrix product in NumPy, OpenBLAS threads spin on all other cores for a tenth of a second and slow traces.
# The value is the exponent of 2 of the cycles they spin. OpenBLAS reads it when it is loaded.
BLAS_ENVIRONMENT = {"OPENBLAS_THREAD_TIMEOUT": "16"}


class JsonProcess:
    """A running child process; one thread talks to it, and any thread may `kill` it.

    It runs in a separate session: Ctrl+C in the terminal reaches only the parent, which may pass it on. Its standard
    error goes to an unnamed file in `folder`, or in the folder for temporary files.
    """

    def __init__(self, name: str, command: Sequence[str], folder: Path | None = None) -> None:
        """Start the process; raises StartError, whose message contains `name`, such as "tracing process"."""
        try:
            with contextlib.ExitStack() as undo:
                self._errors = undo.enter_context(tempfile.TemporaryFile(dir=folder))
                self._process = subprocess.Popen(
                    command,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=self._errors,
                    env=BLAS_ENVIRONMENT | os.environ,
                    start_new_session=True,
                    creationflags=_flags(),
                )
                tie_to_this_process(self._process.pid)
                undo.pop_all()
        except OSError as error:
            raise StartError(f"The {name} can't be started ({error}); close other programs.") from error
        assert self._process.stdin is not None and self._process.stdout is not None
        self._input, self._output = self._process.stdin, self._process.stdout
        self._reported = 0  # bytes of standard error that are reported already

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.end()

    def send(self, message: object) -> None:
        """Write a message as a line; does nothing after the process has ended, which `lines` shows."""
        with contextlib.suppress(OSError):
            self._input.write(msgspec.json.encode(message) + b"\n")
            self._input.flush()

    def end_input(self) -> None:
        """Close the input: no message follows."""
        with contextlib.suppress(OSError):  # unsent messages are not needed
            self._input.close()

    def lines(self) -> Iterator[bytes]:
        """Yield the lines that the process writes until it ends, without an incomplete last line."""
        with contextlib.suppress(ValueError):  # another thread has ended the process and closed its output
            for line in self._output:
                if line.endswith(b"\n"):
                    yield line

    @property
    def pid(self) -> int:
        """The process ID."""
        return self._process.pid

    def poll(self) -> int | None:
        """Return the exit status (see `describe_exit_status`), None while the process runs."""
        return self._process.poll()

    def forget_errors(self) -> None:
        """Mark the standard error written so far as reported, so that `death` leaves it out."""
        self._reported = os.fstat(self._errors.fileno()).st_size

    def describe_death(self) -> str:
        """Wait for the end and describe it: the signal or exit code, and the last line of standard error."""
        cause = describe_exit_status(self._process.wait())
        try:
            self._errors.seek(self._reported)
            lines = self._errors.read().decode(errors="replace").splitlines()
        except ValueError:  # another thread has ended the process and closed its standard error
            return cause
        last = next((line for line in reversed(lines) if line.strip()), "")
        return f"{cause}: {last[:MAX_ERROR_LENGTH]}" if last else cause

    def detach_in_child(self) -> None:
        """In a forked process, close the pipes to the process, so that it ends with its own parent."""
        null_device = os.open(os.devnull, os.O_RDWR)
        for stream in (self._input, self._output):  # threads of the parent may have held their locks
            os.dup2(null_device, stream.fileno(), inheritable=False)
        os.close(null_device)

    def kill(self) -> None:
        """Kill the process; does nothing if it has ended."""
        self._process.kill()

    def end(self) -> None:
        """Kill the process, wait for its end, and close its pipes."""
        self._process.kill()
        self._process.wait()
        self.end_input()
        self._output.close()
        self._errors.close()


def _flags() -> int:
    if sys.platform == "win32":
        return subprocess.CREATE_NO_WINDOW | subprocess.CREATE_NEW_PROCESS_GROUP
    return 0
