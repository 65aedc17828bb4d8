"""Where things of the tests lie."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parent.parent
ROOT = TESTS.parent  # the checkout
DATA = TESTS / "data"
IMAGES = TESTS / "images"


def use_home(monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
    """Give a test a separate home without traces, which shares the compiled kernels of all tests."""
    (home / "cache").mkdir(parents=True)
    (home / "cache" / "compiled").symlink_to(Path(os.environ["TILESCOPE_HOME"]) / "cache" / "compiled")
    monkeypatch.setenv("TILESCOPE_HOME", str(home))
