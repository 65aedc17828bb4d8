"""The Python file of an exercise: the stub above the line `# judge`, and the judge below it."""

from __future__ import annotations

import ast
import warnings
from pathlib import Path

from msgspec import Struct

from ...model.named_file import UnreadableFileError, read_small_text
from .mistakes import Mistake
from .variants import Variant, in_variant

LARGEST = 200_000  # bytes of a file
MARK = "# judge"  # the line between them
CASES = "cases"  # the judge's function


class Program(Struct, frozen=True):
    """The Python file of an exercise."""

    path: Path  # of the file
    text: str  # complete, "" if it can't be read
    stub: str  # the part above the mark


def read_program(path: Path, kernel: str, variant: Variant) -> tuple[Program, list[Mistake]]:
    """Read an exercise's Python file and list its mistakes. Nothing in it is run.

    kernel: the function that it must define, "" if that is not known. variant: the numbers that its text gets.
    """
    try:
        text = read_small_text(path, LARGEST, "exercise").replace("\r\n", "\n").replace("\r", "\n")
    except UnreadableFileError as error:
        return Program(path, "", ""), [Mistake(path, 1, f"The Python file {error}.")]
    text = in_variant(text, variant)
    stub, line = _split(text)
    program = Program(path, text, stub)
    if not line:
        sentence = f"There is no line {MARK}, which separates the stub from the judge."
        return program, [Mistake(path, len(text.splitlines()) or 1, sentence)]
    return program, [Mistake(path, number, sentence) for number, sentence in _mistakes(text, line, kernel)]


def _split(text: str) -> tuple[str, int]:
    """Return the stub and the line of the mark, 0 if there is none."""
    lines = text.split("\n")
    for number, line in enumerate(lines, 1):
        if line.rstrip() == MARK:
            return "\n".join(lines[: number - 1]).rstrip() + "\n", number
    return text, 0


def _mistakes(text: str, line: int, kernel: str) -> list[tuple[int, str]]:
    """List line and sentence of each mistake in a file; line: that of the mark."""
    tree = _tree(text)
    if not isinstance(tree, ast.Module):
        return [tree]
    functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    mistakes, stub_kernel, judge = [], functions.get(kernel), functions.get(CASES)
    if kernel and (stub_kernel is None or stub_kernel.lineno > line):
        mistakes.append((1, f"The stub has no function {kernel}, which the exercise names as its kernel."))
    elif stub_kernel is not None and not stub_kernel.decorator_list:
        mistakes.append((stub_kernel.lineno, f"{kernel} is not a kernel; write @cuda.jit above it."))
    if judge is None or judge.lineno < line:
        mistakes.append(
            (line, f"The judge has no function {CASES}(), which yields the launches and expected results.")
        )
    return mistakes


def _tree(text: str) -> ast.Module | tuple[int, str]:
    """Parse a text, or return the line and sentence of its syntax error."""
    try:
        with warnings.catch_warnings(action="ignore"):  # Python's parser would print them
            return ast.parse(text)
    except SyntaxError as error:
        return error.lineno or 1, f"This is not valid Python: {error.msg}."
    except (ValueError, RecursionError, MemoryError) as error:
        return 1, f"This can't be read as Python ({type(error).__name__})."
