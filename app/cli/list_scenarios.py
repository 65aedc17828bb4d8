"""`tilescope list`: list the scenarios of the catalogue, and the lectures."""

from __future__ import annotations

from argparse import Namespace

from ...kernels.scenarios.catalogue import scenarios
from ..lecture.library import name_of, shipped, title_of
from .common.arguments import Parser
from .common.text_output import aligned, say


def add_arguments(parser: Parser) -> None:
    parser.description = "Print one scenario per line, its name first, then the lectures."


def execute(_: Namespace) -> int:
    """Print the scenarios with their titles and parameters, and the lectures with their titles."""
    rows = [
        [scenario.name, f"{scenario.title} ({','.join(p.name for p in scenario.parameters)})"]
        for scenario in scenarios()
    ]
    lectures = [[f"lecture {name_of(path)}", title_of(path)] for path in shipped()]
    say("\n".join(aligned([*rows, *lectures], "<", widths=(24,), gap=" ")))
    return 0
