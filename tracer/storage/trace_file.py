"""Trace files: a versioned `.npz` of plain numbers and one JSON text; data, never code."""

from __future__ import annotations

import dataclasses
import errno
import json
import re
import zipfile
import zlib
from collections.abc import Mapping
from operator import attrgetter
from pathlib import Path
from typing import IO, Any, Final, Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

from ..model.array_types import Columns, narrow
from ..model.trace import Barriers, Buffer, Check, Dim3, KernelError, MissingLanes, OutOfBounds, Site, Trace
from . import npz
from .atomic_write import atomic_file
from .column_files import ColumnFile, column_in, counted, file_of
from .validation import (
    ACCESS_COLUMNS,
    BARRIER_COLUMNS,
    LARGEST_BYTES,
    LONGEST_TEXT,
    OUTSIDE_COLUMNS,
    Announced,
    TooLargeError,
    check_announced,
    check_meta,
    check_trace,
)

FORMAT = "tilescope trace"
VERSION: Final = 2
FEW = 1 << 14  # bytes of accesses that are not worth the time to compress them
LARGEST_META = 32_000_000  # bytes of JSON: names, launch, source texts

TABLES = {"barriers": BARRIER_COLUMNS, "warp_barriers": BARRIER_COLUMNS, "outside": OUTSIDE_COLUMNS}
OF_TABLES = tuple(f"{table}.{name}" for table, names in TABLES.items() for name in names)
INTEGERS = (*ACCESS_COLUMNS, *OF_TABLES, "blocks", "recorded")
LATER = tuple(
    f"{table}.part" for table in ("barriers", "warp_barriers")
)  # files of earlier versions lack these
BY_OWNER = ("phase", "op", "buffer", "site")
BY_SITE = ("index", "value")
OPTIONAL = re.compile(r"value|outside\.cell|initial\.(?:0|[1-9]\d{0,5})")

ELSEWHERE = "elsewhere"  # where the columns lie that are not in the file, as JSON

_FOREIGN = "it is not a Tilescope trace; choose a file that Tilescope saved"
_DAMAGED = "the trace is damaged or cut short ({}); copy it again, or trace the kernel again"
_TOO_LARGE = "{}, more than can be shown; trace the kernel with smaller ones"
_NEWER = "a newer Tilescope saved it (format {}, this one reads up to {}); update Tilescope"
_OLDER = "an older Tilescope saved it (format {}, this one reads {}); trace the kernel again"
_DAMAGE = (
    zipfile.BadZipFile, zlib.error, EOFError, LookupError, TypeError, ValueError, ArithmeticError,
    NotImplementedError, RuntimeError, RecursionError, msgspec.MsgspecError,
)  # fmt: skip
_NO_ROOM = (errno.ENOSPC, errno.EFBIG, getattr(errno, "EDQUOT", errno.ENOSPC))


class TraceFileError(Exception):
    """A trace file can't be written or read; the text is one sentence: what, where, what to do."""


class _Unfit(Exception):
    """What is wrong with the content of a file, and what to do."""


@dataclasses.dataclass(frozen=True)
class _Meta:
    """What a file says beside its columns; what a Trace has under the same name means the same here."""

    format: str  # FORMAT
    version: Literal[2]
    packed: bool  # whether the columns are as `_pack` leaves them
    buffers: tuple[Buffer, ...]  # by their numbers
    sites: tuple[Site, ...]  # by their numbers
    launch: str  # JSON, see tracer.model.launch
    kernel: str  # its name
    grid: Dim3  # blocks
    block_dim: Dim3  # threads
    schedule: str  # its kind
    resident: int  # blocks that ran at once
    accesses: int  # made, kept or not
    totals: dict[str, int]  # counters of the whole launch where rows are missing, else empty
    notice: str  # one sentence about what is missing, or ""
    sources: dict[str, str]  # texts of the sites' files, by path
    error: KernelError | None  # that ended the launch
    check: Check | None  # against the reference, where there is one
    made_by: str  # what ran it, and why
    outside: tuple[str, ...]  # OutOfBounds.text
    missing: tuple[MissingLanes, ...]


