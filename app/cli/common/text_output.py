"""The output of the commands: escaped text, a sentence on standard error, tables."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import chain, repeat
from threading import Timer
from typing import TextIO

from ...model.visible_text import escape_controls, escape_controls_in_lines

# The stream has no reader any more, or a program has closed or replaced it.
_GONE = (OSError, ValueError, AttributeError)
SLOW = 2.0  # seconds after which a command states what it does
_JUSTIFY = {"<": str.ljust, ">": str.rjust}


def print_escaped(text: object, file: TextIO | None = None) -> None:
    """Print lines with control characters escaped."""
    print(escape_controls_in_lines(text), file=file)


def print_error(sentence: object, file: TextIO | None = None) -> None:
    """Print one line on standard error, or on `file`, after the program's name, unless it is closed."""
    target = file or sys.stderr
    if target is not None:
        with suppress(*_GONE):
            print(f"tilescope: {escape_controls(sentence)}", file=target, flush=True)


def print_lines(text: str) -> None:
    """Print lines that contain no control characters on Python's own standard output, unless it is closed."""
    if sys.__stdout__ is not None:
        with suppress(*_GONE):
            print(escape_controls_in_lines(text), end="", file=sys.__stdout__, flush=True)


def is_stderr_a_terminal() -> bool:
    """Check whether standard error is a terminal that no program has replaced."""
    with suppress(*_GONE):
        return sys.stderr.isatty()
    return False


@contextmanager
def note_if_slow(sentence: str) -> Iterator[None]:
    """Print a sentence on a terminal's standard error if the work inside takes longer than two seconds."""
    timer = Timer(SLOW, print_error, (sentence,)) if is_stderr_a_terminal() else None
    if timer is not None:
        timer.daemon = True
        timer.start()
    try:
        yield
    finally:
        if timer is not None:
            timer.cancel()


def show_progress(text: str) -> None:
    """Replace the progress line on standard error; "" removes it."""
    print(f"\r{escape_controls(text)}\x1b[K", end="", file=sys.stderr, flush=True)


def align_columns(
    rows: Sequence[Sequence[str]], sides: str = "<>", widths: Sequence[int | None] = (), gap: str = "  "
) -> list[str]:
    """Align the columns of rows; all rows have the same number of cells, each of one line.

    sides: the alignment of each column, left or right; the last one applies to all further columns. widths: in
    characters, of the first columns; a longer cell shifts the rest of its line. None or a missing width: the widest
    cell.
    """
    rows = [[escape_controls(cell) for cell in row] for row in rows]
    columns = zip(zip(*rows, strict=True), chain(widths, repeat(None)), strict=False)
    wide = [max(map(len, cells)) if width is None else width for cells, width in columns]
    justify = [_JUSTIFY[side] for side in sides.ljust(len(wide), sides[-1])]
    return [
        gap.join(
            justified(cell, width) for justified, cell, width in zip(justify, row, wide, strict=False)
        ).rstrip()
        for row in rows
    ]
