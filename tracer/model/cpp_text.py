"""The structure of a text in CUDA C++, as far as editing and findings need it: functions, statements, barriers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from msgspec import Struct

from .embedded_cpp import only_cpp
from .syntax_tree import syntax_tree

BARRIERS = re.compile(r"(?:__syncthreads\w*|__syncwarp|[\w.]*\bsync)\s*\(")
LONGEST = 4_000_000  # characters of a text that is read
_PIECE = re.compile(
    r'//(?:\\\n|[^\n])*|/\*.*?\*/|R"([^\s()\\]{0,16})\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'',
    re.DOTALL,
)
_CONDITION = re.compile(r"(?:if(?:\s+constexpr)?|while|for|switch)\s*\(|else\b|do\b")


class Statement(Struct, frozen=True):
    """A statement of a function."""

    first: int  # line, from 1
    last: int
    text: str  # without comments
    before: str  # conditions in front of it on its line, as in `if (i < n) s[i] = 0;`
    is_simple: bool  # ends with a semicolon, and is no block


class Function(Struct, frozen=True):
    """A function with a body."""

    name: str
    first: int  # line on which it begins, with its template
    body: int  # position of the opening brace
    end: int  # position after the closing brace
    last: int  # line


@lru_cache(maxsize=16)
def is_cpp(source: str) -> bool:
    """Return True for a text with CUDA kernels in C++ that is no Python."""
    if not re.search(
        r"^[ \t]*(?:#[ \t]*include|template|__global__|extern|static|using)\b|__global__",
        source,
        re.MULTILINE,
    ):
        return False
    return "__global__" in source and not syntax_tree(source).body


def holds_cpp(source: str) -> bool:
    """Return True for a text with CUDA kernels in C++, also in strings of a Python program."""
    return is_cpp(source) or only_cpp(source) is not None


@lru_cache(maxsize=16)
def plain(source: str) -> str:
    """Return the text with comments, strings and preprocessor lines as spaces; positions and lines stay.

    Of a Python program only its strings with kernels stay.
    """
    if len(source) > LONGEST:
        return ""
    source = only_cpp(source) or source
    text = _PIECE.sub(lambda match: re.sub(r"[^\n]", " ", match.group()), source)
    return re.sub(
        r"^[ \t]*#(?:\\\n|[^\n])*",
        lambda match: re.sub(r"[^\n]", " ", match.group()),
        text,
        flags=re.MULTILINE,
    )


@lru_cache(maxsize=16)
def functions(source: str) -> tuple[Function, ...]:
    """List the functions of a text, in order."""
    text = plain(source)
    result = []
    position = 0
    for match in re.finditer(r"\b(\w+)\s*\(", text):
        if match.start() < position or match[1] in (
            "if",
            "for",
            "while",
            "switch",
            "return",
            "sizeof",
            "__launch_bounds__",
        ):
            continue
        closing = _closing(text, match.end() - 1)
        if closing is None:
            continue
        opening = re.compile(r"(?:\s|const|noexcept|->\s*[\w:<>*&\s]+?)*\{").match(text, closing + 1)
        if opening is None:
            continue
        brace = opening.end() - 1
        end = _closing(text, brace)
        if end is None:
            continue
        begin = max(text.rfind(character, 0, match.start()) for character in ";}{") + 1
        first = text.count("\n", 0, begin + len(text[begin:]) - len(text[begin:].lstrip())) + 1
        result.append(Function(match[1], first, brace, end + 1, text.count("\n", 0, end) + 1))
        position = end
    return tuple(result)


def function_lines(source: str, name: str) -> tuple[int, int]:
    """Return the first and last line (from 1) of a function; 1 and 0 if there is none."""
    function = next((function for function in functions(source) if function.name == name), None)
    return (function.first, function.last) if function else (1, 0)


def definition_line(source: str, kernel: str) -> int:
    """Return the line (from 1) on which the name of a kernel is defined or declared; 0 if it is not."""
    pattern = rf"__global__[^;{{}}]*?\b({re.escape(kernel)})\s*\("
    match = re.search(pattern, plain(source))
    return plain(source).count("\n", 0, match.start(1)) + 1 if match else 0


def template_parameters(source: str, function: Function) -> tuple[str, ...]:
    """List the names of a function's template parameters, in order; () for a function that is no template."""
    text = plain(source)
    start = sum(len(line) + 1 for line in text.split("\n")[: function.first - 1])
    match = re.compile(r"\s*template\s*<").match(text, start)
    if match is None:
        return ()
    names, depth, piece = [], 1, ""
    for character in text[match.end() : function.body]:
        depth += (character in "<(") - (character in ">)")
        if not depth or (depth == 1 and character == ","):
            words = re.findall(r"\w+", piece.partition("=")[0])
            names.append(words[-1] if words else "")
            piece = ""
        else:
            piece += character
        if not depth:
            break
    return tuple(names)


