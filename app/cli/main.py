"""The `tilescope` command: find the named command, run it, and print errors as a sentence."""

from __future__ import annotations

import codecs
import os
import sys
from collections.abc import Sequence
from io import TextIOWrapper

from ...kernels.scenarios.suggestions import did_you_mean, near_words
from .commands import RENAMED, SUBCOMMANDS, WINDOW, parser_of, subcommand_of, with_new_name
from .common.arguments import UsageError, missing_file_text
from .common.interrupts import immediate_interrupts
from .common.text_output import print_error

OF_PROGRAMS = ("run", "check")  # their standard output is their program's, as under python
LEGIBLE = "tilescope-legible"
LOOK_ALIKES = str.maketrans(
    {"×": "x", "·": "-", "–": "-", "—": "-", "…": "...", "→": "->", "µ": "u", "²": "^2"}
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status: 0, 2 for errors that the user can fix, 130 after Ctrl+C."""
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    try:
        status = _run(arguments)
        if sys.stdout is not None and not sys.stdout.closed:  # a program may have closed it
            sys.stdout.flush()
        return status
    except SystemExit:  # after --help and --version, which need no error classes
        raise
    except KeyboardInterrupt:
        return 130
    except RuntimeError as error:
        if isinstance(error.__cause__, KeyboardInterrupt):  # of Python 3.11, while it makes a class
            return 130
        raise
    except BrokenPipeError:
        # The reader of the output is gone: nothing more may be written, not even at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except _user_errors() as error:
        print_error(error)
        return 2


def _run(arguments: list[str]) -> int:
    command, words = subcommand_of(with_new_name(arguments))
    if arguments[:1] and arguments[0] in RENAMED:
        print_error(f"`{arguments[0]}` is now `{command.name}`; the next release drops the old name.")
    if command.name not in OF_PROGRAMS and isinstance(sys.stdout, TextIOWrapper):
        codecs.register_error(LEGIBLE, _replace_unprintable)
        sys.stdout.reconfigure(errors=LEGIBLE)
    with immediate_interrupts():  # the import of Qt can't be interrupted by an exception
        if command is WINDOW and words:
            _refuse_unknown(words[0])
        implementation = command.load()
        chosen = implementation.parse(parser_of(command), words)
    return implementation.execute(chosen)


def _refuse_unknown(word: str) -> None:
    """Raise UsageError, with a hint, for a first word that is no command, option, scenario or file."""
    if word.startswith("-") or not word:
        return
    from ...kernels.scenarios.catalogue import names
    from ..model.first_bookmark import names_file
    from .open_window import is_document

    name = word.partition(":")[0]
    if names_file(word) or is_document(word) or name in names():
        return
    if "." in name or "/" in name:
        raise UsageError(missing_file_text(name))
    choices = [*dict.fromkeys(command.name.split()[0] for command in SUBCOMMANDS), *names()]
    near = near_words(name, choices)
    hint = (
        did_you_mean(name, near)
        if near
        else "; tilescope --help lists the commands, tilescope list the scenarios."
    )
    raise UsageError(f"no command or scenario is called {name!r}{hint}")


def _replace_unprintable(error: UnicodeError) -> tuple[str, int]:
    """Replace characters that a terminal can't show by similar ones, or by their escape sequences."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    text = error.object[error.start : error.end].translate(LOOK_ALIKES)
    return text.encode("ascii", "backslashreplace").decode(), error.end


def _user_errors() -> tuple[type[Exception], ...]:
    """Import the errors whose text is a sentence for the user; called only after an exception."""
    from ...kernels.scenarios.catalogue import CatalogueError
    from ...tracer.exports.access_table import ExportError
    from ...tracer.hardware.times.measurement import MeasurementError
    from ...tracer.run.worker_client import WorkerError
    from ...tracer.storage.trace_file import TraceFileError
    from ..explain.pages import UnknownPageError
    from ..widgets.widget_picture import PictureError
    from .programs.run_as_main import ProgramError

    return (
        MeasurementError,
        ProgramError,
        UsageError,
        CatalogueError,
        ExportError,
        TraceFileError,
        WorkerError,
        PictureError,
        UnknownPageError,
    )
