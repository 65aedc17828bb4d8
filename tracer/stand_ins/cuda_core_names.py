"""The part of cuda.core that compiles and launches kernels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .arrays import DeviceArray, Memory
from .device_objects import CAPABILITY, DEVICE_NAME, Moment, WorkQueue
from .driver import (
    Argument,
    CudaModule,
    DriverError,
    RaisedAs,
    number_argument,
    numpy_argument,
    pointer_argument,
)
from .driver import memory as device_memory
from .source_place import place

MOST_SHARED = 227 << 10  # bytes of a block


class CUDAError(Exception):
    """An error of CUDA's driver."""


class NVRTCError(CUDAError):
    """A text that does not compile."""


_KINDS: dict[str, tuple[type[Exception], str]] = {
    "compile": (NVRTCError, "NVRTC_ERROR_COMPILATION: "),
    "not found": (CUDAError, "CUDA_ERROR_NOT_FOUND: named symbol not found: "),
    "memory": (CUDAError, "CUDA_ERROR_OUT_OF_MEMORY: "),
    "launch": (CUDAError, "CUDA_ERROR_INVALID_VALUE: invalid argument: "),
    "kernel": (CUDAError, "CUDA_ERROR_LAUNCH_FAILED: "),
    "illegal": (CUDAError, "CUDA_ERROR_ILLEGAL_ADDRESS: "),
}


class Buffer:
    """Memory of a device."""

    def __init__(self, size: int) -> None:
        with RaisedAs(_KINDS):
            self._memory: Memory | None = Memory(int(size), is_written=False)
        self.size = int(size)

    @property
    def handle(self) -> int:
        """The address."""
        return self._memory.address if self._memory else 0

    is_device_accessible, is_host_accessible, device_id = True, False, 0

    def close(self, stream: object = None) -> None:
        """Free the memory."""
        self._memory = None

    def copy_from(self, src: Buffer, *, stream: object = None) -> None:
        """Copy from another buffer."""
        assert self._memory
        assert src._memory
        self._memory.allocation.content[:] = src._memory.allocation.content[: self.size]
        self._memory.allocation.is_written = True

    def copy_to(self, dst: Buffer | None = None, *, stream: object = None) -> Buffer:
        """Copy to another buffer."""
        target = dst or Buffer(self.size)
        target.copy_from(self)
        return target


class _MemoryResource:
    def allocate(self, size: int, stream: object = None) -> Buffer:
        """Allocate memory."""
        return Buffer(size)

    device_id, is_device_accessible, is_host_accessible = 0, True, False


class _Properties:
    name, max_threads_per_block, warp_size, multiprocessor_count = DEVICE_NAME, 1024, 32, 132
    max_shared_memory_per_block, compute_capability_major, compute_capability_minor = 48 << 10, *CAPABILITY


class _Capability(tuple[int, int]):
    major, minor = CAPABILITY


class Device:
    """The only device."""

    name, uuid, properties = DEVICE_NAME, "", _Properties()
    compute_capability = _Capability(CAPABILITY)
    arch = "".join(map(str, CAPABILITY))

    def __init__(self, device_id: int | None = None) -> None:
        if device_id:
            raise CUDAError("CUDA_ERROR_INVALID_DEVICE: invalid device ordinal")
        self.device_id, self.memory_resource, self.default_stream = 0, _MemoryResource(), Stream()

    def set_current(self, ctx: object = None) -> None:
        """Set nothing: there is only one device."""

    def sync(self) -> None:
        """Wait for nothing: work is done when its call returns."""

    def create_stream(self, obj: object = None, options: object = None) -> Stream:
        """Create a stream."""
        return Stream()

    def create_event(self, options: object = None) -> Moment:
        """Create an event."""
        return Moment()

    def allocate(self, size: int, stream: object = None) -> Buffer:
        """Allocate memory."""
        return Buffer(size)


class Stream(WorkQueue):
    """A stream."""

    @classmethod
    def from_handle(cls, handle: int) -> Stream:
        """Return a stream of another package."""
        return cls()


