"""Blocks of a Markdown file, as its parser returns them: paragraphs, headings and so on, each with its line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...model.visible_text import escape_controls
from .captions import LONGEST

if TYPE_CHECKING:
    from markdown_it.rules_core import StateCore
    from markdown_it.token import Token


def cut_long_paragraphs(state: StateCore) -> None:
    """Cut paragraphs that are longer than a caption, which the reader reports: a rule of the Markdown parser.

    Parsing brackets and similar characters takes time quadratic in the length.
    """
    for token in state.tokens:
        if token.type == "inline":
            token.content = token.content[: LONGEST + 1]


def top_blocks(tokens: Sequence[Token]) -> list[list[Token]]:
    """Group the tokens by top-level block: paragraph, heading, list and so on."""
    blocks: list[list[Token]] = []
    depth = 0
    for token in tokens:
        if depth == 0:
            blocks.append([])
        blocks[-1].append(token)
        depth += token.nesting
    return blocks


def line_of(block: Sequence[Token]) -> int:
    """Return the line on which a block begins, from 1."""
    return (block[0].map or (0, 0))[0] + 1


def heading_of(block: Sequence[Token]) -> str:
    """Return the text of a heading."""
    return escape_controls(" ".join(token.content for token in block if token.type == "inline").strip())
