"""Lines of text with numbers in braces: questions and their choices. Captions use the same braces."""

from __future__ import annotations

import re

from msgspec import Struct

from .expressions import Environment, Expression, parse

BRACES = re.compile(r"\{\{|\}\}|\{([^}]*)\}")  # a brace written twice, or an expression
OPEN = "…"  # replaces a number that is not computed yet


class FilledText(Struct, frozen=True):
    """A line of text whose numbers are computed on display."""

    text: str  # as written
    parts: tuple[str | Expression, ...]  # words and numbers, in order

    @property
    def number(self) -> Expression | None:
        """The expression of a text that is only a number, None for other texts."""
        part = self.parts[0] if len(self.parts) == 1 else ""
        return part if isinstance(part, Expression) else None

    def fill(self, names: Environment | None) -> str:
        """Fill in the numbers; None leaves them open. Raises ExpressionError."""
        return "".join(part if isinstance(part, str) else _number_text(part, names) for part in self.parts)


def parse_filled_text(text: str) -> FilledText:
    """Parse a text with expressions in braces; raises ExpressionError."""
    parts: list[str | Expression] = []
    position = 0
    for match in BRACES.finditer(text):
        parts.append(text[position : match.start()])
        parts.append(match[0][0] if match[1] is None else parse(match[1]))
        position = match.end()
    parts.append(text[position:])
    return FilledText(text, tuple(part for part in parts if part))


def _number_text(expression: Expression, names: Environment | None) -> str:
    return OPEN if names is None else expression.format(expression.evaluate(names))
