"""The memory that a call's arrays lie in: copied into files before it runs, and back into the arrays afterwards.

An array of the host's has memory of its own, as on a GPU, where each is copied to the device and back. Device arrays
that overlap lie in one memory.
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
from .call import ArrayPlace, CallError, Memory, memory_file

TRANSFERS = ("In", "Out", "InOut")  # classes of numba.cuda's around arrays
Bytes = NDArray[np.uint8]


class _DeviceArray(Struct, frozen=True, eq=False):
    """An array on the device: where its bytes lie, and how they are read and written."""

    low: int  # address of its first byte
    high: int  # after its last
    view: Any  # with shape, strides and dtype
    read: Callable[[], Bytes]
    write: Callable[[Bytes], None]


class Memories:
    """The memories of one call. The device arrays among its arguments are given when it is made."""

    def __init__(self, arguments: Sequence[Any]) -> None:
        self._held: list[NDArray[Any]] = []  # a memory each, in one dimension
        self._restore: list[tuple[int, Callable[[NDArray[Any]], None]]] = []  # from which memory, and how
        self._device: dict[
            int, tuple[_DeviceArray, int, int]
        ] = {}  # by id: the array, its memory, its offset
        try:
            for group in _overlapping([(id(one), _device_array(one)) for one in _device_arrays(arguments)]):
                self._add_group(group)
        except CallError:
            raise
        except Exception as error:  # of numba's, of the driver's or of another library
            raise CallError(f"a device array can't be copied ({type(error).__name__}: {error}).") from error

    @property
    def described(self) -> tuple[Memory, ...]:
        """The memories as a call names them."""
        return tuple(Memory(dtype_of(held.dtype), held.size) for held in self._held)

    def write(self, folder: Path) -> None:
        """Write what they hold to a folder; raises OSError."""
        for number, held in enumerate(self._held):
            held.view(np.uint8).tofile(memory_file(folder, number))

    def read_back(self, folder: Path) -> None:
        """Put what a folder holds into the arguments; raises OSError."""
        left = [
            np.fromfile(memory_file(folder, number), np.uint8).view(held.dtype)
            for number, held in enumerate(self._held)
        ]
        for number, restore in self._restore:
            restore(left[number])

    def place(self, value: Any, name: str) -> ArrayPlace | None:
        """Return where an argument lies, None for one that is no array; raises CallError, which names it."""
        transfer = type(value).__name__ if _is_transfer(value) else ""
        value = value.value if transfer else value
        if id(value) in self._device:
            return self._device_place(value, name)
        if isinstance(value, np.void):
            return self._record(value, name)
        if not isinstance(value, np.ndarray):
            return None
        return self._host_place(np.asarray(value), name, transfer)  # type: ignore[arg-type]  # one of TRANSFERS

    def _host_place(
        self, ary: NDArray[Any], name: str, transfer: Literal["", "In", "Out", "InOut"]
    ) -> ArrayPlace:
        check_array(ary, name)
        low, high = np.lib.array_utils.byte_bounds(ary) if ary.size else (0, 0)
        offset = ary.__array_interface__["data"][0] - low if ary.size else 0
        held, kind = _zeros(high - low, ary.dtype), _kind_of(ary)
        seen = np.ndarray(ary.shape, ary.dtype, held, offset, ary.strides) if ary.size else held
        if ary.size:
            seen[...] = ary
        number = self._hold(held)
        if ary.size and ary.flags.writeable and transfer != "In":
            self._restore.append((number, _copier(ary, offset)))
        return ArrayPlace(
            number,
            offset,
            dtype_of(ary.dtype),
            ary.shape,
            ary.strides,
            kind,
            transfer,
            not ary.flags.writeable,
        )

    def _record(self, record: np.void, name: str) -> ArrayPlace:
        held = np.array([record], record.dtype)
        check_array(held, name)
        number = self._hold(held)

        def restore(left: NDArray[Any]) -> None:
            for field in record.dtype.names or ():
                record[field] = left[0][field]

        self._restore.append((number, restore))
        return ArrayPlace(number, 0, dtype_of(record.dtype), (), (), "record")

    def _device_place(self, value: Any, name: str) -> ArrayPlace:
        array, number, offset = self._device[id(value)]
        check_array(np.empty(0, array.view.dtype), name)
        view = array.view
        return ArrayPlace(
            number, offset, dtype_of(view.dtype), tuple(view.shape), tuple(view.strides), "device"
        )

    def _add_group(self, group: list[tuple[int, _DeviceArray]]) -> None:
        """Take in device arrays that overlap as one memory."""
        low, high = min(a.low for _, a in group), max(a.high for _, a in group)
        held = _zeros(high - low, np.dtype(group[0][1].view.dtype))
        content = held.view(np.uint8)
        number = self._hold(held)
        for identity, array in group:
            start, end = array.low - low, array.high - low
            content[start:end] = array.read()
            first = array.low + _before_first(array.view)
            self._device[identity] = array, number, first - low
            self._restore.append((number, _writer(array, start, end)))

    def _hold(self, held: NDArray[Any]) -> int:
        self._held.append(held)
        return len(self._held) - 1


def _copier(ary: NDArray[Any], offset: int) -> Callable[[NDArray[Any]], None]:
    def restore(left: NDArray[Any]) -> None:
        ary[...] = np.ndarray(ary.shape, ary.dtype, left, offset, ary.strides)

    return restore


def _writer(array: _DeviceArray, start: int, end: int) -> Callable[[NDArray[Any]], None]:
    return lambda left: array.write(left.view(np.uint8)[start:end])


def check_array(ary: NDArray[Any], name: str) -> None:
    """Raise CallError for an array that no kernel takes."""
    if ary.dtype.hasobject:
        raise CallError(f"{name} is an array of Python objects; give it a dtype of numbers.")
    if not ary.dtype.isnative:
        raise CallError(f"{name} has the bytes of its numbers in another order, {ary.dtype.str}; convert it.")
    if ary.dtype.names is None and ary.dtype.kind in "USV":
        raise CallError(
            f"{name} is an array of {ary.dtype}, which kernels don't take; give it a dtype of numbers."
        )


def _kind_of(ary: NDArray[Any]) -> Literal["host", "device"]:
    """Return how an array of the host's is passed: numba takes one with gaps only where it is on the device."""
    return "host" if ary.flags.forc else "device"


