"""CUDA's vector types, as `cuda.float32x4` or `cuda.float4`: their names, component types and sizes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

AXES = "xyzw"
_KINDS = (*(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)), "float32", "float64")
_NAMES_OF_C = {
    "char": np.byte, "short": np.short, "int": np.intc, "long": np.int_, "longlong": np.longlong, "float": np.single,
    "double": np.double,
}  # fmt: skip
_UNSIGNED = {
    f"u{name}": np.dtype(f"u{np.dtype(_NAMES_OF_C[name]).name}")
    for name in ("char", "short", "int", "long", "longlong")
}


class VectorType(NamedTuple):
    """A vector type."""

    kind: str  # of its components
    size: int

    @property
    def name(self) -> str:
        """Its name under `cuda`."""
        return f"{self.kind}x{self.size}"


# By name; those of C depend on the system.
VECTOR_TYPES = {
    vector.name: vector for vector in (VectorType(kind, n) for kind in _KINDS for n in (1, 2, 3, 4))
}
VECTOR_TYPES |= {
    f"{name}{n}": VectorType(np.dtype(dtype).name, n)
    for name, dtype in (_NAMES_OF_C | _UNSIGNED).items()
    for n in (1, 2, 3, 4)
}
