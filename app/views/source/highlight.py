"""Syntax colours of Python and CUDA C: the columns of keywords, strings, numbers and comments."""

from __future__ import annotations

import keyword
import re
from collections.abc import Callable

from PySide6.QtGui import QFont, QSyntaxHighlighter, QTextCharFormat, QTextCursor, QTextDocument

from ...widgets.theme import Theme

Token = tuple[int, int, str]  # first column, length, style
STYLES = {"keyword": "keyword", "string": "string", "number": "number", "comment": "muted", "name": "accent",
          "struck": "muted"}  # fmt: skip


# The keywords of CUDA C++ that kernels on slides use.
C_WORDS = """auto bool break case char class const constexpr continue default do double else enum extern false
float for if inline int long namespace return short signed sizeof static struct switch template true typename
unsigned using void volatile while __global__ __device__ __host__ __shared__ __constant__ __restrict__
__syncthreads"""
C_TOKENS = re.compile(
    r"""(?P<comment>//.*|/\*.*?(?:\*/|$))|(?P<string>"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')"""
    rf"""|(?P<keyword>\#\s*\w+|\b(?:{"|".join(C_WORDS.split())})\b)|(?P<number>\b\d[\w.]*)"""
)
Scan = Callable[
    [str, int], tuple[list[Token], int]
]  # from a line and the state before it to the state after it


def cuda_c_tokens(text: str) -> dict[int, list[Token]]:
    """Return the coloured tokens of each line of CUDA C, counted from 0."""
    return _tokens_of(text, cuda_c_line)


def cuda_c_line(code: str, state: int) -> tuple[list[Token], int]:
    """Return the coloured tokens of a line of CUDA C and the state after it: 1 within a comment, else 0."""
    end = len(code) if state else 0
    if state and "*/" in code:
        end, state = code.index("*/") + 2, 0
    tokens = [(0, end, "comment")] if end else []
    for match in C_TOKENS.finditer(code, end):
        tokens.append((match.start(), len(match[0]), str(match.lastgroup)))
        state = int(match[0].startswith("/*") and not (match[0].endswith("*/") and len(match[0]) > 3))
    return tokens, state


def _tokens_of(text: str, scan: Scan) -> dict[int, list[Token]]:
    tokens: dict[int, list[Token]] = {}
    state = 0
    for line, code in enumerate(text.split("\n")):
        line_tokens, state = scan(code, state)
        if line_tokens:
            tokens[line] = line_tokens
    return tokens


# Python is scanned line by line. The state of a line is 0 in code, else the index of the open string's quotes.
QUOTES = ("", '"""', "'''", '"', "'")
ENDS = [re.compile(rf"(?:[^\\]|\\.)*?{quote}") for quote in QUOTES]
PYTHON = re.compile(
    r"""(?P<comment>\#.*)|(?P<string>(?:[rbuf]|rb|br|fr|rf)?(?:\"{3}|'{3}|"|'))|(?P<word>[^\W\d]\w*)|(?P<name>@)"""
    r"""|(?P<number>(?:0x[\da-f_]+|0b[01_]+|0o[0-7_]+|(?:\d[\d_]*\.?[\d_]*|\.\d[\d_]*)(?:e[+-]?\d[\d_]*)?)j?)""",
    re.IGNORECASE,
)


def python_tokens(text: str) -> dict[int, list[Token]]:
    """Return the coloured tokens of each line of Python, counted from 0."""
    return _tokens_of(text, python_line)


def python_line(code: str, state: int) -> tuple[list[Token], int]:
    """Return the coloured tokens of a line of Python and the state after it."""
    end, state = _string_end(code, 0, state) if state else (0, 0)
    tokens, previous = [(0, end, "string")] if end else [], ""
    while match := PYTHON.search(code, end):
        style, (first, end) = str(match.lastgroup), match.span()
        if style == "string":
            quote = match[0].lstrip("rbufRBUF")
            end, state = _string_end(code, end, QUOTES.index(quote))
        elif style == "word":
            style = "keyword" if keyword.iskeyword(match[0]) else ""
            style = "name" if previous in ("def", "class") else style
        if style:
            tokens.append((first, end - first, style))
        previous = match[0]
    return tokens, state


def _string_end(code: str, first: int, state: int) -> tuple[int, int]:
    """Return the column where a string ends that continues at `first`, and the state after it."""
    match = ENDS[state].match(code, first)
    if match:
        return match.end(), 0
    continues = len(QUOTES[state]) == 3 or (len(code) - len(code.rstrip("\\"))) % 2 == 1
    return len(code), state if continues else 0


LONGEST_LINE = 2_000  # characters of a coloured line: Qt needs minutes to lay out longer ones
LONGEST_COLOURED = 150_000  # characters; colouring a longer text would block the window


class Highlighter(QSyntaxHighlighter):
    """Colours a document line by line, strikes out skipped lines and underlines lines with problems."""

    def __init__(self, document: QTextDocument, theme: Theme) -> None:
        super().__init__(document)
        self._scan: Scan | None = None  # of the document's language; None for a text that is too long
        self._theme = theme
        self.struck: frozenset[int] = frozenset()  # lines, from 1, as `problems`
        self.problems: dict[int, str] = {}  # the colour of the worst problem of each line

    def show_colours(self, text: str, theme: Theme, *, c: bool = False) -> None:
        """Colour the complete document, as CUDA C or as Python; it must hold `text` already."""
        self._theme, self._scan = theme, None
        if len(text) <= LONGEST_COLOURED:
            self._scan = cuda_c_line if c else python_line
            self._colour_all()

    def _colour_all(self) -> None:
        """Colour all lines as one change; `rehighlight` would lay out the document once per line."""
        cursor = QTextCursor(self.document())
        cursor.select(QTextCursor.SelectionType.Document)
        cursor.mergeCharFormat(QTextCharFormat())

    def mark(self, struck: frozenset[int], problems: dict[int, str]) -> None:
        """Strike lines out, and underline lines with problems in the named colours."""
        touched = struck ^ self.struck | dict(problems.items() ^ self.problems.items()).keys()
        self.struck, self.problems = struck, problems
        for line in touched:
            self.rehighlightBlock(self.document().findBlockByNumber(line - 1))

    def highlightBlock(self, text: str) -> None:
        """Colour one line."""
        if len(text) > LONGEST_LINE:
            return
        line = self.currentBlock().blockNumber()
        tokens: list[Token] = []
        if self._scan is not None:
            tokens, state = self._scan(text, max(0, self.previousBlockState()))
            self.setCurrentBlockState(state)
        first = len(text) - len(text.lstrip())
        if line + 1 in self.struck:
            tokens = [(first, len(text) - first, "struck")]
        elif line + 1 in self.problems:
            self.setFormat(first, len(text) - first, self._underlined(QTextCharFormat(), line + 1))
        for start, length, style in tokens:
            self.setFormat(start, length, self._underlined(self._format(style), line + 1))

    def _format(self, style: str) -> QTextCharFormat:
        text_format = QTextCharFormat()
        text_format.setForeground(self._theme.colour(STYLES[style]))
        if style == "name":
            text_format.setFontWeight(QFont.Weight.Bold)
        text_format.setFontStrikeOut(style == "struck")
        return text_format

    def _underlined(self, text_format: QTextCharFormat, line: int) -> QTextCharFormat:
        if line in self.problems:
            text_format.setUnderlineStyle(QTextCharFormat.UnderlineStyle.WaveUnderline)
            text_format.setUnderlineColor(self._theme.colour(self.problems[line]))
        return text_format
