"""Remembers compiled kernels, so that they run compiled from the start, also when their program runs again.

The process that compiled a kernel does not even rewrite it again, because comparing the rewritten programs takes longer
than a small launch.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakKeyDictionary

from ... import __version__
from ..compiled.not_compilable import NotCompilableError
from ..storage.folders import cache_folder

if TYPE_CHECKING:  # numba is imported only when a kernel is compiled
    from ..compiled.driver.engine import PreparedCall
    from ..compiled.rewrite.program import RecordingProgram
    from ..model.launch import Launch
    from ..simulator.numba_patch import KernelCall

MAX_REMEMBERED = 1000  # kernels
_noted: set[tuple[CodeType, str]] = set()  # compiled in this process


class _Compiled(NamedTuple):
    """The compiled code of a kernel, and the properties of the calls it is valid for."""

    program: RecordingProgram
    entry: Any
    schedule: str
    debug: bool
    arguments: list[str]  # the properties of the arguments that compiled code depends on

    def matches(self, launch: Launch, call: KernelCall, arguments: list[str]) -> bool:
        """Check whether the code is valid for a call."""
        requested = launch.schedule.kind, call.debug, arguments
        return (self.schedule, self.debug, self.arguments) == requested


# The keys are kernels with frozen names: the same function always has the same program.
_programs: WeakKeyDictionary[FunctionType, _Compiled] = WeakKeyDictionary()


def prepare_call(launch: Launch, names: tuple[str, ...], call: KernelCall) -> PreparedCall:
    """Compile a call, or reuse the kernel if this process has compiled it before; raises NotCompilableError."""
    from ..compiled.driver.engine import prepare_call

    ready = _reuse_compiled(launch, names, call)
    if ready is None:
        ready = prepare_call(launch, names, call.kernel, call.arguments, debug=call.debug)
        facts = [*ready.arguments.facts, *ready.arguments.expressions]
        compiled = _Compiled(ready.program, ready.entry, launch.schedule.kind, call.debug, facts)
        _programs[call.kernel] = compiled
    return ready


def _reuse_compiled(launch: Launch, names: tuple[str, ...], call: KernelCall) -> PreparedCall | None:
    from ..compiled.driver.arguments import Arguments
    from ..compiled.driver.engine import PreparedCall

    compiled, arguments = _programs.get(call.kernel), Arguments()
    if compiled is None:
        return None
    try:
        for name, value in zip(names, call.arguments, strict=True):
            arguments.add(name, value)
    except (NotCompilableError, ValueError):  # preparing the call again reports it
        return None
    is_valid = compiled.matches(launch, call, [*arguments.facts, *arguments.expressions])
    return PreparedCall(compiled.program, arguments, compiled.entry) if is_valid else None


def was_compiled(code: CodeType, arguments: Iterable[Any]) -> bool:
    """Check whether a kernel was compiled before for arguments of these types, and its trace was kept.

    This is only a hint, stored as empty files: the compiled code may have been deleted since.
    """
    types = _types(arguments)
    return (code, types) in _noted or _is_noted_on_disk(code, types)


def note_compiled(code: CodeType, arguments: Iterable[Any]) -> None:
    """Remember that a kernel was compiled for arguments of these types and that its trace was kept."""
    types = _types(arguments)
    if (code, types) in _noted:
        return
    _noted.add((code, types))
    with suppress(OSError):  # the next run will compile it again
        path = _path(code, types)
        path.parent.mkdir(parents=True, exist_ok=True)
        for old in sorted(path.parent.iterdir(), key=lambda file: file.stat().st_mtime_ns)[
            : -MAX_REMEMBERED + 1
        ]:
            old.unlink(missing_ok=True)
        path.touch()


@lru_cache
def _is_noted_on_disk(code: CodeType, types: str) -> bool:
    return _path(code, types).exists()


def _path(code: CodeType, types: str) -> Path:
    key = f"{code.co_filename}:{code.co_firstlineno} {code.co_names} {types} {__version__}"
    return cache_folder() / "compiled-kernels" / hashlib.sha256(code.co_code + key.encode()).hexdigest()[:40]


def _types(arguments: Iterable[Any]) -> str:
    return " ".join(
        f"{_name(a.dtype) if hasattr(a, 'dtype') else type(a).__name__}{getattr(a, 'ndim', '')}"
        for a in arguments
    )


@lru_cache(256)
def _name(dtype: Any) -> str:
    return str(dtype)  # cached, because NumPy builds the string each time
