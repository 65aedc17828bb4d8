"""Counters of a launch in a file that a project keeps: they may fall, and a rise fails the test."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import msgspec

from ..tracer.model.trace import Dim3, Trace
from ..tracer.storage.atomic_write import write_atomically
from .counter_differences import rise_text
from .errors import TilescopeError

VERSION = 1
UPDATE = "TILESCOPE_UPDATE_SNAPSHOTS"  # the environment variable that --tilescope-update-snapshots sets


class _Snapshot(msgspec.Struct, forbid_unknown_fields=True):
    """The content of a file."""

    version: int
    kernel: str
    grid: Dim3
    block: Dim3
    counters: dict[str, int]


def compare_with_snapshot(trace: Trace, counters: Mapping[str, int], path: Path) -> None:
    """Raise AssertionError if a counter is larger than in a file; write the file where the user asks for it.

    Raises TilescopeError for a file that can't be used.
    """
    __tracebackhide__ = True  # pytest shows the line of the test instead
    now = _Snapshot(VERSION, trace.kernel, trace.grid, trace.block_dim, dict(counters))
    if os.environ.get(UPDATE, "0") not in ("", "0"):
        _write(now, path)
        return
    if not path.exists():
        raise AssertionError(f"there is no {path}; {_how_to_write()}")
    kept = _read(path)
    if (kept.kernel, kept.grid, kept.block) != (now.kernel, now.grid, now.block):
        raise AssertionError(f"{path} is about {_named(kept)}, and not {_named(now)}; {_how_to_write()}")
    risen = {
        name: kept.counters.get(name, 0) for name in counters if counters[name] > kept.counters.get(name, 0)
    }
    if risen:
        text = rise_text(trace, counters, risen)
        raise AssertionError(
            f"{text}\nThe earlier counters are in {path}; if the rise is intended, {_how_to_write()}"
        )


def _how_to_write() -> str:
    return f"run pytest --tilescope --tilescope-update-snapshots, or set {UPDATE}=1, to write it."


def _named(snapshot: _Snapshot) -> str:
    return f"{snapshot.kernel}[{snapshot.grid}, {snapshot.block}]"


def _write(snapshot: _Snapshot, path: Path) -> None:
    __tracebackhide__ = True
    content = msgspec.json.format(msgspec.json.encode(snapshot), indent=1) + b"\n"
    try:
        write_atomically(path, content)
    except OSError as error:
        raise TilescopeError(f"can't write {path}: {error.strerror or error}.") from None


def _read(path: Path) -> _Snapshot:
    __tracebackhide__ = True
    try:
        snapshot = msgspec.json.decode(path.read_bytes(), type=_Snapshot)
    except OSError as error:
        raise TilescopeError(f"can't read {path}: {error.strerror or error}.") from None
    except msgspec.MsgspecError as error:
        raise TilescopeError(f"{path} is no snapshot of counters: {error}.") from None
    if snapshot.version != VERSION:
        raise TilescopeError(
            f"{path} has version {snapshot.version}, and this Tilescope reads version {VERSION}."
        )
    return snapshot
