"""Files of timelines: a strict `.npz`, written whole or not at all, read without trust in who wrote it.

Times are kept as lengths, in the smallest integers that hold them: a segment begins where the one before it ends.
"""

from __future__ import annotations

import io
import math
import zipfile
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final, TypeVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from ..measure.measurement import MeasurementError
from ..storage import npz
from ..storage.atomic_write import write_atomically
from .timeline import SEGMENT_KINDS, BlockSpans, Segments, Timeline, TimelineHead

SUFFIX: Final = ".npz"
FORMAT: Final = "tilescope timeline"
VERSION: Final = 1
LARGEST: Final = 64_000_000  # bytes of a file
LARGEST_UNPACKED: Final = 1_000_000_000  # bytes
LARGEST_HEAD: Final = 4_000_000
LONGEST: Final = 1 << 60  # nanoseconds or cycles
HEAD: Final = "head"
SPANS: Final = ("multiprocessor", "block_start", "block_length")
SEGMENTS: Final = ("block", "warp", "kind", "first_line", "last_line", "phase", "length", "warp_start")


Taken = TypeVar("Taken")


class TimelineFileError(MeasurementError):
    """A timeline that can't be written or read; the text is one sentence."""


class _Unfit(Exception):
    """What is wrong with the content of a file; no whole sentence."""


