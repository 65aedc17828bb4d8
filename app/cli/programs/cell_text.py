"""From a cell of a notebook to Python with as many lines: IPython's magics, shell and help lines become comments."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator
from contextlib import suppress
from typing import NamedTuple

PYTHON_MAGICS = ("time", "timeit", "capture", "prun")  # what follows them is Python, which is run once
LONGEST_SHOWN = 60  # characters of a skipped line that are told
INDENT = r"(?P<indent>\s*+)"
CELL_MAGIC = re.compile(r"%%(?P<name>[\w.]+)(?P<rest>.*)")
PYTHON_LINE = re.compile(rf"{INDENT}%(?:time|timeit|prun)\b(?P<rest>.*)")
OPTIONS = re.compile(
    r"(?:\s+-(?:[nrp]\s*\d+|[lsTD]\s+\S+|[a-zA-Z]+))*\s*"
)  # of %timeit -n 10 -r 3 and its like
TARGETS = r"[\w*\[][\w.,\s\[\]*]*+=\s*"
LINES = (  # the kinds of lines that are no Python, with their name; the first that fits counts
    (re.compile(rf"{INDENT}(?P<kind>%[\w.]+)"), ""),
    (re.compile(rf"{INDENT}(?P<kind>!)"), "shell line"),
    (re.compile(rf"{INDENT}{TARGETS}(?P<kind>%[\w.]+)"), ""),
    (re.compile(rf"{INDENT}{TARGETS}(?P<kind>!)"), "shell line"),
    (re.compile(rf"{INDENT}\?{{1,2}}\s*[%\w.*]+(?P<kind>)\s*$"), "line that asks for help"),
    (re.compile(rf"{INDENT}[%\w.*]+(?P<kind>)\?{{1,2}}\s*$"), "line that asks for help"),
)
# No possessive quantifier stands behind a group: Python 3.11.2 takes another way there.
PIECES = re.compile(  # of a line, outside strings that go on over several
    r"""(?P<rest>\#.*)|(?P<triple>\"{3}|'{3})|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|"""
    r"""(?P<open>[(\[{])|(?P<close>[)\]}])|(?P<lone>["'])"""
)
ENDS = {
    q: re.compile(rf"(?:\\.|(?!{q})[^\\])*{q}") for q in ('"""', "'''", '"', "'")
}  # of strings, by their quotes
CONTINUED = re.compile(r"(?:^|[^\\])(?:\\\\)*\\$")


class Skipped(NamedTuple):
    """A line of a cell that is not run, or a cell."""

    line: int  # from 1
    kind: str  # of which the first alone is told
    sentence: str  # what is said of it, without a place


class CellText(NamedTuple):
    """A cell as Python."""

    text: str  # with as many lines as the cell
    skipped: tuple[Skipped, ...]


def python_of(source: str) -> CellText:
    """Return a cell as Python. One that is Python as it stands stays so, whatever its lines begin with."""
    if _is_python(source):
        return CellText(source, ())
    lines = source.split("\n")
    told: list[Skipped] = []
    if not _take_cell_magics(lines, told):
        return CellText("\n".join(map(_comment, lines)), tuple(told))
    if not _is_python("\n".join(lines)):
        told += _without_other_lines(lines)
    return CellText("\n".join(lines), tuple(told))


def _is_python(source: str) -> bool:
    with suppress(SyntaxError, ValueError, RecursionError, MemoryError), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # told when it is compiled to run
        ast.parse(source)
        return True
    return False


def _take_cell_magics(lines: list[str], told: list[Skipped]) -> bool:
    """Take magics off the beginning of a cell; return whether what follows them is Python."""
    for number, line in enumerate(lines):
        if not line.strip():
            continue
        found = CELL_MAGIC.match(line)
        if found is None:
            break
        if found["name"] not in PYTHON_MAGICS:
            name = f"%%{found['name']}"
            told.append(Skipped(number + 1, name, f"{name} is skipped with its cell"))
            return False
        setup = found["rest"][OPTIONS.match(found["rest"]).end() :] if found["name"] == "timeit" else ""  # type: ignore[union-attr]
        lines[number] = setup if setup and _is_python(setup) else _comment(line)
    return True


def _without_other_lines(lines: list[str]) -> list[Skipped]:
    """Make comments of the lines that are no Python, among those that begin a statement; return what is to be told."""
    told: list[Skipped] = []
    for number in _statements(lines):
        line = lines[number]
        if found := PYTHON_LINE.match(line):
            rest = found["rest"]
            lines[number] = found["indent"] + rest[OPTIONS.match(rest).end() :]  # type: ignore[union-attr]
            if not lines[number].strip():
                lines[number] = f"{found['indent']}pass"
            continue
        skipped = _skipped(number, line)
        if skipped is not None:
            told.append(skipped)
            _make_comments(lines, number)
    return told


def _skipped(number: int, line: str) -> Skipped | None:
    """Return what is to be told of a line that is no Python; None for one that is."""
    for pattern, kind in LINES:
        if found := pattern.match(line):
            text = line.strip()
            text = text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}…"
            named = found["kind"] if not kind else ""
            said = f"{named} is skipped" if named else f"{text} is skipped, as every {kind} is"
            return Skipped(number + 1, named or kind, said)
    return None


def _make_comments(lines: list[str], number: int) -> None:
    """Make a comment of a line, and of those that a backslash at its end joins to it; a block keeps a statement."""
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
    """Yield the number (from 0) of each line that does not go on with the one before; whoever asks may change it."""
    state = _State()
    for number in range(len(lines)):
        if not (state.depth or state.quotes or state.continued):
            yield number
        state = _after(lines[number], state)


class _State(NamedTuple):
    """What is open at the end of a line."""

    depth: int = 0  # brackets
    quotes: str = ""  # those that end a string
    continued: bool = False  # whether a backslash joins the next line


def _after(line: str, before: _State) -> _State:
    at, depth, quotes = 0, before.depth, before.quotes
    while at < len(line):
        if quotes:
            end = ENDS[quotes].match(line, at)
            if end is None:
                goes_on = len(quotes) == 3 or CONTINUED.search(line)
                return _State(depth, quotes if goes_on else "")
            at, quotes = end.end(), ""
        found = PIECES.search(line, at)
        if found is None:
            break
        if found["rest"]:
            return _State(depth)
        at, quotes = found.end(), found["triple"] or found["lone"] or ""
        depth = max(0, depth + bool(found["open"]) - bool(found["close"]))
    quotes = quotes if len(quotes) == 3 else ""  # one at the very end of the line begins nothing
    return _State(depth, quotes, not quotes and bool(CONTINUED.search(line)))
