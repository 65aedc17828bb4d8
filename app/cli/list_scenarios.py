"""`tilescope list`: list the scenarios of the catalogue, and the lectures."""

from __future__ import annotations

from argparse import Namespace

from ...kernels.scenarios.catalogue import scenarios
from ..lectures.model.library import lecture_name, lecture_title, shipped_lectures
from .common.arguments import Parser
from .common.text_output import align_columns, print_escaped


def add_arguments(parser: Parser) -> None:
    parser.description = "Print one scenario per line, its name first, then the lectures."


def execute(_: Namespace) -> int:
    """Print the scenarios with their titles and parameters, and the lectures with their titles."""
    rows = [
        [scenario.name, f"{scenario.title} ({','.join(p.name for p in scenario.parameters)})"]
        for scenario in scenarios()
    ]
    lectures = [[f"lecture {lecture_name(path)}", lecture_title(path)] for path in shipped_lectures()]
    print_escaped("\n".join(align_columns([*rows, *lectures], "<", widths=(24,), gap=" ")))
    return 0
