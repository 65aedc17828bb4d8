"""Loads the kernel of a launch: its module, its constants, its arguments."""

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
from ..model.cuda_cpp_file import cuda_cpp_file
from ..model.definitions_only import definitions_only, without_launches
from ..model.embedded_cpp import is_embedded, program_file
from ..model.kernel_imports import imported_texts
from ..model.launch import Array, Launch, is_cuda_cpp
from ..model.notebook_cells import cell_of, tree_of
from ..model.trace import poison
from ..storage.column_files import new_column, own_copy
from .successor_names import install_successor_names

CHUNK_OF_NUMBERS = 1 << 16  # numbers generated at a time, which fit in a processor's cache
RANDOM_FILLS = ("random", "normal")
CONSTANT_FILLS = (
    "zeros",
    "ones",
    "twos",
    "threes",
    "fours",
    "empty",
)  # all elements equal the index, except "empty"
CACHED_BYTES = (1 << 20, 1 << 28)  # smallest random array that is cached; most bytes of the cache
OUTSIDE_LAUNCH = (
    "a kernel runs outside a launch"  # the error of a file that launches a kernel while it is loaded
)
_random_arrays: OrderedDict[Array, NDArray[Any]] = OrderedDict()


class LoadError(Exception):
    """A kernel file or an argument can't be loaded; one sentence. file, line: the position, if known."""

    def __init__(self, text: str, file: str = "", line: int = 0) -> None:
        super().__init__(text)
        self.file, self.line = file, line


class KernelRefusedError(LoadError):
    """Numba does not compile a kernel for a GPU; sentence: the reason."""

    def __init__(self, sentence: str, file: str, line: int) -> None:
        super().__init__(f"{file}:{line}: {sentence}", file, line)
        self.sentence = sentence


def load_kernel(launch: Launch, *, complete: bool = False) -> tuple[ModuleType, Any]:
    """Run the launch's source as a new module and return (module, kernel); raises LoadError.

    complete: refuse a source that launches a kernel itself; otherwise only the definitions of such a program run.
    """
    module, kernel = load_function(launch, complete=complete)
    if not hasattr(kernel, "py_func") or not hasattr(kernel, "__getitem__"):
        name = launch.kernel.rpartition(":")[2]
        line = getattr(getattr(kernel, "__code__", None), "co_firstlineno", 0)
        message = f"{name} in {module.__file__} is not a @cuda.jit kernel; write @cuda.jit above it."
        raise LoadError(message, str(module.__file__), line)
    return module, kernel


def load_function(launch: Launch, *, complete: bool = False) -> tuple[ModuleType, Any]:
    """Run the launch's source as a new module and return (module, the object with the kernel's name).

    complete: as for `load_kernel`.
    """
    install_successor_names()
    source, _, name = launch.kernel.rpartition(":")
    file, package = _file_and_package(source)
    _forget_changed_modules(file, launch.source)
    module = ModuleType(Path(file).stem)
    module.__file__, module.__package__ = file, package
    linecache.cache[file] = (len(launch.source), None, launch.source.splitlines(keepends=True), file)
    # A module may look itself up while it runs, as dataclasses do.
    sys.modules[f"_tilescope_kernel_{Path(file).stem}"] = module
    module.__name__ = f"_tilescope_kernel_{Path(file).stem}"
    try:
        with _folder_first(file, package):
            if cell_of(file):
                exec(compile(tree_of(launch.source, name), file, "exec"), module.__dict__)
            else:
                _run_text(launch, file, module, complete=complete)
    except SyntaxError as error:
        raise LoadError(f"{file}:{error.lineno}: {error.msg}.", file, error.lineno or 0) from error
    except (Exception, SystemExit) as error:  # a user's file may raise anything
        lines = [
            frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == file
        ]
        location = f"{file}:{lines[-1]}" if lines else file
        text = f"{location}: the file can't be run: {type(error).__name__}: {error}."
        raise LoadError(text, file, (lines[-1] or 0) if lines else 0) from error
    kernel = getattr(module, name, None)
    if kernel is None:
        raise LoadError(f"{file} has no kernel named {name}; the kernel must keep its name.", file)
    return module, kernel


