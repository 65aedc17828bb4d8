"""Markdown as plain text for a terminal: wrapped paragraphs, indented code, aligned tables."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence

from markdown_it import MarkdownIt
from markdown_it.token import Token

INDENT = "    "


def terminal_text(markdown: str, width: int) -> str:
    """Render Markdown as lines of at most `width` characters. Code lines keep their length; comments vanish."""
    tokens = MarkdownIt("commonmark").enable("table").parse(markdown)
    return "\n\n".join(_blocks(tokens, width)) + "\n"


def _blocks(tokens: Sequence[Token], width: int) -> Iterator[str]:
    items: list[str] = []
    rows: list[list[str]] = []
    in_table, list_depth = False, 0
    for number, token in enumerate(tokens):
        kind = token.type
        if kind in ("fence", "code_block"):
            yield textwrap.indent(token.content.rstrip("\n"), INDENT)
        elif kind == "table_open":
            in_table, rows = True, []
        elif kind == "table_close":
            in_table = False
            yield _table(rows, width)
        elif kind == "tr_open":
            rows.append([])
        elif kind == "bullet_list_open":
            list_depth, items = list_depth + 1, items if list_depth else []
        elif kind == "bullet_list_close":
            list_depth -= 1
            if not list_depth:
                yield "\n".join(items)
        elif kind == "inline" and in_table:
            rows[-1].append(_inline(token))
        elif kind == "inline" and list_depth:
            items.append(_wrapped(_inline(token), width, "- ", "  "))
        elif kind == "inline":
            text = _inline(token)
            is_heading = tokens[number - 1].type == "heading_open"
            yield text.upper() if is_heading and tokens[number - 1].tag != "h1" else _wrapped(text, width)


def _inline(token: Token) -> str:
    """Return the text of inline Markdown, without emphasis, links and marks of code."""
    parts = []
    for child in token.children or ():
        if child.type in ("softbreak", "hardbreak"):
            parts.append(" ")
        elif child.type != "html_inline":
            parts.append(child.content)
    return "".join(parts)


def _wrapped(text: str, width: int, first: str = "", further: str = "") -> str:
    return textwrap.fill(
        text, width, initial_indent=first, subsequent_indent=further,
        break_long_words=False, break_on_hyphens=False,
    )  # fmt: skip


def _table(rows: Sequence[Sequence[str]], width: int) -> str:
    """Align the first columns, and wrap the last one in the room that they leave."""
    *columns, _ = zip(*rows, strict=True)
    widths = [max(map(len, column)) for column in columns]
    indent = sum(widths) + 2 * len(widths)
    lines = []
    for row in rows:
        first = "".join(cell.ljust(size + 2) for cell, size in zip(row, widths, strict=False))
        lines.append(_wrapped(row[-1], max(width, indent + 30), first, " " * indent))
    return "\n".join(lines)
