"""A trace as a file for another program, in the format of its suffix, written atomically."""

from __future__ import annotations

import errno
from collections.abc import Callable
from pathlib import Path

from ..model.trace import Trace
from ..storage.atomic_write import atomic_file
from .access_table import ExportError
from .csv_file import write_csv
from .parquet_file import need_pyarrow, write_parquet
from .perfetto_file import need_perfetto, write_perfetto

WRITERS = {".csv": write_csv, ".parquet": write_parquet, ".pftrace": write_perfetto}
SUFFIXES = tuple(WRITERS)
Progress = Callable[[int, int], None]


def check_export(path: Path) -> None:
    """Raise ExportError if no file of this name could be written, before anything is traced for it."""
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise ExportError(f"{path.name} must end with {', '.join(SUFFIXES[:-1])} or {SUFFIXES[-1]}.")
    if path.is_dir():
        raise ExportError(f"{path} is a folder; choose a file name.")
    if not path.parent.is_dir():
        raise ExportError(f"The folder {path.parent} does not exist; create it or choose another.")
    if suffix == ".parquet":
        need_pyarrow()
    elif suffix == ".pftrace":
        need_perfetto()


def write_export(trace: Trace, path: Path, part: str, progress: Progress) -> None:
    """Write a trace as a table of its accesses, or as a Perfetto trace.

    part: a sentence about what is missing of the launch, "" if nothing is. progress(done, of) counts accesses.
    Raises ExportError, and then leaves the old file.
    """
    check_export(path)
    if not len(trace):
        raise ExportError(f"There are no accesses to write. {part}".strip())
    try:
        with atomic_file(path) as file:
            WRITERS[path.suffix.lower()](trace, file, progress, part)
    except OSError as error:
        raise ExportError(f"{path} could not be written: {_reason(error)}.") from error


def _reason(error: OSError) -> str:
    if error.errno in (errno.ENOSPC, errno.EFBIG, getattr(errno, "EDQUOT", errno.ENOSPC)):
        return "the disk is full; free some space or choose another folder"
    if isinstance(error, PermissionError) or error.errno == errno.EROFS:
        return "the folder can't be written; choose another folder"
    return error.strerror or str(error)
