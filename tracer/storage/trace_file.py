"""Trace files: a versioned `.npz` of plain numbers and one JSON text; data, never code."""

from __future__ import annotations

import errno
import json
import math
import re
import zipfile
import zlib
from collections.abc import Callable, Collection, Mapping
from functools import partial
from operator import attrgetter
from pathlib import Path
from typing import IO, Any, Final, Literal

import msgspec
import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray

from ..model.array_types import Columns, narrow
from ..model.launch import CUDA_CPP_SUFFIXES
from ..model.notebook_cells import NOTEBOOK_SUFFIX
from ..model.trace import Barriers, Buffer, Check, Dim3, KernelError, MissingLanes, OutOfBounds, Site, Trace
from . import npz
from .atomic_write import atomic_file
from .column_files import ColumnFile, column_in, counting_column, file_of, forget_pages, is_counting_column
from .packing import INTEGERS, LATER, OF_TABLES, ROUND, pack, undo_differences, unpack
from .spill import MOST_THREADS, unpack_to_disk
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
VERSION: Final = 3
WITHOUT_ROUNDS: Final = 2  # version of files without the column of rounds, which earlier programs read
FEW = 1 << 14  # bytes of accesses below which compression is not worth the time
LARGEST_META = 32_000_000  # bytes of JSON: names, launch, source texts

OPTIONAL = re.compile(r"value|round|outside\.cell|initial\.(?:0|[1-9]\d{0,5})")

ELSEWHERE = "elsewhere"  # member with the locations of columns in other files, as JSON

_FOREIGN = "it is not a Tilescope trace; choose a file that Tilescope saved"
_PROGRAM = (
    "it is a program, not a trace; `tilescope open` shows its launches, and `tilescope run` traces them"
)
_PROGRAM_SUFFIXES = (".py", NOTEBOOK_SUFFIX, *CUDA_CPP_SUFFIXES)
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
    """A trace file that can't be written or read; the text is one sentence: problem, place, remedy."""


class _InvalidFileError(Exception):
    """The content of a file is invalid; the text is the problem and the remedy."""


class _Meta(Struct, frozen=True):
    """The data of a file in addition to its columns; names mean the same as in Trace."""

    format: str  # FORMAT
    version: Literal[2, 3]
    packed: bool  # whether the columns are transformed by `pack`
    buffers: tuple[Buffer, ...]  # by their numbers
    sites: tuple[Site, ...]  # by their numbers
    launch: str  # JSON, see tracer.model.launch
    kernel: str  # its name
    grid: Dim3  # blocks
    block_dim: Dim3  # threads
    schedule: str  # its kind
    resident: int  # blocks that ran at once
    accesses: int  # of the launch, kept or not
    totals: dict[str, int]  # counters of the complete launch if rows are missing, else empty
    notice: str  # one sentence about what is missing, or ""
    sources: dict[str, str]  # texts of the sites' files, by path
    error: KernelError | None  # that ended the launch
    check: Check | None  # against the reference, if there is one
    made_by: str  # the engine, and the reason for the choice
    outside: tuple[str, ...]  # OutOfBounds.text
    missing: tuple[MissingLanes, ...]
    segment_ends: tuple[int, ...] = ()  # of an explicit order


_OWN_FIELDS = ("format", "version", "packed", "outside")
_TRACE_FIELDS = [name for name in _Meta.__struct_fields__ if name not in _OWN_FIELDS]


def save(
    trace: Trace, path: str | Path, compress: bool | None = None, durable: bool | None = None, *,
    handed_over: bool = False,
) -> None:  # fmt: skip
    """Write the trace to `path` atomically; raises TraceFileError.

    compress: by default unless the trace is small. Without it a file takes up to 24 bytes an access and is written
    and read faster, which suits the transfer to another process. durable: synced to the disk, which takes
    milliseconds; by default unless compress is False. handed_over: to a process that loads it as `ours`, while this
    one keeps open the files that hold columns; these are not written again.
    """
    path, durable = Path(path), compress is not False if durable is None else durable
    compress = trace.nbytes > FEW if compress is None else compress
    try:
        with atomic_file(path, durable) as file:
            columns = _without_files(trace) if handed_over else _members(trace, compress)
            npz.write(file, columns, compress)
    except OSError as error:
        raise TraceFileError(f"Can't save {path}: {_save_problem(path, error)}.") from error
    except MemoryError as error:
        raise TraceFileError(f"Can't save {path}: the memory is full; close other programs.") from error


