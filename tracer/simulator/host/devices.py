"""The simulated device, with the limits of a real GPU model, and its context."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from ...recording.stream_order import stream_order
from . import h200
from .streams import Stream, default_stream, legacy_default_stream, per_thread_default_stream, stream
from .unsupported import print_once, unsupported_message

NAMED_GPU_NOTE = f"queries about the device are answered as by an {h200.NAME}, which is only simulated."
UUID = "GPU-00000000-0000-0000-0000-000000000000"
MAX_THREADS_PER_MULTIPROCESSOR = h200.ATTRIBUTES["MAX_THREADS_PER_MULTIPROCESSOR"]


class ComputeCapability(NamedTuple):
    """The compute capability of a device."""

    major: int
    minor: int


class MemoryInfo(NamedTuple):
    """Bytes of a device's memory."""

    free: int
    total: int


class Device:
    """A device, with the attributes of CU_DEVICE_ATTRIBUTE without that prefix."""

    id = 0

    def __repr__(self) -> str:
        return f"<CUDA device {self.id} '{h200.NAME}'>"

    def __getattr__(self, name: str) -> Any:
        properties = {
            "name": h200.NAME,
            "uuid": UUID,
            "compute_capability": ComputeCapability(*h200.COMPUTE_CAPABILITY),
        }
        value = properties.get(name, h200.ATTRIBUTES.get(name))
        if value is None:
            message = unsupported_message(
                f"device.{name}", "it differs from card to card, and the device is only simulated"
            )
            raise AttributeError(
                message if name in h200.CARD_SPECIFIC else f"a device has no attribute {name!r}."
            )
        print_once(NAMED_GPU_NOTE)
        return value

    supports_float16 = supports_bfloat16 = supports_fp8 = True

    def get_device_identity(self) -> dict[str, int]:
        """Return the PCI identity, all zeros for the only device."""
        return {"pci_domain_id": 0, "pci_bus_id": 0, "pci_device_id": 0}

    def get_primary_context(self) -> Context:
        """Return the context of the device."""
        return CONTEXT

    def reset(self) -> None:
        """Do nothing: memory is garbage-collected."""

    release_primary_context = reset


class Deallocations:
    """The queue of memory to be freed, always empty because memory is garbage-collected."""

    is_disabled = False

    def __len__(self) -> int:
        return 0

    def clear(self) -> None:
        """Do nothing: no memory waits."""

    @contextmanager
    def disable(self) -> Iterator[None]:
        """Do nothing: no memory waits."""
        yield


class Context:
    """The context of the device, which is always current."""

    id = 0

    def __init__(self) -> None:
        self.deallocations = Deallocations()
        self.allocations: dict[int, Any] = {}
        self.modules: dict[int, Any] = {}
        self.extras: dict[str, Any] = {}

    @property
    def device(self) -> Device:
        """The device."""
        return DEVICE

    def __str__(self) -> str:
        return f"<CUDA context of device {self.id}>"

    def __enter__(self) -> Context:
        return self

    def __exit__(self, *_: object) -> None:
        """Leave the context current."""

    def get_memory_info(self) -> MemoryInfo:
        """Return the memory of the simulated GPU, less the existing arrays."""
        from .arrays import bytes_in_use

        print_once(NAMED_GPU_NOTE)
        return MemoryInfo(h200.MEMORY - bytes_in_use(), h200.MEMORY)

    @contextmanager
    def defer_cleanup(self) -> Iterator[None]:
        """Do nothing: memory is garbage-collected."""
        yield

    def synchronize(self) -> None:
        """Wait for all work, which is finished already."""
        synchronize()

    reset = push = pop = prepare_for_use = synchronize

    def create_stream(self) -> Stream:
        """Return a new stream."""
        return stream()

    def get_default_stream(self) -> Stream:
        """Return the default stream."""
        return default_stream()

    def get_legacy_default_stream(self) -> Stream:
        """Return the legacy default stream."""
        return legacy_default_stream()

    def get_per_thread_default_stream(self) -> Stream:
        """Return the default stream of this thread."""
        return per_thread_default_stream()

    def memalloc(self, bytesize: int) -> Any:
        """Allocate device memory."""
        from .array_makers import device_array

        return device_array(bytesize, "u1").gpu_data

    def memallocmanaged(self, bytesize: int, attach_global: bool = True) -> Any:
        """Allocate memory that host and device can access."""
        from .array_makers import managed_array

        return managed_array(bytesize, "u1")

    def memhostalloc(
        self, bytesize: int, mapped: bool = False, portable: bool = False, wc: bool = False
    ) -> Any:
        """Allocate host memory that kernels can access."""
        from .array_makers import mapped_array

        return mapped_array(bytesize, "u1")

    def __getattr__(self, name: str) -> Any:
        message = f"a context has no attribute {name!r}."
        raise AttributeError(
            message
            if name[0] == "_"
            else unsupported_message(f"context.{name}", "there is no GPU driver here")
        )


