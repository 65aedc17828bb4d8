"""Device arrays: NumPy arrays with only the interface of Numba's classes."""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator
from typing import Any, cast
from weakref import ref

import numpy as np
from numpy.typing import NDArray

from ...model.trace import Op
from ...recording.fresh_memory import fresh_memory
from ...recording.stream_order import stream_order, use_of_array
from .streams import Stream

StreamLike = Stream | int
NUMBA_MODULE = "numba.cuda.cudadrv.devicearray"  # shown if a program prints the type of an array
NOT_CONTIGUOUS = (
    "Array contains non-contiguous buffer and cannot be transferred as a single memory region. Please ensure "
    "contiguous buffer with numpy .ascontiguousarray()"
)
# The existing arrays by id, because some of them compare element by element.
_live: dict[int, ref[Any]] = {}


class Memory:
    """A range of the device's memory: `gpu_data` of an array."""

    __cuda_memory__ = True

    def __init__(self, address: int, size: int, owner: Any) -> None:
        self.address, self.size, self.owner = address, size, owner

    def __int__(self) -> int:
        return self.address

    @property
    def device_pointer(self) -> int:
        """The address, in the host's memory."""
        return self.address

    @property
    def device_ctypes_pointer(self) -> Any:
        """The address for ctypes."""
        from ctypes import c_void_p

        return c_void_p(self.address)

    def view(self, start: int, stop: int | None = None) -> Memory:
        """Return the part from byte `start` to `stop`."""
        return Memory(self.address + start, (self.size if stop is None else stop) - start, self.owner)

    def as_array(
        self, shape: tuple[int, ...], strides: tuple[int, ...], dtype: np.dtype[Any]
    ) -> NDArray[Any]:
        """Return an array over this memory; raises TypeError or ValueError if it would reach outside."""
        if 0 in shape:
            return np.empty(shape, dtype)
        flat = owner_of(self.owner).ravel(order="K")
        flat = flat.view(np.int64) if flat.dtype.kind in "mM" else flat  # dates have no buffers
        return np.ndarray(shape, dtype, flat, self.address - address_of(flat), strides)


class DeviceNDArrayBase:
    """The common base of device arrays; `_ary` is a NumPy array over the same memory."""

    __cuda_memory__ = True
    __cuda_ndarray__ = True
    _ary: NDArray[Any]
    stream: StreamLike = 0

    @property
    def gpu_data(self) -> Memory:
        """The array's memory."""
        return Memory(address_of(self._ary), extent(self._ary), self._ary)

    @property
    def alloc_size(self) -> int:
        """Bytes from the first element to the end of the last."""
        return extent(self._ary)

    @property
    def device_ctypes_pointer(self) -> Any:
        """The address of the first element, for ctypes."""
        return self.gpu_data.device_ctypes_pointer

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        """The array for other libraries, by version 3 of the CUDA Array Interface."""
        ary, stream = self._ary, self.stream
        return {
            "shape": ary.shape,
            "strides": None if ary.flags.c_contiguous else ary.strides,
            "data": (address_of(ary) if ary.size else 0, False),
            "typestr": ary.dtype.str,
            "stream": int(stream) or 1 if stream else None,
            "version": 3,
        }

    @property
    def _numba_type_(self) -> Any:
        from numba import typeof

        return typeof(np.lib.stride_tricks.as_strided(self._ary, writeable=True))

    def as_cuda_arg(self) -> Memory:
        """Return the array's memory."""
        return self.gpu_data

    def bind(self, stream: StreamLike = 0) -> Any:
        """Return the same array with another stream for its copies."""
        clone = copy.copy(self) if not isinstance(self, np.ndarray) else self.view(type(self))
        clone.stream = stream
        return clone

    def copy_to_host(self, ary: NDArray[Any] | None = None, stream: StreamLike = 0) -> NDArray[Any]:
        """Return the elements in a host array: `ary`, of the same shape, strides and type, or a new one."""
        if any(stride < 0 for stride in self._ary.strides):
            raise NotImplementedError(f"D->H copy not implemented for negative strides: {self._ary.strides}")
        used = stream or self.stream
        stream_order.add("copy_to_host", used, lambda: [use_of_array(self._ary, Op.LOAD)])
        stream_order.synchronize(used)  # as a copy to memory that is not pinned
        if ary is None:
            return np.array(self._ary, order="K", copy=True)
        check_array_compatibility(self, ary)
        np.copyto(ary, self._ary)
        return ary

    def copy_to_device(self, ary: Any, stream: StreamLike = 0) -> None:
        """Copy a host or device array of the same shape and type to this one."""
        if not ary.size:
            return
        sentry_contiguous(self)
        if is_cuda_ndarray(ary):
            sentry_contiguous(ary)
            check_array_compatibility(array_core(self), array_core(ary))
        else:
            core = array_core(self)
            order: Any = "C" if core.flags["C_CONTIGUOUS"] else "F"
            check_array_compatibility(core, np.asarray(array_core(ary), order=order))
        self.note_write("copy_to_device", stream)
        fresh_memory.forget(self._ary)
        np.copyto(self._ary, np.asarray(getattr(ary, "_ary", ary)))

    def note_write(self, name: str, stream: StreamLike) -> None:
        """Note that a copy in a stream writes the array."""
        stream_order.add(name, stream or self.stream, lambda: [use_of_array(self._ary, Op.STORE)])

    def split(self, section: int, stream: StreamLike = 0) -> Iterator[Any]:
        """Yield views of a one-dimensional array in sections of `section` elements; the last may be shorter."""
        if self._ary.ndim != 1:
            raise ValueError("only support 1d array")
        if self._ary.strides[0] != self._ary.dtype.itemsize:
            raise ValueError("only support unit stride")
        for part in range(math.ceil(self._ary.size / section)):
            yield device_view(self._ary[part * section : (part + 1) * section], stream or self.stream)

    def get_ipc_handle(self) -> Any:
        """Refuse: there is no other process to share the memory with."""
        raise NotImplementedError("Tilescope has no get_ipc_handle: there is no GPU driver here.")


