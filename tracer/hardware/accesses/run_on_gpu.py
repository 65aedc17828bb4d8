"""The process in which a GPU notes accesses: it reads requests, launches marked kernels and writes their notes.

It needs neither Qt nor a display: `python -m tilescope.tracer.hardware.accesses.run_on_gpu`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from ...model.launch import Launch
from ...processes.json_streams import make_sender, private_streams
from ...processes.parent_death import die_with_parent
from ...recording.kernel_loader import LoadError, create_arguments, load_kernel, set_constants
from ..times.client import revision, versions
from ..times.gpu import Gpu, first_line, open_gpu
from ..times.measurement import Device, MeasurementError
from .marked_kernel import MarkedKernel, NotMarkable, noting_kernel
from .notes import (
    COUNT,
    LARGEST,
    WORDS,
    NotedArray,
    NotedSite,
    Notes,
    NotesError,
    NotesHead,
    NotesReply,
    NotesRequest,
    Words,
    head_words,
)

CLOCK_STEPS = 64  # steps of the timer at which clocks are read before and after a launch


def main() -> None:
    """Note the accesses of the launches on standard input, one per line, until it closes."""
    os.environ.update(
        NUMBA_ENABLE_CUDASIM="0", NUMBA_CUDA_LOW_OCCUPANCY_WARNINGS="0", NUMBA_CUDA_WARN_ON_IMPLICIT_COPY="0"
    )
    die_with_parent()
    source, target = private_streams()
    send = make_sender(target)
    for line in source:
        reply = answer(msgspec.json.decode(line, type=NotesRequest))
        send(reply)
        if reply.is_last:
            return


def answer(wanted: NotesRequest) -> NotesReply:
    """Note the accesses of a launch, write them, and return the reply."""
    try:
        gpu, device = _device()
    except MeasurementError as error:
        return NotesReply(str(error), no_device=True)
    try:
        notes_of(wanted.launch, wanted.room, gpu, device).save(Path(wanted.path))
    except (MeasurementError, NotMarkable, NotesError, LoadError) as error:
        return NotesReply(str(error))
    except Exception as error:  # noqa: BLE001  # Numba and the driver raise many types
        name = wanted.launch.kernel.rpartition(":")[2]
        problem = f"The accesses of {name} can't be noted on a GPU: {_reason(error)}."
        return NotesReply(problem, gpu.is_lost())
    return NotesReply()


def _reason(error: Exception) -> str:
    """Return the reason why a kernel can't be compiled: our own if there is one, else Numba's first line."""
    from .device import COPIES, TOO_WIDE

    return next((reason for reason in (COPIES, TOO_WIDE) if reason in str(error)), first_line(error))


@cache
def _device() -> tuple[Gpu, Device]:
    """Open the GPU; raises MeasurementError without one."""
    gpu = open_gpu()
    return gpu, gpu.describe()


def notes_of(launch: Launch, room: int, gpu: Gpu, device: Device) -> Notes:
    """Note the accesses of a launch; each thread has room for `room` notes.

    It runs twice on fresh arrays: the first run compiles and loads, the second one is noted. Then the kernel runs
    without notes. Raises NotMarkable, NotesError, LoadError, and errors of the device.
    """
    from .compile import compiled

    module, plain = load_kernel(launch)
    set_constants(module, launch)
    given, names = create_arguments(launch, plain)
    kernel = noting_kernel(plain.py_func, _dtypes(names, given))
    run = _MarkedRun(launch, room, gpu, kernel, given)
    fast = bool(getattr(plain, "targetoptions", {}).get("fastmath"))
    entry = compiled(kernel, str(module.__file__), fastmath=fast)
    run.once(entry)
    before, after = run.once(entry)
    heads, rows = run.collected()
    bare = run.fresh()
    registers = _run_plain(plain, launch, gpu, bare), _compiled_registers(entry)
    noted, left = (_arrays(names, arguments) for arguments in (run.arguments, bare))
    head = NotesHead(
        launch=launch, names=names, file=str(module.__file__), sites=_sites(kernel),
        arguments=tuple(_argument(name, held) for name, held in noted.items()),
        declared=_declared(kernel), device=device, date=datetime.now(UTC).isoformat(timespec="seconds"),
        revision=revision(), versions=versions(), registers=registers,
    )  # fmt: skip
    constants = {n: a.content for n, a in enumerate(kernel.program.declared) if a.content is not None}
    return Notes(head, rows, heads, _on_host(noted), _on_host(left), constants, before, after)


def _arrays(names: tuple[str, ...], arguments: list[Any]) -> dict[str, Any]:
    """Return the array arguments on the device, by name."""
    pairs = zip(names, arguments, strict=True)
    return {name: value for name, value in pairs if hasattr(value, "copy_to_host")}


def _on_host(arrays: Mapping[str, Any]) -> dict[str, NDArray[Any]]:
    return {name: held.copy_to_host() for name, held in arrays.items()}


class _MarkedRun:
    """Launches of a marked kernel, each with fresh arrays."""

    def __init__(self, launch: Launch, room: int, gpu: Gpu, kernel: MarkedKernel, given: list[Any]) -> None:
        self.launch, self.room, self.gpu, self._given = launch, room, gpu, given
        self.threads = int(np.prod(launch.grid) * np.prod(launch.block))
        nbytes = self.threads * room * WORDS * 8
        if nbytes > LARGEST:
            raise NotesError(
                f"Its notes would take {nbytes:,} bytes, more than {LARGEST:,}; choose a smaller size."
            )
        self._rows = gpu.cuda.device_array((self.threads, room, WORDS), np.uint64)
        self._heads_like = np.zeros((self.threads, head_words(len(kernel.program.declared))), np.uint64)
        self._heads: Any = None
        self.arguments: list[Any] = []

    def fresh(self) -> list[Any]:
        """Create the arguments of the launch, with arrays on the device."""
        return [self.gpu.on_device(v) if isinstance(v, np.ndarray) else v for v in self._given]

    def once(self, entry: Any) -> tuple[Words, Words]:
        """Launch the kernel, and return the multiprocessors' clocks before and after."""
        from ..marks.clock_kernels import read_clocks

        self.arguments, launch = self.fresh(), self.launch
        self._heads = self.gpu.on_device(self._heads_like)
        count = int(self.gpu.device.MULTIPROCESSOR_COUNT)
        pairs = [self.gpu.on_device(np.zeros((count, CLOCK_STEPS, 2), np.uint64)) for _ in range(2)]
        is_taken = [self.gpu.on_device(np.zeros(count, np.int32)) for _ in range(2)]
        stream = self.gpu.stream
        self.gpu.synchronize()
        read_clocks[4 * count, 32, stream](pairs[0], is_taken[0])
        entry[launch.grid, launch.block, stream, launch.shared_bytes](
            self._rows, self._heads, *self.arguments
        )
        read_clocks[4 * count, 32, stream](pairs[1], is_taken[1])
        self.gpu.synchronize()
        return pairs[0].copy_to_host(), pairs[1].copy_to_host()

    def collected(self) -> tuple[Words, Words]:
        """Return the heads, and the notes thread by thread; raises NotesError if there was not enough room."""
        heads = self._heads.copy_to_host()
        counts = heads[:, COUNT].astype(np.int64)
        check_room(counts, self.room)
        rows = self._rows.copy_to_host()
        return heads, rows[np.arange(self.room) < counts[:, None]]


