"""How device arrays come to be: allocated, copied from the host, mapped, or shared by other libraries' objects."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from ...model.trace import poison
from ...recording.fresh_memory import fresh_memory
from .arrays import (
    DeviceNDArray,
    ManagedNDArray,
    MappedNDArray,
    StreamLike,
    array_core,
    extent,
    is_cuda_ndarray,
    memory_at,
    note_live,
    over,
    sentry_contiguous,
)


def device_array(
    shape: Any, dtype: Any = np.float64, strides: Any = None, order: Any = "C", stream: StreamLike = 0
) -> DeviceNDArray:
    """Return a new array on the device, whose elements nobody has written."""
    made = _unwritten(shape, dtype, strides, order)
    if made.dtype.names is None:
        fresh_memory.add(made)
    return over(made, stream)


def managed_array(
    shape: Any, dtype: Any = np.float64, strides: Any = None, order: Any = "C", stream: StreamLike = 0,
    attach_global: bool = True,
) -> ManagedNDArray:  # fmt: skip
    """Return a new array that host and device see."""
    made: ManagedNDArray = _visible(_unwritten(shape, dtype, strides, order), ManagedNDArray, stream)
    return made


def mapped_array(
    shape: Any, dtype: Any = np.float64, strides: Any = None, order: Any = "C", stream: StreamLike = 0,
    portable: bool = False, wc: bool = False,
) -> MappedNDArray:  # fmt: skip
    """Return a new array of the host that kernels read and write."""
    made: MappedNDArray = _visible(_unwritten(shape, dtype, strides, order), MappedNDArray, stream)
    return made


def pinned_array(shape: Any, dtype: Any = np.float64, strides: Any = None, order: Any = "C") -> NDArray[Any]:
    """Return a new array of the host, of which copies are faster on a GPU."""
    return np.ndarray(_lengths(shape), dtype, strides=strides, order=order)


def device_array_like(ary: Any, stream: StreamLike = 0) -> DeviceNDArray:
    """Return a new array on the device, of the shape, type and order of another."""
    return device_array(ary.shape, ary.dtype, *_layout_of(ary), stream)


def mapped_array_like(
    ary: Any, stream: StreamLike = 0, portable: bool = False, wc: bool = False
) -> MappedNDArray:
    """Return a new mapped array, of the shape, type and order of another."""
    return mapped_array(ary.shape, ary.dtype, *_layout_of(ary), stream)


def pinned_array_like(ary: Any) -> NDArray[Any]:
    """Return a new pinned array, of the shape, type and order of another."""
    return pinned_array(ary.shape, ary.dtype, *_layout_of(ary))


def to_device(obj: Any, stream: StreamLike = 0, copy: bool = True, to: Any = None) -> Any:
    """Return a device array with what an array, a list or a record holds: a new one, or `to`."""
    if to is None:
        return auto_device(obj, stream, copy, user_explicit=True)[0]
    if copy:
        to.copy_to_device(np.asarray(obj) if not is_cuda_ndarray(obj) else obj, stream=stream)
    return to


def auto_device(
    obj: Any, stream: StreamLike = 0, copy: bool = True, user_explicit: bool = False
) -> tuple[Any, bool]:
    """Return (a device array of an object, whether it is a new one)."""
    if isinstance(obj, DeviceNDArray):
        return obj, False
    if is_cuda_ndarray(obj):
        return over(obj._ary, stream), False
    if hasattr(obj, "__cuda_array_interface__"):
        return as_cuda_array(obj), False
    ary = np.asarray(obj)
    sentry_contiguous(ary)
    return over(_copied(ary) if copy else _like(ary), stream), True


def from_array_like(ary: Any, stream: StreamLike = 0, gpu_data: Any = None) -> DeviceNDArray:
    """Return a device array of the shape and type of another, new or over memory that is given."""
    return DeviceNDArray(ary.shape, ary.strides, ary.dtype, stream, gpu_data)


from_record_like = from_array_like


def is_cuda_array(obj: Any) -> bool:
    """Return whether an object has the CUDA array interface."""
    return hasattr(obj, "__cuda_array_interface__")


def as_cuda_array(obj: Any, sync: bool = True) -> DeviceNDArray:
    """Return a device array over the memory of an object with the CUDA array interface; TypeError for others."""
    if isinstance(obj, DeviceNDArray):
        return obj
    if not is_cuda_array(obj):
        raise TypeError("*obj* doesn't implement the cuda array interface.")
    return from_cuda_array_interface(obj.__cuda_array_interface__, owner=obj, sync=sync)


def from_cuda_array_interface(desc: dict[str, Any], owner: Any = None, sync: bool = True) -> DeviceNDArray:
    """Return a device array over the memory that an interface describes; raises ValueError where it is not ours."""
    if desc.get("mask") is not None:
        raise NotImplementedError("Masked arrays are not supported")
    dtype, shape = np.dtype(desc["typestr"]), tuple(desc["shape"])
    strides = desc.get("strides") or np.empty(shape, dtype).strides
    if 0 in shape:
        return over(np.empty(shape, dtype))
    size = sum(s * (n - 1) for n, s in zip(shape, strides, strict=True)) + dtype.itemsize
    memory = memory_at(desc["data"][0], size)
    if memory is None:
        raise ValueError(
            "Tilescope has no memory of another library's: it runs kernels on arrays made by numba.cuda."
        )
    return over(memory.as_array(shape, tuple(strides), dtype))


@contextmanager
def pinned(*arylist: Any) -> Iterator[None]:
    """Pin arrays of the host for a while: nothing to do."""
    yield


@contextmanager
def mapped(*arylist: NDArray[Any], stream: StreamLike = 0) -> Iterator[Any]:
    """Give device arrays over the memory of arrays of the host: one, or a list."""
    made = [over(ary, stream) for ary in arylist]
    yield made[0] if len(made) == 1 else made


def _lengths(shape: Any) -> tuple[int, ...]:
    shape = shape.tolist() if isinstance(shape, np.ndarray) else shape
    lengths = tuple(shape) if isinstance(shape, tuple | list) else (shape,)
    for length in lengths:
        if not isinstance(length, int | np.integer):
            raise TypeError(
                f"shape elements must be integers, got {type(length).__name__}: write // in place of /."
                if isinstance(length, float)
                else f"shape elements must be integers, got {type(length).__name__}"
            )
    return tuple(map(int, lengths))


def _unwritten(shape: Any, dtype: Any, strides: Any, order: Any) -> NDArray[Any]:
    made: NDArray[Any] = np.ndarray(_lengths(shape), dtype, strides=strides, order=order)
    if made.dtype.names is None:
        made.fill(poison(made.dtype))
    return made


def _visible(ary: NDArray[Any], kind: type[Any], stream: StreamLike) -> Any:
    made = ary.view(kind)
    made.stream = stream
    note_live(made)
    return made


def _layout_of(ary: Any) -> tuple[tuple[int, ...] | None, str]:
    """Return the (strides, order) of a new array without gaps whose dimensions lie as those of another."""
    c_order, f_order = ary.flags["C_CONTIGUOUS"], ary.flags["F_CONTIGUOUS"]
    if c_order or f_order or ary.ndim < 2:
        return None, "F" if f_order and not c_order else "C"
    strides, step = [0] * ary.ndim, ary.dtype.itemsize
    for axis in sorted(range(ary.ndim), key=lambda a: cast(int, ary.strides[a])):
        strides[axis], step = step, step * ary.shape[axis]
    return tuple(strides), "C"


def _like(ary: NDArray[Any]) -> NDArray[Any]:
    return _unwritten(ary.shape, ary.dtype, *_layout_of(ary))


def _copied(ary: NDArray[Any]) -> NDArray[Any]:
    """Return a copy that lies as the array does, repeated dimensions among them."""
    core = np.array(array_core(ary), order="K", copy=True)
    if core.strides == ary.strides and core.shape == ary.shape:
        return core
    return over(core).gpu_data.as_array(ary.shape, ary.strides, ary.dtype) if extent(ary) else core
