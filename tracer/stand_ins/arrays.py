"""Arrays in the memory of the device, which NumPy computes with, and which the program reads only by copying."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from ..cuda_cpp.device_memory import Allocation
from .driver import Argument, memory, pointer_argument

_METHODS = (
    "all", "any", "argmax", "argmin", "argsort", "astype", "clip", "conj", "conjugate", "copy", "cumprod", "cumsum",
    "diagonal", "dot", "flatten", "max", "mean", "min", "nonzero", "prod", "ravel", "repeat", "reshape", "round",
    "squeeze", "std", "sum", "swapaxes", "take", "trace", "transpose", "var", "view",
)  # fmt: skip
_OPERATORS = (
    "add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and", "or", "xor", "lshift", "rshift",
)  # fmt: skip
_COMPARISONS = ("lt", "le", "eq", "ne", "gt", "ge")


class Memory:
    """An allocation that is freed with the last object that refers to it."""

    def __init__(self, size: int, *, is_written: bool) -> None:
        """Raises DeviceMemoryError."""
        self.allocation: Allocation = memory.allocate(size, is_written=is_written)

    @property
    def address(self) -> int:
        """The address of its first byte."""
        return self.allocation.address

    def __del__(self) -> None:
        if "allocation" in vars(self):
            memory.free(self.allocation.address)


class DeviceArray:
    """An array in device memory."""

    __array_priority__ = 100
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, values: NDArray[Any], holder: Memory) -> None:
        """values: a view of the memory."""
        self._values, self._holder = values, holder

    @classmethod
    def new(cls, shape: int | tuple[int, ...], dtype: DTypeLike, *, is_written: bool = True) -> Any:
        """Allocate an array of zeros, or of poison if it is not written."""
        kind = np.dtype(dtype)
        sizes = tuple(map(int, shape)) if isinstance(shape, tuple | list) else (int(shape),)
        count = int(np.prod(sizes)) if sizes else 1
        holder = Memory(count * kind.itemsize, is_written=is_written)
        values = np.ndarray(sizes, kind, holder.allocation.content) if count else np.empty(sizes, kind)
        return cls(values, holder)

    @classmethod
    def copied(cls, values: NDArray[Any] | np.generic) -> Any:
        """Copy an array of the host to the device."""
        content = np.asarray(values)
        order = "F" if content.flags.f_contiguous and not content.flags.c_contiguous else "C"
        array = cls.new(content.shape, content.dtype)
        if order == "F":
            array = cls(array._values.reshape(content.shape[::-1]).T, array._holder)
        array._values[...] = content
        return array

    @classmethod
    def wrap(cls, result: Any, *sources: Any) -> Any:
        """Return NumPy's result as arrays of the device: a view if it is one of a source, else a copy."""
        if isinstance(result, tuple | list):
            return type(result)(cls.wrap(part, *sources) for part in result)
        if isinstance(result, np.ndarray):
            for source in sources:
                if (
                    isinstance(source, DeviceArray)
                    and np.may_share_memory(result, source._values)
                    and result.size
                ):
                    return cls(result, source._holder)
        return cls.copied(result) if isinstance(result, np.ndarray | np.generic) else result

    @property
    def host(self) -> NDArray[Any]:
        """The values, for code of ours that reads or writes them."""
        self._holder.allocation.is_written = True
        return self._values

    @property
    def address(self) -> int:
        """The address of the first element."""
        start = self._holder.allocation.content.__array_interface__["data"][0]
        offset = self._values.__array_interface__["data"][0] - start if self._values.size else 0
        return self._holder.address + int(offset)

    def argument(self) -> Argument:
        """Return the array as an argument of a launch: a pointer to its first element."""
        shape = self._values.shape if self._values.flags.c_contiguous else None
        return pointer_argument(self.address, self._values.dtype.str, shape)

    shape = property(lambda self: self._values.shape)
    dtype = property(lambda self: self._values.dtype)
    size = property(lambda self: self._values.size)
    ndim = property(lambda self: self._values.ndim)
    nbytes = property(lambda self: self._values.nbytes)
    itemsize = property(lambda self: self._values.itemsize)
    strides = property(lambda self: self._values.strides)
    flags = property(lambda self: self._values.flags)
    T = property(lambda self: self.wrap(self._values.T, self))
    real = property(lambda self: self.wrap(self._values.real, self))
    imag = property(lambda self: self.wrap(self._values.imag, self))

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        strides = None if self._values.flags.c_contiguous else self._values.strides
        return {
            "shape": self.shape, "typestr": self.dtype.str, "data": (self.address, False), "version": 3,
            "strides": strides, "stream": None,
        }  # fmt: skip

    def get(
        self, stream: object = None, order: str = "C", out: NDArray[Any] | None = None, **_: Any
    ) -> NDArray[Any]:
        """Copy the array to the host."""
        if out is not None:
            out[...] = self.host
            return out
        return self.host.copy()

    def set(self, values: NDArray[Any], stream: object = None) -> None:
        """Copy an array of the host to this one."""
        if not isinstance(values, np.ndarray):
            raise TypeError("Only numpy.ndarray can be set to a device array")
        if values.shape != self.shape or values.dtype != self.dtype:
            raise ValueError(
                f"the array has {self.dtype} {self.shape}, and the values have {values.dtype} {values.shape}"
            )
        self.host[...] = values

    def fill(self, value: Any) -> None:
        """Set every element."""
        self.host.fill(unwrapped(value))

    def item(self, *index: int) -> Any:
        """Copy one element to the host."""
        return self.host.item(*index)

    def tolist(self) -> Any:
        """Copy the elements to lists."""
        return self.host.tolist()

    def sort(self, axis: int = -1) -> None:
        """Sort in place."""
        self.host.sort(axis)

    def __getitem__(self, index: Any) -> Any:
        plain = tuple(map(unwrapped, index)) if isinstance(index, tuple) else unwrapped(index)
        result = self.host[plain]
        if isinstance(result, np.generic):
            result = self.host[(*(plain if isinstance(plain, tuple) else (plain,)), ...)]
        return self.wrap(result, self)

    def __setitem__(self, index: Any, value: Any) -> None:
        is_complete = index is Ellipsis or (isinstance(index, slice) and index == slice(None))
        if isinstance(value, np.ndarray) and value.ndim and not is_complete:
            raise TypeError(f"Unsupported type {type(value)}")
        plain = tuple(map(unwrapped, index)) if isinstance(index, tuple) else unwrapped(index)
        self.host[plain] = value if isinstance(value, np.ndarray) else unwrapped(value)

    def __len__(self) -> int:
        return len(self._values)

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(len(self)))

    def __repr__(self) -> str:
        return repr(self.host)

    def __str__(self) -> str:
        return str(self.host)

    def __format__(self, spec: str) -> str:
        return format(self.host.item() if spec and self.size == 1 else str(self), spec)

    def __bool__(self) -> bool:
        return bool(self.host)

    def __int__(self) -> int:
        return int(self.host)

    def __float__(self) -> float:
        return float(self.host)

    def __complex__(self) -> complex:
        return complex(self.host)

    def __index__(self) -> int:
        return operator.index(self.host)

    def __neg__(self) -> Any:
        return self.wrap(-self.host)

    def __abs__(self) -> Any:
        return self.wrap(abs(self.host))

    def __invert__(self) -> Any:
        return self.wrap(~self.host)

    def __array__(self, *_: Any, **__: Any) -> NDArray[Any]:
        raise TypeError(
            "Implicit conversion to a NumPy array is not allowed. "
            "Please use `.get()` to construct a NumPy array explicitly."
        )

    def __array_ufunc__(
        self, ufunc: np.ufunc, method: str, *inputs: Any, out: Any = None, **names: Any
    ) -> Any:
        call = getattr(ufunc, method)
        plain = [unwrapped(value) for value in inputs]
        if out is not None:
            return self._into(call, plain, out[0], names)
        return self.wrap(call(*plain, **names), *inputs)

    def _into(self, call: Callable[..., Any], inputs: list[Any], out: Any, names: dict[str, Any]) -> Any:
        if not isinstance(out, DeviceArray):
            raise TypeError(f"Unsupported type {type(out)}")
        call(*inputs, out=out.host, **names)
        return out

    def __array_function__(self, function: Any, types: Any, arguments: Any, names: Any) -> Any:
        return computed(type(self), function, arguments, names)


