"""From a launch to something callable: the kernel's module, its constants, its arguments."""

from __future__ import annotations

import inspect
import linecache
import sys
import traceback
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import util
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...kernels.scenarios.npy_file import npy_header
from ...kernels.scenarios.scenario import CatalogueError
from ..model.kernel_imports import imported_texts
from ..model.launch import Array, Launch
from ..model.notebook_cells import cell_of, tree_of
from ..model.trace import poison
from ..storage.column_files import new_column, own_copy

DRAWN_AT_ONCE = 1 << 16  # numbers drawn or counted at a time, which stay in a processor's cache
DRAWN = ("random", "normal")
SAME = (
    "zeros",
    "ones",
    "twos",
    "threes",
    "fours",
    "empty",
)  # all elements are the same: the number of the place here
KEPT_BYTES = (
    1 << 20,
    1 << 28,
)  # bytes of an array of drawn numbers that is kept, at least, and of all, at most
_drawn_before: OrderedDict[Array, NDArray[Any]] = OrderedDict()


class LoadError(Exception):
    """A kernel file or an argument that makes no launch; the text is one sentence. file, line: where, if known."""

    def __init__(self, text: str, file: str = "", line: int = 0) -> None:
        super().__init__(text)
        self.file, self.line = file, line


class KernelRefusedError(LoadError):
    """A kernel that Numba does not compile for a GPU; sentence: why."""

    def __init__(self, sentence: str, file: str, line: int) -> None:
        super().__init__(f"{file}:{line}: {sentence}", file, line)
        self.sentence = sentence


def load_kernel(launch: Launch) -> tuple[ModuleType, Any]:
    """Run the launch's source as a module of its own and return (module, kernel); raises LoadError."""
    module, kernel = load_function(launch)
    if not hasattr(kernel, "py_func") or not hasattr(kernel, "__getitem__"):
        name = launch.kernel.rpartition(":")[2]
        line = getattr(getattr(kernel, "__code__", None), "co_firstlineno", 0)
        what = f"{name} in {module.__file__} is not a @cuda.jit kernel; write @cuda.jit above it."
        raise LoadError(what, str(module.__file__), line)
    return module, kernel


def load_function(launch: Launch) -> tuple[ModuleType, Any]:
    """Run the launch's source as a module of its own and return (module, what its kernel's name names)."""
    source, _, name = launch.kernel.rpartition(":")
    file, package = _file_and_package(source)
    _refresh(file, launch.source)
    module = ModuleType(Path(file).stem)
    module.__file__, module.__package__ = file, package
    linecache.cache[file] = (len(launch.source), None, launch.source.splitlines(keepends=True), file)
    # A module may look itself up (dataclasses do) while it runs.
    sys.modules[f"_tilescope_kernel_{Path(file).stem}"] = module
    module.__name__ = f"_tilescope_kernel_{Path(file).stem}"
    try:
        with _folder_first(file, package):
            text = tree_of(launch.source, name) if cell_of(file) else launch.source
            exec(compile(text, file, "exec"), module.__dict__)  # the user's own kernel
    except SyntaxError as error:
        raise LoadError(f"{file}:{error.lineno}: {error.msg}.", file, error.lineno or 0) from error
    except (Exception, SystemExit) as error:  # whatever a user's file raises
        lines = [step.lineno for step in traceback.extract_tb(error.__traceback__) if step.filename == file]
        where = f"{file}:{lines[-1]}" if lines else file
        text = f"{where}: the file can't be run: {type(error).__name__}: {error}."
        raise LoadError(text, file, (lines[-1] or 0) if lines else 0) from error
    kernel = getattr(module, name, None)
    if kernel is None:
        raise LoadError(f"{file} has no kernel named {name}; the kernel must keep its name.", file)
    return module, kernel


_beside: dict[Path, str] = {}  # the text of each module beside a kernel's file, as it was imported


