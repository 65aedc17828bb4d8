"""The colours of a GIF: 255 for all of its frames, made for what is drawn in them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Frame = NDArray[np.uint32]  # (height, width), each 0xffRRGGBB

SIZE = 255  # colours; one more means that a pixel stays as it was
FLAT = 128  # of them that are taken as they are: grounds, cells, lines and the middle of letters
WEIGHTS = np.array((3, 6, 1), np.int32)  # of red, green and blue in a distance: about what the eye gives them
ROWS = 4096  # colours whose distances are computed at once


def palette_of(frames: Sequence[Frame], wanted: Sequence[int]) -> NDArray[np.uint8]:
    """Return (SIZE, 3) colours for frames like these.

    Those that are `wanted` (0xRRGGBB) and those that most pixels have are in it as they are, so that whatever is flat
    keeps its colour; the rest, edges of letters above all, share what is left by median cut. Nothing is dithered: it
    would flicker, and what flickers can't be left out of the next frame.
    """
    colours, counts = _counted(frames)
    often = colours[np.argsort(-counts, kind="stable")]
    flat = list(dict.fromkeys([*wanted, *(int(colour) for colour in often[:FLAT])]))[:SIZE]
    rest = colours[~np.isin(colours, np.array(flat, np.uint32))]
    made = np.vstack([_channels(np.array(flat, np.uint32)), _median_cut(rest, SIZE - len(flat))])
    return np.vstack([made, np.zeros((SIZE - len(made), 3), np.uint8)])


def _counted(frames: Sequence[Frame]) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
    found = [np.unique(frame & 0xFFFFFF, return_counts=True) for frame in frames]
    colours, where = np.unique(np.concatenate([pair[0] for pair in found]), return_inverse=True)
    counts = np.bincount(where, np.concatenate([pair[1] for pair in found])).astype(np.int64)
    return colours.astype(np.uint32), counts


def _median_cut(colours: NDArray[np.uint32], count: int) -> NDArray[np.uint8]:
    """Return at most so many colours that stand for all of these."""
    from PIL import Image

    if len(colours) <= count:
        return _channels(colours)
    picture = Image.fromarray(_channels(colours)[None])
    chosen = picture.quantize(count, Image.Quantize.MEDIANCUT).getpalette() or []
    return np.array(chosen, np.uint8).reshape(-1, 3)[:count]


def _channels(colours: NDArray[np.uint32]) -> NDArray[np.uint8]:
    return np.stack([colours >> 16, colours >> 8, colours], -1).astype(np.uint8)


class Lookup:
    """Says which colour of a palette is nearest to any other; each is looked for once."""

    def __init__(self, palette: NDArray[np.uint8]) -> None:
        self.palette = palette
        self._wide = palette.astype(np.int32)
        self._known = np.full(1 << 24, -1, np.int16)

    def numbers(self, colours: NDArray[np.uint32]) -> NDArray[np.uint8]:
        """Return the number in the palette for each colour of an array of any shape."""
        plain = colours & 0xFFFFFF
        found = self._known[plain]
        missing = np.unique(plain[found < 0])
        if len(missing):
            for start in range(0, len(missing), ROWS):
                some = missing[start : start + ROWS]
                self._known[some] = self._nearest(some)
            found = self._known[plain]
        numbers: NDArray[np.uint8] = found.astype(np.uint8)
        return numbers

    def _nearest(self, colours: NDArray[np.uint32]) -> NDArray[np.int64]:
        apart = _channels(colours).astype(np.int32)[:, None] - self._wide[None]
        distances = (apart * apart * WEIGHTS).sum(-1)
        nearest: NDArray[np.int64] = distances.argmin(1)
        return nearest