_OWN_FIELDS = ("format", "version", "packed", "outside")
_TRACE_FIELDS = [f.name for f in dataclasses.fields(_Meta) if f.name not in _OWN_FIELDS]


def save(
    trace: Trace, path: str | Path, compress: bool | None = None, durable: bool | None = None, *,
    handed_over: bool = False,
) -> None:  # fmt: skip
    """Write the trace to `path`, whole or not at all; raises TraceFileError.

    compress: by default where that makes a difference. Without it a file takes up to 24 bytes an access and is written
    and read faster: right for handing a trace to another process. durable: forced onto the disk, which takes
    milliseconds; by default unless compress is False. handed_over: to a process that loads it as `ours`, while this one
    keeps open the files in which columns lie; these are not written again.
    """
    path, durable = Path(path), compress is not False if durable is None else durable
    compress = trace.nbytes > FEW if compress is None else compress
    try:
        with atomic_file(path, durable) as file:
            columns = _members(trace, compress)
            npz.write(file, _without_files(columns) if handed_over else columns, compress)
    except OSError as error:
        raise TraceFileError(f"Can't save {path}: {_why_not_saved(path, error)}.") from error
    except MemoryError as error:
        raise TraceFileError(f"Can't save {path}: the memory is full; close other programs.") from error


def load(path: str | Path, mapped: bool = False, *, ours: bool = False) -> Trace:
    """Return the trace in a file; its columns are read-only. Raises TraceFileError for anything else.

    mapped: large columns are left in the file, which nobody may change any more; it may be removed. ours: a process of
    ours has handed it over, with the names of other files in which columns lie.
    """
    path = Path(path)
    try:
        with path.open("rb") as file:
            return _read(file, mapped, ours)
    except _Unfit as error:
        raise TraceFileError(f"Can't open {path}: {error}.") from error
    except OSError as error:
        raise TraceFileError(f"Can't open {path}: {_why_not_opened(path, error)}.") from error
    except MemoryError as error:
        raise TraceFileError(f"Can't open {path}: the memory is full; close other programs.") from error


def _why_not_saved(path: Path, error: OSError) -> str:
    if path.is_dir():
        return "it is a folder; choose a file name"
    if error.errno in _NO_ROOM:
        return "the disk is full; free some space or choose another folder"
    if isinstance(error, FileNotFoundError | NotADirectoryError):
        return "its folder does not exist; create it or choose another"
    if isinstance(error, PermissionError) or error.errno == errno.EROFS:
        return "the folder can't be written; choose another folder"
    return f"{error.strerror or error}; choose another name or folder"


def _why_not_opened(path: Path, error: OSError) -> str:
    if path.is_dir():
        return "it is a folder; choose a trace file"
    if isinstance(error, FileNotFoundError | NotADirectoryError):
        return "there is no such file; check its name and folder"
    if isinstance(error, PermissionError):
        return "you may not read it; change its permissions or copy it"
    return f"{error.strerror or error}; choose another file"


def _members(trace: Trace, packed: bool) -> Columns:
    columns = {name: getattr(trace, name) for name in (*ACCESS_COLUMNS, "blocks", "recorded")}
    columns |= {name: attrgetter(name)(trace) for name in OF_TABLES}
    columns = {name: narrow(column) for name, column in columns.items()} | {
        "outside.cell": trace.outside.cell
    }
    if trace.value is not None:
        columns["value"] = trace.value
    initial = {f"initial.{number}": content for number, content in trace.initial.items()}
    return {"meta": _meta(trace, packed)} | (_pack(columns) if packed else columns) | initial


