"""Which kernels were compiled before: they are run compiled from the start, also when their program runs again.

In the process that compiled it a kernel is not even rewritten again: to find out that a program is the one that was
compiled takes longer than a small launch does.
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
from ..compiled.not_compilable import NotCompilable
from ..storage.folders import cache_folder

if TYPE_CHECKING:  # numba is imported where compiling pays
    from ..compiled.driver.engine import Prepared
    from ..compiled.rewrite.program import RecordingProgram
    from ..model.launch import Launch
    from ..simulator.numba_patch import KernelCall

KEPT = 1000  # kernels
_noted: set[tuple[CodeType, str]] = set()  # in this process


class _Compiled(NamedTuple):
    """What was compiled of a kernel, and for which calls it is right."""

    program: RecordingProgram
    entry: Any
    schedule: str
    debug: bool
    arguments: list[str]  # all that compiled code depends on of them

    def suits(self, launch: Launch, call: KernelCall, arguments: list[str]) -> bool:
        """Return whether it is what would be compiled for a call."""
        asked = launch.schedule.kind, call.debug, arguments
        return (self.schedule, self.debug, self.arguments) == asked


# By kernels whose names are frozen: as long as such a function is the same one, so is its program.
_programs: WeakKeyDictionary[FunctionType, _Compiled] = WeakKeyDictionary()


def ready_call(launch: Launch, names: tuple[str, ...], call: KernelCall) -> Prepared:
    """Return a call ready to be run compiled, at once where its kernel was compiled in this process before.

    Raises NotCompilable.
    """
    from ..compiled.driver.engine import prepared

    ready = _ready_before(launch, names, call)
    if ready is None:
        ready = prepared(launch, names, call.kernel, call.arguments, debug=call.debug)
        facts = [*ready.arguments.facts, *ready.arguments.expressions]
        made = _Compiled(ready.program, ready.entry, launch.schedule.kind, call.debug, facts)
        _programs[call.kernel] = made
    return ready


def _ready_before(launch: Launch, names: tuple[str, ...], call: KernelCall) -> Prepared | None:
    from ..compiled.driver.arguments import Arguments
    from ..compiled.driver.engine import Prepared

    found, arguments = _programs.get(call.kernel), Arguments()
    if found is None:
        return None
    try:
        for name, value in zip(names, call.arguments, strict=True):
            arguments.add(name, value)
    except (NotCompilable, ValueError):  # which is said where it is prepared anew
        return None
    suits = found.suits(launch, call, [*arguments.facts, *arguments.expressions])
    return Prepared(found.program, arguments, found.entry) if suits else None


def was_compiled(code: CodeType, arguments: Iterable[Any]) -> bool:
    """Return whether a kernel was compiled before, for arguments of these types, and its trace was kept.

    No more than a hint, kept in files without content: what was compiled may have been removed since.
    """
    types = _types(arguments)
    return (code, types) in _noted or _kept(code, types)


def note_compiled(code: CodeType, arguments: Iterable[Any]) -> None:
    """Remember that a kernel was compiled for arguments of these types, and that its trace was kept."""
    types = _types(arguments)
    if (code, types) in _noted:
        return
    _noted.add((code, types))
    with suppress(OSError):  # nothing can be written: the next run finds out anew
        path = _path(code, types)
        path.parent.mkdir(parents=True, exist_ok=True)
        for old in sorted(path.parent.iterdir(), key=lambda file: file.stat().st_mtime_ns)[: -KEPT + 1]:
            old.unlink(missing_ok=True)
        path.touch()


@lru_cache
def _kept(code: CodeType, types: str) -> bool:
    return _path(code, types).exists()


def _path(code: CodeType, types: str) -> Path:
    place = f"{code.co_filename}:{code.co_firstlineno} {code.co_names} {types} {__version__}"
    return (
        cache_folder() / "compiled-kernels" / hashlib.sha256(code.co_code + place.encode()).hexdigest()[:40]
    )


def _types(arguments: Iterable[Any]) -> str:
    return " ".join(
        f"{_name(a.dtype) if hasattr(a, 'dtype') else type(a).__name__}{getattr(a, 'ndim', '')}"
        for a in arguments
    )


@lru_cache(256)
def _name(dtype: Any) -> str:
    return str(dtype)  # NumPy puts it together anew each time
