"""The names of numba-cuda's successor, numba_cuda_mlir, for the modules of numba.cuda: kernels are the same."""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import sys
from collections.abc import Sequence
from importlib import util
from types import ModuleType

SUCCESSOR = "numba_cuda_mlir"
CUDA = "numba.cuda"


def install_successor_names() -> None:
    """Let this process import numba.cuda under its successor's name; the successor itself has no simulator."""
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())


def _own_name(name: str) -> str | None:
    """Return the name of Numba's module for a name of the successor's, None if there is none."""
    path = name.removeprefix(SUCCESSOR).removeprefix(".cuda")
    for candidate in (CUDA + path, "numba" + path):
        try:
            if util.find_spec(candidate) is not None:
                return candidate
        except ModuleNotFoundError:
            continue
    return None


class _Finder(importlib.abc.MetaPathFinder):
    """Finds the successor's modules."""

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if name.partition(".")[0] != SUCCESSOR:
            return None
        own_name = _own_name(name)
        if own_name is None:
            raise ModuleNotFoundError(f"Numba has no module {name} under Tilescope", name=name)
        return importlib.machinery.ModuleSpec(name, _Loader(own_name), is_package=True)


class _Loader(importlib.abc.Loader):
    """Returns Numba's module as it is."""

    def __init__(self, name: str) -> None:
        self._module = importlib.import_module(name)
        self._spec = self._module.__spec__
        self._path = getattr(self._module, "__path__", None)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        return self._module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self._spec  # the import system has replaced it
        module.__loader__ = self._spec.loader if self._spec else None
        if module.__name__ == CUDA:  # `from numba_cuda_mlir import cuda, types`
            import numba

            vars(module).setdefault("cuda", module)
            vars(module).setdefault("types", numba.types)
