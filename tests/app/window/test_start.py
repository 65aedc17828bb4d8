"""How a window starts: PySide stays as it is, whatever is kept of its code, and what is seen first is painted first."""

import os
import subprocess
import sys

import pytest
from PySide6.QtCore import QEvent, QObject

from lent_worker import lent_worker
from tilescope.app.control.session_jobs import SessionJobs
from tilescope.app.model.first_bookmark import first_bookmark
from tilescope.app.window.main_window import MainWindow
from tilescope.app.window.start import application
from tilescope.tracer.storage.trace_cache import TraceCache
from windows import PAIR, settle

MISUSED = """
from PySide6.QtCore import QTimer
try:
    QTimer(interval=1).setInterval("soon", 2)
except TypeError as error:
    print(error)
from PySide6.support.signature.lib import pyi_generator
print(pyi_generator.Formatter.__name__, pyi_generator.generate_pyi.__name__)
"""


@pytest.fixture
def loaded(tmp_path):
    """Return what a process prints that loads Qt and misuses it."""

    def told(statement):
        command, environment = (
            [sys.executable, "-P", "-c", statement + MISUSED],
            os.environ | {"TILESCOPE_HOME": str(tmp_path)},
        )
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout

    return told


def test_qt_is_the_same_with_kept_code_and_without(loaded, tmp_path):
    plain, quick = "import PySide6.QtWidgets", "from tilescope.app.window.start import load_qt; load_qt()"
    expected = loaded(plain)
    assert "setInterval" in expected
    assert "generate_pyi" in expected
    assert loaded(quick) == expected
    (kept,) = (tmp_path / "cache").iterdir()
    before = kept.stat().st_mtime_ns
    assert loaded(quick) == expected
    assert kept.stat().st_mtime_ns == before


class NotingCache(TraceCache):
    """Notes when a trace is looked for."""

    def __init__(self, folder, notes):
        super().__init__(folder)
        self.notes = notes

    def get(self, launch):
        self.notes.append("looked for")
        return super().get(launch)


class Painted(QObject):
    """Notes when a widget is painted."""

    def __init__(self, widget, notes):
        super().__init__(widget)
        self.notes = notes
        widget.installEventFilter(self)

    def eventFilter(self, watched, event):
        if event.type() == QEvent.Type.Paint:
            self.notes.append("painted")
        return False


@pytest.mark.parametrize("shown", [True, False])
def test_sessions_are_made_once_a_window_that_is_shown_is_painted(tmp_path, shown):
    application()
    notes = []
    window = MainWindow(SessionJobs(lent_worker(), NotingCache(tmp_path, notes)))
    watching = Painted(window.central.side.source, notes)  # which is painted after all others
    window.resize(1280, 800)
    window.show_bookmark(first_bookmark(PAIR, None))
    window.setVisible(shown)
    settle(window)
    assert notes[:2] == (["painted", "looked for"] if shown else ["looked for", "looked for"])
    assert watching.parent() is window.central.side.source
    window.close()
    window.deleteLater()
