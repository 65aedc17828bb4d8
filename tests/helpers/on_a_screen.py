"""The shared part of runs that drive a window in another process: their start, and their report at the end."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication

from tilescope.app.window.main_window import MainWindow
from tilescope.app.window.start import application, run_window
from windows import wait_until

SEEN: dict[str, object] = {}  # printed as JSON; the test judges


def presenting_window() -> MainWindow:
    """Return the window, once it shows the lecture's first step."""
    window = next(w for w in QApplication.topLevelWidgets() if isinstance(w, MainWindow))
    player = window.lectures.player
    wait_until(lambda: player.lecture is not None and player.awaited is None)
    return window


def present(drive: Callable[[], None], *specs: str) -> None:
    """Present the lecture that the command line names, or show these scenarios; drive it, and print what was seen."""

    def begin() -> None:
        try:
            drive()
        except (AssertionError, AttributeError) as error:
            SEEN["failed"] = repr(error)
            QApplication.exit(1)

    application()
    QTimer.singleShot(0, begin)
    SEEN["status"] = run_window(specs, lecture=Path(sys.argv[1]) if sys.argv[1:] else None)
    print(json.dumps(SEEN))
