"""Names of `cuda` that only work inside kernels, and the objects that a program gets for them outside."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from operator import attrgetter
from types import FunctionType, ModuleType
from typing import Any

from .unsupported import UNSUPPORTED, UNSUPPORTED_CLASSES, unsupported_message

# Names that a program may import from numba.cuda, but use only in a kernel.
NAMES = frozenset(
    (
        "threadIdx", "blockIdx", "blockDim", "gridDim", "laneid", "warpsize", "grid", "gridsize", "shared", "local",
        "const", "atomic", "cg", "fp16", "syncthreads", "syncthreads_and", "syncthreads_count", "syncthreads_or",
        "syncwarp", "threadfence", "threadfence_block", "threadfence_system", "shfl_sync", "shfl_up_sync",
        "shfl_down_sync", "shfl_xor_sync", "all_sync", "any_sync", "eq_sync", "ballot_sync", "match_any_sync",
        "match_all_sync", "activemask", "lanemask_lt", "nanosleep", "popc", "brev", "clz", "ffs", "fma", "cbrt", "selp",
    )
)  # fmt: skip
MODULES = ("libdevice", "random", "types")  # modules of numba.cuda whose functions kernels call
DRIVER_MODULES = ("devices", "driver", "nvvm")  # modules of numba.cuda.cudadrv that are also in numba.cuda
LOADS = ("ldca", "ldcg", "ldcs", "ldlu", "ldcv")
STORES = ("stcg", "stcs", "stwb", "stwt")


class KernelName:
    """A name of `cuda` that was read outside kernels; `module` returns `cuda` in the running kernel."""

    def __init__(self, name: str, module: Callable[[], Any]) -> None:
        self._name, self._module = name, module

    @property
    def cuda_path(self) -> str:
        """The path of the name under `cuda`."""
        return self._name

    def __repr__(self) -> str:
        return f"<numba.cuda.{self._name}, for kernels>"

    def _value(self) -> Any:
        module = self._module()
        if module is None:
            raise AttributeError(f"cuda.{self._name} can be used only inside a kernel.")
        return attrgetter(self._name)(module)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if self._module() is None:  # Numba's modules read nested names outside kernels too
            return KernelName(f"{self._name}.{name}", self._module)
        return getattr(self._value(), name)

    def __call__(self, *arguments: Any, **names: Any) -> Any:
        return self._value()(*arguments, **names)

    def __index__(self) -> int:
        return int(self._value())

    __int__ = __index__


def outside(name: str, module: Callable[[], Any]) -> Any:
    """Look up a name outside a kernel that numba.cuda lacks; raises AttributeError."""
    if name in NAMES:
        return KernelName(name, module)
    if name in MODULES:
        return importlib.import_module(f"numba.cuda.{name}")
    if name in DRIVER_MODULES:
        return importlib.import_module(f"numba.cuda.cudadrv.{name}")
    reason = UNSUPPORTED.get(name) or UNSUPPORTED_CLASSES.get(name)
    raise AttributeError(unsupported_message(f"cuda.{name}", reason) if reason else _unknown_name(name))


def _unknown_name(name: str) -> str:
    return f"module 'numba.cuda' has no attribute {name!r}"


def inside(name: str) -> Any:
    """Look up a name inside a kernel that the simulator lacks; raises AttributeError."""
    if name in LOADS:
        return lambda array, index: array[index]
    if name in STORES:
        return lambda array, index, value: array.__setitem__(index, value)
    attribute = vars(sys.modules["numba.cuda"]).get(name)
    if name in MODULES and attribute is None:
        attribute = importlib.import_module(f"numba.cuda.{name}")
    if isinstance(attribute, FunctionType):
        raise AttributeError(f"cuda.{name} is a host function; kernels can't call it.")
    if attribute is None or name.startswith("__"):
        raise AttributeError(_unknown_name(name))
    return attribute


def cooperative_groups(module: Callable[[], Any]) -> ModuleType:
    """Build the module numba.cuda.cg, for programs that import it directly."""
    groups = ModuleType("numba.cuda.cg")
    groups.this_grid = lambda: module().cg.this_grid()  # type: ignore[attr-defined]
    return groups
