"""Records the timeline of a case: the kernel with as many marks as it bears, launched once between clock readings."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Final

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray

from ....kernels.scenarios import catalogue
from ...model.launch import Launch
from ...recording.reference_check import compare_results
from ..figures import blocks_at_once
from ..timeline import BlockSpans, Detail, KernelCost, Segments, Timeline, TimelineHead
from ..times.cases import Case, launch_of_case
from ..times.gpu import Gpu
from ..times.measurement import Device, MeasurementError
from .decoding import DamagedMarksError, Warps, chosen_blocks, counts_of, segments_of, spans_of, warps_at_once
from .marked_call import (
    MarkedCall,
    PlainCall,
    Recorded,
    TooManyMarksError,
    costs_of,
    shared_bytes_of,
    slowdown,
)
from .marked_kernel import marked_source_of
from .marking import MarkedSource, NotMarkableError
from .refusal import reason_for_refusal

DETAILS: Final[tuple[Detail, ...]] = ("all", "barriers", "ends")
BEARABLE: Final = 1.25  # the largest slowdown by marks
MOST_SEGMENTS: Final = 60_000  # a file of about 200 kB
DETAILED: Final = 2  # multiprocessors whose blocks have segments, if not all have
MARKED: Final = "with marks"
Say = Callable[[str], None]


class _Tried(Struct, frozen=True, eq=False):
    """A kernel with marks, and its costs."""

    call: MarkedCall
    plain: KernelCost
    marked: KernelCost
    notes: tuple[str, ...]


def timeline_of(
    case: Case, gpu: Gpu, device: Device, revision: str, say: Say = lambda text: None
) -> Timeline:
    """Run a case's kernel with marks and return its timeline; raises MeasurementError, and errors of the device."""
    if text := reason_for_refusal(case):
        raise MeasurementError(text)
    launch = launch_of_case(case)
    names = tuple(a.name for a in catalogue.find(case.scenario).plan(case.values).arguments)
    plain = PlainCall(gpu, launch, names)
    right, differs = _check(launch, names, plain, "")
    tried = _with_bearable_marks(gpu, launch, names, plain, say)
    right_too, differs_too = _check(launch, names, tried.call, f" {MARKED}")
    if right and not right_too and not catalogue.find(case.scenario).pitfall:
        raise MeasurementError(
            f"{case.scenario} {differs_too[0].lower()}{differs_too[1:]} Its timeline was discarded."
        )
    try:
        spans, segments, recorded, about = _launch(tried.call, say)
    except DamagedMarksError as error:
        raise MeasurementError(f"The clocks that {case.scenario} wrote are impossible: {error}") from error
    most_warps = warps_at_once(recorded.warps)
    crowding = _crowding_note(spans, most_warps, tried)
    head = TimelineHead(
        scenario=case.scenario, values=case.values, kernel=launch.kernel, source=launch.source, grid=launch.grid,
        block=launch.block, shared_bytes=shared_bytes_of(launch, plain.kernel), device=device,
        date=datetime.now(UTC).isoformat(timespec="seconds"), revision=revision, mhz=recorded.clocks.mhz,
        resolution_ns=recorded.clocks.resolution, detail=tried.call.source.detail, plain=tried.plain,
        marked=tried.marked, launch_microseconds=recorded.microseconds, empty_microseconds=gpu.empty_time(),
        warps_at_once=most_warps,
        notes=tuple(
            note for note in (*tried.notes, about, crowding, differs, differs_too) if note
        ),
    )  # fmt: skip
    return Timeline(head, spans, segments)


def _check(
    launch: Launch, names: tuple[str, ...], call: PlainCall | MarkedCall, which: str
) -> tuple[bool, str]:
    """Compare a kernel's results with NumPy's; return a sentence if they differ."""
    call.restore()
    check = compare_results(launch, names, call.results())
    if check.equal:
        return True, ""
    return False, f"The kernel{which} differs from NumPy by {check.largest_error:,g}."


