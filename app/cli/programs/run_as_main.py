"""Run a user's program in this process as `python` would, while its launches are traced."""

from __future__ import annotations

import builtins
import io
import linecache
import os
import runpy
import signal
import string  # noqa: F401  # for numba; the program's folder may contain a module of that name
import sys
import threading
from collections.abc import Callable, Iterator
from importlib.machinery import SourceFileLoader
from itertools import zip_longest
from pathlib import Path
from traceback import walk_tb
from types import ModuleType, TracebackType

from ....tracer.run.long_launch import InterruptedLaunch
from ..common.text_output import print_error

INTERRUPTED = 128 + signal.SIGINT  # the exit status after Ctrl+C
LARGEST_PROGRAM = 64_000_000  # of a script
_HERE = Path(__file__).parent
_LEADING = (  # files whose frames lead to the program
    *(str(_HERE / name) for name in ("run_as_main.py", "run_notebook.py", "program_to_run.py")),
    runpy.__file__,
    "<frozen runpy>",
)
_TRACER = f"{Path(__file__).parents[3] / 'tracer'}{os.sep}"
_RAISING_ON_PURPOSE = tuple(
    f"{_TRACER}{room}{os.sep}"
    for room in (os.path.join("simulator", "host"), "run", "stand_ins")  # noqa: PTH118
)
_STANDARD_LIBRARY = f"{Path(os.__file__).parent}{os.sep}"
_INSTALLED = f"{os.sep}site-packages{os.sep}"
_ENDLESS = "LivelockError"  # raised in a thread of a kernel, where the simulator lets it wait
_SIMULATOR = os.path.join("numba", "cuda", "simulator", "")  # noqa: PTH118  # a part of a path
replaced_text: Callable[[str], bytes | None] | None = None  # returns a script's text instead of its file's
_has_folder = not sys.flags.safe_path  # whether sys.path begins with a script's folder


def look_first_in(folder: str) -> None:
    """Put a folder first in sys.path, instead of ours; with -P, python has no such entry, so insert one."""
    global _has_folder
    if _has_folder:
        sys.path[0] = folder
    else:
        sys.path.insert(0, folder)
    _has_folder = True


class ProgramError(Exception):
    """A program that can't run; the text is one sentence."""


def run_script(path: str, arguments: list[str], replacement: str = "") -> int:
    """Run a script and return its exit status; raises ProgramError if it can't be read.

    The script runs as `__main__`, with its folder first in `sys.path` and its arguments in `sys.argv`. Its exceptions
    are printed as by `python`. replacement: the path of a text that runs instead of the script's own.
    """
    file = full_path(path)
    text = program_text(replacement or path)
    if replacement:  # tracebacks and traces show its lines
        shown = text.decode("utf-8", "replace")
        linecache.cache[file] = (len(shown), None, shown.splitlines(keepends=True), file)
    main = new_main()
    main.__dict__.update(__file__=file, __cached__=None, __loader__=SourceFileLoader("__main__", file))
    sys.argv = [path, *arguments]
    look_first_in(str(Path(file).resolve().parent))
    return status_of(lambda: exec(compile(text, file, "exec"), main.__dict__))


def is_package(path: str) -> bool:
    """Check whether a path names a folder or archive with a `__main__.py` to run."""
    return Path(path).is_dir() or path.endswith((".zip", ".pyz"))


def run_package(path: str, arguments: list[str]) -> int:
    """Run the `__main__.py` in a folder or archive, as `python PATH` would, and return its exit status."""
    new_main()
    sys.argv = [path, *arguments]
    look_first_in(os.path.normpath(full_path(path)))
    run = runpy._run_module_as_main  # type: ignore[attr-defined]  # what python itself calls for this
    return status_of(lambda: run("__main__", alter_argv=False))


def new_main() -> ModuleType:
    """Replace `__main__` by a new module with python's default names, and return it."""
    main = sys.modules["__main__"] = ModuleType("__main__")
    main.__dict__.update(__builtins__=builtins, __annotations__={})
    return main


