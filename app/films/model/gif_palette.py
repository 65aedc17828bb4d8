"""The palette of a GIF: 255 colours for all of its frames."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Frame = NDArray[np.uint32]  # (height, width), each 0xffRRGGBB

SIZE = 255  # colours; one more index means an unchanged pixel
FLAT = 128  # exact colours: grounds, cells, lines and the inside of letters
WEIGHTS = np.array((3, 6, 1), np.int32)  # of red, green and blue in a distance: about those of the eye
ROWS = 4096  # colours whose distances are computed at once


def palette_of(frames: Sequence[Frame], wanted: Sequence[int]) -> NDArray[np.uint8]:
    """Choose (SIZE, 3) colours for frames like these.

    The `wanted` colours (0xRRGGBB) and the most frequent ones are included exactly, so flat areas keep their colours.
    The others, mostly edges of letters, share the remaining entries by median cut. There is no dithering: it would
    flicker, and flickering pixels can't be omitted from the next frame.
    """
    colours, counts = _count_colours(frames)
    often = colours[np.argsort(-counts, kind="stable")]
    flat = list(dict.fromkeys([*wanted, *(int(colour) for colour in often[:FLAT])]))[:SIZE]
    rest = colours[~np.isin(colours, np.array(flat, np.uint32))]
    palette = np.vstack([_channels(np.array(flat, np.uint32)), _median_cut(rest, SIZE - len(flat))])
    return np.vstack([palette, np.zeros((SIZE - len(palette), 3), np.uint8)])


def _count_colours(frames: Sequence[Frame]) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
    pairs = [np.unique(frame & 0xFFFFFF, return_counts=True) for frame in frames]
    colours, inverse = np.unique(np.concatenate([pair[0] for pair in pairs]), return_inverse=True)
    counts = np.bincount(inverse, np.concatenate([pair[1] for pair in pairs])).astype(np.int64)
    return colours.astype(np.uint32), counts


def _median_cut(colours: NDArray[np.uint32], count: int) -> NDArray[np.uint8]:
    """Reduce colours to at most `count` representatives."""
    from PIL import Image

    if len(colours) <= count:
        return _channels(colours)
    picture = Image.fromarray(_channels(colours)[None])
    chosen = picture.quantize(count, Image.Quantize.MEDIANCUT).getpalette() or []
    return np.array(chosen, np.uint8).reshape(-1, 3)[:count]


def _channels(colours: NDArray[np.uint32]) -> NDArray[np.uint8]:
    return np.stack([colours >> 16, colours >> 8, colours], -1).astype(np.uint8)


class Lookup:
    """Finds the nearest palette entry of any colour, with a cache."""

    def __init__(self, palette: NDArray[np.uint8]) -> None:
        self.palette = palette
        self._palette32 = palette.astype(np.int32)
        self._cache = np.full(1 << 24, -1, np.int16)

    def numbers(self, colours: NDArray[np.uint32]) -> NDArray[np.uint8]:
        """Look up the palette index of each colour in an array of any shape."""
        plain = colours & 0xFFFFFF
        indices = self._cache[plain]
        missing = np.unique(plain[indices < 0])
        if len(missing):
            for start in range(0, len(missing), ROWS):
                batch = missing[start : start + ROWS]
                self._cache[batch] = self._nearest(batch)
            indices = self._cache[plain]
        numbers: NDArray[np.uint8] = indices.astype(np.uint8)
        return numbers

    def _nearest(self, colours: NDArray[np.uint32]) -> NDArray[np.int64]:
        differences = _channels(colours).astype(np.int32)[:, None] - self._palette32[None]
        distances = (differences * differences * WEIGHTS).sum(-1)
        nearest: NDArray[np.int64] = distances.argmin(1)
        return nearest
