"""`tilescope server`: a language server, which shows the findings of `tilescope check` in an editor."""

from __future__ import annotations

from argparse import Namespace
from importlib.util import find_spec

from .common.arguments import Parser, UsageError


def add_arguments(parser: Parser) -> None:
    parser.description = (
        "Speak the Language Server Protocol over standard input and output: findings as diagnostics, counters of "
        "lines, and remedies as code actions. An editor starts it. It runs a file only after the user agrees."
    )


def execute(chosen: Namespace) -> int:
    """Serve an editor until it ends the connection."""
    if find_spec("pygls") is None:
        raise UsageError('the server needs pygls: pip install "tilescope[lsp]".')
    from .editor.server import serve

    serve()
    return 0
