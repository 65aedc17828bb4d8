"""Print, as JSON, what the window costs: seconds to be seen and to move, milliseconds of a scrub.

    python window.py start SECONDS   from SECONDS (of time.time(), when the process was asked for) to a painted
                                     window, and to its first animated frame
    python window.py scrub           moments set at random, until panes and timelines are painted
"""

from __future__ import annotations

import json
import random
import resource
import sys
import time
from typing import Any

SIZE = (1600, 900)
SCRUBS = 200


def main_window() -> Any:
    """Return a window on the default comparison at its size, shown, as `tilescope` makes it."""
    from tilescope.tracer.client import Worker

    worker = Worker()
    worker.start()
    from tilescope.app import folders
    from tilescope.app.jobs import Jobs
    from tilescope.app.main_window import MainWindow
    from tilescope.app.run import application
    from tilescope.app.window import first_bookmark
    from tilescope.tracer.cache import TraceCache

    application()
    window = MainWindow(Jobs(worker, TraceCache(folders.cache_folder())))
    window.resize(*SIZE)
    window.show_bookmark(first_bookmark((), None))
    window.show()
    return window


def wait_until(holds: Any) -> None:
    """Run Qt's events until something holds."""
    from PySide6.QtWidgets import QApplication

    while not holds():
        QApplication.processEvents()
        time.sleep(0.001)


def start(begin: float) -> dict[str, float]:
    """Return the seconds from `begin` to the window's first painting, and to that of its first animated frame."""
    window = main_window()
    from PySide6.QtWidgets import QApplication

    QApplication.processEvents()
    window.repaint()
    seen = time.time() - begin
    wait_until(lambda: all(window.stage.sessions) and window.stage.is_settled())
    first = window.playhead.moment
    window.playhead.play()
    wait_until(lambda: window.playhead.moment > first)
    window.draw()
    window.repaint()
    found = {"window": seen, "animated": time.time() - begin}
    window.close()
    return found


def scrub() -> dict[str, float]:
    """Return percentiles of the milliseconds from setting the moment to painted pixels, and the peak memory."""
    window = main_window()
    from PySide6.QtGui import QImage
    from PySide6.QtWidgets import QApplication

    wait_until(lambda: all(window.stage.sessions) and window.stage.is_settled())
    wait_until(lambda: not QApplication.processEvents())
    views = [*(pane.memory for pane in window.frame.panes), *window.frame.timelines]
    image = QImage(window.size(), QImage.Format.Format_RGB32)
    chance = random.Random(1)
    times = []
    for _ in range(SCRUBS):
        moment = chance.uniform(0, window.playhead.end)
        begin = time.perf_counter()
        window.playhead.seek(moment)
        window.draw()
        for view in views:
            view.render(image)
        times.append(1000 * (time.perf_counter() - begin))
        QApplication.processEvents()
    window.close()
    times.sort()
    return {
        "median": times[len(times) // 2], "p95": times[int(len(times) * 0.95)], "worst": times[-1],
        "megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }  # fmt: skip


if __name__ == "__main__":
    print(json.dumps(start(float(sys.argv[2])) if sys.argv[1] == "start" else scrub()))
