"""`tilescope lecture FILE -o`: write a handout of a lecture, or a picture of each step, without a screen."""

from __future__ import annotations

import os
import re
from argparse import Namespace
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from ...lectures.model.document import Lecture
from ...lectures.model.scenes import scenes_of
from ...lectures.model.sessions import Sessions
from ...model.bookmark import Bookmark
from ...widgets.widget_picture import PictureError, prepare_qt, write_png
from ..common.arguments import Parser, UsageError, add_look
from ..common.interrupts import deferred_interrupts

if TYPE_CHECKING:
    from ...lectures.player.step_picture import ResolvedStep, StepPictures

Size = tuple[int, int]
Theme = Literal["light", "dark"]
Progress = Callable[[int], None]


def add_output(parser: Parser) -> None:
    """Add `output` and the options for its look."""
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE.pdf | FILE.ipynb | FOLDER",
        help="write a handout, a notebook that replays the launches, or a PNG file for each step",
    )
    parser.add_argument(
        "--paper",
        choices=("a4", "letter"),
        default="a4",
        type=str.lower,
        help="the paper size of a handout (a4)",
    )
    parser.add_argument("--notes", action="store_true", help="include the speaker's notes in a handout")
    parser.add_argument("--no-answers", action="store_true", help="leave the answers out of a handout")
    add_look(parser)


def is_handout(output: str) -> bool:
    """Check whether the output is a PDF, and not a folder of pictures.

    Raises UsageError for other kinds of files, and for paths that can't be written.
    """
    path = Path(output)
    if path.is_dir() or output.endswith(("/", os.sep)) or not path.suffix:
        _check_folder(path)
        return False
    if path.suffix.lower() != ".pdf":
        raise UsageError(
            f"{output} must end with .pdf or .ipynb, or name a folder for a picture of each step."
        )
    if not path.parent.is_dir():
        raise UsageError(f"{output} cannot be written: there is no folder {path.parent}.")
    if not os.access(path.parent, os.W_OK):
        raise UsageError(f"{output} cannot be written: the folder {path.parent.absolute()} is read-only.")
    return True


def _check_folder(path: Path) -> None:
    existing = next(folder for folder in (path, *path.absolute().parents) if folder.exists())
    if not existing.is_dir():
        raise UsageError(f"the folder {path} cannot be created: {existing} is a file.")
    if not os.access(existing, os.W_OK):
        raise UsageError(f"the folder {path} cannot be written: {existing.absolute()} is read-only.")


def write_output(
    lecture: Lecture, chosen: Namespace, sessions: Sessions, progress: Progress
) -> Iterator[Path]:
    """Write the output, and yield each file once it is complete; raises PictureError and UsageError.

    sessions: creates the sessions of the panes. progress: called with the number of each step before it is drawn.
    """
    as_pdf = is_handout(chosen.output)
    prepare_qt(1.0 if as_pdf else chosen.scale)
    with (
        deferred_interrupts() as check_interrupts,
        step_drawing(lecture, sessions, check_interrupts) as (stand, pictures),
    ):
        path = Path(chosen.output)
        if as_pdf:
            from ...lectures.player.handout import HandoutLook, write_handout

            look = HandoutLook(
                chosen.paper, chosen.theme, chosen.notes, chosen.text_size, answers=not chosen.no_answers
            )
            write_handout(lecture, stand, pictures, path, look, progress)
            yield path
        else:
            yield from _write_pictures(lecture, stand, pictures, path, chosen, progress)


@contextmanager
def step_drawing(
    lecture: Lecture, sessions: Sessions, check_interrupts: Callable[[], None]
) -> Iterator[tuple[Callable[[int], ResolvedStep], StepPictures]]:
    """Yield the function that positions a step, and the window that draws it; Ctrl+C stops between two steps."""
    from ...control.session_jobs import SessionJobs
    from ...lectures.player.step_picture import ResolvedStep, StepPictures, panes_below, setups_below
    from ...window.start import application, window_for_pictures

    application()
    pictures = StepPictures(SessionJobs(sessions.worker, sessions.cache), window_for_pictures)
    scenes = scenes_of(lecture)

    def stand(number: int) -> ResolvedStep:
        check_interrupts()
        setups = setups_below(panes_below(scenes, number))
        step_sessions = [sessions.session_of(setup).prepared().with_findings() for setup in setups]
        return ResolvedStep(lecture, scenes, number, setups, step_sessions)

    try:
        yield stand, pictures
    finally:
        pictures.close()


def _write_pictures(
    lecture: Lecture,
    stand: Callable[[int], ResolvedStep],
    pictures: StepPictures,
    folder: Path,
    chosen: Namespace,
    progress: Progress,
) -> Iterator[Path]:
    from PySide6.QtCore import QSize

    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise PictureError(f"The folder {folder} could not be created: {error.strerror or error}.") from error
    look = Bookmark((), theme=chosen.theme, text_scale=chosen.text_size)
    for number, step in enumerate(lecture.steps):
        progress(number)
        pictures.show(stand(number), look, QSize(*chosen.size))
        pictures.wait()
        path = folder / picture_name(number, step.title, len(lecture.steps))
        write_png(pictures.image(chosen.scale), path)
        yield path


def picture_name(number: int, title: str, count: int) -> str:
    """Return the file name of a step's picture: "03-how-often-is-a-read.png" for the third."""
    words = re.sub(r"[^\w]+", "-", title.lower()).strip("-_")[:60].rstrip("-_")
    return f"{number + 1:0{max(2, len(str(count)))}}-{words or 'step'}.png"
