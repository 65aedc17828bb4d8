"""`tilescope snapshot`: draw the window as a picture, without a screen."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import msgspec

from ....tracer.model.finding import count_noun
from ....tracer.run.worker_client import Worker
from ...lectures.model.scenes import scenes_of
from ...lectures.model.time_anchors import TimeAnchorError
from ...model.bookmark import Bookmark, Room
from ...model.first_bookmark import first_bookmark
from ...state.actions import HideVerdicts
from ...widgets.vector_files import VIEWS, PictureParts, is_vector_file
from ...widgets.widget_picture import PictureError, check_pixels, picture_of, prepare_qt, write_png
from ..common.arguments import Parser, UsageError, add_look, add_scenarios, check_panes, non_negative_integer
from ..common.interrupts import immediate_interrupts
from ..common.text_output import print_error, print_escaped
from .picture_options import DisplayedStep, add_picture_options, bookmark_of, room_of, step_of

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
        help="the picture to write; FILE.svg and FILE.pdf contain only the views, as vectors",
    )  # fmt: skip
    parser.add_argument(
        "--view",
        choices=VIEWS,
        help="the views in an SVG or a PDF: memory pictures and timelines (all), or one kind of view",
    )
    when = parser.add_mutually_exclusive_group()  # or --playhead
    when.add_argument(
        "--moment",
        type=non_negative_integer,
        metavar="N",
        help="the moment of the last scenario, at most its end",
    )
    when.add_argument(
        "--phase",
        type=non_negative_integer,
        metavar="N",
        help="the phase of the last scenario, counted from 0",
    )
    add_look(parser)
    add_picture_options(parser)


def execute(chosen: Namespace) -> int:
    """Write the picture and print its name; Ctrl+C ends the process."""
    with immediate_interrupts():
        _execute(chosen)
    print_escaped(chosen.output)
    return 0


def _execute(chosen: Namespace) -> None:
    check_panes(chosen.scenario)
    if chosen.view and not is_vector_file(chosen.output):
        raise UsageError(
            "--view needs a picture that ends with .svg or .pdf; others show the complete window."
        )
    view: PictureParts = chosen.view or "all"
    room, step = room_of(chosen), step_of(chosen)
    start = _start(chosen.moment, chosen.phase)
    if start is not None and chosen.moment is not None:
        start = _with_notice(start, chosen.moment)
    write_picture(bookmark_of(chosen), chosen.output, start, chosen.size, chosen.scale, room, step, view)


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
    """Draw the window on these scenarios as a PNG file of `size` points with `scale` pixels each.

    A name that ends with .svg or .pdf gets only the views, as vectors; view: selects them.

    moment, phase: of the last scenario, at most its end; for a phase its middle is shown; the default is the first
    load. Raises CatalogueError for scenarios that can't be launched, and PictureError if there is no trace or the file
    can't be written.
    """
    mark = msgspec.structs.replace(first_bookmark(specs, None), theme=theme, text_scale=text_size)
    write_picture(mark, output, _start(moment, phase), size, scale, view=view)


def _start(moment: int | None, phase: int | None) -> StartMoment | None:
    """Return the start moment of the picture, None for that of its bookmark."""
    from ...control.start_moment import at_moment, at_phase

    return at_moment(moment) if moment is not None else at_phase(phase) if phase is not None else None


def _with_notice(start: StartMoment, moment: int) -> StartMoment:
    """Wrap a start, to report if the last pane ends before that moment."""
    ends: list[int] = []

    def start_with_notice(panes: Panes) -> float:
        end = panes.ends()[-1]  # 0 until the last pane has its session
        if end and moment > end and not ends:
            ends.append(end)
            print_error(
                f"there is no moment {moment:,}; the picture shows the end of the launch, moment {end:,}."
            )
        return start(panes)

    return start_with_notice


def write_picture(
    mark: Bookmark,
    output: str | Path,
    start: StartMoment | None,
    size: Size,
    scale: float,
    room: Room = ORDINARY,
    step: DisplayedStep | None = None,
    view: PictureParts = "all",
) -> None:
    """Draw the window on a bookmark as a PNG file, or its views as vectors; raises as `snapshot` does.

    step: its caption appears above the pictures.
    """
    if is_vector_file(output) and mark.side == "auto":
        mark = msgspec.structs.replace(mark, side="hidden")  # only the pictures are drawn
    check_pixels(size, scale)
    worker = Worker()
    worker.start()
    prepare_qt(scale)
    from ...window.offscreen_window import offscreen_window

    try:
        window = offscreen_window(worker, mark, start, size)
        if step is not None:
            _caption(window, step)
        _draw(window, Path(output), size, scale, room, view)
    finally:
        worker.close()


def _caption(window: MainWindow, step: DisplayedStep) -> None:
    """Show a step's caption, with the numbers of the window's sessions."""
    from ...lectures.player.step_picture import ResolvedStep, show_step_text

    scenes = scenes_of(step.lecture)
    sessions = [session.with_findings() for session in window.stage.sessions if session is not None]
    shown = len(scenes[step.number].panes)
    if len(sessions) != shown:
        kernels = count_noun(shown, "kernel")
        raise PictureError(
            f"Step {step.number + 1} shows {kernels}; name as many scenarios, not {len(sessions)}."
        )
    try:
        standing = ResolvedStep(step.lecture, scenes, step.number, window.stage.setups, sessions)
    except TimeAnchorError as error:
        raise PictureError(f"Step {step.number + 1} has no valid place here: {error}") from None
    show_step_text(window.central.caption, standing, is_open=step.is_open, chosen=step.chosen)
    window.store.dispatch(HideVerdicts(step.is_open))
    window.draw()


def _draw(window: MainWindow, path: Path, size: Size, scale: float, room: Room, view: PictureParts) -> None:
    """Draw a window, or its views, at this size, even if its parts need more, and close it."""
    from PySide6.QtWidgets import QApplication

    from ...window.room import apply_room
    from ...window.vector_picture import write_vector_picture

    window.setFixedSize(*size)
    window.show()
    QApplication.processEvents()
    apply_room(window.central, room)
    QApplication.processEvents()
    window.draw()
    QApplication.processEvents()  # texts of this moment may need more room
    try:
        if is_vector_file(path):
            write_vector_picture(window.central, view, path)
        else:
            write_png(picture_of(window, scale), path)
    finally:
        window.close()
        window.deleteLater()
