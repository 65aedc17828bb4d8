"""The memory of a call's arrays: copied into files before the run, and back into the arrays afterwards.

Each host array gets separate memory, as on a GPU, which copies it to the device and back. Device arrays that overlap
share one memory.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from ..type_inference.live_kernel import dtype_of
from .call import ArrayArgument, CallError, Memory, memory_file

TRANSFERS = ("In", "Out", "InOut")  # classes of numba.cuda's around arrays
Bytes = NDArray[np.uint8]


class _DeviceArray(Struct, frozen=True, eq=False):
    """An array on the device: the addresses of its bytes, and functions to read and write them."""

    low: int  # address of its first byte
    high: int  # address after its last byte
    view: Any  # with shape, strides and dtype
    read: Callable[[], Bytes]
    write: Callable[[Bytes], None]


class Memories:
    """The memories of one call; the constructor copies its device arrays."""

    def __init__(self, arguments: Sequence[Any]) -> None:
        self._arrays: list[NDArray[Any]] = []  # one for each memory, one-dimensional
        self._restore: list[
            tuple[int, Callable[[NDArray[Any]], None]]
        ] = []  # (index of the memory, function that restores it)
        # By id: the array, the index of its memory, its offset there.
        self._device: dict[int, tuple[_DeviceArray, int, int]] = {}
        try:
            for group in _overlapping(
                [(id(value), _device_array(value)) for value in _device_arrays(arguments)]
            ):
                self._add_group(group)
        except CallError:
            raise
        except Exception as error:  # from numba, the driver or another library
            raise CallError(f"a device array can't be copied ({type(error).__name__}: {error}).") from error

    @property
    def described(self) -> tuple[Memory, ...]:
        """The memories as a call describes them."""
        return tuple(Memory(dtype_of(array.dtype), array.size) for array in self._arrays)

    def write(self, folder: Path) -> None:
        """Write the memories to a folder; raises OSError."""
        for number, array in enumerate(self._arrays):
            array.view(np.uint8).tofile(memory_file(folder, number))

    def read_back(self, folder: Path) -> None:
        """Copy the memories in a folder back into the arguments; raises OSError."""
        contents = [
            np.fromfile(memory_file(folder, number), np.uint8).view(array.dtype)
            for number, array in enumerate(self._arrays)
        ]
        for number, restore in self._restore:
            restore(contents[number])

    def locate(self, value: Any, name: str) -> ArrayArgument | None:
        """Locate an argument's memory, None if it is not an array; raises CallError, which contains `name`."""
        transfer = type(value).__name__ if _is_transfer(value) else ""
        value = value.value if transfer else value
        if id(value) in self._device:
            return self._locate_device_array(value, name)
        if isinstance(value, np.void):
            return self._locate_record(value, name)
        if not isinstance(value, np.ndarray):
            return None
        return self._locate_host_array(np.asarray(value), name, transfer)  # type: ignore[arg-type]  # one of TRANSFERS

    def _locate_host_array(
        self, ary: NDArray[Any], name: str, transfer: Literal["", "In", "Out", "InOut"]
    ) -> ArrayArgument:
        check_array(ary, name)
        low, high = np.lib.array_utils.byte_bounds(ary) if ary.size else (0, 0)
        offset = ary.__array_interface__["data"][0] - low if ary.size else 0
        memory, kind = _zeros(high - low, ary.dtype), _passing_kind(ary)
        view = np.ndarray(ary.shape, ary.dtype, memory, offset, ary.strides) if ary.size else memory
        if ary.size:
            view[...] = ary
        index = self._add_memory(memory)
        if ary.size and ary.flags.writeable and transfer != "In":
            self._restore.append((index, _make_restorer(ary, offset)))
        return ArrayArgument(
            index,
            offset,
            dtype_of(ary.dtype),
            ary.shape,
            ary.strides,
            kind,
            transfer,
            not ary.flags.writeable,
        )

    def _locate_record(self, record: np.void, name: str) -> ArrayArgument:
        memory = np.array([record], record.dtype)
        check_array(memory, name)
        index = self._add_memory(memory)

        def restore(content: NDArray[Any]) -> None:
            for field in record.dtype.names or ():
                record[field] = content[0][field]

        self._restore.append((index, restore))
        return ArrayArgument(index, 0, dtype_of(record.dtype), (), (), "record")

    def _locate_device_array(self, value: Any, name: str) -> ArrayArgument:
        array, number, offset = self._device[id(value)]
        check_array(np.empty(0, array.view.dtype), name)
        view = array.view
        return ArrayArgument(
            number, offset, dtype_of(view.dtype), tuple(view.shape), tuple(view.strides), "device"
        )

    def _add_group(self, group: list[tuple[int, _DeviceArray]]) -> None:
        """Copy overlapping device arrays into one memory."""
        low, high = min(a.low for _, a in group), max(a.high for _, a in group)
        memory = _zeros(high - low, np.dtype(group[0][1].view.dtype))
        content = memory.view(np.uint8)
        index = self._add_memory(memory)
        for identity, array in group:
            start, end = array.low - low, array.high - low
            content[start:end] = array.read()
            first = array.low + _before_first(array.view)
            self._device[identity] = array, index, first - low
            self._restore.append((index, _make_device_restorer(array, start, end)))

    def _add_memory(self, memory: NDArray[Any]) -> int:
        self._arrays.append(memory)
        return len(self._arrays) - 1


