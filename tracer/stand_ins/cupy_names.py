"""The part of CuPy that programs with RawKernel and RawModule use."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..cuda_cpp.device_memory import Allocation
from .arrays import DeviceArray, Memory, computed
from .device_objects import CAPABILITY, MEMORY_BYTES, Moment, WorkQueue
from .driver import (
    Argument,
    CudaModule,
    DriverError,
    RaisedAs,
    number_argument,
    numpy_argument,
    plain_name,
    pointer_argument,
)
from .driver import memory as device_memory
from .elementwise import ElementwiseKernel
from .source_place import place, place_file

SHARED_BYTES = 48 << 10  # of a block without `max_dynamic_shared_size_bytes`
_FUNCTIONS = [
    "absolute",
    "abs",
    "add",
    "all",
    "allclose",
    "amax",
    "amin",
    "angle",
    "any",
    "append",
    "argmax",
    "argmin",
    "argsort",
    "argwhere",
    "around",
    "array_equal",
    "arccos",
    "arccosh",
    "arcsin",
    "arcsinh",
    "arctan",
    "arctan2",
    "arctanh",
    "atleast_1d",
    "atleast_2d",
    "average",
    "bincount",
    "bitwise_and",
    "bitwise_or",
    "bitwise_xor",
    "broadcast_to",
    "cbrt",
    "ceil",
    "clip",
    "column_stack",
    "concatenate",
    "conj",
    "copysign",
    "cos",
    "cosh",
    "count_nonzero",
    "cross",
    "cumprod",
    "cumsum",
    "deg2rad",
    "degrees",
    "diag",
    "diagonal",
    "diff",
    "divide",
    "dot",
    "dstack",
    "einsum",
    "equal",
    "exp",
    "exp2",
    "expand_dims",
    "expm1",
    "fabs",
    "flip",
    "fliplr",
    "flipud",
    "floor",
    "floor_divide",
    "fmax",
    "fmin",
    "fmod",
    "greater",
    "greater_equal",
    "hstack",
    "hypot",
    "imag",
    "inner",
    "invert",
    "isclose",
    "isfinite",
    "isinf",
    "isnan",
    "kron",
    "left_shift",
    "less",
    "less_equal",
    "log",
    "log10",
    "log1p",
    "log2",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "matmul",
    "max",
    "maximum",
    "mean",
    "median",
    "min",
    "minimum",
    "mod",
    "moveaxis",
    "multiply",
    "nanmax",
    "nanmean",
    "nanmin",
    "nansum",
    "negative",
    "nonzero",
    "not_equal",
    "outer",
    "pad",
    "percentile",
    "power",
    "prod",
    "ptp",
    "rad2deg",
    "radians",
    "ravel",
    "real",
    "reciprocal",
    "remainder",
    "repeat",
    "reshape",
    "right_shift",
    "rint",
    "roll",
    "rollaxis",
    "rot90",
    "round",
    "searchsorted",
    "sign",
    "sin",
    "sinh",
    "sort",
    "split",
    "sqrt",
    "square",
    "squeeze",
    "stack",
    "std",
    "subtract",
    "sum",
    "swapaxes",
    "take",
    "tan",
    "tanh",
    "tensordot",
    "tile",
    "trace",
    "transpose",
    "trapezoid",
    "tril",
    "triu",
    "true_divide",
    "trunc",
    "unique",
    "var",
    "vdot",
    "vstack",
    "where",
    "histogram",
    "convolve",
]
_CREATED = ["arange", "eye", "identity", "linspace", "logspace", "tri", "meshgrid"]
_TYPES = [
    "bool_",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "float16",
    "float32",
    "float64",
    "complex64",
    "complex128",
    "intp",
    "uintp",
    "dtype",
    "finfo",
    "iinfo",
    "newaxis",
    "pi",
    "e",
    "inf",
    "nan",
    "float_",
    "generic",
    "number",
    "integer",
    "floating",
    "result_type",
    "promote_types",
    "can_cast",
    "issubdtype",
    "ndindex",
]


class CUDADriverError(RuntimeError):
    """An error of CUDA's driver."""


class CUDARuntimeError(RuntimeError):
    """An error of CUDA's runtime."""


class CompileException(Exception):
    """A text that does not compile."""


class OutOfMemoryError(MemoryError):
    """There is no device memory left."""


_KINDS: dict[str, tuple[type[Exception], str]] = {
    "compile": (CompileException, ""),
    "not found": (CUDADriverError, "CUDA_ERROR_NOT_FOUND: named symbol not found: "),
    "memory": (OutOfMemoryError, ""),
    "launch": (CUDADriverError, "CUDA_ERROR_INVALID_VALUE: invalid argument: "),
    "kernel": (CUDARuntimeError, "cudaErrorLaunchFailure: "),
    "illegal": (CUDARuntimeError, "cudaErrorIllegalAddress: "),
}


