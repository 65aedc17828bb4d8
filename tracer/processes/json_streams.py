"""The other end of `json_process`: the lines that a process of ours reads and writes, whatever else runs in it."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import IO

import msgspec


def private_streams() -> tuple[IO[bytes], IO[bytes]]:
    """Return the process's input and output; what else it runs finds the null device and standard error there."""
    source, target = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return source, target


def leave_at_once() -> None:
    """End the process, whatever runs in it."""
    os._exit(0)


def sender(target: IO[bytes], leave: Callable[[], None] = leave_at_once) -> Callable[[object], None]:
    """Return what writes a message on a line, at once; where nobody listens any more, `leave` ends the process."""
    encoder = msgspec.json.Encoder()

    def send(message: object) -> None:
        try:
            target.write(encoder.encode(message) + b"\n")
            target.flush()
        except OSError:
            leave()

    return send
