"""A table of the library names that a source text may use; other names are never looked up."""

from __future__ import annotations

from .question import Library, TypeObject, Value


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


NUMBERS = frozenset(
    f"{kind}{bits}" for kind, sizes in (("int", (8, 16, 32, 64)), ("uint", (8, 16, 32, 64)), ("float", (16, 32, 64)),
                                       ("complex", (64, 128))) for bits in sizes
)  # fmt: skip
NUMBA_TYPES = NUMBERS | {
    "boolean", "bool_", "byte", "double", "f4", "f8", "float_", "i1", "i2", "i4", "i8", "int_", "intc", "intp", "none",
    "size_t", "u1", "u2", "u4", "u8", "uint", "uintc", "uintp", "void", "c8", "c16", "b1",
}  # fmt: skip
NUMPY_TYPES = NUMBERS | {"bool_", "intp", "uintp", "int_", "double", "single", "half"}
MATH = _names(
    "acos acosh asin asinh atan atan2 atanh ceil copysign cos cosh degrees e erf erfc exp expm1 fabs floor fmod frexp "
    "gamma gcd hypot inf isfinite isinf isnan ldexp lgamma log log10 log1p log2 modf nan nextafter pi pow radians sin "
    "sinh sqrt tan tanh tau trunc remainder fsum prod comb perm factorial dist cbrt exp2"
)
CMATH = _names(
    "acos acosh asin asinh atan atanh cos cosh e exp inf isfinite isinf isnan log log10 nan phase pi polar rect sin "
    "sinh sqrt tan tanh tau"
)
OPERATOR = _names(
    "add sub mul truediv floordiv mod pow neg pos abs and_ or_ xor invert lshift rshift eq ne lt le gt ge not_ iadd "
    "isub imul"
)
# Functions of NumPy; Numba supports many of them in a kernel and refuses others.
NUMPY = _names(
    "abs absolute add all any arange arccos arccosh arcsin arcsinh arctan arctan2 arctanh argmax argmin array asarray "
    "bitwise_and bitwise_not bitwise_or bitwise_xor ceil conj conjugate copy copysign cos cosh cross deg2rad degrees "
    "divide dot e empty empty_like equal exp exp2 expm1 eye fabs finfo floor floor_divide fmax fmin fmod full "
    "full_like greater greater_equal hypot iinfo imag inf intp invert isfinite isinf isnan left_shift less less_equal "
    "linspace log log10 log1p log2 logical_and logical_not logical_or logical_xor matmul max maximum mean min minimum "
    "mod multiply nan ndarray negative newaxis not_equal ones ones_like pi power prod rad2deg radians real reciprocal "
    "remainder right_shift rint round sign sin sinh sort sqrt square std subtract sum tan tanh true_divide trunc uintp "
    "var where zeros zeros_like"
)
VECTORS = frozenset(
    f"{kind}x{n}" for kind in ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32",
                               "float64") for n in (1, 2, 3, 4)
)  # fmt: skip
CUDA = VECTORS | _names(
    "threadIdx blockIdx blockDim gridDim grid gridsize laneid warpsize syncthreads syncthreads_and syncthreads_count "
    "syncthreads_or syncwarp threadfence threadfence_block threadfence_system shared local const atomic shfl_sync "
    "shfl_up_sync shfl_down_sync shfl_xor_sync vote_sync_intrinsic all_sync any_sync eq_sync ballot_sync "
    "match_any_sync match_all_sync activemask lanemask_lt popc brev clz ffs selp fma cbrt fp16 cg nanosleep "
    "libdevice jit "
    "random"
)
MODULES: dict[str, frozenset[str]] = {
    "math": MATH,
    "cmath": CMATH,
    "operator": OPERATOR,
    "numpy": NUMPY,
    "numba": frozenset(("cuda", "types")),
    "numba.cuda": CUDA,
    "numba.types": frozenset(),
    "numba.core.types": frozenset(),
    "numba.cuda.types": frozenset(),
    "numba.cuda.libdevice": frozenset(),
    "numba.cuda.random": frozenset(
        f"xoroshiro128p_{distribution}_float{bits}"
        for distribution in ("uniform", "normal")
        for bits in (32, 64)
    ),
}
TYPES = ("numba", "numba.types", "numba.core.types", "numba.cuda.types", "numba.cuda")
SUBMODULES = {
    ("numba", "cuda"): "numba.cuda",
    ("numba", "types"): "numba.types",
    ("numba", "core"): "numba.core",
    ("numba.cuda", "libdevice"): "numba.cuda.libdevice",
    ("numba.cuda", "random"): "numba.cuda.random",
}


def module_of(name: str) -> Value | None:
    """Return a module of the table, None for any other."""
    return Library(name) if name in MODULES else None


def value_of(module: str, name: str) -> Value | None:
    """Look up a name in a module of the table, None if it is not there."""
    if (module, name) in SUBMODULES:
        return module_of(SUBMODULES[module, name])
    if module in TYPES and name in NUMBA_TYPES:
        return TypeObject("numba", name)
    if module == "numpy" and name in NUMPY_TYPES:
        return Library(module, name)
    return Library(module, name) if name in MODULES.get(module, ()) else None
