"""Run in a process on a real X server: edit a kernel, run it, skip a barrier, drag, undo all, close.

It prints what it saw as JSON; test_on_a_screen.py judges.
"""

from PySide6.QtCore import QPoint, Qt, QTimer
from PySide6.QtGui import QTextCursor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMessageBox

from on_a_screen import SEEN, present
from tilescope.app.views.source.gutter import Gutter
from tilescope.app.window.main_window import MainWindow
from tilescope.app.window.toolbar.drag_gesture import COARSE
from windows import settle, wait_until


def main() -> None:
    window = next(w for w in QApplication.topLevelWidgets() if isinstance(w, MainWindow))
    wait_until(lambda: all(window.stage.sessions) and window.stage.is_settled())
    window.activateWindow()
    QTest.qWaitForWindowActive(window)
    SEEN["platform"] = QApplication.platformName()
    write(window, "total += tile_a", "total -= tile_a")
    SEEN["edited"] = kernel_states(window)
    write(window, "total -= tile_a", "total += tile_a")
    strike(window)
    SEEN["struck"] = kernel_states(window)
    drag(window)
    SEEN["dragged"] = [session.launch.arguments[0].shape[0] for session in window.stage.sessions if session]
    SEEN["field"] = window.toolbar.fields["m"].text()
    window.editing.editing.undo_all()
    wait_for_edit(window)
    SEEN["undone"] = kernel_states(window)
    write(window, "total += tile_a", "total -= tile_a", run=False)
    QTimer.singleShot(0, discard)
    window.close()
    SEEN["visible"] = window.isVisible()


def write(window: MainWindow, old: str, new: str, *, run: bool = True) -> None:
    """Replace a text by typing, and press Ctrl+Enter."""
    editor = window.side.source.editor
    editor.setFocus()
    editor.moveCursor(QTextCursor.MoveOperation.Start)
    assert editor.find(old)
    QTest.keyClicks(editor, new)
    if run:
        QTest.keyClick(editor, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
        wait_for_edit(window)


def strike(window: MainWindow) -> None:
    """Click in the gutter of the first barrier."""
    editor = window.side.source.editor
    line = min(editor.barriers)
    editor.go_to(line)
    top = next(top for number, top, _ in editor.lines_in_sight() if number == line)
    QTest.mouseClick(editor.findChild(Gutter), Qt.MouseButton.LeftButton, pos=QPoint(6, int(top) + 7))
    wait_for_edit(window)


def drag(window: MainWindow) -> None:
    """Pull M through five of its values."""
    handle = window.toolbar.handles["m"]
    middle = handle.rect().center()
    QTest.mousePress(handle, Qt.MouseButton.LeftButton, pos=middle)
    for steps in range(1, 6):
        QTest.mouseMove(handle, middle + QPoint(steps * (COARSE + 1), 0))
        QTest.qWait(30)
    QTest.mouseRelease(handle, Qt.MouseButton.LeftButton, pos=middle + QPoint(5 * (COARSE + 1), 0))
    wait_until(
        lambda: (
            window.stage.is_settled()
            and str(window.stage.setups[-1].values["m"]) == window.toolbar.fields["m"].text()
        )
    )
    settle(window)


def wait_for_edit(window: MainWindow) -> None:
    wait_until(lambda: not window.editing.editing.is_busy())
    settle(window)


def kernel_states(window: MainWindow) -> list[list[object]]:
    """Return of each pane how many barriers its kernel has, whether it subtracts, and whether the result is right."""
    sources = [(s.launch.source.split("def tiled")[1], s.trace.check) for s in window.stage.sessions if s]
    return [
        [text.count("syncthreads"), "-= tile_a" in text, bool(check and check.equal)]
        for text, check in sources
    ]


def discard() -> None:
    """Answer the question about unsaved edits."""
    box = next((w for w in QApplication.topLevelWidgets() if isinstance(w, QMessageBox)), None)
    if box is None:
        QTimer.singleShot(50, discard)
        return
    SEEN["asked"] = box.text()
    box.button(QMessageBox.StandardButton.Discard).click()


if __name__ == "__main__":
    present(main, "matmul-tiled:m=8,k=8,n=8,tile=4")