def _refresh(file: str, source: str) -> None:
    """Forget modules beside this and other kernels' files, so that those meant are imported, as they are now."""
    texts = imported_texts(Path(file), source)
    changed = any(_beside.get(path, text) != text for path, text in texts.items())
    forgotten = {*_beside, *texts} if changed else _beside.keys() - texts.keys()
    for name, module in list(sys.modules.items()) if forgotten else ():
        if Path(getattr(module, "__file__", None) or ".") in forgotten:
            del sys.modules[name]
    for path, text in texts.items():
        linecache.cache[str(path)] = (len(text), None, text.splitlines(keepends=True), str(path))
    _beside.clear()
    _beside.update(texts)


@contextmanager
def _folder_first(file: str, package: str) -> Iterator[None]:
    """Import as for a script: a file finds the modules beside it first, and Python keeps no bytecode of these."""
    if package:
        yield
        return
    keeps, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    sys.path.insert(0, str(Path(file).parent))
    try:
        yield
    finally:
        sys.path.remove(str(Path(file).parent))
        sys.dont_write_bytecode = keeps


def kernel_file(launch: Launch) -> str:
    """Return the file that the lines of a launch's kernel are from, as frames name it; "" where there is none."""
    try:
        return _file_and_package(launch.kernel.rpartition(":")[0])[0]
    except (LoadError, ImportError, ValueError):
        return ""


def _file_and_package(source: str) -> tuple[str, str]:
    """Return the file that a path or a module's name means, and the package that it is in."""
    if source.endswith(".py") or cell_of(source):
        return str(Path(source).absolute()), ""
    spec = util.find_spec(source)
    if spec is None or spec.origin is None:
        raise LoadError(f"There is no module named {source}.")
    return spec.origin, source.rpartition(".")[0]


def set_constants(module: ModuleType, launch: Launch) -> None:
    """Set the module's constants to the launch's; a string names a numba type. Raises LoadError where it names none.

    Those that it lacks are of closures and of other modules, which a program's kernel used.
    """
    for name, value in launch.constants.items():
        if hasattr(module, name):
            setattr(module, name, _type_named(value) if isinstance(value, str) else value)


def _type_named(name: str) -> Any:
    import numba

    found = vars(numba.types).get(name)
    if not isinstance(found, numba.types.Type):
        raise LoadError(f"{name!r} is no type of numba's; the launch can't be run.")
    return found


def arrays_of(launch: Launch, kernel: Any) -> tuple[list[Any], tuple[str, ...]]:
    """Return the kernel's arguments, filled and as its signature says, and their names; raises LoadError."""
    names = tuple(inspect.signature(kernel.py_func).parameters)
    if len(names) != len(launch.arguments):
        raise LoadError(f"{launch.kernel} takes {len(names)} arguments, not {len(launch.arguments)}.")
    made = [filled(a) if isinstance(a, Array) else a.value for a in launch.arguments]
    return _as_declared(launch, kernel, made), names


def _as_declared(launch: Launch, kernel: Any, given: list[Any]) -> list[Any]:
    """Return arguments with their numbers of the types that a kernel was declared for; raises LoadError."""
    if not getattr(kernel, "_declared", ()):
        return given
    try:
        return list(kernel[launch.grid, launch.block].checked(tuple(given), {}))
    except (TypeError, ValueError) as error:
        raise LoadError(f"{launch.kernel}: {error}") from error


def filled(array: Array) -> NDArray[Any]:
    """Return a new array as its launch describes it; raises LoadError for a file that can't be read."""
    if array.fill in SAME:
        return _made(array)
    made = content_of(array)
    return made if made.flags.writeable else own_copy(made)


