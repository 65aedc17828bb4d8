"""The messages between the window's process and the worker, each a line of JSON."""

from __future__ import annotations

import msgspec

from ..judging.result import Judgement, JudgingTask
from ..type_inference.question import Question

EARLY_NOTICE = "The threads ran one after the other; the lockstep order follows."  # notice of an early trace


class Job(msgspec.Struct, frozen=True, tag_field="kind", tag="trace"):
    """A request to trace a launch, or a call of another process, and to save the trace uncompressed."""

    job: int  # its number, which the answers bear
    launch: msgspec.Raw  # JSON, see `tracer.model.launch`; null for a call
    out: str  # path of the trace file
    # Seconds: a launch that would take more is stopped with `Slow`, and a call if one block takes more.
    patience: float | None = None
    is_of_processor: bool = False  # whether `patience` of a launch counts processor time
    early: bool = False  # whether to send a compiled trace before the launch is run again in lockstep
    call: str = ""  # folder of a call, see `tracer.calls.call`


class JudgeJob(msgspec.Struct, frozen=True, tag_field="kind", tag="judge"):
    """A request to judge a student's file."""

    job: int  # its number, which the answers bear
    task: JudgingTask


class Precompile(msgspec.Struct, frozen=True, tag_field="kind", tag="ahead"):
    """A request to compile the kernels of these launches while idle, replacing earlier requests."""

    launches: list[msgspec.Raw]  # as in `Job`


class Ready(msgspec.Struct, frozen=True, tag_field="event", tag="ready"):
    """The engine is loaded."""


class Progress(msgspec.Struct, frozen=True, tag_field="event", tag="progress"):
    """`done` of `of` blocks are done."""

    job: int
    done: int
    total: int


class Output(msgspec.Struct, frozen=True, tag_field="event", tag="output"):
    """Text that the kernel or its module printed."""

    text: str


class Done(msgspec.Struct, frozen=True, tag_field="event", tag="done"):
    """The trace is saved as `path`."""

    job: int
    path: str


class Early(msgspec.Struct, frozen=True, tag_field="event", tag="early"):
    """The trace of the compiled run is saved as `path`; the launch is now run again in lockstep."""

    job: int
    path: str


class Failed(msgspec.Struct, frozen=True, tag_field="event", tag="failed"):
    """There is no trace; `message` is one sentence for the user."""

    job: int
    message: str
    file: str = ""  # position of the error, if known
    line: int = 0  # from 1
    is_endless: bool = False  # whether it was stopped because none of its blocks ended


class Slow(msgspec.Struct, frozen=True, tag_field="event", tag="slow"):
    """The launch was stopped after some blocks: all `blocks` would take `seconds`."""

    job: int
    seconds: float
    blocks: int


class Judged(msgspec.Struct, frozen=True, tag_field="event", tag="judged"):
    """A student's file is judged."""

    job: int
    judgement: Judgement


class CompilerQuestion(msgspec.Struct, frozen=True, tag_field="event", tag="asks"):
    """A question for Numba's compiler about the student's kernel, which is running."""

    job: int
    question: Question


class JudgingPosition(msgspec.Struct, frozen=True, tag_field="event", tag="at"):
    """The current position of the judging: a line of the exercise's or the student's file."""

    job: int
    file: str
    line: int  # from 1; 0 at the beginning


WorkerMessage = (
    Ready | Progress | Output | Early | Done | Failed | Slow | Judged | CompilerQuestion | JudgingPosition
)
# Created at import: threads that use a type for the first time simultaneously can crash msgspec.
WORKER_JOB = msgspec.json.Decoder(Job | JudgeJob | Precompile)
WORKER_MESSAGE = msgspec.json.Decoder(WorkerMessage)
