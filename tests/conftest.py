"""What all tests share: Qt without a screen, and the mark of the tests that need no window."""

import os
from pathlib import Path

import pytest

# Set before any test imports Qt. A test that wants a real screen starts its own and says so.
os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

ROOT = Path(__file__).resolve().parent.parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests of files that use neither `app` nor Qt as `tracer`: they run without numba-cuda too."""
    files = {item.path for item in items}
    windows = {path for path in files if _uses_the_window(path)}
    for item in items:
        if item.path not in windows:
            item.add_marker("tracer")


def _uses_the_window(path: Path) -> bool:
    text = path.read_text(encoding="utf-8")
    return any(word in text for word in ("tilescope.app", "tilescope import app", "PySide6", "wheel"))


@pytest.fixture
def root() -> Path:
    """The checkout."""
    return ROOT
