"""What compiled code does for the names of `cuda`."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from ..recorder import BARRIER
from .names import CudaPath, Names, Unknown
from .state import Why

if TYPE_CHECKING:
    from .rewrite import Rewriter

_S = "(_ts_state)"
_AXES = "xyz"
EXPRESSIONS: dict[str, str] = {"laneid": f"_ts_thread{_S} % 32", "warpsize": "32"}
for _word, _letter in (("threadIdx", "t"), ("blockIdx", "b"), ("blockDim", "d"), ("gridDim", "g")):
    EXPRESSIONS |= {f"{_word}.{axis}": f"_ts_{_letter}{axis}{_S}" for axis in _AXES}
_PLACES = [f"_ts_b{a}{_S} * _ts_d{a}{_S} + _ts_t{a}{_S}" for a in _AXES]
_SIZES = [f"_ts_g{a}{_S} * _ts_d{a}{_S}" for a in _AXES]
for _name, _parts in (("grid", _PLACES), ("gridsize", _SIZES)):
    EXPRESSIONS |= {f"{_name}1": _parts[0], f"{_name}2": f"({_parts[0]}, {_parts[1]})", f"{_name}3": f"({', '.join(_parts)})"}

# Atomic operations: what they are called in compiled code, and how many arguments they take.
UPDATES = {
    f"atomic.{name}": (f"_ts_{name}", 3)
    for name in ("add", "sub", "and_", "or_", "xor", "inc", "dec", "exch", "max", "min", "nanmax", "nanmin")
} | {"atomic.cas": ("_ts_cas", 4), "atomic.compare_and_swap": ("_ts_cas", 3)}  # fmt: skip

STOPS = {"syncthreads": Why.BARRIER}


def is_stop(names: Names, node: ast.expr) -> str:
    """Return the name of the barrier or warp operation that a call is, or ""."""
    if not isinstance(node, ast.Call):
        return ""
    try:
        path = names.value(node.func)
    except Unknown:
        return ""
    return str(path) if isinstance(path, CudaPath) and path in STOPS else ""


def stop_of(rewriter: Rewriter, path: str, node: ast.expr) -> tuple[list[ast.stmt], Any]:
    """Return the statements of a barrier, and the expression of what it gives."""
    arrive = rewriter.call("_ts_arrive", [rewriter.site(node, BARRIER)], node)
    stop = ast.Expr(ast.Yield(ast.Constant(int(STOPS[path]))))
    made: list[ast.stmt] = [ast.Expr(arrive), stop]
    for part in made:
        ast.copy_location(part, node)
        ast.fix_missing_locations(part)
    return made, None
