"""A list of numbers for captions: expressions with their present values."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from .expressions import Environment, ExpressionError, parse
from .values import PaneNames

NOW, LAUNCH, PANE, BUFFERS = "so far", "in the complete launch", "size, place and findings", "buffers"


class ListedNumber(NamedTuple):
    """A number that a caption can show. group: its heading; text: the expression; value: as a caption shows it."""

    group: str
    text: str
    value: str


def listed_numbers(names: Environment) -> Iterator[ListedNumber]:
    """List the numbers of each pane: those of the present moment first, without counters that stay 0."""
    for pane, values in names.items():
        if pane == "here" or not isinstance(values, PaneNames):
            continue
        counters = values.counter_names()
        groups = {
            NOW: [f"now.{name}" for name in counters],
            LAUNCH: counters,
            PANE: values.plain_names(),
            BUFFERS: values.buffer_names(),
        }
        for group, members in groups.items():
            for member in members:
                value = _value_text(f"{pane}.{member}", names)
                if value:
                    yield ListedNumber(f"{values.title}: {group}", f"{pane}.{member}", value)


def _value_text(text: str, names: Environment) -> str:
    """Compute an expression as a caption shows it, "" if it has no value."""
    try:
        expression = parse(text)
        return expression.format(expression.evaluate(names))
    except ExpressionError:
        return ""
