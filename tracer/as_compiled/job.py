"""A launch whose compiled counters are requested, and the answer, as plain data."""

from __future__ import annotations

import hashlib
from typing import Literal

import msgspec

from ..calls.call import Argument, Memory
from ..model.launch import Dim3, Launch
from ..type_inference.question import Question

NO_TARGET = "Numba's CUDA target is not installed (numba-cuda, which exists for Linux and Windows)."
SECONDS = 20.0  # of processor time that a launch may take


class LiveJob(msgspec.Struct, frozen=True, tag="live"):
    """A launch of a running program: its kernel, and its arguments with their memory."""

    question: Question
    arguments: tuple[Argument, ...]
    memories: tuple[Memory, ...]
    digest: str  # of the memories' contents
    folder: str  # of these contents, a file for each memory (`tracer/calls`)
    grid: Dim3
    block: Dim3
    shared_bytes: int = 0
    blocks: tuple[int, ...] | None = None  # to run; None for all
    seconds: float = SECONDS
    generates: bool = True  # whether code for a GPU is generated; LLVM crashes on some kernels

    def key(self) -> str:
        """Return a digest: equal launches have equal keys (64 hexadecimal digits)."""
        return _key(msgspec.structs.replace(self, folder="", seconds=0.0, generates=True))


class LaunchJob(msgspec.Struct, frozen=True, tag="launch"):
    """A launch that can run again from its description."""

    launch: Launch
    question: Question | None = None  # describes its kernel better than the text of its file
    seconds: float = SECONDS
    generates: bool = True  # as in `LiveJob`

    def key(self) -> str:
        """Return a digest: equal launches have equal keys (64 hexadecimal digits)."""
        plain = Launch(
            self.launch.kernel, self.launch.source, self.launch.arguments, self.launch.grid, self.launch.block,
            self.launch.constants, self.launch.shared_bytes, blocks=self.launch.blocks,
        )  # fmt: skip
        return _key((plain, self.question))


Job = LiveJob | LaunchJob


def _key(value: object) -> str:
    return hashlib.sha256(msgspec.json.encode(value, order="sorted")).hexdigest()


class CompiledSite(msgspec.Struct, frozen=True):
    """Requests of one place in the source to one kind of memory, as compiled."""

    file: str
    line: int  # from 1; 0 if the compiler merged several places
    column: int  # from 0; -1 if unknown
    op: int  # an `Op`
    space: Literal["global", "shared"]
    size: int  # bytes of an access: 16 if four numbers are loaded at once
    requests: int
    cost: int  # sectors or wavefronts
    lanes: int  # accesses


class CompiledCounters(msgspec.Struct, frozen=True):
    """The counters of a launch as compiled, or the reason for their absence."""

    compiler: str = ""  # such as "LLVM 22.1 of llvmlite 0.50.0"
    counters: dict[str, int] = {}  # by the names of `tracer/model/counter_names.py`
    sites: tuple[CompiledSite, ...] = ()
    notes: tuple[str, ...] = ()  # sentences about the limits of the counters
    reason: str = ""  # a sentence if there are no counters
    registers: int | None = None  # of a thread; None without ptxas
    spills: int | None = None  # bytes of a thread that did not fit in registers
    at_least: tuple[str, ...] = ()  # names of counters that a GPU may count higher: its warps contend


ANSWER = msgspec.json.Decoder(CompiledCounters)
JOB: msgspec.json.Decoder[Job] = msgspec.json.Decoder(LiveJob | LaunchJob)
