"""The offscreen main window, for pictures of its content."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtCore import QEventLoop, Qt

from ...kernels.scenarios.catalogue import find
from ...tracer.model.launch import decode
from ...tracer.run.kept_traces import trace_cache
from ...tracer.run.worker_client import Worker
from ...tracer.storage.trace_file import TraceFileError, load
from ..control.session_jobs import SessionJobs
from ..control.start_moment import StartMoment
from ..model.bookmark import Bookmark
from ..widgets.widget_picture import PictureError
from .main_window import MainWindow
from .start import application


def offscreen_window(
    worker: Worker,
    mark: Bookmark,
    start: StartMoment | None,
    size: tuple[int, int],
    trusted: Iterable[tuple[str, str]] | None = None,
) -> MainWindow:
    """Create an offscreen window of `size` points that shows a bookmark, and wait until everything is loaded.

    start: its moment; None for the bookmark's. trusted: the kernels and texts that the user's window may run, which
    run without a time limit; None if the command line names everything.

    Call `prepare_qt` (`app/widgets/widget_picture.py`) before. Raises PictureError without a trace.
    """
    application()
    window = MainWindow(SessionJobs(worker, trace_cache()))
    window.central.transport.position.hint = ""
    window.central.charts.recorded.waits = False
    window.central.asks_compiler = False
    window.setAttribute(Qt.WidgetAttribute.WA_DontShowOnScreen)
    window.resize(*size)
    try:
        allowed = _texts_in(mark) if trusted is None else trusted
    except TraceFileError as error:
        window.close()
        raise PictureError(str(error)) from None
    for kernel, text in allowed:
        window.stage.trust_text(kernel, text)
    problems: list[str] = []
    window.stage.problem.connect(problems.append)
    if trusted is not None:
        window.stage.takes_long.connect(lambda pane, launch: window.stage.run_however_long(pane, launch))
    loop = QEventLoop()
    window.stage.settled.connect(loop.quit)
    if window.show_bookmark(mark, start) and not window.stage.is_settled():
        loop.exec()
    window.stage.jobs.became_idle.connect(loop.quit)
    while not window.stage.jobs.is_idle():
        loop.exec()
    window.central.spreads.wait()
    window.central.wait_for_compiler()
    window.central.measured.read_now()
    if problems:
        window.close()
        raise PictureError(problems[0])
    return window


def _texts_in(mark: Bookmark) -> list[tuple[str, str]]:
    """List the kernels and texts that a bookmark runs; raises TraceFileError."""
    texts = []
    for setup in mark.panes:
        if setup.file and (setup.rerun or setup.is_edited):
            launch = decode(load(setup.file, mapped=True).launch)
            texts += [(launch.kernel, launch.source), (launch.kernel, setup.source)]
        elif setup.source:
            texts.append((find(setup.scenario).kernel, setup.source))
    return texts
