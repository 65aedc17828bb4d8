"""The notes of a launch as a GPU wrote them: a row of words for each access and arrival, a head for each thread."""

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

from ...measure.measurement import Device
from ...model.launch import Launch

# Words of a note. An access has its value's bits and, an atomic one, the old value's; a wait its reach and part.
SITE, BASE, PLACE, BEFORE, AFTER, TIMER, VALUE, OLD = range(8)
WORDS = 8
# Words of a thread's head; from DECLARED_FROM on, INSTANCES for each declared array: where it lies, 0 for nowhere. One
# that a device function declares lies elsewhere in each of its calls that Numba writes out.
COUNT, MULTIPROCESSOR, FIRST, DECLARED_FROM = range(4)
INSTANCES = 8
LARGEST = 1 << 30  # bytes of all threads' notes
Words = NDArray[np.uint64]
_DAMAGE = (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile, zlib.error, msgspec.MsgspecError)


def head_words(declared: int) -> int:
    """Return how many words a thread's head has, for so many declared arrays."""
    return DECLARED_FROM + INSTANCES * declared


class NotesError(Exception):
    """Notes that can't be made, read or made a trace of; the text is one sentence for the user."""


class NotedSite(msgspec.Struct, frozen=True):
    """A place in the source that accesses memory or waits."""

    function: str
    file: str
    line: int  # from 1
    column: int  # from 0, in characters
    kind: int  # an `Op`, or BARRIER


class NotedArray(msgspec.Struct, frozen=True):
    """An array that the kernel was given or declares."""

    name: str  # of the variable
    space: str  # "global", "shared", "local" or "constant"
    dtype: str  # of its elements, as NumPy writes it
    shape: tuple[int, ...] | None  # None is that of dynamic shared memory
    address: int = 0  # of an argument, on the GPU


class NotesHead(msgspec.Struct, frozen=True):
    """What notes are of, and how they were made."""

    launch: Launch
    names: tuple[str, ...]  # of the kernel's parameters
    file: str  # in which the kernel stands, as sites name it
    sites: tuple[NotedSite, ...]  # by the numbers that notes have
    arguments: tuple[NotedArray, ...]  # those that are arrays, in their order
    declared: tuple[NotedArray, ...]  # by their numbers
    device: Device
    date: str  # ISO 8601, UTC
    revision: str  # of git, + where files differ from it, "" if unknown
    versions: dict[str, str]  # of the packages that it was compiled with
    registers: tuple[int, int]  # a thread's, of the kernel as it is and with notes


class NotesWanted(msgspec.Struct, frozen=True):
    """A launch whose accesses are to be noted."""

    launch: Launch
    room: int  # notes that each thread has room for
    path: str  # where they are written


class NotesMade(msgspec.Struct, frozen=True):
    """How it ended: the notes are there, or one sentence says why not."""

    problem: str = ""
    is_last: bool = False  # whether the device can't be used any more, and the process ends
    no_device: bool = False  # whether there is no GPU at all


class Notes(Struct, frozen=True, eq=False):
    """The notes of one launch: everything in them is measured.

    rows: shape (notes, WORDS), thread after thread in the order of the grid, those of each in the order in which it
    made them. heads: shape (threads of the grid, head_words(declared arrays)).
    """

    head: NotesHead
    rows: Words
    heads: Words
    results: Mapping[str, NDArray[Any]]  # what each array argument held after the launch, by name
    plain: Mapping[str, NDArray[Any]]  # the same, after a launch of the kernel as it is
    contents: Mapping[int, NDArray[Any]]  # of constant arrays, by the number of the declaration
    before: Words  # shape (multiprocessors, steps, 2): clock and timer, read before the launch
    after: Words  # the same, read after it

    @property
    def counts(self) -> NDArray[np.int64]:
        """How many notes each thread made."""
        return self.heads[:, COUNT].astype(np.int64)

    def save(self, path: Path) -> None:
        """Write the notes for another process of ours."""
        meta = np.frombuffer(msgspec.json.encode(self.head), np.uint8)
        named = {f"result.{name}": value for name, value in self.results.items()}
        named |= {f"plain.{name}": value for name, value in self.plain.items()}
        named |= {f"content.{number}": value for number, value in self.contents.items()}
        columns = {"rows": self.rows, "heads": self.heads, "before": self.before, "after": self.after}
        np.savez(path, allow_pickle=False, head=meta, **columns, **named)


def load(path: Path) -> Notes:
    """Return the notes that `save` wrote; raises NotesError."""
    try:
        with path.open("rb") as raw, np.load(raw, allow_pickle=False) as file:
            columns = dict(file)
        head = msgspec.json.decode(columns.pop("head").tobytes(), type=NotesHead)
        results, plain, contents = (_named(columns, prefix) for prefix in ("result.", "plain.", "content."))
        numbered = {int(number): value for number, value in contents.items()}
        made = Notes(
            head,
            columns["rows"],
            columns["heads"],
            results,
            plain,
            numbered,
            columns["before"],
            columns["after"],
        )
        _check(made)
    except _DAMAGE as error:
        raise NotesError(f"The notes of the GPU can't be read ({error}); run it again.") from error
    return made


def _named(columns: Mapping[str, NDArray[Any]], prefix: str) -> dict[str, NDArray[Any]]:
    return {name.removeprefix(prefix): value for name, value in columns.items() if name.startswith(prefix)}


def _check(notes: Notes) -> None:
    """Raise ValueError where columns don't fit each other."""
    threads = int(np.prod(notes.head.launch.grid) * np.prod(notes.head.launch.block))
    if notes.rows.dtype != np.uint64 or notes.rows.ndim != 2 or notes.rows.shape[1] != WORDS:
        raise ValueError("rows of another form")
    if notes.heads.shape != (threads, head_words(len(notes.head.declared))):
        raise ValueError("heads of another form")
    if int(notes.counts.sum()) != len(notes.rows):
        raise ValueError(f"{len(notes.rows):,} notes where threads say {int(notes.counts.sum()):,}")
    if len(notes.rows) and int(notes.rows[:, SITE].max()) >= len(notes.head.sites):
        raise ValueError("a site that there is not")
