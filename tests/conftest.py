"""What all tests share: Qt without a screen, folders of their own, and the mark of the tests that run kernels."""

import os
import shutil
import tempfile
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

# Set before any test imports Qt. A test that wants a real screen starts its own and says so.
os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

# Neither the user's settings nor traces that another version left in the cache may take part.
HOME = tempfile.mkdtemp(prefix="tilescope-tests-")
os.environ["TILESCOPE_HOME"] = HOME

ENGINE = ("launching", "tracer.client", "tracer.simulator", "tracer.worker")
WINDOW = ("tilescope.app", "tilescope import app", "PySide6")


def pytest_unconfigure() -> None:
    """Remove what the tests left in the folders."""
    shutil.rmtree(HOME, ignore_errors=True)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark as `engine` the tests of files that run kernels and open no window: what numba-cuda could change."""
    marked = {path: _runs_kernels_alone(path) for path in {item.path for item in items}}
    for item in items:
        if marked[item.path]:
            item.add_marker("engine")


def _runs_kernels_alone(path: Path) -> bool:
    text = path.read_text(encoding="utf-8")
    return any(word in text for word in ENGINE) and not any(word in text for word in WINDOW)


@pytest.fixture
def script(tmp_path: Path) -> Callable[[str], Path]:
    """Return what writes a text as a program of a user's, and gives its path."""

    def write(text: str) -> Path:
        path = tmp_path / "program.py"
        path.write_text(textwrap.dedent(text))
        return path

    return write