def load(path: str | Path, mapped: bool = False, *, ours: bool = False, aside: Path | None = None) -> Trace:
    """Load the trace in a file; its columns are read-only. Raises TraceFileError for anything else.

    mapped: large columns are left in the file, which must not be changed any more; it may be removed. ours: another
    process of this program handed it over, with the names of other files that hold columns. aside: a folder for unnamed
    files that hold the columns of accesses if they are not mapped, so that only few accesses are in memory; they last
    as long as the trace.
    """
    path = Path(path)
    try:
        with path.open("rb") as file:
            return _read(file, mapped, ours, aside)
    except _InvalidFileError as error:
        problem = _PROGRAM if path.name.lower().endswith(_PROGRAM_SUFFIXES) else error
        raise TraceFileError(f"Can't open {path}: {problem}.") from error
    except OSError as error:
        if aside is not None and error.errno in _NO_ROOM:
            problem = f"there is no room in {aside} to unpack it; free some space"
            raise TraceFileError(f"Can't open {path}: {problem}.") from error
        raise TraceFileError(f"Can't open {path}: {_open_problem(path, error)}.") from error
    except MemoryError as error:
        raise TraceFileError(f"Can't open {path}: the memory is full; close other programs.") from error


def _save_problem(path: Path, error: OSError) -> str:
    if path.is_dir():
        return "it is a folder; choose a file name"
    if error.errno in _NO_ROOM:
        return "the disk is full; free some space or choose another folder"
    if isinstance(error, FileNotFoundError | NotADirectoryError):
        return "its folder does not exist; create it or choose another"
    if isinstance(error, PermissionError) or error.errno == errno.EROFS:
        return "the folder can't be written; choose another folder"
    return f"{error.strerror or error}; choose another name or folder"


def _open_problem(path: Path, error: OSError) -> str:
    if path.is_dir():
        return "it is a folder; choose a trace file"
    if isinstance(error, FileNotFoundError | NotADirectoryError):
        return "there is no such file; check its name and folder"
    if isinstance(error, PermissionError):
        return "you may not read it; change its permissions or copy it"
    return f"{error.strerror or error}; choose another file"


def _members(trace: Trace, packed: bool, without: str = "") -> Columns:
    names = (name for name in (*ACCESS_COLUMNS, "blocks", "recorded") if name != without)
    columns = {name: getattr(trace, name) for name in names}
    columns |= {name: attrgetter(name)(trace) for name in OF_TABLES}
    columns = {name: narrow(column) for name, column in columns.items()} | {
        "outside.cell": trace.outside.cell
    }
    if trace.round is not None:
        columns[ROUND] = narrow(trace.round)
    if trace.value is not None:
        columns["value"] = trace.value
    initial = {f"initial.{number}": content for number, content in trace.initial.items()}
    return {"meta": _meta(trace, packed)} | (pack(columns) if packed else columns) | initial


def _without_files(trace: Trace) -> Columns:
    """Return the columns that are not in files of this process, and one with the locations of the others."""
    columns = _members(trace, False, without="step" if trace.steps is None else "")
    locations = {name: file_of(column) for name, column in columns.items() if column.nbytes >= npz.LARGE}
    if trace.steps is None:
        locations["step"] = counting_column(len(trace))
    files = {name: file for name, file in locations.items() if file is not None}
    encoded = np.frombuffer(msgspec.json.encode(files), np.uint8)
    return {name: column for name, column in columns.items() if name not in files} | {ELSEWHERE: encoded}


def _meta(trace: Trace, packed: bool) -> NDArray[np.uint8]:
    from_trace: dict[str, Any] = {name: getattr(trace, name) for name in _TRACE_FIELDS}
    if trace.error is not None:
        from_trace["error"] = replace(trace.error, message=trace.error.message[:LONGEST_TEXT])
    version: Literal[2, 3] = WITHOUT_ROUNDS if trace.round is None else VERSION
    meta = _Meta(format=FORMAT, version=version, packed=packed, outside=trace.outside.text, **from_trace)
    text = json.dumps(msgspec.to_builtins(meta), ensure_ascii=False)
    return np.frombuffer(text.encode("utf-8", "replace"), np.uint8)


def _read(file: IO[bytes], mapped: bool, ours: bool, aside: Path | None) -> Trace:
    foreign = not file.read(4).startswith(b"PK\x03\x04")
    try:
        with zipfile.ZipFile(file) as members:
            meta = _read_meta(members)
            check_meta(meta)
            files = _elsewhere(members) if ours else {}
            names = _wanted(members, files, ours=ours)
            announced = {name: (np.dtype(file.dtype), file.count) for name, file in files.items()}
            source = npz.Mapped(file) if mapped or aside else None
            columns = {name: npz.read(members, name, source) for name in names} if ours else {}
            announced |= {
                name: (columns[name].dtype, len(columns[name])) if ours else npz.header(members, name)
                for name in names
            }
            check_announced(meta, _with_later(announced))
            lean = _is_lean(meta, announced) and aside is not None
            names = [name for name in names if not (lean and name in (*ACCESS_COLUMNS, ROUND, "value"))]
            columns |= {name: npz.read(members, name, source) for name in names if name not in columns}
            columns |= {name: column_in(file) for name, file in files.items() if not is_counting_column(file)}
            if aside is not None and lean:
                columns |= undo_differences(columns)
                columns |= unpack_to_disk(members, aside, columns["blocks"], meta.block_dim, len(meta.sites))
            elif meta.packed:
                columns = unpack(columns)
        for name in LATER:
            columns.setdefault(name, np.zeros(len(columns[name.replace("part", "step")]), np.uint8))
        between = partial(forget_pages, *columns.values()) if aside is not None else _nothing
        trace = _trace(meta, columns, between, narrowed=files)
        if not ours:  # a trace of our own engine needs no check
            check_trace(trace, between)
    except TooLargeError as error:
        raise _InvalidFileError(_TOO_LARGE.format(error)) from error
    except _DAMAGE as error:
        raise _InvalidFileError(_FOREIGN if foreign else _DAMAGED.format(str(error)[:200])) from error
    return trace


