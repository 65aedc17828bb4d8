"""What the window's process and the worker say to each other: a line of JSON each."""

from __future__ import annotations

import msgspec

from ..judging.result import Judgement, JudgingTask
from ..type_inference.question import Question

EARLY = "Its threads ran one after the other; the order of lockstep is being made."  # said of an early trace


class Job(msgspec.Struct, frozen=True, tag_field="kind", tag="trace"):
    """Trace a launch, or a call of another process's, and save it, uncompressed."""

    job: int  # its number, which the answers bear
    launch: msgspec.Raw  # JSON, see `tracer.model.launch`; of a call null
    out: str  # path of the trace file
    patience: float | None = None  # seconds; where all blocks would take more, the launch is left for `Slow`
    early: bool = False  # whether a compiled trace is wanted before the one that is made again in lockstep
    call: str = ""  # folder of a call, see `tracer.calls.call`


class JudgeJob(msgspec.Struct, frozen=True, tag_field="kind", tag="judge"):
    """Judge a student's file."""

    job: int  # its number, which the answers bear
    task: JudgingTask


class Ahead(msgspec.Struct, frozen=True, tag_field="kind", tag="ahead"):
    """Compile the kernels of these launches, each as in `Job`, while there is no job; and no others any more."""

    launches: list[msgspec.Raw]


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


class Early(msgspec.Struct, frozen=True, tag_field="event", tag="early"):
    """The trace of compiled code is saved as `path`; the launch is run again in lockstep now."""

    job: int
    path: str


class Failed(msgspec.Struct, frozen=True, tag_field="event", tag="failed"):
    """There is no trace; `message` is one sentence for the user."""

    job: int
    message: str
    file: str = ""  # where that was, as far as it is known
    line: int = 0  # from 1
    is_endless: bool = False  # whether it was ended, since none of its blocks ended


class Slow(msgspec.Struct, frozen=True, tag_field="event", tag="slow"):
    """The launch was left after some blocks: all of them would take so many seconds."""

    job: int
    seconds: float
    blocks: int


class Judged(msgspec.Struct, frozen=True, tag_field="event", tag="judged"):
    """A student's file is judged."""

    job: int
    judgement: Judgement


class Asks(msgspec.Struct, frozen=True, tag_field="event", tag="asks"):
    """What Numba's compiler is to be asked of the student's kernel, which runs now."""

    job: int
    question: Question


class At(msgspec.Struct, frozen=True, tag_field="event", tag="at"):
    """Where a judging is just now: on a line of one of its two files, the exercise's and the student's."""

    job: int
    file: str
    line: int  # from 1; 0 as it begins


WorkerMessage = Ready | Progress | Output | Early | Done | Failed | Slow | Judged | Asks | At
# Made when it is imported: threads that are the first to use a type at once can crash msgspec.
WORKER_JOB = msgspec.json.Decoder(Job | JudgeJob | Ahead)
WORKER_MESSAGE = msgspec.json.Decoder(WorkerMessage)
