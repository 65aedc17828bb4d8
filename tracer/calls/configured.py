"""Kernels with their blocks and threads, as numba.cuda has them: the one file that knows their insides here.

There are those of numba-cuda and of Numba's own CUDA target, which are alike, and those of Numba's simulator. Nothing
of numba is imported: whoever has a kernel has done that.
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

LARGEST_BLOCK = 1024  # threads that `forall` gets, as the driver chooses for most kernels
LAUNCHING = {
    "numba.cuda.dispatcher": ("_LaunchConfiguration", "ForAll"),
    "numba.cuda.simulator.kernel": ("FakeCUDAKernel",),
}  # classes whose instances are called to launch a kernel


class ConfiguredKernel(Struct, frozen=True):
    """A kernel and how it is to be launched."""

    kernel: Any  # numba.cuda's object
    function: FunctionType  # what the user wrote
    grid: Dim3  # blocks
    block: Dim3  # threads
    shared_bytes: int  # of dynamic shared memory, a block
    stream: Any  # numba.cuda's, 0 for the default one
    signatures: tuple[tuple[Any, ...], ...]  # types of numba's for which it was declared; none for any

    @property
    def name(self) -> str:
        """The name of the function."""
        return self.function.__name__

    @property
    def debug(self) -> bool:
        """Whether it was made with debug=True."""
        return bool(getattr(self.kernel, "_debug", False) or self._options.get("debug"))

    @property
    def specialized(self) -> bool:
        """Whether it was declared for one list of types, of which a launch takes all arguments to be."""
        return bool(self.signatures and getattr(self.kernel, "specialized", False))

    @property
    def extensions(self) -> Any:
        """What changes arguments before a launch, if anything does."""
        return getattr(self.kernel, "extensions", None) or self._options.get("extensions")

    @property
    def _options(self) -> dict[str, Any]:
        return getattr(self.kernel, "targetoptions", None) or {}


def configured_kernel(given: Any) -> ConfiguredKernel:
    """Return what `kernel[blocks, threads]` or `kernel.forall(tasks)` is; raises CallError for anything else."""
    if _is_simulated(given):
        return _simulated(given)
    kind = type(given).__name__
    if kind == "_LaunchConfiguration":
        return _of(given.dispatcher, given.griddim, given.blockdim, given.sharedmem, given.stream)
    if kind == "ForAll":
        return _for_all(given)
    name = getattr(given, "__name__", "")
    if hasattr(given, "py_func") and name:
        raise CallError(f"{name} is not configured; write {name}[blocks, threads].")
    raise CallError(f"{given!r} is no kernel with its blocks and threads; write kernel[blocks, threads].")


def _is_simulated(given: Any) -> bool:
    return hasattr(given, "fn") and hasattr(given, "grid_dim")


def _simulated(given: Any) -> ConfiguredKernel:
    if given._device or given.grid_dim is None:
        raise CallError(f"{given.fn.__name__} is not configured; write {given.fn.__name__}[blocks, threads].")
    declared = tuple(tuple(one.args) for one in getattr(given, "_declared", ()))
    grid, block = _dim3(given.grid_dim), _dim3(given.block_dim)
    return ConfiguredKernel(given, given.fn, grid, block, int(given.dynshared_size), given.stream, declared)


def _for_all(given: Any) -> ConfiguredKernel:
    dispatcher = getattr(given, "dispatcher", None) or given.kernel  # which our simulator calls so
    tasks, threads = given.ntasks, getattr(given, "thread_per_block", 0) or getattr(given, "tpb", 0)
    if not tasks:
        raise CallError(f"{dispatcher.__name__}.forall(0) launches nothing.")
    threads = threads or LARGEST_BLOCK
    return _of(dispatcher, -(-tasks // threads), threads, given.sharedmem, given.stream)


def _of(dispatcher: Any, grid: Any, block: Any, shared_bytes: Any, stream: Any) -> ConfiguredKernel:
    function = getattr(dispatcher, "py_func", None)
    if not isinstance(function, FunctionType):
        raise CallError(f"{dispatcher!r} is no kernel of a function in Python.")
    declared = () if getattr(dispatcher, "_can_compile", True) else tuple(dispatcher.overloads)
    return ConfiguredKernel(
        dispatcher, function, _dim3(grid), _dim3(block), int(shared_bytes), stream, declared
    )


def _dim3(lengths: Any) -> Dim3:
    given = tuple(lengths) if isinstance(lengths, tuple | list) else (lengths,)
    return cast(Dim3, (*map(int, given), *(1,) * (3 - len(given))))


def wait_for(stream: Any) -> None:
    """Wait until a GPU has done what was put into a stream before, where there is one."""
    synchronize = getattr(stream, "synchronize", None) or getattr(stream, "sync", None)
    if synchronize is not None and not _is_default(stream):
        synchronize()


def _is_default(stream: Any) -> bool:
    """Return whether a stream is the default one, for which copies wait; without a GPU there are no others."""
    try:
        return int(getattr(stream, "handle", stream)) in (0, 1, 2)  # as CUDA numbers its default streams
    except (TypeError, ValueError):
        return False


def launching_classes() -> Iterator[type]:
    """Yield the classes that are there, in this process, whose instances launch kernels when they are called."""
    for module, names in LAUNCHING.items():
        for name in names:
            found = getattr(sys.modules.get(module), name, None)
            if isinstance(found, type):
                yield found


Launch = Callable[..., Any]


def intercept(kind: type, launch: Launch) -> Launch:
    """Have `launch(configured, *arguments)` stand for a class's calls that launch kernels; return what undoes that.

    Kernels of numba's own, with which it fills and turns arrays on a GPU, stay there, as do calls of device functions.
    """
    original: Launch = kind.__call__

    @functools.wraps(original)
    def call(configured: Any, *arguments: Any, **names: Any) -> Any:
        if names or getattr(configured, "_device", False) or _is_idle(configured) or _is_numbas(configured):
            return original(configured, *arguments, **names)
        return launch(configured, *arguments)

    kind.__call__ = call  # type: ignore[method-assign]  # numba's class

    def put_back() -> None:
        kind.__call__ = original  # type: ignore[method-assign]  # numba's class

    return put_back


def _is_idle(configured: Any) -> bool:
    """Return whether a call is none of a launch: numba says itself what is wrong with it, or does nothing."""
    if _is_simulated(configured):
        return configured.grid_dim is None
    return getattr(configured, "ntasks", 1) == 0


def _is_numbas(configured: Any) -> bool:
    dispatcher = getattr(configured, "dispatcher", configured)
    return str(getattr(dispatcher, "__module__", "")).startswith("numba.cuda.")
