"""Ownership of code: the user's, which launches a kernel, or a library's, which the user's code calls.

The file's folder decides. Code in the folders of the program and of the kernel, and modules that these
import from there, are the user's; so is a cell of a notebook. Installed packages are libraries, however near their
environment is, and so are Python's own modules, Numba and Tilescope. Accesses by a library are reported at the
user's line that called it.
"""

from __future__ import annotations

import site
import sys
import sysconfig
from collections.abc import Iterator
from functools import cache, lru_cache
from pathlib import Path
from types import CodeType, FrameType, ModuleType
from typing import NamedTuple

from .notebook_cells import cell_of

INSTALL_FOLDERS = (
    "site-packages",
    "dist-packages",
)  # names of folders of installed packages: Python's, Debian's
LIBRARY_PACKAGES = ("numba", "numba_cuda", "numpy")  # wherever they are, even in a checkout
OWN_FOLDERS = ("tracer", "app")  # of this package; the catalogue's kernels count as user code
_PACKAGE = __name__.partition(".")[0]
_program_folders: set[Path] = set()  # beside the folder of `__main__`


class LibraryCode(NamedTuple):
    """Code of a library, with the user's instruction that calls it, directly or not.

    instruction: the caller's, in bytes from the beginning of its code.
    """

    code: CodeType
    caller: CodeType
    instruction: int


Code = CodeType | LibraryCode


def running_code(code: Code) -> CodeType:
    """Return the code that runs, which may be a library's."""
    return code.code if isinstance(code, LibraryCode) else code


class UserCode:
    """Distinguishes the user's code from that of libraries, for a kernel in a file.

    code: of the user's, that was last located. Callers compare it first, since an access mostly
    comes from the same code as the one before.
    """

    def __init__(self, kernel: str) -> None:
        self.code: CodeType | None = None
        own_homes = {home for home in _homes(kernel) if not _is_installed_into(home)}
        self._homes = own_homes | _homes_of_program(sys.modules.get("__main__")) | _program_folders
        self._owned: dict[str, bool] = {}
        self._called: dict[tuple[int, int, int], LibraryCode] = {}

    def owns(self, file: str) -> bool:
        """Return True if a file, as a code object names it, is the user's."""
        if file not in self._owned:
            self._owned[file] = bool(cell_of(file)) or (self._lies_at_home(file) and not _is_library(file))
        return self._owned[file]

    def _lies_at_home(self, file: str) -> bool:
        pairs = [(path, home) for path in _paths(file) for home in self._homes if path.is_relative_to(home)]
        return not file or _is_text(file) or any(not _is_vendored(path, home) for path, home in pairs)

    def locate(self, frame: FrameType) -> tuple[Code, int]:
        """Return the code that a frame runs, a library's with the user's code that called it, and its instruction.

        If no code of the user is running, since the kernel itself is a library's, the code is returned as it is.
        """
        code = frame.f_code
        if self._owned.get(code.co_filename) or self.owns(code.co_filename):  # the lookup first saves a call
            self.code = code
            return code, frame.f_lasti
        caller = next(self._users(frame), None)
        if caller is None:
            return code, frame.f_lasti
        key = (id(code), id(caller.f_code), caller.f_lasti)
        if key not in self._called:
            self._called[key] = LibraryCode(code, caller.f_code, caller.f_lasti)
        return self._called[key], frame.f_lasti

    def calling_line(self, frame: FrameType | None) -> tuple[str, int] | None:
        """Return the innermost (file, line) of the user's in a frame or its callers."""
        return next(((caller.f_code.co_filename, caller.f_lineno) for caller in self._users(frame)), None)

    def _users(self, frame: FrameType | None) -> Iterator[FrameType]:
        while frame is not None:
            if self.owns(frame.f_code.co_filename):
                yield frame
            frame = frame.f_back


@lru_cache(maxsize=64)
def user_code_for(kernel: str) -> UserCode:
    """Return the object that finds the user's code for a kernel in a file, the same for all of its launches."""
    return UserCode(kernel)


def add_program_folder(folder: Path) -> None:
    """Add a folder with the user's code, for programs such as pytest that run it from elsewhere."""
    _program_folders.update(_paths(str(folder)))


def _is_library(file: str) -> bool:
    """Return True if a file is an installed package's, Python's, Numba's or Tilescope's."""
    if _is_text(file):
        return file.startswith("<frozen")
    folders = {*_folders_of_python(), *_folders_imported()}
    paths = _paths(file)
    return any(part in INSTALL_FOLDERS for path in paths for part in path.parts) or any(
        path.is_relative_to(folder) for path in paths for folder in folders
    )


def _is_text(file: str) -> bool:
    """Return True if code comes from an executed text, as "<string>", or from an unknown place."""
    return file.startswith(("<", "?"))


def _paths(file: str) -> set[Path]:
    """Return a file's path, as it is named and with all links resolved: packages may be linked to."""
    return {Path(file).absolute(), Path(file).resolve()}


@cache
def _folders_of_python() -> frozenset[Path]:
    """Return the folders of Python's own modules, and of installed ones, in this environment."""
    archive = "python{}{}.zip".format(*sys.version_info[:2])
    folders = [sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")]
    folders += [path for path in sys.path if Path(path).name == archive]
    folders += [*site.getsitepackages(), site.getusersitepackages()]
    return frozenset(path for name in folders for path in _paths(name))


def _folders_imported() -> Iterator[Path]:
    """Yield the folders of the imported libraries, and of Tilescope."""
    for name in (*LIBRARY_PACKAGES, _PACKAGE):
        file = getattr(sys.modules.get(name), "__file__", None)
        folders = [path.parent for path in _paths(file)] if file else []
        yield from (
            folders if name != _PACKAGE else (folder / room for folder in folders for room in OWN_FOLDERS)
        )


@lru_cache(maxsize=1024)
def _is_installed_into(folder: Path) -> bool:
    """Return True if packages are installed into a folder: by its name, or by pip's records in it."""
    return folder.name in INSTALL_FOLDERS or (folder.is_dir() and any(folder.glob("*.dist-info")))


def _is_vendored(path: Path, home: Path) -> bool:
    """Return True if a path below a folder was installed there, or lies in an archive."""
    below = [folder for folder in path.parents if folder != home and folder.is_relative_to(home)]
    return any(_is_installed_into(folder) or folder.is_file() for folder in below)


def _homes(file: str) -> set[Path]:
    """Return the folder from which a file is imported: its own, or that of its outermost package."""
    return {_above_packages(path.parent) for path in _paths(file)} if file and not _is_text(file) else set()


def _above_packages(folder: Path) -> Path:
    while (folder / "__init__.py").is_file() and folder != folder.parent:
        folder = folder.parent
    return folder


def _homes_of_program(main: ModuleType | None) -> set[Path]:
    """Return the folder of the program; of a module (`python -m`), or a program without a file, the current one."""
    spec, file = getattr(main, "__spec__", None), getattr(main, "__file__", None) or ""
    by_name = spec is not None and spec.name != "__main__"
    return _homes(file) | ({Path.cwd()} if by_name or not file else set())