def _without_files(columns: Columns) -> Columns:
    """Return columns without those that lie in files of this process, and one that says where these are.

    The steps of a trace that was recorded here are 0 1 2 ...
    """
    found = {name: file_of(column) for name, column in columns.items() if column.nbytes >= npz.LARGE}
    step = columns["step"]
    if step.nbytes >= npz.LARGE and step[0] == 0 and step[-1] == len(step) - 1:
        found["step"] = counted(step)
    files = {name: file for name, file in found.items() if file is not None}
    said = np.frombuffer(msgspec.json.encode(files), np.uint8)
    return {name: column for name, column in columns.items() if name not in files} | {ELSEWHERE: said}


def _meta(trace: Trace, packed: bool) -> NDArray[np.uint8]:
    from_trace: dict[str, Any] = {name: getattr(trace, name) for name in _TRACE_FIELDS}
    if trace.error is not None:
        from_trace["error"] = dataclasses.replace(trace.error, message=trace.error.message[:LONGEST_TEXT])
    meta = _Meta(format=FORMAT, version=VERSION, packed=packed, outside=trace.outside.text, **from_trace)
    text = json.dumps(msgspec.to_builtins(meta), ensure_ascii=False)
    return np.frombuffer(text.encode("utf-8", "replace"), np.uint8)


def _pack(columns: Columns) -> Columns:
    """Make columns that deflate well, under any schedule: integers as differences (which wrap).

    What a thread does next is regular, and what a site of a thread touches next even more so; the order in
    which threads take turns need not be. So only `block`, `thread` and `step` stay as they are: others
    are sorted by thread, and index and value by site, then thread.
    """
    owner = _by_owner(columns)
    packed = columns | {name: columns[name][owner] for name in BY_OWNER}
    by_site = owner[_order(packed["site"])]
    packed |= {name: columns[name][by_site] for name in BY_SITE if name in columns}
    return packed | {name: _differences(packed[name]) for name in INTEGERS}


def _differences(column: NDArray[Any]) -> NDArray[Any]:
    found = np.empty_like(column)
    found[:1] = column[:1]
    np.subtract(column[1:], column[:-1], out=found[1:])
    return found


def _unpack(packed: Columns) -> Columns:
    columns = packed | {name: np.cumsum(packed[name], dtype=packed[name].dtype) for name in INTEGERS}
    owner = _by_owner(columns)
    by_site = owner[_order(columns["site"])]
    columns |= {name: _put_back(columns[name], owner) for name in BY_OWNER}
    return columns | {name: _put_back(columns[name], by_site) for name in BY_SITE if name in columns}


def _put_back(column: NDArray[Any], order: NDArray[np.int64]) -> NDArray[Any]:
    original = np.empty_like(column)
    original[order] = column
    return original


def _by_owner(columns: Columns) -> NDArray[np.int64]:
    """Return the order by block, then thread, then time."""
    by_thread = _order(columns["thread"])
    return by_thread[_order(columns["block"][by_thread])]


def _order(column: NDArray[Any]) -> NDArray[np.int64]:
    return np.argsort(column, kind="stable")


def _read(file: IO[bytes], mapped: bool, ours: bool) -> Trace:
    foreign = not file.read(4).startswith(b"PK\x03\x04")
    try:
        with zipfile.ZipFile(file) as members:
            meta = _read_meta(members)
            check_meta(meta)
            files = _elsewhere(members) if ours else {}
            names = _wanted(members, files, ours=ours)
            announced = {name: (np.dtype(file.dtype), file.count) for name, file in files.items()}
            announced |= {name: npz.header(members, name) for name in names}
            check_announced(meta, _with_later(announced))
            columns = {name: npz.read(members, name, file if mapped else None) for name in names}
            columns |= {name: column_in(file) for name, file in files.items()}
        for name in LATER:
            columns.setdefault(name, np.zeros(len(columns[name.replace("part", "step")]), np.uint8))
        trace = _trace(meta, _unpack(columns) if meta.packed else columns)
        check_trace(trace)
    except TooLargeError as error:
        raise _Unfit(_TOO_LARGE.format(error)) from error
    except _DAMAGE as error:
        raise _Unfit(_FOREIGN if foreign else _DAMAGED.format(str(error)[:200])) from error
    return trace