class ProgramOptions:
    """Options of a compilation."""

    def __init__(self, **options: Any) -> None:
        definitions: Any = options.get("define_macro") or ()
        is_pair = isinstance(definitions, tuple) and len(definitions) == 2 and isinstance(definitions[1], str)
        pairs: list[Any] = [definitions] if is_pair or isinstance(definitions, str) else list(definitions)
        folders: Any = options.get("include_path") or ()
        self.words = [f"-D{pair}" if isinstance(pair, str) else f"-D{pair[0]}={pair[1]}" for pair in pairs]
        self.words += [f"-I{folder}" for folder in ([folders] if isinstance(folders, str) else folders)]


class LaunchConfig:
    """The shape of a launch."""

    def __init__(
        self, grid: int | Sequence[int] = 1, cluster: Any = None, block: int | Sequence[int] = 1,
        shmem_size: int = 0, *, is_cooperative: bool = False, cooperative_launch: bool = False,
    ) -> None:  # fmt: skip
        if cluster is not None:
            raise CUDAError("Tilescope's stand-in for cuda.core has no clusters")
        self.grid = (grid,) if isinstance(grid, int) else tuple(grid)
        self.block = (block,) if isinstance(block, int) else tuple(block)
        self.shmem_size, self.is_cooperative = shmem_size or 0, is_cooperative or cooperative_launch


class Kernel:
    """A kernel."""

    def __init__(self, module: CudaModule, name: str) -> None:
        self.module, self.name = module, name


class ObjectCode:
    """A compiled program."""

    def __init__(self, module: CudaModule) -> None:
        self._module = module

    def get_kernel(self, name: str) -> Kernel:
        """Return a kernel by its name, or by one of `name_expressions`."""
        with RaisedAs(_KINDS):
            self._module.check_kernel(name)
            if "<" in name and name not in self._module.expressions:
                raise DriverError("not found", f"{name} is not one of the program's name_expressions")
        return Kernel(self._module, name)


class Program:
    """A text in CUDA C++."""

    def __init__(
        self, code: str, code_type: str, options: ProgramOptions | dict[str, Any] | None = None
    ) -> None:
        if code_type.lower() not in ("c++", "cpp"):
            raise CUDAError(f"Tilescope's stand-in for cuda.core compiles C++, not {code_type}")
        chosen = ProgramOptions(**options) if isinstance(options, dict) else options or ProgramOptions()
        self._placed, self._options = place(code), chosen.words

    def compile(
        self, target_type: str, name_expressions: Sequence[str] = (), logs: object = None
    ) -> ObjectCode:
        """Compile the text."""
        module = CudaModule(self._placed, self._options, expressions=tuple(name_expressions))
        with RaisedAs(_KINDS):
            module.compile()
        return ObjectCode(module)

    def close(self) -> None:
        """Release nothing."""


def launch(stream: Any, config: LaunchConfig, kernel: Kernel, *kernel_args: Any) -> None:
    """Launch a kernel."""
    arguments = [_argument(value) for value in kernel_args]
    with RaisedAs(_KINDS):
        if config.shmem_size > MOST_SHARED:
            raise DriverError("launch", f"{config.shmem_size:,} bytes of shared memory")
        kernel.module.launch(
            kernel.name,
            config.grid,
            config.block,
            arguments,
            config.shmem_size,
            is_cooperative=config.is_cooperative,
        )


def _argument(value: Any) -> Argument:
    if isinstance(value, Buffer):
        return pointer_argument(value.handle)
    if isinstance(value, bool | float | complex):
        return number_argument(value)
    if isinstance(value, int):  # an address, as cuda.core passes it
        allocation = device_memory.holding(value)
        return pointer_argument(value) if allocation is not None or value == 0 else number_argument(value)
    if isinstance(value, np.generic):
        return numpy_argument(value)
    if isinstance(value, DeviceArray):
        raise TypeError("the argument is of unsupported type: pass the address, such as array.data.ptr")
    raise TypeError(f"the argument is of unsupported type: {type(value)}")


def core_names() -> dict[str, Any]:
    """List the names that the stand-in for `cuda.core` offers."""
    return {
        "Buffer": Buffer, "Device": Device, "Kernel": Kernel, "LaunchConfig": LaunchConfig, "ObjectCode": ObjectCode,
        "Program": Program, "ProgramOptions": ProgramOptions, "Stream": Stream, "Event": Moment, "launch": launch,
        "__version__": "0.4 (a stand-in of Tilescope)",
    }  # fmt: skip
