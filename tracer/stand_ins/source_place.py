"""Where a text of CUDA C++ comes from: a string of the running program, a file, or neither."""

from __future__ import annotations

import linecache
import sys
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

from msgspec import Struct

from ..model.embedded_cpp import MARK, cpp_at
from ..model.launch import CUDA_CPP_SUFFIXES
from ..model.user_code import user_code_for

_PACKAGE = str(Path(__file__).parents[2])
_OWN = tuple(f"{_PACKAGE}/{folder}/" for folder in ("tracer", "app"))


class PlacedText(Struct, frozen=True):
    """A text of CUDA C++ with its place."""

    file: str  # that accesses name
    compiled: str  # the text, at its lines of that file
    shown: str  # the text of the file
    launch_file: str  # of launches: with a mark if the file is a Python program
    is_exact: bool = True  # whether the file has this text, which the program did not format


def place(code: str) -> PlacedText:
    """Find the place of a text: that of a string in the running program, else of a file, else a name of ours."""
    main = getattr(sys.modules.get("__main__"), "__file__", None) or ""
    files = dict.fromkeys(frame.f_code.co_filename for frame in _user_frames())
    if "__global__" in code:
        for file in (*files, *_modules(main)):
            text = "".join(linecache.getlines(file))
            placed = cpp_at(text, code)
            if placed is not None:
                return PlacedText(file, placed[0], text, f"{file}{MARK}", placed[1])
        for path in _files_near(main):
            if _content(path) == code:
                return PlacedText(str(path), code, code, str(path))
    file, line = calling_line()
    name = f"{file} [line {line}].cu"
    return PlacedText(name, code, code, name)


def place_file(path: Path) -> PlacedText:
    """Read a file with kernels; raises OSError."""
    text, name = path.read_text("utf-8", "replace"), str(path.absolute())
    return PlacedText(name, text, text, name if name.lower().endswith(CUDA_CPP_SUFFIXES) else f"{name}.cu")


def calling_line() -> tuple[str, int]:
    """Return the file and line of the program that runs now."""
    frame = next(_user_frames(), None)
    return (frame.f_code.co_filename, frame.f_lineno) if frame else ("program.py", 1)


def _user_frames() -> Iterator[FrameType]:
    """Yield the program's frames, the innermost first."""
    main = getattr(sys.modules.get("__main__"), "__file__", None) or ""
    user_code = user_code_for(main)
    frame: FrameType | None = sys._getframe()
    while frame is not None:
        file = frame.f_code.co_filename
        if not file.startswith((*_OWN, "<frozen")) and user_code.owns(file):
            yield frame
        frame = frame.f_back


def _modules(main: str) -> Iterator[str]:
    user_code = user_code_for(main)
    for module in list(sys.modules.values()):
        file = getattr(module, "__file__", None)
        if (
            isinstance(file, str)
            and file.endswith(".py")
            and not file.startswith(_OWN)
            and user_code.owns(file)
        ):
            yield file


def _files_near(main: str) -> Iterator[Path]:
    for folder in dict.fromkeys((Path(main).absolute().parent, Path.cwd())):
        for pattern in ("*", "*/*"):
            try:
                yield from (
                    path for path in folder.glob(pattern) if path.name.lower().endswith(CUDA_CPP_SUFFIXES)
                )
            except OSError:
                continue


def _content(path: Path) -> str | None:
    try:
        return path.read_text("utf-8", "replace")
    except OSError:
        return None
