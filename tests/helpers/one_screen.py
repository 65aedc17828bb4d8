"""Run in a process on a real X server: present a lecture with PageDown only, at any focus.

It prints what it saw as JSON; test_on_a_screen.py judges.
"""

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget

from on_a_screen import SEEN, present, presenting_window
from tilescope.app.window.main_window import MainWindow
from windows import wait_until


def main() -> None:
    window = presenting_window()
    window.activateWindow()
    QTest.qWaitForWindowActive(window)
    SEEN["platform"] = QApplication.platformName()
    SEEN["layout"] = window.bookmark().layout
    SEEN["theme"] = window.theme.name
    SEEN["walked"] = [state(window), *(press(window, Qt.Key.Key_PageDown) for _ in range(9))]
    focus = window.side.findChildren(QWidget)[-1]
    focus.setFocus()  # as after a click into the right column
    SEEN["back"] = press(window, Qt.Key.Key_PageUp)
    SEEN["windows"] = [type(w).__name__ for w in QApplication.topLevelWidgets() if w.isVisible()]
    window.close()


def state(window: MainWindow) -> list[object]:
    player = window.lectures.player
    return [player.number, player.is_playing, player.is_revealed, window.central.caption.title.text()]


def press(window: MainWindow, key: Qt.Key) -> list[object]:
    """Press a key where the focus is, and return what is shown then."""
    QTest.keyClick(QApplication.focusWidget() or window, key)
    wait_until(lambda: window.lectures.player.awaited is None)
    return state(window)


if __name__ == "__main__":
    present(main)
