"""Frames as a GIF or a folder of PNG files, by Pillow."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from fractions import Fraction
from io import BytesIO
from pathlib import Path
from typing import IO

import numpy as np
from numpy.typing import NDArray
from PIL import GifImagePlugin, Image

from .gif_palette import SIZE, Frame, Lookup

Frames = Iterator[tuple[Frame, int]]  # each with its repeat count
LONGEST = 65535  # the longest delay of a GIF's frame, in hundredths of a second
QUICK = 1  # the compression level of PNG files, 1 to 9: a higher one takes longer than drawing


def image_of(frame: Frame) -> Image.Image:
    """Convert a frame to a Pillow image."""
    height, width = frame.shape
    return Image.frombuffer("RGB", (width, height), frame.tobytes(), "raw", "BGRX", 0, 1)


def write_gif(file: IO[bytes], frames: Frames, rate: Fraction, lookup: Lookup) -> None:
    """Write frames with a common palette; each contains only the rectangle that differs from the previous one.

    rate: frames per second, 100 divided by an integer.
    """
    stay, before = int(100 / rate), None
    for frame, times in frames:
        if before is None:
            file.write(_gif_head(frame, lookup.palette))
        file.write(_gif_frame(frame, before, lookup, stay * times))
        before = frame
    file.write(b";")


def _gif_head(frame: Frame, palette: NDArray[np.uint8]) -> bytes:
    """Build the header: size, palette, and endless repetition."""
    height, width = frame.shape
    colours = np.vstack([palette, np.zeros((256 - len(palette), 3), np.uint8)]).tobytes()
    again = b"!\xff\x0bNETSCAPE2.0\x03\x01" + struct.pack("<H", 0) + b"\0"
    return b"GIF89a" + struct.pack("<HHBBB", width, height, 0xF7, 0, 0) + colours + again


def _gif_frame(frame: Frame, before: Frame | None, lookup: Lookup, stay: int) -> bytes:
    """Encode the changed rectangle of a frame with transparent unchanged pixels; stay: hundredths of a second."""
    changed = np.ones(frame.shape, bool) if before is None else frame != before
    rows, columns = np.flatnonzero(changed.any(1)), np.flatnonzero(changed.any(0))
    top, left = (int(rows[0]), int(columns[0])) if len(rows) else (0, 0)
    part = (
        slice(top, int(rows[-1]) + 1 if len(rows) else 1),
        slice(left, int(columns[-1]) + 1 if len(rows) else 1),
    )
    numbers = np.where(changed[part], lookup.numbers(frame[part]), np.uint8(SIZE)).astype(np.uint8)
    longest = [LONGEST] * (stay // LONGEST) + [stay % LONGEST] * (stay % LONGEST > 0)
    first_picture = b"".join(_gif_picture(numbers, (left, top), longest[0]))
    clear = np.full((1, 1), SIZE, np.uint8)
    return first_picture + b"".join(b"".join(_gif_picture(clear, (0, 0), more)) for more in longest[1:])


def _gif_picture(numbers: NDArray[np.uint8], position: tuple[int, int], stay: int) -> list[bytes]:
    picture = Image.fromarray(np.ascontiguousarray(numbers)).convert("P")
    return GifImagePlugin.getdata(
        picture, position, duration=10 * stay, transparency=SIZE, disposal=1, include_color_table=False
    )


def write_pngs(folder: Path, frames: Frames) -> None:
    """Write one file for each frame into a folder, numbered from 1."""
    number = 0
    for frame, times in frames:
        content = png_of(frame)
        for _ in range(times):
            number += 1
            (folder / png_name(number)).write_bytes(content)


def png_of(frame: Frame) -> bytes:
    """Encode a frame as PNG."""
    packed = BytesIO()
    image_of(frame).save(packed, "PNG", compress_level=QUICK)
    return packed.getvalue()


def png_name(number: int) -> str:
    """Return the name of a frame's file in ffmpeg's pattern frame-%05d.png."""
    return f"frame-{number:05}.png"
