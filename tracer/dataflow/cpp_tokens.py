"""Tokens of a text in CUDA C++ with their places, after its macros; and the functions that it defines."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from msgspec import Struct

DEEPEST_MACRO = 20
MOST_TOKENS = 400_000
_PIECE = re.compile(
    r"""(?P<blank>//(?:\\\n|[^\n])*|/\*.*?\*/|(?:\s|\\\n)+)
    |(?P<text>R"(?P<fence>[^\s()\\]{0,16})\(.*?\)(?P=fence)"|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])+')
    |(?P<number>\.?\d(?:[eEpP][+-]|'?[\w.])*)
    |(?P<word>[A-Za-z_]\w*)
    |(?P<mark><<=|>>=|->|\+\+|--|&&|\|\||[-+*/%&|^<>=!]=|<<|>>|::|.)""",
    re.VERBOSE | re.DOTALL,
)
_DIRECTIVE = re.compile(r"[ \t]*#[ \t]*(\w*)((?:[^\n\\]|\\\n|\\.)*)")
_DEFINE = re.compile(r"\s*(\w+)(\(([^()]*)\))?(.*)", re.DOTALL)
_MEMORY = ("__device__", "__constant__", "__managed__")


class Token(NamedTuple):
    """A token and its place: the line from 1, the column from 0. A macro's tokens have the place of its use."""

    text: str
    kind: str  # word, number, text or mark
    line: int
    column: int


class CppFunction(Struct, frozen=True):
    """A function with a body."""

    template: tuple[str, ...]  # names of the template's parameters
    parameters: tuple[Token, ...]  # between the parentheses
    body: tuple[Token, ...]  # between the braces


class CppText(Struct, frozen=True):
    """What a text defines, by name; names with several definitions are left out."""

    functions: dict[str, CppFunction]
    memory: dict[str, bool]  # variables in device memory: whether they are arrays
    constants: dict[str, tuple[Token, ...]]  # the expressions of constants


def read_text(source: str, given: Mapping[str, object]) -> CppText:
    """Read a text; the names of `given` have their values from the compiler's command line or a template."""
    return _definitions(list(_expanded(source, given)))


def tokens_in(text: str, line: int = 1, column: int = 0) -> list[Token]:
    """Split a text without directives into tokens."""
    tokens: list[Token] = []
    for match in _PIECE.finditer(text):
        piece, kind = match.group(), match.lastgroup or "mark"
        if kind == "fence":
            kind = "text"
        if kind != "blank":
            tokens.append(Token(piece, kind, line, column))
        newlines = piece.count("\n")
        line, column = (
            line + newlines,
            len(piece) - piece.rfind("\n") - 1 if newlines else column + len(piece),
        )
    return tokens


class _Macro(NamedTuple):
    parameters: tuple[str, ...] | None  # None without parentheses
    body: list[Token]


def _expanded(source: str, given: Mapping[str, object]) -> Iterator[Token]:
    """Yield the tokens of a text after its macros."""
    macros: dict[str, _Macro] = {}
    pending: list[Token] = []
    taken: list[bool] = []  # whether each open #if is followed
    line, start = 1, 0
    while start < len(source):
        match = _DIRECTIVE.match(source, start)
        end = match.end() if match else _end_of_text(source, start)
        piece = source[start:end]
        if match:
            _direct(match[1], match[2].replace("\\\n", " "), macros, taken, given)
        elif all(taken):
            pending += tokens_in(piece, line)
        line, start = line + piece.count("\n"), end + (source[end : end + 1] == "\n")
        line += source[end : end + 1] == "\n"
        if match or start >= len(source):
            yield from _replaced(pending, macros, 0)
            pending = []
        if len(pending) > MOST_TOKENS:
            return


def _end_of_text(source: str, start: int) -> int:
    """Return the end of the lines before the next directive; comments and texts may have several lines."""
    position = start
    while position < len(source):
        match = _PIECE.match(source, position)
        if match is None:
            break
        if (
            match.lastgroup == "blank"
            and "\n" in match.group()
            and not match.group().startswith(("//", "/*"))
        ):
            newline = match.end() - len(match.group()) + match.group().rfind("\n")
            if _DIRECTIVE.match(source, newline + 1):
                return newline
        position = match.end()
    return len(source)


def _direct(
    word: str, rest: str, macros: dict[str, _Macro], taken: list[bool], given: Mapping[str, object]
) -> None:
    name = rest.split()[0] if rest.split() else ""
    if word in ("ifdef", "ifndef"):
        taken.append((name in macros or name in given) == (word == "ifdef"))
    elif word == "if":
        taken.append(name != "0")
    elif word in ("else", "elif") and taken:
        taken[-1] = not taken[-1]
    elif word == "endif" and taken:
        taken.pop()
    elif word == "undef":
        macros.pop(name, None)
    elif word == "define" and all(taken) and (match := _DEFINE.match(rest)) and match[1] not in given:
        parameters = tuple(p.strip() for p in match[3].split(",") if p.strip()) if match[2] else None
        macros[match[1]] = _Macro(parameters, tokens_in(match[4]))


def _replaced(tokens: Sequence[Token], macros: Mapping[str, _Macro], depth: int) -> Iterator[Token]:
    """Yield tokens with macros replaced."""
    position = 0
    while position < len(tokens):
        token = tokens[position]
        position += 1
        macro = macros.get(token.text) if token.kind == "word" and depth < DEEPEST_MACRO else None
        if macro is None:
            yield token
            continue
        arguments: dict[str, list[Token]] = {}
        if macro.parameters is not None:
            if position >= len(tokens) or tokens[position].text != "(":
                yield token
                continue
            end = closing(tokens, position)
            parts = split_at_commas(tokens[position + 1 : end])
            arguments = dict(zip(macro.parameters, parts, strict=False))
            position = end + 1
        inner = [part for piece in macro.body for part in arguments.get(piece.text, [piece])]
        rest = {name: other for name, other in macros.items() if name != token.text}
        for part in _replaced(inner, rest, depth + 1):
            yield part._replace(line=token.line, column=token.column)


def closing(tokens: Sequence[Token], position: int) -> int:
    """Return the index of the bracket that closes the one at an index; the end if there is none."""
    depth = 0
    for index in range(position, len(tokens)):
        depth += tokens[index].text in ("(", "[", "{")
        depth -= tokens[index].text in (")", "]", "}")
        if not depth:
            return index
    return len(tokens)


def split_at_commas(tokens: Sequence[Token]) -> list[list[Token]]:
    """Split tokens at the commas outside brackets."""
    parts: list[list[Token]] = [[]]
    depth = 0
    for token in tokens:
        depth += token.text in ("(", "[", "{")
        depth -= token.text in (")", "]", "}")
        if token.text == "," and not depth:
            parts.append([])
        else:
            parts[-1].append(token)
    return parts if len(parts) > 1 or parts[0] else []


def _definitions(tokens: list[Token]) -> CppText:
    functions: dict[str, list[CppFunction]] = {}
    memory: dict[str, bool] = {}
    constants: dict[str, tuple[Token, ...]] = {}
    start = position = 0
    while position < len(tokens):
        text = tokens[position].text
        head = tokens[start:position]
        if text == ";":
            _note_variable(head, memory, constants)
        elif text == "{":
            words = [token.text for token in head]
            if words[:1] == ["namespace"] or (
                words[:1] == ["extern"] and words[1:2] == ['"C"'] and "(" not in words
            ):
                start = position = position + 1
                continue
            end = closing(tokens, position)
            if "(" in words and "=" not in words[: words.index("(")]:
                _note_function(head, tokens[position + 1 : end], functions)
                position = end
            elif words and words[0] in ("struct", "class", "union", "enum", "template"):
                position = end
            else:
                position = end + 1
                continue
        elif text in ("(", "["):
            position = closing(tokens, position) + 1
            continue
        elif text != "}":
            position += 1
            continue
        position += 1
        start = position
    single = {name: same[0] for name, same in functions.items() if len(same) == 1}
    return CppText(single, memory, constants)


def _note_variable(
    head: list[Token], memory: dict[str, bool], constants: dict[str, tuple[Token, ...]]
) -> None:
    words = [token.text for token in head]
    equals = words.index("=") if "=" in words else len(words)
    names = [
        t.text for t in head[: words.index("[") if "[" in words[:equals] else equals] if t.kind == "word"
    ]
    if len(names) < 2 or "(" in words[:equals]:
        return
    if any(word in words for word in _MEMORY) and not (words.count("__device__") and "constexpr" in words):
        memory[names[-1]] = "[" in words[:equals]
    elif "const" in words or "constexpr" in words:
        constants[names[-1]] = tuple(head[equals + 1 :])


def _note_function(head: list[Token], body: list[Token], functions: dict[str, list[CppFunction]]) -> None:
    template: tuple[str, ...] = ()
    words = [token.text for token in head]
    begin = 0
    if words[:1] == ["template"] and ">" in words:
        begin = words.index(">") + 1
        parts = split_at_commas(head[2 : begin - 1])
        template = tuple(_template_name(part) for part in parts)
    for opening in range(begin, len(head)):
        if head[opening].text == "(" and head[opening - 1].kind == "word":
            end = closing(head, opening)
            name = head[opening - 1].text
            if name not in ("__launch_bounds__", "__align__", "alignas", "__attribute__"):
                function = CppFunction(template, tuple(head[opening + 1 : end]), tuple(body))
                functions.setdefault(name, []).append(function)
                return


def _template_name(part: Sequence[Token]) -> str:
    """Return the name of a template's parameter: T of `typename T`, N of `int N = 4`."""
    words = [token.text for token in part]
    before = part[: words.index("=")] if "=" in words else part
    return next((token.text for token in reversed(before) if token.kind == "word"), "")
