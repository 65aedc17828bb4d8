"""The accesses of a trace as a table: its columns, read piece by piece, and the data about the launch."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import PurePath
from typing import Any

import numpy as np
from msgspec import Struct
from msgspec.structs import asdict
from numpy.typing import NDArray

from ..model.trace import Op, Trace
from ..storage.column_files import forget_pages

VERSION = 1  # of the table: the set and the meaning of its columns


class ExportError(Exception):
    """A file that can't be exported; the text is one sentence for the user."""


class Column(Struct, frozen=True):
    """One column of the table."""

    name: str  # in the words of ARCHITECTURE.md
    dtype: np.dtype[Any]  # of its entries; for words, of their indices in `words`
    read: Callable[[slice], NDArray[Any]]  # returns the entries of rows; for words, their indices in `words`
    words: tuple[str, ...] = ()  # distinct words; none in a column of numbers


def access_columns(trace: Trace) -> tuple[Column, ...]:
    """Return the columns of the table, in order.

    block, thread, phase, step, index and value are those of `Trace`. A complex value takes two columns, and a trace
    with only records has none. op, buffer, space and file are words; line counts from 1, column from 0.
    """
    sites, buffers = trace.sites, trace.buffers
    return (
        _number("block", trace.block, np.uint32),
        _number("thread", trace.thread, np.uint16),
        _number("phase", trace.phase, np.uint32),
        _number("step", trace.step, np.uint64),
        _words("op", [op.name.lower() for op in Op], trace.op),
        _words("buffer", [buffer.name for buffer in buffers], trace.buffer),
        _words("space", [buffer.space for buffer in buffers], trace.buffer),
        _words("file", file_names([site.file for site in sites]), trace.site),
        _indexed("line", [site.line for site in sites], trace.site),
        _indexed("column", [site.column for site in sites], trace.site),
        _number("index", trace.index, np.uint64),
        *_values(trace.value),
    )


def _number(name: str, column: NDArray[Any], dtype: type[np.unsignedinteger[Any]]) -> Column:
    return Column(name, np.dtype(dtype), lambda rows: column[rows])


def _indexed(name: str, numbers: Sequence[int], index: NDArray[Any]) -> Column:
    table = np.array(numbers, np.uint32)
    return Column(name, table.dtype, lambda rows: table[index[rows]])


def _words(name: str, words: Sequence[str], index: NDArray[Any]) -> Column:
    numbers = {word: number for number, word in enumerate(dict.fromkeys(words))}
    table = np.array([numbers[word] for word in words], np.uint16)
    return Column(name, table.dtype, lambda rows: table[index[rows]], tuple(numbers))


def _values(value: NDArray[Any] | None) -> tuple[Column, ...]:
    if value is None:
        return ()
    if value.dtype.kind != "c":
        return (Column("value", value.dtype, lambda rows: value[rows]),)
    part = value.real.dtype
    return (
        Column("value_real", part, lambda rows: value[rows].real),
        Column("value_imag", part, lambda rows: value[rows].imag),
    )


def file_names(files: Sequence[str]) -> list[str]:
    """Return files without their folders, unless two have the same name."""
    names = {file: PurePath(file.replace("\\", "/")).name or file for file in files}
    are_unique = len(set(names.values())) == len(names)
    return [names[file] if are_unique else file for file in files]


def pieces(trace: Trace, rows: int) -> Iterator[slice]:
    """Yield all rows, so many at a time; earlier rows are dropped from memory if they are mapped from files."""
    columns: list[NDArray[Any]] = [
        trace.block,
        trace.thread,
        trace.phase,
        trace.step,
        trace.op,
        trace.buffer,
        trace.site,
        trace.index,
    ]
    columns += [] if trace.value is None else [trace.value]
    for low in range(0, len(trace), rows):
        yield slice(low, min(low + rows, len(trace)))
        forget_pages(*columns)


def about(trace: Trace, part: str) -> dict[str, Any]:
    """Return a file's data about the launch, in addition to the accesses.

    part: a sentence about missing accesses, "" if the trace is complete.
    """
    return {
        "format": "tilescope accesses",
        "version": VERSION,
        "kernel": trace.kernel,
        "grid": trace.grid,
        "block": trace.block_dim,
        "schedule": trace.schedule,
        "resident": trace.resident,
        "accesses": trace.accesses,
        "rows": len(trace),
        "part": bool(part or trace.is_part or trace.error),
        "notice": part,
        "error": asdict(trace.error) if trace.error else None,
        "made_by": trace.made_by,
        "buffers": [asdict(buffer) for buffer in trace.buffers],
        "sites": [asdict(site) for site in trace.sites],
        "launch": trace.launch,
    }
