"""Which function of libdevice Numba's CUDA target calls for a function of Python's `math`: read from its own tables."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from functools import cache
from inspect import getclosurevars
from typing import Any, NamedTuple

from .bitcode import PREFIX, available


class Signature(NamedTuple):
    """The types of a function of libdevice, as Numba names them.

    results: what it returns, and after that what it writes through pointers.
    """

    name: str
    returned: str
    parameters: tuple[tuple[str, bool], ...]

    @property
    def arguments(self) -> tuple[str, ...]:
        """The types of what is given."""
        return tuple(kind for kind, is_pointer in self.parameters if not is_pointer)

    @property
    def results(self) -> tuple[str, ...]:
        """The types of what comes of it: what it returns, and what it writes through pointers."""
        returned = () if self.returned == "none" else (self.returned,)
        return (*returned, *(kind for kind, is_pointer in self.parameters if is_pointer))


def libdevice_function(function: Callable[..., Any], *kinds: str) -> Signature | None:
    """Find the function of libdevice that computes a function of `math` for these types; None if there is none."""
    return signature_of(_called().get((function, kinds), "")) if available() else None


@cache
def signature_of(name: str) -> Signature | None:
    """Return the types of a function by its name in `cuda.libdevice`; None where it is not installed."""
    if PREFIX + name not in available():
        return None
    declared = _tables("libdevicefuncs").functions.get(PREFIX + name)
    if declared is None:
        return None
    returned, parameters = declared
    given = tuple((str(parameter.ty), parameter.is_ptr) for parameter in parameters)
    return Signature(PREFIX + name, str(returned), given)


@cache
def _called() -> dict[tuple[Any, tuple[str, ...]], str]:
    """Return the names of the functions that Numba's implementations call, by function and types of arguments."""
    symbols = {}
    for implementation, function, kinds in _tables("mathimpl").registry.functions:
        inner = getattr(implementation, "__wrapped__", implementation)
        called = getclosurevars(inner).nonlocals.get("libfunc")
        if called is not None:
            symbols[function, tuple(map(str, kinds))] = called.__name__
    return symbols


def _tables(name: str) -> Any:
    return importlib.import_module(f"numba.cuda.{name}")