def _with_bearable_marks(
    gpu: Gpu, launch: Launch, names: tuple[str, ...], plain: PlainCall, say: Say
) -> _Tried:
    """Return the kernel with the most marks that it bears; raises MeasurementError."""
    notes: list[str] = []
    tried: _Tried | None = None
    for source in _sources(launch, plain):
        say(f"marks: {source.detail}")
        call = MarkedCall(gpu, launch, names, plain.kernel, source)
        try:
            call.allocate_marks(MOST_SEGMENTS, DETAILED)
        except TooManyMarksError:
            notes.append(
                f"There is not enough memory for all marks of '{source.detail}', so they were thinned."
            )
            continue
        tried = _Tried(call, *costs_of(gpu, launch, plain, call), ())
        factor = slowdown(tried.plain, tried.marked)
        if factor <= BEARABLE or source.detail == DETAILS[-1]:
            break
        longer = f"With marks '{source.detail}' it took {100 * (factor - 1):.0f} % longer"
        notes.append(f"{longer}, so they were thinned.")
    if tried is None:
        raise MeasurementError("The launch has too many warps to be marked; choose a smaller size.")
    return replace(tried, notes=tuple(notes))


def _sources(launch: Launch, plain: PlainCall) -> list[MarkedSource]:
    """Return the kernel with fewer and fewer marks, without repetitions; raises MeasurementError."""
    try:
        sources = [marked_source_of(launch, plain.kernel, detail) for detail in DETAILS]
    except NotMarkableError as error:
        raise MeasurementError(str(error)) from error
    return [s for index, s in enumerate(sources) if s.marks not in [m.marks for m in sources[:index]]]


def _segments_per_block(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Count the segments of each block's warps, 0 for blocks without marks."""
    return np.where((counts >= 0).all(axis=1), (counts + 1).sum(axis=1), 0)


def _launch(call: MarkedCall, say: Say) -> tuple[BlockSpans, Segments, Recorded, str]:
    """Launch a marked kernel, and return its output and which blocks have segments; raises Damaged."""
    say("launching")
    recorded = call.record()
    spans = spans_of(recorded.warps, recorded.clocks)
    counts = counts_of(recorded.warps.rows, call.slot)
    per_block = _segments_per_block(counts)
    if counts.max() > call.slot or not per_block.any():
        raise DamagedMarksError("Warps wrote another number of marks than before.")
    blocks = chosen_blocks(spans, per_block, DETAILED, MOST_SEGMENTS)
    return spans, _segments(call, recorded.warps, blocks, counts), recorded, _kept_blocks_note(spans, blocks)


def _segments(
    call: MarkedCall, warps: Warps, blocks: NDArray[np.int64], counts: NDArray[np.int64]
) -> Segments:
    wanted = (blocks[:, None] * call.per_block + np.arange(call.per_block)).ravel()
    counts_of_wanted = counts.ravel()[wanted]
    marks = call.marks_of(wanted, int(counts_of_wanted.max(initial=0)))
    return segments_of(warps, blocks, marks, counts_of_wanted, call.source.marks)


def _crowding_note(spans: BlockSpans, most_warps: int, tried: _Tried) -> str:
    """Explain that more blocks ran on a multiprocessor than fit; "" otherwise."""
    most, fitting = blocks_at_once(spans), tried.marked.blocks_at_once
    if not 0 < fitting < most:
        return ""
    return (
        f"Up to {most} blocks ran on a multiprocessor at once, but only {fitting} fit: a block starts as soon as "
        f"enough warps of the others have ended. At most {most_warps} warps ran at once."
    )


def _kept_blocks_note(spans: BlockSpans, blocks: NDArray[np.int64]) -> str:
    """Name the blocks that have segments; "" if all have."""
    if len(blocks) == len(spans.start):
        return ""
    used = np.unique(spans.multiprocessor[blocks])
    names = " and ".join(map(str, used))
    available = int(np.isin(spans.multiprocessor, used).sum())
    first = (
        f"the first {len(blocks):,} of {available:,} blocks"
        if len(blocks) < available
        else f"the {available:,} blocks"
    )
    return f"Segments are kept of {first} on multiprocessor{'s' * (len(used) > 1)} {names}."
