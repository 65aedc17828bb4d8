"""`tilescope render`: render the window as a film, without a screen, at exact times."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from ....tracer.model.integers import parse_integer
from ....tracer.run.worker_client import Worker
from ...lectures.model.document import Lecture, read_lecture
from ...lectures.model.library import lecture_file, lecture_name, shipped_lectures
from ...lectures.model.problems import LectureError
from ...model.bookmark import Bookmark
from ...widgets.widget_picture import prepare_qt
from ..common.arguments import Parser, UsageError, add_look, check_panes, number_between, positive_integer
from ..common.interrupts import deferred_interrupts, immediate_interrupts
from ..common.text_output import is_stderr_a_terminal, print_error, print_escaped, show_progress
from .handout import step_drawing
from .lecture_programs import add_run_programs, launched
from .lecture_work import has_problems, open_sessions
from .picture_options import STEP_OPTIONS, add_picture_options, bookmark_of, room_of

if TYPE_CHECKING:
    from ...films.kinds import Kind
    from ...films.model.wanted import FilmOptions
    from ...films.recording import FilmEstimate, FilmRendering, Source

NO_PICTURES = ("playhead", "step", "ranges")  # options that apply only to a single picture


def add_arguments(parser: Parser) -> None:
    parser.description = (
        "Render scenarios, a trace file or a lecture as a film, without a screen, at exact times."
    )
    parser.add_argument(
        "what", nargs="+", metavar="SCENARIO [SCENARIO] | FILE.npz | LECTURE",
        help="as for tilescope snapshot, or tilescope lecture",
    )  # fmt: skip
    parser.add_argument(
        "-o", "--output", required=True, metavar="FILE",
        help="FILE.mp4, .webm, .gif or .webp, a folder for PNG files, or replay.html",
    )  # fmt: skip
    place = (
        'a moment of the last scenario: 24, "phase 2", "end of phase 2", "first load"; or a step of a lecture'
    )
    parser.add_argument("--from", dest="begin", metavar="PLACE", help=f"{place} (start)")
    parser.add_argument("--to", dest="end", metavar="PLACE", help="likewise (end)")
    parser.add_argument(
        "--fps", type=positive_integer, metavar="N", help="frames a second (30; 20 in a GIF or WebP)"
    )
    parser.add_argument(
        "--hold", type=number_between(0, 600), metavar="SECONDS",
        help="how long the end is shown (1), or each step of a lecture (its reading time)",
    )  # fmt: skip
    parser.add_argument(
        "--part",
        choices=("window", "memory"),
        default="window",
        help="the window, or only the memory pictures",
    )
    parser.add_argument(
        "--captions", action="store_true", help="show the captions of a lecture above the pictures"
    )
    parser.add_argument(
        "--long", action="store_true", help="render even if it takes over 10 minutes or 500 MB"
    )
    add_run_programs(parser)
    add_look(parser)
    add_picture_options(parser)


def execute(chosen: Namespace) -> int:
    """Render the film and print its name, after an estimate of its length and size."""
    if chosen.output.lower().endswith(".html"):
        from .replay_file import write_replay_file

        _refuse_film_options(chosen)
        write_replay_file(chosen)
        print_escaped(chosen.output)
        return 0
    lecture = _lecture(chosen.what)
    _check_options(chosen, is_lecture=lecture is not None)
    if lecture is None:
        check_panes(chosen.what)
    from ...films.files import check_output
    from ...films.kinds import check_size, kind_of
    from ...films.recording import FilmRendering

    kind, path = kind_of(chosen.output), Path(chosen.output)
    check_output(kind, path)
    check_size(kind, chosen.size, chosen.scale)
    rate = _rate(kind, chosen.fps)
    with ExitStack() as stack:
        with immediate_interrupts():
            source_context = _scenarios(chosen, rate) if lecture is None else _steps(lecture, chosen, rate)
            source = stack.enter_context(source_context)
            if source is None:
                return 1
            recording = FilmRendering(source, kind, rate, chosen.theme)
            _announce(recording.estimate, chosen)
        _write(recording, path)
    print_escaped(chosen.output)
    return 0


OF_FILMS = ("fps", "hold", "captions", "long", "select", "edit", "columns", "rows", "ranges", "bar")


def _refuse_film_options(chosen: Namespace) -> None:
    """Raise UsageError for film options: a replay contains everything, and its reader chooses."""
    names = (*OF_FILMS, *NO_PICTURES, *(name for name in STEP_OPTIONS if name != "speed"))
    given = [name for name in names if getattr(chosen, name)] + ["part"] * (chosen.part != "window")
    if given:
        raise UsageError(f"--{given[0]} is for films; a replay contains everything, and its reader chooses.")


def _check_options(chosen: Namespace, *, is_lecture: bool) -> None:
    """Raise UsageError for picture options that this film does not support."""
    own = [name for name in STEP_OPTIONS if name != "speed" or chosen.speed == "auto"]
    for name in (*NO_PICTURES, *(("select", "edit", *own) if is_lecture else ())):
        if getattr(chosen, name):
            reason = "it applies to a single picture" if name in NO_PICTURES else "its steps decide"
            raise UsageError(f"--{name} can't be used here: {reason}.")


def _lecture(words: list[str]) -> Path | None:
    """Find the file of a named lecture; raises UsageError if it is missing."""
    if len(words) > 1 or not (words[0].endswith(".md") or words[0] in map(lecture_name, shipped_lectures())):
        return None
    try:
        return lecture_file(words[0])
    except LectureError as error:
        raise UsageError(str(error)) from None


def _rate(kind: Kind, wanted: int | None) -> Fraction:
    """Return the frames a second, and report if a GIF needs another rate."""
    from ...films.kinds import FASTEST, rate_for

    if wanted is not None and wanted > FASTEST:
        raise UsageError(f"--fps must be {FASTEST} at most, not {wanted}.")
    rate = rate_for(kind, wanted)
    if wanted not in (None, rate):
        print_error(
            f"a GIF counts in hundredths of a second: {float(rate):.4g} frames a second instead of {wanted}."
        )
    return rate


@contextmanager
def _scenarios(chosen: Namespace, rate: Fraction) -> Iterator[Source]:
    """Yield the source that draws scenarios or a trace file."""
    worker = Worker()
    worker.start()
    prepare_qt(chosen.scale)
    from ...control.start_moment import at_first_load
    from ...films.frames import WindowFrames, film_of
    from ...window.offscreen_window import offscreen_window
    from ...window.room import apply_room

    chosen.scenario = chosen.what
    mark, wanted = bookmark_of(chosen), _wanted(chosen)
    try:
        window = offscreen_window(worker, mark, at_first_load, wanted.size)
        film = film_of(window.stage, wanted, rate)
        yield WindowFrames(window, film, wanted, partial(apply_room, window.central, room_of(chosen)))
        window.close()
    finally:
        worker.close()


def _wanted(chosen: Namespace) -> FilmOptions:
    from ...films.model.wanted import HOLD, FilmOptions

    return FilmOptions(
        begin=chosen.begin or "start", end=chosen.end or "end", hold=HOLD if chosen.hold is None else chosen.hold,
        rate=chosen.fps, size=chosen.size, scale=chosen.scale, theme=chosen.theme, text_size=chosen.text_size,
        part=chosen.part,
    )  # fmt: skip


@contextmanager
def _steps(path: Path, chosen: Namespace, rate: Fraction) -> Iterator[Source | None]:
    """Yield the source that draws a lecture; None if it has mistakes, which are printed."""
    with launched(read_lecture(path), chosen) as lecture, open_sessions() as sessions:
        numbers = _numbers(lecture, chosen)
        if has_problems(lecture, path, sessions):
            yield None
            return
        prepare_qt(chosen.scale)
        from ...films.lecture_frames import LectureFrames, shots_of
        from ...films.model.film import Film

        with step_drawing(lecture, sessions, lambda: None) as (stand, pictures):
            if chosen.part == "memory":
                pictures.show_pictures_only()
            shots = shots_of(stand, numbers, rate, chosen.speed, chosen.hold, chosen.captions)
            look = Bookmark((), theme=chosen.theme, text_scale=chosen.text_size)
            size = chosen.size, chosen.scale
            yield LectureFrames(stand, pictures, Film(list(shots), rate), look, *size, chosen.captions)


def _numbers(lecture: Lecture, chosen: Namespace) -> range:
    """Return the rendered steps, counted from 0; raises UsageError for an unknown step."""
    count = len(lecture.steps)
    first, last = (
        _number(text, default, count) for text, default in ((chosen.begin, 1), (chosen.end, count))
    )
    if first > last:
        raise UsageError(f"step {last} comes before step {first}; swap --from and --to.")
    return range(first - 1, last)


def _number(text: str | None, default: int, count: int) -> int:
    number = default if text is None else parse_integer(text.removeprefix("step "))
    if number is None or not 1 <= number <= count:
        raise UsageError(f"--from and --to of a lecture are steps from 1 to {count}, not {text!r}.")
    return number


def _announce(outlook: FilmEstimate, chosen: Namespace) -> None:
    """Print the estimate; raises UsageError for a long or large film without --long."""
    if outlook.is_long and not chosen.long:
        raise UsageError(f"{chosen.output} would be {outlook.text()}; render less, or use --long.")
    print_error(outlook.text())
    if outlook.size != outlook.drawn:
        width, height = outlook.drawn
        print_error(
            f"a video has even sides, so the last column or row of {width} x {height} pixels is repeated."
        )


def _write(recording: FilmRendering, path: Path) -> None:
    """Write the file, and show the progress on a terminal; Ctrl+C leaves no file."""
    count, is_shown = recording.source.film.frames, is_stderr_a_terminal()
    with deferred_interrupts() as check_interrupts, closing(recording.write(path)) as written:
        try:
            for done in written:
                check_interrupts()
                if is_shown:
                    show_progress(f"frame {done:,} of {count:,}")
        finally:
            if is_shown:
                show_progress("")
