"""Type inference as seen from the process that shows its answers: which launches to ask about, and what comes back.

Inference needs Numba's compiler and no GPU, but not its simulator: it runs in a process of its own (see `process`).
"""

from __future__ import annotations

import threading
from collections.abc import Sequence

import msgspec
import numpy as np

from ..model.launch import Array, Launch, Scalar
from ..processes.json_process import JsonProcess, StartError, module_command

COMMAND = module_command("tilescope.tracer.type_inference.process")


class Operation(msgspec.Struct, frozen=True, order=True):
    """An operation computed in float64."""

    file: str
    line: int  # from 1
    name: str  # "add", "sqrt"
    causes: tuple[tuple[str, str], ...]  # each thing that made it so, with what helps


def may_have_operations(launch: Launch) -> bool:
    """Return whether a launch's arguments leave the question open: float arrays, none of them of float64."""
    try:
        types = [np.dtype(a.dtype) for a in launch.arguments if a.dtype]
    except (TypeError, ValueError):  # records, whose text NumPy does not read
        return False
    if any(t.kind == "O" for t in types):
        return False  # an argument that is not known
    arrays = [np.dtype(a.dtype) for a in launch.arguments if isinstance(a, Array)]
    floats = [t for t in arrays if t.kind in "fc"]
    return bool(floats) and all(t.itemsize < (16 if t.kind == "c" else 8) for t in floats)


def types_only(launch: Launch) -> Launch:
    """Return the launch of one thread that has the same answer: only types matter, not sizes."""
    arguments = tuple(
        Array((1,) * len(a.shape), a.dtype) if isinstance(a, Array) else Scalar(type(a.value)(0), a.dtype)
        for a in launch.arguments
    )
    return Launch(launch.kernel, launch.source, arguments, (1, 1, 1), (1, 1, 1), launch.constants)


class TypeInference:
    """Asks Numba's type inference, in a process for each question."""

    def __init__(self, seconds: float = 60.0) -> None:
        self._seconds = seconds
        self._process: JsonProcess | None = None
        self._closed = False

    def operations_of(self, launches: Sequence[Launch]) -> list[tuple[Operation, ...]]:
        """Return the float64 operations of each launch's kernel whose float arrays are all narrower.

        Takes a second. None where the kernel can't be compiled, or not in time.
        """
        nothing: list[tuple[Operation, ...]] = [()] * len(launches)
        asked = [launch for launch in launches if may_have_operations(launch)]
        if not asked or self._closed:
            return nothing
        try:
            answers = iter(self._ask(asked))
            return [next(answers) if may_have_operations(launch) else () for launch in launches]
        except (StartError, msgspec.MsgspecError, ValueError, StopIteration):
            return nothing

    def _ask(self, launches: list[Launch]) -> list[tuple[Operation, ...]]:
        """Return the answer; raises ValueError where there is none."""
        with JsonProcess("type inference", COMMAND) as self._process:
            limit = threading.Timer(0 if self._closed else self._seconds, self._process.kill)
            limit.start()
            try:
                self._process.send(launches)
                self._process.end_input()
                (answer,) = self._process.lines()
            finally:
                limit.cancel()
        return msgspec.json.decode(answer, type=list[tuple[Operation, ...]])

    def close(self) -> None:
        """End what is asked, from another thread; nothing is asked any more."""
        self._closed = True
        if self._process is not None:
            self._process.kill()
