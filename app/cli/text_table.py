"""Tables of plain text, for a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, repeat

_JUSTIFY = {"<": str.ljust, ">": str.rjust}


def aligned(
    rows: Sequence[Sequence[str]], sides: str = "<>", widths: Sequence[int | None] = (), gap: str = "  "
) -> list[str]:
    """Return a line for each row, with the columns below each other; all rows have as many cells.

    sides: where the cells of each column stand, left or right; the last one holds for all further columns.
    widths: in characters, of the first columns; a longer cell pushes the rest of its line. None, and what is left
    out: as wide as the column's widest cell.
    """
    columns = zip(zip(*rows, strict=True), chain(widths, repeat(None)), strict=False)
    wide = [max(map(len, cells)) if width is None else width for cells, width in columns]
    justify = [_JUSTIFY[side] for side in sides.ljust(len(wide), sides[-1])]
    return [
        gap.join(
            justified(cell, width) for justified, cell, width in zip(justify, row, wide, strict=False)
        ).rstrip()
        for row in rows
    ]
