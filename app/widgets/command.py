"""Commands of keys and menu entries."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple


class Command(NamedTuple):
    """A command with a menu entry and shortcuts; without a text, a separator."""

    text: str = ""  # in the menu; also its name
    keys: str = ""  # shortcuts separated by ", "
    callback: Callable[[], object] = lambda: None
    is_on: Callable[[], bool] | None = None  # of a checkable command: whether it is checked


LINE = Command()
Commands = Mapping[str, Sequence[Command]]  # by menu title
