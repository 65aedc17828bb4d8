"""Imports of packages that drive a GPU: where there is no GPU, a program gets our stand-ins."""

from __future__ import annotations

import ast
import importlib.abc
import importlib.machinery
import linecache
import sys
from collections.abc import Callable, Sequence
from importlib import util
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any

from ..model.syntax_tree import syntax_tree
from ..model.user_code import user_code_for

Names = Callable[[], dict[str, Any]]
_KERNELS = (
    "__global__",
    "ElementwiseKernel",
    "RawKernel",
    "RawModule",
    "SourceModule",
    "cuda.core",
)  # in programs with kernels
_DEVICES = ("/dev/nvidiactl", "/dev/dxg")
_TITLES = {"cupy": "CuPy", "cupyx": "CuPy", "pycuda": "PyCUDA", "cuda.core": "cuda.core", "torch": "PyTorch"}
_EXTENSIONS = (
    "load_inline"  # in programs with kernels that PyTorch compiles; others get the installed PyTorch
)


def install(begin: Callable[[], None]) -> None:
    """Offer the stand-ins to this process; begin: called before the first of them is imported."""
    sys.meta_path.insert(0, _Finder(begin))


def _modules() -> dict[str, Names]:
    """Return the modules that have stand-ins, each with the function that returns its names."""
    from . import cuda_core_names as core
    from . import cupy_names as cupy
    from . import pycuda_names as pycuda
    from . import torch_names as torch

    return {
        "cuda.core": core.core_names,
        "cuda.core.experimental": core.core_names,
        "pycuda": lambda: {"VERSION": (2025, 1), "VERSION_TEXT": "2025.1 (a stand-in of Tilescope)"},
        "pycuda.autoinit": pycuda.autoinit_names,
        "pycuda.autoprimaryctx": pycuda.autoinit_names,
        "pycuda.compiler": pycuda.compiler_names,
        "pycuda.cumath": pycuda.cumath_names,
        "pycuda.driver": pycuda.driver_names,
        "pycuda.gpuarray": pycuda.gpuarray_names,
        "pycuda.tools": pycuda.tools_names,
        "cupy": cupy.cupy_names,
        "cupy.cuda": cupy.cuda_names,
        "cupy.cuda.runtime": cupy.runtime_names,
        "cupy.cuda.driver": lambda: {"CUDADriverError": cupy.CUDADriverError},
        "cupy.cuda.compiler": lambda: {"CompileException": cupy.CompileException},
        "cupy.cuda.memory": lambda: {
            "OutOfMemoryError": cupy.OutOfMemoryError,
            "MemoryPool": cupy.MemoryPool,
        },
        "cupy.random": cupy.random_names,
        "cupy.testing": cupy.testing_names,
        "torch": torch.torch_names,
        "torch.cuda": torch.cuda_names,
        "torch.utils": dict,
        "torch.utils.cpp_extension": torch.extension_names,
    }


class _Finder(importlib.abc.MetaPathFinder):
    """Finds the stand-ins."""

    def __init__(self, begin: Callable[[], None]) -> None:
        self._begin, self._has_begun = begin, False
        self._real: dict[str, bool] = {}  # whether a package is the installed one
        self._modules: dict[str, Names] = {}

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        package = name.partition(".")[0]
        if package == "cuda":  # several distributions share this name; only cuda.core has a stand-in
            if name == "cuda" and not self._real.get("cuda", False):
                self._real["cuda"] = True
                is_missing = util.find_spec("cuda") is None
                self._real["cuda"] = False
                return importlib.machinery.ModuleSpec(name, None, is_package=True) if is_missing else None
            package = "cuda.core"
            if not f"{name}.".startswith("cuda.core."):
                return None
        if package not in _TITLES or sys.platform != "linux" or self._is_installed(package):
            return None
        if package in sys.modules:
            spec = sys.modules[package].__spec__
            if spec is None or not isinstance(spec.loader, _Loader):
                return None  # the installed package, which a library imported
        elif not _is_wanted(package):
            return None
        if not self._modules:
            self._begin()
            self._modules = _modules()
        if name not in self._modules:
            text = f"Tilescope's stand-in for {_TITLES[package]} has no module {name}"
            raise ModuleNotFoundError(text, name=name)
        inner = [other for other in self._modules if other.rpartition(".")[0] == name]
        loader = _Loader(self._modules[name], inner)
        return importlib.machinery.ModuleSpec(name, loader, is_package=bool(inner))

    def _is_installed(self, package: str) -> bool:
        """Return True for a package that is installed on a computer with a GPU, or in the program's folder."""
        if package not in self._real:
            self._real[package] = True  # while others look for it
            spec = util.find_spec(package)
            has_gpu = any(Path(device).exists() for device in _DEVICES)
            origin = getattr(spec, "origin", None) or ""
            is_own = spec is not None and not any(
                part in origin for part in ("site-packages", "dist-packages")
            )
            self._real[package] = spec is not None and (has_gpu or is_own)
        return self._real[package]


def _is_wanted(package: str) -> bool:
    """Return True if the program itself imports the package, and not only to use it if it is there."""
    frame: FrameType | None = sys._getframe(2)
    while frame is not None and (
        frame.f_code.co_filename.startswith("<frozen importlib")
        or frame.f_code.co_filename == importlib.__file__
    ):
        frame = frame.f_back
    if frame is None:
        return False
    file, line = frame.f_code.co_filename, frame.f_lineno
    main = getattr(sys.modules.get("__main__"), "__file__", None) or ""
    if file.startswith("<frozen") or not user_code_for(main).owns(file):
        return False
    text = "".join(linecache.getlines(file))
    if package == "torch":
        return _EXTENSIONS in text or _EXTENSIONS in "".join(linecache.getlines(main))
    return any(word in text for word in _KERNELS) or not _is_optional(text, line)


def _is_optional(text: str, line: int) -> bool:
    """Return True for an import in a `try` statement, without which the program goes on."""
    return any(
        isinstance(node, ast.Try) and node.handlers and node.lineno <= line <= (node.body[-1].end_lineno or 0)
        for node in ast.walk(syntax_tree(text))
    )


class _Loader(importlib.abc.Loader):
    """Fills a module with the names of a stand-in."""

    def __init__(self, names: Names, inner: Sequence[str]) -> None:
        self._names, self._inner = names, inner

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType | None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        title = next(
            title for package, title in _TITLES.items() if f"{module.__name__}.".startswith(f"{package}.")
        )

        def missing(name: str) -> Any:
            if name.startswith("__"):
                raise AttributeError(name)
            raise AttributeError(f"Tilescope's stand-in for {title} has no {module.__name__}.{name}")

        names = self._names()
        for value in names.values():
            if isinstance(value, type) and value.__module__.startswith(__package__ or "?"):
                value.__module__ = module.__name__
        module.__dict__.update(names, __getattr__=missing)
        for name in self._inner:
            importlib.import_module(name)
