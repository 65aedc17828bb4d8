"""From a program to machine code, kept on disk: what was compiled once is only read the next time."""

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
from ..cached import engine_files
from ..not_compilable import NotCompilable, sentence
from ..quick_compiler import EntryCompiler, PartCompiler, entry_address
from ..rewrite.program import RecordingProgram, digest
from ..rewrite.writer import NUMBER
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
KEPT = 300  # compiled kernels
OF_LIBDEVICE = ("_ts_math_", "_ts_np_", "_ts_power", "_ts_cuda_", "_ts_libdevice_", "_ts_absolute")
_known: dict[str, Any] = {}


def compiled(program: RecordingProgram, arguments: Arguments, *, keep: bool = True) -> int:
    """Return the address of the compiled kernel, which takes the address of the state.

    keep: whether it is looked for where it is kept, and kept there. Raises NotCompilable.
    """
    entry = _entry(program, arguments)
    text, name = _text_and_name(program, arguments, entry)
    made = _known.get(name) if keep else _compile(program, arguments, entry, Path())
    if made is None:
        made = _known[name] = _compile(program, arguments, entry, _written(name, text))
    if isinstance(made, NotCompilable):
        raise made.with_traceback(None)
    return entry_address(made.overloads[SIGNATURE])


def is_kept(program: RecordingProgram, arguments: Arguments) -> bool:
    """Return whether what comes of compiling this is known, so that it is only read."""
    _, name = _text_and_name(program, arguments, _entry(program, arguments))
    folder = _folder()
    files = ((folder, f"{name}.refused"), (folder / "__pycache__", f"{name}.*.nbc"))
    return name in _known or any(True for at, pattern in files for _ in at.glob(pattern))


def _text_and_name(program: RecordingProgram, arguments: Arguments, entry: str) -> tuple[str, str]:
    """Return all that compiled code depends on, and the name under which it is kept."""
    written = program.text()
    library = f"# libdevice {libdevice_digest()}" if any(name in written for name in OF_LIBDEVICE) else ""
    text = "\n".join([_own_source(), library, written, *arguments.facts, entry])
    return text, digest(text + repr(list(_raising(program))))


def _raising(program: RecordingProgram) -> Iterator[tuple[str, int]]:
    """Yield the (file, line) that errors can name: they are compiled in."""
    for function in program.functions:
        raising = (node for node in ast.walk(function) if isinstance(node, ast.Raise | ast.Assert))
        yield from ((program.files[function.name], node.lineno) for node in raising)


def _entry(program: RecordingProgram, arguments: Arguments) -> str:
    names = [f"a{i}" for i in range(len(arguments.expressions))]
    reads = "\n    ".join(f"{n} = {e}" for n, e in zip(names, arguments.expressions, strict=True))
    kernel = program.functions[-1].name
    return ENTRY.format(reads=reads or "pass", kernel=kernel, arguments=", ".join(["_ts_state", *names]))


@lru_cache
def _own_source() -> str:
    """Return what says which version of the engine and of numba compiled code is of."""
    text = "".join(file.read_text(encoding="utf-8") for file in engine_files())
    return f"# numba {numba.__version__}, engine {digest(text)}"


def _compile(program: RecordingProgram, arguments: Arguments, entry: str, path: Path) -> Any:
    """Return the compiled entry, or NotCompilable: to find out takes as long as to compile, so that is kept too.

    path: of the program's text, beside which all is kept; the empty one where nothing is.
    """
    refusal = path.parent / f"{path.stem}.refused" if path.name else path
    with suppress(OSError):
        return NotCompilable(refusal.read_text(encoding="utf-8"))
    module = ModuleType(f"_tilescope_compiled_{path.stem}")
    module.__dict__.update(SUPPORT | _told(program, arguments.end) | arguments.readers | program.values)
    module.__dict__.update(_libdevice_functions(program))
    sys.modules[module.__name__] = module  # numba looks for the module of what it reads from its cache
    options = {"error_model": "python" if program.debug else "numpy"}
    for function in program.functions:
        tree = ast.Module([function], [])
        exec(compile(tree, program.files[function.name], "exec"), module.__dict__)
        module.__dict__[function.name] = numba.njit(pipeline_class=PartCompiler, **options)(
            module.__dict__[function.name]
        )
    exec(compile(entry, str(path), "exec"), module.__dict__)
    made = numba.njit(cache=path.is_file(), pipeline_class=EntryCompiler, **options)(
        module.__dict__["_ts_entry"]
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            made.compile(SIGNATURE)
        except (NumbaError, NotImplementedError) as error:
            said = sentence(error, program.functions)
            with suppress(OSError):
                write_atomically(refusal, said.encode(), durable=False)
            return NotCompilable(said)
    return made


def _libdevice_functions(program: RecordingProgram) -> dict[str, Any]:
    """Return what compiled code calls for the functions of `cuda.libdevice` that a program names."""
    prefix = "_ts_libdevice_"
    return {
        name: libdevice_call(name.removeprefix(prefix)) for name in program.values if name.startswith(prefix)
    }


def _told(program: RecordingProgram, at: int) -> dict[str, Any]:
    """Return what gives compiled code declared arrays and what it is told, from a word of the table of arguments on."""
    made = {f"{NUMBER}{n}": threads.scalar(types.int64, at + n) for n in range(len(program.numbers))}
    at += len(program.numbers)
    for number, array in enumerate(program.declared):
        told = len(program.told_lengths(array))
        made[f"_ts_declared_{number}"] = cell_type.declared(
            array.dtype, array.shape, number, program.first_region(number), own=array.space == "local",
            told=at if told else None,
        )  # fmt: skip
        at += told
    return made


def _written(name: str, text: str) -> Path:
    """Write a program where numba's cache can name it; where nothing can be written, it is compiled every time."""
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
    """Remove the kernels that were compiled longest ago, and what numba keeps of them."""
    programs = sorted(folder.glob("*.py"), key=lambda path: path.stat().st_mtime_ns, reverse=True)
    for old in programs[KEPT - 1 :]:
        for path in [*folder.glob(f"{old.stem}.*"), *(folder / "__pycache__").glob(f"{old.stem}.*")]:
            path.unlink(missing_ok=True)
