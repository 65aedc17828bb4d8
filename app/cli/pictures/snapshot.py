"""`tilescope snapshot`: the window as a picture, drawn without a screen."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import msgspec

from ....tracer.run.worker_client import Worker
from ...lecture.places import PlaceError
from ...lecture.scenes import scenes_of
from ...model.bookmark import Bookmark, Room
from ...model.first_bookmark import first_bookmark
from ...widgets.vector_picture import VIEWS, PictureParts, is_vector_file
from ...widgets.widget_picture import PictureError, check_pixels, picture_of, prepare_qt, write_png
from ..common.arguments import Parser, UsageError, add_look, add_scenarios, check_panes, whole_number
from ..common.text_output import complain, say
from .picture_options import ShownStep, add_picture_options, bookmark_of, room_of, step_of

if TYPE_CHECKING:
    from ...control.start_moment import Panes, StartMoment
    from ...window.main_window import MainWindow

Size = tuple[int, int]
ORDINARY = Room()


def add_arguments(parser: Parser) -> None:
    parser.description = "Draw the window as a picture, without a screen."
    add_scenarios(parser, "+")
    parser.add_argument(
        "-o", "--output", required=True, metavar="FILE.png",
        help="the picture to write; FILE.svg and FILE.pdf hold the views alone, as vectors",
    )  # fmt: skip
    parser.add_argument(
        "--view",
        choices=VIEWS,
        help="of an SVG or a PDF: memory pictures and timelines (all), or one kind of view",
    )
    when = parser.add_mutually_exclusive_group()  # or --playhead
    when.add_argument(
        "--moment", type=whole_number, metavar="N", help="of the last scenario; beyond the end is the end"
    )
    when.add_argument("--phase", type=whole_number, metavar="N", help="of the last scenario, counted from 0")
    add_look(parser)
    add_picture_options(parser)


def execute(chosen: Namespace) -> int:
    """Write the picture and print its name."""
    check_panes(chosen.scenario)
    if chosen.view and not is_vector_file(chosen.output):
        raise UsageError(
            "--view goes with a picture that ends with .svg or .pdf; others show the whole window."
        )
    view: PictureParts = chosen.view or "all"
    room, step = room_of(chosen), step_of(chosen)
    start = _start(chosen.moment, chosen.phase)
    if start is not None and chosen.moment is not None:
        start = _saying_where(start, chosen.moment)
    write_picture(bookmark_of(chosen), chosen.output, start, chosen.size, chosen.scale, room, step, view)
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
    view: PictureParts = "all",
) -> None:
    """Write the window on these scenarios as a PNG file of `size` points with `scale` pixels each.

    A name that ends with .svg or .pdf gets the views alone, as vectors; view: which of them.

    moment, phase: the last scenario's; of a phase the middle is shown; beyond the end is the end; with
    neither it is the first load. Raises CatalogueError for scenarios that cannot be launched, and
    PictureError where there is no trace or the file cannot be written.
    """
    mark = msgspec.structs.replace(first_bookmark(specs, None), theme=theme, text_scale=text_size)
    write_picture(mark, output, _start(moment, phase), size, scale, view=view)


def _start(moment: int | None, phase: int | None) -> StartMoment | None:
    """Return where the picture stands, None for where its bookmark does."""
    from ...control.start_moment import at_moment, at_phase

    return at_moment(moment) if moment is not None else at_phase(phase) if phase is not None else None


def _saying_where(start: StartMoment, moment: int) -> StartMoment:
    """Return the same start, which says so where the last pane ends before that moment."""
    ends: list[int] = []

    def said(panes: Panes) -> float:
        end = panes.ends()[-1]
        if moment > end and not ends:
            ends.append(end)
            complain(f"there is no moment {moment:,}: the launch ends at moment {end:,}, which is drawn.")
        return start(panes)

    return said


def write_picture(
    mark: Bookmark,
    output: str | Path,
    start: StartMoment | None,
    size: Size,
    scale: float,
    room: Room = ORDINARY,
    step: ShownStep | None = None,
    view: PictureParts = "all",
) -> None:
    """Write the window on a bookmark as a PNG file, or views of it as vectors; raises as `snapshot` does.

    step: whose caption stands above the pictures.
    """
    if is_vector_file(output) and mark.side == "auto":
        mark = msgspec.structs.replace(mark, side="hidden")  # the room is the pictures'
    check_pixels(size, scale)
    worker = Worker()
    worker.start()
    prepare_qt(scale)
    from ...window.unseen import unseen_window

    try:
        window = unseen_window(worker, mark, start, size)
        if step is not None:
            _caption(window, step)
        _draw(window, Path(output), size, scale, room, view)
    finally:
        worker.close()


def _caption(window: MainWindow, step: ShownStep) -> None:
    """Show what a step says, with the numbers of the sessions that the window shows."""
    from ...window.lecture.step_picture import StandingStep, show_step_text

    scenes = scenes_of(step.lecture)
    sessions = [session.examined() for session in window.stage.sessions if session is not None]
    try:
        standing = StandingStep(step.lecture, scenes, step.number, window.stage.setups, sessions)
    except PlaceError as error:
        raise PictureError(f"Step {step.number + 1} can't stand here: {error}") from None
    show_step_text(window.central.caption, standing, is_open=step.is_open, chosen=step.chosen)
    window.central.keep_verdicts(step.is_open)


def _draw(window: MainWindow, path: Path, size: Size, scale: float, room: Room, view: PictureParts) -> None:
    """Draw a window, or views of it, at this size, even where its parts ask for more, and close it."""
    from PySide6.QtWidgets import QApplication

    from ...window.room import take_room
    from ...window.vector_picture import write_vector_picture

    window.setFixedSize(*size)
    window.show()
    QApplication.processEvents()
    take_room(window.central, room)
    QApplication.processEvents()
    window.draw()
    QApplication.processEvents()  # texts of this moment may need other room than those before
    try:
        if is_vector_file(path):
            write_vector_picture(window.central, view, path)
        else:
            write_png(picture_of(window, scale), path)
    finally:
        window.close()
        window.deleteLater()
