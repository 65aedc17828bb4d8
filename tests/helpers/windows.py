"""Windows for tests: opened on small launches, with one worker and one cache for all."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from PySide6.QtCore import QEvent, QObject, Qt, QTimer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget

from folders import TESTS, link_caches
from lent_worker import lent_worker
from patience import PATIENCE
from tilescope.app.control.session_jobs import SessionJobs
from tilescope.app.model.bookmark import Bookmark
from tilescope.app.model.first_bookmark import first_bookmark
from tilescope.app.state.actions import Action, AskCompiler, Focus
from tilescope.app.window.main_window import MainWindow
from tilescope.app.window.start import application, run_window
from tilescope.tracer.run.worker_client import Worker
from tilescope.tracer.storage.trace_cache import TraceCache

SMALL = "m=16,k=16,n=16,tile=8"
PAIR = (f"matmul-naive-col-on-x:{SMALL}", f"matmul-tiled:{SMALL}")
HELD = {
    "Shift": Qt.KeyboardModifier.ShiftModifier,
    "Ctrl": Qt.KeyboardModifier.ControlModifier,
    "Alt": Qt.KeyboardModifier.AltModifier,
}


@contextmanager
def open_window(
    specs: tuple[str, ...] = PAIR,
    settings: Path | None = None,
    mark: Bookmark | None = None,
    wait: bool = True,
    worker: Worker | None = None,
    compiled: bool = False,
    program: str = "",
) -> Iterator[MainWindow]:
    """Show a window on scenarios, or on a bookmark, with its traces there; close it afterwards.

    compiled: show counters as compiled, as in a window that a user opens. program: shown instead of scenarios, without
    waiting for it.
    worker: one only for this window, for tests of its process; otherwise all windows share one.
    """
    application()
    cache = TraceCache(Path(os.environ["TILESCOPE_HOME"]) / "window-tests")
    window = MainWindow(SessionJobs(worker or lent_worker(), cache), settings)
    window.store.dispatch(AskCompiler(compiled))
    window.resize(1280, 800)
    window.show()
    window.activateWindow()
    QTest.qWaitForWindowActive(window)
    if program:
        window.show_program(program, first_bookmark(specs, None))
    else:
        window.show_bookmark(mark or first_bookmark(specs, None))
    try:
        if wait and not program:
            settle(window)
        yield window
    finally:
        window.close()
        delete(window)


def delete(owner: QObject) -> None:
    """Delete an object in this thread; Python's garbage collector would in any thread, which Qt does not allow."""
    owner.deleteLater()
    QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)


def settle(window: MainWindow) -> None:
    """Wait until nothing is being made, everything is drawn, and the findings are known."""
    wait_until(window.stage.is_settled)
    wait_until(window.stage.jobs.is_idle)
    wait_until(window.central.results.measured.is_idle)
    wait_until(lambda: not window.central.results.is_behind)
    QApplication.processEvents()


def wait_until(condition: Callable[[], bool]) -> None:
    """Let the window live until a condition holds; fail when it never does."""
    last = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < last, "it never happened"
        QTest.qWait(5)


def act(window: MainWindow, action: Action) -> None:
    """Dispatch an action and let the window render it."""
    window.store.dispatch(action)
    QApplication.processEvents()


def reset(window: MainWindow) -> None:
    """Put a window that several tests share where each of them begins: moment 3 of the right pane, no message."""
    window.playhead.pause()
    window.notice.clear()
    act(window, Focus(1))
    window.stage.seek(1, 3)
    window.central.transport.play.setFocus()
    window.draw()
    window.activateWindow()
    QTest.qWaitForWindowActive(window)


def press(window: MainWindow, *names: str) -> None:
    """Press keys, as "Shift+Left", where the focus is."""
    for name in names:
        *held, key = name.split("+")
        modifiers = Qt.KeyboardModifier.NoModifier
        for word in held:
            modifiers |= HELD[word]
        QTest.keyClick(QApplication.focusWidget() or window, getattr(Qt.Key, f"Key_{key}"), modifiers)
    QApplication.processEvents()


def parameter_field(window: MainWindow, name: str) -> QWidget:
    """Return the field of a parameter."""
    return window.toolbar.fields[name]


def enter(window: MainWindow, name: str, text: str) -> None:
    """Replace the text of a field by typing."""
    entry = parameter_field(window, name)
    entry.setFocus()
    QTest.keyClick(entry, Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
    QTest.keyClick(entry, Qt.Key.Key_Delete)
    QTest.keyClicks(entry, text)


def screen_environment(screen: str, home: Path) -> dict[str, str]:
    """Return the environment of a process that shows its windows on an X server, with separate folders."""
    link_caches(home, Path(os.environ["TILESCOPE_HOME"]))
    own = {
        "DISPLAY": screen,
        "QT_QPA_PLATFORM": "xcb",
        "TILESCOPE_HOME": str(home),
        "PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")]),
    }
    return os.environ | own


def seen_on_screen(program: str, screen: str, home: Path, *words: str) -> dict[str, Any]:
    """Run a program of the helpers on an X server; return what it printed as JSON."""
    done = subprocess.run(
        [sys.executable, str(TESTS / "helpers" / program), *words],
        env=screen_environment(screen, home),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    seen: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    assert "failed" not in seen, seen
    assert seen["platform"] == "xcb"
    assert seen["status"] == 0
    return seen


def play_on_screen(main: Callable[[], None], seen: dict[str, object], specs: list[str]) -> None:
    """Open the window, call a function in its event loop, and print what it saw as JSON once the window is closed."""

    def begin() -> None:
        try:
            main()
        except AssertionError as error:
            seen["failed"] = repr(error)
            QApplication.closeAllWindows()

    application()
    QTimer.singleShot(0, begin)
    seen["status"] = run_window(specs)
    print(json.dumps(seen))
