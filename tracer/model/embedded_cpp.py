"""CUDA C++ in strings of Python programs: where it lies, and the text of a kernel at the lines of its program."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import accumulate

from msgspec import Struct

from .syntax_tree import syntax_tree

MARK = " [C++]"  # after the name of a Python file, in a launch whose kernel is in one of its strings
LEAST_EQUAL = 0.5  # share of equal lines of a text and the string from which the program formatted it
_KERNEL = "__global__"
_DEFINITION = re.compile(r"__global__[^;{}]*?\b\w+\s*\([^;{}]*\)\s*\{")


class CppString(Struct, frozen=True):
    """A string of a Python program that contains kernels."""

    value: str  # of an f-string, its source text
    line: int  # on which its first line lies, from 1
    column: int  # of that line in the program's text, from 0
    begin: int  # position in the program's text
    end: int


def is_embedded(file: str) -> bool:
    """Return True for the file of a launch whose kernel is in a string of a Python program."""
    return file.endswith(MARK)


def program_file(file: str) -> str:
    """Return the file of the Python program, for one with or without the mark."""
    return file.removesuffix(MARK)


def cpp_at(source: str, code: str) -> tuple[str, bool] | None:
    """Put a text of C++ at the lines of the Python string that it comes from; None if that is unknown.

    The string may differ from the text in some lines, if the program formats it: then the second value is False. Other
    lines are blank.
    """
    lines = code.split("\n")
    best, share = None, LEAST_EQUAL
    for string in _strings(source):
        own = string.value.split("\n")
        if len(own) != len(lines):
            continue
        equal = sum(line.strip() == other.strip() for line, other in zip(lines, own, strict=True)) / len(own)
        if equal >= share and (equal > share or best is None):
            best, share = string, equal
    return None if best is None else (_placed(code, best), best.value == code)


@lru_cache(maxsize=16)
def cpp_text_of(source: str, kernel: str) -> str | None:
    """Return the string of a Python program that defines a kernel, at its lines; None if there is none."""
    defines = re.compile(rf"\b{re.escape(kernel)}\s*\(")
    strings = (string for string in _strings(source) if defines.search(string.value))
    string = next(strings, None)
    return None if string is None else _placed(string.value, string)


@lru_cache(maxsize=16)
def only_cpp(source: str) -> str | None:
    """Blank a Python program but for its strings in C++; positions and lines stay. None for another text."""
    strings = _strings(source)
    if not strings:
        return None
    pieces, end = [], 0
    for string in sorted(strings, key=lambda string: string.begin):
        if string.begin < end:
            continue
        pieces += [re.sub(r"[^\n]", " ", source[end : string.begin]), source[string.begin : string.end]]
        end = string.end
    return "".join([*pieces, re.sub(r"[^\n]", " ", source[end:])])


def _placed(code: str, string: CppString) -> str:
    return "\n" * (string.line - 1) + " " * string.column + code


@lru_cache(maxsize=16)
def _strings(source: str) -> tuple[CppString, ...]:
    """List the strings with kernels whose lines are lines of the program."""
    return tuple(_read_strings(source))


def _read_strings(source: str) -> Iterator[CppString]:
    if _KERNEL not in source:
        return
    lines = source.split("\n")
    starts = list(accumulate((len(line) + 1 for line in lines), initial=0))
    tree = syntax_tree(source)
    parts = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
    for node in ast.walk(tree):
        if id(node) in parts or not isinstance(node, ast.Constant | ast.JoinedStr):
            continue
        if isinstance(node, ast.Constant) and not isinstance(node.value, str):
            continue
        if node.end_lineno is None or node.end_col_offset is None:
            continue
        first, last = node.lineno - 1, node.end_lineno - 1
        begin = starts[first] + len(lines[first].encode()[: node.col_offset].decode())
        end = starts[last] + len(lines[last].encode()[: node.end_col_offset].decode())
        opening = re.compile(r"[a-zA-Z]*(\"\"\"|'''|\"|')").match(source, begin)
        if opening is None or not _DEFINITION.search(source[begin:end]):
            continue
        inside = source[opening.end() : end - len(opening[1])]
        own = inside.removeprefix("\\\n").replace("{{", "{").replace("}}", "}")  # of an f-string
        value = node.value if isinstance(node, ast.Constant) else own
        line, column = first + 1, opening.end() - starts[first]
        if inside.startswith("\\\n"):  # the string begins on the next line
            line, column = line + 1, 0
        if str(value).count("\n") == last + 1 - line:
            yield CppString(str(value), line, column, opening.end(), end - len(opening[1]))
