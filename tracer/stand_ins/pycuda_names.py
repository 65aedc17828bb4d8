"""The part of PyCUDA that programs with SourceModule use."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..cuda_cpp.device_memory import Allocation
from .arrays import DeviceArray, Memory, computed
from .device_objects import CAPABILITY, DEVICE_NAME, MEMORY_BYTES, Moment, WorkQueue
from .driver import Argument, CudaModule, DriverError, RaisedAs, numpy_argument, pointer_argument
from .driver import memory as device_memory
from .source_place import place

SHARED_BYTES = 48 << 10  # of a block
_FUNCTIONS = (
    "exp", "exp2", "log", "log10", "sqrt", "sin", "cos", "tan", "arcsin", "arccos", "arctan", "sinh", "cosh", "tanh",
    "fabs", "floor", "ceil", "where", "maximum", "minimum",
)  # fmt: skip
_FORMATS = {
    "P": "u8", "i": "i4", "I": "u4", "f": "f4", "d": "f8", "q": "i8", "Q": "u8", "h": "i2", "H": "u2", "b": "i1",
    "B": "u1", "l": "i8", "L": "u8", "?": "b1", "N": "u8",
}  # fmt: skip


class Error(Exception):
    """An error of CUDA's."""


class CompileError(Error):
    """A text that does not compile."""


class LogicError(Error):
    """A wrong use of CUDA."""


class LaunchError(Error):
    """A kernel that failed."""


class OutOfMemoryError(Error):
    """There is no device memory left."""


OutOfMemoryError.__name__ = "MemoryError"


_KINDS: dict[str, tuple[type[Exception], str]] = {
    "compile": (CompileError, "nvcc compilation failed: "),
    "not found": (LogicError, "cuModuleGetFunction failed: named symbol not found: "),
    "memory": (OutOfMemoryError, "cuMemAlloc failed: "),
    "launch": (LogicError, "cuLaunchKernel failed: invalid value: "),
    "kernel": (LaunchError, "cuCtxSynchronize failed: "),
    "illegal": (LogicError, "cuCtxSynchronize failed: "),
}


class DeviceAllocation:
    """Memory of `mem_alloc`, freed with its last reference."""

    def __init__(self, size: int) -> None:
        with RaisedAs(_KINDS):
            self._memory: Memory | None = Memory(int(size), is_written=False)
        self.size = int(size)

    def __int__(self) -> int:
        if self._memory is None:
            raise LogicError("the memory was freed")
        return self._memory.address

    __index__ = __int__

    def __add__(self, offset: int) -> int:
        return int(self) + offset

    def free(self) -> None:
        """Free the memory."""
        self._memory = None


class Handler:
    """An array of the host that a launch copies to the device, and back."""

    def __init__(self, array: NDArray[Any], *, copies_in: bool, copies_out: bool) -> None:
        self.array, self._copies_in, self._copies_out = array, copies_in, copies_out
        if not isinstance(array, np.ndarray):
            raise TypeError("In, Out and InOut take a numpy.ndarray")
        if not array.flags.c_contiguous and not array.flags.f_contiguous:
            raise ValueError("ndarray is not contiguous")

    def begin(self) -> tuple[Memory, Argument]:
        """Allocate the memory for a launch, and return it with the launch's argument."""
        memory = Memory(self.array.nbytes, is_written=self._copies_in)
        if self._copies_in:
            memory.allocation.content[:] = _bytes_of(self.array)
        shape = self.array.shape if self.array.flags.c_contiguous else None
        return memory, pointer_argument(memory.address, self.array.dtype.str, shape)

    def end(self, memory: Memory) -> None:
        """Copy the result back."""
        if self._copies_out:
            _set_bytes(self.array, memory.allocation.content)


def copied_in(array: NDArray[Any]) -> Handler:
    """Copy an array to the device for a launch."""
    return Handler(array, copies_in=True, copies_out=False)


def copied_out(array: NDArray[Any]) -> Handler:
    """Copy an array back from the device after a launch."""
    return Handler(array, copies_in=False, copies_out=True)


def copied_in_and_out(array: NDArray[Any]) -> Handler:
    """Copy an array to the device for a launch, and back."""
    return Handler(array, copies_in=True, copies_out=True)


