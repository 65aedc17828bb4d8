"""The values to which a gesture moves a parameter. Pure functions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import islice

from ....kernels.scenarios.catalogue import Parameter

REFUSED = 200  # consecutive refused values after which the search ends
FEW = 64  # values of a parameter that has coarse steps

Refuses = Callable[[str], bool]  # returns True for a value that a scenario refuses


class Track:
    """The accepted values on both sides of a parameter's current one.

    unit: the step, 0 to double and halve; `refuses` is called once for each value.
    """

    def __init__(self, parameter: Parameter, text: str, unit: int, refuses: Refuses) -> None:
        self.start = text
        self._sides = {
            up: _accepted(next_values(parameter, text, up=up, unit=unit), refuses) for up in (True, False)
        }
        self._values: dict[bool, list[str]] = {True: [], False: []}

    def value_at(self, steps: int) -> str:
        """Return the value this many steps up, or down if negative; the last one if there are fewer."""
        values = self._values[steps > 0]
        values += islice(self._sides[steps > 0], max(0, abs(steps) - len(values)))
        return values[min(abs(steps), len(values)) - 1] if steps and values else self.start


def _accepted(values: Iterator[str], refuses: Refuses) -> Iterator[str]:
    """Yield the accepted values, until many in a row are refused."""
    refused = 0
    for text in values:
        refused = refused + 1 if refuses(text) else 0
        if not refused:
            yield text
        elif refused > REFUSED:
            return


def next_values(parameter: Parameter, text: str, *, up: bool, unit: int) -> Iterator[str]:
    """Yield the values on one side of the current one, nearest first; an invalid number counts as the default."""
    if parameter.choices:
        words = [str(choice) for choice in parameter.choices]
        index = words.index(text) if text in words else words.index(str(parameter.default))
        yield from words[index + 1 :] if up else reversed(words[:index])
        return
    number = _number(text, int(parameter.default))
    while True:
        further = min(max(next_number(number, up, unit), parameter.minimum), parameter.maximum)
        if further == number or (further > number) != up:
            return
        number = further
        yield str(number)


def next_number(number: int, up: bool, unit: int) -> int:
    """Compute the next multiple of the unit, or for 0 the next power of two, on one side of a number."""
    if unit:
        return (number // unit + 1) * unit if up else (-(-number // unit) - 1) * unit
    if up:
        return 1 << max(number, 0).bit_length()
    return 1 << ((number - 1).bit_length() - 1) if number > 1 else 0


def unit_of(parameter: Parameter, texts: Mapping[str, str]) -> int:
    """Return the step of a parameter: its own, or the value of another parameter in these texts."""
    if isinstance(parameter.step, int):
        return parameter.step
    return max(_number(texts.get(parameter.step, ""), 1), 1)


def _number(text: str, otherwise: int) -> int:
    try:
        return int(text)
    except ValueError:
        return otherwise


def is_coarse(parameter: Parameter) -> bool:
    """Return True if a parameter has few values."""
    if parameter.file:
        return False
    return bool(parameter.choices) or parameter.maximum - parameter.minimum < FEW


def nearest(track: Track, count: int) -> list[str]:
    """List the values around the current one, nearest first, at most `count` on each side."""
    around = (track.value_at(steps) for number in range(1, count + 1) for steps in (number, -number))
    return [text for text in dict.fromkeys(around) if text != track.start]


def grows_downwards(parameter: Parameter) -> bool:
    """Return True if the values are words, for which Down selects the next one in the list."""
    return any(isinstance(choice, str) for choice in parameter.choices)