class DeviceNDArray(DeviceNDArrayBase):
    """An array on the device. The simulator constructs it from a NumPy array, programs from a shape."""

    __module__ = NUMBA_MODULE

    def __init__(
        self, shape: Any, strides: Any = None, dtype: Any = None, stream: StreamLike = 0,
        gpu_data: Memory | None = None,
    ) -> None:  # fmt: skip
        if isinstance(shape, np.ndarray | np.void):
            self._ary = cast("NDArray[Any]", shape)
        else:
            self._ary = _construct(shape, strides, dtype, gpu_data)
        self.stream = stream
        note_live(self)

    @property
    def shape(self) -> tuple[int, ...]:
        """Elements along each dimension."""
        return self._ary.shape

    @property
    def strides(self) -> tuple[int, ...]:
        """Bytes from an element to the next, along each dimension."""
        return self._ary.strides

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the elements."""
        return self._ary.dtype

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return self._ary.ndim

    @property
    def size(self) -> int:
        """Number of elements."""
        return self._ary.size

    @property
    def nbytes(self) -> int:
        """Bytes of all elements."""
        return self._ary.nbytes

    @property
    def flags(self) -> dict[str, bool]:
        """Whether the array is contiguous in C's and in Fortran's order."""
        flags = self._ary.flags
        return {"C_CONTIGUOUS": flags.c_contiguous, "F_CONTIGUOUS": flags.f_contiguous}

    def is_c_contiguous(self) -> bool:
        """Check whether the array is contiguous in C's order."""
        return self._ary.flags.c_contiguous

    def is_f_contiguous(self) -> bool:
        """Check whether the array is contiguous in Fortran's order."""
        return self._ary.flags.f_contiguous

    @property
    def T(self) -> DeviceNDArray:  # NumPy's name
        """The transpose, as a copy like on a GPU."""
        return self.transpose()

    def transpose(self, axes: Any = None) -> DeviceNDArray:
        """Return the transpose of two dimensions, as a copy like on a GPU."""
        if axes and tuple(axes) == tuple(range(self.ndim)):
            return self
        if self.ndim != 2:
            raise NotImplementedError("transposing a non-2D DeviceNDArray isn't supported")
        if axes is not None and set(axes) != {0, 1}:
            raise ValueError(f"invalid axes list {axes!r}")
        return DeviceNDArray(np.array(self._ary.T, order="C"), stream=self.stream)

    def reshape(self, *newshape: Any, order: Any = "C") -> DeviceNDArray:
        """Return a view of another shape; raises NotImplementedError if that needs a copy."""
        shape = newshape[0] if len(newshape) == 1 and isinstance(newshape[0], tuple | list) else newshape
        view = self._ary.reshape(shape, order=order)
        if view.size and not np.shares_memory(view, self._ary):
            raise NotImplementedError("operation requires copying")
        return device_view(view, self.stream)

    def ravel(self, order: Any = "C", stream: StreamLike = 0) -> DeviceNDArray:
        """Return a one-dimensional view; raises NotImplementedError if that needs a copy."""
        return self.reshape(-1, order=order)

    def view(self, dtype: Any) -> DeviceNDArray:
        """Return the same bytes as another type."""
        return device_view(self._ary.view(np.dtype(dtype)), self.stream)

    def squeeze(self, axis: Any = None, stream: StreamLike = 0) -> DeviceNDArray:
        """Return a view without the dimensions of one element."""
        return device_view(self._ary.squeeze(axis), stream or self.stream)

    def __len__(self) -> int:
        return len(self._ary)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        if copy is False:
            raise ValueError("`copy=False` is not supported. A copy is always created.")
        host = self.copy_to_host()
        return host.astype(dtype) if dtype else host

    def __getitem__(self, item: Any) -> Any:
        element = self._ary[_checked_index(item)]
        if isinstance(element, np.ndarray | np.void):
            return device_view(element, self.stream)
        stream_order.synchronize_all()
        return element

    def __setitem__(self, key: Any, value: Any) -> None:
        stream_order.synchronize_all()
        fresh_memory.forget(self._ary)
        self._ary[_checked_index(key)] = getattr(value, "_ary", value)

    def getitem(self, item: Any, stream: StreamLike = 0) -> Any:
        """Return `self[item]`."""
        return self[item]

    def setitem(self, key: Any, value: Any, stream: StreamLike = 0) -> None:
        """Do `self[key] = value`."""
        self[key] = value


