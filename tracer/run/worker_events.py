"""What the window's process and the worker say to each other: a line of JSON each."""

from __future__ import annotations

import msgspec


class Job(msgspec.Struct, frozen=True):
    """Trace a launch, or a call of another process's, and save it, uncompressed."""

    job: int  # its number, which the answers bear
    launch: msgspec.Raw  # JSON, see `tracer.model.launch`; of a call null
    out: str  # path of the trace file
    patience: float | None = None  # seconds; where all blocks would take more, the launch is left for `Slow`
    call: str = ""  # folder of a call, see `tracer.calls.call`


class Ready(msgspec.Struct, frozen=True, tag_field="event", tag="ready"):
    """The engine is loaded."""


class Progress(msgspec.Struct, frozen=True, tag_field="event", tag="progress"):
    """So many blocks are done, of so many."""

    job: int
    done: int
    of: int


class Output(msgspec.Struct, frozen=True, tag_field="event", tag="output"):
    """Something that the kernel or its module printed."""

    text: str


class Done(msgspec.Struct, frozen=True, tag_field="event", tag="done"):
    """The trace is saved as `path`."""

    job: int
    path: str


class Failed(msgspec.Struct, frozen=True, tag_field="event", tag="failed"):
    """There is no trace; `message` is one sentence for the user."""

    job: int
    message: str


class Slow(msgspec.Struct, frozen=True, tag_field="event", tag="slow"):
    """The launch was left after some blocks: all of them would take so many seconds."""

    job: int
    seconds: float
    blocks: int


WorkerMessage = Ready | Progress | Output | Done | Failed | Slow
# Made when it is imported: threads that are the first to use a type at once can crash msgspec.
WORKER_MESSAGE = msgspec.json.Decoder(WorkerMessage)
