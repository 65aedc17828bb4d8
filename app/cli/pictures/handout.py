"""`tilescope lecture FILE -o`: a lecture on paper, or a picture of each step, drawn without a screen."""

from __future__ import annotations

import os
import re
from argparse import Namespace
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from ...lecture.changes import Pane
from ...lecture.document import Lecture
from ...lecture.scenes import scenes_of
from ...lecture.sessions import Sessions
from ...model.bookmark import Bookmark, Setup
from ...model.first_bookmark import first_bookmark
from ...widgets.widget_picture import PictureError, prepare_qt, write_png
from ..common.arguments import Parser, UsageError, add_look
from ..common.interrupts import interrupts_noted

if TYPE_CHECKING:
    from ...window.lecture.step_picture import StandingStep, StepPictures

Size = tuple[int, int]
Theme = Literal["light", "dark"]
Progress = Callable[[int], None]


def add_output(parser: Parser) -> None:
    """Add `output` and how it looks."""
    parser.add_argument(
        "-o", "--output", metavar="FILE.pdf | FOLDER", help="write a handout, or a PNG file of each step"
    )
    parser.add_argument(
        "--paper", choices=("a4", "letter"), default="a4", type=str.lower, help="of a handout (a4)"
    )
    parser.add_argument("--notes", action="store_true", help="with the speaker's notes in a handout")
    add_look(parser)


def is_handout(output: str) -> bool:
    """Return whether a PDF is asked for, and not a folder of pictures.

    Raises UsageError for a file of another kind, and for what can't be written where it is.
    """
    path = Path(output)
    if path.is_dir() or output.endswith(("/", os.sep)) or not path.suffix:
        _check_folder(path)
        return False
    if path.suffix.lower() != ".pdf":
        raise UsageError(f"{output} must end with .pdf, or name a folder for a picture of each step.")
    if not path.parent.is_dir():
        raise UsageError(f"{output} cannot be written: there is no folder {path.parent}.")
    if not os.access(path.parent, os.W_OK):
        raise UsageError(f"{output} cannot be written: the folder {path.parent.absolute()} is read-only.")
    return True


def _check_folder(path: Path) -> None:
    there = next(folder for folder in (path, *path.absolute().parents) if folder.exists())
    if not there.is_dir():
        raise UsageError(f"the folder {path} cannot be made: {there} is a file.")
    if not os.access(there, os.W_OK):
        raise UsageError(f"the folder {path} cannot be written: {there.absolute()} is read-only.")


def write_output(
    lecture: Lecture, chosen: Namespace, sessions: Sessions, progress: Progress
) -> Iterator[Path]:
    """Write what is asked for, and yield each file once it is there; raises PictureError and UsageError.

    sessions: makes those of the panes. progress: called with the number of each step before it is drawn.
    """
    as_pdf = is_handout(chosen.output)
    prepare_qt(1.0 if as_pdf else chosen.scale)
    with interrupts_noted() as check_interrupts, drawing(lecture, sessions, check_interrupts) as made:
        stand, pictures = made
        path = Path(chosen.output)
        if as_pdf:
            from ...window.lecture.handout import HandoutLook, write_handout

            look = HandoutLook(chosen.paper, chosen.theme, chosen.notes, chosen.text_size)
            write_handout(lecture, stand, pictures, path, look, progress)
            yield path
        else:
            yield from _write_pictures(lecture, stand, pictures, path, chosen, progress)


@contextmanager
def drawing(
    lecture: Lecture, sessions: Sessions, check_interrupts: Callable[[], None]
) -> Iterator[tuple[Callable[[int], StandingStep], StepPictures]]:
    """Lend what makes steps stand, and the window that draws them; Ctrl+C ends it between two steps."""
    from ...control.session_jobs import SessionJobs
    from ...window.lecture.step_picture import StandingStep, StepPictures, panes_below
    from ...window.start import application, window_for_pictures

    application()
    pictures = StepPictures(SessionJobs(sessions.worker, sessions.cache), window_for_pictures)
    scenes = scenes_of(lecture)

    def stand(number: int) -> StandingStep:
        check_interrupts()
        setups = setups_below(panes_below(scenes, number))
        found = [sessions.of(setup).prepared().examined() for setup in setups]
        return StandingStep(lecture, scenes, number, setups, found)

    try:
        yield stand, pictures
    finally:
        pictures.close()


def setups_below(panes: tuple[Pane, ...]) -> tuple[Setup, ...]:
    """Return what panes run: nothing where one needs consent, and what the window opens with for no panes."""
    setups = tuple(pane for pane in panes if isinstance(pane, Setup))
    return () if len(setups) < len(panes) else setups or first_bookmark((), None).panes


def _write_pictures(
    lecture: Lecture,
    stand: Callable[[int], StandingStep],
    pictures: StepPictures,
    folder: Path,
    chosen: Namespace,
    progress: Progress,
) -> Iterator[Path]:
    from PySide6.QtCore import QSize

    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise PictureError(f"The folder {folder} could not be made: {error.strerror or error}.") from error
    look = Bookmark((), theme=chosen.theme, text_scale=chosen.text_size)
    for number, step in enumerate(lecture.steps):
        progress(number)
        pictures.show(stand(number), look, QSize(*chosen.size))
        pictures.wait()
        path = folder / picture_name(number, step.title, len(lecture.steps))
        write_png(pictures.image(chosen.scale), path)
        yield path


def picture_name(number: int, title: str, count: int) -> str:
    """Return what the picture of a step is called: "03-how-often-is-a-read.png" of the third."""
    words = re.sub(r"[^\w]+", "-", title.lower()).strip("-_")[:60].rstrip("-_")
    return f"{number + 1:0{max(2, len(str(count)))}}-{words or 'step'}.png"