def unwrapped(value: Any) -> Any:
    """Return an argument for NumPy; raises TypeError for an array of the host, as packages for GPUs do."""
    if isinstance(value, DeviceArray):
        return value.host
    if isinstance(value, np.ndarray) and value.ndim:
        raise TypeError(f"Unsupported type {type(value)}")
    if isinstance(value, list | tuple) and any(
        isinstance(part, DeviceArray | list | tuple) for part in value
    ):
        return type(value)(unwrapped(part) for part in value)
    return value


def computed(
    kind: type[DeviceArray], function: Callable[..., Any], arguments: Any, names: dict[str, Any]
) -> Any:
    """Let NumPy compute a function of device arrays; the result is on the device."""
    out = names.pop("out", None)
    plain = [unwrapped(value) for value in arguments]
    named = {name: unwrapped(value) for name, value in names.items()}
    if out is not None:
        function(*plain, out=unwrapped(out), **named)
        return out
    return kind.wrap(function(*plain, **named), *arguments)


def _method(name: str) -> Callable[..., Any]:
    def call(self: DeviceArray, *arguments: Any, **names: Any) -> Any:
        out = names.pop("out", None)
        plain = [unwrapped(value) for value in arguments]
        result = getattr(self.host, name)(*plain, **{key: unwrapped(value) for key, value in names.items()})
        if out is None:
            return type(self).wrap(result, self)
        out.host[...] = result
        return out

    return call


def _operator(name: str, *, is_reversed: bool = False, is_in_place: bool = False) -> Callable[..., Any]:
    function = getattr(operator, f"{name}_" if name in ("and", "or") else name)

    def call(self: DeviceArray, other: Any) -> Any:
        if not isinstance(other, DeviceArray | np.ndarray | np.generic | bool | int | float | complex):
            return NotImplemented
        value = unwrapped(other)
        if is_in_place:
            self.host[...] = np.asarray(function(self.host, value)).astype(
                self.dtype, casting="same_kind", copy=False
            )
            return self
        result = function(value, self.host) if is_reversed else function(self.host, value)
        return type(self).wrap(result)

    return call


for _name in _METHODS:
    setattr(DeviceArray, _name, _method(_name))
for _name in _OPERATORS:
    setattr(DeviceArray, f"__{_name}__", _operator(_name))
    setattr(DeviceArray, f"__r{_name}__", _operator(_name, is_reversed=True))
    setattr(DeviceArray, f"__i{_name}__", _operator(_name, is_in_place=True))
for _name in _COMPARISONS:
    setattr(DeviceArray, f"__{_name}__", _operator(_name))
