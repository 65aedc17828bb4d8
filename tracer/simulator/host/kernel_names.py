"""Names of `cuda` that mean something inside kernels: there, and as objects that a program takes out beforehand."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from operator import attrgetter
from types import FunctionType, ModuleType
from typing import Any

from .lacking import CLASSES, LACKING, lacking

# What a program may import from numba.cuda, to use it in a kernel only.
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
OF_THE_DRIVER = ("devices", "driver", "nvvm")  # modules of numba.cuda.cudadrv that numba.cuda has too
LOADS = ("ldca", "ldcg", "ldcs", "ldlu", "ldcv")
STORES = ("stcg", "stcs", "stwb", "stwt")


class KernelName:
    """A name of `cuda`, taken out of it outside kernels; `module` gives what `cuda` is in the kernel that runs."""

    def __init__(self, name: str, module: Callable[[], Any]) -> None:
        self._name, self._module = name, module

    @property
    def cuda_path(self) -> str:
        """What it is called under `cuda`."""
        return self._name

    def __repr__(self) -> str:
        return f"<numba.cuda.{self._name}, for kernels>"

    def _value(self) -> Any:
        module = self._module()
        if module is None:
            raise AttributeError(f"cuda.{self._name} means something inside a kernel only.")
        return attrgetter(self._name)(module)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if self._module() is None:  # a name under it, which Numba's own modules take out too
            return KernelName(f"{self._name}.{name}", self._module)
        return getattr(self._value(), name)

    def __call__(self, *arguments: Any, **names: Any) -> Any:
        return self._value()(*arguments, **names)

    def __index__(self) -> int:
        return int(self._value())

    __int__ = __index__


def outside(name: str, module: Callable[[], Any]) -> Any:
    """Return what `cuda.NAME` is outside a kernel, where numba.cuda has no such name; raises AttributeError."""
    if name in NAMES:
        return KernelName(name, module)
    if name in MODULES:
        return importlib.import_module(f"numba.cuda.{name}")
    if name in OF_THE_DRIVER:
        return importlib.import_module(f"numba.cuda.cudadrv.{name}")
    why = LACKING.get(name) or CLASSES.get(name)
    raise AttributeError(lacking(f"cuda.{name}", why) if why else _unknown(name))


def _unknown(name: str) -> str:
    return f"module 'numba.cuda' has no attribute {name!r}"


def inside(name: str) -> Any:
    """Return what `cuda.NAME` is inside a kernel, where the simulator has no such name; raises AttributeError."""
    if name in LOADS:
        return lambda array, index: array[index]
    if name in STORES:
        return lambda array, index, value: array.__setitem__(index, value)
    found = vars(sys.modules["numba.cuda"]).get(name)
    if name in MODULES and found is None:
        found = importlib.import_module(f"numba.cuda.{name}")
    if isinstance(found, FunctionType):
        raise AttributeError(f"cuda.{name} is a function of the host's: kernels can't call it.")
    if found is None or name.startswith("__"):
        raise AttributeError(_unknown(name))
    return found


def cooperative_groups(module: Callable[[], Any]) -> ModuleType:
    """Return the module numba.cuda.cg, for programs that import it by itself."""
    made = ModuleType("numba.cuda.cg")
    made.this_grid = lambda: module().cg.this_grid()  # type: ignore[attr-defined]
    return made
