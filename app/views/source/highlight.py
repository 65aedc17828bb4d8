"""Colours for source, of Python or CUDA C: which characters of which line are a keyword, a string, a comment."""

from __future__ import annotations

import io
import keyword
import re
import tokenize
from collections.abc import Iterator

from PySide6.QtGui import QFont, QSyntaxHighlighter, QTextCharFormat, QTextDocument

from ...widgets.theme import Theme

Token = tuple[int, int, str]  # first column, length, style
STYLES = {"keyword": "keyword", "string": "string", "number": "number", "comment": "muted", "name": "accent"}


# What CUDA C++ adds to C++, and of that what a kernel on a slide uses.
C_WORDS = """auto bool break case char class const constexpr continue default do double else enum extern false
float for if inline int long namespace return short signed sizeof static struct switch template true typename
unsigned using void volatile while __global__ __device__ __host__ __shared__ __constant__ __restrict__
__syncthreads"""
C_TOKENS = re.compile(
    r"""(?P<comment>//[^\n]*|/\*.*?\*/)|(?P<string>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')"""
    rf"""|(?P<keyword>\#\s*\w+|\b(?:{"|".join(C_WORDS.split())})\b)|(?P<number>\b\d[\w.]*)""",
    re.DOTALL,
)


def cuda_c_tokens(text: str) -> dict[int, list[Token]]:
    """Return the coloured tokens of each line of CUDA C, counted from 0."""
    out: dict[int, list[Token]] = {}
    for found in C_TOKENS.finditer(text):
        line, start = text.count("\n", 0, found.start()), text.rfind("\n", 0, found.start()) + 1
        column = found.start() - start
        for more, part in enumerate(found[0].split("\n")):
            out.setdefault(line + more, []).append((0 if more else column, len(part), str(found.lastgroup)))
    return out


def python_tokens(text: str) -> dict[int, list[Token]]:
    """Return the coloured tokens of each line of Python, counted from 0; what can't be tokenized stays plain."""
    out: dict[int, list[Token]] = {}
    lines = text.splitlines()
    for style, (row, column), (last_row, last_column) in _tokens(text):
        for line in range(row, last_row + 1):
            first = column if line == row else 0
            last = last_column if line == last_row else len(lines[line - 1])
            out.setdefault(line - 1, []).append((first, last - first, style))
    return out


def _tokens(text: str) -> Iterator[tuple[str, tuple[int, int], tuple[int, int]]]:
    before = ""
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            style = _style(token, before)
            before = token.string or before
            if style:
                yield style, token.start, token.end
    except (tokenize.TokenError, SyntaxError):
        return  # a file that is being edited may end in the middle of anything


def _style(token: tokenize.TokenInfo, before: str) -> str:
    """Return the style of a token, "" for plain text; `before` is the token before it."""
    kind = tokenize.tok_name[token.type]
    if kind == "NAME":
        if before in ("def", "class"):
            return "name"
        return "keyword" if keyword.iskeyword(token.string) else ""
    if "STRING" in kind:
        return "string"
    return {"NUMBER": "number", "COMMENT": "comment"}.get(kind, "name" if token.string == "@" else "")


LONGEST_LINE = (
    2_000  # characters of a line that is coloured: a line of many colours takes minutes to be laid out
)
LONGEST_COLOURED = 150_000  # characters; colours of a longer text would keep the window waiting


class Highlighter(QSyntaxHighlighter):
    """Puts the colours of `pieces`, or of `c_pieces`, on a document."""

    def __init__(self, document: QTextDocument, theme: Theme) -> None:
        super().__init__(document)
        self._pieces: dict[int, list[Token]] = {}
        self._theme = theme

    def show_colours(self, text: str, theme: Theme, *, c: bool = False) -> None:
        """Colour the document anew, as CUDA C or as Python; call it after the document holds `text`."""
        few = len(text) <= LONGEST_COLOURED
        self._pieces, self._theme = (cuda_c_tokens(text) if c else python_tokens(text)) if few else {}, theme
        if few:
            self.rehighlight()

    def highlightBlock(self, text: str) -> None:
        """Colour one line."""
        if len(text) > LONGEST_LINE:
            return
        for first, length, style in self._pieces.get(self.currentBlock().blockNumber(), ()):
            look = QTextCharFormat()
            look.setForeground(self._theme.colour(STYLES[style]))
            if style == "name":
                look.setFontWeight(QFont.Weight.Bold)
            self.setFormat(first, length, look)
