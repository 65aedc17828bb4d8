"""The registries of Numba's CUDA target, with which programs add types and functions of their own.

What a program adds is kept where Numba's own parts of it can be asked for; the simulator itself compiles nothing.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any


def install_registries() -> None:
    """Let programs import `numba.cuda.cudadecl` and `numba.cuda.cudaimpl`."""
    from numba.core.imputils import Registry as Implementations
    from numba.core.typing.templates import Registry as Declarations

    declared, implemented = Declarations(), Implementations("cudaimpl")
    _module("cudadecl", registry=declared, register=declared.register, register_attr=declared.register_attr,
            register_global=declared.register_global)  # fmt: skip
    _module("cudaimpl", registry=implemented, lower=implemented.lower, lower_attr=implemented.lower_getattr,
            lower_cast=implemented.lower_cast, lower_constant=implemented.lower_constant)  # fmt: skip


def _module(name: str, **parts: Any) -> None:
    full = f"numba.cuda.{name}"
    made = sys.modules.setdefault(full, ModuleType(full))
    vars(made).update(parts)
    setattr(sys.modules["numba.cuda"], name, made)
