"""Numba imported for its simulator, in less time: most of a short run is that.

Its modules hold a hundred thousand objects, none of which becomes garbage meanwhile. And numba-cuda imports with its
simulator what a GPU alone needs, the driver's bindings, since its module of types names two classes of theirs: it is
given stand-ins, in the versions that are known to ask for no more. Whoever imports the bindings later gets these.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import metadata
from types import ModuleType

KNOWN = ("0.30.",)  # how the versions begin that this was looked up in
CLASSES = {"cuda.core": "Buffer", "cuda.core.utils": "StridedMemoryView"}  # that it names, by module


@contextmanager
def without_collections() -> Iterator[None]:
    """Look for no garbage meanwhile."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


@contextmanager
def without_driver() -> Iterator[None]:
    """Look for no garbage, and keep the bindings out, while numba.cuda is imported with its simulator switched on."""
    made = {} if sys.modules.keys() & CLASSES.keys() or not _is_known() else dict(map(_stand_in, CLASSES))
    sys.modules.update(made)
    try:
        with without_collections():
            yield
    finally:
        for name, module in made.items():
            if sys.modules.get(name) is module:
                del sys.modules[name]


def _is_known() -> bool:
    try:
        return metadata.version("numba-cuda").startswith(KNOWN)
    except metadata.PackageNotFoundError:
        return False


def _stand_in(name: str) -> tuple[str, ModuleType]:
    module = ModuleType(name)
    module.__path__ = []
    setattr(module, CLASSES[name], type(CLASSES[name], (), {"__module__": name}))
    return name, module
