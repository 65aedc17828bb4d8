"""A command: what a key or a line of a menu does."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple


class Command(NamedTuple):
    """What a key or a line of the menu does; without a text, a line between two groups."""

    text: str = ""  # in the menu; also its name
    keys: str = ""  # shortcuts separated by ", "
    callback: Callable[[], object] = lambda: None  # what it does
    is_on: Callable[[], bool] | None = None  # of what is turned on and off: then the menu has a check mark


LINE = Command()
Commands = Mapping[str, Sequence[Command]]  # by the title of their menu
