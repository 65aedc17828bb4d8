"""A strict `.npz`: a zip of one-dimensional columns of plain numbers, safe to read from untrusted files."""

from __future__ import annotations

import io
import re
import struct
import sys
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from functools import cached_property, lru_cache
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

LEVEL = 1  # of deflate: a fifth of the time of the default 6, for files 4 % larger
SMALL = 1 << 16  # most bytes of columns that are written at once
LARGE = 1 << 18  # fewest bytes of a column that is mapped
START = 10  # bytes before the header: MAGIC, and the length of the header
LOCAL = 30 + 20  # bytes of a member's header without name and padding: 20 are its sizes in 64 bits
ALIGNED = 64  # bytes: columns begin at multiples of it, and the length of NumPy's header is one
PADDING, FIELD = 0xD935, 4  # tag of a field that pads a header, and the bytes before its content
MAGIC = b"\x93NUMPY\x01\x00"
# NumPy writes exactly this; nothing is evaluated, and there is no room for a pickle.
DESCR, SHAPE = rb"'descr': '([<|][biufcV]\d{1,4})'", rb"'shape': \((\d{1,12}),\)"
HEADER = re.compile(rb"{%b, 'fortran_order': False, %b, } *\n" % (DESCR, SHAPE))


def write(file: IO[bytes], columns: Mapping[str, NDArray[Any]], deflate: bool) -> None:
    """Write each column as a member `name.npy`, little-endian; equal columns give equal bytes."""
    if not deflate and sum(column.nbytes for column in columns.values()) <= SMALL:
        file.write(_small(columns))
        return
    method = zipfile.ZIP_DEFLATED if deflate else zipfile.ZIP_STORED
    with zipfile.ZipFile(file, "w", method) as members:
        for name, column in columns.items():
            # A new ZipInfo has a fixed date.
            info = zipfile.ZipInfo(f"{name}.npy")
            info.compress_type = method
            data = _plain(column)
            if not deflate:
                info.extra = _padding(file.tell() + LOCAL + len(info.filename))
            info._compresslevel = LEVEL  # type: ignore[attr-defined]  # public from Python 3.13 on, under both names
            with members.open(info, "w", force_zip64=True) as member:
                member.write(_header(data.dtype.str, len(data)))
                member.write(np.ascontiguousarray(data).view(np.uint8).data if len(data) else b"")


def _padding(offset: int) -> bytes:
    """Return padding for a member's header that would end here, so that the column after it is aligned.

    It is a field that readers skip (APPNOTE.TXT 4.5.2), as Android's zipalign writes it.
    """
    missing = -offset % ALIGNED
    missing += ALIGNED * (0 < missing < FIELD)
    return struct.pack("<HH", PADDING, missing - FIELD) + bytes(missing - FIELD) if missing else b""


def _small(columns: Mapping[str, NDArray[Any]]) -> bytes:
    """Build a zip of uncompressed columns (APPNOTE.TXT 4.3): zipfile takes ten times as long."""
    members: list[bytes] = []
    directory: list[bytes] = []
    offset = 0
    for name, column in columns.items():
        data, file = _plain(column), f"{name}.npy".encode()
        content = _header(data.dtype.str, len(data)) + data.tobytes()
        # Version 2.0, no flags, stored, at midnight, on the first day that a zip can express.
        common = struct.pack(
            "<HHHHHLLLHH", 20, 0, 0, 0, 33, zlib.crc32(content), len(content), len(content), len(file), 0
        )
        members += (b"PK\x03\x04", common, file, content)
        directory += (
            b"PK\x01\x02\x14\x03",
            common,
            struct.pack("<HHHLL", 0, 0, 0, 0o600 << 16, offset),
            file,
        )
        offset += 4 + len(common) + len(file) + len(content)
    central_directory = b"".join(directory)
    end = struct.pack(
        "<4sHHHHLLH", b"PK\x05\x06", 0, 0, len(columns), len(columns), len(central_directory), offset, 0
    )
    return b"".join((*members, central_directory, end))


@lru_cache(4096)
def _header(dtype: str, count: int) -> bytes:
    """Return NumPy's header of a column, cached, since a program's launches have many equal ones."""
    file = io.BytesIO()
    described = {"descr": dtype, "fortran_order": False, "shape": (count,)}
    np.lib.format.write_array_header_1_0(file, described)
    return file.getvalue()


def sizes(members: zipfile.ZipFile) -> dict[str, int]:
    """Return the unpacked size in bytes of each column, without unpacking anything.

    Raises ValueError for a member that `write` would not have written.
    """
    size_by_name: dict[str, int] = {}
    for info in members.infolist():
        name, _, ending = info.filename.rpartition(".")
        if ending != "npy" or name in size_by_name:
            raise ValueError(f"member {info.filename[:60]!r}")
        size_by_name[name] = info.file_size
    return size_by_name


