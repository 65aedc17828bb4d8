"""A window that the tests of a file share: to open one takes longer than what most of them look at."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tilescope.app.window.main_window import MainWindow
from windows import opened, reset


@pytest.fixture(scope="module")
def shared() -> Iterator[MainWindow]:
    """Return a window on the pair of scenarios, as the test before left it."""
    with opened() as made:
        yield made


@pytest.fixture
def window(shared: MainWindow) -> MainWindow:
    """Return the shared window, put back where each test begins."""
    reset(shared)
    return shared