class ManagedDevice:
    """A device in `cuda.gpus`, which is also a context manager that makes its context current."""

    def __init__(self, device: Device) -> None:
        self._device = device

    def __getattr__(self, name: str) -> Any:
        return getattr(self._device, name)

    def __enter__(self) -> Context:
        return CONTEXT

    def __exit__(self, *_: object) -> None:
        """Leave the context current."""

    def __str__(self) -> str:
        return f"<Managed Device {self._device.id}>"


class DeviceList:
    """The list `cuda.gpus` with the only device."""

    def __init__(self) -> None:
        self.lst = (ManagedDevice(DEVICE),)

    def __getitem__(self, number: int) -> ManagedDevice:
        return self.lst[number]

    def __iter__(self) -> Iterator[ManagedDevice]:
        return iter(self.lst)

    def __len__(self) -> int:
        return len(self.lst)

    def __str__(self) -> str:
        return ", ".join(map(str, self.lst))

    @property
    def current(self) -> ManagedDevice:
        """The device whose context is current."""
        return self.lst[0]


DEVICE = Device()
CONTEXT = Context()
GPUS = DeviceList()


def current_context(devnum: int | None = None) -> Context:
    """Return the context of a device; raises IndexError for an unknown device."""
    GPUS[devnum or 0]
    return CONTEXT


def select_device(device_id: int = 0) -> Device:
    """Make a device the current one; raises IndexError for an unknown device."""
    if device_id != 0:
        raise IndexError(f"there is no device {device_id}; Tilescope has only device 0.")
    return DEVICE


def get_current_device() -> Device:
    """Return the device."""
    return DEVICE


def list_devices() -> DeviceList:
    """Return the list with the only device."""
    return GPUS


def synchronize() -> None:
    """Wait for all work, which is finished already."""
    stream_order.synchronize_all()


def close() -> None:
    """Do nothing: memory is garbage-collected."""


def detect() -> bool:
    """Print the devices, and return True: the device is usable."""
    print("Found 1 CUDA devices")
    print(f"id 0    {h200.NAME:>20} {'[SIMULATED]':>40}")
    print(f"{'Compute Capability':>40}: {'.'.join(map(str, h200.COMPUTE_CAPABILITY))}")
    print("Summary:\n\t1/1 devices are supported")
    return True


def require_context(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function unchanged, because a context always exists."""
    return function


def resident_blocks(threads: int, shared_bytes: int = 0) -> int:
    """Compute the resident blocks of the device from threads and shared memory; registers are ignored."""
    limits, warp = h200.ATTRIBUTES, h200.ATTRIBUTES["WARP_SIZE"]
    allocated_threads = -(-threads // warp) * warp
    resident = min(
        limits["MAX_BLOCKS_PER_MULTIPROCESSOR"], MAX_THREADS_PER_MULTIPROCESSOR // allocated_threads
    )
    if shared_bytes:
        reserved = limits["RESERVED_SHARED_MEMORY_PER_BLOCK"]
        resident = min(resident, limits["MAX_SHARED_MEMORY_PER_MULTIPROCESSOR"] // (shared_bytes + reserved))
    return resident * limits["MULTIPROCESSOR_COUNT"]
