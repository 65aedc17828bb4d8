"""The window as a picture, drawn without a screen."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import msgspec

from ..tracer.client import Worker
from .bookmark import Bookmark
from .pictures import PictureError, picture_of, write_png

Size = tuple[int, int]


def snapshot(
    specs: Sequence[str],
    output: str | Path,
    moment: int | None = None,
    phase: int | None = None,
    theme: Literal["light", "dark"] = "light",
    size: Size = (1600, 900),
    scale: float = 1.0,
    text_size: float = 1.0,
) -> None:
    """Write the window on these scenarios as a PNG file of `size` points with `scale` pixels each.

    moment, phase: the last scenario's; of a phase the middle is shown; beyond the end is the end; with
    neither it is the first load. Raises CatalogueError for scenarios that cannot be launched, and
    PictureError where there is no trace or the file cannot be written.
    """
    worker = Worker()
    worker.start()
    _prepare(scale)
    from .window import first_bookmark

    mark = msgspec.structs.replace(first_bookmark(specs, None), theme=theme, text_scale=text_size)
    try:
        _draw(worker, mark, Path(output), moment, phase, size, scale)
    finally:
        worker.close()


def _prepare(scale: float) -> None:
    """Choose a platform without a screen where there is none, and the density of its pixels, before Qt starts."""
    if sys.platform.startswith("linux") and not (
        os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    ):
        os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    os.environ.setdefault("QT_SCALE_FACTOR", str(scale))
    os.environ.setdefault("QT_ENABLE_HIGHDPI_SCALING", "1")


def _draw(
    worker: Worker,
    mark: Bookmark,
    path: Path,
    moment: int | None,
    phase: int | None,
    size: Size,
    scale: float,
) -> None:
    from PySide6.QtCore import QEventLoop, Qt

    from ..tracer.cache import TraceCache
    from .folders import cache_folder
    from .jobs import Jobs
    from .main_window import MainWindow
    from .run import application
    from .stage import at_first_load, at_moment, at_phase

    made = application()
    window = MainWindow(Jobs(worker, TraceCache(cache_folder())))
    window.setAttribute(Qt.WidgetAttribute.WA_DontShowOnScreen)
    window.resize(*size)
    problems: list[str] = []
    window.stage.problem.connect(problems.append)
    loop = QEventLoop()
    window.stage.settled.connect(loop.quit)
    arrival = (
        at_moment(moment) if moment is not None else at_phase(phase) if phase is not None else at_first_load
    )
    if window.show_bookmark(mark, arrival) and not window.stage.is_settled():
        loop.exec()
    if problems:
        window.close()
        raise PictureError(problems[0])
    window.show()
    made.processEvents()
    window.resize(*size)
    made.processEvents()
    window.draw()
    write_png(picture_of(window, scale), path)
    window.close()
    window.deleteLater()
