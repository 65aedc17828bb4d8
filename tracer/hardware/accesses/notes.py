"""The notes of a launch as a GPU wrote them: a row of words per access and arrival, and a head per thread."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from ...model.launch import Launch
from ..times.measurement import Device

# Words of a note. VALUE is the bits of an access, OLD the bits before an atomic; for a wait, its reach and part.
SITE, BASE, PLACE, BEFORE, AFTER, TIMER, VALUE, OLD = range(8)
WORDS = 8
# Words of a thread's head. From DECLARED_FROM on there are INSTANCES words for each declared array: its addresses, 0
# for none. An array of a device function has another address in each inlined call.
COUNT, MULTIPROCESSOR, FIRST, DECLARED_FROM = range(4)
INSTANCES = 8
LARGEST = 1 << 30  # bytes of all threads' notes
Words = NDArray[np.uint64]
_DAMAGE = (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile, zlib.error, msgspec.MsgspecError)


def head_words(declared: int) -> int:
    """Count the words of a thread's head for some declared arrays."""
    return DECLARED_FROM + INSTANCES * declared


class NotesError(Exception):
    """Notes that can't be made, read or converted to a trace; the text is one sentence for the user."""


class NotedSite(msgspec.Struct, frozen=True):
    """A position in the source that accesses memory or waits."""

    function: str
    file: str
    line: int  # from 1
    column: int  # from 0, in characters
    kind: int  # an `Op`, or BARRIER


class NotedArray(msgspec.Struct, frozen=True):
    """An array that the kernel gets or declares."""

    name: str  # of the variable
    space: str  # "global", "shared", "local" or "constant"
    dtype: str  # of its elements, as NumPy writes it
    shape: tuple[int, ...] | None  # None for dynamic shared memory
    address: int = 0  # of an argument on the GPU


class NotesHead(msgspec.Struct, frozen=True):
    """The launch of notes, and how they were made."""

    launch: Launch
    names: tuple[str, ...]  # of the kernel's parameters
    file: str  # of the kernel, as sites name it
    sites: tuple[NotedSite, ...]  # by their numbers in notes
    arguments: tuple[NotedArray, ...]  # the array arguments, in order
    declared: tuple[NotedArray, ...]  # by their numbers
    device: Device
    date: str  # ISO 8601, UTC
    revision: str  # of git, with + if files differ from it, "" if unknown
    versions: dict[str, str]  # of the packages that compiled it
    registers: tuple[int, int]  # per thread, of the kernel without and with notes


class NotesRequest(msgspec.Struct, frozen=True):
    """A request to note the accesses of a launch."""

    launch: Launch
    room: int  # notes per thread
    path: str  # of the file to write


class NotesReply(msgspec.Struct, frozen=True):
    """The reply: the notes are written, or one sentence explains the problem."""

    problem: str = ""
    is_last: bool = False  # the device is unusable, and the process ends
    no_device: bool = False  # there is no GPU


class Notes(Struct, frozen=True, eq=False):
    """The notes of one launch: everything in them is measured.

    rows: shape (notes, WORDS), thread by thread in the order of the grid, and in the order of each thread. heads: shape
    (threads of the grid, head_words(declared arrays)).
    """

    head: NotesHead
    rows: Words
    heads: Words
    results: Mapping[str, NDArray[Any]]  # the contents of array arguments after the launch, by name
    plain: Mapping[str, NDArray[Any]]  # the same, after a launch without notes
    contents: Mapping[int, NDArray[Any]]  # of constant arrays, by the number of the declaration
    before: Words  # shape (multiprocessors, steps, 2): clock and timer, read before the launch
    after: Words  # the same, read after it

    @property
    def counts(self) -> NDArray[np.int64]:
        """The number of notes of each thread."""
        return self.heads[:, COUNT].astype(np.int64)

    def save(self, path: Path) -> None:
        """Write the notes for another process."""
        meta = np.frombuffer(msgspec.json.encode(self.head), np.uint8)
        named = {f"result.{name}": value for name, value in self.results.items()}
        named |= {f"plain.{name}": value for name, value in self.plain.items()}
        named |= {f"content.{number}": value for number, value in self.contents.items()}
        columns = {"rows": self.rows, "heads": self.heads, "before": self.before, "after": self.after}
        np.savez(path, allow_pickle=False, head=meta, **columns, **named)


def load(path: Path) -> Notes:
    """Load notes written by `save`; raises NotesError."""
    try:
        with path.open("rb") as raw, np.load(raw, allow_pickle=False) as file:
            columns = dict(file)
        head = msgspec.json.decode(columns.pop("head").tobytes(), type=NotesHead)
        results, plain, contents = (_named(columns, prefix) for prefix in ("result.", "plain.", "content."))
        numbered = {int(number): value for number, value in contents.items()}
        notes = Notes(
            head,
            columns["rows"],
            columns["heads"],
            results,
            plain,
            numbered,
            columns["before"],
            columns["after"],
        )
        _check(notes)
    except _DAMAGE as error:
        raise NotesError(f"The notes of the GPU can't be read ({error}); run it again.") from error
    return notes


def _named(columns: Mapping[str, NDArray[Any]], prefix: str) -> dict[str, NDArray[Any]]:
    return {name.removeprefix(prefix): value for name, value in columns.items() if name.startswith(prefix)}


def _check(notes: Notes) -> None:
    """Raise ValueError if columns don't fit together."""
    threads = int(np.prod(notes.head.launch.grid) * np.prod(notes.head.launch.block))
    if notes.rows.dtype != np.uint64 or notes.rows.ndim != 2 or notes.rows.shape[1] != WORDS:
        raise ValueError("the rows have another shape")
    if notes.heads.shape != (threads, head_words(len(notes.head.declared))):
        raise ValueError("the heads have another shape")
    if int(notes.counts.sum()) != len(notes.rows):
        raise ValueError(f"{len(notes.rows):,} notes, but threads counted {int(notes.counts.sum()):,}")
    if len(notes.rows) and int(notes.rows[:, SITE].max()) >= len(notes.head.sites):
        raise ValueError("an unknown site")
