"""Shared, local and constant arrays that a kernel declares."""

from __future__ import annotations

import ast
from typing import Any

import numpy as np

from ...model.array_types import alignment_fault
from ..state import code_of
from .program import DeclaredArray
from .scope import CudaPath, UnknownValueError
from .writer import Writer

SPACES = {"shared.array": "shared", "local.array": "local", "const.array_like": "constant"}


def rewrite_declaration(rewriter: Writer, path: CudaPath, node: ast.Call) -> ast.expr | None:
    """Rewrite a declaration of an array into a call that returns it; None for a call of another kind."""
    if path not in SPACES:
        return None
    arguments = dict(zip(("shape", "dtype", "alignment"), node.args, strict=False))
    arguments |= {k.arg: k.value for k in node.keywords if k.arg}
    if "alignment" in arguments:
        _check_alignment(rewriter, arguments, node)
    array = (
        _constant_array(rewriter, arguments, node)
        if path == "const.array_like"
        else _declared_array(rewriter, path, arguments, node)
    )
    # A function may declare an array of another shape in each of its calls.
    location = (array.space, rewriter.source.file, node.lineno, node.col_offset, array.shape)
    key = (array.dtype, *(("dynamic",) if array.shape is None else location))
    return rewriter.call(f"_ts_declared_{rewriter.program.declare(key, array)}", [], node)


def _declared_array(
    rewriter: Writer, path: str, arguments: dict[str, ast.expr], node: ast.Call
) -> DeclaredArray:
    shape = _static_argument(rewriter, arguments, "shape", node)
    shape = shape if isinstance(shape, tuple) else (shape,)
    if not all(isinstance(n, int | np.integer) and n >= 0 for n in shape):
        rewriter.refuse(node, f"a shape of {shape}")
    dtype = as_dtype(_static_argument(rewriter, arguments, "dtype", node))
    if dtype is None or (code_of(dtype) is None and dtype.names is None):
        return rewriter.refuse(node, f"an array of {dtype or arguments['dtype']}")  # type: ignore[no-any-return]
    dynamic = path == "shared.array" and shape == (0,)
    lengths = None if dynamic else tuple(map(int, shape))
    return DeclaredArray(rewriter.targets.get(id(node), ""), SPACES[path], dtype, lengths)


def _check_alignment(rewriter: Writer, arguments: dict[str, ast.expr], node: ast.Call) -> None:
    """Refuse an alignment that Numba refuses. The alignment has no effect on a trace."""
    fault = alignment_fault(_static_argument(rewriter, arguments, "alignment", node))
    if fault:
        rewriter.refuse(node, fault)


def _static_argument(rewriter: Writer, arguments: dict[str, ast.expr], name: str, node: ast.Call) -> Any:
    if name not in arguments:
        rewriter.refuse(node, f"an array without {name}")
    try:
        return rewriter.scope.static_value(arguments[name])
    except UnknownValueError:
        return rewriter.refuse(node, f"a {name} that is not constant, {ast.unparse(arguments[name])}")


def _constant_array(rewriter: Writer, arguments: dict[str, ast.expr], node: ast.Call) -> DeclaredArray:
    content = _static_argument(rewriter, arguments, "shape", node)
    content = np.asarray(content)
    if (code_of(content.dtype) is None and content.dtype.names is None) or not content.flags.c_contiguous:
        rewriter.refuse(node, f"a constant array of {content.dtype}")
    return DeclaredArray(
        rewriter.targets.get(id(node), "constant"), "constant", content.dtype, content.shape, content
    )


def as_dtype(dtype: Any) -> np.dtype[Any] | None:
    """Return the NumPy dtype of a numba type (numba's or numba-cuda's), or of a dtype-like; None for anything else."""
    if type(dtype).__module__.startswith("numba"):
        dtype = getattr(dtype, "dtype", None) or str(dtype)  # the dtype of records is NumPy's
    try:
        converted: np.dtype[Any] = np.dtype(dtype)
        return converted
    except (TypeError, ValueError):
        return None
