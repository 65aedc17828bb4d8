"""Read the header of a `.npy` file, which may be malicious: no element is read, and nothing is mapped."""

from __future__ import annotations

import ast
import math
import os
from pathlib import Path
from typing import IO, Any

import numpy as np

from .scenario import CatalogueError

MAGIC, ARCHIVE = b"\x93NUMPY", b"PK\x03\x04"
LONGEST_HEADER = 10_000  # bytes; NumPy's limit
# A header is a Python literal, which can fail in many ways.
_DAMAGE = (ValueError, TypeError, LookupError, ArithmeticError, SyntaxError, MemoryError, RecursionError)


def npy_header(path: str) -> tuple[tuple[int, ...], np.dtype[Any]]:
    """Read shape and dtype of the array in a `.npy` file; raises CatalogueError unless the file is complete."""
    try:
        file = Path(path)
        if not file.is_file() and file.exists():  # a pipe would block the reader
            raise CatalogueError(
                f"{path} cannot be read: it is {'a folder' if file.is_dir() else 'no file'}."
            )
        with file.open("rb") as opened:
            start = opened.read(len(MAGIC))
            if start.startswith(ARCHIVE):
                raise CatalogueError(f"{path} is an archive of arrays; give a .npy file with one matrix.")
            return _parse_header(start, opened)
    except OSError as error:
        raise CatalogueError(f"{path} cannot be read: {error.strerror or error}.") from error
    except CatalogueError:
        raise
    except _DAMAGE as error:
        raise CatalogueError(f"{path} is not a complete .npy file; save it again with numpy.save.") from error


def _parse_header(start: bytes, opened: IO[bytes]) -> tuple[tuple[int, ...], np.dtype[Any]]:
    """Parse the header, and check the file's length; the format is documented in numpy.lib.format."""
    version = opened.read(2)
    if start != MAGIC or version not in (b"\1\0", b"\2\0", b"\3\0"):
        raise ValueError("magic")
    length = int.from_bytes(opened.read(2 if version == b"\1\0" else 4), "little")
    if length > LONGEST_HEADER:
        raise ValueError("length of the header")
    header = ast.literal_eval(opened.read(length).decode("latin-1"))
    shape, dtype = header["shape"], np.lib.format.descr_to_dtype(header["descr"])
    if dtype.hasobject or not isinstance(shape, tuple) or not all(type(n) is int and n >= 0 for n in shape):
        raise ValueError("header")
    if os.fstat(opened.fileno()).st_size < opened.tell() + math.prod(shape) * dtype.itemsize:
        raise ValueError("length of the file")
    return shape, dtype
