"""What the commands print: text in which nothing is hidden or obeyed, a sentence on standard error, tables."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import suppress
from itertools import chain, repeat
from typing import TextIO

from ...model.visible_text import visible, visible_lines

# Nobody reads it any more, or a program has closed it, or put something else in its place.
_GONE = (OSError, ValueError, AttributeError)
_JUSTIFY = {"<": str.ljust, ">": str.rjust}


def say(text: object, file: TextIO | None = None) -> None:
    """Print lines, in which control characters of what is named in them are spelled out."""
    print(visible_lines(text), file=file)


def complain(sentence: object, file: TextIO | None = None) -> None:
    """Print one line on standard error, or what was that once, after the program's name, unless it is closed."""
    target = file or sys.stderr
    if target is not None:
        with suppress(*_GONE):
            print(f"tilescope: {visible(sentence)}", file=target, flush=True)


def is_read_by_someone() -> bool:
    """Return whether standard error is a terminal, and not what a program has made of it."""
    with suppress(*_GONE):
        return sys.stderr.isatty()
    return False


def show_progress(text: str) -> None:
    """Write one line on standard error in place of the one before; "" takes that away."""
    print(f"\r{visible(text)}\x1b[K", end="", file=sys.stderr, flush=True)


def aligned(
    rows: Sequence[Sequence[str]], sides: str = "<>", widths: Sequence[int | None] = (), gap: str = "  "
) -> list[str]:
    """Return a line for each row, with the columns below each other; all rows have as many cells, of one line each.

    sides: where the cells of each column stand, left or right; the last one holds for all further columns.
    widths: in characters, of the first columns; a longer cell pushes the rest of its line. None, and what is left
    out: as wide as the column's widest cell.
    """
    rows = [[visible(cell) for cell in row] for row in rows]
    columns = zip(zip(*rows, strict=True), chain(widths, repeat(None)), strict=False)
    wide = [max(map(len, cells)) if width is None else width for cells, width in columns]
    justify = [_JUSTIFY[side] for side in sides.ljust(len(wide), sides[-1])]
    return [
        gap.join(
            justified(cell, width) for justified, cell, width in zip(justify, row, wide, strict=False)
        ).rstrip()
        for row in rows
    ]