def _bytes_of(array: Any) -> NDArray[np.uint8]:
    content = np.asarray(array)
    is_by_columns = content.flags.f_contiguous and not content.flags.c_contiguous
    return np.frombuffer(content.tobytes("F" if is_by_columns else "C"), np.uint8)


def _set_bytes(array: NDArray[Any], content: NDArray[np.uint8]) -> None:
    values = np.frombuffer(content.tobytes(), array.dtype)
    if array.flags.f_contiguous and not array.flags.c_contiguous:
        array[...] = values.reshape(array.shape[::-1]).T
    else:
        array[...] = values.reshape(array.shape)


class Kernel:
    """A function of a module."""

    num_regs, local_size_bytes, shared_size_bytes, max_threads_per_block, const_size_bytes = 0, 0, 0, 1024, 0

    def __init__(self, module: CudaModule, name: str) -> None:
        self._module, self.name = module, name
        self._formats: list[str | type] = []

    def __call__(
        self, *args: Any, block: Sequence[int], grid: Sequence[int] = (1, 1), shared: int = 0, stream: object = None,
        texrefs: Sequence[object] = (), time_kernel: bool = False, **_: Any,
    ) -> float | None:  # fmt: skip
        import time

        started = time.perf_counter()
        with RaisedAs(_KINDS):
            handlers = [(value, value.begin()) for value in args if isinstance(value, Handler)]
            begun = iter(handlers)
            arguments = [
                next(begun)[1][1] if isinstance(value, Handler) else _argument(value, number)
                for number, value in enumerate(args)
            ]
            self._launch(grid, block, arguments, shared)
            for handler, begun_with in handlers:
                handler.end(begun_with[0])
        return time.perf_counter() - started if time_kernel else None

    def _launch(
        self, grid: Sequence[int], block: Sequence[int], arguments: list[Argument], shared: int
    ) -> None:
        if not isinstance(block, tuple | list) or not all(
            float(length).is_integer() for length in (*block, *grid)
        ):
            raise TypeError("block and grid must be tuples of integers")
        if shared > SHARED_BYTES:
            raise DriverError("launch", f"{shared:,} bytes of shared memory")
        self._module.launch(self.name, grid, block, arguments, int(shared))

    def prepare(self, arg_types: str | Sequence[Any], **_: Any) -> Kernel:
        """Declare the types of the arguments, as `struct` writes them or as NumPy's types."""
        self._formats = list(arg_types)
        return self

    def prepared_call(
        self, grid: Sequence[int], block: Sequence[int], *args: Any, shared_size: int = 0
    ) -> None:
        """Launch with arguments of the declared types."""
        if len(args) != len(self._formats):
            raise LogicError(f"{self.name} was prepared for {len(self._formats)} arguments, not {len(args)}")
        with RaisedAs(_KINDS):
            pairs = zip(self._formats, args, strict=True)
            self._launch(grid, block, [_prepared(kind, value) for kind, value in pairs], shared_size)

    def prepared_async_call(
        self, grid: Sequence[int], block: Sequence[int], stream: object, *args: Any, shared_size: int = 0
    ) -> None:
        """Launch in a stream."""
        self.prepared_call(grid, block, *args, shared_size=shared_size)

    def prepared_timed_call(
        self, grid: Sequence[int], block: Sequence[int], *args: Any
    ) -> Callable[[], float]:
        """Launch, and return a function that returns the seconds."""
        import time

        started = time.perf_counter()
        self.prepared_call(grid, block, *args)
        seconds = time.perf_counter() - started
        return lambda: seconds

    def get_attribute(self, attribute: object) -> int:
        """Return 0: nothing is compiled for a GPU."""
        return 0

    def set_cache_config(self, config: object) -> None:
        """Set nothing."""


def _prepared(kind: Any, value: Any) -> Argument:
    code = _FORMATS.get(kind) if isinstance(kind, str) else np.dtype(kind).str
    if code is None:
        raise TypeError(f"Tilescope's stand-in for PyCUDA does not know the type {kind!r}")
    if isinstance(value, DeviceArray | DeviceAllocation) or kind == "P":
        return _argument(value if not isinstance(value, int | np.integer) else _Address(int(value)), 0)
    return numpy_argument(np.dtype(code).type(value))


