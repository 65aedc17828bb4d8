"""Run in a process on a real X server: drag threads into an order with the mouse of the X server.

It prints what it saw as JSON; test_order_on_a_screen.py judges.
"""

import subprocess
from collections.abc import Callable

from PySide6.QtCore import QPoint
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QListWidget

from tilescope.app.window.main_window import MainWindow
from tilescope.app.window.order_search import CHOOSE
from windows import play_on_screen, settle, wait_until

SEEN: dict[str, object] = {}
LAUNCH = "count-racing:num_blocks=1,threads=3,schedule=order:t0x1"


def main() -> None:
    window = next(w for w in QApplication.topLevelWidgets() if isinstance(w, MainWindow))
    settle(window)
    window.activateWindow()
    QTest.qWaitForWindowActive(window)
    SEEN["platform"] = QApplication.platformName()
    window.commands[CHOOSE].trigger()
    settle(window)
    view = window.side.view("order")
    wait_until(lambda: view.list.count() == 3 and view.parts.count() == 1)
    wait_until(is_at_rest(view.parts))
    drag(centre(view.list, 2), centre(view.parts, 0) - QPoint(0, 3))
    wait_until(lambda: order_text(window) != "t0x1")
    settle(window)
    SEEN["inserted"] = order_text(window)
    SEEN["parts"] = [view.parts.item(row).text() for row in range(view.parts.count())]
    drag(centre(view.parts, 0), centre(view.parts, 1) + QPoint(0, 3))
    wait_until(lambda: order_text(window) != SEEN["inserted"])
    settle(window)
    SEEN["moved"] = order_text(window)
    session = window.focused_session()
    assert session is not None
    SEEN["threads"] = session.trace.thread[:2].tolist()
    window.close()


def order_text(window: MainWindow) -> str:
    return window.stage.setups[window.stage.focus].schedule.order_text


def centre(view: QListWidget, row: int) -> QPoint:
    """Return the middle of a line on the screen."""
    return view.viewport().mapToGlobal(view.visualItemRect(view.item(row)).center())


def is_at_rest(view: QListWidget) -> Callable[[], bool]:
    """Return a condition: the last 20 looks found the list at the same place."""
    places: list[QPoint] = []

    def look() -> bool:
        places.append(centre(view, 0))
        return len(places) >= 20 and len(set(map(QPoint.toTuple, places[-20:]))) == 1

    return look


def drag(start: QPoint, end: QPoint) -> None:
    """Press, move and release the mouse of the X server, as a hand does."""
    ratio = QApplication.primaryScreen().devicePixelRatio()
    steps = [start + (end - start) * number / 8 for number in range(9)]
    words = ["mousemove", *place(start, ratio), "mousedown", "1"]
    for step in steps[1:]:
        words += ["mousemove", *place(step, ratio), "sleep", "0.05"]
    words += ["sleep", "0.2", "mouseup", "1"]
    # A drag has its own event loop: the mouse moves in another process.
    mouse = subprocess.Popen(["xdotool", *words])
    wait_until(lambda: mouse.poll() is not None)
    assert mouse.returncode == 0


def place(point: QPoint, ratio: float) -> tuple[str, str]:
    return str(round(point.x() * ratio)), str(round(point.y() * ratio))


if __name__ == "__main__":
    play_on_screen(main, SEEN, [LAUNCH])
