"""Rewrites CUDA C++ for a C++ compiler: launches, dynamic shared memory, and what only nvcc accepts.

Lines stay where they are. The files that a program includes from its own folders are rewritten too, into a mirror of
the folders, so that `#include "../common/check.h"` finds the rewritten file.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from msgspec import Struct

from .inline_ptx import MissingPtxError, translate

_TOKEN = re.compile(
    r"""(?P<comment>//(?:\\\n|[^\n])*|/\*.*?\*/)
    |(?P<string>R"(?P<fence>[^\s()\\]{0,16})\(.*?\)(?P=fence)"|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])+')
    |(?P<space>(?:[ \t\r\f\v]|\\\r?\n)+)
    |(?P<newline>\n)
    |(?P<word>[A-Za-z_]\w*)
    |(?P<number>\.?\d(?:[eEpP][+-]|'?[\w.])*)
    |(?P<mark><<<|>>>|::|->|\#\#|.)""",
    re.VERBOSE | re.DOTALL,
)
_NAME = (
    r"\b(?!__(?:launch_bounds|maxnreg|cluster_dims|block_size)__)(\w+)\s*\("  # of a kernel, and no attribute
)
_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(?:"([^"\n]+)"|<([^>\n]+)>)', re.MULTILINE)
_TEMPLATE_KERNEL = re.compile(
    rf"\btemplate\s*<[^;{{}}()]*>\s*(?:static\s+|inline\s+)*__global__[^;{{]*?{_NAME}", re.DOTALL
)
_KERNEL = re.compile(
    r"__global__((?:\s|//[^\n]*\n|/\*.*?\*/|__launch_bounds__\s*\([^()]*(?:\([^()]*\)[^()]*)*\)|[\w:]|\([^()]*\)(?=\s*void))*?)"
    rf"{_NAME}",
    re.DOTALL,
)
_DEFINED_KERNEL = re.compile(rf"__global__[^;{{}}]*?{_NAME}[^;{{}}]*\)\s*\{{")
_UNUSED_ATOMICS = frozenset(
    f"atomic{name}{scope}"
    for name in ("Add", "Sub", "Max", "Min", "And", "Or", "Xor", "Inc", "Dec")
    for scope in ("", "_block", "_system")
)
_LAUNCHES = ("cudaLaunchKernel", "cudaLaunchCooperativeKernel")
_OPENING, _CLOSING = {"(": ")", "[": "]", "{": "}"}, {")": "(", "]": "[", "}": "{"}
_BLANK = ("comment", "space", "newline")


class Token(Struct, frozen=True):
    """A piece of the text."""

    text: str
    kind: str  # a group of _TOKEN
    is_in_macro: bool  # in a #define

    @property
    def is_blank(self) -> bool:
        """Whether it is white space or a comment."""
        return self.kind in _BLANK


def tokenize(text: str) -> list[Token]:
    """Split a text into tokens; joined again, they are the text."""
    tokens: list[Token] = []
    is_in_macro, begins_line = False, True
    for match in _TOKEN.finditer(text):
        kind = match.lastgroup or "mark"
        if kind == "fence":
            kind = "string"
        piece = match.group()
        if kind == "newline":
            is_in_macro, begins_line = False, True
        elif begins_line and kind != "space":
            is_in_macro = piece == "#" and bool(re.match(r"#[ \t]*define\b", text[match.start() :]))
            begins_line = False
        tokens.append(Token(piece, kind, is_in_macro))
    return tokens


def kernel_names(text: str) -> list[str]:
    """Find the names of the kernels that a text defines or declares, in order, each once."""
    return list(dict.fromkeys(match[2] for match in _KERNEL.finditer(without_comments(text))))


def without_comments(text: str) -> str:
    """Replace comments by spaces; lines and columns stay."""
    blanked = (
        re.sub(r"[^\n]", " ", token.text) if token.kind == "comment" else token.text
        for token in tokenize(text)
    )
    return "".join(blanked)


def rewrite(text: str, template_kernels: frozenset[str] = frozenset()) -> str:
    """Rewrite a text; template_kernels: the names of all kernels of the program that are templates."""
    return "".join(Rewriter(tokenize(text), template_kernels).run())


def template_kernels(text: str) -> frozenset[str]:
    """Find the kernels that only their arguments identify: templates, and names with several definitions."""
    plain = without_comments(text)
    defined = _DEFINED_KERNEL.findall(plain)
    overloaded = {name for name in defined if defined.count(name) > 1}
    return frozenset(_TEMPLATE_KERNEL.findall(plain)) | overloaded


class Rewriter:
    """Rewrites a list of tokens from left to right."""

    def __init__(self, tokens: Sequence[Token], templates: frozenset[str]) -> None:
        self._tokens, self._templates = tokens, templates
        self._out: list[str] = []
        self._kinds: list[str] = []  # of the pieces in `_out`

    def run(self) -> list[str]:
        index = 0
        while index < len(self._tokens):
            index = self._step(index)
        return self._out

    def _emit(self, text: str, kind: str) -> None:
        self._out.append(text)
        self._kinds.append(kind)

    def _step(self, index: int) -> int:
        token = self._tokens[index]
        if token.text == "<<<" and (after := self._launch(index)):
            return after
        if token.kind == "word":
            if token.text == "extern" and (after := self._dynamic_shared(index)):
                return after
            if token.text == "__shared__" and (after := self._aligned_shared(index)):
                return after
            if token.text == "__noinline__":
                self._emit("__attribute__((noinline))", "word")
                return index + 1
            if token.text in ("asm", "__asm__") and (after := self._assembly(index)):
                return after
            if token.text in _LAUNCHES and (after := self._typed_kernel(index)):
                return after
            if token.text == "func" and (after := self._typed_member(index)):
                return after
            if token.text in _UNUSED_ATOMICS and self._begins_statement():
                self._emit("A" + token.text[1:], "word")
                return index + 1
        self._emit(token.text, token.kind)
        return index + 1

    def _next(self, index: int) -> int:
        """Return the index of the next token that is not blank."""
        while index < len(self._tokens) and self._tokens[index].is_blank:
            index += 1
        return index

    def _text(self, index: int) -> str:
        return self._tokens[index].text if index < len(self._tokens) else ""

    def _closing(self, index: int) -> int | None:
        """Return the index of the bracket that closes the one at `index`."""
        depth = 0
        for position in range(index, len(self._tokens)):
            token = self._tokens[position]
            if token.kind != "mark":
                continue
            depth += token.text in _OPENING
            depth -= token.text in _CLOSING
            if not depth:
                return position
        return None

    def _joined(self, first: int, end: int) -> str:
        """Rewrite the tokens between two indices."""
        return "".join(type(self)(self._tokens[first:end], self._templates).run())

    def _launch(self, index: int) -> int | None:
        """Rewrite `kernel<<<grid, block>>>(arguments)`, whose `<<<` is at `index`; return the index after it."""
        depth, end = 0, index + 1
        while end < len(self._tokens) and not (self._text(end) == ">>>" and depth == 0):
            depth += self._text(end) in _OPENING
            depth -= self._text(end) in _CLOSING
            end += 1
        opening = self._next(end + 1)
        if self._text(opening) != "(" or (closing := self._closing(opening)) is None:
            return None
        start = self._callee_start()
        if start is None:
            return None
        kernel = "".join(self._out[start:]).strip()
        del self._out[start:], self._kinds[start:]
        config = self._joined(index + 1, end)
        arguments = self._joined(opening + 1, closing)
        gap = "".join(token.text for token in self._tokens[end + 1 : opening])
        macro = self._tokens[index].is_in_macro
        shown = (
            f"TILESCOPE_TEXT({kernel})" if macro else '"' + " ".join(kernel.split()).replace('"', "'") + '"'
        )
        self._emit_launch(kernel, shown, config, gap, arguments, macro=macro)
        return closing + 1

    def _emit_launch(
        self, kernel: str, shown: str, config: str, gap: str, arguments: str, *, macro: bool
    ) -> None:
        """Write a launch as a call. shown: the kernel's name as a C++ string; gap: what is before the arguments."""
        arguments = re.sub(r"\bNULL\b", "nullptr", arguments)
        name = kernel.rpartition("::")[2]
        head = f"{shown}, TilescopeConfig(__FILE__, __LINE__, {config})"
        if macro or "<" in kernel or name in self._templates:
            comma = "," if arguments.strip() else ""
            self._emit(
                f"tilescope_run({head}, TILESCOPE_CALL_TEMPLATE({kernel}){comma}{gap}{arguments})", "word"
            )
        else:
            self._emit(f"tilescope_kernel({head}, {kernel}){gap}({arguments})", "word")

    def _callee_start(self) -> int | None:
        """Return the index in the output of the first piece of the expression that names the kernel."""
        position = len(self._out)

        def step_back(position: int) -> int:
            position -= 1
            while position >= 0 and self._kinds[position] in _BLANK:
                position -= 1
            return position

        position = step_back(position)
        while position >= 0:
            text = self._out[position]
            if text == ">":  # template arguments
                depth = 0
                while position >= 0:
                    depth += self._out[position] in (">", ")", "]")
                    depth -= self._out[position] in ("<", "(", "[")
                    if not depth:
                        break
                    position -= 1
                position = step_back(position)
                continue
            if text == "]":  # an array of kernels
                depth = 0
                while position >= 0:
                    depth += self._out[position] == "]"
                    depth -= self._out[position] == "["
                    if not depth:
                        break
                    position -= 1
                position = step_back(position)
                continue
            if text == ")":  # (*pointer) or a macro's parameter in brackets
                depth = 0
                while position >= 0:
                    depth += self._out[position] == ")"
                    depth -= self._out[position] == "("
                    if not depth:
                        break
                    position -= 1
                return position if position >= 0 else None
            if self._kinds[position] != "word":
                return None
            before = step_back(position)
            if before >= 0 and self._out[before] in ("::", ".", "->"):
                position = step_back(before)
                if position < 0 or (self._kinds[position] != "word" and self._out[position] != ">"):
                    return before
                continue
            return position
        return None

    def _dynamic_shared(self, index: int) -> int | None:
        """Rewrite `extern __shared__ float memory[];` as a pointer to the block's dynamic shared memory."""
        words: list[str] = []
        position = index + 1
        while position < len(self._tokens) and self._text(position) not in (";", "{", "}"):
            if not self._tokens[position].is_blank:
                words.append(self._text(position))
            position += 1
        if "__shared__" not in words or self._text(position) != ";":
            return None
        declaration = " ".join(word for word in words if word not in ("__shared__", "volatile", "extern"))
        declaration = re.sub(
            r"(?:__align__|alignas|__builtin_align__) \( [^()]* (?:\( [^()]* \) [^()]* )*\)", "", declaration
        )
        declaration = re.sub(r"__attribute__ \( \( [^()]* \( [^()]* \) \) \)", "", declaration)
        match = re.fullmatch(r"\s*(.+?)\s+(\w+)\s*\[\s*\]\s*", declaration, re.DOTALL)
        if match is None:
            return None
        volatile = "volatile " if "volatile" in words else ""
        kind = volatile + match[1]
        lines = "\n" * sum(self._text(i).count("\n") for i in range(index, position))
        self._emit(
            f"{kind}* const {match[2]} __attribute__((unused)) = ({kind}*)tilescope_dynamic{lines}", "word"
        )
        return position

    def _aligned_shared(self, index: int) -> int | None:
        """Move an alignment in front of `__shared__`, as C++ demands it there; return the index after both."""
        word = self._next(index + 1)
        if self._text(word) not in ("alignas", "__align__") or self._text(self._next(word + 1)) != "(":
            return None
        closing = self._closing(self._next(word + 1))
        if closing is None:
            return None
        self._emit("".join(token.text for token in self._tokens[word : closing + 1]) + " __shared__", "word")
        return closing + 1

    def _assembly(self, index: int) -> int | None:
        """Replace inline PTX by C++, and what is missing by a message that names it."""
        opening = self._next(index + 1)
        while self._text(opening) in ("volatile", "__volatile__"):
            opening = self._next(opening + 1)
        if self._text(opening) != "(" or (closing := self._closing(opening)) is None:
            return None
        inside = self._tokens[opening + 1 : closing]
        if not any(token.kind == "string" for token in inside):
            return None
        end = next((i for i, token in enumerate(inside) if token.text in (":", "::")), len(inside))
        code = "".join(token.text[1:-1] for token in inside[:end] if token.kind == "string")
        code = re.sub(r"\\[nrt]", "\n", code).replace("%%", "%")
        lines = "\n" * sum(token.text.count("\n") for token in self._tokens[index:closing])
        try:
            self._emit(f"do {{ {translate(code, self._operands(inside[end:]))} }} while (0){lines}", "word")
        except MissingPtxError as missing:
            shown = re.sub(r"[^ -~]|[\"\\]", " ", str(missing)).strip()[:40]
            self._emit(f'tilescope_missing("inline PTX: {shown}", __FILE__, __LINE__){lines}', "word")
        return closing + 1

    @staticmethod
    def _operands(tokens: Sequence[Token]) -> list[str]:
        """List the expressions of an `asm` statement's operands: `"=r"(a)`, outputs before inputs."""
        expressions: list[str] = []
        depth = 0
        for position, token in enumerate(tokens):
            if token.kind == "mark" and token.text in _OPENING:
                before = next((t.kind for t in reversed(tokens[:position]) if not t.is_blank), "")
                if not depth and before == "string":
                    expressions.append("")
                elif depth and expressions:
                    expressions[-1] += token.text
                depth += 1
                continue
            depth -= token.kind == "mark" and token.text in _CLOSING
            if depth and expressions:
                expressions[-1] += " " if token.is_blank else token.text
        return expressions

    def _typed_kernel(self, index: int) -> int | None:
        """Drop the cast of a launch's kernel to `void*`, which loses its types; return the index after the cast."""
        opening = self._next(index + 1)
        return self._without_cast(index, opening) if self._text(opening) == "(" else None

    def _typed_member(self, index: int) -> int | None:
        """Drop the cast in `parameters.func = (void*)kernel`; return the index after the cast."""
        equals = self._next(index + 1)
        return self._without_cast(index, equals) if self._text(equals) == "=" else None

    def _without_cast(self, index: int, opening: int) -> int | None:
        """Copy the pieces up to one, and leave out the cast to `void*` behind it; None if there is no such cast."""
        position = self._next(opening + 1)
        is_named = self._text(position) in ("reinterpret_cast", "static_cast")
        if is_named:
            position = self._next(position + 1)
        if self._text(position) != ("<" if is_named else "("):
            return None
        words: list[str] = []
        end = self._next(position + 1)
        while self._text(end) in ("const", "void", "*"):
            words.append(self._text(end))
            end = self._next(end + 1)
        if "void" not in words or self._text(end) != (">" if is_named else ")"):
            return None
        self._emit("".join(token.text for token in self._tokens[index : opening + 1]), "word")
        return end + 1

    def _begins_statement(self) -> bool:
        """Whether the next piece begins a statement, so that its value is not used."""
        for text, kind in zip(reversed(self._out), reversed(self._kinds), strict=True):
            if kind not in _BLANK:
                return text in (";", "{", "}", ")", "else") and not (text == ")" and self._ends_cast())
        return False

    def _ends_cast(self) -> bool:
        """Whether the brackets at the end of the output are a cast or a call, and not those of an `if` or `for`."""
        depth, position = 0, len(self._out) - 1
        while position >= 0:
            depth += self._out[position] == ")"
            depth -= self._out[position] == "("
            if depth == 0 and self._out[position] == "(":
                break
            position -= 1
        position -= 1
        while position >= 0 and self._kinds[position] in _BLANK:
            position -= 1
        return position < 0 or self._out[position] not in ("if", "for", "while", "constexpr")


class Sources(Struct, frozen=True):
    """A program's files: the text of each, as it was before the rewriting, by its path."""

    main: Path
    texts: dict[Path, str]

    def templates(self) -> frozenset[str]:
        """Return the names of all kernels that are templates."""
        return frozenset().union(*map(template_kernels, self.texts.values()))


def read_sources(main: Path, include_folders: Sequence[Path] = (), text: str | None = None) -> Sources:
    """Read a program and all files that it includes from its own folders; raises OSError if `main` can't be read.

    text: replaces the content of `main`.
    """
    main = main.absolute()
    texts: dict[Path, str] = {main: main.read_text("utf-8-sig", "replace") if text is None else text}
    waiting = [main]
    while waiting:
        file = waiting.pop()
        for name in _included(texts[file]):
            for folder in (file.parent, *include_folders):
                path = Path(_normalized(folder / name))
                if path not in texts and path.is_file():
                    texts[path] = path.read_text("utf-8-sig", "replace")
                    waiting.append(path)
                if path in texts:
                    break
    return Sources(main, texts)


def write_mirror(
    sources: Sources,
    folder: Path,
    before: str = "",
    after: str = "",
    rewritten: Callable[[str, frozenset[str]], str] = rewrite,
) -> Path:
    """Write the rewritten files into a mirror of their folders in `folder`; return the main file's path there.

    before, after: C++ text in front of the main file and after it. rewritten: rewrites a file's text; it is called with
    the names of the kernels that are templates.
    """
    templates = sources.templates()
    for path, text in sources.texts.items():
        target = mirrored(path, folder)
        target.parent.mkdir(parents=True, exist_ok=True)
        shown = str(path).replace("\\", "\\\\").replace('"', '\\"')
        content = f'#line 1 "{shown}"\n{rewritten(text, templates)}'
        if path == sources.main:
            content = f"{before}{content}{after}"
        target.write_text(content, "utf-8")
    return mirrored(sources.main, folder)


def mirrored(path: Path, folder: Path) -> Path:
    """Return the path of a file or folder in the mirror."""
    return folder / Path(*path.absolute().parts[1:])


def _included(text: str) -> Iterable[str]:
    return (match[1] or match[2] for match in _INCLUDE.finditer(text))


def _normalized(path: Path) -> str:
    import os.path

    return os.path.normpath(path)
