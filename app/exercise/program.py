"""The Python file of an exercise: the stub for the student above the line `# judge`, and the judge below it."""

from __future__ import annotations

import ast
import warnings
from pathlib import Path

from msgspec import Struct

from ..model.named_file import UnreadableFileError, small_text
from .mistakes import Mistake

LARGEST = 200_000  # bytes of a file
MARK = "# judge"  # the line between the two
CASES = "cases"  # the function of the judge


class Program(Struct, frozen=True):
    """The Python file of an exercise."""

    path: Path  # of the file
    text: str  # all of it, "" where it can't be read
    stub: str  # what stands above the mark


def read_program(path: Path, kernel: str) -> tuple[Program, list[Mistake]]:
    """Return an exercise's Python file, and what is wrong with it. Nothing of it is run.

    kernel: the function that it must define, "" where that is not known.
    """
    try:
        text = small_text(path, LARGEST, "exercise").replace("\r\n", "\n").replace("\r", "\n")
    except UnreadableFileError as error:
        return Program(path, "", ""), [Mistake(path, 1, f"The Python file {error}.")]
    stub, line = _parts(text)
    program = Program(path, text, stub)
    if not line:
        sentence = f"There is no line {MARK}, which parts the stub from what judges it."
        return program, [Mistake(path, len(text.splitlines()) or 1, sentence)]
    return program, [Mistake(path, number, sentence) for number, sentence in _wrong(text, line, kernel)]


def _parts(text: str) -> tuple[str, int]:
    """Return the stub and the line of the mark, 0 where there is none."""
    lines = text.split("\n")
    for number, line in enumerate(lines, 1):
        if line.rstrip() == MARK:
            return "\n".join(lines[: number - 1]).rstrip() + "\n", number
    return text, 0


def _wrong(text: str, line: int, kernel: str) -> list[tuple[int, str]]:
    """Return line and sentence of each mistake in a file whose mark is on a line."""
    tree = _tree(text)
    if not isinstance(tree, ast.Module):
        return [tree]
    functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    found, made, judge = [], functions.get(kernel), functions.get(CASES)
    if kernel and (made is None or made.lineno > line):
        found.append((1, f"The stub has no function {kernel}, which the exercise names as its kernel."))
    elif made is not None and not made.decorator_list:
        found.append((made.lineno, f"{kernel} is no kernel; write @cuda.jit above it."))
    if judge is None or judge.lineno < line:
        found.append(
            (line, f"The judge has no function {CASES}(), which yields what to launch and to expect.")
        )
    return found


def _tree(text: str) -> ast.Module | tuple[int, str]:
    """Return the syntax tree of a text, or the line and the sentence of what is no Python."""
    try:
        with warnings.catch_warnings(action="ignore"):  # Python's parser would print them
            return ast.parse(text)
    except SyntaxError as error:
        return error.lineno or 1, f"This is no Python: {error.msg}."
    except (ValueError, RecursionError, MemoryError) as error:
        return 1, f"This can't be read as Python ({type(error).__name__})."
