"""Run a program of the user's in this process as `python` would, while its launches are recorded."""

from __future__ import annotations

import io
import runpy
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, TracebackType

_LEADING = (__file__, runpy.__file__, "<frozen runpy>")  # files whose frames lead to the program


class ProgramError(Exception):
    """A program that can't be run; the text is one sentence."""


def run_script(path: str, arguments: list[str]) -> int:
    """Run a script and return its exit status; raises ProgramError where it can't be read.

    It finds itself as `__main__`, its folder first in `sys.path`, and its words in `sys.argv`. What it raises
    is printed as by `python`.
    """
    text = _text(path)
    main = ModuleType("__main__")
    main.__file__, main.__builtins__ = path, __builtins__  # type: ignore[attr-defined]  # as python sets it
    main.__dict__["__cached__"] = None
    sys.modules["__main__"] = main
    sys.argv = [path, *arguments]
    sys.path[0] = str(Path(path).absolute().parent)
    return _status_of(lambda: exec(compile(text, path, "exec"), main.__dict__))


def _text(path: str) -> bytes:
    try:
        with io.open_code(str(Path(path).absolute())) as file:
            return bytes(file.read())
    except OSError as error:
        raise ProgramError(f"can't open {path}: {error.strerror or error}.") from error


def run_module(name: str, arguments: list[str]) -> int:
    """Run a module as `python -m` would and return its exit status."""
    sys.argv = [name, *arguments]
    sys.path[0] = str(Path.cwd())
    return _status_of(lambda: runpy.run_module(name, run_name="__main__", alter_sys=True))


def _status_of(program: Callable[[], object]) -> int:
    try:
        program()
    except SystemExit as end:
        return _exit_status(end)
    except KeyboardInterrupt as end:
        _show(end)
        return 128 + signal.SIGINT
    except BaseException as error:  # noqa: BLE001  # it is the program's own
        _show(error)
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


def _show(error: BaseException) -> None:
    """Print an exception through the program's own hook, without the frames of ours that lead to it."""
    error.__traceback__ = _theirs(error.__traceback__)
    sys.excepthook(type(error), error, error.__traceback__)


def _theirs(steps: TracebackType | None) -> TracebackType | None:
    while steps is not None and steps.tb_frame.f_code.co_filename in _LEADING:
        steps = steps.tb_next
    return steps
