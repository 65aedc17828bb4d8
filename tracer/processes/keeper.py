"""The keeper of a user's program: all that the program starts ends with it, and what it prints stays small.

`python -m tilescope.tracer.processes.keeper FOLDER COMMAND...` runs a command with its children as a group of their
own, and ends with the command's status. Ended are they all when the command ends; when STOP comes on standard input;
and when that closes without it, since then whoever started the keeper has died: FOLDER is removed too. What the command
prints on standard error is written at its end, long texts without their middle; its standard output is passed on as it
comes, of long texts the first lines and at the end the last ones.
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
FIRST, LAST, LONGEST = 100, 100, 2000  # lines of a text that are kept, and bytes of a line
LINES = 1000  # lines of standard output that are passed on as they come


class ShortenedText:
    """A text that may be long, of which the first and the last lines are kept."""

    def __init__(self) -> None:
        self._first: list[bytes] = []
        self._last: deque[bytes] = deque(maxlen=LAST)
        self._lines = 0

    def take(self, source: IO[bytes]) -> None:
        """Take in all that comes."""
        while line := source.readline(LONGEST):
            whole = line.endswith(b"\n")
            while not whole and (rest := source.readline(1 << 20)):
                whole = rest.endswith(b"\n")
            self._lines += 1
            (self._first if self._lines <= FIRST else self._last).append(line.rstrip(b"\n"))

    def pass_on(self, source: IO[bytes], target: IO[bytes]) -> None:
        """Write the first lines of what comes as they come, and the last ones at the end."""
        with suppress(OSError):
            while line := source.readline(LONGEST):
                self._lines += 1
                if self._lines <= LINES:
                    target.write(line)
                    target.flush()
                else:
                    self._last.append(line)
            if left_out := self._lines - LINES - len(self._last):
                target.write(f"... {left_out:,} lines left out ...\n".encode() if left_out > 0 else b"")
            target.writelines(self._last)
            target.flush()

    def text(self) -> bytes:
        """Return what is kept, and how much is not."""
        left_out = self._lines - len(self._first) - len(self._last)
        gap = [f"... {left_out:,} lines left out ...".encode()] if left_out else []
        return b"".join(line + b"\n" for line in (*self._first, *gap, *self._last))


def main() -> int:
    """Run the command and return its exit status; a signal's that ended it as a shell tells it."""
    folder, *command = sys.argv[1:]
    own = os.getpid()
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        # No other thread runs here as yet that could hold a lock.
        preexec_fn=(lambda: die_with_parent(own)) if os.name == "posix" else None,
    )
    tie_to_this_process(process.pid)
    threading.Thread(target=_listen, args=(process, folder), daemon=True).start()
    printed = ShortenedText()
    assert process.stderr is not None
    assert process.stdout is not None
    reader = threading.Thread(target=printed.take, args=(process.stderr,), daemon=True)
    passed = ShortenedText(), process.stdout, sys.stdout.buffer
    passer = threading.Thread(target=ShortenedText.pass_on, args=passed, daemon=True)
    reader.start()
    passer.start()
    _wait(process)
    _end_all(process)
    status = process.wait()
    reader.join(1)
    passer.join(1)
    sys.stderr.buffer.write(printed.text())
    sys.stderr.flush()
    if status < 0:
        signal.signal(-status, signal.SIG_DFL) if -status not in (signal.SIGKILL, signal.SIGSTOP) else None
        os.kill(own, -status)
    return status


def _listen(process: subprocess.Popen[bytes], folder: str) -> None:
    """End the command when somebody says so, or is gone."""
    told = os.read(
        sys.stdin.fileno(), len(STOP)
    )  # without the lock of a stream, which the end would wait for
    _end_all(process)
    if not told:
        shutil.rmtree(folder, ignore_errors=True)
        os._exit(0)


def _wait(process: subprocess.Popen[bytes]) -> None:
    """Wait until the command has ended, and leave its number to it: else another group might have it by now."""
    if hasattr(os, "waitid"):
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    else:
        process.wait()


def _end_all(process: subprocess.Popen[bytes]) -> None:
    """End the command and what it started."""
    if sys.platform == "win32":
        process.kill()
        return
    with suppress(OSError):  # it has ended by itself
        os.killpg(process.pid, signal.SIGKILL)


if __name__ == "__main__":
    sys.exit(main())
