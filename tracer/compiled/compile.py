"""From a program to machine code, kept on disk: what was compiled once is only read the next time."""

from __future__ import annotations

import ast
import os
import sys
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import numba
import numpy as np
from numba.core import types
from numba.core.errors import NumbaError
from numba.misc.appdirs import AppDirs

from . import cells
from .names import NotCompilable
from .program import Program, digest
from .refusals import sentence
from .support import SUPPORT
from .threads import scalar

# What a launch passes: an array of a dtype and so many dimensions, or a scalar of a Python type.
Kind = tuple[np.dtype[Any], int] | type
SCALARS = {bool: types.boolean, int: types.int64, float: types.float64}
SWEEP = """
def _ts_sweep(_ts_state, mode):
    {arguments}
    generator = {kernel}({given})
    if mode == 0:
        return _ts_size(generator)
    for i in range(_ts_count(_ts_state)):
        _ts_turn(_ts_state, i)
        if mode == 1:
            _ts_keep(_ts_state, {kernel}({given}))
        _ts_resume(_ts_state, generator)
    return 0
"""
_known: dict[str, Any] = {}


def compiled(program: Program, kinds: Sequence[Kind]) -> Any:
    """Return the function that runs threads until each stops: (address of the state, mode).

    Mode 0 returns the bytes of a thread's generator, 1 begins the threads, 2 resumes them. Raises NotCompilable.
    """
    sweep = _sweep(program, kinds)
    text = "\n".join([_own_source(), program.text(), *map(repr, program.declared), *map(repr, kinds), sweep])
    name = digest(text + repr(list(_raising(program))))
    if name not in _known:
        _known[name] = _compile(program, kinds, sweep, name, text)
    return _known[name]


def _raising(program: Program) -> Iterator[int]:
    """Yield the lines that errors can name: they are compiled in."""
    for function in program.functions:
        yield from (node.lineno for node in ast.walk(function) if isinstance(node, ast.Raise | ast.Assert))


def _sweep(program: Program, kinds: Sequence[Kind]) -> str:
    names = [f"a{i}" for i in range(len(kinds))]
    reads = "\n    ".join(f"{n} = _ts_argument_{i}(_ts_state)" for i, n in enumerate(names))
    kernel = program.functions[-1].name
    return SWEEP.format(arguments=reads, kernel=kernel, given=", ".join(["_ts_state", *names]))


def _own_source() -> str:
    """Return what says which version of the engine and of numba compiled code is of."""
    files = sorted(Path(__file__).parent.glob("*.py"))
    return f"# numba {numba.__version__}, engine " + digest("".join(f.read_text(encoding="utf-8") for f in files))


def _compile(program: Program, kinds: Sequence[Kind], sweep: str, name: str, text: str) -> Any:
    path = _written(name, text)
    module = ModuleType(f"_tilescope_compiled_{name}")
    module.__dict__.update(SUPPORT | _memory(program, kinds) | program.values)
    sys.modules[module.__name__] = module  # numba looks for the module of what it reads from its cache
    options = {"error_model": "numpy"}
    for function in program.functions:
        tree = ast.Module([function], [])
        exec(compile(tree, program.files[function.name], "exec"), module.__dict__)
        module.__dict__[function.name] = numba.njit(**options)(module.__dict__[function.name])
    exec(compile(sweep, str(path), "exec"), module.__dict__)
    made = numba.njit(cache=path.exists(), **options)(module.__dict__["_ts_sweep"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            made.compile((types.int64, types.int64))
        except (NumbaError, NotImplementedError) as error:
            raise NotCompilable(sentence(error)) from error
    return made


def _memory(program: Program, kinds: Sequence[Kind]) -> dict[str, Any]:
    """Return what gives compiled code its arguments and declared arrays, by name."""
    made, place = {}, 0
    for number, kind in enumerate(kinds):
        if isinstance(kind, tuple):
            made[f"_ts_argument_{number}"] = cells.argument(*kind, place, number)
            place += 1 + 2 * kind[1]
        else:
            made[f"_ts_argument_{number}"] = scalar(SCALARS[kind], place)
            place += 1
    for number, array in enumerate(program.declared):
        each = array.nbytes if array.space == "local" else 0
        reader = cells.declared(array.dtype, array.shape, number, len(kinds) + number, each)
        made[f"_ts_declared_{number}"] = reader
    return made


def _written(name: str, text: str) -> Path:
    """Write a program where numba's cache can name it; without a place to write, it is compiled every time."""
    folder = cache_folder()
    path = folder / f"{name}.py"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if not path.exists():
            path.write_text(text, encoding="utf-8")
    except OSError:
        pass
    return path


def cache_folder() -> Path:
    """Return the folder of compiled kernels."""
    home = os.environ.get("TILESCOPE_HOME")
    return (Path(home) / "cache" if home else Path(AppDirs("tilescope", False).user_cache_dir)) / "compiled"
