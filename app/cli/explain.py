"""`tilescope explain`: print the page about a kind of finding or a counter."""

from __future__ import annotations

import shutil
from argparse import Namespace

from ..explain.pages import page_names, page_path, page_title
from ..explain.terminal_text import terminal_text
from .common.arguments import Parser
from .common.text_output import aligned, say

WIDEST = 88


def add_arguments(parser: Parser) -> None:
    parser.description = (
        "Print the page about a kind of finding or a counter; without a name, list the pages."
    )
    parser.add_argument(
        "page",
        nargs="*",
        metavar="KIND | COUNTER",
        help="for example race, bank conflict or global_load_sectors",
    )


def execute(chosen: Namespace) -> int:
    """Print one page, or the list of pages."""
    if not chosen.page:
        say("\n".join(aligned([[name, page_title(name)] for name in page_names()], "<")))
        return 0
    path = page_path(" ".join(chosen.page))
    width = min(WIDEST, shutil.get_terminal_size((WIDEST, 24)).columns)
    say(terminal_text(path.read_text(encoding="utf-8"), width).rstrip("\n"))
    return 0
