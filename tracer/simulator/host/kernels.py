"""Kernels as Numba's dispatchers have them, on top of the simulator's: configured, specialised, with signatures."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from types import FunctionType
from typing import Any

import numpy as np

from . import launch_checks
from .array_makers import as_cuda_array
from .arrays import is_cuda_ndarray
from .devices import resident_blocks
from .lacking import OF_KERNELS, lacking, say_once
from .signatures import (
    NoMatch,
    Signature,
    cast_arguments,
    chosen_signature,
    mismatches,
    normalized,
    type_of,
    types_of,
)

# What the driver chooses for most kernels, as the block with which most threads fit.
LARGEST_BLOCK = 1024
UNCONFIGURED = "{0}: launch configuration was not specified; launch it as {0}[blocks, threads](...)."
MODELLED = (
    "how many blocks run at once is modelled from threads and shared memory, not from a GPU's registers."
)
# What `cuda.jit` takes beside its first parameters and leaves to the compiler, which Tilescope has none of.
OPTIONS = frozenset(
    (
        "abi", "abi_info", "argtypes", "bind", "boundscheck", "chip", "extensions", "fastmath", "forceinline",
        "lineinfo", "lto", "max_registers", "nopython", "output", "restype", "target", "cc",
    )
)  # fmt: skip


class ForAll:
    """A kernel to be launched with as many threads as there are tasks, or a few more."""

    def __init__(self, kernel: Any, ntasks: int, tpb: int, stream: Any, sharedmem: int) -> None:
        if ntasks < 0:
            raise ValueError(f"Can't create ForAll with negative task count: {ntasks}")
        self.kernel, self.ntasks, self.tpb = kernel, ntasks, tpb
        self.stream, self.sharedmem = stream, sharedmem

    def __call__(self, *arguments: Any) -> None:
        if self.ntasks:
            threads = self.tpb or LARGEST_BLOCK
            self.kernel[-(-self.ntasks // threads), threads, self.stream, self.sharedmem](*arguments)


class Overload:
    """A kernel for one list of types, of which there is no code."""

    def __init__(self, kernel: Any, signature: Signature) -> None:
        self.kernel, self.signature = kernel, signature
        self.argument_types = signature.args

    def max_cooperative_grid_blocks(self, blockdim: Any, dynsmemsize: int = 0) -> int:
        """Return how many blocks may wait for each other in a grid, modelled from threads and dynamic shared memory."""
        say_once(MODELLED)
        threads = int(np.prod(blockdim))
        return resident_blocks(threads, dynsmemsize)

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(_lacking_of_kernel(name))


def kernel_class(base: Any, is_running: Callable[[], bool]) -> type:
    """Return the class of kernels: the simulator's, with what Numba's dispatchers have and what a GPU refuses."""

    class Kernel(base):  # type: ignore[misc]  # known at run time only
        def __init__(
            self, fn: FunctionType, device: bool, fastmath: Any = False, extensions: Sequence[Any] = (),
            debug: bool = False, signatures: Sequence[Signature] = (), options: dict[str, Any] | None = None,
            specialized: bool = False,
        ) -> None:  # fmt: skip
            super().__init__(fn, device, fastmath, extensions, debug)
            self._declared = tuple(signatures)
            self.specialized = (
                specialized  # whether it is for one list of types, which is not looked at at a launch
            )
            self._launched: dict[
                tuple[Any, ...], tuple[Any, ...]
            ] = {}  # types of arguments, by what tells them
            self.targetoptions = options or {}
            self.mismatches: list[str] = []  # of the last launch: a sentence for each array of another type

        def __repr__(self) -> str:
            return f"CUDADispatcher({self.fn!r})"

        def __call__(self, *arguments: Any, **names: Any) -> Any:
            if self._device or is_running():  # a device function; the simulator lets the host call it too
                return super().__call__(*arguments, **names)
            return super().__call__(*self.checked(arguments, names))

        def checked(self, arguments: tuple[Any, ...], names: dict[str, Any]) -> tuple[Any, ...]:
            """Return the arguments as the kernel gets them; raises TypeError or ValueError for what a GPU refuses."""
            name = self.fn.__name__
            if self.grid_dim is None:
                raise ValueError(UNCONFIGURED.format(name))
            if names:
                raise TypeError(
                    f"{name} takes its arguments by place, not by name: leave out {next(iter(names))}=."
                )
            launch_checks.check_not_empty(name, self.grid_dim, self.block_dim)
            launch_checks.check_arguments(self.fn, arguments, converted=bool(self.extensions))
            given = tuple(map(_ours, arguments))
            if self._declared:
                if self.specialized:
                    self.mismatches = mismatches(name, self._declared[0], given)
                return cast_arguments(name, self._declared, given, specialized=self.specialized)
            self._launched.setdefault(tuple(map(type_of, given)), given)
            return given

        def declared_for(self, arguments: tuple[Any, ...]) -> Signature | None:
            """Return the declared signature that a launch with these arguments takes, None where none is declared."""
            if len(self._declared) < 2:
                return self._declared[0] if self._declared else None
            given = tuple(map(_ours, arguments))
            return chosen_signature(self.fn.__name__, self._declared, given, specialized=self.specialized)

        def _copy(self) -> Any:
            other = object.__new__(type(self))
            other.__dict__.update(self.__dict__)
            return other

        def configure(self, griddim: Any, blockdim: Any, stream: Any = 0, sharedmem: int = 0) -> Any:
            """Return the kernel, to be launched on this grid."""
            return self[griddim, blockdim, stream, sharedmem]

        def __getitem__(self, given: Any) -> Any:
            chosen = launch_checks.configuration(self.fn.__name__, given)
            other = self._copy()
            other.grid_dim, other.block_dim = chosen.grid, chosen.block
            other.stream, other.dynshared_size = chosen.stream, chosen.shared_bytes
            return other

        def forall(self, ntasks: int, tpb: int = 0, stream: Any = 0, sharedmem: int = 0) -> ForAll:
            """Return the kernel, to be launched with a thread for each task."""
            return ForAll(self, int(ntasks), int(tpb), stream, sharedmem)

        def specialize(self, *arguments: Any) -> Any:
            """Return the kernel for the types of these arguments alone; raises RuntimeError for one that is so."""
            if self.specialized:
                raise RuntimeError("Dispatcher already specialized")
            other = self._copy()
            other._declared, other.specialized = (Signature(types_of(arguments)),), True
            return other

        def compile(self, sig: Any) -> Overload:
            """Return the kernel for these types, of which there is no code."""
            return Overload(self, normalized(sig))

        def _signatures(self) -> list[Signature]:
            return [*self._declared] or [Signature(types_of(given)) for given in self._launched.values()]

        @property
        def overloads(self) -> OrderedDict[tuple[Any, ...], Overload]:
            """What the kernel is compiled for on a GPU, by the types of its arguments."""
            return OrderedDict((one.args, Overload(self, one)) for one in self._signatures())

        @property
        def signatures(self) -> list[tuple[Any, ...]]:
            """The types of arguments that the kernel is compiled for on a GPU."""
            return [one.args for one in self._signatures()]

        nopython_signatures = signatures

        def enable_caching(self) -> None:
            """Do nothing: there is no compiled code to keep."""

        disable_compile = recompile = bind = enable_caching

        def __getattr__(self, name: str) -> Any:
            raise AttributeError(_lacking_of_kernel(name))

    return Kernel


def _lacking_of_kernel(name: str) -> str:
    why = OF_KERNELS.get(name)
    return lacking(f"kernel.{name}", why) if why else f"'CUDADispatcher' object has no attribute {name!r}"


def _ours(value: Any) -> Any:
    """Return an argument, as an array of ours where it is another object that shares one."""
    plain = isinstance(value, int | float | np.ndarray | np.generic) or is_cuda_ndarray(value)
    return value if plain or not hasattr(value, "__cuda_array_interface__") else as_cuda_array(value)


def python_function(function: Any) -> FunctionType:
    """Return the function to be a kernel of: a plain one, or what another of Numba's decorators was given."""
    found = getattr(function, "py_func", function)
    if not isinstance(found, FunctionType):
        raise TypeError(f"cuda.jit takes a function, which {function!r} is not.")
    return found


