"""Print, as JSON, the seconds from an edit of the 64-cube tiled product to the picture of the new version.

python editing.py TIMES   Ctrl+Enter on a text that was compiled before, and on a new one, and clicks
                          in the gutter that strike a barrier out and put it back, each so often; no trace is in a cache
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from typing import Any

from window import main_window, wait_until

SPEC = "matmul-tiled:m=64,k=64,n=64,tile=16"
SUM = "total += tile_a[ty, j] * tile_b[j, tx]"


def measured(times: int) -> dict[str, list[float]]:
    """Return seconds by what was done."""
    window = main_window((SPEC,))
    window.stage.jobs.cache = None
    rest(window)
    results: dict[str, list[float]] = {"compiled": [], "recompiled": [], "struck": [], "back": []}
    for number in range(times):
        results["recompiled"].append(_run(window, f"{SUM} * {number + 2}.5"))
        results["compiled"].append(_run(window, SUM))
        results["compiled"].append(_run(window, f"{SUM} * {number + 2}.5"))
    window.editing.editing.undo_all()
    rest(window)
    for line in window.side.source.editor.barriers:
        for _ in range(times):
            results["struck"].append(_click(window, line))
            results["back"].append(_click(window, line))
    window.stage.jobs.worker.close()
    return results


def rest(window: Any) -> None:
    """Wait until nothing is made any more, and what is to be painted is."""
    jobs = window.stage.jobs
    wait_until(lambda: window.stage.is_settled() and jobs.is_idle() and jobs.is_prepared())
    end = time.monotonic() + 0.5
    wait_until(lambda: time.monotonic() > end)


def _run(window: Any, text: str) -> float:
    """Write another line into the kernel and press Ctrl+Enter."""
    from PySide6.QtCore import Qt
    from PySide6.QtTest import QTest

    editor = window.side.source.editor
    lines = editor.file_text().split("\n")
    row = next(n for n, line in enumerate(lines) if "total += " in line)
    lines[row] = f"            {text}"
    editor.setFocus()
    editor.replace("\n".join(lines))
    rest(window)  # while one reads what one has written, it may be compiled already
    return _seconds(
        window, lambda: QTest.keyClick(editor, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    )


def _click(window: Any, line: int) -> float:
    """Click in the gutter next to a line."""
    from PySide6.QtCore import QPoint, Qt
    from PySide6.QtTest import QTest

    from tilescope.app.views.source.gutter import Gutter

    editor = window.side.source.editor
    editor.go_to(line)
    rest(window)
    top = next(top for number, top, _ in editor.lines_in_sight() if number == line)
    gutter = editor.findChild(Gutter)
    return _seconds(
        window, lambda: QTest.mouseClick(gutter, Qt.MouseButton.LeftButton, pos=QPoint(6, int(top) + 7))
    )


def _seconds(window: Any, act: Callable[[], object]) -> float:
    """Measure the time from a user's action to the painted picture of another version."""
    from PySide6.QtWidgets import QApplication

    before = list(window.stage.sessions)
    begin = time.perf_counter()
    act()
    wait_until(lambda: not window.editing.editing.is_busy() and window.stage.sessions != before)
    window.draw()
    QApplication.sendPostedEvents()
    window.repaint()
    taken = time.perf_counter() - begin
    wait_until(lambda: window.stage.is_settled() and window.stage.jobs.is_idle())
    return taken


if __name__ == "__main__":
    print(json.dumps(measured(int(sys.argv[1]))))
