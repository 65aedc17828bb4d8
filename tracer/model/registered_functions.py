"""Functions of Python's that a program told Numba of, so that kernels may call them by their names."""

from __future__ import annotations

import sys
from typing import Any


def is_registered(value: Any) -> bool:
    """Return whether a program told Numba what to make of this: by `overload`, `register_jitable` and their like."""
    registries = [
        getattr(sys.modules.get(name), of, None)
        for name, of in (
            ("numba.core.typing.templates", "builtin_registry"),
            ("numba.cuda.typing.templates", "builtin_registry"),
            ("numba.cuda.cudadecl", "registry"),
        )
    ]
    known = [entry for registry in registries for entry in getattr(registry, "globals", ())]
    return any(one is value and not _is_of_numba(*kinds) for one, *kinds in known)


def _is_of_numba(kind: Any = None, *others: Any) -> bool:
    """Return whether what a function means was written in Numba, as that of `random.random` on a CPU."""
    templates = getattr(kind, "templates", ())
    written = [getattr(t, "_overload_func", None) or t for t in templates]
    if any(getattr(one, "__qualname__", "").startswith("register_jitable.") for one in written):
        return False  # which Numba writes for whoever asks
    modules = [getattr(one, "__module__", "").split(".") for one in written]
    return bool(modules) and all(
        path[0] in ("numba", "numba_cuda") and "tests" not in path for path in modules
    )