class MemoryPointer:
    """A pointer to device memory."""

    def __init__(self, address: int, holder: Memory | Allocation) -> None:
        self.ptr, self.mem = address, holder

    def __int__(self) -> int:
        return self.ptr

    def __add__(self, offset: int) -> MemoryPointer:
        return MemoryPointer(self.ptr + offset, self.mem)

    def _bytes(self, size: int) -> NDArray[np.uint8]:
        allocation = device_memory.holding(self.ptr)
        if allocation is None or self.ptr + size > allocation.address + allocation.size:
            raise CUDARuntimeError("cudaErrorInvalidValue: invalid argument")
        allocation.is_written = True
        start = self.ptr - allocation.address
        return allocation.content[start : start + size]

    def copy_from_host(self, source: Any, size: int) -> None:
        """Copy from an array of the host, or from an address given by `ctypes`."""
        content = (
            np.ascontiguousarray(source) if isinstance(source, np.ndarray) else _host_bytes(source, size)
        )
        self._bytes(size)[:] = content.reshape(-1).view(np.uint8)[:size]

    def copy_from_device(self, source: MemoryPointer, size: int) -> None:
        """Copy from device memory."""
        self._bytes(size)[:] = source._bytes(size)

    def copy_from(self, source: Any, size: int) -> None:
        """Copy from the host or the device."""
        copy = self.copy_from_device if isinstance(source, MemoryPointer) else self.copy_from_host
        copy(source, size)

    def copy_to_host(self, target: Any, size: int) -> None:
        """Copy to an array of the host."""
        _host_bytes(target, size)[:] = self._bytes(size)

    def memset(self, value: int, size: int) -> None:
        """Set bytes."""
        self._bytes(size)[:] = value


def _host_bytes(place: Any, size: int) -> NDArray[np.uint8]:
    if isinstance(place, np.ndarray):
        return place.reshape(-1).view(np.uint8)[:size]
    import ctypes

    address = place.value if isinstance(place, ctypes.c_void_p) else int(place)
    return np.ctypeslib.as_array((ctypes.c_uint8 * size).from_address(address or 0))


class ndarray(DeviceArray):
    """An array of CuPy's."""

    def __new__(cls, *_: Any, **__: Any) -> ndarray:
        return object.__new__(cls)

    def __init__(
        self,
        values: Any,
        holder: Any = None,
        memptr: MemoryPointer | None = None,
        dtype: Any = None,
        **names: Any,
    ) -> None:
        """As CuPy's `ndarray(shape, dtype, memptr)`; from our code a view of memory and its owner."""
        if isinstance(values, np.ndarray) and isinstance(holder, Memory):
            super().__init__(values, holder)
            return
        kind = np.dtype(dtype if dtype is not None else holder if holder is not None else float)
        shape = tuple(values) if isinstance(values, tuple | list) else (int(values),)
        if memptr is None:
            own = empty(shape, kind)
            super().__init__(own._values, own._holder)
            return
        view = memptr._bytes(math.prod(shape) * kind.itemsize).view(kind).reshape(shape)
        super().__init__(view, memptr.mem if isinstance(memptr.mem, Memory) else _Borrowed(memptr.mem))

    @property
    def data(self) -> MemoryPointer:
        """The pointer to its first element."""
        return MemoryPointer(self.address, self._holder)

    @property
    def device(self) -> Device:
        """The device on which it lies."""
        return Device(0)


class _Borrowed(Memory):
    """Memory of a module, which frees it."""

    def __init__(self, allocation: Allocation) -> None:
        self.allocation = allocation

    def __del__(self) -> None: ...


def empty(shape: Any, dtype: Any = float, order: str = "C", **_: Any) -> ndarray:
    """Allocate an array that nothing has written."""
    with RaisedAs(_KINDS):
        array: ndarray = ndarray.new(shape, dtype, is_written=False)
        return ndarray(array._values.reshape(array.shape[::-1]).T, array._holder) if order == "F" else array


def zeros(shape: Any, dtype: Any = float, order: str = "C", **_: Any) -> ndarray:
    """Allocate an array of zeros."""
    with RaisedAs(_KINDS):
        array: ndarray = ndarray.new(shape, dtype)
        return ndarray(array._values.reshape(array.shape[::-1]).T, array._holder) if order == "F" else array


