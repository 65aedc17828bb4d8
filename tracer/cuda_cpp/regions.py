"""Pieces of memory of a launch, and their views as buffers: elements, fields of structures, and wider words."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from ..model.trace import Buffer
from .debug_info import Layout


class Region(Struct):
    """A piece of memory: an allocation, a variable, or the dynamic shared memory of a block."""

    start: int  # address in the program's process
    size: int  # bytes
    name: str
    space: str  # one of trace.SPACES
    address: int  # in the trace, see `Buffer`
    layout: Layout  # of an element of an allocation; of a complete variable
    is_array: bool  # True for an allocation: its elements follow each other up to its end
    initial: NDArray[np.uint8] | None = None  # contents before the launch


class View(Struct, frozen=True):
    """A part of each element of a region: a number or an array of numbers."""

    name: str  # "" for all of the element
    offset: int  # bytes from the start of the element
    layout: Layout


class Views:
    """The buffers of a region, which are made as accesses need them."""

    def __init__(self, region: Region) -> None:
        self.region = region
        layout = region.layout
        self._stride = layout.size
        self._count = region.size // layout.size if region.is_array and layout.size else 1
        if not region.is_array and layout.fields and layout.shape:  # an array of structures
            self._count = math.prod(layout.shape)
            self._stride = layout.size // max(1, self._count)
            self._outer = layout.shape
            layout = Layout(self._stride, fields=layout.fields)
        else:
            self._outer = (self._count,) if region.is_array else ()
        self._views = list(_views(layout)) if layout.size or layout.fields else []

    def match(
        self, offsets: NDArray[np.int64], sizes: NDArray[np.uint8]
    ) -> Iterator[tuple[int, Buffer, NDArray[np.bool_], int]]:
        """Yield a buffer after its rank, then the mask of its accesses and the byte at which its elements begin.

        Ranks sort the buffers of the region. offsets: bytes from the region's start, possibly outside. sizes: bytes of
        each access. Shape (accesses,) each.
        """
        rest = np.ones(len(offsets), bool)
        inside = offsets % self._stride if self._stride and self._count > 1 else offsets
        for rank, view in enumerate(self._views):
            item = np.dtype(view.layout.dtype).itemsize
            here = rest & (sizes == item) & (inside >= view.offset) & ((inside - view.offset) % item == 0)
            if len(self._views) > 1 or self._stride != item:
                here &= inside < view.offset + view.layout.size
            if len(self._views) == 1 and not view.name:
                here = rest & (sizes == item) & (offsets % item == 0)
            if here.any():
                rest &= ~here
                yield rank, self._buffer(view, item), here, view.offset
        for size in np.unique(sizes[rest]).tolist():
            here = rest & (sizes == size)
            yield len(self._views) + size, self._wide_buffer(int(size)), here, 0

    def main_buffer(self) -> Buffer | None:
        """Return the buffer of a region of plain numbers, None for structures and unknown types."""
        if len(self._views) == 1 and not self._views[0].name:
            return self._buffer(self._views[0], np.dtype(self._views[0].layout.dtype).itemsize)
        return None

    def initial_of(self, buffer: Buffer) -> NDArray[np.generic] | None:
        """Return the contents of a buffer before the launch, shape (size,); None if they are unknown."""
        content, dtype = self.region.initial, np.dtype(buffer.dtype)
        first = buffer.address - self.region.address
        if content is None or dtype.kind == "V" or not buffer.size:
            return None
        if first + (buffer.size - 1) * buffer.unit + dtype.itemsize > len(content):
            return None
        elements: NDArray[np.generic] = np.ndarray(
            (buffer.size,), dtype, content.data, first, (buffer.unit,)
        ).copy()
        return elements

    def _buffer(self, view: View, item: int) -> Buffer:
        region, layout = self.region, view.layout
        name = f"{region.name}.{view.name}" if view.name else region.name
        outer = self._outer
        is_field = bool(view.name)
        shape = (*outer, *layout.shape) or (1,)
        unit = item
        if is_field and not layout.shape and self._count > 1:
            unit = self._stride
        inner_strides = _strides(layout.shape, item)
        outer_strides = _strides(outer, self._stride or item)
        strides = (*outer_strides, *inner_strides) or (item,)
        span = max(0, self._count - 1) * (self._stride or item) + max(item, layout.size)
        return Buffer(
            name,
            region.space,
            layout.dtype,
            shape,
            strides,
            region.address + view.offset,
            unit,
            -(-span // unit),
        )

    def _words(self, size: int) -> str:
        """Name accesses of `size` bytes to numbers: float4, or 16 bytes."""
        item = np.dtype(self._views[0].layout.dtype)
        count, rest = divmod(size, item.itemsize)
        name = _C_NAMES.get(item.str[1:], "")
        return f"{name}{count}" if name and not rest and 2 <= count <= 4 else f"{size} bytes"

    def _wide_buffer(self, size: int) -> Buffer:
        """Return the region as words of another size than its elements have."""
        region = self.region
        dtype = f"|V{size}" if size not in (1, 2, 4, 8) else "|u1" if size == 1 else f"<u{size}"
        is_element = not self._views or (self._stride == size and bool(region.layout.fields))
        name = region.name if is_element else f"{region.name} as {self._words(size)}"
        count = max(1, region.size // size)
        return Buffer(name, region.space, dtype, (count,), (size,), region.address, size, count)


_C_NAMES = {
    "f4": "float", "f8": "double", "i4": "int", "u4": "uint", "i1": "char", "u1": "uchar", "i2": "short",
    "u2": "ushort", "i8": "longlong", "u8": "ulonglong",
}  # fmt: skip


def _views(layout: Layout, name: str = "", offset: int = 0) -> Iterator[View]:
    """Yield the numbers and arrays of numbers of a structure; the layout itself if it is one."""
    if layout.dtype:
        yield View(name, offset, layout)
    elif layout.fields and not layout.shape:
        for field, place, part in layout.fields:
            yield from _views(part, f"{name}.{field}" if name else field, offset + place)
    elif layout.fields:
        count = math.prod(layout.shape)
        stride = layout.size // max(1, count)
        for number in range(min(count, 64)):
            inner = Layout(stride, fields=layout.fields)
            yield from _views(inner, f"{name}[{number}]", offset + number * stride)


def _strides(shape: tuple[int, ...], item: int) -> tuple[int, ...]:
    return tuple(item * math.prod(shape[axis + 1 :]) for axis in range(len(shape)))
