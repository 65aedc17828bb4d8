"""Translate a notebook's cell to Python with the same lines: magics, shell and help lines become comments."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator
from contextlib import suppress
from typing import NamedTuple

PYTHON_MAGICS = ("time", "timeit", "capture", "prun", "tilescope")  # followed by Python, which runs once
LONGEST_SHOWN = 60  # characters of a skipped line in its message
INDENT = r"(?P<indent>\s*+)"
CELL_MAGIC = re.compile(r"%%(?P<name>[\w.]+)(?P<rest>.*)")
PYTHON_LINE = re.compile(rf"{INDENT}%(?:time|timeit|prun)\b(?P<rest>.*)")
OPTIONS = re.compile(
    r"(?:\s+-(?:[nrp]\s*\d+|[lsTD]\s+\S+|[a-zA-Z]+))*\s*"
)  # for example of %timeit -n 10 -r 3
TARGETS = r"[\w*\[][\w.,\s\[\]*]*+=\s*"
LINES = (  # kinds of lines that are not Python, with their names; the first match counts
    (re.compile(rf"{INDENT}(?P<kind>%[\w.]+)"), ""),
    (re.compile(rf"{INDENT}(?P<kind>!)"), "shell line"),
    (re.compile(rf"{INDENT}{TARGETS}(?P<kind>%[\w.]+)"), ""),
    (re.compile(rf"{INDENT}{TARGETS}(?P<kind>!)"), "shell line"),
    (re.compile(rf"{INDENT}\?{{1,2}}\s*[%\w.*]+(?P<kind>)\s*$"), "line that asks for help"),
    (re.compile(rf"{INDENT}[%\w.*]+(?P<kind>)\?{{1,2}}\s*$"), "line that asks for help"),
)
# No possessive quantifier follows a group: Python 3.11.2 backtracks differently there.
PIECES = re.compile(  # of a line, outside multi-line strings
    r"""(?P<rest>\#.*)|(?P<triple>\"{3}|'{3})|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|"""
    r"""(?P<open>[(\[{])|(?P<close>[)\]}])|(?P<lone>["'])"""
)
ENDS = {
    q: re.compile(rf"(?:\\.|(?!{q})[^\\])*{q}") for q in ('"""', "'''", '"', "'")
}  # of strings, by their quotes
CONTINUED = re.compile(r"(?:^|[^\\])(?:\\\\)*\\$")


class SkippedLine(NamedTuple):
    """A line of a cell, or a cell, that does not run."""

    line: int  # from 1
    kind: str  # only the first of each kind is reported
    sentence: str  # the message, without a position


class CellText(NamedTuple):
    """A cell as Python."""

    text: str  # with as many lines as the cell
    skipped: tuple[SkippedLine, ...]


def python_of(source: str) -> CellText:
    """Translate a cell to Python. A cell that is valid Python stays as it is."""
    if _is_python(source):
        return CellText(source, ())
    lines = source.split("\n")
    skipped: list[SkippedLine] = []
    if not _strip_cell_magics(lines, skipped):
        return CellText("\n".join(map(_comment, lines)), tuple(skipped))
    if not _is_python("\n".join(lines)):
        skipped += _comment_out_other_lines(lines)
    return CellText("\n".join(lines), tuple(skipped))


def _is_python(source: str) -> bool:
    with suppress(SyntaxError, ValueError, RecursionError, MemoryError), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # reported when the cell is compiled to run
        ast.parse(source)
        return True
    return False


def _strip_cell_magics(lines: list[str], skipped: list[SkippedLine]) -> bool:
    """Remove magics from the beginning of a cell; return whether Python follows them."""
    for number, line in enumerate(lines):
        if not line.strip():
            continue
        match = CELL_MAGIC.match(line)
        if match is None:
            break
        if match["name"] not in PYTHON_MAGICS:
            name = f"%%{match['name']}"
            skipped.append(SkippedLine(number + 1, name, f"{name} is skipped with its cell"))
            return False
        setup = match["rest"][OPTIONS.match(match["rest"]).end() :] if match["name"] == "timeit" else ""  # type: ignore[union-attr]
        lines[number] = setup if setup and _is_python(setup) else _comment(line)
    return True


def _comment_out_other_lines(lines: list[str]) -> list[SkippedLine]:
    """Turn lines that are not Python into comments, among those that begin a statement; return the skipped lines."""
    skipped: list[SkippedLine] = []
    for number in _statements(lines):
        line = lines[number]
        if match := PYTHON_LINE.match(line):
            rest = match["rest"]
            lines[number] = match["indent"] + rest[OPTIONS.match(rest).end() :]  # type: ignore[union-attr]
            if not lines[number].strip():
                lines[number] = f"{match['indent']}pass"
            continue
        line_skipped = _skipped_line(number, line)
        if line_skipped is not None:
            skipped.append(line_skipped)
            _comment_out(lines, number)
    return skipped


def _skipped_line(number: int, line: str) -> SkippedLine | None:
    """Describe a skipped line that is not Python; None for one that is."""
    for pattern, kind in LINES:
        if match := pattern.match(line):
            text = line.strip()
            text = text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}…"
            magic = match["kind"] if not kind else ""
            sentence = f"{magic} is skipped" if magic else f"{text} is skipped, as every {kind} is"
            return SkippedLine(number + 1, magic or kind, sentence)
    return None


def _comment_out(lines: list[str], number: int) -> None:
    """Comment out a line, and the lines that backslashes join to it; a block keeps a statement."""
    indent = re.match(r"\s*", lines[number])
    continues = CONTINUED.search(lines[number])
    lines[number] = f"{indent.group() if indent else ''}pass  # {lines[number].strip()}"
    while continues and number + 1 < len(lines):
        number += 1
        continues = CONTINUED.search(lines[number])
        lines[number] = _comment(lines[number])


def _comment(line: str) -> str:
    return f"# {line}" if line.strip() else line


def _statements(lines: list[str]) -> Iterator[int]:
    """Yield the number (from 0) of each line that begins a statement; the caller may change the line."""
    state = _State()
    for number in range(len(lines)):
        if not (state.depth or state.quotes or state.continued):
            yield number
        state = _state_after(lines[number], state)


class _State(NamedTuple):
    """Open constructs at the end of a line."""

    depth: int = 0  # brackets
    quotes: str = ""  # of an open string
    continued: bool = False  # whether a backslash joins the next line


def _state_after(line: str, before: _State) -> _State:
    position, depth, quotes = 0, before.depth, before.quotes
    while position < len(line):
        if quotes:
            end = ENDS[quotes].match(line, position)
            if end is None:
                continues = len(quotes) == 3 or CONTINUED.search(line)
                return _State(depth, quotes if continues else "")
            position, quotes = end.end(), ""
        match = PIECES.search(line, position)
        if match is None:
            break
        if match["rest"]:
            return _State(depth)
        position, quotes = match.end(), match["triple"] or match["lone"] or ""
        depth = max(0, depth + bool(match["open"]) - bool(match["close"]))
    quotes = quotes if len(quotes) == 3 else ""  # a lone quote at the end of the line opens no string
    return _State(depth, quotes, not quotes and bool(CONTINUED.search(line)))
