"""Print, as JSON, what the window costs: seconds to be seen and to move, milliseconds of a scrub.

python window.py start SECONDS   from SECONDS (of time.time(), when the process was asked for) to a painted
                                 window, and to its first animated frame
python window.py scrub STEP [SIZE] moments set STEP apart (0: at random), until the window has painted them, at
                                 1600x900 or another size
python window.py frame STEP [SIZE] where the time of such a frame goes: widgets, pixels that they paint, and texts
python window.py change 0        another size or tile, nothing cached but compiled kernels, until all is painted; and
                                 the processor seconds of the window's process and of its GUI thread for one
python window.py drag 0          pictures a second while sizes and paddings of the tiled 64-cube are dragged
python window.py lectures 0     milliseconds from a key to the painted picture, of each step of the shipped lectures
python window.py typing LINES     milliseconds from a key in a kernel's file of so many lines until all is painted
python window.py cells 0         pixels of a cell in both layouts, and how many cells show their value
"""

from __future__ import annotations

import json
import random
import resource
import sys
import time
from itertools import pairwise
from typing import Any

SIZE = (1600, 900)
SCRUBS = 200
PACE, BEAT = 100, 10  # milliseconds from one value of a drag to the next, and from one sign of life


def main_window(specs: tuple[str, ...] = ()) -> Any:
    """Return a window on scenarios or the default comparison, at SIZE or as asked, as `tilescope` makes it."""
    from tilescope.app.window.start import application, load_qt, resume_garbage_collection, speed_up_imports

    speed_up_imports()
    from tilescope.tracer.run.worker_client import Worker

    worker = Worker()
    worker.start()
    load_qt()
    from PySide6.QtCore import QTimer

    from tilescope.app.control.session_jobs import SessionJobs
    from tilescope.app.model.first_bookmark import first_bookmark
    from tilescope.app.window.main_window import MainWindow
    from tilescope.tracer.storage import folders
    from tilescope.tracer.storage.trace_cache import TraceCache

    application()
    window = MainWindow(SessionJobs(worker, TraceCache(folders.cache_folder())))
    size = tuple(map(int, sys.argv[3].split("x"))) if len(sys.argv) > 3 else SIZE
    window.resize(*size)
    window.show_bookmark(first_bookmark(specs, None))
    window.show()
    QTimer.singleShot(2000, resume_garbage_collection)
    return window


def wait_until(holds: Any) -> None:
    """Run Qt's events until something holds."""
    from PySide6.QtWidgets import QApplication

    while not holds():
        QApplication.processEvents()
        time.sleep(0.001)


def is_drawn(window: Any) -> bool:
    """Check whether a window shows everything."""
    return all(window.stage.sessions) and window.stage.is_settled() and not window.central.results.is_behind


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
    results = {"window": seen, "animated": time.time() - begin}
    _wait_for_the_cache(window)  # so that the next start finds its traces there
    window.close()
    return results


def _wait_for_the_cache(window: Any) -> None:
    """Wait until nothing is made any more, and what was made is written."""
    jobs = window.stage.jobs
    wait_until(lambda: window.stage.is_settled() and jobs.is_idle() and not jobs.calm.isActive())
    time.sleep(1)  # nothing tells when a thread has written it


def scrubbed(window: Any, step: float) -> list[float]:
    """Return the moments of a scrub, once all is painted that is left to be painted first, other blocks ahead too."""
    from PySide6.QtWidgets import QApplication

    from tilescope.app.panels.blocks_ahead import BlocksAhead

    wait_until(lambda: is_drawn(window))
    for _ in range(100):
        QApplication.processEvents()
        time.sleep(0.002)
    wait_until(window.findChild(BlocksAhead).is_idle)
    chance, end = random.Random(1), window.playhead.end
    return [(700 + n * step) % end if step else chance.uniform(0, end) for n in range(SCRUBS)]