class _Address:
    def __init__(self, address: int) -> None:
        self.address = address


def _argument(value: Any, number: int) -> Argument:
    if isinstance(value, DeviceArray):
        return value.argument()
    if isinstance(value, DeviceAllocation):
        return pointer_argument(int(value))
    if isinstance(value, _Address):
        return pointer_argument(value.address)
    if isinstance(value, np.ndarray) and not value.ndim:
        value = value[()]
    if isinstance(value, np.generic):
        is_address = isinstance(value, np.uint64 | np.int64) and device_memory.holding(int(value)) is not None
        return pointer_argument(int(value)) if is_address else numpy_argument(value)
    if value is None:
        return pointer_argument(0)
    if isinstance(value, int) and device_memory.holding(value) is not None:  # an address plus an offset
        return pointer_argument(value)
    raise TypeError(f"invalid type on parameter #{number} (0-based)")


class SourceModule:
    """Kernels in CUDA C++."""

    def __init__(
        self, source: str, nvcc: str = "nvcc", options: Sequence[str] | None = None, keep: bool = False,
        no_extern_c: bool = False, arch: str | None = None, code: str | None = None,
        cache_dir: str | None = None, include_dirs: Sequence[str] = (),
    ) -> None:  # fmt: skip
        all_options = [*(options or ()), *(f"-I{folder}" for folder in include_dirs)]
        self._module = CudaModule(place(source), all_options, is_extern_c=not no_extern_c)
        with RaisedAs(_KINDS):
            self._module.compile()

    def get_function(self, name: str) -> Kernel:
        """Return a kernel by its name."""
        with RaisedAs(_KINDS):
            self._module.check_kernel(name)
        return Kernel(self._module, name)

    def get_global(self, name: str) -> tuple[int, int]:
        """Return the address and size of a variable."""
        with RaisedAs(_KINDS):
            allocation = self._module.variable(name)
        return allocation.address, allocation.size


def _content(target: Any, size: int | None = None) -> NDArray[np.uint8]:
    """Return the bytes of device memory from an address on."""
    address = target.address if isinstance(target, DeviceArray) else int(target)
    allocation: Allocation | None = device_memory.holding(address)
    if allocation is None or (size is not None and address + size > allocation.address + allocation.size):
        raise LogicError("cuMemcpy failed: invalid argument")
    allocation.is_written = True
    start = address - allocation.address
    return allocation.content[start : None if size is None else start + size]


def copy_to_device(dest: Any, src: Any, stream: object = None) -> None:
    """Copy an array of the host to device memory."""
    content = _bytes_of(src)
    _content(dest, len(content))[:] = content


def copy_to_host(dest: NDArray[Any], src: Any, stream: object = None) -> None:
    """Copy device memory to an array of the host."""
    if not isinstance(dest, np.ndarray):
        raise TypeError("the target must be a numpy.ndarray")
    _set_bytes(dest, _content(src, dest.nbytes))


def copy_on_device(dest: Any, src: Any, size: int, stream: object = None) -> None:
    """Copy device memory."""
    _content(dest, size)[:] = _content(src, size).copy()


def to_device(array: NDArray[Any]) -> DeviceAllocation:
    """Allocate memory with the content of an array."""
    allocation = DeviceAllocation(array.nbytes)
    copy_to_device(allocation, array)
    return allocation


def from_device(pointer: Any, shape: Any, dtype: Any, order: str = "C") -> NDArray[Any]:
    """Copy device memory to a new array."""
    array = np.empty(shape, dtype, order=order)  # type: ignore[call-overload]
    copy_to_host(array, pointer)
    return np.asarray(array)


def _set_memory(width: str) -> Callable[..., None]:
    def set_memory(dest: Any, value: int, count: int, stream: object = None) -> None:
        _content(dest, count * np.dtype(width).itemsize).view(width)[:] = value

    return set_memory


