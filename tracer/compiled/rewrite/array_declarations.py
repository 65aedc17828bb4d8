"""Shared, local and constant arrays that a kernel declares."""

from __future__ import annotations

import ast
from typing import Any

import numpy as np

from ...model.array_types import alignment_fault
from ..state import code_of
from .program import DeclaredArray
from .scope import CudaPath, NotKnown
from .writer import Writer

SPACES = {"shared.array": "shared", "local.array": "local", "const.array_like": "constant"}


def declaration(rewriter: Writer, path: CudaPath, node: ast.Call) -> ast.expr | None:
    """Return the call that gives a declared array, or None for a call of another kind."""
    if path not in SPACES:
        return None
    arguments = dict(zip(("shape", "dtype", "alignment"), node.args, strict=False))
    arguments |= {k.arg: k.value for k in node.keywords if k.arg}
    if "alignment" in arguments:
        _check_alignment(rewriter, arguments, node)
    array = (
        _constant(rewriter, arguments, node)
        if path == "const.array_like"
        else _array(rewriter, path, arguments, node)
    )
    # A function may declare arrays of another shape where it is called with another one.
    place = (array.space, rewriter.source.file, node.lineno, node.col_offset, array.shape)
    key = (array.dtype, *(("dynamic",) if array.shape is None else place))
    return rewriter.call(f"_ts_declared_{rewriter.program.declare(key, array)}", [], node)


def _array(rewriter: Writer, path: str, arguments: dict[str, ast.expr], node: ast.Call) -> DeclaredArray:
    shape = _static(rewriter, arguments, "shape", node)
    shape = shape if isinstance(shape, tuple) else (shape,)
    if not all(isinstance(n, int | np.integer) and n >= 0 for n in shape):
        rewriter.refuse(node, f"a shape of {shape}")
    dtype = as_dtype(_static(rewriter, arguments, "dtype", node))
    if dtype is None or (code_of(dtype) is None and dtype.names is None):
        return rewriter.refuse(node, f"an array of {dtype or arguments['dtype']}")  # type: ignore[no-any-return]
    dynamic = path == "shared.array" and shape == (0,)
    lengths = None if dynamic else tuple(map(int, shape))
    return DeclaredArray(rewriter.targets.get(id(node), ""), SPACES[path], dtype, lengths)


def _check_alignment(rewriter: Writer, arguments: dict[str, ast.expr], node: ast.Call) -> None:
    """Refuse what Numba refuses; where an array lies is nothing that a trace shows."""
    fault = alignment_fault(_static(rewriter, arguments, "alignment", node))
    if fault:
        rewriter.refuse(node, fault)


def _static(rewriter: Writer, arguments: dict[str, ast.expr], name: str, node: ast.Call) -> Any:
    if name not in arguments:
        rewriter.refuse(node, f"an array without {name}")
    try:
        return rewriter.scope.static(arguments[name])
    except NotKnown:
        return rewriter.refuse(node, f"a {name} that is not constant, {ast.unparse(arguments[name])}")


def _constant(rewriter: Writer, arguments: dict[str, ast.expr], node: ast.Call) -> DeclaredArray:
    content = _static(rewriter, arguments, "shape", node)
    content = np.asarray(content)
    if (code_of(content.dtype) is None and content.dtype.names is None) or not content.flags.c_contiguous:
        rewriter.refuse(node, f"a constant array of {content.dtype}")
    return DeclaredArray(
        rewriter.targets.get(id(node), "constant"), "constant", content.dtype, content.shape, content
    )


def as_dtype(dtype: Any) -> np.dtype[Any] | None:
    """Return the NumPy dtype of a numba type (numba's or numba-cuda's), or of what NumPy takes for one."""
    if type(dtype).__module__.startswith("numba"):
        dtype = getattr(dtype, "dtype", None) or str(dtype)  # that of records is NumPy's
    try:
        found: np.dtype[Any] = np.dtype(dtype)
        return found
    except (TypeError, ValueError):
        return None
