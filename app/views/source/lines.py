"""The lines of a page: how they end, how far in they go on, which is at the top, which form one frame; no Qt."""

from __future__ import annotations

from collections.abc import Callable, Iterable

CONTEXT = 2  # lines kept in sight above and below the marked one
HANG = 2  # columns by which what a line goes on with stands further in: between two steps of indentation


def normalised(text: str) -> str:
    """Return a text with its lines ended as Python ends them."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def frames(lines: Iterable[tuple[int, float, float]], lit: frozenset[int]) -> list[tuple[float, float]]:
    """Return (top, height) of lines that stand out, as one where they follow one another.

    lines: number, top and height of each.
    """
    found: list[tuple[float, float]] = []
    before = 0
    for line, top, height in lines:
        if line in lit:
            begin = found.pop()[0] if before == line - 1 and before in lit else top
            found.append((begin, top + height - begin))
            before = line
    return found


def top_line(first: int, line: int, end: Callable[[int], float], room: float) -> int:
    """Return the line at the top of a page: `first`, or what brings `line` in sight with the lines around it.

    end: where a line ends, from the top of the first; room: the height of the page, in the same unit.
    """
    if not line:
        return first
    top = max(1, min(first, line - CONTEXT))
    context = next((c for c in range(CONTEXT, 0, -1) if end(line + c) - end(line - 1 - c) <= room), 0)
    while top < line - context and end(line + context) - end(top - 1) > room:
        top += 1
    return top


def hanging(text: str, columns: float) -> int:
    """Return the column at which a line goes on below: further in than it begins, where that leaves room."""
    indent = len(text) - len(text.lstrip())
    return int(max(0, min(indent + HANG, columns / 2)))
