"""Installs the host API in numba.cuda: a table of names, and the modules that share them."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import nullcontext
from importlib import import_module
from types import ModuleType
from typing import Any, NamedTuple

from . import array_makers, arrays, devices, kernels, memory_copies, streams, unsupported
from .after_import import after_import
from .kernel_names import cooperative_groups

ARRAYS = (
    "DeviceNDArray", "DeviceNDArrayBase", "DeviceRecord", "ManagedNDArray", "MappedNDArray", "array_core",
    "check_array_compatibility", "is_contiguous", "is_cuda_ndarray", "require_cuda_ndarray", "sentry_contiguous",
    "verify_cuda_ndarray_interface",
)  # fmt: skip
MAKERS = (
    "as_cuda_array", "auto_device", "device_array", "device_array_like", "from_cuda_array_interface", "is_cuda_array",
    "managed_array", "mapped", "mapped_array", "mapped_array_like", "pinned", "pinned_array", "pinned_array_like",
    "to_device",
)  # fmt: skip
ARRAY_MODULE_MAKERS = ("from_array_like", "from_record_like")
STREAMS = (
    "default_stream", "event", "event_elapsed_time", "external_stream", "legacy_default_stream",
    "per_thread_default_stream", "stream",
)  # fmt: skip
DEVICES = (
    "close", "current_context", "detect", "get_current_device", "list_devices", "require_context", "select_device",
    "synchronize",
)  # fmt: skip
COPIES = ("device_memory_size", "device_memset", "device_to_device", "device_to_host", "host_to_device")


class Simulator(NamedTuple):
    """The modules of Numba's simulator that we extend, and queries about the current launch."""

    kernel: Any
    devicearray: Any
    is_running: Callable[[], bool]  # whether a launch is running in this thread
    in_kernel: Callable[[], bool]  # whether a CUDA thread of the simulator is running
    call_in_kernel: Callable[
        [Any, tuple[Any, ...], dict[str, Any]], Any
    ]  # calls a function as a device function
    module: Callable[[], Any]  # returns `cuda` in the running kernel, None outside kernels
    declared: Callable[[Any], None]  # gets each kernel with a signature after its decoration


def install(simulator: Simulator) -> None:
    """Extend numba.cuda after the import of its simulator."""
    cuda = sys.modules["numba.cuda"]
    sys.modules["numba.cuda.api"] = api = sys.modules["numba.cuda.simulator.api"]
    for name, value in _cuda_names(simulator).items():
        for module in (cuda, sys.modules["numba.cuda.simulator"], api):
            setattr(module, name, value)
    _complete_arrays(simulator)
    _complete_driver()
    _complete_kernels(simulator, cuda)
    _install_registries()
    sys.modules["numba.cuda.cg"] = cooperative_groups(simulator.module)
    _once_imported("numba.cuda.random", _complete_random)
    _once_imported("numba.cuda.libdevice", _complete_libdevice)


def _cuda_names(simulator: Simulator) -> dict[str, Any]:
    """Return the names to set in numba.cuda."""
    kernel = kernels.kernel_class(simulator.kernel.FakeCUDAKernel, simulator.is_running)
    sys.modules["numba.cuda.dispatcher"] = dispatcher = ModuleType("numba.cuda.dispatcher")
    dispatcher.CUDADispatcher = kernel  # type: ignore[attr-defined]  # for programs that check the class of a kernel
    no_ops = dict.fromkeys(("profile_start", "profile_stop"), lambda: None)
    errors = sys.modules["numba.cuda.errors"]
    return {
        **{name: getattr(array_makers, name) for name in MAKERS},
        **{name: getattr(streams, name) for name in STREAMS},
        **{name: getattr(devices, name) for name in DEVICES},
        **{name: unsupported.make_refusal(name) for name in unsupported.UNSUPPORTED},
        **no_ops,
        "profiling": nullcontext, "KernelRuntimeError": errors.KernelRuntimeError,
        "gpus": devices.GPUS, "Event": streams.Event, "MemoryInfo": devices.MemoryInfo,
        "CudaSupportError": sys.modules["numba.cuda.cudadrv.error"].CudaSupportError,
        "jit": kernels.jit_decorator(
            kernel, lambda: bool(getattr(_config(), "CUDA_DEBUGINFO_DEFAULT", False)), simulator.declared
        ),
        "_auto_device": lambda *arguments, **names: array_makers.auto_device(*arguments, **names),
    }  # fmt: skip


