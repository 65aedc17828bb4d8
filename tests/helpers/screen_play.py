"""Run in a process on a real X server: start the window, play, scrub, break it, close it.

It prints what it saw as JSON; test_window.py judges.
"""

import sys

from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from tilescope.app.window.main_window import MainWindow
from windows import play_on_screen, settle, wait_until

SEEN: dict[str, object] = {}


def main() -> None:
    window = next(w for w in QApplication.topLevelWidgets() if isinstance(w, MainWindow))
    settle(window)
    window.activateWindow()
    QTest.qWaitForWindowActive(window)
    SEEN["platform"] = QApplication.platformName()
    SEEN["paused at"] = window.playhead.moment
    play(window)
    scrub(window)
    SEEN["pixels"] = window.screen().grabWindow(window.winId()).toImage() != window.grab().toImage().copy(
        0, 0, 1, 1
    )
    window.resize(1000, 700)
    QTest.qWait(50)
    window.close()


def play(window: MainWindow) -> None:
    before = window.playhead.moment
    QTest.keyClick(window, Qt.Key.Key_Space)
    wait_until(lambda: window.playhead.moment > before + 3)
    QTest.keyClick(window, Qt.Key.Key_Space)
    SEEN["played"] = window.playhead.moment - before
    SEEN["playing"] = window.playhead.playing


def scrub(window: MainWindow) -> None:
    line = window.central.timelines[1]
    middle, y, seen = line.width() // 2, line.height() // 2, []
    QTest.mousePress(line, Qt.MouseButton.LeftButton, pos=QPoint(middle, y))
    for x in range(middle, middle + 200, 40):
        QTest.mouseMove(line, QPoint(x, y))
        QTest.qWait(20)
        seen.append(window.stage.moments()[1])
    QTest.mouseRelease(line, Qt.MouseButton.LeftButton, pos=QPoint(middle + 200, y))
    SEEN["scrubbed"] = seen


if __name__ == "__main__":
    play_on_screen(main, SEEN, sys.argv[1:])