# The type is made ready when it is imported: threads that are the first to use one at once can crash msgspec.
msgspec.json.Decoder(_Meta)
_FILES = msgspec.json.Decoder(dict[str, ColumnFile])


def _read_meta(members: zipfile.ZipFile) -> _Meta:
    if "meta.npy" not in members.namelist() or members.getinfo("meta.npy").file_size > LARGEST_META:
        raise _Unfit(_FOREIGN)
    meta = json.loads(npz.read(members, "meta").tobytes())
    if not isinstance(meta, dict) or meta.get("format") != FORMAT:
        raise _Unfit(_FOREIGN)
    if isinstance(meta.get("version"), int) and meta["version"] > VERSION:
        raise _Unfit(_NEWER.format(meta["version"], VERSION))
    if meta.get("version") == 1:  # before barriers said whom they order
        raise _Unfit(_OLDER.format(1, VERSION))
    # Half a surrogate pair passes JSON, and raises wherever the text is shown or written.
    json.dumps(meta, ensure_ascii=False).encode()
    return msgspec.convert(meta, _Meta)


def _elsewhere(members: zipfile.ZipFile) -> dict[str, ColumnFile]:
    """Return where the columns lie that are not in the file."""
    there = f"{ELSEWHERE}.npy" in members.namelist()
    return _FILES.decode(npz.read(members, ELSEWHERE).tobytes()) if there else {}


def _wanted(members: zipfile.ZipFile, elsewhere: Mapping[str, ColumnFile], *, ours: bool) -> list[str]:
    """Return the names of the columns; raises ValueError where some are missing, unknown or too large."""
    sizes = npz.sizes(members)
    names = [name for name in sizes if name != "meta" and not (ours and name == ELSEWHERE)]
    known = {*names, *elsewhere}
    unknown = [name for name in known if name not in INTEGERS and not OPTIONAL.fullmatch(name)]
    if unknown or not known >= set(INTEGERS) - set(LATER) or sum(sizes.values()) > LARGEST_BYTES:
        raise ValueError("names or sizes of its columns")
    return names


def _with_later(announced: dict[str, Announced]) -> dict[str, Announced]:
    """Return what the columns of a file announce, with those that files of earlier versions lack."""
    lengths = {name: announced[name.replace("part", "step")][1] for name in LATER}
    return {name: (np.dtype(np.uint8), length) for name, length in lengths.items()} | announced


def _trace(meta: _Meta, columns: Columns) -> Trace:
    # As narrow as they are written: NumPy makes floats of signed and unsigned numbers of 64 bits together.
    columns = columns | {name: narrow(columns[name]) for name in INTEGERS}
    for column in columns.values():
        column.flags.writeable = False
    from_meta: dict[str, Any] = {name: getattr(meta, name) for name in _TRACE_FIELDS}
    rows: dict[str, Any] = {name: columns[name] for name in ACCESS_COLUMNS}
    return Trace(
        **rows,
        value=columns.get("value"),
        barriers=Barriers(*(columns[f"barriers.{name}"] for name in BARRIER_COLUMNS)),
        warp_barriers=Barriers(*(columns[f"warp_barriers.{name}"] for name in BARRIER_COLUMNS)),
        outside=_outside(meta, columns),
        blocks=columns["blocks"].astype(np.int64),
        recorded=columns["recorded"].astype(np.int64),
        initial={int(n.removeprefix("initial.")): c for n, c in columns.items() if n.startswith("initial.")},
        **from_meta,
    )


def _outside(meta: _Meta, columns: Columns) -> OutOfBounds:
    found: dict[str, Any] = {name: columns[f"outside.{name}"] for name in OUTSIDE_COLUMNS}
    return OutOfBounds(**found, cell=columns["outside.cell"], text=meta.outside)
