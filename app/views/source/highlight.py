"""Colours for source, of Python or CUDA C: which characters of which line are a keyword, a string, a comment."""

from __future__ import annotations

import keyword
import re

from PySide6.QtGui import QFont, QSyntaxHighlighter, QTextCharFormat, QTextCursor, QTextDocument

from ...widgets.theme import Theme

Token = tuple[int, int, str]  # first column, length, style
STYLES = {"keyword": "keyword", "string": "string", "number": "number", "comment": "muted", "name": "accent",
          "struck": "muted"}  # fmt: skip


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


# A text of Python, line by line: what a line begins in is its state. 0: code; else a string, in these quotes.
QUOTES = ("", '"""', "'''", '"', "'")
ENDS = [re.compile(rf"(?:[^\\]|\\.)*?{quote}") for quote in QUOTES]
PYTHON = re.compile(
    r"""(?P<comment>\#.*)|(?P<string>(?:[rbuf]|rb|br|fr|rf)?(?:\"{3}|'{3}|"|'))|(?P<word>[^\W\d]\w*)|(?P<name>@)"""
    r"""|(?P<number>(?:0x[\da-f_]+|0b[01_]+|0o[0-7_]+|(?:\d[\d_]*\.?[\d_]*|\.\d[\d_]*)(?:e[+-]?\d[\d_]*)?)j?)""",
    re.IGNORECASE,
)


def python_tokens(text: str) -> dict[int, list[Token]]:
    """Return the coloured tokens of each line of Python, counted from 0."""
    out: dict[int, list[Token]] = {}
    state = 0
    for line, code in enumerate(text.split("\n")):
        found, state = python_line(code, state)
        if found:
            out[line] = found
    return out


def python_line(code: str, state: int) -> tuple[list[Token], int]:
    """Return the coloured tokens of a line of Python that begins in a state, and the state it ends in."""
    end, state = _string_end(code, 0, state) if state else (0, 0)
    out, before = [(0, end, "string")] if end else [], ""
    while found := PYTHON.search(code, end):
        style, (first, end) = str(found.lastgroup), found.span()
        if style == "string":
            quote = found[0].lstrip("rbufRBUF")
            end, state = _string_end(code, end, QUOTES.index(quote))
        elif style == "word":
            style = "keyword" if keyword.iskeyword(found[0]) else ""
            style = "name" if before in ("def", "class") else style
        if style:
            out.append((first, end - first, style))
        before = found[0]
    return out, state


def _string_end(code: str, first: int, state: int) -> tuple[int, int]:
    """Return the column at which a string ends that goes on at `first`, and the state after it."""
    found = ENDS[state].match(code, first)
    if found:
        return found.end(), 0
    goes_on = len(QUOTES[state]) == 3 or (len(code) - len(code.rstrip("\\"))) % 2 == 1
    return len(code), state if goes_on else 0


LONGEST_LINE = (
    2_000  # characters of a line that is coloured: a line of many colours takes minutes to be laid out
)
LONGEST_COLOURED = 150_000  # characters; colours of a longer text would keep the window waiting


class Highlighter(QSyntaxHighlighter):
    """Puts colours on a document, line by line as it is typed, strikes lines out and marks those with a problem."""

    def __init__(self, document: QTextDocument, theme: Theme) -> None:
        super().__init__(document)
        self._pieces: dict[int, list[Token]] | None = {}  # by line of CUDA C; None for Python
        self._theme = theme
        self.struck: frozenset[int] = frozenset()  # lines, from 1, as `problems`
        self.problems: dict[int, str] = {}  # the colour of their worst

    def show_colours(self, text: str, theme: Theme, *, c: bool = False) -> None:
        """Colour the document anew, as CUDA C or as Python; call it after the document holds `text`."""
        few = len(text) <= LONGEST_COLOURED
        self._theme = theme
        self._pieces = (cuda_c_tokens(text) if c else None) if few else {}
        if few:
            self._colour_all()

    def _colour_all(self) -> None:
        """Colour all lines as one change: `rehighlight` would lay the document out anew after each."""
        cursor = QTextCursor(self.document())
        cursor.select(QTextCursor.SelectionType.Document)
        cursor.mergeCharFormat(QTextCharFormat())

    def mark(self, struck: frozenset[int], problems: dict[int, str]) -> None:
        """Strike lines out, and underline those with a problem in the colour of this name."""
        touched = struck ^ self.struck | dict(problems.items() ^ self.problems.items()).keys()
        self.struck, self.problems = struck, problems
        for line in touched:
            self.rehighlightBlock(self.document().findBlockByNumber(line - 1))

    def highlightBlock(self, text: str) -> None:
        """Colour one line."""
        if len(text) > LONGEST_LINE:
            return
        line = self.currentBlock().blockNumber()
        if self._pieces is None:
            tokens, state = python_line(text, max(0, self.previousBlockState()))
            self.setCurrentBlockState(state)
        else:
            tokens = self._pieces.get(line, [])
        first = len(text) - len(text.lstrip())
        if line + 1 in self.struck:
            tokens = [(first, len(text) - first, "struck")]
        elif line + 1 in self.problems:
            self.setFormat(first, len(text) - first, self._underlined(QTextCharFormat(), line + 1))
        for at, length, style in tokens:
            self.setFormat(at, length, self._underlined(self._look(style), line + 1))

    def _look(self, style: str) -> QTextCharFormat:
        look = QTextCharFormat()
        look.setForeground(self._theme.colour(STYLES[style]))
        if style == "name":
            look.setFontWeight(QFont.Weight.Bold)
        look.setFontStrikeOut(style == "struck")
        return look

    def _underlined(self, look: QTextCharFormat, line: int) -> QTextCharFormat:
        if line in self.problems:
            look.setUnderlineStyle(QTextCharFormat.UnderlineStyle.WaveUnderline)
            look.setUnderlineColor(self._theme.colour(self.problems[line]))
        return look
