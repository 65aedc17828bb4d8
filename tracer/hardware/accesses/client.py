"""Client of the process in which a GPU notes the accesses of a launch; that process may crash."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

import msgspec
import numpy as np

from ...model.launch import Launch
from ...model.trace import Trace
from ...processes.json_process import StartError, module_command
from ...processes.process_client import ProcessClient, ProcessEndedError
from ..times.measurement import MeasurementError
from .notes import Notes, NotesError, NotesReply, NotesRequest, load

COMMAND = module_command("tilescope.tracer.hardware.accesses.run_on_gpu")
REPLY = msgspec.json.Decoder(NotesReply)
SPARE = 16  # additional notes per thread
MOST = 2_000_000  # accesses of a launch that can be noted


def notes_per_thread(trace: Trace) -> int:
    """Return the number of notes that each thread needs room for, from the simulator's trace of the launch.

    This is twice the number of its busiest thread: data-dependent control flow may differ on the GPU.
    """
    counts = np.zeros(len(trace.blocks) * trace.threads, np.int64)
    for part in (trace, trace.barriers, trace.warp_barriers, trace.outside):
        thread = trace.thread_numbers(part.block, part.thread)
        counts += np.bincount(thread, minlength=len(counts))
    return 2 * int(counts.max(initial=0)) + SPARE


def check_size(trace: Trace) -> None:
    """Raise NotesError for a launch that is too large, or whose trace by the simulator is incomplete."""
    if trace.accesses > MOST:
        raise NotesError(
            f"It makes {trace.accesses:,} accesses, more than the {MOST:,} that can be noted; choose a smaller size."
        )
    if trace.is_part:
        raise NotesError("Only a part of it was traced; choose a smaller size.")


class GpuNotes:
    """Notes the accesses of launches on this computer's GPU, one after the other, in another process.

    A process that crashed is restarted for the next launch. Use it in a `with` statement, which ends the process.
    """

    def __init__(self, command: Sequence[str] = COMMAND) -> None:
        self._client = ProcessClient("measuring process", command, REPLY)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._client.close()

    def __call__(self, launch: Launch, room: int) -> Notes:
        """Note a launch; each thread has room for `room` notes.

        Raises MeasurementError without a GPU, and NotesError for a launch that can't be noted.
        """
        with tempfile.TemporaryDirectory(prefix="tilescope-notes-") as folder:
            path = Path(folder) / "notes.npz"
            reply = self._request(NotesRequest(launch, room, str(path)))
            if reply.no_device:
                raise MeasurementError(reply.problem)
            if reply.problem:
                raise NotesError(reply.problem)
            return load(path)

    def _request(self, wanted: NotesRequest) -> NotesReply:
        try:
            with self._client.conversation(wanted) as replies:
                reply = next(replies)
        except StartError as error:
            raise NotesError(str(error)) from error
        except ProcessEndedError as error:
            raise NotesError(f"The measuring process ended while it ran ({error.death}).") from error
        if reply.is_last:
            self._client.rest()
        return reply
