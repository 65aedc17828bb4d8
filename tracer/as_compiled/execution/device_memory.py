"""The memory of a kernel's arguments, at addresses of this process like a GPU's: contiguous, aligned to 256 bytes.

Unused space surrounds it. As on a GPU, most accesses outside an array then reach memory: they neither crash the
process nor are missing from the counters.
"""

from __future__ import annotations

import ctypes
import mmap
import sys

import numpy as np
from numpy.typing import NDArray

ALIGNED = 256  # bytes, as cudaMalloc aligns
AROUND = (
    1 << 32 if sys.platform != "win32" else 1 << 24
)  # bytes of unused space on each side, which take no memory


class DeviceMemory:
    """Consecutive memories of the given sizes in bytes."""

    def __init__(self, sizes: list[int]) -> None:
        offsets = []
        end = AROUND
        for size in sizes:
            offsets.append(end)
            end += -(-max(size, 1) // ALIGNED) * ALIGNED
        self._mapped = _mapped(end + AROUND)
        begin = ctypes.addressof(ctypes.c_char.from_buffer(self._mapped))
        self.bounds = begin, begin + end + AROUND
        self.addresses = [begin + offset for offset in offsets]
        self.views: list[NDArray[np.uint8]] = [
            np.frombuffer(self._mapped, np.uint8, size, offset)
            for size, offset in zip(sizes, offsets, strict=True)
        ]


def _mapped(size: int) -> mmap.mmap:
    if sys.platform == "win32":
        return mmap.mmap(-1, size)
    reserve = getattr(mmap, "MAP_NORESERVE", 0)
    return mmap.mmap(-1, size, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | reserve)