def jit_decorator(
    kernel: Any, debug_by_default: Callable[[], bool], declared: Callable[[Any], None]
) -> Callable[..., Any]:
    """Return `cuda.jit`, which makes kernels of this class.

    declared: gets each kernel with a signature, which a GPU's program compiles where it is decorated.
    """

    def jit(
        func_or_sig: Any = None, device: bool = False, inline: Any = "never", link: Any = (), debug: bool | None = None,
        opt: Any = None, lineinfo: bool = False, cache: bool = False, launch_bounds: Any = None,
        shared_memory_carveout: Any = None, **others: Any,
    ) -> Any:  # fmt: skip
        """Make a kernel or device function; what only a compiler needs is taken and does nothing."""
        _check_options(link, others)
        is_function = func_or_sig is not None and (callable(func_or_sig) and hasattr(func_or_sig, "__name__"))
        given = () if is_function or func_or_sig is None else _signatures(func_or_sig, device)

        def make(function: Any) -> Any:
            made = kernel(
                python_function(function), bool(device), others.get("fastmath", False), others.get("extensions") or (),
                debug_by_default() if debug is None else debug, given,
                {**others, "device": device, "debug": debug, "opt": opt, "lineinfo": lineinfo},
                bool(given) and not isinstance(func_or_sig, list),
            )  # fmt: skip
            if given and not device:
                declared(made)
            return made

        return make(func_or_sig) if is_function else make

    jit.__qualname__, jit.__module__ = "jit", "numba.cuda.decorators"
    return jit


def _check_options(link: Any, others: dict[str, Any]) -> None:
    unknown = sorted(others.keys() - OPTIONS)
    if unknown:
        raise KeyError(f"cuda.jit has no option {unknown[0]}=")
    if link:
        raise NotImplementedError(lacking("cuda.jit(link=...)", "it runs Python, and no CUDA C or PTX"))
    if others.get("boundscheck"):
        raise NotImplementedError("bounds checking is not supported for CUDA")
    for name in ("argtypes", "restype", "bind"):
        if others.get(name) is not None:
            raise TypeError(f"cuda.jit has {name}= no more: pass the signature as its first argument.")


def _signatures(given: Any, device: bool) -> tuple[Signature, ...]:
    found = tuple(map(normalized, given if isinstance(given, list) else [given]))
    for one in found:
        if not device and one.return_type is not None and str(one.return_type) not in ("none", "void"):
            raise TypeError(f"CUDA kernel must have void return type, not {one.return_type}.")
    return found


__all__ = ["NoMatch", "jit_decorator", "kernel_class"]
