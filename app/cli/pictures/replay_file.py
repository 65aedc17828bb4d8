"""`tilescope render … -o replay.html`: render scenarios, a trace file or a lecture as one page for any browser."""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from ....tracer.model.integers import parse_integer
from ....tracer.storage.atomic_write import write_atomically
from ...lectures.model.captions import fill_caption
from ...lectures.model.check import check_lecture
from ...lectures.model.document import Lecture, read_lecture
from ...lectures.model.library import lecture_file, lecture_name, shipped_lectures
from ...lectures.model.problems import LectureError
from ...lectures.model.scenes import scenes_of
from ...lectures.model.sessions import PATIENCE, Sessions
from ...lectures.model.time_anchors import TimeAnchorError
from ...model.first_bookmark import first_bookmark
from ...widgets.widget_picture import PictureError, prepare_qt
from ..common.arguments import UsageError, check_scenarios
from ..common.interrupts import deferred_interrupts
from .lecture_work import open_sessions, progress_text, show_progress_on_terminal

if TYPE_CHECKING:
    from ...replays.document import ReplayDocument


def write_replay_file(chosen: Namespace) -> None:
    """Write the page atomically.

    chosen: `what` (words: one or two scenarios, a trace file, or a lecture), `output`, the `text_size` of pictures, and
    optionally `begin` and `end` (places in time, or steps of a lecture) and `speed` (moments a second). The reader
    chooses the colours. Raises UsageError, PictureError, and errors of tracing.
    """
    _check_output(Path(chosen.output))
    if not names_lecture(chosen.what):
        check_scenarios(chosen.what)
    prepare_qt(1.0)
    from ...window.start import application

    application()
    try:
        page = _page(chosen)
    except (LectureError, TimeAnchorError) as error:
        raise UsageError(str(error)) from None
    finally:
        show_progress_on_terminal("")
    from ...replays.limits import check_bytes

    check_bytes(page, chosen.output)
    _write(Path(chosen.output), page)


def _page(chosen: Namespace) -> bytes:
    """Build the page; Ctrl+C stops between two moments."""
    from ...replays.limits import check_moments
    from ...replays.page import page_of

    lecture = names_lecture(chosen.what)
    with open_sessions(PATIENCE if lecture else None) as sessions:
        document = (_lecture_document if lecture else _launches_document)(chosen, sessions)
    check_moments(document, chosen.output)
    with deferred_interrupts() as check:

        def progress(done: int, total: int) -> None:
            check()
            if done % 50 == 0:
                show_progress_on_terminal(f"moment {done:,} of {total:,}")

        document.draw(progress)
        return page_of(document.written()).encode("utf-8")


def names_lecture(words: Sequence[str]) -> bool:
    """Check whether words name a lecture: a shipped one, or a Markdown file."""
    return len(words) == 1 and (words[0].endswith(".md") or words[0] in map(lecture_name, shipped_lectures()))


def _launches_document(chosen: Namespace, sessions: Sessions) -> ReplayDocument:
    """Build the document of scenarios or a trace file, before it is drawn."""
    from ...replays.launches import launches_document

    look = msgspec.structs.replace(first_bookmark(chosen.what, None), speed=vars(chosen).get("speed"))
    begin, end = (vars(chosen).get(name) for name in ("begin", "end"))
    shown = [sessions.session_of(setup) for setup in look.panes]
    return launches_document(look, shown, chosen.text_size, begin, end)


def _lecture_document(chosen: Namespace, sessions: Sessions) -> ReplayDocument:
    """Build the document of a lecture, before it is drawn."""
    from ...lectures.player.step_picture import ResolvedStep, panes_below, setups_below
    from ...replays.document import ReplayDocument
    from ...replays.frames import Form
    from ...replays.launches import PICTURE
    from ...replays.lecture_steps import add_lecture_step, trees_of

    path = lecture_file(chosen.what[0])
    lecture = read_lecture(path)
    numbers = _numbers(chosen, len(lecture.steps))
    _refuse_mistakes(lecture, path, sessions)
    document, scenes = ReplayDocument(lecture.title, Form(*PICTURE, chosen.text_size)), scenes_of(lecture)
    if numbers[0] == 0:
        document.introduction = trees_of(fill_caption(lecture.introduction, {}).html)
    for number in numbers:
        show_progress_on_terminal(progress_text(lecture, number))
        setups = setups_below(panes_below(scenes, number))
        step_sessions = [sessions.session_of(setup).prepared().with_findings() for setup in setups]
        standing = ResolvedStep(lecture, scenes, number, setups, step_sessions)
        with deferred_interrupts():  # a chart is painted in one go
            add_lecture_step(document, standing, vars(chosen).get("speed"))
    return document


def _numbers(chosen: Namespace, count: int) -> range:
    """Return the steps of --from and --to, counted from 0; raises UsageError for an unknown step."""
    words = [vars(chosen).get(name) for name in ("begin", "end")]
    first, last = (
        default if word is None else parse_integer(word.removeprefix("step "))
        for word, default in zip(words, (1, count), strict=True)
    )
    if not (first and last and 1 <= first <= last <= count):
        requested = " to ".join(word for word in words if word)
        raise UsageError(
            f"--from and --to of a lecture are steps from 1 to {count} in order, not {requested}."
        )
    return range(first - 1, last)


def _refuse_mistakes(lecture: Lecture, path: Path, sessions: Sessions) -> None:
    """Raise PictureError with the first mistake of a lecture, and the number of all."""
    problems = check_lecture(lecture, sessions.session_of)
    if problems:
        more = f" There are {len(problems)} mistakes: tilescope lecture --check lists them." * (
            len(problems) > 1
        )
        raise PictureError(f"{path}:{problems[0].line}: {problems[0].sentence}{more}")


def _check_output(path: Path) -> None:
    """Raise UsageError, before anything is traced, if the file can't be written."""
    if path.is_dir():
        raise UsageError(f"{path} is a folder; name a file in it.")
    if not path.parent.is_dir():
        raise UsageError(f"{path} cannot be written: there is no folder {path.parent}.")
    if not os.access(path.parent, os.W_OK):
        raise UsageError(f"{path} cannot be written: the folder {path.parent.absolute()} is read-only.")


def _write(path: Path, content: bytes) -> None:
    try:
        write_atomically(path, content)
    except OSError as error:
        raise PictureError(f"{path} could not be written: {error.strerror or error}.") from error
