"""Kernels with their blocks and threads: the only file here that reads numba.cuda's internal objects.

It supports numba-cuda and Numba's built-in CUDA target, which are alike, and Numba's simulator. It does not import
numba: a program that has a kernel has imported it.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterator
from types import FunctionType
from typing import Any, cast

from msgspec import Struct

from ..model.launch import Dim3
from .call import CallError

FORALL_BLOCK = 1024  # threads of a block for `forall`, as the driver chooses for most kernels
LAUNCHING_CLASSES = {
    "numba.cuda.dispatcher": ("_LaunchConfiguration", "ForAll"),
    "numba.cuda.simulator.kernel": ("FakeCUDAKernel",),
}  # classes whose instances are called to launch a kernel


class ConfiguredKernel(Struct, frozen=True):
    """A kernel and its launch configuration."""

    kernel: Any  # the object of numba.cuda
    function: FunctionType  # the user's function
    grid: Dim3  # blocks
    block: Dim3  # threads
    shared_bytes: int  # dynamic shared memory of a block
    stream: Any  # of numba.cuda, 0 for the default one
    signatures: tuple[tuple[Any, ...], ...]  # numba's types that it was declared for; empty for any

    @property
    def name(self) -> str:
        """The name of the function."""
        return self.function.__name__

    @property
    def debug(self) -> bool:
        """Whether the kernel was compiled with debug=True."""
        return bool(getattr(self.kernel, "_debug", False) or self._options.get("debug"))

    @property
    def specialized(self) -> bool:
        """Whether the kernel was declared for one list of types, to which a launch converts all arguments."""
        return bool(self.signatures and getattr(self.kernel, "specialized", False))

    @property
    def extensions(self) -> Any:
        """Objects that change arguments before a launch, if any."""
        return getattr(self.kernel, "extensions", None) or self._options.get("extensions")

    @property
    def _options(self) -> dict[str, Any]:
        return getattr(self.kernel, "targetoptions", None) or {}


def read_configured_kernel(configured: Any) -> ConfiguredKernel:
    """Read a `kernel[blocks, threads]` or `kernel.forall(tasks)`; raises CallError for anything else."""
    if _is_simulated(configured):
        return _read_simulated(configured)
    kind = type(configured).__name__
    if kind == "_LaunchConfiguration":
        return _read_dispatcher(
            configured.dispatcher,
            configured.griddim,
            configured.blockdim,
            configured.sharedmem,
            configured.stream,
        )
    if kind == "ForAll":
        return _read_forall(configured)
    name = getattr(configured, "__name__", "")
    if hasattr(configured, "py_func") and name:
        raise CallError(f"{name} is not configured; write {name}[blocks, threads].")
    raise CallError(f"{configured!r} is not a configured kernel; write kernel[blocks, threads].")


def _is_simulated(configured: Any) -> bool:
    return hasattr(configured, "fn") and hasattr(configured, "grid_dim")


def _read_simulated(configured: Any) -> ConfiguredKernel:
    if configured._device or configured.grid_dim is None:
        raise CallError(
            f"{configured.fn.__name__} is not configured; write {configured.fn.__name__}[blocks, threads]."
        )
    declared = tuple(tuple(signature.args) for signature in getattr(configured, "_declared", ()))
    grid, block = _dim3(configured.grid_dim), _dim3(configured.block_dim)
    return ConfiguredKernel(
        configured, configured.fn, grid, block, int(configured.dynshared_size), configured.stream, declared
    )


def _read_forall(configured: Any) -> ConfiguredKernel:
    dispatcher = getattr(configured, "dispatcher", None) or configured.kernel  # its name in our simulator
    tasks, threads = (
        configured.ntasks,
        getattr(configured, "thread_per_block", 0) or getattr(configured, "tpb", 0),
    )
    if not tasks:
        raise CallError(f"{dispatcher.__name__}.forall(0) launches nothing.")
    threads = threads or FORALL_BLOCK
    return _read_dispatcher(
        dispatcher, -(-tasks // threads), threads, configured.sharedmem, configured.stream
    )


def _read_dispatcher(
    dispatcher: Any, grid: Any, block: Any, shared_bytes: Any, stream: Any
) -> ConfiguredKernel:
    function = getattr(dispatcher, "py_func", None)
    if not isinstance(function, FunctionType):
        raise CallError(f"{dispatcher!r} is not a kernel written in Python.")
    declared = () if getattr(dispatcher, "_can_compile", True) else tuple(dispatcher.overloads)
    return ConfiguredKernel(
        dispatcher, function, _dim3(grid), _dim3(block), int(shared_bytes), stream, declared
    )


def _dim3(lengths: Any) -> Dim3:
    given = tuple(lengths) if isinstance(lengths, tuple | list) else (lengths,)
    return cast(Dim3, (*map(int, given), *(1,) * (3 - len(given))))


def wait_for(stream: Any) -> None:
    """Wait until a GPU, if there is one, has finished the earlier work in a stream."""
    synchronize = getattr(stream, "synchronize", None) or getattr(stream, "sync", None)
    if synchronize is not None and not _is_default(stream):
        synchronize()


def _is_default(stream: Any) -> bool:
    """Test for the default stream, for which copies wait; without a GPU there are no others."""
    try:
        return int(getattr(stream, "handle", stream)) in (0, 1, 2)  # as CUDA numbers its default streams
    except (TypeError, ValueError):
        return False


def launching_classes() -> Iterator[type]:
    """Yield the loaded classes whose instances launch a kernel when they are called."""
    for module, names in LAUNCHING_CLASSES.items():
        for name in names:
            class_ = getattr(sys.modules.get(module), name, None)
            if isinstance(class_, type):
                yield class_


Launch = Callable[..., Any]


def intercept(kind: type, launch: Launch) -> Launch:
    """Replace a class's calls that launch kernels by `launch(configured, *arguments)`; return a function to undo it.

    Numba's internal kernels, which fill and transpose arrays on a GPU, and calls of device functions are unchanged.
    """
    original: Launch = kind.__call__

    @functools.wraps(original)
    def call(configured: Any, *arguments: Any, **names: Any) -> Any:
        if (
            names
            or getattr(configured, "_device", False)
            or _launches_nothing(configured)
            or _is_numba_kernel(configured)
        ):
            return original(configured, *arguments, **names)
        return launch(configured, *arguments)

    kind.__call__ = call  # type: ignore[method-assign]  # numba's class

    def restore() -> None:
        kind.__call__ = original  # type: ignore[method-assign]  # numba's class

    return restore


def _launches_nothing(configured: Any) -> bool:
    """Test for a call that launches nothing: numba reports an error or does nothing."""
    if _is_simulated(configured):
        return configured.grid_dim is None
    return getattr(configured, "ntasks", 1) == 0


def _is_numba_kernel(configured: Any) -> bool:
    dispatcher = getattr(configured, "dispatcher", configured)
    return str(getattr(dispatcher, "__module__", "")).startswith("numba.cuda.")
