"""`tilescope render … -o replay.html`: scenarios, a trace file or a lecture as one page that any browser opens."""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from ....tracer.model.whole_numbers import whole_number_of
from ....tracer.storage.atomic_write import write_atomically
from ...lecture.captions import fill
from ...lecture.check import check_lecture
from ...lecture.document import Lecture, read_lecture
from ...lecture.library import lecture_file, name_of, shipped
from ...lecture.places import PlaceError
from ...lecture.problems import LectureError
from ...lecture.scenes import scenes_of
from ...lecture.sessions import PATIENCE, Sessions
from ...model.first_bookmark import first_bookmark
from ...widgets.widget_picture import PictureError, prepare_qt
from ..common.arguments import UsageError, check_scenarios
from ..common.interrupts import interrupts_noted
from .handout import setups_below
from .lecture_work import lent_sessions, progress_text, show_if_read

if TYPE_CHECKING:
    from ...window.replay.document import ReplayDocument

# Logical pixels: what can be read on a phone, and is drawn larger where there is more room.
PICTURE = 420, 350


def write_replay_file(chosen: Namespace) -> None:
    """Write the page that is asked for, whole or not at all.

    chosen: `what` (words: one or two scenarios, a trace file, or a lecture), `output`, the `text_size` of pictures, and
    perhaps `begin` and `end` (places in time, or steps of a lecture) and `speed` (moments a second). Colours are the
    reader's. Raises UsageError, PictureError, and what tracing raises.
    """
    _check_output(Path(chosen.output))
    if not is_lecture(chosen.what):
        check_scenarios(chosen.what)
    prepare_qt(1.0)
    from ...window.start import application

    application()
    try:
        page = _page(chosen)
    except (LectureError, PlaceError) as error:
        raise UsageError(str(error)) from None
    finally:
        show_if_read("")
    from ...window.replay.limits import check_bytes

    check_bytes(page, chosen.output)
    _write(Path(chosen.output), page)


def _page(chosen: Namespace) -> bytes:
    """Return the page; while it is painted Ctrl+C ends it between two moments."""
    from ...window.replay.limits import check_moments
    from ...window.replay.page import page_of

    lecture = is_lecture(chosen.what)
    with lent_sessions(PATIENCE if lecture else None) as sessions:
        document = (_of_lecture if lecture else _of_launches)(chosen, sessions)
    check_moments(document, chosen.output)
    with interrupts_noted() as check:

        def progress(done: int, of: int) -> None:
            check()
            if done % 50 == 0:
                show_if_read(f"moment {done:,} of {of:,}")

        document.draw(progress)
        return page_of(document.written()).encode("utf-8")


def is_lecture(what: Sequence[str]) -> bool:
    """Return whether words name a lecture: a shipped one, or a Markdown file."""
    return len(what) == 1 and (what[0].endswith(".md") or what[0] in map(name_of, shipped()))


def _of_launches(chosen: Namespace, sessions: Sessions) -> ReplayDocument:
    """Return the document of scenarios or a trace file, before it is drawn."""
    from ...window.replay.document import ReplayDocument
    from ...window.replay.frames import Form
    from ...window.replay.limits import ALL
    from ...window.replay.showing import cut, first_showing

    mark = msgspec.structs.replace(first_bookmark(chosen.what, None), speed=vars(chosen).get("speed"))
    made = tuple(sessions.of(setup).prepared().examined() for setup in mark.panes)
    title = " and ".join(dict.fromkeys(session.title for session in made))
    document = ReplayDocument(title, Form(*PICTURE, chosen.text_size))
    begin, end = (vars(chosen).get(name) for name in ("begin", "end"))
    showing = cut(first_showing(mark.panes, made, mark), begin, end)
    document.add_step({"title": title}, showing, ALL)
    return document


def _of_lecture(chosen: Namespace, sessions: Sessions) -> ReplayDocument:
    """Return the document of a lecture, before it is drawn."""
    from ...window.lecture.step_picture import StandingStep, panes_below
    from ...window.replay.document import ReplayDocument
    from ...window.replay.frames import Form
    from ...window.replay.lecture_steps import add_lecture_step, trees_of

    path = lecture_file(chosen.what[0])
    lecture = read_lecture(path)
    numbers = _numbers(chosen, len(lecture.steps))
    _refuse_mistakes(lecture, path, sessions)
    document, scenes = ReplayDocument(lecture.title, Form(*PICTURE, chosen.text_size)), scenes_of(lecture)
    if numbers[0] == 0:
        document.introduction = trees_of(fill(lecture.introduction, {}).html)
    for number in numbers:
        show_if_read(progress_text(lecture, number))
        setups = setups_below(panes_below(scenes, number))
        found = [sessions.of(setup).prepared().examined() for setup in setups]
        standing = StandingStep(lecture, scenes, number, setups, found)
        with interrupts_noted():  # a chart is painted at once
            add_lecture_step(document, standing, vars(chosen).get("speed"))
    return document


def _numbers(chosen: Namespace, count: int) -> range:
    """Return the steps that are asked for, counted from 0; raises UsageError for one that is not there."""
    words = [vars(chosen).get(name) for name in ("begin", "end")]
    first, last = (
        usual if word is None else whole_number_of(word.removeprefix("step "))
        for word, usual in zip(words, (1, count), strict=True)
    )
    if not (first and last and 1 <= first <= last <= count):
        asked = " to ".join(word for word in words if word)
        raise UsageError(
            f"a lecture is taken from a step to a later one, 1 to {count} of this one, not {asked}."
        )
    return range(first - 1, last)


def _refuse_mistakes(lecture: Lecture, path: Path, sessions: Sessions) -> None:
    """Raise PictureError with the first mistake of a lecture, and say how many more there are."""
    found = check_lecture(lecture, sessions.of)
    if found:
        more = f" There are {len(found)} mistakes: tilescope lecture --check names all." * (len(found) > 1)
        raise PictureError(f"{path}:{found[0].line}: {found[0].sentence}{more}")


def _check_output(path: Path) -> None:
    """Raise UsageError where the file can't be written, before anything is traced."""
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
