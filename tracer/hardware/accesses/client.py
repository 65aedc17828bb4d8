"""Having a GPU note the accesses of a launch, as seen from the command line: a process that may die."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

import msgspec
import numpy as np

from ...measure.measurement import MeasurementError
from ...model.launch import Launch
from ...model.trace import Trace
from ...processes.json_process import JsonProcess, StartError, module_command
from .notes import Notes, NotesError, NotesMade, NotesWanted, load

COMMAND = module_command("tilescope.tracer.hardware.accesses.run_on_gpu")
SPARE = 16  # notes more than twice those that the simulator's trace would make
MOST = 2_000_000  # accesses of a launch that is noted


def room_for(trace: Trace) -> int:
    """Return how many notes each thread needs room for, by the simulator's trace of the launch.

    Twice what its busiest thread makes: where control flow depends on data, one may go another way on the GPU.
    """
    made = np.zeros(len(trace.blocks) * trace.threads, np.int64)
    for part in (trace, trace.barriers, trace.warp_barriers, trace.outside):
        thread = trace.thread_numbers(part.block, part.thread)
        made += np.bincount(thread, minlength=len(made))
    return 2 * int(made.max(initial=0)) + SPARE


def check_noted(trace: Trace) -> None:
    """Raise NotesError for a launch that is too large to be noted, or of which the simulator has no whole trace."""
    if trace.accesses > MOST:
        raise NotesError(
            f"It makes {trace.accesses:,} accesses, and of {MOST:,} at most each can be noted; choose a smaller size."
        )
    if trace.is_part:
        raise NotesError("Only a part of it was traced; choose a smaller size.")


class GpuNotes:
    """Has this computer's GPU note the accesses of launches, one after the other, in a process of its own.

    One that ends early is started anew for the next launch. To be used in a `with`, which ends it.
    """

    def __init__(self, command: Sequence[str] = COMMAND) -> None:
        self._command = command
        self._process: JsonProcess | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end()

    def __call__(self, launch: Launch, room: int) -> Notes:
        """Return the notes of a launch, of which each thread has room for so many.

        Raises MeasurementError where there is no GPU, and NotesError for what can't be noted.
        """
        with tempfile.TemporaryDirectory(prefix="tilescope-notes-") as folder:
            path = Path(folder) / "notes.npz"
            made = self._answer(NotesWanted(launch, room, str(path)))
            if made.no_device:
                raise MeasurementError(made.problem)
            if made.problem:
                raise NotesError(made.problem)
            return load(path)

    def _answer(self, wanted: NotesWanted) -> NotesMade:
        process = self._started()
        process.send(wanted)
        for line in process.lines():
            made = msgspec.json.decode(line, type=NotesMade)
            if made.is_last:
                self._end()
            return made
        death = process.death()
        self._end()
        raise NotesError(f"The measuring process ended while it ran ({death}).")

    def _started(self) -> JsonProcess:
        if self._process is None:
            try:
                self._process = JsonProcess("measuring process", self._command)
            except StartError as error:
                raise NotesError(str(error)) from error
        return self._process

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.end()
