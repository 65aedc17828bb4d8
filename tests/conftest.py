"""What all tests share: Qt without a screen, folders of their own, and the mark of the tests that run kernels."""

import os
import shutil
import tempfile
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import settings

# Set before any test imports Qt. A test that wants a real screen starts its own and says so.
os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

# Neither the user's settings nor traces that another version left in the cache may take part.
HOME = tempfile.mkdtemp(prefix="tilescope-tests-")
os.environ["TILESCOPE_HOME"] = HOME

# Fewer random kernels than hypothesis makes by itself; script/test chooses it with --hypothesis-profile.
settings.register_profile("few", max_examples=20)

# Folders of tests that run kernels: what numba-cuda, or its absence, could change.
ENGINE = ("tracer", "kernels", "app/cli/programs")
HERE = Path(__file__).resolve().parent


def pytest_unconfigure() -> None:
    """Remove what the tests left in the folders."""
    shutil.rmtree(HOME, ignore_errors=True)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests of the folders of ENGINE as `engine`."""
    for item in items:
        if any(item.path.is_relative_to(HERE / folder) for folder in ENGINE):
            item.add_marker("engine")


@pytest.fixture
def script(tmp_path: Path) -> Callable[[str], Path]:
    """Return what writes a text as a program of a user's, and gives its path."""

    def write(text: str) -> Path:
        path = tmp_path / "program.py"
        path.write_text(textwrap.dedent(text))
        return path

    return write