def _zeros(nbytes: int, dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return memory of so many bytes, as elements of a type where these fill it."""
    whole = dtype.itemsize and not nbytes % dtype.itemsize
    return np.zeros(nbytes // dtype.itemsize, dtype) if whole else np.zeros(nbytes, np.uint8)


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
    """Return a device array of numba's, its simulator's or another library's; raises CallError."""
    inner = getattr(value, "_ary", None)
    if isinstance(inner, np.ndarray):
        return _on_host(inner)
    if isinstance(value, np.ndarray):  # mapped or managed memory, which the host sees too
        sys.modules["numba.cuda"].synchronize()
        return _on_host(
            np.ndarray.view(value, np.ndarray)
        )  # numba's own asks for what a managed array has not
    value = value if hasattr(type(value), "copy_to_host") else _numbas(value)
    low = int(value.__cuda_array_interface__["data"][0]) - _before_first(value)
    whole = value if order_of(value) else _bytes_of(value)
    order = order_of(whole) or "C"

    def read() -> Bytes:
        return whole.copy_to_host().ravel(order=order).view(np.uint8)  # type: ignore[no-any-return]  # numba's

    def write(content: Bytes) -> None:
        whole.copy_to_device(content.view(whole.dtype).reshape(whole.shape, order=order))

    return _DeviceArray(low, low + _extent(value), value, read, write)


def order_of(device_array: Any) -> Literal["C", "F", ""]:
    """Return the order in which the elements of an array of numba's lie without gaps, "" where there are such."""
    if getattr(device_array, "is_c_contiguous", lambda: True)():
        return "C"
    return "F" if device_array.is_f_contiguous() else ""


def _on_host(ary: NDArray[Any]) -> _DeviceArray:
    """Return an array whose memory is the host's, as that of the simulator's are."""
    low, high = np.lib.array_utils.byte_bounds(ary) if ary.size else (ary.__array_interface__["data"][0],) * 2
    seen: Bytes = np.ndarray((high - low,), np.uint8, _root(ary), low - _address(_root(ary)))

    def write(content: Bytes) -> None:
        seen[...] = content

    return _DeviceArray(low, high, ary, seen.copy, write)


def _root(ary: NDArray[Any]) -> NDArray[Any]:
    """Return the array that owns the memory that a view looks into, seen as bytes in its order."""
    root = ary
    while isinstance(root.base, np.ndarray):
        root = root.base
    return root.ravel(order="K").view(np.uint8)


def _address(ary: NDArray[Any]) -> int:
    address: int = ary.__array_interface__["data"][0]
    return address


def _numbas(value: Any) -> Any:
    """Return an array of another library's on a GPU as one of numba's."""
    cuda = sys.modules.get("numba.cuda")
    if cuda is None:
        raise CallError(
            f"a {type(value).__name__} can't be copied from its GPU without numba.cuda; import that."
        )
    return cuda.as_cuda_array(value)


def _bytes_of(value: Any) -> Any:
    """Return the bytes of an array of numba's with gaps, as an array: numba copies no other to the device."""
    kind = sys.modules["numba.cuda.cudadrv.devicearray"].DeviceNDArray
    return kind(shape=(_extent(value),), strides=(1,), dtype=np.uint8, gpu_data=value.gpu_data)


def _extent(view: Any) -> int:
    """Return the bytes from the first to after the last of an array's elements."""
    if 0 in view.shape:
        return 0
    spans = (abs(s) * (n - 1) for n, s in zip(view.shape, view.strides, strict=True))
    return int(sum(spans)) + int(view.dtype.itemsize)


def _before_first(view: Any) -> int:
    """Return how many bytes of an array lie before its first element, as where it runs backwards."""
    if 0 in view.shape:
        return 0
    return int(sum(-s * (n - 1) for n, s in zip(view.shape, view.strides, strict=True) if s < 0))


def _overlapping(arrays: list[tuple[int, _DeviceArray]]) -> Iterator[list[tuple[int, _DeviceArray]]]:
    """Yield the arrays in groups whose bytes overlap, in the order of their addresses."""
    group: list[tuple[int, _DeviceArray]] = []
    end = 0
    for identity, array in sorted(arrays, key=lambda one: one[1].low):
        if group and array.low >= end:
            yield group
            group = []
        group.append((identity, array))
        end = max(end, array.high)
    if group:
        yield group
