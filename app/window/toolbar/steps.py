"""To which values a hand moves a parameter: the next one, the one after that, and so on. Pure functions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import islice

from ....kernels.scenarios.catalogue import Parameter

REFUSED = 200  # values in a row that may be refused until nothing further off is tried
FEW = 64  # values of a parameter that a hand tells apart

Refuses = Callable[[str], bool]  # whether a scenario takes no such value


class Track:
    """The values on both sides of one that a parameter has, as far as they are taken.

    unit: the step, 0 to double and halve; `refuses` is asked of each value once.
    """

    def __init__(self, parameter: Parameter, text: str, unit: int, refuses: Refuses) -> None:
        self.start = text
        self._sides = {
            up: _taken(next_values(parameter, text, up=up, unit=unit), refuses) for up in (True, False)
        }
        self._found: dict[bool, list[str]] = {True: [], False: []}

    def at(self, steps: int) -> str:
        """Return the value so many steps up, or down below 0; beyond the last one it is the last one."""
        found = self._found[steps > 0]
        found += islice(self._sides[steps > 0], max(0, abs(steps) - len(found)))
        return found[min(abs(steps), len(found)) - 1] if steps and found else self.start


def _taken(values: Iterator[str], refuses: Refuses) -> Iterator[str]:
    """Yield the values that are taken, until many in a row are not."""
    refused = 0
    for text in values:
        refused = refused + 1 if refuses(text) else 0
        if not refused:
            yield text
        elif refused > REFUSED:
            return


def next_values(parameter: Parameter, text: str, *, up: bool, unit: int) -> Iterator[str]:
    """Yield the texts on one side of a parameter's, nearest first; what is no number counts as the default."""
    if parameter.choices:
        words = [str(choice) for choice in parameter.choices]
        place = words.index(text) if text in words else words.index(str(parameter.default))
        yield from words[place + 1 :] if up else reversed(words[:place])
        return
    number = _number(text, int(parameter.default))
    while True:
        further = min(max(next_number(number, up, unit), parameter.minimum), parameter.maximum)
        if further == number or (further > number) != up:
            return
        number = further
        yield str(number)


def next_number(number: int, up: bool, unit: int) -> int:
    """Return the next multiple of the unit, or for 0 the next power of two, on one side of a number."""
    if unit:
        return (number // unit + 1) * unit if up else (-(-number // unit) - 1) * unit
    if up:
        return 1 << max(number, 0).bit_length()
    return 1 << ((number - 1).bit_length() - 1) if number > 1 else 0


def unit_of(parameter: Parameter, texts: Mapping[str, str]) -> int:
    """Return the step of a parameter beside these texts of all: its own, or the number that another one has."""
    if isinstance(parameter.step, int):
        return parameter.step
    return max(_number(texts.get(parameter.step, ""), 1), 1)


def _number(text: str, otherwise: int) -> int:
    try:
        return int(text)
    except ValueError:
        return otherwise


def is_coarse(parameter: Parameter) -> bool:
    """Return whether a parameter has few values, which a hand tells apart."""
    if parameter.file:
        return False
    return bool(parameter.choices) or parameter.maximum - parameter.minimum < FEW


def nearest(track: Track, count: int) -> list[str]:
    """Return the values around the one that a parameter has, the nearest first: at most `count` on each side."""
    around = (track.at(steps) for number in range(1, count + 1) for steps in (number, -number))
    return [text for text in dict.fromkeys(around) if text != track.start]


def grows_downwards(parameter: Parameter) -> bool:
    """Return whether the values are words, which follow each other as they stand in their list: down is the next."""
    return any(isinstance(choice, str) for choice in parameter.choices)