def _make_restorer(ary: NDArray[Any], offset: int) -> Callable[[NDArray[Any]], None]:
    def restore(content: NDArray[Any]) -> None:
        ary[...] = np.ndarray(ary.shape, ary.dtype, content, offset, ary.strides)

    return restore


def _make_device_restorer(array: _DeviceArray, start: int, end: int) -> Callable[[NDArray[Any]], None]:
    return lambda content: array.write(content.view(np.uint8)[start:end])


def check_array(ary: NDArray[Any], name: str) -> None:
    """Raise CallError for an array that no kernel accepts."""
    if ary.dtype.hasobject:
        raise CallError(f"{name} is an array of Python objects; give it a dtype of numbers.")
    if not ary.dtype.isnative:
        raise CallError(f"{name} has non-native byte order, {ary.dtype.str}; convert it.")
    if ary.dtype.names is None and ary.dtype.kind in "USV":
        raise CallError(
            f"{name} is an array of {ary.dtype}, which kernels don't take; give it a dtype of numbers."
        )


def _passing_kind(ary: NDArray[Any]) -> Literal["host", "device"]:
    """Choose how to pass a host array: numba accepts one with gaps only on the device."""
    return "host" if ary.flags.forc else "device"


def _zeros(nbytes: int, dtype: np.dtype[Any]) -> NDArray[Any]:
    """Allocate zeroed memory, as elements of a type if these fill it exactly, otherwise as bytes."""
    divides = dtype.itemsize and not nbytes % dtype.itemsize
    return np.zeros(nbytes // dtype.itemsize, dtype) if divides else np.zeros(nbytes, np.uint8)


def _is_transfer(value: Any) -> bool:
    return type(value).__name__ in TRANSFERS and type(value).__module__.startswith("numba.cuda")


def _device_arrays(arguments: Sequence[Any]) -> Iterator[Any]:
    """Yield the device arrays among arguments, each once."""
    seen: set[int] = set()
    waiting = list(arguments)
    while waiting:
        value = waiting.pop(0)
        value = value.value if _is_transfer(value) else value
        if isinstance(value, tuple):
            waiting += value
        elif _is_on_device(value) and id(value) not in seen:
            seen.add(id(value))
            yield value


def _is_on_device(value: Any) -> bool:
    return hasattr(type(value), "copy_to_host") or (
        not isinstance(value, np.ndarray | np.generic) and hasattr(value, "__cuda_array_interface__")
    )


def _device_array(value: Any) -> _DeviceArray:
    """Describe a device array of numba, its simulator or another library; raises CallError."""
    inner = getattr(value, "_ary", None)
    if isinstance(inner, np.ndarray):
        return _on_host(inner)
    if isinstance(value, np.ndarray):  # mapped or managed memory, which the host can read
        sys.modules["numba.cuda"].synchronize()
        return _on_host(np.ndarray.view(value, np.ndarray))  # numba's view needs attributes that it lacks
    value = value if hasattr(type(value), "copy_to_host") else _as_numba_array(value)
    low = int(value.__cuda_array_interface__["data"][0]) - _before_first(value)
    contiguous = value if contiguous_order(value) else _as_bytes(value)
    order = contiguous_order(contiguous) or "C"

    def read() -> Bytes:
        return contiguous.copy_to_host().ravel(order=order).view(np.uint8)  # type: ignore[no-any-return]  # numba is untyped

    def write(content: Bytes) -> None:
        contiguous.copy_to_device(content.view(contiguous.dtype).reshape(contiguous.shape, order=order))

    return _DeviceArray(low, low + _extent(value), value, read, write)


def contiguous_order(device_array: Any) -> Literal["C", "F", ""]:
    """Return the memory order of a contiguous numba array, "" if it has gaps."""
    if getattr(device_array, "is_c_contiguous", lambda: True)():
        return "C"
    return "F" if device_array.is_f_contiguous() else ""


def _on_host(ary: NDArray[Any]) -> _DeviceArray:
    """Describe an array in the host's memory, such as the simulator's arrays."""
    low, high = np.lib.array_utils.byte_bounds(ary) if ary.size else (ary.__array_interface__["data"][0],) * 2
    memory: Bytes = np.ndarray((high - low,), np.uint8, _root(ary), low - _address(_root(ary)))

    def write(content: Bytes) -> None:
        memory[...] = content

    return _DeviceArray(low, high, ary, memory.copy, write)


def _root(ary: NDArray[Any]) -> NDArray[Any]:
    """Return the array that owns a view's memory, as bytes in memory order."""
    root = ary
    while isinstance(root.base, np.ndarray):
        root = root.base
    return root.ravel(order="K").view(np.uint8)


def _address(ary: NDArray[Any]) -> int:
    address: int = ary.__array_interface__["data"][0]
    return address


def _as_numba_array(value: Any) -> Any:
    """Convert another library's GPU array to a numba array."""
    cuda = sys.modules.get("numba.cuda")
    if cuda is None:
        raise CallError(
            f"a {type(value).__name__} can't be copied from its GPU without numba.cuda; import numba.cuda."
        )
    return cuda.as_cuda_array(value)


def _as_bytes(value: Any) -> Any:
    """View a numba array with gaps as an array of bytes, since numba copies only contiguous arrays to the device."""
    kind = sys.modules["numba.cuda.cudadrv.devicearray"].DeviceNDArray
    return kind(shape=(_extent(value),), strides=(1,), dtype=np.uint8, gpu_data=value.gpu_data)


def _extent(view: Any) -> int:
    """Compute the number of bytes that an array spans, with its gaps."""
    if 0 in view.shape:
        return 0
    spans = (abs(stride) * (length - 1) for length, stride in zip(view.shape, view.strides, strict=True))
    return int(sum(spans)) + int(view.dtype.itemsize)


def _before_first(view: Any) -> int:
    """Count an array's bytes in front of its first element; not 0 with negative strides."""
    if 0 in view.shape:
        return 0
    return int(
        sum(
            -stride * (length - 1)
            for length, stride in zip(view.shape, view.strides, strict=True)
            if stride < 0
        )
    )


def _overlapping(arrays: list[tuple[int, _DeviceArray]]) -> Iterator[list[tuple[int, _DeviceArray]]]:
    """Yield the arrays in groups whose bytes overlap, in the order of their addresses."""
    group: list[tuple[int, _DeviceArray]] = []
    end = 0
    for identity, array in sorted(arrays, key=lambda item: item[1].low):
        if group and array.low >= end:
            yield group
            group = []
        group.append((identity, array))
        end = max(end, array.high)
    if group:
        yield group
