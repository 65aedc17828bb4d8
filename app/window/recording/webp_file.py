"""Frames as an animated WebP: packed by Pillow, several at a time, and put into the container here.

The container: https://developers.google.com/speed/webp/docs/riff_container. Pillow packs an animation frame by
frame in one thread, and tries several ways for each; a frame of a film is packed here as a picture of its own.
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

from .palette import Frame
from .pictures_file import Frames, image_of

ANIMATED, WITH_ALPHA = 0x02, 0x10  # flags of the file
OPAQUE: Final = 0xFF000000  # of a pixel
EFFORT: Final = {"lossless": True, "quality": 0, "method": 1}  # less makes files ten times as large
NOTHING = (slice(0, 1), slice(0, 1))  # where the part of a frame is that equals the one before


def write_webp(file: IO[bytes], frames: Frames, rate: Fraction, times: list[int]) -> None:
    """Write frames without loss, each with the part alone that differs from the one before.

    times: the number of frames for which each of them stands.
    """
    edges = [round(1000 * sum(times[:n]) / rate) for n in range(len(times) + 1)]
    first, _ = next(frames)
    chunks = [_head(first), _chunk(b"ANIM", struct.pack("<IH", 0, 0))]
    for (place, size, packed), begin, end in zip(_packed(first, frames), edges, edges[1:], strict=False):
        numbers = (place[0] // 2, place[1] // 2, size[0] - 1, size[1] - 1, end - begin)
        about = b"".join(n.to_bytes(3, "little") for n in numbers) + b"\0"  # over what was there, which stays
        chunks.append(_chunk(b"ANMF", about + packed))
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
    """Yield the parts of all frames in their order, while later ones are drawn and packed."""
    most = min(4, os.cpu_count() or 1)
    under_way: deque[Future[Packed]] = deque()
    with ThreadPoolExecutor(most) as pool:
        under_way.append(pool.submit(_part, first, None))
        before = first
        for frame, _ in frames:
            under_way.append(pool.submit(_part, frame, before))
            before = frame
            if len(under_way) > most:
                yield under_way.popleft().result()
        while under_way:
            yield under_way.popleft().result()


def _part(frame: Frame, before: Frame | None) -> Packed:
    """Return what differs in a frame, in which the rest is clear."""
    if before is None:
        return (0, 0), (frame.shape[1], frame.shape[0]), _still(image_of(frame))
    changed = frame != before
    rows, columns = np.flatnonzero(changed.any(1)), np.flatnonzero(changed.any(0))
    part = NOTHING
    if len(rows):  # places are even
        part = slice(int(rows[0]) & ~1, int(rows[-1]) + 1), slice(int(columns[0]) & ~1, int(columns[-1]) + 1)
    pixels = np.where(changed[part], frame[part] | np.uint32(OPAQUE), np.uint32(0))
    height, width = pixels.shape
    picture = Image.frombuffer("RGBA", (width, height), pixels.tobytes(), "raw", "BGRA", 0, 1)
    return (part[1].start, part[0].start), (width, height), _still(picture)


def _still(picture: Image.Image) -> bytes:
    """Return the chunk of a file that holds the picture."""
    packed = BytesIO()
    picture.save(packed, "WEBP", **EFFORT)
    content = packed.getvalue()
    return content[content.index(b"VP8L") :]
