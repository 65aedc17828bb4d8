"""The code that replaces the names of `cuda`."""

from __future__ import annotations

_S = "(_ts_state)"
_AXES = "xyz"
EXPRESSIONS: dict[str, str] = {"laneid": f"_ts_thread{_S} % 32", "warpsize": "32"}
CALLS = {"lanemask_lt": f"(1 << (_ts_thread{_S} % 32)) - 1"}
for _word, _letter in (("threadIdx", "t"), ("blockIdx", "b"), ("blockDim", "d"), ("gridDim", "g")):
    EXPRESSIONS |= {f"{_word}.{axis}": f"_ts_{_letter}{axis}{_S}" for axis in _AXES}
_PLACES = [f"_ts_b{a}{_S} * _ts_d{a}{_S} + _ts_t{a}{_S}" for a in _AXES]
_SIZES = [f"_ts_g{a}{_S} * _ts_d{a}{_S}" for a in _AXES]
for _name, _parts in (("grid", _PLACES), ("gridsize", _SIZES)):
    EXPRESSIONS |= {f"{_name}1": _parts[0]} | {f"{_name}{n}": f"({', '.join(_parts[:n])})" for n in (2, 3)}

# Atomic operations: their names in compiled code, and their numbers of arguments.
UPDATES = {
    f"atomic.{name}": (f"_ts_{name}", 3)
    for name in ("add", "sub", "and_", "or_", "xor", "inc", "dec", "exch", "max", "min", "nanmax", "nanmin")
} | {"atomic.cas": ("_ts_cas", 4), "atomic.compare_and_swap": ("_ts_cas", 3)}  # fmt: skip

# Calls that leave nothing in a trace.
NOTHING = ("nanosleep",)

# Functions that compute; compiled code defines them under the same names (see `arithmetic` and `float16`).
_HALVES = (
    "hadd", "hsub", "hmul", "hdiv", "hfma", "hneg", "habs", "hsin", "hcos", "hlog", "hlog2", "hlog10", "hexp", "hexp2",
    "hexp10", "hsqrt", "hrsqrt", "hceil", "hfloor", "hrcp", "htrunc", "hrint", "heq", "hne", "hge", "hgt", "hle", "hlt",
    "hmax", "hmin",
)  # fmt: skip
FUNCTIONS = ("popc", "fma", "cbrt", "brev", "clz", "ffs", "selp", *(f"fp16.{name}" for name in _HALVES))