def _config() -> Any:
    from numba.core import config

    return config


def _complete_arrays(simulator: Simulator) -> None:
    target = simulator.devicearray
    for name in ARRAYS:
        setattr(target, name, getattr(arrays, name))
    for name in (*MAKERS, *ARRAY_MODULE_MAKERS):
        setattr(target, name, getattr(array_makers, name))
    for module in (target, simulator.kernel):
        module.FakeCUDAArray = arrays.DeviceNDArray


def _complete_driver() -> None:
    driver, shared = sys.modules["numba.cuda.cudadrv.driver"], sys.modules["numba.cuda.cudadrv.devices"]
    parts = {
        "Device": devices.Device, "Context": devices.Context, "Stream": streams.Stream, "Event": streams.Event,
        "MemoryPointer": arrays.Memory, "event_elapsed_time": streams.event_elapsed_time,
        "is_device_memory": arrays.is_cuda_ndarray, "profile_start": lambda: None, "profile_stop": lambda: None,
    }  # fmt: skip
    for name, value in (parts | {name: getattr(memory_copies, name) for name in COPIES}).items():
        setattr(driver, name, value)
    driver.FakeDriver.__getattr__ = _refuse_driver_attribute
    shared.gpus = devices.GPUS  # type: ignore[attr-defined]  # Numba's module
    shared.get_context = devices.current_context  # type: ignore[attr-defined]
    shared.reset = devices.close  # type: ignore[attr-defined]


def _refuse_driver_attribute(_: Any, name: str) -> Any:
    raise AttributeError(unsupported.unsupported_message(f"driver.{name}", "there is no GPU driver here"))


def _complete_kernels(simulator: Simulator, cuda: Any) -> None:
    """Use Numba's ufuncs and reductions with our kernels, and let kernels call functions of numba.jit."""
    from numba.core.dispatcher import Dispatcher

    from .ufuncs import complete

    complete(*(import_module(f"numba.cuda.{name}") for name in ("vectorizers", "deviceufunc")))
    cuda.Reduce = cuda.reduce = import_module("numba.cuda.kernels.reduction").Reduce
    if not hasattr(cuda, "vectorize"):
        cuda.vectorize, cuda.guvectorize = _with_cuda_target("vectorize"), _with_cuda_target("guvectorize")
    compiled_call, in_kernel = Dispatcher.__call__, simulator.in_kernel

    def call(self: Any, *arguments: Any, **names: Any) -> Any:
        """Call the compiled function, or in a kernel the Python function it was compiled from."""
        if in_kernel():
            return simulator.call_in_kernel(self.py_func, arguments, names)
        return compiled_call(self, *arguments, **names)

    Dispatcher.__call__ = call


def _with_cuda_target(name: str) -> Callable[..., Any]:
    def decorator(*arguments: Any, **names: Any) -> Any:
        import numba

        return getattr(numba, name)(*arguments, **{"target": "cuda", **names})

    return decorator


def _once_imported(name: str, complete: Callable[[Any], None]) -> None:
    if name in sys.modules:
        complete(sys.modules[name])
    else:
        after_import(name, lambda: complete(sys.modules[name]))


def _complete_random(random: Any) -> None:
    from .random_states import fill_states

    random.init_xoroshiro128p_states_cpu = fill_states


def _complete_libdevice(libdevice: Any) -> None:
    from .libdevice import complete

    complete(libdevice)


def _install_registries() -> None:
    """Provide the registries of Numba's CUDA target, with which programs add types."""
    from numba.core.imputils import Registry as Implementations
    from numba.core.typing.templates import Registry as Declarations

    declared, implemented = Declarations(), Implementations("cudaimpl")
    _module("cudadecl", registry=declared, register=declared.register, register_attr=declared.register_attr,
            register_global=declared.register_global)  # fmt: skip
    _module("cudaimpl", registry=implemented, lower=implemented.lower, lower_attr=implemented.lower_getattr,
            lower_cast=implemented.lower_cast, lower_constant=implemented.lower_constant)  # fmt: skip


def _module(name: str, **parts: Any) -> None:
    full = f"numba.cuda.{name}"
    module = sys.modules.setdefault(full, ModuleType(full))
    vars(module).update(parts)
    setattr(sys.modules["numba.cuda"], name, module)
