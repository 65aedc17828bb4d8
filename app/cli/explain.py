"""`tilescope explain`: print the page about a kind of finding or a counter."""

from __future__ import annotations

import shutil
from argparse import Namespace

from ..explain.pages import page_code, page_names, page_path, page_title
from ..explain.terminal_text import terminal_text
from .common.arguments import Parser
from .common.text_output import align_columns, print_escaped

MAX_WIDTH = 88


def add_arguments(parser: Parser) -> None:
    parser.description = "Print the page about a rule or a counter; without a name, list the pages."
    parser.add_argument(
        "page",
        nargs="*",
        metavar="RULE | COUNTER",
        help="for example TS101, race, bank conflict or global_load_sectors",
    )


def execute(chosen: Namespace) -> int:
    """Print one page, or the list of pages."""
    if not chosen.page:
        rows = [[page_code(name), name, page_title(name)] for name in page_names()]
        print_escaped("\n".join(align_columns(rows, "<")))
        return 0
    path = page_path(" ".join(chosen.page))
    width = min(MAX_WIDTH, shutil.get_terminal_size((MAX_WIDTH, 24)).columns)
    print_escaped(terminal_text(path.read_text(encoding="utf-8"), width).rstrip("\n"))
    return 0
