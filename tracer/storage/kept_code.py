"""Code that Python compiles of sources in no file, kept on disk as it keeps that of modules beside them."""

from __future__ import annotations
import __future__

import builtins
import contextlib
import hashlib
import marshal
import sys
from collections.abc import Collection, Iterator
from importlib.util import MAGIC_NUMBER
from pathlib import Path
from types import CodeType
from typing import Any

from .atomic_write import write_atomically

Entries = dict[
    str, tuple[bytes, int, CodeType]
]  # by name: the source, and the futures that its compiler knew of
DIGEST = hashlib.sha256().digest_size
FUTURES = {getattr(__future__, name).compiler_flag for name in __future__.all_feature_names}


# A module that runs its source once somebody asks for what is in it.
LATER = """
def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    del globals()["__getattr__"]
    exec(compile({source!r}, {name!r}, "exec", {flags}, True), globals())
    return getattr(__import__("sys").modules[__name__], name)
"""


@contextlib.contextmanager
def kept_code(path: Path, prefix: str, later: Collection[str] = ()) -> Iterator[None]:
    """Inside, let `compile` find in a file what it once made of sources whose names begin with `prefix`.

    What is new or has changed is compiled, and kept for the next time, unless Python is to keep no code or the file
    can't be written. A file that is damaged, or another Python's, counts as none. later: names of sources of modules
    that do nothing until they are used.
    """
    plain, kept, made = compile, _read(path), Entries()

    def quick(source: Any, name: Any, mode: str, *others: Any, **options: Any) -> Any:
        if others or options or mode != "exec" or not isinstance(source, bytes):
            return plain(source, name, mode, *others, **options)
        flags = sys._getframe(1).f_code.co_flags & sum(FUTURES)  # those of whoever calls, not ours
        if not str(name).startswith(prefix):
            return plain(source, name, mode, flags, True)
        found = kept.get(name)
        if found is None or found[:2] != (source, flags):
            text = LATER.format(source=source, name=name, flags=flags) if name in later else source
            found = made[name] = source, flags, plain(text, name, mode, flags, True)
        return found[2]

    setattr(builtins, "compile", quick)  # noqa: B010  # which type checkers take for a constant
    try:
        yield
    finally:
        setattr(builtins, "compile", plain)  # noqa: B010
    if made and not sys.dont_write_bytecode:
        _write(path, kept | made)


def _maker() -> tuple[bytes, int]:
    """Return what code depends on beside its source."""
    return MAGIC_NUMBER, sys.flags.optimize


def _read(path: Path) -> Entries:
    """Return what is in the file, which is code to be run: of a damaged one, nothing."""
    with contextlib.suppress(OSError):
        content = path.read_bytes()
        if hashlib.sha256(content[DIGEST:]).digest() == content[:DIGEST]:
            maker, kept = marshal.loads(content[DIGEST:])
            return kept if maker == _maker() else {}
    return {}


def _write(path: Path, kept: Entries) -> None:
    content = marshal.dumps((_maker(), kept))
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, hashlib.sha256(content).digest() + content, durable=False)
