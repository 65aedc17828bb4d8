"""What the commands share: a parser that leaves the last word on an error to `main`."""

from __future__ import annotations

import argparse
from typing import NoReturn


class UsageError(Exception):
    """A command line that can't be followed; the text is one sentence."""


class Parser(argparse.ArgumentParser):
    """A parser that leaves the last word on an error to `main`."""

    def error(self, message: str) -> NoReturn:
        """Raise UsageError."""
        raise UsageError(f"{message}; see {self.prog} --help.")