class DeviceRecord(DeviceNDArray):
    """A record on the device; its items are the fields."""

    __module__ = NUMBA_MODULE

    def __getitem__(self, item: Any) -> Any:
        field = self._ary[item]
        return field[()] if field.ndim == 0 and field.dtype.names is None else device_view(field, self.stream)

    def __setitem__(self, key: Any, value: Any) -> None:
        self._ary[key] = getattr(value, "_ary", value)


class _HostVisible(DeviceNDArrayBase, np.ndarray[Any, Any]):
    """An array that host and device can access: a NumPy array with the interface of device arrays."""

    @property
    def _ary(self) -> NDArray[Any]:  # type: ignore[override]  # the array itself
        return self.view(np.ndarray)

    def __array_finalize__(self, other: Any) -> None:
        self.stream = getattr(other, "stream", 0)

    def device_setup(self, gpu_data: Memory, stream: StreamLike = 0) -> None:
        """Note the stream of its copies."""
        self.stream = stream


class MappedNDArray(_HostVisible):
    """Memory of the host that kernels read and write."""

    __module__ = NUMBA_MODULE


class ManagedNDArray(_HostVisible):
    """Managed memory, which moves to the processor that uses it."""

    __module__ = NUMBA_MODULE


def device_view(ary: Any, stream: StreamLike = 0) -> DeviceNDArray:
    """Return a device array over a NumPy array or a record."""
    ary = np.asarray(ary) if isinstance(ary, np.void) else ary
    is_record = ary.ndim == 0 and ary.dtype.names is not None
    return (DeviceRecord if is_record else DeviceNDArray)(ary, stream=stream)


def _construct(shape: Any, strides: Any, dtype: Any, gpu_data: Memory | None) -> NDArray[Any]:
    lengths = (shape,) if isinstance(shape, int | np.integer) else tuple(shape)
    kind = np.dtype(dtype)
    steps = tuple(strides) if strides is not None and not isinstance(strides, int) else strides
    steps = (steps,) if isinstance(steps, int) else steps
    if gpu_data is None:
        return np.ndarray(lengths, kind, strides=steps)
    return gpu_data.as_array(lengths, np.empty(lengths, kind).strides if steps is None else steps, kind)