def full_path(path: str) -> str:
    """Return an absolute path, as python builds it: with its dots and links."""
    return path if Path(path).is_absolute() else f"{Path.cwd()}{os.sep}{path}"


def program_text(path: str, largest: int = LARGEST_PROGRAM, reason: str = "as no program does") -> bytes:
    """Read a program's file; raises ProgramError if it can't be read or is too large."""
    if replaced_text is not None and (replaced := replaced_text(full_path(path))) is not None:
        return replaced
    try:
        with io.open_code(full_path(path)) as file:
            text = bytes(file.read(largest + 1))
        if len(text) <= largest:
            return text
        raise ProgramError(f"can't run {path}: it is larger than {largest // 10**6} MB, {reason}.")
    except OSError as error:
        raise ProgramError(f"can't open {path}: {error.strerror or error}.") from error


def run_module(name: str, arguments: list[str]) -> int:
    """Run a module as `python -m` would and return its exit status."""
    sys.argv = [name, *arguments]
    look_first_in(str(Path.cwd()))
    return status_of(lambda: runpy.run_module(name, run_name="__main__", alter_sys=True))


def status_of(program: Callable[[], object]) -> int:
    """Run a program and its non-daemon threads, and return its exit status."""
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
    except BaseException as error:  # noqa: BLE001  # an exception of the program
        print_raised(error)
        return 1
    return 0


def _exit_status(end: SystemExit) -> int:
    """Convert the code of `sys.exit(code)` as Python does."""
    if end.code is None:
        return 0
    if isinstance(end.code, int):
        return end.code
    print(end.code, file=sys.stderr)
    return 1


def print_raised(error: BaseException) -> None:
    """Print an exception through the program's excepthook, without Tilescope's frames.

    For Ctrl+C in a kernel print only the sentence, which names the line. After Ctrl+C in a library, the traceback
    ends at the line of the program.
    """
    if isinstance(error, InterruptedLaunch):
        print_error(error)
        return
    error.__traceback__ = _program_frames(error)
    if isinstance(error, KeyboardInterrupt):
        _cut_libraries(error.__traceback__)
    sys.excepthook(type(error), error, error.__traceback__)


def _program_frames(error: BaseException) -> TracebackType | None:
    """Remove the frames that lead to the program, and those that Tilescope adds between its lines.

    The frames stay if the error is an unexpected one of Tilescope.
    """
    steps = error.__traceback__
    files = [step.f_code.co_filename for step, _ in walk_tb(steps)]
    is_expected = not files or not files[-1].startswith(_TRACER) or files[-1].startswith(_RAISING_ON_PURPOSE)
    is_expected |= type(error).__name__ == _ENDLESS
    return _without(steps, lambda file: file in _LEADING or (is_expected and _is_ours(file)))


def _without(steps: TracebackType | None, is_hidden: Callable[[str], bool]) -> TracebackType | None:
    kept = [step for step in _steps(steps) if not is_hidden(step.tb_frame.f_code.co_filename)]
    for step, following in zip_longest(kept, kept[1:]):
        if step.tb_next is not following:
            step.tb_next = following
    return kept[0] if kept else None


def _steps(steps: TracebackType | None) -> Iterator[TracebackType]:
    while steps is not None:
        yield steps
        steps = steps.tb_next


def _cut_libraries(steps: TracebackType | None) -> None:
    """End a traceback at its last frame that is of no library, if there is one."""
    own = [step for step in _steps(steps) if not _is_of_library(step.tb_frame.f_code.co_filename)]
    if own:
        own[-1].tb_next = None


def _is_of_library(file: str) -> bool:
    return file.startswith(("<frozen ", _STANDARD_LIBRARY)) or _INSTALLED in file


def _is_ours(file: str) -> bool:
    return file.startswith(_TRACER) or _SIMULATOR in file
