"""Timelines of a CUDA C++ program's launches: when and on which multiprocessor each block ran.

A copy of the program has marks at the start and the end of its kernels (`block_clocks.cuh`). The first launch of each
kernel and size is recorded. Marks leave each line of the source where it is.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

import msgspec
import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from ...cuda_cpp.rewrite import Rewriter, Sources, tokenize, write_mirror
from ...model.launch import Dim3
from ..marks.calibration import CalibrationError, calibrate
from ..marks.decoding import (
    WRITTEN_ROW,
    DamagedMarksError,
    chosen_blocks,
    segments_of,
    spans_of,
    warps_at_once,
    with_complete_clocks,
)
from ..marks.marking import Mark
from ..timeline import KernelCost, Timeline, TimelineHead
from ..timeline_file import SUFFIX
from ..times.measurement import MeasurementError
from .program_times import KernelTimes, ProgramTimes, base_name
from .toolkit import HERE, Toolkit, build_program

VARIABLE: Final = "TILESCOPE_CLOCKS"  # names the folder of the recorded clocks to the program
PAIRS: Final = (1024, 16, 2)  # multiprocessors, steps, clock and timer; as in block_clocks.cuh
LANES: Final = 32
MOST_SEGMENTS: Final = 60_000
NOTE: Final = "Only the start and the end of each warp are recorded."
RECORDER = "tilescope_clocks::recorder"


def with_marks(text: str, template_kernels: frozenset[str] = frozenset()) -> str:
    """Add marks to the kernels of a text, and calls around its launches; template_kernels: not needed here."""
    return "".join(_Marker(tokenize(text), template_kernels).run())


class _Marker(Rewriter):
    def _step(self, index: int) -> int:
        token = self._tokens[index]
        if token.text == "<<<" and (after := self._launch(index)):
            return after
        if token.text == "__global__" and (after := self._marked_kernel(index)):
            return after
        self._emit(token.text, token.kind)
        return index + 1

    def _emit_launch(
        self, kernel: str, shown: str, config: str, gap: str, arguments: str, *, macro: bool
    ) -> None:
        name = f"#{kernel}" if macro and kernel.isidentifier() else shown
        before = f"{RECORDER}.begin({name}, __FILE__, __LINE__, {config})"
        launch = f"{kernel}<<<{config}>>>{gap}({arguments})"
        self._emit(f"({before}, {launch}, {RECORDER}.end())", "word")

    def _marked_kernel(self, index: int) -> int | None:
        """Copy the head of a kernel's definition and add a mark to its body; return the index in the body."""
        position = self._next(index + 1)
        while position < len(self._tokens) and self._text(position) not in (";", "{", "}"):
            if self._text(position) != "(":
                position = self._next(position + 1)
                continue
            closing = self._closing(position)
            if closing is None:
                return None
            position = self._next(closing + 1)
            if self._text(position) == "{":
                head = "".join(token.text for token in self._tokens[index : position + 1])
                self._emit(f"{head} TilescopeSpan tilescope_span;", "mark")
                return position + 1
        return None


class _ClocksHead(msgspec.Struct, frozen=True):
    kernel: str
    file: str
    line: int
    grid: Dim3
    block: Dim3
    dynamic_bytes: int


class LaunchClocks(Struct, frozen=True, eq=False):
    """What the program recorded of one launch."""

    head: _ClocksHead
    before: NDArray[np.uint64]  # clocks and timer before the launch, shape PAIRS
    after: NDArray[np.uint64]  # after it
    rows: NDArray[np.void]  # of dtype WRITTEN_ROW, shape (blocks, warps of a block)


def build_marked_program(toolkit: Toolkit, sources: Sources, folder: Path, target: Path) -> None:
    """Compile the program with marks, by way of a mirror of its files in a folder; raises MeasurementError."""
    before = f'#include "{HERE / "block_clocks.cuh"}"\n'
    source = write_mirror(sources, folder, before=before, rewritten=with_marks)
    build_program(toolkit, source, list(sources.texts.values()), [sources.main.parent], target)


