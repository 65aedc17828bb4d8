"""How a window starts: what is seen first is painted first."""

import pytest
from PySide6.QtCore import QEvent, QObject

from lent_worker import lent_worker
from tilescope.app.control.session_jobs import SessionJobs
from tilescope.app.model.first_bookmark import first_bookmark
from tilescope.app.window.main_window import MainWindow
from tilescope.app.window.start import application
from tilescope.tracer.storage.trace_cache import TraceCache
from windows import PAIR, settle


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
    watching = Painted(
        window.central.side.source.editor.viewport(), notes
    )  # one of the last that are painted
    window.resize(1280, 800)
    window.show_bookmark(first_bookmark(PAIR, None))
    window.setVisible(shown)
    settle(window)
    before = notes[: notes.index("looked for")]
    assert set(before) == ({"painted"} if shown else set())
    assert watching.parent() is window.central.side.source.editor.viewport()
    window.close()
    window.deleteLater()