def parameters(source: str, name: str) -> tuple[str, ...] | None:
    """List the names of the parameters of a function, in order; None if the text does not define it."""
    text = plain(source)
    function = next((function for function in functions(source) if function.name == name), None)
    if function is None:
        return None
    head = text[: function.body].rstrip()
    opening = [match.end() - 1 for match in re.finditer(rf"\b{re.escape(name)}\s*\(", head)][-1]
    inside, names, depth, piece = head[opening + 1 : _closing(head, opening)], list[str](), 0, ""
    for character in f"{inside},":
        depth += (character in "<([") - (character in ">)]")
        if character == "," and depth == 0:
            words = re.findall(r"[A-Za-z_]\w*", piece.partition("=")[0].partition("[")[0])
            names += words[-1:]
            piece = ""
        else:
            piece += character
    return tuple(names)


def namespaces(source: str, function: Function) -> tuple[str, ...]:
    """List the namespaces that contain a function, from the outermost; unnamed ones are left out."""
    text = plain(source)
    names = []
    for match in re.finditer(r"\bnamespace\s+([\w:]*)\s*\{", text[: function.body]):
        closing = _closing(text, match.end() - 1)
        if match[1] and (closing is None or closing > function.body):
            names.append(match[1])
    return tuple(names)


@lru_cache(maxsize=64)
def barrier_lines(source: str, name: str) -> tuple[int, ...]:
    """List the lines of a function's statements that wait for other threads, ascending."""
    lines = {
        statement.first
        for function in functions(source)
        if function.name == name
        for statement in _statements(source, function)
        if statement.is_simple and BARRIERS.match(statement.text)
    }
    return tuple(sorted(lines))


_LOOP = re.compile(r"\b(?:(for|while)\s*\(|do\b)")
_HIDDEN_RETURN = re.compile(r"#[ \t]*define(?:\\\n|[^\n])*\breturn\b|\bexit;")  # in a macro, or in PTX


@lru_cache(maxsize=16)
def loop_lines(source: str) -> tuple[tuple[int, int], ...]:
    """List the first and last line of each loop of a text."""
    text, loops = plain(source), []
    for match in _LOOP.finditer(text):
        end: int | None = match.end() - 1
        if match[1]:
            end = _closing(text, match.end() - 1)
        body = re.compile(r"\s*\{").match(text, end + 1) if end is not None else None
        end = _closing(text, body.end() - 1) if body else text.find(";", match.end() if end is None else end)
        last = len(text) if end is None or end < 0 else end
        loops.append((text.count("\n", 0, match.start()) + 1, text.count("\n", 0, last) + 1))
    return tuple(loops)


@lru_cache(maxsize=16)
def return_lines(source: str, name: str) -> tuple[int, ...] | None:
    """List the lines on which a function may return before its end; None if they are not known."""
    function = next((function for function in functions(source) if function.name == name), None)
    if function is None or _HIDDEN_RETURN.search(source):
        return None
    text = plain(source)
    returns = re.compile(r"\breturn\b").finditer(text, function.body, function.end)
    return tuple(sorted({text.count("\n", 0, match.start()) + 1 for match in returns}))


def statements_on(source: str, line: int) -> list[Statement]:
    """List the statements that begin, continue or end on a line."""
    if not holds_cpp(source):
        return []
    return [
        statement
        for function in functions(source)
        if function.first <= line <= function.last
        for statement in _statements(source, function)
        if statement.first <= line <= statement.last
    ]


@lru_cache(maxsize=64)
def _statements(source: str, function: Function) -> tuple[Statement, ...]:
    return tuple(_read_statements(plain(source), function.body + 1, function.end - 1))


def _read_statements(text: str, position: int, end: int) -> Iterator[Statement]:
    """Yield the statements between two positions, also those in blocks."""
    while position < end:
        while position < end and (text[position].isspace() or text[position] in "{};"):
            position += 1
        begin = position
        if begin >= end:
            return
        while (match := _CONDITION.match(text, position)) and match.start() == position:
            position = match.end()
            if text[position - 1] == "(":
                closing = _closing(text, position - 1)
                if closing is None:
                    return
                position = closing + 1
            while position < end and text[position].isspace():
                position += 1
            if position < end and text[position] in "{;":
                break
        if position < end and text[position] == "{":  # the condition of a block, or a block of its own
            if text[begin:position].strip():
                yield _statement(text, begin, begin, position)
            continue
        head, depth = position, 0
        while position < end and not (text[position] == ";" and depth == 0):
            depth += text[position] in "([{"
            depth -= text[position] in ")]}"
            if depth < 0:
                break
            position += 1
        if position < end and text[position] == ";":
            position += 1
            yield _statement(text, begin, head, position)
        else:
            position += 1


def _statement(text: str, begin: int, head: int, end: int) -> Statement:
    line = text.count("\n", 0, begin) + 1
    is_simple = text[end - 1 : end] == ";"
    return Statement(line, line + text.count("\n", begin, end), text[head:end], text[begin:head], is_simple)


def _closing(text: str, opening: int) -> int | None:
    """Return the position of the bracket that closes the one at `opening`."""
    pairs = {"(": ")", "[": "]", "{": "}"}
    depth, first = 0, text[opening]
    last = pairs[first]
    for match in re.compile(re.escape(first) + "|" + re.escape(last)).finditer(text, opening):
        depth += 1 if match.group() == first else -1
        if not depth:
            return match.start()
    return None
