"""The job that counts a launch of a running program: described at its start, with the contents of its arrays."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..calls.call import CallError
from ..calls.describe_call import describe_argument
from ..calls.memories import Memories
from ..model.launch import Dim3
from ..type_inference.live_kernel import Describer, dtype_of, question_of_call
from ..type_inference.question import ArrayContent, Missing, Value
from .job import LiveJob

MOST_BYTES = 1 << 28  # of a launch's arrays: a copy of more would take too long


class LiveLaunch:
    """A launch at its start. folder: of copies of its arrays, which `discard` removes."""

    def __init__(self, kernel: Any, arguments: Sequence[Any], blocks: tuple[int, ...] | None) -> None:
        """Describe a launch of a kernel of the simulator; `reason` is a sentence if that is impossible."""
        self.job: LiveJob | None = None
        self.reason = ""
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        try:
            self._describe(kernel, arguments, blocks)
        except (CallError, OSError) as error:
            self.reason = f"Its arguments can't be copied: {str(error).removesuffix('.')}."
        except Exception as error:  # noqa: BLE001  # the program's objects may raise anything
            self.reason = f"It can't be described ({type(error).__name__})."

    def _describe(self, kernel: Any, arguments: Sequence[Any], blocks: tuple[int, ...] | None) -> None:
        if sum(map(_nbytes, arguments)) > MOST_BYTES:
            self.reason = f"Its arrays take more than {MOST_BYTES >> 20} MiB, which is too much to copy."
            return
        question = question_of_call(kernel, arguments, _Describer())
        if obstacle := question.missing():
            self.reason = f"It has {obstacle}, of which the compiler can't be asked."
            return
        memories = Memories(arguments)
        described = tuple(
            describe_argument(value, f"argument {number}", memories)
            for number, value in enumerate(arguments, 1)
        )
        self._folder = tempfile.TemporaryDirectory(prefix="tilescope-launch-")
        folder = Path(self._folder.name)
        memories.write(folder)
        digest = hashlib.sha256()
        for path in sorted(folder.iterdir()):
            digest.update(path.read_bytes())
        self.job = LiveJob(
            question, described, memories.described, digest.hexdigest(), str(folder), _dim3(kernel.grid_dim),
            _dim3(kernel.block_dim), int(kernel.dynshared_size), blocks,
        )  # fmt: skip

    def discard(self) -> None:
        """Remove the copies."""
        if self._folder is not None:
            self._folder.cleanup()


class _Describer(Describer):
    """Describes constant arrays with their elements, since the compiled kernel needs them."""

    def _device_array(self, value: Any) -> Value:
        return Missing("a device array from outside the kernel")

    def _array(self, value: Any) -> Value | None:  # type: ignore[override]  # it needs to know where it is
        described = Describer._array(value)
        if self._in_argument or not isinstance(value, np.ndarray) or type(described).__name__ != "ArrayLike":
            return described
        layout: Any = "F" if value.flags.f_contiguous and not value.flags.c_contiguous else "C"
        return ArrayContent(dtype_of(value.dtype), value.shape, layout, value.tobytes(order=layout))


def _nbytes(value: Any) -> int:
    if isinstance(value, tuple):
        return sum(map(_nbytes, value))
    return int(getattr(value, "nbytes", 0) or 0)


def _dim3(lengths: Any) -> Dim3:
    x, y, z = map(int, lengths)
    return x, y, z