def _is_lean(meta: _Meta, announced: Mapping[str, Announced]) -> bool:
    """Return True if packed columns of accesses can be unpacked with few accesses in memory."""
    return meta.packed and announced["blocks"][1] * math.prod(meta.block_dim) <= MOST_THREADS


def _nothing() -> None:
    """Do nothing between two pieces of columns that stay in memory."""


# The decoder is created at import: msgspec can crash if two threads are the first to use a type.
msgspec.json.Decoder(_Meta)
_FILES = msgspec.json.Decoder(dict[str, ColumnFile])


def _read_meta(members: zipfile.ZipFile) -> _Meta:
    if "meta.npy" not in members.namelist() or members.getinfo("meta.npy").file_size > LARGEST_META:
        raise _InvalidFileError(_FOREIGN)
    meta = json.loads(npz.read(members, "meta").tobytes())
    if not isinstance(meta, dict) or meta.get("format") != FORMAT:
        raise _InvalidFileError(_FOREIGN)
    if isinstance(meta.get("version"), int) and meta["version"] > VERSION:
        raise _InvalidFileError(_NEWER.format(meta["version"], VERSION))
    if meta.get("version") == 1:  # before barriers had a reach
        raise _InvalidFileError(_OLDER.format(1, VERSION))
    # An unpaired surrogate passes JSON, but raises when the text is shown or written.
    json.dumps(meta, ensure_ascii=False).encode()
    return msgspec.convert(meta, _Meta)


def _elsewhere(members: zipfile.ZipFile) -> dict[str, ColumnFile]:
    """Return the locations of the columns in other files."""
    has_member = f"{ELSEWHERE}.npy" in members.namelist()
    return _FILES.decode(npz.read(members, ELSEWHERE).tobytes()) if has_member else {}


def _wanted(members: zipfile.ZipFile, elsewhere: Mapping[str, ColumnFile], *, ours: bool) -> list[str]:
    """List the names of the columns; raises ValueError if some are missing, unknown or too large."""
    sizes = npz.sizes(members)
    names = [name for name in sizes if name != "meta" and not (ours and name == ELSEWHERE)]
    all_names = {*names, *elsewhere}
    unexpected = [name for name in all_names if name not in INTEGERS and not OPTIONAL.fullmatch(name)]
    if unexpected or not all_names >= set(INTEGERS) - set(LATER) or sum(sizes.values()) > LARGEST_BYTES:
        raise ValueError("names or sizes of its columns")
    return names


def _with_later(announced: dict[str, Announced]) -> dict[str, Announced]:
    """Return the announced columns of a file, with those that files of earlier versions lack."""
    lengths = {name: announced[name.replace("part", "step")][1] for name in LATER}
    return {name: (np.dtype(np.uint8), length) for name, length in lengths.items()} | announced


def _trace(
    meta: _Meta, columns: Columns, between: Callable[[], None], narrowed: Collection[str]
) -> Trace:  # fmt: skip
    # As narrow as they are written: NumPy converts mixed signed and unsigned 64-bit integers to floats.
    for name in columns.keys() & {*INTEGERS, ROUND}.difference(narrowed):  # not for steps that are 0 1 2 ...
        columns = columns | {name: narrow(columns[name])}
        between()
    for column in columns.values():
        column.flags.writeable = False
    from_meta: dict[str, Any] = {name: getattr(meta, name) for name in _TRACE_FIELDS}
    rows: dict[str, Any] = {name: columns[name] for name in ACCESS_COLUMNS if name != "step"}
    return Trace(
        **rows,
        steps=columns.get("step"),
        value=columns.get("value"),
        round=columns.get(ROUND),
        barriers=Barriers(*(columns[f"barriers.{name}"] for name in BARRIER_COLUMNS)),
        warp_barriers=Barriers(*(columns[f"warp_barriers.{name}"] for name in BARRIER_COLUMNS)),
        outside=_outside(meta, columns),
        blocks=columns["blocks"].astype(np.int64),
        recorded=columns["recorded"].astype(np.int64),
        initial={
            int(name.removeprefix("initial.")): column
            for name, column in columns.items()
            if name.startswith("initial.")
        },
        **from_meta,
    )


def _outside(meta: _Meta, columns: Columns) -> OutOfBounds:
    columns_outside: dict[str, Any] = {name: columns[f"outside.{name}"] for name in OUTSIDE_COLUMNS}
    return OutOfBounds(**columns_outside, cell=columns["outside.cell"], text=meta.outside)