class GPUArray(DeviceArray):
    """An array of PyCUDA's."""

    def __new__(cls, *_: Any, **__: Any) -> GPUArray:
        return object.__new__(cls)

    def __init__(self, values: Any, holder: Any, *_: Any, gpudata: object = None, **__: Any) -> None:
        """As PyCUDA's `GPUArray(shape, dtype)`; from our code a view of memory and its owner."""
        if isinstance(values, np.ndarray) and isinstance(holder, Memory):
            super().__init__(values, holder)
            return
        created = empty(values, holder)
        super().__init__(created._values, created._holder)

    @property
    def gpudata(self) -> DeviceAllocation:
        """The memory."""
        allocation = object.__new__(DeviceAllocation)
        allocation._memory, allocation.size = self._holder, self.nbytes
        return allocation

    ptr = property(lambda self: self.address)
    mem_size = property(lambda self: self.size)

    def get(self, ary: NDArray[Any] | None = None, **_: Any) -> NDArray[Any]:  # type: ignore[override]
        """Copy the array to the host."""
        return super().get(out=ary)

    def set_async(self, ary: NDArray[Any], stream: object = None) -> None:
        """Copy an array of the host to this one."""
        self.set(ary)

    def get_async(self, stream: object = None, ary: NDArray[Any] | None = None) -> NDArray[Any]:
        """Copy the array to the host."""
        return self.get(ary)


def empty(shape: Any, dtype: Any, *_: Any, **__: Any) -> GPUArray:
    """Allocate an array that nothing has written."""
    with RaisedAs(_KINDS):
        array: GPUArray = GPUArray.new(shape, dtype, is_written=False)
        return array


def zeros(shape: Any, dtype: Any = np.float64, *_: Any, **__: Any) -> GPUArray:
    """Allocate an array of zeros."""
    with RaisedAs(_KINDS):
        array: GPUArray = GPUArray.new(shape, dtype)
        return array


def to_gpu(ary: NDArray[Any], *_: Any, **__: Any) -> GPUArray:
    """Copy an array to the device."""
    if not isinstance(ary, np.ndarray):
        raise TypeError("to_gpu takes a numpy.ndarray")
    with RaisedAs(_KINDS):
        array: GPUArray = GPUArray.copied(ary)
        return array


def _reduced(name: str) -> Callable[..., Any]:
    return lambda *arrays, **names: computed(GPUArray, getattr(np, name), arrays, {})


def compiler_names() -> dict[str, Any]:
    """List the names that the stand-in for `pycuda.compiler` offers."""
    return {"SourceModule": SourceModule}


def gpuarray_names() -> dict[str, Any]:
    """List the names that the stand-in for `pycuda.gpuarray` offers."""
    return {
        "GPUArray": GPUArray, "to_gpu": to_gpu, "to_gpu_async": to_gpu, "empty": empty, "zeros": zeros,
        "empty_like": lambda other: empty(other.shape, other.dtype),
        "zeros_like": lambda other: zeros(other.shape, other.dtype),
        "ones_like": lambda other: to_gpu(np.ones(other.shape, other.dtype)),
        "arange": lambda *values, dtype=None, **_: to_gpu(np.arange(*values, dtype=dtype)),
        "sum": _reduced("sum"), "dot": _reduced("dot"), "max": _reduced("max"), "min": _reduced("min"),
        "maximum": _reduced("maximum"), "minimum": _reduced("minimum"),
    }  # fmt: skip


def cumath_names() -> dict[str, Any]:
    """List the names that the stand-in for `pycuda.cumath` offers."""
    return {name: _reduced(name) for name in _FUNCTIONS}


class Device:
    """The only device."""

    def __init__(self, number: int = 0) -> None:
        if number:
            raise LogicError("cuDeviceGet failed: invalid device ordinal")

    @staticmethod
    def count() -> int:
        """Return the number of devices."""
        return 1

    def name(self) -> str:
        """Return the device's name."""
        return DEVICE_NAME

    def compute_capability(self) -> tuple[int, int]:
        """Return the compute capability."""
        return CAPABILITY

    def total_memory(self) -> int:
        """Return the bytes of memory."""
        return MEMORY_BYTES

    def get_attribute(self, attribute: str) -> int:
        """Return an attribute; raises LogicError for one that is not known."""
        if attribute not in ATTRIBUTES:
            raise LogicError(f"Tilescope's stand-in for PyCUDA does not know the attribute {attribute}")
        return ATTRIBUTES[attribute]

    def get_attributes(self) -> dict[str, int]:
        """Return the attributes."""
        return dict(ATTRIBUTES)

    def make_context(self, flags: int = 0) -> Context:
        """Make a context."""
        return Context()

    retain_primary_context = make_context


