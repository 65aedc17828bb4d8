"""The tables of a replay without duplicates: colour pairs, operations, drawings, and images as differences."""

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
}  # index of the pen in an operation; a pen begins with its colour
FILLS = {"r": 1, "e": 1, "p": 1, "t": 1, "w": 1}  # index of the fill colour


class _Image(NamedTuple):
    """The last image drawn at one place in a picture."""

    number: int  # of the image
    light: Pixels  # as it was painted
    dark: Pixels
    places: Places  # (rows, columns), indices of its pixels in the colour pairs


class Drawings:
    """Tables that number each colour, operation, image and drawing once."""

    def __init__(self) -> None:
        self.colours: dict[tuple[int, int], int] = {}  # in light, in dark; 0xAARRGGBB
        self.fonts: dict[tuple[int, ...], int] = {}
        self.pens: dict[tuple[Any, ...], int] = {}
        self.operations: dict[Operation, int] = {}
        self.drawings: dict[tuple[int, ...], int] = {}
        self.images: list[list[Any]] = []
        self._image_numbers: dict[bytes, int] = {}  # by the digest of the pixels
        self._run_counts: list[int] = []  # by image, the number of runs since a complete image
        self._last: dict[Hashable, _Image] = {}

    def add(self, light: Picture, dark: Picture, place: Hashable = None) -> int:
        """Return the number of a drawing with these pictures in the two themes.

        place: images of the same place usually differ little.
        """
        pair = self._with_colour_pairs(light, dark)
        if pair is None:  # the shapes differ between the themes
            parts = [
                ("s", 0),
                *self._in_one_theme(light, place, 0),
                ("s", 1),
                *self._in_one_theme(dark, place, 1),
                ("s", 2),
            ]
        else:
            parts = pair
            parts = self._with_images(parts, light, dark, place)
        numbers = tuple(_number(self.operations, part) for part in parts)
        return _number(self.drawings, numbers)

    def _with_colour_pairs(self, light: Picture, dark: Picture) -> list[Operation] | None:
        """Merge the operations of both themes with pairs of colours; None if they differ in more than colours."""
        same_images = [i.shape for i in light.images] == [i.shape for i in dark.images]
        if light.operations != dark.operations or not same_images:
            return None
        pairs = [_number(self.colours, both) for both in zip(light.colours, dark.colours, strict=True)]
        return [self._with_numbers(operation, pairs) for operation in light.operations]

    def _in_one_theme(self, picture: Picture, place: Hashable, theme: int) -> list[Operation]:
        """Return the operations of a picture drawn in only one theme."""
        pairs = [_number(self.colours, (colour, colour)) for colour in picture.colours]
        operations = [self._with_numbers(operation, pairs) for operation in picture.operations]
        return self._with_images(operations, picture, picture, (place, theme))

    def _with_numbers(self, operation: Operation, pairs: list[int]) -> Operation:
        """Replace colours, pen and font of an operation by their numbers."""
        parts, name = list(operation), operation[0]
        if (fill := FILLS.get(name)) and parts[fill] != NOTHING:
            parts[fill] = pairs[parts[fill]]
        if (index := PENS.get(name)) and parts[index] != NOTHING:
            colour, *rest = parts[index]
            parts[index] = _number(self.pens, (pairs[colour], *rest))
        if name == "t":
            parts[2] = _number(self.fonts, parts[2])
        return tuple(parts)

    def _with_images(
        self, operations: list[Operation], light: Picture, dark: Picture, place: Hashable
    ) -> list[Operation]:
        """Replace the images of operations by their numbers."""
        return [
            (part[0], self._image(light.images[part[1]], dark.images[part[1]], (place, part[1])), *part[2:])
            if part[0] == "i"
            else part
            for part in operations
        ]

    def _image(self, light: Pixels, dark: Pixels, place: Hashable) -> int:
        """Return the number of an image; compare only the pixels that differ from the last one at its place."""
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
        if key not in self._image_numbers:
            self._image_numbers[key] = self._write(places, last)
        self._last[place] = _Image(self._image_numbers[key], light, dark, places)
        return self._image_numbers[key]

    def _pairs(self, light: Pixels, dark: Pixels) -> Places:
        """Look up the indices of pixels in the colour pairs, all of shape (n,)."""
        both = light.astype(np.uint64) << np.uint64(32) | dark.astype(np.uint64)
        values, inverse = np.unique(both, return_inverse=True)
        pairs = [_number(self.colours, (pair >> 32, pair & 0xFFFFFFFF)) for pair in values.tolist()]
        return np.array(pairs, np.int32)[inverse]

    def _write(self, places: Places, last: _Image | None) -> int:
        """Store an image as differences from the last one, or completely if the chain would get too long."""
        number, (height, width) = len(self.images), places.shape
        runs = _runs(places, last.places) if last is not None else []
        run_count = self._run_counts[last.number] + len(runs) if last is not None else 0
        if last is None or run_count > places.size:
            runs, run_count, back = _runs(places, np.full_like(places, NOTHING)), 0, 0
        else:
            back = number - last.number
        self.images.append([width, height, back, *runs])
        self._run_counts.append(run_count)
        return number

    def written(self) -> dict[str, Any]:
        """Return the tables for JSON."""
        return {
            "colours": [[_css(colour) for colour in both] for both in self.colours],
            "fonts": list(self.fonts),
            "pens": list(self.pens),
            "operations": list(self.operations),
            "drawings": list(self.drawings),
            "images": self.images,
        }


def _runs(now: Places, before: Places) -> list[int]:
    """Encode the differences as runs of equal values: (gap after the previous run, length, value)."""
    flat = now.ravel()
    changed = np.flatnonzero(flat != before.ravel())
    if not len(changed):
        return []
    values = flat[changed]
    breaks = np.flatnonzero((np.diff(changed) != 1) | (np.diff(values) != 0)) + 1
    firsts = np.concatenate([[0], breaks])
    starts, lengths = changed[firsts], np.diff(np.concatenate([firsts, [len(changed)]]))
    gaps = starts - np.concatenate([[0], (starts + lengths)[:-1]])
    runs: list[int] = np.stack([gaps, lengths, values[firsts]], axis=1).ravel().tolist()
    return runs


def _number(table: dict[Any, int], key: Any) -> int:
    return table.setdefault(key, len(table))


def _css(colour: int) -> str:
    """Format 0xAARRGGBB for CSS."""
    return f"#{colour & 0xFFFFFF:06x}" + (f"{colour >> 24:02x}" if colour >> 24 < 255 else "")
