"""The real and imaginary parts of arrays of complex numbers: views whose elements lie two apart."""

from __future__ import annotations

from typing import Any

from numba.core import cgutils, types
from numba.core.extending import intrinsic, overload_attribute

from .cells import I64, Cells, build


def _part(number: int) -> Any:
    """Return what gives compiled code the real (1) or imaginary (2) parts of an array."""

    def typer(typing: Any, cells: Any) -> Any:
        kind = Cells(cells.dtype.underlying_float, cells.ndim, cells.unit, number)
        offset = I64(kind.itemsize if number == 2 else 0)

        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            struct = cgutils.create_struct_proxy(cells)(context, builder, args[0])
            shape, strides = (cgutils.unpack_tuple(builder, t) for t in (struct.shape, struct.strides))
            data, start = (builder.add(place, offset) for place in (struct.data, struct.start))
            return build(context, builder, kind, data, start, struct.region, shape, strides)

        return kind(cells), generate

    return intrinsic(typer)


real, imag = _part(1), _part(2)


def _real(cells: Any) -> Any:
    if isinstance(cells.dtype, types.Complex):
        return lambda cells: real(cells)
    return lambda cells: cells


def _imag(cells: Any) -> Any:
    return (lambda cells: imag(cells)) if isinstance(cells.dtype, types.Complex) else None


overload_attribute(Cells, "real", inline="never", strict=False)(_real)
overload_attribute(Cells, "imag", inline="never", strict=False)(_imag)
