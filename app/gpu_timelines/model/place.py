"""A position in the chart "On the GPU", and its text form: gpu block=12/3 range=0:4.5."""

from __future__ import annotations

import re
from typing import Final, Literal, get_args

from msgspec import Struct
from msgspec.structs import replace

from ....kernels.scenarios.suggestions import did_you_mean
from ....tracer.model.integers import parse_integer

GPU = "gpu"  # the first word of a place; no chart of times begins with it
Level = Literal["gpu", "multiprocessor", "block", "warp"]
LEVELS: Final[tuple[Level, ...]] = get_args(Level)
LARGEST = 2**31  # above any number in a place
NOTHING = "-"  # for a pane without the number
KEYS = ("size", "multiprocessor", "block", "warp", "range")


class PanePlace(Struct, frozen=True):
    """The position in one pane's chart; None and "" leave the choice to the chart."""

    size: str = ""  # the word of a recorded size; "" is the size of the pane's launch
    multiprocessor: int | None = None  # its number
    block: int | None = None  # linear number in the grid
    warp: int | None = None  # number in the block

    def machine_in(self, count: int) -> int | None:
        """Return the multiprocessor's number if a GPU with `count` has it, else None."""
        return (
            self.multiprocessor if self.multiprocessor is not None and self.multiprocessor < count else None
        )


class GpuPlace(Struct, frozen=True):
    """The position in the charts of all panes, which share the level and the axis."""

    level: Level = "gpu"  # the rows: multiprocessors, slots of one, warps, or kinds
    panes: tuple[PanePlace, ...] = ()  # from left to right; the chart chooses for missing ones
    range: tuple[float, float] | None = (
        None  # microseconds of both edges, from the launch's or the block's start
    )

    def pane(self, i: int) -> PanePlace:
        """Return the place of a pane; missing panes repeat the last size."""
        if i < len(self.panes):
            return self.panes[i]
        return PanePlace(self.panes[-1].size if self.panes else "")

    def with_pane(self, i: int, place: PanePlace) -> GpuPlace:
        """Return this place with one pane changed."""
        panes = [self.pane(n) for n in range(max(len(self.panes), i + 1))]
        panes[i] = place
        return replace(self, panes=tuple(panes))


def is_gpu(text: str) -> bool:
    """Return True if a chart's text means the chart "On the GPU"."""
    return text.split(" ", 1)[0] == GPU


def gpu_place_text(place: GpuPlace) -> str:
    """Return the text of a place, which `parse_gpu_place` reads."""
    words = [GPU]
    if any(pane.size for pane in place.panes):
        words.append("size=" + "/".join(pane.size or NOTHING for pane in place.panes))
    for level in LEVELS[1 : LEVELS.index(place.level) + 1]:
        if (
            level != "multiprocessor" or place.level == "multiprocessor"
        ):  # a block determines its multiprocessor
            numbers = [getattr(pane, level) for pane in place.panes] or [None]
            words.append(f"{level}=" + "/".join(NOTHING if n is None else str(n) for n in numbers))
    if place.range is not None:
        words.append("range=" + ":".join(f"{edge:.12g}" for edge in place.range))
    return " ".join(words)


def parse_gpu_place(text: str) -> GpuPlace:
    """Parse the text of a place; raises ValueError with a sentence."""
    first, *words = text.split()
    if first != GPU:
        raise ValueError(f"{text!r} is not a place on a GPU; write for example: gpu block=12.")
    values: dict[str, str] = {}
    for word in words:
        key, equals, value = word.partition("=")
        if key not in KEYS or not equals:
            raise ValueError(f"{word!r} is not an option of the chart gpu{did_you_mean(key, KEYS)}")
        values[key] = value
    span = _range(values.pop("range")) if "range" in values else None
    level = next((name for name in reversed(LEVELS) if name in values), LEVELS[0])
    columns = {key: value.split("/") for key, value in values.items()}
    count = max((len(column) for column in columns.values()), default=0)
    return GpuPlace(level, tuple(_pane(columns, i) for i in range(count)), span)


def _pane(columns: dict[str, list[str]], i: int) -> PanePlace:
    given = {key: column[i] for key, column in columns.items() if i < len(column) and column[i] != NOTHING}
    size = given.pop("size", "")
    if not re.fullmatch(r"[\w.-]*", size):
        raise ValueError(f"size={size} is not a size; write it as the chart does, for example size=1024.")
    return PanePlace(size, **{key: _number(key, text) for key, text in given.items()})


def _number(key: str, text: str) -> int:
    number = parse_integer(text)
    if number is None or number >= LARGEST:
        raise ValueError(
            f"{key}={text} is not a whole number from 0 on, nor {NOTHING} for the chart's choice."
        )
    return number


def _range(text: str) -> tuple[float, float]:
    try:
        first, last = (float(part) for part in text.split(":"))
    except ValueError:
        first, last = 0.0, 0.0
    if not -LARGEST < first < last < LARGEST:
        raise ValueError(
            f"range={text} is not a range of time; write microseconds as range=1.5:4, the first before the last."
        )
    return first, last