def scrub(step: float) -> dict[str, float]:
    """Return percentiles of the milliseconds from setting the moment until the window has painted it.

    step: moments from one frame to the next, as a drag makes them; 0 for random jumps over the complete launch.
    """
    window, times, work = main_window(), [], []
    from PySide6.QtWidgets import QApplication

    for moment in scrubbed(window, step):
        begin, busy = time.perf_counter(), time.thread_time()
        window.playhead.seek(moment)
        window.draw()
        QApplication.processEvents()
        times.append(1000 * (time.perf_counter() - begin))
        work.append(1000 * (time.thread_time() - busy))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    window.close()
    times.sort()
    work.sort()
    return {
        "median": times[SCRUBS // 2],
        "p95": times[int(SCRUBS * 0.95)],
        "worst": times[-1],
        "processor": work[SCRUBS // 2],
        "processor p95": work[int(SCRUBS * 0.95)],
        "megabytes": peak,
    }


def frame(step: float) -> dict[str, Any]:
    """Measure the average cost of a frame of a scrub: milliseconds, pixels that widgets paint, and texts.

    By the class of the widget, the dearest first; "ready" is what happens before anything is painted, and "Qt" what is
    left of the painting.
    """
    from collections import Counter

    from PySide6.QtGui import QPainter

    from tilescope.app.views.common import view

    spent, pixels, texts = Counter[str](), Counter[str](), [0]
    guarded, write = view.guard_handler, QPainter.drawText

    def timed(handler: Any) -> Any:
        safe = guarded(handler)

        def run(self: Any, event: Any) -> None:
            begin = time.perf_counter()
            safe(self, event)
            if handler.__name__ == "paintEvent":
                spent[type(self).__name__] += time.perf_counter() - begin
                pixels[type(self).__name__] += sum(part.width() * part.height() for part in event.region())

        return run

    def counted(*given: Any) -> Any:
        texts[0] += 1
        return write(*given)

    view.guard_handler, QPainter.drawText = timed, counted  # before the views are made
    window, ready, complete = main_window(), 0.0, 0.0
    from PySide6.QtWidgets import QApplication

    moments = scrubbed(window, step)
    spent.clear(), pixels.clear()
    texts[0] = 0
    for moment in moments:
        begin = time.perf_counter()
        window.playhead.seek(moment)
        window.draw()
        ready += time.perf_counter() - begin
        QApplication.processEvents()
        complete += time.perf_counter() - begin
    window.close()
    parts = {name: 1000 * seconds / SCRUBS for name, seconds in spent.most_common()}
    return {
        "whole": 1000 * complete / SCRUBS, "ready": 1000 * ready / SCRUBS, **parts,
        "Qt": 1000 * (complete - ready) / SCRUBS - sum(parts.values()),
        "pixels": {name: round(number / SCRUBS) for name, number in pixels.most_common()}, "texts": texts[0] / SCRUBS,
    }  # fmt: skip


def change(_: float) -> dict[str, Any]:
    """Return the seconds from another choice to its painting, the longest that the window stood still, and its work."""
    window = main_window()
    window.stage.jobs.cache = None
    wait_until(lambda: is_drawn(window))
    sizes = [{"m": 64 - i, "k": 64, "n": 64} for i in range(9)]
    _changed(window, sizes[0])  # which may still paint the start
    process, gui = time.process_time(), time.thread_time()
    known_names = [_changed(window, values) for values in sizes[1:]]
    process, gui = time.process_time() - process, time.thread_time() - gui
    new = [_changed(window, {"m": 64, "tile": tile, "block": tile}) for tile in (8, 32)]
    window.close()
    return {
        "compiled": [seconds for seconds, _ in known_names], "compiled still": max(still for _, still in known_names),
        "processor": process / len(known_names), "processor gui": gui / len(known_names),
        "new": [seconds for seconds, _ in new], "new still": max(still for _, still in new),
    }  # fmt: skip


def _changed(window: Any, values: dict[str, int]) -> tuple[float, float]:
    import msgspec
    from PySide6.QtWidgets import QApplication

    setups = tuple(
        msgspec.structs.replace(s, values=s.values | {k: v for k, v in values.items() if k in s.values})
        for s in window.stage.setups
    )
    begin, still = time.perf_counter(), 0.0
    window.change_setups(setups)
    while not window.stage.is_settled():
        before = time.perf_counter()
        QApplication.processEvents()
        still = max(still, time.perf_counter() - before)
        time.sleep(0.001)
    window.draw()
    window.repaint()
    return time.perf_counter() - begin, still


def drag(_: float) -> dict[str, Any]:
    """Return pictures a second while a hand drags ten sizes or eight paddings of the tiled 64-cube to and fro.

    It pulls ten values a second, of which those are left out that come while a picture is made; the first eight
    paddings each as soon as the one before is painted. Traces are made, or cached, and then sessions are kept as
    always; last ten sizes next to the naive product.
    """
    from tilescope.app.control import session_jobs

    kept, session_jobs.KEPT_SESSIONS = session_jobs.KEPT_SESSIONS, 1
    window = main_window(("matmul-tiled:m=64,k=64,n=64",))
    jobs, results = window.stage.jobs, {}
    cache, jobs.cache = jobs.cache, None
    for name, parameter, values in (
        ("new", "padding", range(1, 9)), ("compiled", "padding", _to_and_fro(8)), ("traced", "m", _to_and_fro(10)),
        ("", "m", [*range(-1, -11, -1), 0]), ("cached", "m", _to_and_fro(10)),
    ):  # fmt: skip
        jobs.cache = cache if name in ("", "cached") else None  # the drag without a name fills it
        session_jobs.KEPT_SESSIONS = kept if name == "cached" else 1
        _forget(window)
        results[name] = _dragged(window, parameter, values, each=name in ("new", ""))
    jobs.cache = None
    window.toolbar.pick(1, "matmul-naive-col-on-x")
    session_jobs.KEPT_SESSIONS = 2
    _forget(window)
    results["both"] = _dragged(window, "m", _to_and_fro(10))
    _forget(window)
    window.close()
    return results


def _to_and_fro(count: int) -> list[int]:
    """Return steps down to `count` below the start, up to it again, and so on."""
    down = list(range(-1, -count - 1, -1))
    return [*down, *down[-2::-1], 0, *down, *down[-2::-1], 0]


def _forget(window: Any) -> None:
    """Wait until nothing is made any more, and leave no session in memory."""
    _wait_for_the_cache(window)
    window.stage.jobs._sessions.clear()


def _dragged(window: Any, name: str, values: Any, *, each: bool = False) -> dict[str, float]:
    """Pull a parameter's name through values, so many steps away each, of M in fine steps."""
    from PySide6.QtCore import QEventLoop, QPoint, Qt, QTimer
    from PySide6.QtTest import QTest

    from tilescope.app.window.toolbar.drag_gesture import COARSE, FINE

    handle, field, shown = window.toolbar.handles[name], window.toolbar.fields[name], []
    held = Qt.KeyboardModifier.ShiftModifier if name == "m" else Qt.KeyboardModifier.NoModifier
    length, position, steps = FINE if name == "m" else COARSE, handle.rect().center(), list(values)
    loop = QEventLoop()

    def pull() -> None:
        if steps:
            pixels = steps[0] * length + (1 if steps.pop(0) > 0 else -1)
            _pull(handle, position + QPoint(pixels, 0), held)

    def take_note() -> None:
        shown.append(time.perf_counter())
        if each and steps:
            QTimer.singleShot(0, pull)  # once the picture is painted
        elif not steps and _shows(window, name, field.text()):
            QTimer.singleShot(0, loop.quit)

    beat, beats = QTimer(interval=BEAT, timerType=Qt.TimerType.PreciseTimer), [time.perf_counter()]
    beat.timeout.connect(lambda: beats.append(time.perf_counter()))
    pointer = QTimer(interval=PACE, timerType=Qt.TimerType.PreciseTimer)
    pointer.timeout.connect(pull)
    heard = window.stage.settled.connect(take_note)
    QTest.mousePress(handle, Qt.MouseButton.LeftButton, held, position)
    begin = time.perf_counter()
    pull()
    beat.start()
    if not each:
        pointer.start()
    loop.exec()
    seconds = time.perf_counter() - begin
    for timer in (beat, pointer):
        timer.stop()
    window.stage.settled.disconnect(heard)
    QTest.mouseRelease(handle, Qt.MouseButton.LeftButton, held, position)
    wait_until(lambda: window.navigation.scrub.is_at_rest())
    still = max(b - a for a, b in pairwise(beats)) - BEAT / 1000
    return {"pictures": len(shown), "a second": len(shown) / seconds, "still": still}


def _pull(handle: Any, point: Any, held: Any) -> None:
    from PySide6.QtCore import QEvent, QPointF, Qt
    from PySide6.QtGui import QMouseEvent
    from PySide6.QtWidgets import QApplication

    left, kind = Qt.MouseButton.LeftButton, QEvent.Type.MouseMove
    there = QPointF(point), QPointF(handle.mapToGlobal(point))
    QApplication.sendEvent(handle, QMouseEvent(kind, *there, left, left, held))


def _shows(window: Any, name: str, text: str) -> bool:
    """Check whether every pane with a parameter shows a launch with this value."""
    return all(str(s.values.get(name, text)) == text for s in window.stage.setups)


def cells(_: float) -> dict[str, dict[str, float]]:
    """Return the side of the smallest cell in pixels, in both layouts of a window of 1920 x 1080, and who shows values.

    Of the naive and the tiled product of 16 x 16 with a caption of two lines.
    """
    window = main_window(
        ("matmul-naive-row-on-x:m=16,k=16,n=16,tile=8", "matmul-tiled:m=16,k=16,n=16,tile=8")
    )
    from PySide6.QtWidgets import QApplication

    from tilescope.app.state.actions import ChooseLayout

    wait_until(lambda: is_drawn(window))
    window.resize(1920, 1080)
    window.central.caption.show_caption("A title", "One line,<br>and another.", "1 of 2")
    results = {}
    for layout in ("ordinary", "lecture"):
        window.store.dispatch(ChooseLayout(layout))
        window.stage.seek(1, window.stage.ends()[1])
        for _ in range(3):
            QApplication.processEvents()
            window.draw()
            window.repaint()
        memories = [pane.memory for pane in window.central.panes]
        sizes = [size for memory in memories for size in memory.cell_sizes().values()]
        texts = [len(written) for memory in memories for written in memory.cell_texts().values()]
        results[layout] = {"side": min(sizes), "values": sum(texts)}
    window.close()
    return results


def typing(lines: float) -> dict[str, float]:
    """Return percentiles of the milliseconds from a key in the middle of the source until the window has painted it."""
    from PySide6.QtCore import Qt
    from PySide6.QtTest import QTest
    from PySide6.QtWidgets import QApplication

    window = main_window()
    wait_until(lambda: is_drawn(window))
    source = window.side.source
    text = source.text()
    source.show_file(text * round(lines / text.count("\n")))
    cursor = source.editor.textCursor()
    cursor.setPosition(source.editor.document().findBlockByNumber(round(lines / 2)).position())
    source.editor.setTextCursor(cursor)
    source.editor.setFocus()
    for _ in range(100):  # what is left to be painted first
        QApplication.processEvents()
        time.sleep(0.002)
    times = []
    for key in 20 * [*map(ord, "WORDS"), Qt.Key.Key_Return, Qt.Key.Key_Space, Qt.Key.Key_Backspace]:
        begin = time.perf_counter()
        QTest.keyClick(source.editor, Qt.Key(key))
        QApplication.processEvents()
        times.append(1000 * (time.perf_counter() - begin))
    source.revert()
    window.close()
    times.sort()
    count = len(times)
    return {"median": times[count // 2], "p95": times[int(count * 0.95)], "worst": times[-1]}


def lectures(_: float) -> dict[str, float]:
    """Return percentiles of the milliseconds from a key to the picture of the next step, painted at 1920 x 1080.

    Of all steps of the shipped lectures but the first ones; the traces of those to come are made ahead, as while
    a lecturer speaks.
    """
    from tilescope.app.lectures.model.library import shipped_lectures

    window = main_window()
    from PySide6.QtWidgets import QApplication

    window.resize(1920, 1080)
    player, jobs, times = window.lectures.player, window.stage.jobs, []
    for path in shipped_lectures():
        window.lectures.open(path)
        for number in range(1, len(player.lecture.steps)):
            wait_until(lambda: player.awaited is None and jobs.is_prepared() and jobs.is_idle())
            for _ in range(20):  # what is left to be painted of the step before
                QApplication.processEvents()
                time.sleep(0.002)
            begin = time.perf_counter()
            player.go(number)
            wait_until(lambda: player.awaited is None)
            QApplication.sendPostedEvents()  # among them Qt's to lay out and to paint
            times.append(1000 * (time.perf_counter() - begin))
        player.close()
    window.close()
    times.sort()
    count = len(times)
    return {"steps": count, "median": times[count // 2], "p95": times[int(count * 0.95)], "worst": times[-1]}


KINDS = {
    "typing": typing,
    "lectures": lectures,
    "cells": cells,
    "start": start,
    "scrub": scrub,
    "frame": frame,
    "change": change,
    "drag": drag,
}

if __name__ == "__main__":
    print(json.dumps(KINDS[sys.argv[1]](float(sys.argv[2]))))
