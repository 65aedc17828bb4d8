"""Compile a program to machine code, and cache it on disk: the next time it is only loaded."""

from __future__ import annotations

import ast
import sys
import warnings
from collections.abc import Iterator
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from types import ModuleType
from typing import Any

import numba
from numba.core import types
from numba.core.errors import NumbaError

from ...nvidia_math.bitcode import digest as libdevice_digest
from ...storage.atomic_write import write_atomically
from ...storage.folders import cache_folder
from ..compile_cached import engine_files
from ..not_compilable import NotCompilableError, summarise_error
from ..quick_compiler import EntryCompiler, PartCompiler, entry_address
from ..rewrite.program import RecordingProgram, digest
from ..rewrite.writer import READER_PREFIX
from ..runtime import cell_type, threads
from ..runtime.gpu_functions import libdevice_call
from ..runtime.symbols import SUPPORT
from .arguments import Arguments

ENTRY = """
def _ts_entry(_ts_state):
    {reads}
    {kernel}({arguments})
"""
SIGNATURE = (types.int64,)
MAX_CACHED = 300  # number of compiled kernels on disk
LIBDEVICE_PREFIXES = ("_ts_math_", "_ts_np_", "_ts_power", "_ts_cuda_", "_ts_libdevice_", "_ts_absolute")
compiled_kernels: dict[str, Any] = {}


def compile_program(program: RecordingProgram, arguments: Arguments, *, keep: bool = True) -> int:
    """Return the address of the compiled kernel, which takes the address of the state.

    keep: whether to use the cache. Raises NotCompilableError.
    """
    entry = _entry_source(program, arguments)
    text, name = _text_and_name(program, arguments, entry)
    kernel = compiled_kernels.get(name) if keep else _compile(program, arguments, entry, Path())
    if kernel is None:
        kernel = compiled_kernels[name] = _compile(program, arguments, entry, _write_program(name, text))
    if isinstance(kernel, NotCompilableError):
        raise kernel.with_traceback(None)
    return entry_address(kernel.overloads[SIGNATURE])


def is_cached(program: RecordingProgram, arguments: Arguments) -> bool:
    """Check if the result of compiling a program is cached."""
    _, name = _text_and_name(program, arguments, _entry_source(program, arguments))
    folder = _folder()
    files = ((folder, f"{name}.refused"), (folder / "__pycache__", f"{name}.*.nbc"))
    return name in compiled_kernels or any(
        True for directory, pattern in files for _ in directory.glob(pattern)
    )


def _text_and_name(program: RecordingProgram, arguments: Arguments, entry: str) -> tuple[str, str]:
    """Return the text of everything that compiled code depends on, and the name of its files in the cache."""
    program_text = program.text()
    library = (
        f"# libdevice {libdevice_digest()}"
        if any(name in program_text for name in LIBDEVICE_PREFIXES)
        else ""
    )
    text = "\n".join([_engine_version(), library, program_text, *arguments.facts, entry])
    return text, digest(text + repr(list(_error_lines(program))))


def _error_lines(program: RecordingProgram) -> Iterator[tuple[str, int]]:
    """Yield the (file, line) of statements that raise: they are part of the code."""
    for function in program.functions:
        nodes = (node for node in ast.walk(function) if isinstance(node, ast.Raise | ast.Assert))
        yield from ((program.files[function.name], node.lineno) for node in nodes)


def _entry_source(program: RecordingProgram, arguments: Arguments) -> str:
    names = [f"a{i}" for i in range(len(arguments.expressions))]
    reads = "\n    ".join(f"{n} = {e}" for n, e in zip(names, arguments.expressions, strict=True))
    kernel = program.functions[-1].name
    return ENTRY.format(reads=reads or "pass", kernel=kernel, arguments=", ".join(["_ts_state", *names]))


@lru_cache
def _engine_version() -> str:
    """Identify the version of the engine and of numba."""
    text = "".join(file.read_text(encoding="utf-8") for file in engine_files())
    return f"# numba {numba.__version__}, engine {digest(text)}"


def _compile(program: RecordingProgram, arguments: Arguments, entry: str, path: Path) -> Any:
    """Compile the entry; return NotCompilableError if that fails. Failures are cached too, since they take as long.

    path: of the program's text, next to the other files of the cache; the empty path without a cache.
    """
    refusal = path.parent / f"{path.stem}.refused" if path.name else path
    with suppress(OSError):
        return NotCompilableError(refusal.read_text(encoding="utf-8"))
    module = ModuleType(f"_tilescope_compiled_{path.stem}")
    module.__dict__.update(
        SUPPORT | _runtime_readers(program, arguments.word_count) | arguments.readers | program.values
    )
    module.__dict__.update(_libdevice_functions(program))
    sys.modules[module.__name__] = (
        module  # numba looks for the module of functions that it loads from its cache
    )
    options = {"error_model": "python" if program.debug else "numpy"}
    for function in program.functions:
        tree = ast.Module([function], [])
        exec(compile(tree, program.files[function.name], "exec"), module.__dict__)
        module.__dict__[function.name] = numba.njit(pipeline_class=PartCompiler, **options)(
            module.__dict__[function.name]
        )
    exec(compile(entry, str(path), "exec"), module.__dict__)
    kernel = numba.njit(cache=path.is_file(), pipeline_class=EntryCompiler, **options)(
        module.__dict__["_ts_entry"]
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            kernel.compile(SIGNATURE)
        except (NumbaError, NotImplementedError) as error:
            reason = summarise_error(error, program.functions)
            with suppress(OSError):
                write_atomically(refusal, reason.encode(), durable=False)
            return NotCompilableError(reason)
    return kernel


def _libdevice_functions(program: RecordingProgram) -> dict[str, Any]:
    """Return the functions of `cuda.libdevice` that a program names, for compiled code."""
    prefix = "_ts_libdevice_"
    return {
        name: libdevice_call(name.removeprefix(prefix)) for name in program.values if name.startswith(prefix)
    }


def _runtime_readers(program: RecordingProgram, word: int) -> dict[str, Any]:
    """Return the functions that read runtime constants and declared arrays, from a word of the arguments' table on."""
    readers = {
        f"{READER_PREFIX}{n}": threads.scalar_reader(types.int64, word + n)
        for n in range(len(program.numbers))
    }
    word += len(program.numbers)
    for number, array in enumerate(program.declared):
        length_count = len(program.runtime_lengths(array))
        readers[f"_ts_declared_{number}"] = cell_type.declared_array_reader(
            array.dtype, array.shape, number, program.first_region(number), per_thread=array.space == "local",
            first_length_word=word if length_count else None,
        )  # fmt: skip
        word += length_count
    return readers


def _write_program(name: str, text: str) -> Path:
    """Write a program's text for numba's cache; if nothing can be written, it is compiled every time."""
    folder = _folder()
    path = folder / f"{name}.py"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if not path.exists():
            _trim(folder)
            write_atomically(path, text.encode(), durable=False)
    except OSError:
        pass
    return path


def _folder() -> Path:
    return cache_folder() / "compiled"


def _trim(folder: Path) -> None:
    """Remove the oldest kernels, with numba's files for them."""
    programs = sorted(folder.glob("*.py"), key=lambda path: path.stat().st_mtime_ns, reverse=True)
    for program in programs[MAX_CACHED - 1 :]:
        for path in [*folder.glob(f"{program.stem}.*"), *(folder / "__pycache__").glob(f"{program.stem}.*")]:
            path.unlink(missing_ok=True)