def full(shape: Any, value: Any, dtype: Any = None, order: str = "C") -> ndarray:
    """Allocate an array of one value."""
    array = zeros(shape, np.asarray(value).dtype if dtype is None else dtype, order)
    array.fill(value)
    return array


def ones(shape: Any, dtype: Any = float, order: str = "C") -> ndarray:
    """Allocate an array of ones."""
    return full(shape, 1, dtype, order)


def _like(make: Callable[..., ndarray], *values: Any) -> Callable[..., ndarray]:
    def like(array: Any, *more: Any, dtype: Any = None, shape: Any = None, **_: Any) -> ndarray:
        arguments = more[: 1 if make is full else 0]
        kind = (
            dtype
            if dtype is not None
            else more[len(arguments)]
            if len(more) > len(arguments)
            else array.dtype
        )
        return make(array.shape if shape is None else shape, *arguments, dtype=kind)

    return like


def array(values: Any, dtype: Any = None, copy: bool = True, order: str = "K", ndmin: int = 0) -> ndarray:
    """Copy values to the device."""
    with RaisedAs(_KINDS):
        content = values.host if isinstance(values, DeviceArray) else _host_array(values)
        created = np.array(content, dtype=dtype, ndmin=ndmin, order="C" if order == "K" else order)  # type: ignore[call-overload]
        result: ndarray = ndarray.copied(created)
        return result


def _host_array(values: Any) -> Any:
    if isinstance(values, list | tuple) and any(isinstance(part, DeviceArray) for part in values):
        return np.stack([part.host if isinstance(part, DeviceArray) else part for part in values])
    return values


def asarray(values: Any, dtype: Any = None, order: str = "K", **_: Any) -> ndarray:
    """Copy values to the device, unless they are there already."""
    if isinstance(values, ndarray) and (dtype is None or values.dtype == np.dtype(dtype)):
        return values
    return array(values, dtype, order=order)


def ascontiguousarray(values: Any, dtype: Any = None) -> ndarray:
    """Return a contiguous array on the device."""
    created = asarray(values, dtype)
    return created if created.flags.c_contiguous else array(created, order="C")


def asnumpy(values: Any, stream: object = None, order: str = "C", out: Any = None, **_: Any) -> NDArray[Any]:
    """Copy an array to the host."""
    return values.get(out=out) if isinstance(values, DeviceArray) else np.asarray(values)


def get_array_module(*values: Any) -> Any:
    """Return CuPy for arrays of the device, else NumPy."""
    import sys

    return sys.modules["cupy"] if any(isinstance(value, DeviceArray) for value in values) else np


def _argument(value: Any) -> Argument:
    if isinstance(value, DeviceArray):
        return value.argument()
    if isinstance(value, MemoryPointer):
        return pointer_argument(value.ptr)
    if isinstance(value, bool | int | float | complex):
        return number_argument(value)
    if isinstance(value, np.ndarray) and not value.ndim:
        value = value[()]
    if isinstance(value, np.generic):
        return numpy_argument(value)
    if isinstance(value, np.ndarray) and value.size == 1 and value.dtype.kind == "V":
        return Argument(value.tobytes())
    raise TypeError(f"Unsupported type {type(value)}")


class RawKernel:
    """A kernel in CUDA C++."""

    def __init__(
        self, code: str, name: str, options: Sequence[str] = (), backend: str = "nvrtc", *,
        translate_cucomplex: bool = False, enable_cooperative_groups: bool = False, jitify: bool = False,
    ) -> None:  # fmt: skip
        _check_options(options)
        module = CudaModule(place(code), options)
        self._begin(module, name, is_cooperative=enable_cooperative_groups)
        self.code: str | None = code

    def _begin(self, module: CudaModule, name: str, *, is_cooperative: bool) -> None:
        self._module, self.name, self._is_cooperative = module, name, is_cooperative
        self.options, self.backend = (), "nvrtc"
        self.max_dynamic_shared_size_bytes = SHARED_BYTES
        self.max_threads_per_block, self.enable_cooperative_groups = 1024, is_cooperative

    @classmethod
    def of_module(cls, module: CudaModule, name: str, *, is_cooperative: bool) -> RawKernel:
        """Return a kernel of a module."""
        kernel = object.__new__(cls)
        kernel._begin(module, name, is_cooperative=is_cooperative)
        kernel.code = None
        return kernel

    @property
    def kernel(self) -> RawKernel:
        """The kernel itself."""
        return self

    def compile(self, log_stream: object = None) -> None:
        """Compile the kernel."""
        with RaisedAs(_KINDS):
            self._module.check_kernel(self.name)
            self._module.compile()

    def __call__(
        self,
        grid: tuple[int, ...],
        block: tuple[int, ...],
        args: Sequence[Any],
        *,
        shared_mem: int = 0,
        **_: Any,
    ) -> None:
        for lengths, which in ((grid, "grid"), (block, "block")):
            if not isinstance(lengths, tuple | list):
                raise TypeError(f"the {which} of {self.name} must be a tuple, such as ({lengths!r},)")
        arguments = [_argument(value) for value in args]
        with RaisedAs(_KINDS):
            self._module.check_kernel(self.name)
            if shared_mem > self.max_dynamic_shared_size_bytes:
                setting = f"{plain_name(self.name)}.max_dynamic_shared_size_bytes"
                raise DriverError("launch", f"{shared_mem:,} bytes of shared memory; set {setting} first")
            self._module.launch(
                self.name, grid, block, arguments, shared_mem, is_cooperative=self._is_cooperative
            )


