"""`tilescope snapshot`: the window as a picture, drawn without a screen."""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import msgspec

from ...tracer.run.worker_client import Worker
from ..model.bookmark import Bookmark
from ..widgets.widget_picture import PictureError, draw_without_screen, picture_of, write_png
from .common.arguments import Parser, add_look, add_scenarios, check_scenarios, whole_number
from .common.text_output import say

if TYPE_CHECKING:
    from ..control.start_moment import StartMoment
    from ..model.bookmark import Bookmark
    from ..window.main_window import MainWindow

Size = tuple[int, int]


def add_arguments(parser: Parser) -> None:
    parser.description = "Draw the window as a picture, without a screen."
    add_scenarios(parser, "+")
    parser.add_argument("-o", "--output", required=True, metavar="FILE.png", help="the picture to write")
    when = parser.add_mutually_exclusive_group()
    when.add_argument(
        "--moment", type=whole_number, metavar="N", help="of the last scenario; beyond the end is the end"
    )
    when.add_argument("--phase", type=whole_number, metavar="N", help="of the last scenario, counted from 0")
    add_look(parser)


def execute(chosen: Namespace) -> int:
    """Write the picture and print its name."""
    check_scenarios(chosen.scenario)
    look = (chosen.theme, chosen.size, chosen.scale, chosen.text_size)
    snapshot(chosen.scenario, chosen.output, chosen.moment, chosen.phase, *look)
    say(chosen.output)
    return 0


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
    prepare_qt(scale)
    from ..control.start_moment import at_first_load, at_moment, at_phase
    from ..model.first_bookmark import first_bookmark

    mark = msgspec.structs.replace(first_bookmark(specs, None), theme=theme, text_scale=text_size)
    start = (
        at_moment(moment) if moment is not None else at_phase(phase) if phase is not None else at_first_load
    )
    try:
        _draw(_window(worker, mark, start, size), Path(output), size, scale)
    finally:
        worker.close()


def prepare_qt(scale: float) -> None:
    """Before Qt starts, choose the density of its pixels, and where there is no screen a platform without one."""
    from PySide6.QtCore import QCoreApplication

    if QCoreApplication.instance() is not None:
        return
    draw_without_screen()
    os.environ["QT_SCALE_FACTOR"] = str(scale)


def _window(worker: Worker, mark: Bookmark, start: StartMoment, size: Size) -> MainWindow:
    """Return a window that shows a bookmark, with its traces there; raises PictureError where there is none."""
    from PySide6.QtCore import QEventLoop, Qt

    from ...tracer.storage.folders import cache_folder
    from ...tracer.storage.trace_cache import TraceCache
    from ..control.session_jobs import SessionJobs
    from ..window.main_window import MainWindow
    from ..window.start import application

    application()
    window = MainWindow(SessionJobs(worker, TraceCache(cache_folder())))
    window.central.transport.position.hint = ""
    window.setAttribute(Qt.WidgetAttribute.WA_DontShowOnScreen)
    window.resize(*size)
    problems: list[str] = []
    window.stage.problem.connect(problems.append)
    loop = QEventLoop()
    window.stage.settled.connect(loop.quit)
    if window.show_bookmark(mark, start) and not window.stage.is_settled():
        loop.exec()
    window.stage.jobs.became_idle.connect(loop.quit)
    while not window.stage.jobs.is_idle():
        loop.exec()
    window.central.spreads.ended.connect(loop.quit)
    while not window.central.spreads.is_idle():
        loop.exec()
    window.central.measured.read_now()
    if problems:
        window.close()
        raise PictureError(problems[0])
    return window


def _draw(window: MainWindow, path: Path, size: Size, scale: float) -> None:
    """Draw a window at this size, even where its parts ask for more, and close it."""
    from PySide6.QtWidgets import QApplication

    window.setFixedSize(*size)
    window.show()
    QApplication.processEvents()
    window.draw()
    try:
        write_png(picture_of(window, scale), path)
    finally:
        window.close()
        window.deleteLater()
