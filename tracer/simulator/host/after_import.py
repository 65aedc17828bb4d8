"""Hooks that run after the import of a module."""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import sys
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from types import ModuleType
from typing import Any

Around = Callable[[], AbstractContextManager[None]]


def after_import(name: str, then: Callable[[], None], around: Around = nullcontext) -> None:
    """Call `then` right after the first import of a module; the import runs in the context of `around`."""
    sys.meta_path.insert(0, _Finder(name, then, around))


class _Finder(importlib.abc.MetaPathFinder):
    """Finds one module through the other finders, and calls a hook after its import."""

    def __init__(self, name: str, then: Callable[[], None], around: Around) -> None:
        self.name, self.then, self.around = name, then, around
        self._is_searching = False  # guards against recursion: another finder may ask all finders

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if name != self.name or self._is_searching:
            return None
        others = [finder for finder in sys.meta_path if finder is not self and hasattr(finder, "find_spec")]
        self._is_searching = True
        try:
            spec = next(filter(None, (finder.find_spec(name, path, target) for finder in others)), None)
        finally:
            self._is_searching = False
        if spec is not None and spec.loader is not None:
            spec.loader = _Loader(spec.loader, self.then, self.around)
        return spec


class _Loader(importlib.abc.Loader):
    def __init__(self, loader: importlib.abc.Loader, then: Callable[[], None], around: Around) -> None:
        self._loader, self._then, self._around = loader, then, around

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        if module.__spec__ is not None:
            module.__spec__.loader = self._loader
        module.__loader__ = self._loader
        with self._around():
            self._loader.exec_module(module)
        self._then()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)
