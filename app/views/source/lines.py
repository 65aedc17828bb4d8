"""Layout of the lines of a page: line ends, hanging indents, the top line, frames. No Qt."""

from __future__ import annotations

from collections.abc import Callable, Iterable

CONTEXT = 2  # lines that stay visible above and below the marked one
HANG = 2  # columns of the hanging indent: between two levels of indentation


def normalised(text: str) -> str:
    """Convert all line ends to \
    ."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def frame_spans(
    lines: Iterable[tuple[int, float, float]], highlighted: frozenset[int]
) -> list[tuple[float, float]]:
    """Return (top, height) of the frames around highlighted lines; adjacent lines share a frame.

    lines: number, top and height of each.
    """
    rectangles: list[tuple[float, float]] = []
    before = 0
    for line, top, height in lines:
        if line in highlighted:
            begin = rectangles.pop()[0] if before == line - 1 and before in highlighted else top
            rectangles.append((begin, top + height - begin))
            before = line
    return rectangles


def top_line(first: int, line: int, end: Callable[[int], float], room: float) -> int:
    """Return the top line of a page: `first`, or a line that shows `line` with its context.

    end: the bottom of a line, relative to the top of line 1. room: the page height, in the same unit.
    """
    if not line:
        return first
    top = max(1, min(first, line - CONTEXT))
    context = next((c for c in range(CONTEXT, 0, -1) if end(line + c) - end(line - 1 - c) <= room), 0)
    while top < line - context and end(line + context) - end(top - 1) > room:
        top += 1
    return top


def hanging_column(text: str, columns: float) -> int:
    """Return the column where a wrapped line continues: after its indent, if there is room."""
    indent = len(text) - len(text.lstrip())
    return int(max(0, min(indent + HANG, columns / 2)))
