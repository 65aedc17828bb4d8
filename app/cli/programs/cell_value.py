"""Format the value of a cell as Jupyter does: long collections are cut, and long values take several lines.

The layout is that of IPython's `lib.pretty`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

WIDTH = 79
MOST_ITEMS = 1000  # that are printed of a collection
SINGLE_LINE = WIDTH // 3  # more items certainly need more than one line
BRACKETS: dict[type, Sequence[str]] = {
    list: "[]",
    tuple: "()",
    set: "{}",
    frozenset: ("frozenset({", "})"),
    dict: "{}",
}


def cell_value(value: object) -> str:
    """Format a value."""
    return _text(value, 0, set())


def _text(value: Any, indent: int, within: set[int]) -> str:
    """Format a value that follows `indent` spaces; within: ids of the enclosing collections."""
    brackets = BRACKETS.get(type(value))
    if brackets is None or not len(value):
        return repr(value)
    opening, closing = brackets
    if id(value) in within:
        return f"{opening}...{closing}"
    parts = list(_parts(value, indent + len(opening), within | {id(value)}))
    if isinstance(value, tuple) and len(parts) == 1:
        parts[0] += ","
    line = f"{opening}{', '.join(parts)}{closing}"
    if len(parts) <= SINGLE_LINE and indent + len(line) <= WIDTH and "\n" not in line:
        return line
    separator = ",\n" + " " * (indent + len(opening))
    return f"{opening}{separator.join(parts)}{closing}"


def _parts(value: Any, indent: int, within: set[int]) -> Iterator[str]:
    for index, item in enumerate(_sorted(value) if isinstance(value, set | frozenset) else value):
        if index == MOST_ITEMS:
            yield "..."
            return
        text = _text(item, indent, within)
        yield f"{text}: {_text(value[item], indent, within)}" if isinstance(value, dict) else text


def _sorted(items: set[Any] | frozenset[Any]) -> list[Any]:
    """Sort the items of a set if they have an order."""
    if len(items) >= MOST_ITEMS:
        return list(items)
    try:
        return sorted(items)
    except Exception:  # noqa: BLE001  # whatever comparing two items raises
        return list(items)
