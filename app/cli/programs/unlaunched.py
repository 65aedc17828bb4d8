"""Kernels of a program that it never launched: their text, from the files that a check looks at."""

from __future__ import annotations

import ast
import linecache
import re
from collections.abc import Iterable
from typing import NamedTuple

from ....tracer.model.notebook_cells import is_notebook

FORMATTED = " [line "  # in the name of a text that a line of a program has put together
CPP_COMMENT = re.compile(r"//[^\n]*")
CPP_KERNEL = re.compile(r"__global__[^;{}()]*?(?:__launch_bounds__\s*\([^)]*\)\s*)?[^;{}()]*?\b(\w+)\s*\(")


class KernelLines(NamedTuple):
    """A kernel in a file."""

    name: str
    file: str
    first: int  # line
    last: int


def kernels_never_launched(files: Iterable[str], launched: Iterable[tuple[str, str]]) -> list[KernelLines]:
    """List the kernels in these files that are not among the launched ones, which are pairs of name and file."""
    names = {(name, file.partition(FORMATTED)[0]) for name, file in launched}
    return [
        kernel
        for file in dict.fromkeys(files)
        for kernel in _kernels(file)
        if (kernel.name, file) not in names
    ]


def _kernels(file: str) -> list[KernelLines]:
    if is_notebook(file):
        return []
    text = "".join(linecache.getlines(file))
    in_cpp = _cpp_kernels(file, text) if "__global__" in text else []
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return in_cpp
    return in_cpp + [
        KernelLines(node.name, file, node.lineno, node.end_lineno or node.lineno)
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef) and any(map(_makes_a_kernel, node.decorator_list))
    ]


def _makes_a_kernel(decorator: ast.expr) -> bool:
    """Return True for `cuda.jit`, also with arguments, but not for a device function."""
    call = decorator if isinstance(decorator, ast.Call) else None
    function = call.func if call else decorator
    keywords = {keyword.arg: keyword.value for keyword in call.keywords} if call else {}
    device = keywords.get("device")
    if isinstance(device, ast.Constant) and device.value:
        return False
    is_jit = isinstance(function, ast.Attribute) and function.attr == "jit"
    return (
        is_jit
        and isinstance(function, ast.Attribute)
        and ast.unparse(function.value).split(".")[-1] == "cuda"
    )


def _cpp_kernels(file: str, text: str) -> list[KernelLines]:
    kernels = []
    for match in CPP_KERNEL.finditer(CPP_COMMENT.sub(lambda match: " " * len(match[0]), text)):
        end = text.find("\n}", match.end())
        first = _line(text, text.find(match[1], match.start()))
        kernels.append(KernelLines(match[1], file, first, _line(text, end) + 1 if end >= 0 else first))
    return kernels


def _line(text: str, position: int) -> int:
    return text.count("\n", 0, max(position, 0)) + 1
