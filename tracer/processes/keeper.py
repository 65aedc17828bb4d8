"""The keeper of a user's program: ends all processes that the program starts, and shortens its output.

`python -m tilescope.tracer.processes.keeper FOLDER COMMAND...` runs a command and its children as a process group,
and exits with the command's status. It kills the group when the command ends, when STOP arrives on standard input, or
when standard input closes. In the last case the keeper's parent has died, and FOLDER is removed too.

The command's output is forwarded immediately; of a long text, the first lines follow immediately and the last ones at
the end.
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
OUTPUT_LINES, ERROR_LINES = 1000, 100  # lines of the standard streams that are forwarded immediately
LAST_LINES = 100  # lines that are forwarded at the end of a long text
PIECE = 2000  # bytes of a line that count as one line


def forward(source: IO[bytes], target: IO[bytes], first_lines: int) -> None:
    """Copy a stream's first lines immediately, and its last lines at its end, with a note of the number left out."""
    last: deque[bytes] = deque()
    pieces = left_out = 0
    with suppress(OSError):
        while piece := source.readline(PIECE):
            pieces += 1
            if pieces <= first_lines:
                target.write(piece)
                target.flush()
                continue
            last.append(piece)
            if len(last) > LAST_LINES:
                left_out += last.popleft().endswith(b"\n")
        target.write(f"... {left_out:,} lines left out ...\n".encode() if left_out else b"")
        target.writelines(last)
        target.flush()


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
    assert process.stderr is not None
    assert process.stdout is not None
    streams = (
        (process.stdout, sys.stdout.buffer, OUTPUT_LINES),
        (process.stderr, sys.stderr.buffer, ERROR_LINES),
    )
    forwarders = [threading.Thread(target=forward, args=stream, daemon=True) for stream in streams]
    for forwarder in forwarders:
        forwarder.start()
    _wait(process)
    _end_all(process)
    status = process.wait()
    for forwarder in forwarders:
        forwarder.join(1)
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
