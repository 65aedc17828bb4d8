"""All that a replay draws, each thing once: colours by pairs, operations, drawings, and images as what changed."""

from __future__ import annotations

import hashlib
from collections.abc import Hashable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .paint_recorder import NOTHING, Operation, Picture, Pixels

Places = NDArray[np.int32]
PENS = {
    "r": 2,
    "e": 2,
    "p": 2,
    "l": 1,
    "o": 1,
}  # where the pen stands in an operation, which begins with its colour
FILLS = {"r": 1, "e": 1, "p": 1, "t": 1, "w": 1}  # where a colour stands


class _Image(NamedTuple):
    """An image as it was drawn last at one place in a picture."""

    number: int  # of the image
    light: Pixels  # as it was painted
    dark: Pixels
    places: Places  # (rows, columns), of its pixels among the pairs of colours


class Drawings:
    """Tables in which each colour, operation, image and drawing has one number, whatever shows it."""

    def __init__(self) -> None:
        self.colours: dict[tuple[int, int], int] = {}  # in light, in dark; 0xAARRGGBB
        self.fonts: dict[tuple[int, ...], int] = {}
        self.pens: dict[tuple[Any, ...], int] = {}
        self.operations: dict[Operation, int] = {}
        self.drawings: dict[tuple[int, ...], int] = {}
        self.images: list[list[Any]] = []
        self._seen: dict[bytes, int] = {}  # numbers of images by the digests of their pixels
        self._told: list[int] = []  # of each image, how many runs lead to it from one that is written whole
        self._last: dict[Hashable, _Image] = {}

    def add(self, light: Picture, dark: Picture, place: Hashable = None) -> int:
        """Return the number of a drawing that looks like this in the two themes.

        place: pictures of the same place mostly have images that differ little.
        """
        pair = self._paired(light, dark)
        if pair is None:  # it has another shape in the dark
            parts = [
                ("s", 0),
                *self._alone(light, place, 0),
                ("s", 1),
                *self._alone(dark, place, 1),
                ("s", 2),
            ]
        else:
            parts = pair
            parts = self._with_images(parts, light, dark, place)
        numbers = tuple(_number(self.operations, part) for part in parts)
        return _number(self.drawings, numbers)

    def _paired(self, light: Picture, dark: Picture) -> list[Operation] | None:
        """Return the operations with pairs of colours in place of two, None where they differ in more than these."""
        same_images = [i.shape for i in light.images] == [i.shape for i in dark.images]
        if light.operations != dark.operations or not same_images:
            return None
        pairs = [_number(self.colours, both) for both in zip(light.colours, dark.colours, strict=True)]
        return [self._numbered(operation, pairs) for operation in light.operations]

    def _alone(self, picture: Picture, place: Hashable, theme: int) -> list[Operation]:
        """Return the operations of a picture that is drawn in one theme alone."""
        pairs = [_number(self.colours, (colour, colour)) for colour in picture.colours]
        found = [self._numbered(operation, pairs) for operation in picture.operations]
        return self._with_images(found, picture, picture, (place, theme))

    def _numbered(self, operation: Operation, pairs: list[int]) -> Operation:
        """Return an operation with the numbers of its colours, pen and font."""
        parts, name = list(operation), operation[0]
        if (fill := FILLS.get(name)) and parts[fill] != NOTHING:
            parts[fill] = pairs[parts[fill]]
        if (at := PENS.get(name)) and parts[at] != NOTHING:
            colour, *rest = parts[at]
            parts[at] = _number(self.pens, (pairs[colour], *rest))
        if name == "t":
            parts[2] = _number(self.fonts, parts[2])
        return tuple(parts)

    def _with_images(
        self, operations: list[Operation], light: Picture, dark: Picture, place: Hashable
    ) -> list[Operation]:
        """Return operations with the numbers of their images."""
        return [
            (part[0], self._image(light.images[part[1]], dark.images[part[1]], (place, part[1])), *part[2:])
            if part[0] == "i"
            else part
            for part in operations
        ]

    def _image(self, light: Pixels, dark: Pixels, place: Hashable) -> int:
        """Return the number of an image; of one that differs little from the last at its place little is looked at."""
        last = self._last.get(place)
        if last is not None and last.light.shape != light.shape:
            last = None
        if last is None:
            places = self._pairs(light.ravel(), dark.ravel()).reshape(light.shape)
        else:
            changed = np.flatnonzero((light != last.light) | (dark != last.dark))
            if not len(changed):
                return last.number
            places = last.places.copy()
            places.ravel()[changed] = self._pairs(light.ravel()[changed], dark.ravel()[changed])
        key = hashlib.blake2b(repr(places.shape).encode() + places.tobytes(), digest_size=16).digest()
        if key not in self._seen:
            self._seen[key] = self._write(places, last)
        self._last[place] = _Image(self._seen[key], light, dark, places)
        return self._seen[key]

    def _pairs(self, light: Pixels, dark: Pixels) -> Places:
        """Return the places of pixels among the pairs of colours, all of shape (n,)."""
        both = light.astype(np.uint64) << np.uint64(32) | dark.astype(np.uint64)
        found, inverse = np.unique(both, return_inverse=True)
        pairs = [_number(self.colours, (one >> 32, one & 0xFFFFFFFF)) for one in found.tolist()]
        return np.array(pairs, np.int32)[inverse]

    def _write(self, places: Places, last: _Image | None) -> int:
        """Write an image as what differs from the last one; whole where that would lead too far back."""
        number, (height, width) = len(self.images), places.shape
        runs = _runs(places, last.places) if last is not None else []
        told = self._told[last.number] + len(runs) if last is not None else 0
        if last is None or told > places.size:
            runs, told, back = _runs(places, np.full_like(places, NOTHING)), 0, 0
        else:
            back = number - last.number
        self.images.append([width, height, back, *runs])
        self._told.append(told)
        return number

    def written(self) -> dict[str, Any]:
        """Return the tables for JSON."""
        return {
            "colours": [[_css(one) for one in both] for both in self.colours],
            "fonts": list(self.fonts),
            "pens": list(self.pens),
            "operations": list(self.operations),
            "drawings": list(self.drawings),
            "images": self.images,
        }


def _runs(now: Places, before: Places) -> list[int]:
    """Return what differs as runs of one value: cells from the end of the run before, its length, the value."""
    flat = now.ravel()
    changed = np.flatnonzero(flat != before.ravel())
    if not len(changed):
        return []
    values = flat[changed]
    breaks = np.flatnonzero((np.diff(changed) != 1) | (np.diff(values) != 0)) + 1
    firsts = np.concatenate([[0], breaks])
    starts, lengths = changed[firsts], np.diff(np.concatenate([firsts, [len(changed)]]))
    gaps = starts - np.concatenate([[0], (starts + lengths)[:-1]])
    found: list[int] = np.stack([gaps, lengths, values[firsts]], axis=1).ravel().tolist()
    return found


def _number(table: dict[Any, int], key: Any) -> int:
    return table.setdefault(key, len(table))


def _css(colour: int) -> str:
    """Return 0xAARRGGBB as CSS writes it."""
    return f"#{colour & 0xFFFFFF:06x}" + (f"{colour >> 24:02x}" if colour >> 24 < 255 else "")
