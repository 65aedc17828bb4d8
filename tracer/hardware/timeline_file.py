"""Files of timelines: a strict `.npz`, written atomically, and validated when read.

Times are stored as lengths, in the smallest integer type that fits: a segment begins where the previous one ends.
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

from ..storage import npz
from ..storage.atomic_write import write_atomically
from .timeline import SEGMENT_KINDS, BlockSpans, Segments, Timeline, TimelineHead
from .times.measurement import MeasurementError

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


Content = TypeVar("Content")


class TimelineFileError(MeasurementError):
    """A timeline that can't be written or read; the text is one sentence."""


class _InvalidFileError(Exception):
    """The content of a file is invalid; the text is a clause, not a sentence."""


class _StoredHead(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The head as stored in a file."""

    format: str
    version: int
    head: TimelineHead


class _Sign(msgspec.Struct, frozen=True):
    format: str
    version: int


_SIGN, _STORED_HEAD = msgspec.json.Decoder(_Sign), msgspec.json.Decoder(_StoredHead)


def save(timeline: Timeline, path: Path) -> None:
    """Write a timeline atomically; raises TimelineFileError."""
    content = io.BytesIO()
    npz.write(content, _columns(timeline), deflate=True)
    try:
        write_atomically(path, content.getvalue())
    except OSError as error:
        raise TimelineFileError(f"{path} can't be written: {error.strerror or error}.") from error


def _columns(timeline: Timeline) -> dict[str, NDArray[Any]]:
    spans, segments = timeline.spans, timeline.segments
    head = msgspec.json.encode(_StoredHead(FORMAT, VERSION, timeline.head))
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
    """Convert numbers from 0 on to the smallest type that fits."""
    return column.astype(np.min_scalar_type(int(column.max(initial=0))))


def _warp_starts(block: NDArray[Any], warp: NDArray[Any]) -> NDArray[np.int64]:
    """Return the index of each warp's first segment."""
    key = block.astype(np.int64) * 256 + warp
    return np.flatnonzero(np.diff(key, prepend=-1))


def load(path: Path) -> Timeline:
    """Load the timeline of a file; raises TimelineFileError."""
    return _read(path, _timeline)


def load_head(path: Path) -> TimelineHead:
    """Load only the head of a file's timeline; raises TimelineFileError."""
    return _read(path, _head)


def _read(path: Path, read: Callable[[zipfile.ZipFile], Content]) -> Content:
    try:
        if path.stat().st_size > LARGEST:
            raise _InvalidFileError(f"it is larger than {LARGEST // 1_000_000} MB")
        with path.open("rb") as file, zipfile.ZipFile(file) as members:
            if sum(npz.sizes(members).values()) > LARGEST_UNPACKED:
                raise _InvalidFileError("it would take more memory than a timeline may")
            return read(members)
    except _InvalidFileError as error:
        raise TimelineFileError(f"{path} can't be read as a timeline: {error}.") from error
    except OSError as error:
        raise TimelineFileError(f"{path} can't be read: {error.strerror or error}.") from error
    except (
        zipfile.BadZipFile, zlib.error, ValueError, KeyError, EOFError, NotImplementedError, RuntimeError,
        OverflowError,
    ) as error:  # fmt: skip
        raise TimelineFileError(
            f"{path} is not a complete timeline file ({error or type(error).__name__})."
        ) from error


def _head(members: zipfile.ZipFile) -> TimelineHead:
    if npz.sizes(members).get(HEAD, LARGEST_HEAD + 1) > LARGEST_HEAD:
        raise _InvalidFileError("it is not a Tilescope timeline")
    text = npz.read(members, HEAD).tobytes()
    try:
        sign = _SIGN.decode(text)
        if sign.format != FORMAT:
            raise _InvalidFileError("it is not a Tilescope timeline")
        if sign.version != VERSION:
            raise _InvalidFileError(f"it has format {sign.version}, this Tilescope reads {VERSION}")
        head = _STORED_HEAD.decode(text).head
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise _InvalidFileError(f"its head is damaged ({error})") from error
    _check_head(head)
    return head


def _check_head(head: TimelineHead) -> None:
    costs = (head.plain, head.marked)
    times = [time for cost in costs for time in cost.microseconds]
    times += [head.mhz, head.resolution_ns, head.launch_microseconds, head.empty_microseconds]
    if min(*head.grid, *head.block) < 1 or math.prod(head.grid) >= 1 << 31 or math.prod(head.block) > 1024:
        raise _InvalidFileError("no launch can have its grid or its block")
    if not all(cost.microseconds for cost in costs) or not all(math.isfinite(t) and t >= 0 for t in times):
        raise _InvalidFileError("it has a time that is not a positive number")
    if head.mhz <= 0 or min(head.device.multiprocessors, *(c.registers for c in costs)) < 1:
        raise _InvalidFileError("no device or no kernel can be as it says")


def _timeline(members: zipfile.ZipFile) -> Timeline:
    head = _head(members)
    if npz.sizes(members).keys() != {HEAD, *SPANS, *SEGMENTS}:
        raise _InvalidFileError("it has missing or unknown columns")
    spans = _spans(_numbers(members, SPANS), math.prod(head.grid))
    return Timeline(head, spans, _segments(_numbers(members, SEGMENTS), head))


def _numbers(members: zipfile.ZipFile, names: tuple[str, ...]) -> dict[str, NDArray[np.int64]]:
    """Read columns of natural numbers."""
    columns = {}
    for name in names:
        column = npz.read(members, name)
        if column.dtype.kind not in "ui":
            raise _InvalidFileError(f"its column {name} holds other values than whole numbers")
        if len(column) and (int(column.min()) < 0 or int(column.max()) > LONGEST):
            raise _InvalidFileError(f"its column {name} holds numbers that are too small or too large")
        columns[name] = column.astype(np.int64)
    return columns


def _spans(columns: Mapping[str, NDArray[np.int64]], blocks: int) -> BlockSpans:
    number, start, length = (columns[name] for name in SPANS)
    if not len(number) == len(start) == len(length) == blocks:
        raise _InvalidFileError("its number of blocks differs from its grid")
    if number.max() >= 1 << 16 or start.min() != 0:
        raise _InvalidFileError("its blocks have impossible multiprocessors or times")
    return BlockSpans(number.astype(np.uint16), start, start + length)


def _segments(columns: Mapping[str, NDArray[np.int64]], head: TimelineHead) -> Segments:
    block, warp, kind, first, last, phase = (columns[name] for name in SEGMENTS[:6])
    length, count = columns["length"], len(block)
    if any(len(columns[name]) != count for name in SEGMENTS[:7]):
        raise _InvalidFileError("its columns differ in length")
    key = block * 256 + warp
    starts = _warp_starts(block, warp)
    if len(columns["warp_start"]) != len(starts) or (np.diff(key) < 0).any():
        raise _InvalidFileError("its warps are not in order")
    _check_range("block", block, math.prod(head.grid))
    _check_range("warp", warp, -(-math.prod(head.block) // 32))
    _check_range("kind", kind, len(SEGMENT_KINDS))
    _check_range("last_line", last, min(1 << 16, head.source.count("\n") + 2))
    _check_range("phase", phase, 1 << 16)
    if (first > last).any():
        raise _InvalidFileError("a segment ends before its first line")
    ends, begins = _times(length, columns["warp_start"], starts)
    return Segments(
        block.astype(np.uint32), warp.astype(np.uint8), kind.astype(np.uint8), first.astype(np.uint16),
        last.astype(np.uint16), phase.astype(np.uint16), begins, ends,
    )  # fmt: skip


def _times(
    length: NDArray[np.int64], warp_start: NDArray[np.int64], starts: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the ends and the starts of segments, from their lengths and the starts of warps."""
    if float(length.sum(dtype=np.float64)) > LONGEST:
        raise _InvalidFileError("its segments are too long")
    cumulative = length.cumsum()
    sizes = np.diff(starts, append=len(length))
    offset = (warp_start - (cumulative - length)[starts]).repeat(sizes)
    return cumulative + offset, cumulative - length + offset


def _check_range(name: str, column: NDArray[np.int64], limit: int) -> None:
    if column.max(initial=0) >= limit:
        raise _InvalidFileError(f"its column {name} refers to something that its launch lacks")
