"""Kernels with the interface of Numba's dispatchers: configuration, specialisation and signatures."""

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
from .signatures import (
    NoMatchError,
    Signature,
    cast_arguments,
    choose_signature,
    mismatches,
    parse_signature,
    type_of,
    types_of,
)
from .unsupported import UNSUPPORTED_OF_KERNELS, print_once, unsupported_message

# The block size that the driver chooses for most kernels, to fit the most threads.
DEFAULT_BLOCK = 1024
UNCONFIGURED = "{0}: launch configuration was not specified; launch it as {0}[blocks, threads](...)."
OCCUPANCY_NOTE = "resident blocks are computed from threads and shared memory; a GPU's registers are ignored."
# Further parameters of `cuda.jit`, which only the compiler uses; they are ignored here.
OPTIONS = frozenset(
    (
        "abi", "abi_info", "argtypes", "bind", "boundscheck", "chip", "extensions", "fastmath", "forceinline",
        "lineinfo", "lto", "max_registers", "nopython", "output", "restype", "target", "cc",
    )
)  # fmt: skip


class ForAll:
    """A kernel that is launched with at least one thread for each task."""

    def __init__(self, kernel: Any, ntasks: int, tpb: int, stream: Any, sharedmem: int) -> None:
        if ntasks < 0:
            raise ValueError(f"Can't create ForAll with negative task count: {ntasks}")
        self.kernel, self.ntasks, self.tpb = kernel, ntasks, tpb
        self.stream, self.sharedmem = stream, sharedmem

    def __call__(self, *arguments: Any) -> None:
        if self.ntasks:
            threads = self.tpb or DEFAULT_BLOCK
            self.kernel[-(-self.ntasks // threads), threads, self.stream, self.sharedmem](*arguments)


class Overload:
    """A kernel for one list of types; it has no compiled code."""

    def __init__(self, kernel: Any, signature: Signature) -> None:
        self.kernel, self.signature = kernel, signature
        self.argument_types = signature.args

    def max_cooperative_grid_blocks(self, blockdim: Any, dynsmemsize: int = 0) -> int:
        """Compute the largest cooperative grid from threads and dynamic shared memory."""
        print_once(OCCUPANCY_NOTE)
        threads = int(np.prod(blockdim))
        return resident_blocks(threads, dynsmemsize)

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(_missing_attribute_message(name))


def kernel_class(base: Any, is_running: Callable[[], bool]) -> type:
    """Return the class of kernels: the simulator's class with the interface and the checks of Numba's dispatchers."""

    class Kernel(base):  # type: ignore[misc]  # known only at run time
        def __init__(
            self, fn: FunctionType, device: bool, fastmath: Any = False, extensions: Sequence[Any] = (),
            debug: bool = False, signatures: Sequence[Signature] = (), options: dict[str, Any] | None = None,
            specialized: bool = False,
        ) -> None:  # fmt: skip
            super().__init__(fn, device, fastmath, extensions, debug)
            self._declared = tuple(signatures)
            self.specialized = specialized  # whether it is for one list of types, which launches don't check
            self._launched: dict[
                tuple[Any, ...], tuple[Any, ...]
            ] = {}  # arguments of launches, by their types
            self.targetoptions = options or {}
            self.mismatches: list[str] = []  # of the last launch: one sentence for each array of another type

        def __repr__(self) -> str:
            return f"CUDADispatcher({self.fn!r})"

        def __call__(self, *arguments: Any, **names: Any) -> Any:
            if self._device or is_running():  # a device function, which the simulator lets the host call too
                return super().__call__(*arguments, **names)
            return super().__call__(*self.checked(arguments, names))

        def checked(self, arguments: tuple[Any, ...], names: dict[str, Any]) -> tuple[Any, ...]:
            """Check and convert the arguments; raises TypeError or ValueError for a launch that a GPU refuses."""
            name = self.fn.__name__
            if self.grid_dim is None:
                raise ValueError(UNCONFIGURED.format(name))
            if names:
                raise TypeError(f"{name} takes only positional arguments; leave out {next(iter(names))}=.")
            launch_checks.check_not_empty(name, self.grid_dim, self.block_dim)
            launch_checks.check_arguments(self.fn, arguments, converted=bool(self.extensions))
            converted = tuple(map(_to_our_array, arguments))
            if self._declared:
                if self.specialized:
                    self.mismatches = mismatches(name, self._declared[0], converted)
                return cast_arguments(name, self._declared, converted, specialized=self.specialized)
            self._launched.setdefault(tuple(map(type_of, converted)), converted)
            return converted

        def declared_for(self, arguments: tuple[Any, ...]) -> Signature | None:
            """Return the declared signature that these arguments match, None if none is declared."""
            if len(self._declared) < 2:
                return self._declared[0] if self._declared else None
            converted = tuple(map(_to_our_array, arguments))
            return choose_signature(self.fn.__name__, self._declared, converted, specialized=self.specialized)

        def _copy(self) -> Any:
            other = object.__new__(type(self))
            other.__dict__.update(self.__dict__)
            return other

        def configure(self, griddim: Any, blockdim: Any, stream: Any = 0, sharedmem: int = 0) -> Any:
            """Return the kernel configured for this grid."""
            return self[griddim, blockdim, stream, sharedmem]

        def __getitem__(self, parameters: Any) -> Any:
            chosen = launch_checks.configuration(self.fn.__name__, parameters)
            other = self._copy()
            other.grid_dim, other.block_dim = chosen.grid, chosen.block
            other.stream, other.dynshared_size = chosen.stream, chosen.shared_bytes
            return other

        def forall(self, ntasks: int, tpb: int = 0, stream: Any = 0, sharedmem: int = 0) -> ForAll:
            """Return the kernel configured with a thread for each task."""
            return ForAll(self, int(ntasks), int(tpb), stream, sharedmem)

        def specialize(self, *arguments: Any) -> Any:
            """Return the kernel for only these argument types; raises RuntimeError if it is specialised already."""
            if self.specialized:
                raise RuntimeError("Dispatcher already specialized")
            other = self._copy()
            other._declared, other.specialized = (Signature(types_of(arguments)),), True
            return other

        def compile(self, sig: Any) -> Overload:
            """Return the overload for these types, which has no compiled code."""
            return Overload(self, parse_signature(sig))

        def _signatures(self) -> list[Signature]:
            return [*self._declared] or [
                Signature(types_of(arguments)) for arguments in self._launched.values()
            ]

        @property
        def overloads(self) -> OrderedDict[tuple[Any, ...], Overload]:
            """The overloads that a GPU's kernel would have, by the types of the arguments."""
            return OrderedDict(
                (signature.args, Overload(self, signature)) for signature in self._signatures()
            )

        @property
        def signatures(self) -> list[tuple[Any, ...]]:
            """The argument types that a GPU's kernel would be compiled for."""
            return [signature.args for signature in self._signatures()]

        nopython_signatures = signatures

        def enable_caching(self) -> None:
            """Do nothing: there is no compiled code to cache."""

        disable_compile = recompile = bind = enable_caching

        def __getattr__(self, name: str) -> Any:
            raise AttributeError(_missing_attribute_message(name))

    return Kernel


def _missing_attribute_message(name: str) -> str:
    reason = UNSUPPORTED_OF_KERNELS.get(name)
    return (
        unsupported_message(f"kernel.{name}", reason)
        if reason
        else f"'CUDADispatcher' object has no attribute {name!r}"
    )


def _to_our_array(value: Any) -> Any:
    """Convert an object with the CUDA array interface to our array; leave other arguments unchanged."""
    is_plain = isinstance(value, int | float | np.ndarray | np.generic) or is_cuda_ndarray(value)
    return value if is_plain or not hasattr(value, "__cuda_array_interface__") else as_cuda_array(value)


def python_function(function: Any) -> FunctionType:
    """Return the Python function of a function or of an object of another Numba decorator."""
    unwrapped = getattr(function, "py_func", function)
    if not isinstance(unwrapped, FunctionType):
        raise TypeError(f"cuda.jit takes a function, not {function!r}.")
    return unwrapped


def jit_decorator(
    kernel: Any, debug_by_default: Callable[[], bool], declared: Callable[[Any], None]
) -> Callable[..., Any]:
    """Return `cuda.jit` for kernels of this class.

    declared: gets each kernel with a signature, which on a GPU is compiled at its decoration.
    """

    def jit(
        func_or_sig: Any = None, device: bool = False, inline: Any = "never", link: Any = (), debug: bool | None = None,
        opt: Any = None, lineinfo: bool = False, cache: bool = False, launch_bounds: Any = None,
        shared_memory_carveout: Any = None, **others: Any,
    ) -> Any:  # fmt: skip
        """Make a kernel or device function; options of the compiler are accepted and ignored."""
        _check_options(link, others)
        is_function = func_or_sig is not None and (callable(func_or_sig) and hasattr(func_or_sig, "__name__"))
        signatures = () if is_function or func_or_sig is None else _signatures(func_or_sig, device)

        def make(function: Any) -> Any:
            decorated = kernel(
                python_function(function), bool(device), others.get("fastmath", False), others.get("extensions") or (),
                debug_by_default() if debug is None else debug, signatures,
                {**others, "device": device, "debug": debug, "opt": opt, "lineinfo": lineinfo},
                bool(signatures) and not isinstance(func_or_sig, list),
            )  # fmt: skip
            if signatures and not device:
                declared(decorated)
            return decorated

        return make(func_or_sig) if is_function else make

    jit.__qualname__, jit.__module__ = "jit", "numba.cuda.decorators"
    return jit


def _check_options(link: Any, others: dict[str, Any]) -> None:
    unknown = sorted(others.keys() - OPTIONS)
    if unknown:
        raise KeyError(f"cuda.jit has no option {unknown[0]}=")
    if link:
        raise NotImplementedError(
            unsupported_message("cuda.jit(link=...)", "it runs Python, not CUDA C or PTX")
        )
    if others.get("boundscheck"):
        raise NotImplementedError("bounds checking is not supported for CUDA")
    for name in ("argtypes", "restype", "bind"):
        if others.get(name) is not None:
            raise TypeError(f"cuda.jit no longer has {name}=; pass the signature as its first argument.")


def _signatures(declared: Any, device: bool) -> tuple[Signature, ...]:
    signatures = tuple(map(parse_signature, declared if isinstance(declared, list) else [declared]))
    for signature in signatures:
        if (
            not device
            and signature.return_type is not None
            and str(signature.return_type) not in ("none", "void")
        ):
            raise TypeError(f"CUDA kernel must have void return type, not {signature.return_type}.")
    return signatures


__all__ = ["NoMatchError", "jit_decorator", "kernel_class"]
