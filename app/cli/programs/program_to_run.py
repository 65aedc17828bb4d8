"""A user's program as named on the command line: a script, a notebook, a folder, an archive or a module."""

from __future__ import annotations

import os
import shutil
import sys
from contextlib import suppress
from importlib import util
from pathlib import Path
from typing import NamedTuple

from ....tracer.model.notebook_cells import is_notebook
from .run_as_main import (
    ProgramError,
    full_path,
    is_package,
    look_first_in,
    run_module,
    run_package,
    run_script,
)

LONGEST_NAME, LONGEST_PATH = 255, 4095  # bytes of a file's name, and of a path


class ProgramToRun(NamedTuple):
    """A user's script, notebook, package or module, and its `sys.argv`."""

    name: str  # the path of a script, notebook, folder or archive, or a module's dotted name
    arguments: list[str]
    is_module: bool
    text: str = ""  # the path of a text that replaces the script's own, "" for none
    is_command: bool = False  # `name` is a command such as make, which builds and runs CUDA C++

    def find(self) -> None:
        """Raise ProgramError if there is no such script or module."""
        from ....tracer.model.launch import is_utf8

        path = Path(self.name)
        if self.is_command:
            if shutil.which(self.name) is None:
                raise ProgramError(f"there is no command {self.name}.")
            return
        if not self.is_module and not _can_name_a_file(path):
            raise ProgramError(f"there is no script {self.name}.")
        if self.is_module:
            look_first_in(str(Path.cwd()))
        elif path.is_dir() and not (path / "__main__.py").is_file():
            raise ProgramError(f"there is no __main__.py in {self.name}.")
        exists = _module_exists(self.name) if self.is_module else path.exists()
        if self.text and (self.is_module or is_package(self.name) or self._is_notebook()):
            raise ProgramError(f"--text is for scripts, and {self.name} is not one.")
        if exists and not self.is_module and not is_utf8(full_path(self.name)):
            raise ProgramError(f"the path {full_path(self.name)} is not UTF-8, which traces need; rename it.")
        if not exists:
            raise ProgramError(f"there is no {'module' if self.is_module else 'script'} {self.name}.")
        if exists and not self.is_module and path.suffix.lower() == ".npz":
            raise ProgramError(f"{self.name} is a trace, not a program; `tilescope {self.name}` shows it.")
        if self._is_notebook():
            from .notebook import code_cells  # imports packages that only notebooks need

            code_cells(self.name)

    def _is_notebook(self) -> bool:
        return not self.is_module and is_notebook(self.name) and not Path(self.name).is_dir()

    def run(self) -> int:
        """Run the program and return its exit status."""
        if self._is_notebook():
            from .run_notebook import run_notebook

            return _flushed(run_notebook(self.name, self.arguments))
        if self.is_module:
            return _flushed(run_module(self.name, self.arguments))
        if is_package(self.name):
            return _flushed(run_package(self.name, self.arguments))
        return _flushed(run_script(self.name, self.arguments, self.text))


def _flushed(status: int) -> int:
    """Flush a program's output, as python does at exit; return the status, or 120 if that fails."""
    try:
        if sys.stdout is not None and not sys.stdout.closed:
            sys.stdout.flush()
    except (
        OSError,
        ValueError,
    ):  # there is no reader, the disk is full, or the stream is closed
        with suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 120
    return status


def _can_name_a_file(path: Path) -> bool:
    """Check whether a path, and each of its parts, is short enough for a file."""
    parts = [len(os.fsencode(part)) for part in path.parts]
    return max(parts, default=0) <= LONGEST_NAME and sum(parts) + len(parts) <= LONGEST_PATH


def _module_exists(name: str) -> bool:
    try:
        return util.find_spec(name) is not None
    except (ImportError, ValueError):
        return False
