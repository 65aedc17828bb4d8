"""Run in a process with two screens: present a lecture with PageDown only.

It prints what it saw as JSON; test_presenter.py judges.
"""

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget

from on_a_screen import SEEN, present, presenting_window
from tilescope.app.window.main_window import MainWindow
from windows import wait_until


def main() -> None:
    window = presenting_window()
    player = window.lectures.player
    window.toggle_presenter()
    presenting = window.presenting
    assert presenting is not None
    assert presenting.window is not None
    speaker = presenting.window
    wait_until(lambda: window.isVisible() and speaker.isVisible())
    screens = QApplication.screens()
    SEEN["platform"], SEEN["screens"] = QApplication.platformName(), len(screens)
    SEEN["speaker"], SEEN["audience"] = screen_number(speaker), screen_number(window)
    SEEN["audience is full"] = window.isFullScreen()
    SEEN["steps"] = [walk(window, receiver) for receiver in (speaker, window, speaker)]
    wait_until(lambda: speaker.thumbnails.picture_of(player.number + 1) is not None)
    SEEN["drawn"] = not speaker.current.image.isNull()
    presenting.swap()
    SEEN["swapped"] = [screen_number(speaker), screen_number(window)]
    close_both(window, speaker)


def screen_number(widget: QWidget) -> int:
    return QApplication.screens().index(widget.screen())


def walk(window: MainWindow, receiver: QWidget) -> list[object]:
    """Press PageDown in a window, and return what both say then."""
    player = window.lectures.player
    receiver.activateWindow()
    QTest.qWaitForWindowActive(receiver)
    QTest.keyClick(receiver, Qt.Key.Key_PageDown)
    wait_until(lambda: player.awaited is None)
    return [player.number, window.central.caption.title.text(), window.presenting.window.title.text()]


def close_both(window: MainWindow, speaker: QWidget) -> None:
    window.close()
    SEEN["goes on without the audience's window"] = speaker.isVisible() and not window.isVisible()
    SEEN["after it"] = walk(window, speaker)[0]
    speaker.close()


if __name__ == "__main__":
    present(main)