def content_of(array: Array) -> NDArray[Any]:
    """Return what `filled` does, read-only where it takes no memory, or is kept for other launches.

    Drawing numbers takes long. They lie in files where another process maps them (`column_files`).
    """
    if array.fill in SAME:
        dtype = np.dtype(array.dtype)
        one = np.zeros((), dtype) if array.fill == "zeros" else np.full((), _each(array, dtype), dtype)
        return np.broadcast_to(one, array.shape)
    if array not in _drawn_before:
        made = _made(array)
        if array.fill not in DRAWN or not KEPT_BYTES[0] <= made.nbytes <= KEPT_BYTES[1]:
            return made
        made.flags.writeable = False
        _keep(array, made)
    _drawn_before.move_to_end(array)
    return _drawn_before[array]


def _keep(array: Array, made: NDArray[Any]) -> None:
    """Keep an array, instead of those that have been wanted least lately."""
    _drawn_before[array] = made
    while sum(kept.nbytes for kept in _drawn_before.values()) > KEPT_BYTES[1]:
        _drawn_before.popitem(last=False)


def _made(array: Array) -> NDArray[Any]:
    try:
        if array.fill == "file":
            return _from_file(array)
        return _generated(array)
    except MemoryError as error:
        shape = " x ".join(map(str, array.shape))
        what = f"An array of {shape} {array.dtype}"
        raise LoadError(f"{what} does not fit in memory; choose a smaller size.") from error


def _generated(array: Array) -> NDArray[Any]:
    dtype = np.dtype(array.dtype)
    if array.fill == "random":
        return _random(array, dtype)
    if array.fill == "arange":
        return _counted(array.shape, dtype)
    if array.fill == "normal":
        return _drawn(np.random.default_rng(array.seed).standard_normal, array.shape, dtype)
    if array.fill == "zeros":
        return np.zeros(array.shape, dtype)  # which takes no memory until it is written to
    return np.full(array.shape, _each(array, dtype), dtype)


def _each(array: Array, dtype: np.dtype[Any]) -> Any:
    """Return what all elements of an array hold."""
    return poison(dtype) if array.fill == "empty" else SAME.index(array.fill)


def _random(array: Array, dtype: np.dtype[Any]) -> NDArray[Any]:
    """Uniform in [0, 1) for floats, 0 to 9 for integers, so that sums neither cancel nor overflow soon."""
    generator = np.random.default_rng(array.seed)
    if dtype.kind in "iub":
        return generator.integers(0, 10, array.shape).astype(dtype)
    if dtype.kind != "c":
        return _drawn(generator.random, array.shape, dtype)
    real = generator.random(array.shape)
    return (real + 1j * generator.random(array.shape)).astype(dtype)


def _drawn(draw: Callable[[int], NDArray[Any]], shape: tuple[int, ...], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return numbers drawn one after the other, cast piece by piece: large arrays are made in half the time."""
    made = new_column(int(np.prod(shape)), dtype)
    for low in range(0, len(made), DRAWN_AT_ONCE):
        part = made[low : low + DRAWN_AT_ONCE]
        part[:] = draw(len(part))
    return made.reshape(shape)


def _counted(shape: tuple[int, ...], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return 0 1 2 ..., cast piece by piece: a large array of 64-bit integers is never made beside it."""
    made = np.empty(int(np.prod(shape)), dtype)
    for low in range(0, len(made), DRAWN_AT_ONCE):
        made[low : low + DRAWN_AT_ONCE] = np.arange(low, min(low + DRAWN_AT_ONCE, len(made)))
    return made.reshape(shape)


def _from_file(array: Array) -> NDArray[Any]:
    try:
        shape, dtype = npy_header(array.path)
        if shape != array.shape or dtype.kind not in "biufc":
            holds = f"holds shape {shape} of {dtype}, not {array.shape}"
            raise LoadError(f"{array.path} {holds}; choose the file again.")
        values = np.load(array.path, allow_pickle=False)
    except CatalogueError as error:
        raise LoadError(str(error)) from error
    except (OSError, ValueError, EOFError) as error:
        raise LoadError(f"{array.path} can't be read as a .npy file: {error}.") from error
    return np.ascontiguousarray(values.astype(array.dtype))