def header(members: zipfile.ZipFile, name: str) -> tuple[np.dtype[Any], int]:
    """Read only the header of a column: the type and the number of its entries.

    Raises ValueError for other content, or a wrong length.
    """
    info = _info(members, name)
    with members.open(info) as member:
        start = member.read(START)
        length = int.from_bytes(start[8:], "little")
        dtype, count = _parsed(name, start + member.read(length))
    _check_length(dtype, count, info.file_size - START - length)
    return dtype, count


class Mapped:
    """A file whose large uncompressed columns are mapped into memory, not read.

    It must not become shorter from then on.
    """

    def __init__(self, file: IO[bytes]) -> None:
        self.file = file

    @cached_property
    def content(self) -> NDArray[np.uint8]:
        """The bytes of the file."""
        return np.memmap(self.file, np.uint8, "r")


def read(members: zipfile.ZipFile, name: str, mapped: Mapped | None = None) -> NDArray[Any]:
    """Read one column; raises ValueError for anything but a column of plain numbers."""
    info = _info(members, name)
    if mapped is not None and info.compress_type == zipfile.ZIP_STORED:
        data = _stored(mapped, info)
    else:
        data = members.read(info)
    start = START + int.from_bytes(bytes(data[8:START]), "little")
    return _column(data, start, *_parsed(name, bytes(data[:start])))


def _stored(mapped: Mapped, info: zipfile.ZipInfo) -> Any:
    """Return an uncompressed member, mapped if it is large; zipfile would read it in pieces."""
    begin = _data_offset(mapped.file, info)
    if info.file_size >= LARGE:
        return mapped.content[begin : begin + info.file_size]
    mapped.file.seek(begin)
    data = mapped.file.read(info.file_size)
    if zlib.crc32(data) != info.CRC:
        raise zipfile.BadZipFile(f"sum of {info.filename[:60]!r}")
    return data


def pieces(members: zipfile.ZipFile, name: str, rows: int) -> Iterator[NDArray[Any]]:
    """Yield one column, so many rows at a time; raises ValueError for anything but a column of plain numbers."""
    dtype, count = header(members, name)
    with members.open(_info(members, name)) as member:
        start = member.read(START)
        member.read(int.from_bytes(start[8:], "little"))
        for low in range(0, count, rows):
            row_count = min(rows, count - low)
            yield _column(member.read(row_count * dtype.itemsize), 0, dtype, row_count)


def _info(members: zipfile.ZipFile, name: str) -> zipfile.ZipInfo:
    info = members.getinfo(f"{name}.npy")
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise ValueError(f"compression of {name}")
    return info


def _parsed(name: str, start: bytes) -> tuple[np.dtype[Any], int]:
    """Parse the first bytes of a column: the type and the number of its entries."""
    match = HEADER.fullmatch(start[START:])
    if match is None or not start.startswith(MAGIC):
        raise ValueError(f"header of {name}")
    return np.dtype(match[1].decode()), int(match[2])


def _data_offset(file: IO[bytes], info: zipfile.ZipInfo) -> int:
    """Find the start of a member in the file, after its own header (APPNOTE.TXT 4.3.7)."""
    file.seek(info.header_offset)
    head = file.read(30)
    if len(head) < 30 or head[:4] != b"PK\x03\x04":
        raise ValueError(f"header of {info.filename[:60]!r}")
    return (
        info.header_offset
        + 30
        + int.from_bytes(head[26:28], "little")
        + int.from_bytes(head[28:30], "little")
    )


def _column(data: Any, start: int, dtype: np.dtype[Any], count: int) -> NDArray[Any]:
    _check_length(dtype, count, len(data) - start)
    column = np.frombuffer(data, dtype, count, start) if count else np.empty(0, dtype)
    # A bool that is neither 0 nor 1 would break NumPy's assumptions.
    return column if dtype.kind != "b" else column.view(np.uint8) != 0


def _check_length(dtype: np.dtype[Any], count: int, nbytes: int) -> None:
    if not dtype.itemsize or dtype.itemsize * count != nbytes:
        raise ValueError("length of a column")


def _plain(column: NDArray[Any]) -> NDArray[Any]:
    """Return the column little-endian; records as their bytes."""
    if column.dtype.names is not None:
        return np.ascontiguousarray(column).view(f"V{column.dtype.itemsize}")
    if column.dtype.isnative and sys.byteorder == "little":
        return column
    return column.astype(column.dtype.newbyteorder("<"), copy=False)
