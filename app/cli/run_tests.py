"""`tilescope test`: the tests of a project under pytest, with every launch traced and checked."""

from __future__ import annotations

import subprocess
import sys
from argparse import Namespace
from collections.abc import Sequence
from importlib.util import find_spec

from .common.arguments import Parser, UsageError

OPTION = "--tilescope"


def add_arguments(parser: Parser) -> None:
    parser.usage = f"{parser.prog} [ARGUMENTS OF PYTEST ...]"
    parser.description = (
        "Run pytest --tilescope: the tests of a project without a GPU, with every launch traced and checked. "
        "The status is that of pytest."
    )


def parse(parser: Parser, words: Sequence[str]) -> Namespace:
    """Return all words for pytest; only -h as the first is ours."""
    chosen = parser.parse_args(words[:1] if words[:1] in (["-h"], ["--help"]) else [])
    chosen.words = list(words)
    return chosen


def execute(chosen: Namespace) -> int:
    """Run pytest in a new process, since it must import Numba after its plugins; return its status."""
    if find_spec("pytest") is None:
        raise UsageError("the tests need pytest: pip install pytest.")
    return subprocess.run([sys.executable, "-m", "pytest", OPTION, *chosen.words], check=False).returncode