def _checked_index(index: Any) -> Any:
    """Return an index unchanged; raises TypeError for an index that a device array does not support."""
    for part in index if isinstance(index, tuple) else (index,):
        is_number = isinstance(part, int | np.integer) and not isinstance(part, bool)
        if not (is_number or isinstance(part, slice) or part is Ellipsis):
            raise TypeError(
                f"a device array takes whole numbers and slices as indices, not {type(part).__name__}; copy it to "
                "the host first."
            )
    return index


def address_of(ary: NDArray[Any]) -> int:
    """Return the address of an array's first element."""
    return cast(int, ary.__array_interface__["data"][0])


def extent(ary: NDArray[Any]) -> int:
    """Compute the bytes from an array's first element to the end of its last; 0 for an empty array."""
    if not ary.size:
        return 0
    reach = [max(0, stride) * (length - 1) for length, stride in zip(ary.shape, ary.strides, strict=True)]
    return int(sum(reach) + ary.itemsize)


def array_core(ary: Any) -> Any:
    """Return an array without its repeated dimensions, which have stride 0."""
    if not ary.strides or not ary.size:
        return ary
    return ary[tuple(0 if step == 0 else slice(None) for step in ary.strides)]


def is_contiguous(ary: Any) -> bool:
    """Check whether an array is contiguous in C's order, ignoring dimensions of length 1 or stride 0."""
    size = ary.dtype.itemsize
    for length, step in zip(reversed(ary.shape), reversed(ary.strides), strict=True):
        if length > 1 and step != 0:
            if size != step:
                return False
            size *= length
    return True


def sentry_contiguous(ary: Any) -> None:
    """Raise ValueError for a non-contiguous array."""
    core = array_core(ary)
    if not core.flags["C_CONTIGUOUS"] and not core.flags["F_CONTIGUOUS"]:
        raise ValueError(NOT_CONTIGUOUS)


def check_array_compatibility(ary1: Any, ary2: Any) -> None:
    """Raise TypeError or ValueError if arrays differ in type, shape or strides, ignoring dimensions of length 1."""
    first, second = ary1.squeeze(), ary2.squeeze()
    if ary1.dtype != ary2.dtype:
        raise TypeError(f"incompatible dtype: {ary1.dtype} vs. {ary2.dtype}")
    if first.shape != second.shape:
        raise ValueError(f"incompatible shape: {ary1.shape} vs. {ary2.shape}")
    if first.size and first.strides != second.strides:
        raise ValueError(f"incompatible strides: {ary1.strides} vs. {ary2.strides}")


def is_cuda_ndarray(obj: Any) -> bool:
    """Check whether an object is a device array."""
    return bool(getattr(obj, "__cuda_ndarray__", False))


def require_cuda_ndarray(obj: Any) -> None:
    """Raise ValueError for anything but a device array."""
    if not is_cuda_ndarray(obj):
        raise ValueError("require an cuda ndarray object")


verify_cuda_ndarray_interface = require_cuda_ndarray


def note_live(array: Any) -> None:
    """Register a device array until it is garbage-collected."""
    key = id(array)
    _live[key] = ref(array, lambda _: _live.pop(key, None))


def _owners() -> list[NDArray[Any]]:
    """List the arrays that own the memory of all device arrays, each once."""
    arrays = [array for array in (reference() for reference in list(_live.values())) if array is not None]
    owners = (owner_of(array._ary) for array in arrays if isinstance(array._ary, np.ndarray))
    return list({id(owner): owner for owner in owners}.values())


def bytes_in_use() -> int:
    """Count the bytes of all existing device arrays."""
    return sum(owner.nbytes for owner in _owners())


def owner_of(ary: NDArray[Any]) -> NDArray[Any]:
    """Return the array that owns a view's memory."""
    while isinstance(ary.base, np.ndarray):
        ary = ary.base
    return ary


def memory_at(address: int, size: int) -> Memory | None:
    """Find device memory of this size at an address; None if no device array contains it."""
    for owner in _owners():
        start = address_of(owner)
        if start <= address and address + size <= start + owner.nbytes:
            return Memory(address, start + owner.nbytes - address, owner)
    return None
