"""`tilescope list`: the scenarios of the catalogue."""

from __future__ import annotations

from argparse import Namespace

from ...kernels.scenarios.catalogue import scenarios
from .arguments import Parser
from .text_output import aligned, say


def add_arguments(parser: Parser) -> None:
    parser.description = "Print one scenario per line, its name first."


def execute(_: Namespace) -> int:
    """Print the scenarios, each with its title and the names of its parameters."""
    rows = [
        [scenario.name, f"{scenario.title} ({','.join(p.name for p in scenario.parameters)})"]
        for scenario in scenarios()
    ]
    say("\n".join(aligned(rows, "<", widths=(24,), gap=" ")))
    return 0
