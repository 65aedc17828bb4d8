"""Animated WebP files: Pillow encodes several frames in parallel, and this module writes the container.

The container: https://developers.google.com/speed/webp/docs/riff_container. Pillow would encode an
animation in one thread, and try several ways for each frame; here each frame is encoded as a separate picture.
"""

from __future__ import annotations

import os
import struct
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from fractions import Fraction
from io import BytesIO
from typing import IO, Final

import numpy as np
from PIL import Image

from .gif_palette import Frame
from .pictures_file import Frames, image_of

ANIMATED, WITH_ALPHA = 0x02, 0x10  # flags of the file
OPAQUE: Final = 0xFF000000  # of a pixel
EFFORT: Final = {"lossless": True, "quality": 0, "method": 1}  # less effort makes files ten times as large
NOTHING = (slice(0, 1), slice(0, 1))  # the rectangle of an unchanged frame


def write_webp(file: IO[bytes], frames: Frames, rate: Fraction, times: list[int]) -> None:
    """Write frames without loss, each with only the rectangle that differs from the previous one.

    times: the repeat count of each frame.
    """
    edges = [round(1000 * sum(times[:n]) / rate) for n in range(len(times) + 1)]
    first, _ = next(frames)
    chunks = [_head(first), _chunk(b"ANIM", struct.pack("<IH", 0, 0))]
    for (position, size, packed), begin, end in zip(_packed(first, frames), edges, edges[1:], strict=False):
        numbers = (position[0] // 2, position[1] // 2, size[0] - 1, size[1] - 1, end - begin)
        header = b"".join(n.to_bytes(3, "little") for n in numbers) + b"\0"  # blended over the previous frame
        chunks.append(_chunk(b"ANMF", header + packed))
    content = b"WEBP" + b"".join(chunks)
    file.write(b"RIFF" + struct.pack("<I", len(content)) + content)


def _head(frame: Frame) -> bytes:
    height, width = frame.shape
    sides = b"".join((side - 1).to_bytes(3, "little") for side in (width, height))
    return _chunk(b"VP8X", struct.pack("<I", ANIMATED | WITH_ALPHA) + sides)


def _chunk(name: bytes, content: bytes) -> bytes:
    return name + struct.pack("<I", len(content)) + content + b"\0" * (len(content) % 2)


Packed = tuple[
    tuple[int, int], tuple[int, int], bytes
]  # column and row, width and height, the picture's chunk


def _packed(first: Frame, frames: Frames) -> Iterator[Packed]:
    """Yield the encoded parts of all frames in order, while later ones are drawn and encoded."""
    workers = min(4, os.cpu_count() or 1)
    pending: deque[Future[Packed]] = deque()
    with ThreadPoolExecutor(workers) as pool:
        pending.append(pool.submit(_part, first, None))
        before = first
        for frame, _ in frames:
            pending.append(pool.submit(_part, frame, before))
            before = frame
            if len(pending) > workers:
                yield pending.popleft().result()
        while pending:
            yield pending.popleft().result()


def _part(frame: Frame, before: Frame | None) -> Packed:
    """Encode the changed rectangle of a frame with transparent unchanged pixels."""
    if before is None:
        return (0, 0), (frame.shape[1], frame.shape[0]), _still(image_of(frame))
    changed = frame != before
    rows, columns = np.flatnonzero(changed.any(1)), np.flatnonzero(changed.any(0))
    part = NOTHING
    if len(rows):  # positions must be even
        part = slice(int(rows[0]) & ~1, int(rows[-1]) + 1), slice(int(columns[0]) & ~1, int(columns[-1]) + 1)
    pixels = np.where(changed[part], frame[part] | np.uint32(OPAQUE), np.uint32(0))
    height, width = pixels.shape
    picture = Image.frombuffer("RGBA", (width, height), pixels.tobytes(), "raw", "BGRA", 0, 1)
    return (part[1].start, part[0].start), (width, height), _still(picture)


def _still(picture: Image.Image) -> bytes:
    """Encode a picture and return its chunk of the file."""
    packed = BytesIO()
    picture.save(packed, "WEBP", **EFFORT)
    content = packed.getvalue()
    return content[content.index(b"VP8L") :]