class RawModule:
    """Kernels in CUDA C++ that are compiled together."""

    def __init__(
        self, *, code: str | None = None, path: str | None = None, options: Sequence[str] = (), backend: str = "nvrtc",
        translate_cucomplex: bool = False, enable_cooperative_groups: bool = False,
        name_expressions: Sequence[str] | None = None, jitify: bool = False,
    ) -> None:  # fmt: skip
        if (code is None) == (path is None):
            raise TypeError("Exactly one of `code` and `path` keyword arguments must be given.")
        _check_options(options)
        if path is not None and str(path).endswith((".cubin", ".ptx", ".fatbin")):
            raise NotImplementedError(
                f"Tilescope's stand-in for CuPy can't load {path}; give it the source in CUDA C++"
            )
        placed = place(code) if code is not None else place_file(Path(str(path)))
        self.code, self.name_expressions = code, name_expressions
        self._module = CudaModule(placed, options, expressions=name_expressions or ())
        self._is_cooperative = enable_cooperative_groups

    def compile(self, log_stream: object = None) -> None:
        """Compile the module."""
        with RaisedAs(_KINDS):
            self._module.compile()

    def get_function(self, name: str) -> RawKernel:
        """Return a kernel by its name, or by one of `name_expressions`."""
        with RaisedAs(_KINDS):
            self._module.check_kernel(name)
            if "<" in name and name not in self._module.expressions:
                raise DriverError("not found", f"{name} is not one of the module's name_expressions")
        return RawKernel.of_module(self._module, name, is_cooperative=self._is_cooperative)

    def get_global(self, name: str) -> MemoryPointer:
        """Return a pointer to a variable."""
        with RaisedAs(_KINDS):
            allocation = self._module.variable(name)
            return MemoryPointer(allocation.address, allocation)


def _check_options(options: object) -> None:
    if isinstance(options, str) or not isinstance(options, Sequence):
        raise TypeError("options must be a tuple of strings")


class CupyElementwiseKernel(ElementwiseKernel):
    """CuPy's ElementwiseKernel."""

    new = staticmethod(zeros)
    errors = RaisedAs(_KINDS)


CupyElementwiseKernel.__name__ = "ElementwiseKernel"


class Device(WorkQueue):
    """The only device."""

    compute_capability = "".join(map(str, CAPABILITY))
    pci_bus_id, mem_info = "0000:00:00.0", (MEMORY_BYTES, MEMORY_BYTES)

    def __init__(self, device: int | None = None) -> None:
        if device not in (None, 0):
            raise CUDARuntimeError("cudaErrorInvalidDevice: invalid device ordinal")
        self.id = 0

    def __int__(self) -> int:
        return 0

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Device)

    def __hash__(self) -> int:
        return 0


class Stream(WorkQueue):
    """A stream of CuPy's."""

    null: Stream


Stream.null = Stream()


class MemoryPool:
    """A pool of memory, which frees at once."""

    def used_bytes(self) -> int:
        """Return the bytes in use, which are not counted here."""
        return 0

    total_bytes = n_free_blocks = used_bytes

    def free_all_blocks(self, stream: object = None) -> None:
        """Free nothing: unused memory is freed at once."""

    def malloc(self, size: int) -> MemoryPointer:
        """Allocate memory."""
        return alloc(size)

    def set_limit(self, *_: Any, **__: Any) -> None:
        """Set no limit."""


def alloc(size: int) -> MemoryPointer:
    """Allocate memory that nothing has written."""
    with RaisedAs(_KINDS):
        holder = Memory(size, is_written=False)
        return MemoryPointer(holder.address, holder)


_pool = MemoryPool()


