"""Faster imports of Numba for its simulator, which take most of a short run.

Numba's modules hold a hundred thousand objects that never become garbage, so garbage collection is paused during the
import and ignores them afterwards. numba-cuda
also imports the driver's bindings, which only a GPU needs, because its module of types names two of their classes. In
versions known to need nothing else, it gets stand-ins. A later import of the bindings loads the real ones.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import metadata
from types import ModuleType

from ..processes.garbage import without_collections

VERIFIED_VERSIONS = ("0.30.",)  # prefixes of the versions for which this was verified
STAND_INS = {"cuda.core": "Buffer", "cuda.core.utils": "StridedMemoryView"}  # class by module


@contextmanager
def without_driver() -> Iterator[None]:
    """Context manager for the import of numba.cuda's simulator: no garbage collection and no driver bindings."""
    is_needed = _is_supported_version() and not sys.modules.keys() & STAND_INS.keys()
    stand_ins = dict(map(_stand_in, STAND_INS)) if is_needed else {}
    sys.modules.update(stand_ins)
    try:
        with without_collections():
            yield
    finally:
        for name, module in stand_ins.items():
            if sys.modules.get(name) is module:
                del sys.modules[name]


def _is_supported_version() -> bool:
    try:
        return metadata.version("numba-cuda").startswith(VERIFIED_VERSIONS)
    except metadata.PackageNotFoundError:
        return False


def _stand_in(name: str) -> tuple[str, ModuleType]:
    module = ModuleType(name)
    module.__path__ = []
    setattr(module, STAND_INS[name], type(STAND_INS[name], (), {"__module__": name}))
    return name, module
