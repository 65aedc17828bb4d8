"""`tilescope lecture`: list the shipped lectures, present or check one, or write it as a handout or a notebook."""

from __future__ import annotations

from argparse import ArgumentTypeError, Namespace
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from ...tracer.model.finding import count_noun
from ...tracer.model.integers import parse_integer
from ..lectures.model.document import Lecture, read_lecture
from ..lectures.model.library import lecture_file, lecture_name, lecture_title, shipped_lectures
from ..lectures.model.problems import LectureError
from ..lectures.model.program_panes import runs_program
from ..lectures.model.scenes import scenes_of
from ..model.notebook_file import SUFFIX
from ..model.nothing import nothing
from .common.arguments import Parser, UsageError, positive_integer
from .common.interrupts import immediate_interrupts
from .common.new_notebook import check_new_file, write_new_notebook
from .common.text_output import align_columns, print_escaped
from .pictures.handout import add_output, is_handout, write_output
from .pictures.lecture_programs import add_run_programs, launched
from .pictures.lecture_work import has_problems, open_sessions, progress_text, show_progress_on_terminal

if TYPE_CHECKING:
    from ..lectures.player.lectures import Lectures

MOST_STUDENTS = 500


def add_arguments(parser: Parser) -> None:
    parser.description = (
        "Present a lecture: a Markdown file as described on the page Write a lecture of the documentation. "
        "Without a name, list the included ones."
    )
    parser.add_argument("lecture", nargs="?", metavar="NAME | FILE.md", help="a shipped lecture, or a file")
    parser.add_argument("--check", action="store_true", help="print every mistake in it")
    add_run_programs(parser)
    add_output(parser)
    hall = parser.add_argument_group(
        "in a lecture hall", "Phones in the same network follow the steps and vote on the questions."
    )
    hall.add_argument(
        "--hall", action="store_true", help="serve the lecture; the first step shows the address"
    )
    hall.add_argument("--port", type=port_number, help="the port of the server (one from 8765 on)")
    hall.add_argument("--address", default="", help="this computer's address, if it is in several networks")
    hall.add_argument("--results", type=Path, metavar="FILE.csv", help="write the votes to a file")
    hall.add_argument(
        "--rehearse",
        type=positive_integer,
        default=0,
        metavar="N",
        help="simulate N students on this computer",
    )


def port_number(text: str) -> int:
    """Parse a port."""
    number = parse_integer(text)
    if number is None or not 1024 <= number <= 65535:
        raise ArgumentTypeError(f"a port is a number from 1024 to 65535, not {text}.")
    return number


def execute(chosen: Namespace) -> int:
    """List, check or present; raises UsageError for a missing lecture."""
    if chosen.lecture is None:
        if chosen.hall:
            raise UsageError("name a lecture for the hall: tilescope lecture NAME --hall.")
        if chosen.check or chosen.output:
            raise UsageError(f"name a lecture{' to check: tilescope lecture --check FILE' * chosen.check}.")
        print_escaped("\n".join(lecture_rows()))
        return 0
    check_hall(chosen)
    try:
        path = lecture_file(chosen.lecture)
        return (
            write(path, chosen)
            if chosen.output
            else check(path, chosen)
            if chosen.check
            else present(path, chosen)
        )
    except LectureError as error:
        raise UsageError(str(error)) from None


def lecture_rows() -> list[str]:
    """Return a line for each shipped lecture: its name and title."""
    return align_columns(
        [[lecture_name(path), lecture_title(path)] for path in shipped_lectures()], "<", widths=(24,), gap=" "
    )


def check_hall(chosen: Namespace) -> None:
    """Raise UsageError for options that do not go together, or a file of results that exists."""
    if chosen.hall and (chosen.output or chosen.check):
        raise UsageError("--hall presents the lecture; leave out --check and --output.")
    if not chosen.hall and (chosen.port or chosen.address or chosen.results or chosen.rehearse):
        raise UsageError("--port, --address, --results and --rehearse need --hall.")
    if chosen.rehearse > MOST_STUDENTS:
        raise UsageError(f"--rehearse simulates at most {MOST_STUDENTS} students.")
    if chosen.results is not None:
        check_new_file(chosen.results)


@immediate_interrupts()
def present(path: Path, chosen: Namespace) -> int:
    """Show a lecture in the window; raises LectureError if it can't be read at all."""
    from .open_window import show_lecture

    lecture = read_lecture(path)

    def follow(lectures: Lectures) -> Callable[[], None]:
        if chosen.run_programs:
            lectures.player.programs.agree_to_all(lecture)
        if not chosen.hall:
            return nothing
        from ..hall.hall import Hall, HallOptions  # after the window

        options = HallOptions(chosen.port, chosen.address, chosen.results, chosen.rehearse)
        return Hall(lectures, options).close

    return show_lecture(path, follow)


def check(path: Path, chosen: Namespace) -> int:
    """Print the problems of a lecture, and return 1 if it has some."""
    with launched(read_lecture(path), chosen) as lecture, open_sessions() as sessions:
        has_mistakes = has_problems(lecture, path, sessions)
        scenes = scenes_of(lecture)
    unchecked = sum(map(runs_program, scenes))
    if not has_mistakes:
        part = f"{len(scenes) - unchecked} of " if unchecked else ""
        print_escaped(f"{path}: {part}{count_noun(len(scenes), 'step')}, no mistakes")
    return 1 if has_mistakes else 0


def write(path: Path, chosen: Namespace) -> int:
    """Write a lecture in another form and print the names of the files; if it has problems, print them and return 1."""
    is_notebook = chosen.output.endswith(SUFFIX)
    if is_notebook:
        check_new_file(Path(chosen.output))
    else:
        is_handout(chosen.output)  # raises for a bad output name
    with launched(read_lecture(path), chosen) as lecture:
        return _write_lecture(lecture, path, chosen, is_notebook)


def _write_lecture(lecture: Lecture, path: Path, chosen: Namespace, is_notebook: bool) -> int:
    def progress(step: int) -> None:
        show_progress_on_terminal(progress_text(lecture, step))

    with open_sessions() as sessions:
        if has_problems(lecture, path, sessions):
            return 1
        if is_notebook:
            from .pictures.lecture_notebook import lecture_cells

            cells = list(lecture_cells(lecture, sessions, progress))
            show_progress_on_terminal("")
            write_new_notebook(Path(chosen.output), cells)
            return 0
        for written in write_output(lecture, chosen, sessions, progress):
            show_progress_on_terminal("")
            print_escaped(written)
    return 0
