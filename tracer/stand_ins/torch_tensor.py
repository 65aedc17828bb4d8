"""PyTorch's tensors on the host and in the memory of the device, which NumPy computes with."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .arrays import DeviceArray
from .driver import RaisedAs

_KINDS = {"memory": (RuntimeError, "CUDA out of memory: ")}


class DType:
    """A type of elements, such as `torch.float32`."""

    def __init__(self, name: str) -> None:
        self.name, self.numpy = name, np.dtype(name)
        self.is_floating_point = self.numpy.kind == "f"
        self.itemsize = self.numpy.itemsize

    def __repr__(self) -> str:
        return f"torch.{self.name}"


DTYPES = {
    np.dtype(name): DType(name)
    for name in ("uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64", "bool")
}
FLOAT32 = DTYPES[np.dtype("float32")]


class Device:
    """A device: the host, or the only GPU."""

    def __init__(self, name: object, index: int | None = None) -> None:
        self.type, _, number = str(name).partition(":")
        self.index = int(number) if number else index
        if self.type not in ("cpu", "cuda") or self.index not in (None, 0):
            raise RuntimeError(f"Tilescope's stand-in for PyTorch has no device {name}; it has cpu and cuda")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Device) and self.type == other.type

    def __hash__(self) -> int:
        return hash(self.type)

    def __str__(self) -> str:
        return self.type if self.index is None else f"{self.type}:{self.index}"

    def __repr__(self) -> str:
        return f"device(type='{self.type}'" + (f", index={self.index})" if self.index is not None else ")")


class Size(tuple[int, ...]):
    """The lengths of a tensor."""

    def __repr__(self) -> str:
        return f"torch.Size({list(self)})"

    def numel(self) -> int:
        """Return the number of elements."""
        return int(np.prod(self))


class Tensor:
    """A tensor on the host, or in device memory."""

    __hash__ = object.__hash__

    def __init__(self, values: NDArray[Any], memory: DeviceArray | None = None) -> None:
        """values: of the host, or a view of the memory."""
        self._values, self._memory = values, memory

    @classmethod
    def on(cls, values: NDArray[Any], *, is_cuda: bool) -> Tensor:
        """Put values of the host on a device; those for the host are shared."""
        if not is_cuda:
            return cls(values)
        with RaisedAs(_KINDS):
            array: DeviceArray = DeviceArray.copied(np.ascontiguousarray(values).reshape(values.shape))
        return cls(array.host, array)

    @property
    def content(self) -> NDArray[Any]:
        """The values, for code of ours that reads or writes them."""
        if self._memory is not None:
            _ = self._memory.host  # which notes that the memory may be written
        return self._values

    @property
    def address(self) -> int | None:
        """The address of the first element on the device; None on the host."""
        return None if self._memory is None else DeviceArray(self._values, self._memory._holder).address

    @property
    def holder(self) -> DeviceArray | None:
        """The array that holds the device memory; None on the host."""
        return self._memory

    is_cuda = property(lambda self: self._memory is not None)
    device = property(lambda self: Device("cuda", 0) if self.is_cuda else Device("cpu"))
    shape = property(lambda self: Size(self._values.shape))
    dtype = property(lambda self: DTYPES[self._values.dtype])
    ndim = property(lambda self: self._values.ndim)
    T = property(lambda self: self._view(self._values.T))
    requires_grad = False

    def size(self, axis: int | None = None) -> object:
        """Return the lengths, or that of an axis."""
        return self.shape if axis is None else self.shape[axis]

    def dim(self) -> int:
        """Return the number of axes."""
        return int(self.ndim)

    def numel(self) -> int:
        """Return the number of elements."""
        return int(self._values.size)

    nelement = numel

    def element_size(self) -> int:
        """Return the bytes of an element."""
        return self._values.itemsize

    def stride(self, axis: int | None = None) -> object:
        """Return the distances of elements along the axes, in elements."""
        strides = tuple(stride // self._values.itemsize for stride in self._values.strides)
        return strides if axis is None else strides[axis]

    def is_contiguous(self) -> bool:
        """Return True if the elements lie in the order of their indices."""
        return self._values.flags.c_contiguous

    def contiguous(self) -> Tensor:
        """Return the tensor, or a copy with its elements in the order of their indices."""
        return self if self.is_contiguous() else self.clone()

    def clone(self) -> Tensor:
        """Copy the tensor on its device."""
        return self._copied(np.array(self._values, order="C"))

    def cuda(self, device: object = None, non_blocking: bool = False) -> Tensor:
        """Return the tensor on the device."""
        return self if self.is_cuda else Tensor.on(self._values, is_cuda=True)

    def cpu(self) -> Tensor:
        """Return the tensor on the host."""
        return Tensor(self.content.copy()) if self.is_cuda else self

    def to(self, *targets: object, device: object = None, dtype: DType | None = None, **_: object) -> Tensor:
        """Return the tensor on another device, of another type, or like another tensor."""
        result = self
        for target in (*targets, device, dtype):
            if isinstance(target, Tensor):
                result = result.to(target.device, target.dtype)
            elif isinstance(target, DType):
                if result.dtype is not target:
                    result = result._copied(result.content.astype(target.numpy))
            elif isinstance(target, str | Device):
                result = result.cuda() if Device(target).type == "cuda" else result.cpu()
        return result

    type = to

    def float(self) -> Tensor:
        """Return the tensor as float32."""
        return self.to(FLOAT32)

    def double(self) -> Tensor:
        """Return the tensor as float64."""
        return self.to(DTYPES[np.dtype("float64")])

    def half(self) -> Tensor:
        """Return the tensor as float16."""
        return self.to(DTYPES[np.dtype("float16")])

    def int(self) -> Tensor:
        """Return the tensor as int32."""
        return self.to(DTYPES[np.dtype("int32")])

    def long(self) -> Tensor:
        """Return the tensor as int64."""
        return self.to(DTYPES[np.dtype("int64")])

    def numpy(self) -> NDArray[Any]:
        """Return the values of a tensor on the host, which it shares."""
        if self.is_cuda:
            raise TypeError(
                "can't convert cuda:0 device type tensor to numpy. Use Tensor.cpu() to copy the tensor to host memory "
                "first."
            )
        return self._values

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return self.numpy() if dtype is None else self.numpy().astype(dtype)

    def detach(self) -> Tensor:
        """Return the tensor."""
        return self

    def item(self) -> Any:
        """Return the only element."""
        if self.numel() != 1:
            raise RuntimeError(f"a Tensor with {self.numel()} elements cannot be converted to Scalar")
        return self.content.item()

    def tolist(self) -> object:
        """Return the elements as lists."""
        return self.content.tolist()

    def view(self, *shape: object) -> Tensor:
        """Return the elements in another shape."""
        if not self.is_contiguous():
            raise RuntimeError(
                "view size is not compatible with input tensor's size and stride (at least one dimension spans across "
                "two contiguous subspaces). Use .reshape(...) instead."
            )
        return self.reshape(*shape)

    def reshape(self, *shape: object) -> Tensor:
        """Return the elements in another shape."""
        lengths = lengths_of(shape)
        given = int(np.prod([length for length in lengths if length >= 0]))
        is_valid = self.numel() % max(given, 1) == 0 if -1 in lengths else given == self.numel()
        if not is_valid:
            raise RuntimeError(f"shape '{list(lengths)}' is invalid for input of size {self.numel()}")
        return self._view(self._values.reshape(lengths))

    def flatten(self) -> Tensor:
        """Return the elements along one axis."""
        return self.reshape(-1)

    ravel = flatten

    def t(self) -> Tensor:
        """Return the transposed matrix."""
        return self._view(self._values.T)

    def transpose(self, first: Any, second: Any) -> Tensor:
        """Exchange two axes."""
        return self._view(self._values.swapaxes(first, second))

    def permute(self, *axes: object) -> Tensor:
        """Order the axes."""
        return self._view(self._values.transpose(lengths_of(axes)))

    def unsqueeze(self, axis: Any) -> Tensor:
        """Insert an axis of length 1."""
        return self._view(np.expand_dims(self._values, axis))

    def squeeze(self, axis: Any = None) -> Tensor:
        """Drop axes of length 1."""
        is_long = axis is not None and self._values.shape[axis] != 1
        return self if is_long else self._view(np.squeeze(self._values, axis))

    def fill_(self, value: object) -> Tensor:
        """Set every element."""
        self.content[...] = value
        return self

    def zero_(self) -> Tensor:
        """Set every element to 0."""
        return self.fill_(0)

    def copy_(self, other: Tensor) -> Tensor:
        """Copy the elements of another tensor, also from another device."""
        self.content[...] = other.content
        return self

    def __getitem__(self, index: object) -> Tensor:
        return self._view(np.asarray(self.content[self._index(index)]))

    def __setitem__(self, index: object, value: object) -> None:
        self.content[self._index(index)] = value.content if isinstance(value, Tensor) else value

    def _index(self, index: object) -> Any:
        parts = index if isinstance(index, tuple) else (index,)
        plain = tuple(part.content if isinstance(part, Tensor) else part for part in parts)
        is_basic = all(part is None or part is Ellipsis or isinstance(part, int | slice) for part in plain)
        return plain if not is_basic or Ellipsis in plain else (*plain, Ellipsis)

    def _view(self, values: NDArray[Any]) -> Tensor:
        """Return a tensor of these values: a view if they share memory with this one."""
        if not self.is_cuda or np.may_share_memory(values, self._values):
            return Tensor(values, self._memory)
        return self._copied(values)

    def _copied(self, values: NDArray[Any]) -> Tensor:
        return Tensor.on(values, is_cuda=self.is_cuda)

    def __neg__(self) -> object:
        return computed(operator.neg, (self,), {})

    def __abs__(self) -> object:
        return computed(operator.abs, (self,), {})

    def __invert__(self) -> object:
        return computed(operator.invert, (self,), {})

    def __len__(self) -> Any:
        if not self.ndim:
            raise TypeError("len() of a 0-d tensor")
        return len(self._values)

    def __iter__(self) -> Iterator[Tensor]:
        return (self[i] for i in range(len(self)))

    def __bool__(self) -> bool:
        if self.numel() != 1:
            raise RuntimeError("Boolean value of Tensor with more than one value is ambiguous")
        return bool(self.content.item())

    def __int__(self) -> Any:
        return int(self.item())

    def __float__(self) -> Any:
        return float(self.item())

    def __index__(self) -> Any:
        return operator.index(self.item())

    def __format__(self, spec: str) -> str:
        return format(self.item(), spec) if spec and not self.ndim else str(self)

    def __repr__(self) -> str:
        text = np.array2string(self.content, separator=", ", precision=4, prefix="tensor(")
        parts = [text, f"device='{self.device}'" if self.is_cuda else ""]
        if self.dtype not in (FLOAT32, DTYPES[np.dtype("int64")], DTYPES[np.dtype("bool")]):
            parts.append(f"dtype={self.dtype}")
        return f"tensor({', '.join(part for part in parts if part)})"


def lengths_of(shape: tuple[Any, ...]) -> tuple[int, ...]:
    """Return lengths that are given one by one, or as a tuple or list."""
    parts = shape[0] if len(shape) == 1 and isinstance(shape[0], tuple | list) else shape
    return tuple(operator.index(length) for length in parts)


def computed(function: Callable[..., Any], arguments: tuple[Any, ...], names: dict[str, Any]) -> Any:
    """Let NumPy compute a function of tensors, on their device; raises RuntimeError for tensors of two devices."""
    tensors = [value for value in (*arguments, *names.values()) if isinstance(value, Tensor)]
    devices = {tensor.is_cuda for tensor in tensors if tensor.ndim or len(tensors) == 1}
    if len(devices) > 1:
        raise RuntimeError(
            "Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!"
        )
    is_cuda = devices == {True} or (not devices and any(tensor.is_cuda for tensor in tensors))
    plain = [value.content if isinstance(value, Tensor) else value for value in arguments]
    named = {key: value.content if isinstance(value, Tensor) else value for key, value in names.items()}
    with np.errstate(all="ignore"):
        result = np.asarray(function(*plain, **named))
    is_double = any(tensor.dtype.name == "float64" for tensor in tensors)
    if result.dtype == np.float64 and not is_double:  # PyTorch's type of an integer and a Python float
        result = result.astype(np.float32)
    return Tensor.on(result, is_cuda=is_cuda)


def _operator(name: str, *, is_reversed: bool = False, is_in_place: bool = False) -> Callable[..., Any]:
    function = getattr(operator, f"{name}_" if name in ("and", "or") else name)

    def call(self: Tensor, other: Any) -> Any:
        if not isinstance(other, Tensor | bool | int | float):
            return NotImplemented
        result = computed(function, (other, self) if is_reversed else (self, other), {})
        return self.copy_(result) if is_in_place else result

    return call


for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and", "or", "xor"):
    setattr(Tensor, f"__{_name}__", _operator(_name))
    setattr(Tensor, f"__r{_name}__", _operator(_name, is_reversed=True))
    setattr(Tensor, f"__i{_name}__", _operator(_name, is_in_place=True))
for _name in ("lt", "le", "eq", "ne", "gt", "ge"):
    setattr(Tensor, f"__{_name}__", _operator(_name))