class _Kept(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The head as it is in a file."""

    format: str
    version: int
    head: TimelineHead


class _Sign(msgspec.Struct, frozen=True):
    format: str
    version: int


_SIGN, _KEPT = msgspec.json.Decoder(_Sign), msgspec.json.Decoder(_Kept)


def save(timeline: Timeline, path: Path) -> None:
    """Write a timeline whole; raises TimelineFileError."""
    content = io.BytesIO()
    npz.write(content, _columns(timeline), deflate=True)
    try:
        write_atomically(path, content.getvalue())
    except OSError as error:
        raise TimelineFileError(f"{path} can't be written: {error.strerror or error}.") from error


def _columns(timeline: Timeline) -> dict[str, NDArray[Any]]:
    spans, segments = timeline.spans, timeline.segments
    head = msgspec.json.encode(_Kept(FORMAT, VERSION, timeline.head))
    starts = _warp_starts(segments.block, segments.warp)
    return {
        HEAD: np.frombuffer(head, np.uint8),
        "multiprocessor": spans.multiprocessor,
        "block_start": _small(spans.start),
        "block_length": _small(spans.end - spans.start),
        **{name: getattr(segments, name) for name in SEGMENTS[:6]},
        "length": _small(segments.end - segments.start),
        "warp_start": _small(segments.start[starts]),
    }


def _small(column: NDArray[np.int64]) -> NDArray[Any]:
    """Return numbers from 0 on in the smallest type that holds them."""
    return column.astype(np.min_scalar_type(int(column.max(initial=0))))


def _warp_starts(block: NDArray[Any], warp: NDArray[Any]) -> NDArray[np.int64]:
    """Return where in the segments each warp's begin."""
    key = block.astype(np.int64) * 256 + warp
    return np.flatnonzero(np.diff(key, prepend=-1))


def load(path: Path) -> Timeline:
    """Return the timeline in a file; raises TimelineFileError."""
    return _read(path, _timeline)


def load_head(path: Path) -> TimelineHead:
    """Return what a file's timeline is of, without its columns; raises TimelineFileError."""
    return _read(path, _head)


def _read(path: Path, take: Callable[[zipfile.ZipFile], Taken]) -> Taken:
    try:
        if path.stat().st_size > LARGEST:
            raise _Unfit(f"it is larger than {LARGEST // 1_000_000} MB")
        with path.open("rb") as file, zipfile.ZipFile(file) as members:
            if sum(npz.sizes(members).values()) > LARGEST_UNPACKED:
                raise _Unfit("it would take more memory than a timeline can")
            return take(members)
    except _Unfit as error:
        raise TimelineFileError(f"{path} can't be read as a timeline: {error}.") from error
    except OSError as error:
        raise TimelineFileError(f"{path} can't be read: {error.strerror or error}.") from error
    except (
        zipfile.BadZipFile, zlib.error, ValueError, KeyError, EOFError, NotImplementedError, RuntimeError,
        OverflowError,
    ) as error:  # fmt: skip
        raise TimelineFileError(
            f"{path} is no whole timeline file ({error or type(error).__name__})."
        ) from error


def _head(members: zipfile.ZipFile) -> TimelineHead:
    if npz.sizes(members).get(HEAD, LARGEST_HEAD + 1) > LARGEST_HEAD:
        raise _Unfit("it is not a Tilescope timeline")
    text = npz.read(members, HEAD).tobytes()
    try:
        sign = _SIGN.decode(text)
        if sign.format != FORMAT:
            raise _Unfit("it is not a Tilescope timeline")
        if sign.version != VERSION:
            raise _Unfit(f"it has format {sign.version}, this Tilescope reads {VERSION}")
        head = _KEPT.decode(text).head
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise _Unfit(f"what it says of itself is not whole ({error})") from error
    _check_head(head)
    return head


def _check_head(head: TimelineHead) -> None:
    costs = (head.plain, head.marked)
    times = [time for cost in costs for time in cost.microseconds]
    times += [head.mhz, head.resolution_ns, head.launch_microseconds, head.empty_microseconds]
    if min(*head.grid, *head.block) < 1 or math.prod(head.grid) >= 1 << 31 or math.prod(head.block) > 1024:
        raise _Unfit("its grid or its block is none that a launch can have")
    if not all(cost.microseconds for cost in costs) or not all(math.isfinite(t) and t >= 0 for t in times):
        raise _Unfit("it has a time that is not a positive number")
    if head.mhz <= 0 or min(head.device.multiprocessors, *(c.registers for c in costs)) < 1:
        raise _Unfit("its device or its kernel is none that there is")


def _timeline(members: zipfile.ZipFile) -> Timeline:
    head = _head(members)
    if npz.sizes(members).keys() != {HEAD, *SPANS, *SEGMENTS}:
        raise _Unfit("it lacks columns, or has others")
    spans = _spans(_numbers(members, SPANS), math.prod(head.grid))
    return Timeline(head, spans, _segments(_numbers(members, SEGMENTS), head))


def _numbers(members: zipfile.ZipFile, names: tuple[str, ...]) -> dict[str, NDArray[np.int64]]:
    """Return columns of whole numbers from 0 on."""
    found = {}
    for name in names:
        column = npz.read(members, name)
        if column.dtype.kind not in "ui":
            raise _Unfit(f"its column {name} holds no whole numbers")
        if len(column) and (int(column.min()) < 0 or int(column.max()) > LONGEST):
            raise _Unfit(f"its column {name} holds numbers that are too small or too large")
        found[name] = column.astype(np.int64)
    return found


def _spans(found: Mapping[str, NDArray[np.int64]], blocks: int) -> BlockSpans:
    number, start, length = (found[name] for name in SPANS)
    if not len(number) == len(start) == len(length) == blocks:
        raise _Unfit("it has not as many blocks as its grid")
    if number.max() >= 1 << 16 or start.min() != 0:
        raise _Unfit("its blocks run nowhere, or begin at no time")
    return BlockSpans(number.astype(np.uint16), start, start + length)


def _segments(found: Mapping[str, NDArray[np.int64]], head: TimelineHead) -> Segments:
    block, warp, kind, first, last, phase = (found[name] for name in SEGMENTS[:6])
    length, count = found["length"], len(block)
    if any(len(found[name]) != count for name in SEGMENTS[:7]):
        raise _Unfit("its columns differ in length")
    key = block * 256 + warp
    starts = _warp_starts(block, warp)
    if len(found["warp_start"]) != len(starts) or (np.diff(key) < 0).any():
        raise _Unfit("its warps are in no order")
    _check_range("block", block, math.prod(head.grid))
    _check_range("warp", warp, -(-math.prod(head.block) // 32))
    _check_range("kind", kind, len(SEGMENT_KINDS))
    _check_range("last_line", last, min(1 << 16, head.source.count("\n") + 2))
    _check_range("phase", phase, 1 << 16)
    if (first > last).any():
        raise _Unfit("a segment ends in lines before its first")
    ends, begins = _times(length, found["warp_start"], starts)
    return Segments(
        block.astype(np.uint32), warp.astype(np.uint8), kind.astype(np.uint8), first.astype(np.uint16),
        last.astype(np.uint16), phase.astype(np.uint16), begins, ends,
    )  # fmt: skip


def _times(
    length: NDArray[np.int64], warp_start: NDArray[np.int64], starts: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the ends and the starts of segments from their lengths and where each warp begins."""
    if float(length.sum(dtype=np.float64)) > LONGEST:
        raise _Unfit("its segments take longer than time does")
    until = length.cumsum()
    sizes = np.diff(starts, append=len(length))
    offset = (warp_start - (until - length)[starts]).repeat(sizes)
    return until + offset, until - length + offset


def _check_range(name: str, column: NDArray[np.int64], limit: int) -> None:
    if column.max(initial=0) >= limit:
        raise _Unfit(f"its column {name} names what its launch has not")