def recorded_clocks(folder: Path) -> list[LaunchClocks]:
    """Read the clocks of all recorded launches, in their order; raises MeasurementError."""
    files = sorted(folder.glob("*.clocks"), key=lambda path: int(path.stem))
    try:
        return [_clocks(path.read_bytes()) for path in files]
    except (OSError, ValueError, msgspec.MsgspecError) as error:
        raise MeasurementError(f"The clocks that the program wrote can't be read: {error}.") from error


def _clocks(content: bytes) -> LaunchClocks:
    line, _, rest = content.partition(b"\n")
    head = msgspec.json.decode(line, type=_ClocksHead)
    size = int(np.prod(PAIRS)) * 8
    pairs = np.frombuffer(rest[: 2 * size], np.uint64).reshape(2, *PAIRS)
    blocks, warps = int(np.prod(head.grid)), -(-int(np.prod(head.block)) // LANES)
    rows = np.frombuffer(rest[2 * size :], WRITTEN_ROW).reshape(blocks, warps)
    return LaunchClocks(head, pairs[0], pairs[1], rows)


def timeline_of(
    clocks: LaunchClocks, sources: Sources, plain: ProgramTimes, marked: ProgramTimes, revision: str
) -> Timeline:
    """Return the timeline of a recorded launch; raises MeasurementError.

    plain, marked: the times of the program without and with marks.
    """
    head = clocks.head
    cost, marked_cost = (_cost(times, head) for times in (plain, marked))
    try:
        rates = calibrate(clocks.before, clocks.after)
        warps = with_complete_clocks(clocks.rows, rates)
        spans = spans_of(warps, rates)
        per_block = np.full(len(clocks.rows), clocks.rows.shape[1])
        blocks = chosen_blocks(spans, per_block, 2, MOST_SEGMENTS)
        count = len(blocks) * clocks.rows.shape[1]
        line = _line_of(head, sources)
        segments = segments_of(
            warps,
            blocks,
            np.zeros((count, 0, 2), np.uint32),
            np.zeros(count, np.int64),
            [Mark("other", line, line)],
        )
    except (CalibrationError, DamagedMarksError) as error:
        raise MeasurementError(f"The clocks of {head.kernel} can't be used: {error}") from error
    return Timeline(
        TimelineHead(
            scenario="", values={}, kernel=f"{sources.main}:{base_name(head.kernel)}",
            source=sources.texts[sources.main], grid=head.grid, block=head.block, shared_bytes=cost.shared_bytes,
            device=plain.device, date=plain.date, revision=revision, mhz=rates.mhz, resolution_ns=rates.resolution,
            detail="ends", plain=_kernel_cost(cost), marked=_kernel_cost(marked_cost),
            launch_microseconds=marked_cost.median, warps_at_once=warps_at_once(warps), notes=(NOTE,),
        ),
        spans,
        segments,
    )  # fmt: skip


def _cost(times: ProgramTimes, head: _ClocksHead) -> KernelTimes:
    for kernel in times.kernels:
        if kernel.is_of(head.kernel, head.grid, head.block):
            return kernel
    raise MeasurementError(f"{head.kernel} was launched, but not timed; run it again.")


def _kernel_cost(kernel: KernelTimes) -> KernelCost:
    return KernelCost(kernel.registers, kernel.local_bytes, kernel.microseconds)


def _line_of(head: _ClocksHead, sources: Sources) -> int:
    """Return the line on which a kernel's name follows `__global__` in the main file, else that of its launch."""
    name = base_name(head.kernel)
    for number, line in enumerate(sources.texts[sources.main].splitlines(), 1):
        if f"{name}(" in line.replace(" ", "") and ("__global__" in line or "void" in line):
            return number
    return head.line if head.file == str(sources.main) else 1


def file_name(timeline: Timeline) -> str:
    """Return the name of a timeline's file: homework-reverse-4x1x1-256x1x1.npz."""
    head = timeline.head
    file, _, kernel = head.kernel.rpartition(":")
    sizes = ("x".join(map(str, size)) for size in (head.grid, head.block))
    return (
        "-".join(("".join(c if c.isalnum() else "-" for c in Path(file).stem), kernel, *sizes))[:120] + SUFFIX
    )