def _run_text(launch: Launch, file: str, module: ModuleType, *, complete: bool) -> None:
    """Run the text of a launch's file in a module; of a program that launches kernels, only the definitions."""
    constants = launch.constants
    text = launch.source if complete else without_launches(launch.source, constants)
    try:
        exec(compile(text, file, "exec"), module.__dict__)  # the user's own kernel
    except AssertionError as error:
        if complete or str(error) != OUTSIDE_LAUNCH:
            raise
        text = definitions_only(launch.source, constants)
        exec(compile(text, file, "exec"), module.__dict__)


_imported: dict[Path, str] = {}  # text of each module next to a kernel's file, when it was imported


def _forget_changed_modules(file: str, source: str) -> None:
    """Unload changed modules next to this and other kernels' files, so that the current ones are imported."""
    texts = imported_texts(Path(file), source)
    changed = any(_imported.get(path, text) != text for path, text in texts.items())
    forgotten = {*_imported, *texts} if changed else _imported.keys() - texts.keys()
    for name, module in list(sys.modules.items()) if forgotten else ():
        if Path(getattr(module, "__file__", None) or ".") in forgotten:
            del sys.modules[name]
    for path, text in texts.items():
        linecache.cache[str(path)] = (len(text), None, text.splitlines(keepends=True), str(path))
    _imported.clear()
    _imported.update(texts)


@contextmanager
def _folder_first(file: str, package: str) -> Iterator[None]:
    """Context manager that imports as for a script: from the file's folder first, and without bytecode files."""
    if package:
        yield
        return
    original, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    sys.path.insert(0, str(Path(file).parent))
    try:
        yield
    finally:
        sys.path.remove(str(Path(file).parent))
        sys.dont_write_bytecode = original


def kernel_file(launch: Launch) -> str:
    """Return the file of a launch's kernel, as frames name it; "" if there is none."""
    try:
        return _file_and_package(launch.kernel.rpartition(":")[0])[0]
    except (LoadError, ImportError, ValueError):
        return ""


def _file_and_package(source: str) -> tuple[str, str]:
    """Resolve a path or a module name to a file and its package."""
    if is_embedded(source):
        return str(Path(program_file(source)).absolute()), ""
    if source.endswith(".py") or cell_of(source):
        return str(Path(source).absolute()), ""
    if is_cuda_cpp(source):
        return str(cuda_cpp_file(source).absolute()), ""
    spec = util.find_spec(source)
    if spec is None or spec.origin is None:
        raise LoadError(f"There is no module named {source}.")
    return spec.origin, source.rpartition(".")[0]


def set_constants(module: ModuleType, launch: Launch) -> None:
    """Set the module's constants to the launch's; a string names a numba type, otherwise LoadError is raised.

    Constants that the module lacks come from closures and other modules, and are ignored.
    """
    for name, value in launch.constants.items():
        if hasattr(module, name):
            setattr(module, name, _numba_type(value) if isinstance(value, str) else value)


def _numba_type(name: str) -> Any:
    import numba

    numba_type = vars(numba.types).get(name)
    if not isinstance(numba_type, numba.types.Type):
        raise LoadError(f"{name!r} is not a type of numba; the launch can't be run.")
    return numba_type


def create_arguments(launch: Launch, kernel: Any) -> tuple[list[Any], tuple[str, ...]]:
    """Create the kernel's arguments, filled and converted to its signature, and their names; raises LoadError."""
    names = tuple(inspect.signature(kernel.py_func).parameters)
    if len(names) != len(launch.arguments):
        raise LoadError(f"{launch.kernel} takes {len(names)} arguments, not {len(launch.arguments)}.")
    arguments = [
        create_array(argument) if isinstance(argument, Array) else argument.value
        for argument in launch.arguments
    ]
    return _convert_to_signature(launch, kernel, arguments), names


def _convert_to_signature(launch: Launch, kernel: Any, arguments: list[Any]) -> list[Any]:
    """Convert numbers to the types that a kernel was declared for; raises LoadError."""
    if not getattr(kernel, "_declared", ()):
        return arguments
    try:
        return list(kernel[launch.grid, launch.block].checked(tuple(arguments), {}))
    except (TypeError, ValueError) as error:
        raise LoadError(f"{launch.kernel}: {error}") from error


