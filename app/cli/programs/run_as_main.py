"""Run a program of the user's in this process as `python` would, while its launches are recorded."""

from __future__ import annotations

import builtins
import io
import linecache
import os
import runpy
import signal
import string  # noqa: F401  # numba needs it, and a program may lie beside a module of that name
import sys
import threading
from collections.abc import Callable
from importlib.machinery import SourceFileLoader
from pathlib import Path
from traceback import walk_tb
from types import ModuleType, TracebackType

from ....tracer.run.long_launch import InterruptedLaunch
from ..common.text_output import complain

INTERRUPTED = 128 + signal.SIGINT  # the exit status after Ctrl+C
LARGEST_PROGRAM = 64_000_000  # bytes that are read of a script
_HERE = Path(__file__).parent
_LEADING = (  # files whose frames lead to the program
    *(str(_HERE / name) for name in ("run_as_main.py", "run_notebook.py", "program_to_run.py")),
    runpy.__file__,
    "<frozen runpy>",
)
_TRACER = f"{Path(__file__).parents[3] / 'tracer'}{os.sep}"
_REFUSING = tuple(f"{_TRACER}{room}{os.sep}" for room in (os.path.join("simulator", "host"), "run"))  # noqa: PTH118
_SIMULATOR = os.path.join("numba", "cuda", "simulator", "")  # noqa: PTH118  # a part of a path
_has_folder = not sys.flags.safe_path  # whether the first place to look for modules is a script's folder


def look_first_in(folder: str) -> None:
    """Put a folder where python has that of its script: in place of ours, unless python was to have none (-P)."""
    global _has_folder
    if _has_folder:
        sys.path[0] = folder
    else:
        sys.path.insert(0, folder)
    _has_folder = True


class ProgramError(Exception):
    """A program that can't be run; the text is one sentence."""


def run_script(path: str, arguments: list[str], instead: str = "") -> int:
    """Run a script and return its exit status; raises ProgramError where it can't be read.

    It finds itself as `__main__`, its folder first in `sys.path`, and its words in `sys.argv`. What it raises
    is printed as by `python`. instead: the path of a text that runs in place of the script's own.
    """
    file = full_path(path)
    text = program_text(instead or path)
    if instead:  # of which tracebacks and traces show the lines
        shown = text.decode("utf-8", "replace")
        linecache.cache[file] = (len(shown), None, shown.splitlines(keepends=True), file)
    main = new_main()
    main.__dict__.update(__file__=file, __cached__=None, __loader__=SourceFileLoader("__main__", file))
    sys.argv = [path, *arguments]
    look_first_in(str(Path(file).resolve().parent))
    return status_of(lambda: exec(compile(text, file, "exec"), main.__dict__))


def is_package(path: str) -> bool:
    """Return whether a path names what holds a `__main__.py` that is to be run: a folder, or an archive."""
    return Path(path).is_dir() or path.endswith((".zip", ".pyz"))


def run_package(path: str, arguments: list[str]) -> int:
    """Run the `__main__.py` in a folder or archive, as `python PATH` would, and return its exit status."""
    new_main()
    sys.argv = [path, *arguments]
    look_first_in(os.path.normpath(full_path(path)))
    run = runpy._run_module_as_main  # type: ignore[attr-defined]  # what python itself calls for this
    return status_of(lambda: run("__main__", alter_argv=False))


def new_main() -> ModuleType:
    """Put a new module in the place of `__main__`, with what python gives it, and return it."""
    main = sys.modules["__main__"] = ModuleType("__main__")
    main.__dict__.update(__builtins__=builtins, __annotations__={})
    return main


def full_path(path: str) -> str:
    """Return a path from the root on, as python does: with its dots and links."""
    return path if Path(path).is_absolute() else f"{Path.cwd()}{os.sep}{path}"


def program_text(path: str, largest: int = LARGEST_PROGRAM, why: str = "as no program does") -> bytes:
    """Return what a program's file holds; raises ProgramError where it can't be read, or is larger."""
    try:
        with io.open_code(full_path(path)) as file:
            text = bytes(file.read(largest + 1))
        if len(text) <= largest:
            return text
        raise ProgramError(f"can't run {path}: it goes on beyond {largest // 10**6} MB, {why}.")
    except OSError as error:
        raise ProgramError(f"can't open {path}: {error.strerror or error}.") from error


def run_module(name: str, arguments: list[str]) -> int:
    """Run a module as `python -m` would and return its exit status."""
    sys.argv = [name, *arguments]
    look_first_in(str(Path.cwd()))
    return status_of(lambda: runpy.run_module(name, run_name="__main__", alter_sys=True))


def status_of(program: Callable[[], object]) -> int:
    """Run a program and return its exit status, once the threads have ended that it started and that are no daemons."""
    before = set(threading.enumerate())
    status = _status_of_main(program)
    try:
        while waiting := [t for t in threading.enumerate() if not t.daemon and t not in before]:
            waiting[0].join()
    except KeyboardInterrupt:
        return INTERRUPTED
    return status


def _status_of_main(program: Callable[[], object]) -> int:
    try:
        program()
    except SystemExit as end:
        return _exit_status(end)
    except KeyboardInterrupt as end:
        print_raised(end)
        return INTERRUPTED
    except BaseException as error:  # noqa: BLE001  # it is the program's own
        print_raised(error)
        return 1
    return 0


def _exit_status(end: SystemExit) -> int:
    """Return what Python makes of `sys.exit(code)`."""
    if end.code is None:
        return 0
    if isinstance(end.code, int):
        return end.code
    print(end.code, file=sys.stderr)
    return 1


def print_raised(error: BaseException) -> None:
    """Print an exception through the program's own hook, without the frames of ours that lead to it.

    Of Ctrl+C in a kernel only the sentence is printed, which says where it was.
    """
    if isinstance(error, InterruptedLaunch):
        complain(error)
        return
    error.__traceback__ = _theirs(error.__traceback__)
    sys.excepthook(type(error), error, error.__traceback__)


def _theirs(steps: TracebackType | None) -> TracebackType | None:
    """Return a traceback without what leads to the program, and without what is called for it between its lines.

    Where an error is one of ours that nobody foresaw, what leads to it stays.
    """
    files = [step.f_code.co_filename for step, _ in walk_tb(steps)]
    foreseen = not files or not files[-1].startswith(_TRACER) or files[-1].startswith(_REFUSING)
    return _without(steps, lambda file: file in _LEADING or (foreseen and _is_ours(file)))


def _without(steps: TracebackType | None, left_out: Callable[[str], bool]) -> TracebackType | None:
    while steps is not None and left_out(steps.tb_frame.f_code.co_filename):
        steps = steps.tb_next
    if steps is not None:
        steps.tb_next = _without(steps.tb_next, left_out)
    return steps


def _is_ours(file: str) -> bool:
    return file.startswith(_TRACER) or _SIMULATOR in file
