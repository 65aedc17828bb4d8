"""CUDA C++ in strings of Python programs: where it lies, and the text of a kernel at the lines of its program."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import lru_cache

from msgspec import Struct

from .syntax_tree import syntax_tree

MARK = " [C++]"  # after the name of a Python file, in a launch whose kernel is in one of its strings
LEAST_EQUAL = 0.5  # share of equal lines of a text and the string from which the program formatted it
_KERNEL = "__global__"


class CppString(Struct, frozen=True):
    """A string of a Python program that contains kernels."""

    value: str  # of an f-string, its source text
    line: int  # on which its first line lies, from 1
    column: int  # of that line in the program's text, from 0


def is_embedded(file: str) -> bool:
    """Return True for the file of a launch whose kernel is in a string of a Python program."""
    return file.endswith(MARK)


def program_file(file: str) -> str:
    """Return the file of the Python program, for one with or without the mark."""
    return file.removesuffix(MARK)


def cpp_at(source: str, code: str) -> str | None:
    """Put a text of C++ at the lines of the Python string that it comes from; None if that is unknown.

    The string may differ from the text in some lines: the program formats it. Other lines are blank.
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
    return None if best is None else _placed(code, best)


@lru_cache(maxsize=16)
def cpp_text_of(source: str, kernel: str = "") -> str | None:
    """Return the C++ strings of a Python program, or the one that defines a kernel, at their lines; None without one."""
    if _KERNEL not in source:
        return None
    defines = re.compile(rf"\b{re.escape(kernel)}\s*\(") if kernel else None
    strings = [string for string in _strings(source) if defines is None or defines.search(string.value)]
    if not strings:
        return None
    if defines is not None:
        return _placed(strings[0].value, strings[0])
    lines = [""] * (source.count("\n") + 1)
    for string in strings:
        for number, line in enumerate(_placed(string.value, string).split("\n")):
            lines[number] = lines[number] or line
    return "\n".join(lines)


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
    parts = {
        id(part)
        for node in ast.walk(syntax_tree(source))
        if isinstance(node, ast.JoinedStr)
        for part in ast.walk(node)
        if part is not node
    }
    for node in ast.walk(syntax_tree(source)):
        if id(node) in parts or not isinstance(node, ast.Constant | ast.JoinedStr) or not node.end_lineno:
            continue
        if isinstance(node, ast.Constant) and not isinstance(node.value, str):
            continue
        text = (ast.get_source_segment(source, node) or "") if _KERNEL in source else ""
        if _KERNEL not in text:
            continue
        opening = re.match(r"[a-zA-Z]*(\"\"\"|'''|\"|')", text)
        if opening is None:
            continue
        value = (
            str(node.value)
            if isinstance(node, ast.Constant)
            else text[opening.end() : -len(opening[1])].replace("{{", "{").replace("}}", "}")
        )
        line, column = node.lineno, len(lines[node.lineno - 1].encode()[: node.col_offset].decode()) + opening.end()
        inside = text[opening.end() :]
        if inside.startswith("\\\n"):  # the string begins on the next line
            line, column = line + 1, 0
        if value.count("\n") == node.end_lineno - line:
            yield CppString(value, line, column)