ATTRIBUTES = {
    "MAX_THREADS_PER_BLOCK": 1024, "WARP_SIZE": 32, "MULTIPROCESSOR_COUNT": 132, "MAX_BLOCK_DIM_X": 1024,
    "MAX_BLOCK_DIM_Y": 1024, "MAX_BLOCK_DIM_Z": 64, "MAX_GRID_DIM_X": 2**31 - 1, "MAX_GRID_DIM_Y": 65535,
    "MAX_GRID_DIM_Z": 65535, "MAX_SHARED_MEMORY_PER_BLOCK": SHARED_BYTES, "COMPUTE_CAPABILITY_MAJOR": CAPABILITY[0],
    "COMPUTE_CAPABILITY_MINOR": CAPABILITY[1], "TOTAL_CONSTANT_MEMORY": 1 << 16,
}  # fmt: skip


class Context:
    """The only context."""

    @staticmethod
    def synchronize() -> None:
        """Wait for nothing: work is done when its call returns."""

    pop = detach = push = synchronize

    @staticmethod
    def get_device() -> Device:
        """Return the device."""
        return Device()


class _DeviceAttributes(type):
    def __getattr__(cls, name: str) -> str:
        return name


class DeviceAttribute(metaclass=_DeviceAttributes):
    """The names of attributes."""


class FunctionAttribute(metaclass=_DeviceAttributes):
    """The names of a function's attributes."""


def driver_names() -> dict[str, Any]:
    """List the names that the stand-in for `pycuda.driver` offers."""
    return {
        "In": copied_in, "Out": copied_out, "InOut": copied_in_and_out, "mem_alloc": DeviceAllocation,
        "DeviceAllocation": DeviceAllocation, "memcpy_htod": copy_to_device, "memcpy_htod_async": copy_to_device,
        "memcpy_dtoh": copy_to_host, "memcpy_dtoh_async": copy_to_host, "memcpy_dtod": copy_on_device,
        "memcpy_dtod_async": copy_on_device, "memset_d8": _set_memory("u1"), "memset_d16": _set_memory("u2"),
        "memset_d32": _set_memory("u4"), "to_device": to_device, "from_device": from_device,
        "from_device_like": lambda pointer, other: from_device(pointer, other.shape, other.dtype),
        "Stream": WorkQueue, "Event": Moment, "Device": Device, "Context": Context, "init": lambda flags=0: None,
        "device_attribute": DeviceAttribute, "function_attribute": FunctionAttribute,
        "mem_get_info": lambda: (MEMORY_BYTES, MEMORY_BYTES), "Error": Error, "CompileError": CompileError,
        "LogicError": LogicError, "LaunchError": LaunchError, "MemoryError": OutOfMemoryError, "Function": Kernel,
        "pagelocked_empty": lambda shape, dtype, *_, **__: np.empty(shape, dtype),
        "pagelocked_zeros": lambda shape, dtype, *_, **__: np.zeros(shape, dtype),
        "pagelocked_empty_like": np.empty_like, "pagelocked_zeros_like": np.zeros_like,
        "get_version": lambda: (13, 0, 0), "get_driver_version": lambda: 13000, "start_profiler": lambda: None,
        "stop_profiler": lambda: None, "func_cache": DeviceAttribute,
    }  # fmt: skip


def autoinit_names() -> dict[str, Any]:
    """List the names that the stand-in for `pycuda.autoinit` offers."""
    return {"device": Device(), "context": Context()}


def tools_names() -> dict[str, Any]:
    """List the names that the stand-in for `pycuda.tools` offers."""
    return {
        "make_default_context": lambda *_: Context(),
        "clear_context_caches": lambda: None,
        "DeviceMemoryPool": _Pool,
    }


class _Pool:
    """A pool of memory, which frees at once."""

    def allocate(self, size: int) -> DeviceAllocation:
        """Allocate memory."""
        return DeviceAllocation(size)
