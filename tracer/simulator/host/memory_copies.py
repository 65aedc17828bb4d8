"""The copy functions of `numba.cuda.cudadrv.driver`, between memory of the host and of the device."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...recording.fresh_memory import fresh_memory
from ...recording.stream_order import stream_order
from .arrays import Memory, StreamLike, extent, sentry_contiguous


def host_to_device(dst: Any, src: Any, size: int, stream: StreamLike = 0) -> None:
    """Copy `size` bytes; raises ValueError if either memory is smaller, or if an array has gaps."""
    stream_order.synchronize_all()
    _bytes_to_write(dst, size)[:] = _bytes(src, size)


device_to_host = device_to_device = host_to_device


def device_memset(dst: Any, val: int, size: int, stream: StreamLike = 0) -> None:
    """Fill `size` bytes with one value; raises ValueError if the memory is smaller, or if an array has gaps."""
    stream_order.synchronize_all()
    _bytes_to_write(dst, size).fill(val & 0xFF)


def device_memory_size(devmem: Any) -> int:
    """Return the size of a memory, or the bytes from an array's first element to the end of its last."""
    return devmem.size if isinstance(devmem, Memory) else extent(_array(devmem))


def _bytes_to_write(memory: Any, size: int) -> NDArray[np.uint8]:
    """Return the bytes of memory that is about to be written, and mark them as initialised."""
    content = _bytes(memory, size)
    fresh_memory.forget(content)
    return content


def _bytes(memory: Any, size: int) -> NDArray[np.uint8]:
    """Return a view of the first bytes of a host or device memory."""
    if isinstance(memory, Memory):
        return memory.as_array((size,), (1,), np.dtype(np.uint8))
    ary = _array(memory)
    sentry_contiguous(ary)
    flat = ary.ravel(order="K").view(np.uint8)
    if size > len(flat):
        raise ValueError(f"can't copy or fill {size:,} bytes: an array has only {len(flat):,}.")
    return flat[:size]


def _array(memory: Any) -> NDArray[Any]:
    return np.asarray(getattr(memory, "_ary", memory))