def check_room(counts: NDArray[np.int64], room: int) -> None:
    """Raise NotesError if a thread made more notes than it has room for."""
    over = np.flatnonzero(counts > room)
    if len(over):
        thread = int(over[0])
        raise NotesError(
            f"{len(over):,} of its threads made more accesses on the GPU than there is room for: thread {thread} of "
            f"the grid made {int(counts[thread]):,}, but the simulator's trace leaves room for {room:,}."
        )


def _dtypes(names: tuple[str, ...], given: list[Any]) -> Mapping[str, np.dtype[Any]]:
    pairs = zip(names, given, strict=True)
    return {name: value.dtype for name, value in pairs if isinstance(value, np.ndarray)}


def _sites(kernel: MarkedKernel) -> tuple[NotedSite, ...]:
    program = kernel.program
    pairs = zip(program.sites, program.site_kinds, strict=True)
    return tuple(NotedSite(s.function, s.file, s.line, s.column, int(kind)) for s, kind in pairs)


def _declared(kernel: MarkedKernel) -> tuple[NotedArray, ...]:
    return tuple(NotedArray(a.name, a.space, a.dtype.str, a.shape) for a in kernel.program.declared)


def _argument(name: str, array: Any) -> NotedArray:
    interface = array.__cuda_array_interface__
    return NotedArray(
        name, "global", str(interface["typestr"]), tuple(interface["shape"]), int(interface["data"][0])
    )


def _run_plain(plain: Any, launch: Launch, gpu: Gpu, arguments: list[Any]) -> int:
    """Run the kernel without notes, with arguments on the device, and return its registers per thread."""
    plain[launch.grid, launch.block, gpu.stream, launch.shared_bytes](*arguments)
    gpu.synchronize()
    return _compiled_registers(plain)


def _compiled_registers(kernel: Any) -> int:
    return max((int(n) for n in kernel.get_regs_per_thread().values()), default=0)


if __name__ == "__main__":
    main()
