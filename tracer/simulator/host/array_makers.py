"""Functions that make device arrays: allocate, copy from the host, map, or share memory with other libraries."""

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
    device_view,
    extent,
    is_cuda_ndarray,
    memory_at,
    note_live,
    sentry_contiguous,
)


def device_array(
    shape: Any, dtype: Any = np.float64, strides: Any = None, order: Any = "C", stream: StreamLike = 0
) -> DeviceNDArray:
    """Allocate an uninitialised array on the device."""
    ary = _allocate(shape, dtype, strides, order)
    if ary.dtype.names is None:
        fresh_memory.add(ary)
    return device_view(ary, stream)


def managed_array(
    shape: Any, dtype: Any = np.float64, strides: Any = None, order: Any = "C", stream: StreamLike = 0,
    attach_global: bool = True,
) -> ManagedNDArray:  # fmt: skip
    """Allocate an array that host and device can access."""
    ary: ManagedNDArray = _view_as(_allocate(shape, dtype, strides, order), ManagedNDArray, stream)
    return ary


def mapped_array(
    shape: Any, dtype: Any = np.float64, strides: Any = None, order: Any = "C", stream: StreamLike = 0,
    portable: bool = False, wc: bool = False,
) -> MappedNDArray:  # fmt: skip
    """Allocate a host array that kernels can access."""
    ary: MappedNDArray = _view_as(_allocate(shape, dtype, strides, order), MappedNDArray, stream)
    return ary


def pinned_array(shape: Any, dtype: Any = np.float64, strides: Any = None, order: Any = "C") -> NDArray[Any]:
    """Allocate a pinned host array, which a GPU copies faster."""
    return np.ndarray(_lengths(shape), dtype, strides=strides, order=order)


def device_array_like(ary: Any, stream: StreamLike = 0) -> DeviceNDArray:
    """Allocate an array on the device with the shape, type and order of another."""
    return device_array(ary.shape, ary.dtype, *_layout_of(ary), stream)


def mapped_array_like(
    ary: Any, stream: StreamLike = 0, portable: bool = False, wc: bool = False
) -> MappedNDArray:
    """Allocate a mapped array with the shape, type and order of another."""
    return mapped_array(ary.shape, ary.dtype, *_layout_of(ary), stream)


def pinned_array_like(ary: Any) -> NDArray[Any]:
    """Allocate a pinned array with the shape, type and order of another."""
    return pinned_array(ary.shape, ary.dtype, *_layout_of(ary))


def to_device(obj: Any, stream: StreamLike = 0, copy: bool = True, to: Any = None) -> Any:
    """Copy an array, a list or a record to a device array: a new one, or `to`."""
    if to is None:
        ary, is_new = auto_device(obj, stream, copy, user_explicit=True)
        if is_new and copy:
            ary.note_write("to_device", stream)
        return ary
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
        return device_view(obj._ary, stream), False
    if hasattr(obj, "__cuda_array_interface__"):
        return as_cuda_array(obj), False
    ary = np.asarray(obj)
    sentry_contiguous(ary)
    return device_view(_copy_with_layout(ary) if copy else _allocate_like(ary), stream), True


def from_array_like(ary: Any, stream: StreamLike = 0, gpu_data: Any = None) -> DeviceNDArray:
    """Return a device array with the shape and type of another, new or over `gpu_data`."""
    return DeviceNDArray(ary.shape, ary.strides, ary.dtype, stream, gpu_data)


from_record_like = from_array_like


def is_cuda_array(obj: Any) -> bool:
    """Check whether an object has the CUDA array interface."""
    return hasattr(obj, "__cuda_array_interface__")


def as_cuda_array(obj: Any, sync: bool = True) -> DeviceNDArray:
    """Return a device array over an object's memory; raises TypeError without the CUDA array interface."""
    if isinstance(obj, DeviceNDArray):
        return obj
    if not is_cuda_array(obj):
        raise TypeError("*obj* doesn't implement the cuda array interface.")
    return from_cuda_array_interface(obj.__cuda_array_interface__, owner=obj, sync=sync)


def from_cuda_array_interface(desc: dict[str, Any], owner: Any = None, sync: bool = True) -> DeviceNDArray:
    """Return a device array over the memory of an interface; raises ValueError for another library's memory."""
    if desc.get("mask") is not None:
        raise NotImplementedError("Masked arrays are not supported")
    dtype, shape = np.dtype(desc["typestr"]), tuple(desc["shape"])
    strides = desc.get("strides") or np.empty(shape, dtype).strides
    if 0 in shape:
        return device_view(np.empty(shape, dtype))
    size = sum(stride * (length - 1) for length, stride in zip(shape, strides, strict=True)) + dtype.itemsize
    memory = memory_at(desc["data"][0], size)
    if memory is None:
        raise ValueError("Tilescope can't use another library's memory; make the array with numba.cuda.")
    return device_view(memory.as_array(shape, tuple(strides), dtype))


@contextmanager
def pinned(*arylist: Any) -> Iterator[None]:
    """Do nothing: pinning has no effect here."""
    yield


@contextmanager
def mapped(*arylist: NDArray[Any], stream: StreamLike = 0) -> Iterator[Any]:
    """Yield device arrays over the memory of host arrays: one, or a list."""
    arrays = [device_view(ary, stream) for ary in arylist]
    yield arrays[0] if len(arrays) == 1 else arrays


def _lengths(shape: Any) -> tuple[int, ...]:
    shape = shape.tolist() if isinstance(shape, np.ndarray) else shape
    lengths = tuple(shape) if isinstance(shape, tuple | list) else (shape,)
    for length in lengths:
        if not isinstance(length, int | np.integer):
            raise TypeError(
                f"shape elements must be integers, got {type(length).__name__}: write // instead of /."
                if isinstance(length, float)
                else f"shape elements must be integers, got {type(length).__name__}"
            )
    return tuple(map(int, lengths))


def _allocate(shape: Any, dtype: Any, strides: Any, order: Any) -> NDArray[Any]:
    ary: NDArray[Any] = np.ndarray(_lengths(shape), dtype, strides=strides, order=order)
    if ary.dtype.names is None:
        ary.fill(poison(ary.dtype))
    return ary


def _view_as(ary: NDArray[Any], kind: type[Any], stream: StreamLike) -> Any:
    view = ary.view(kind)
    view.stream = stream
    note_live(view)
    return view


def _layout_of(ary: Any) -> tuple[tuple[int, ...] | None, str]:
    """Return the (strides, order) of a new contiguous array whose dimensions have the same order as another's."""
    c_order, f_order = ary.flags["C_CONTIGUOUS"], ary.flags["F_CONTIGUOUS"]
    if c_order or f_order or ary.ndim < 2:
        return None, "F" if f_order and not c_order else "C"
    strides, step = [0] * ary.ndim, ary.dtype.itemsize
    for axis in sorted(range(ary.ndim), key=lambda other: cast(int, ary.strides[other])):
        strides[axis], step = step, step * ary.shape[axis]
    return tuple(strides), "C"


def _allocate_like(ary: NDArray[Any]) -> NDArray[Any]:
    return _allocate(ary.shape, ary.dtype, *_layout_of(ary))


def _copy_with_layout(ary: NDArray[Any]) -> NDArray[Any]:
    """Copy an array with its layout, including repeated dimensions."""
    core = np.array(array_core(ary), order="K", copy=True)
    if core.strides == ary.strides and core.shape == ary.shape:
        return core
    return device_view(core).gpu_data.as_array(ary.shape, ary.strides, ary.dtype) if extent(ary) else core
