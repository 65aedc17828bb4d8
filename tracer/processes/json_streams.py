"""The child's end of `json_process`: the streams on which it reads and writes lines of JSON."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import IO

import msgspec


def private_streams() -> tuple[IO[bytes], IO[bytes]]:
    """Return the process's input and output.

    Other code in the process then reads from the null device and prints to standard error.
    """
    source, target = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    null_device = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null_device, 0)
    os.close(null_device)
    os.dup2(2, 1)
    return source, target


def leave_at_once() -> None:
    """End the process immediately, without cleanup."""
    os._exit(0)


def make_sender(target: IO[bytes], leave: Callable[[], None] = leave_at_once) -> Callable[[object], None]:
    """Return a function that writes and flushes a message as a line; `leave` is called once the reader is gone."""
    encoder = msgspec.json.Encoder()

    def send(message: object) -> None:
        try:
            target.write(encoder.encode(message) + b"\n")
            target.flush()
        except OSError:
            leave()

    return send