def _function(name: str) -> Callable[..., Any]:
    function = getattr(np, name)

    def call(*arguments: Any, **names: Any) -> Any:
        result = computed(ndarray, function, arguments, names)
        return ndarray.copied(np.asarray(result)) if isinstance(result, bool) else result

    call.__name__ = name
    return call


def _created(name: str) -> Callable[..., Any]:
    return lambda *arguments, **names: ndarray.wrap(getattr(np, name)(*arguments, **names))


def cupy_names() -> dict[str, Any]:
    """List the names that the stand-in for `cupy` offers."""
    names: dict[str, Any] = {name: _function(name) for name in _FUNCTIONS if hasattr(np, name)}
    names |= {name: _created(name) for name in _CREATED}
    names |= {name: getattr(np, name) for name in _TYPES if hasattr(np, name)}
    return names | {
        "__version__": "13.0 (a stand-in of Tilescope)", "ndarray": ndarray, "empty": empty, "zeros": zeros,
        "ones": ones, "full": full,
        "empty_like": _like(empty), "zeros_like": _like(zeros), "ones_like": _like(ones), "full_like": _like(full),
        "array": array, "asarray": asarray, "asanyarray": asarray, "ascontiguousarray": ascontiguousarray,
        "copy": array, "asnumpy": asnumpy, "get_array_module": get_array_module,
        "ElementwiseKernel": CupyElementwiseKernel, "RawKernel": RawKernel,
        "RawModule": RawModule, "bool": np.bool_, "get_default_memory_pool": lambda: _pool, "copyto": _copy_to,
        "get_default_pinned_memory_pool": lambda: _pool, "is_available": lambda: True,
    }  # fmt: skip


def _copy_to(target: ndarray, source: Any, **_: Any) -> None:
    target[...] = source


def cuda_names() -> dict[str, Any]:
    """List the names that the stand-in for `cupy.cuda` offers."""
    return {
        "Device": Device, "Stream": Stream, "ExternalStream": Stream, "Event": Moment, "MemoryPointer": MemoryPointer,
        "MemoryPool": MemoryPool, "alloc": alloc, "get_elapsed_time": Moment.milliseconds_to,
        "get_current_stream": lambda *_: Stream.null, "is_available": lambda: True,
        "set_allocator": lambda *_: None, "get_device_id": lambda: 0,
    }  # fmt: skip


def runtime_names() -> dict[str, Any]:
    """List the names that the stand-in for `cupy.cuda.runtime` offers."""
    nothing: Callable[..., None] = lambda *_: None  # noqa: E731
    return {
        "deviceSynchronize": nothing, "streamSynchronize": nothing, "setDevice": nothing, "getDevice": lambda: 0,
        "getDeviceCount": lambda: 1, "CUDARuntimeError": CUDARuntimeError, "memGetInfo": lambda: Device.mem_info,
        "runtimeGetVersion": lambda: 13000, "driverGetVersion": lambda: 13000,
    }  # fmt: skip


def testing_names() -> dict[str, Any]:
    """List the names that the stand-in for `cupy.testing` offers."""
    offered = ("assert_allclose", "assert_array_equal", "assert_array_almost_equal", "assert_array_less")
    return {name: partial(_compared, getattr(np.testing, name)) for name in offered}


def _compared(compare: Callable[..., None], *arguments: Any, **names: Any) -> None:
    compare(*(a.host if isinstance(a, DeviceArray) else a for a in arguments), **names)


def random_names() -> dict[str, Any]:
    """List the names that the stand-in for `cupy.random` offers; the numbers are NumPy's."""
    state = np.random.RandomState(0)

    def drawn(name: str) -> Callable[..., Any]:
        def draw(*arguments: Any, dtype: Any = None, **names: Any) -> Any:
            values = np.asarray(getattr(state, name)(*arguments, **names))
            return ndarray.copied(values if dtype is None else values.astype(dtype))

        return draw

    def permutation(values: Any) -> Any:
        return ndarray.copied(state.permutation(values.host if isinstance(values, DeviceArray) else values))

    def default_rng(seed: int | None = None) -> object:
        state.seed(seed)
        return generator()

    offered = (
        "rand",
        "randn",
        "random",
        "random_sample",
        "randint",
        "uniform",
        "normal",
        "standard_normal",
        "choice",
    )
    generator = type("Generator", (), {name: staticmethod(drawn(name)) for name in offered})
    generator.integers = staticmethod(drawn("randint"))  # type: ignore[attr-defined]
    return {name: drawn(name) for name in offered} | {
        "seed": state.seed, "permutation": permutation, "default_rng": default_rng,
    }  # fmt: skip