def create_array(array: Array) -> NDArray[Any]:
    """Create an array from its description; raises LoadError for a file that can't be read."""
    if array.fill in CONSTANT_FILLS:
        return _create(array)
    content = shared_content(array)
    return content if content.flags.writeable else own_copy(content)


def shared_content(array: Array) -> NDArray[Any]:
    """Create the same array as `filled`, but read-only if it takes no memory or is cached for other launches.

    Random numbers are cached because drawing them is slow. They lie in files that other processes map (`column_files`).
    """
    if array.fill in CONSTANT_FILLS:
        dtype = np.dtype(array.dtype)
        element = (
            np.zeros((), dtype)
            if array.fill == "zeros"
            else np.full((), _constant_element(array, dtype), dtype)
        )
        return np.broadcast_to(element, array.shape)
    if array not in _random_arrays:
        content = _create(array)
        if array.fill not in RANDOM_FILLS or not CACHED_BYTES[0] <= content.nbytes <= CACHED_BYTES[1]:
            return content
        content.flags.writeable = False
        _cache(array, content)
    _random_arrays.move_to_end(array)
    return _random_arrays[array]


def _cache(array: Array, content: NDArray[Any]) -> None:
    """Cache an array, and drop the least recently used ones."""
    _random_arrays[array] = content
    while sum(cached.nbytes for cached in _random_arrays.values()) > CACHED_BYTES[1]:
        _random_arrays.popitem(last=False)


def _create(array: Array) -> NDArray[Any]:
    try:
        if array.fill == "file":
            return _from_file(array)
        return _generate(array)
    except MemoryError as error:
        shape = " x ".join(map(str, array.shape))
        description = f"An array of {shape} {array.dtype}"
        raise LoadError(f"{description} does not fit in memory; choose a smaller size.") from error


def _generate(array: Array) -> NDArray[Any]:
    dtype = np.dtype(array.dtype)
    if array.fill == "random":
        return _random(array, dtype)
    if array.fill == "arange":
        return _count_up(array.shape, dtype)
    if array.fill == "normal":
        return _draw(np.random.default_rng(array.seed).standard_normal, array.shape, dtype)
    if array.fill == "zeros":
        return np.zeros(array.shape, dtype)  # takes no memory until it is written to
    return np.full(array.shape, _constant_element(array, dtype), dtype)


def _constant_element(array: Array, dtype: np.dtype[Any]) -> Any:
    """Return the value of all elements of an array with a constant fill."""
    return poison(dtype) if array.fill == "empty" else CONSTANT_FILLS.index(array.fill)


def _random(array: Array, dtype: np.dtype[Any]) -> NDArray[Any]:
    """Draw floats from [0, 1) or integers from 0 to 9, so that sums neither cancel nor overflow soon."""
    generator = np.random.default_rng(array.seed)
    if dtype.kind in "iub":
        return generator.integers(0, 10, array.shape).astype(dtype)
    if dtype.kind != "c":
        return _draw(generator.random, array.shape, dtype)
    real = generator.random(array.shape)
    return (real + 1j * generator.random(array.shape)).astype(dtype)


def _draw(draw: Callable[[int], NDArray[Any]], shape: tuple[int, ...], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Draw numbers and convert them piece by piece, which takes half the time for large arrays."""
    numbers = new_column(int(np.prod(shape)), dtype)
    for low in range(0, len(numbers), CHUNK_OF_NUMBERS):
        part = numbers[low : low + CHUNK_OF_NUMBERS]
        part[:] = draw(len(part))
    return numbers.reshape(shape)


def _count_up(shape: tuple[int, ...], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Count 0 1 2 ..., converted piece by piece to avoid a large temporary array of 64-bit integers."""
    numbers = np.empty(int(np.prod(shape)), dtype)
    for low in range(0, len(numbers), CHUNK_OF_NUMBERS):
        numbers[low : low + CHUNK_OF_NUMBERS] = np.arange(low, min(low + CHUNK_OF_NUMBERS, len(numbers)))
    return numbers.reshape(shape)


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
