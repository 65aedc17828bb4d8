"""The keeper of a user's program: ends all processes that the program starts, and shortens its output.

`python -m tilescope.tracer.processes.keeper FOLDER COMMAND...` runs a command and its children as a process group,
and exits with the command's status. It kills the group when the command ends, when STOP arrives on standard input, or
when standard input closes. In the last case the keeper's parent has died, and FOLDER is removed too.

The command's standard error is written at its end; a long text loses its middle. Its standard output is forwarded
immediately; of a long text, the first lines follow immediately and the last ones at the end.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
from collections import deque
from contextlib import suppress
from typing import IO

from .parent_death import die_with_parent, tie_to_this_process

STOP = b"stop\n"
FIRST_LINES, LAST_LINES = 100, 100  # lines of a text that are kept
MAX_LINE = 2000  # bytes of a line that are kept
FORWARDED_LINES = 1000  # lines of standard output that are forwarded immediately


class ShortenedText:
    """A text of which only the first and the last lines are kept."""

    def __init__(self) -> None:
        self._first: list[bytes] = []
        self._last: deque[bytes] = deque(maxlen=LAST_LINES)
        self._lines = 0

    def read(self, source: IO[bytes]) -> None:
        """Read a stream to its end."""
        while line := source.readline(MAX_LINE):
            is_complete = line.endswith(b"\n")
            while not is_complete and (rest := source.readline(1 << 20)):
                is_complete = rest.endswith(b"\n")
            self._lines += 1
            (self._first if self._lines <= FIRST_LINES else self._last).append(line.rstrip(b"\n"))

    def forward(self, source: IO[bytes], target: IO[bytes]) -> None:
        """Copy a stream's first lines immediately, and its last lines at its end."""
        with suppress(OSError):
            while line := source.readline(MAX_LINE):
                self._lines += 1
                if self._lines <= FORWARDED_LINES:
                    target.write(line)
                    target.flush()
                else:
                    self._last.append(line)
            if left_out := self._lines - FORWARDED_LINES - len(self._last):
                target.write(f"... {left_out:,} lines left out ...\n".encode() if left_out > 0 else b"")
            target.writelines(self._last)
            target.flush()

    def text(self) -> bytes:
        """Return the lines that are kept, with a note of the number left out."""
        left_out = self._lines - len(self._first) - len(self._last)
        gap = [f"... {left_out:,} lines left out ...".encode()] if left_out else []
        return b"".join(line + b"\n" for line in (*self._first, *gap, *self._last))


def main() -> int:
    """Run the command and return its exit status; end by the same signal if a signal ended it."""
    folder, *command = sys.argv[1:]
    own_pid = os.getpid()
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        # preexec_fn is safe: no other thread runs yet that could hold a lock.
        preexec_fn=(lambda: die_with_parent(own_pid)) if os.name == "posix" else None,
    )
    tie_to_this_process(process.pid)
    threading.Thread(target=_listen, args=(process, folder), daemon=True).start()
    printed = ShortenedText()
    assert process.stderr is not None
    assert process.stdout is not None
    reader = threading.Thread(target=printed.read, args=(process.stderr,), daemon=True)
    forwarding = ShortenedText(), process.stdout, sys.stdout.buffer
    forwarder = threading.Thread(target=ShortenedText.forward, args=forwarding, daemon=True)
    reader.start()
    forwarder.start()
    _wait(process)
    _end_all(process)
    status = process.wait()
    reader.join(1)
    forwarder.join(1)
    sys.stderr.buffer.write(printed.text())
    sys.stderr.flush()
    if status < 0:
        signal.signal(-status, signal.SIG_DFL) if -status not in (signal.SIGKILL, signal.SIGSTOP) else None
        os.kill(own_pid, -status)
    return status


def _listen(process: subprocess.Popen[bytes], folder: str) -> None:
    """End the command when STOP arrives or the input closes."""
    message = os.read(sys.stdin.fileno(), len(STOP))  # unbuffered: the exit would wait for a stream's lock
    _end_all(process)
    if not message:
        shutil.rmtree(folder, ignore_errors=True)
        os._exit(0)


def _wait(process: subprocess.Popen[bytes]) -> None:
    """Wait until the command has ended without reaping it, so that its process ID can't be reused."""
    if hasattr(os, "waitid"):
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    else:
        process.wait()


def _end_all(process: subprocess.Popen[bytes]) -> None:
    """Kill the command and the processes it started."""
    if sys.platform == "win32":
        process.kill()
        return
    with suppress(OSError):  # the group has ended already
        os.killpg(process.pid, signal.SIGKILL)


if __name__ == "__main__":
    sys.exit(main())
