"""Bodies in LLVM's IR, for a CPU, of a GPU's math functions: NVVM's intrinsics, libdevice, half floats.

Values need not equal a GPU's to the last bit: only addresses and branches matter.
"""

from __future__ import annotations

import re

FLOATS = {"half": "f16", "float": "f32", "double": "f64"}
SIGNED, UNSIGNED = "ilxsc", "jmyth"  # letters of C++'s mangled names; h: unsigned char
_WIDTH = {"c": 8, "h": 8, "s": 16, "t": 16, "i": 32, "j": 32, "l": 64, "m": 64, "x": 64, "y": 64}

# Functions of C's math library that LLVM has intrinsics for, by the name without `__nv_` and the f of float32.
_INTRINSICS = {
    "sqrt": "sqrt", "sin": "sin", "cos": "cos", "tan": "tan", "asin": "asin", "acos": "acos", "atan": "atan",
    "atan2": "atan2", "sinh": "sinh", "cosh": "cosh", "tanh": "tanh", "exp": "exp", "exp2": "exp2", "exp10": "exp10",
    "log": "log", "log2": "log2", "log10": "log10", "pow": "pow", "fabs": "fabs", "floor": "floor", "ceil": "ceil",
    "trunc": "trunc", "rint": "rint", "nearbyint": "nearbyint", "round": "round", "fma": "fma", "fmin": "minnum",
    "fmax": "maxnum", "copysign": "copysign", "fast_sin": "sin", "fast_cos": "cos", "fast_exp": "exp",
    "fast_log": "log", "fast_log2": "log2", "fast_log10": "log10", "fast_pow": "pow", "fast_tan": "tan",
    "fast_exp10": "exp10", "fsqrt_rn": "sqrt", "fsqrt_rz": "sqrt", "fsqrt_rd": "sqrt", "fsqrt_ru": "sqrt",
    "dsqrt_rn": "sqrt", "tanh_approx": "tanh",
}  # fmt: skip
_LIBRARY = (
    "cbrt", "expm1", "log1p", "hypot", "fmod", "remainder", "erf", "erfc", "lgamma", "tgamma", "asinh", "acosh",
    "atanh", "logb", "j0", "j1", "y0", "y1", "nextafter", "fdim",
)  # fmt: skip


def math_definition(name: str, result: str, parameters: list[str]) -> list[str] | None:
    """Return the body of a math function; None if its name is unknown."""
    if name.startswith("nvvm."):
        return _nvvm(name.removeprefix("nvvm."), result, parameters)
    if name.startswith("__nv_"):
        return _libdevice(name.removeprefix("__nv_"), result, parameters)
    return None


def _call(function: str, kind: str, count: int, arguments: list[str] | None = None) -> list[str]:
    values = arguments or [f"%a{i}" for i in range(count)]
    listed = ", ".join(f"{kind} {value}" for value in values)
    return [f"  %r = call {kind} @{function}({listed})", f"  ret {kind} %r"]


def _intrinsic(operation: str, kind: str, count: int) -> list[str]:
    return _call(f"llvm.{operation}.{FLOATS.get(kind, kind)}", kind, count)


def _libdevice(name: str, result: str, parameters: list[str]) -> list[str] | None:
    if result not in ("float", "double") or "ptr" in parameters:
        return _integers(name, result, parameters) or _with_pointers(name, parameters)
    if name in ("rsqrt", "rsqrtf", "frsqrt_rn"):
        return [
            *_call(f"llvm.sqrt.{FLOATS[result]}", result, 1)[:-1],
            f"  %i = fdiv {result} 1.0, %r",
            f"  ret {result} %i",
        ]
    if name in ("rcbrt", "rcbrtf", "sinpi", "sinpif", "cospi", "cospif") or set(parameters) - {
        "float",
        "double",
    }:
        return _converted(name, result, parameters)
    plain = name.removesuffix("f") if result == "float" else name
    if plain in _INTRINSICS:
        return _intrinsic(_INTRINSICS[plain], result, len(parameters))
    if plain in _LIBRARY:
        return _call(f"{plain}f" if result == "float" else plain, result, len(parameters))
    binary = re.fullmatch(r"[fd](add|sub|mul|div)_r[nzud]|fast_f(div)ide", plain)
    if binary:
        return [f"  %r = f{binary[1] or binary[2]} {result} %a0, %a1", f"  ret {result} %r"]
    if re.fullmatch(r"f(ma|maf)_r[nzud]", name):
        return _intrinsic("fma", result, 3)
    return _stand_in(result, parameters)


def _stand_in(result: str, parameters: list[str]) -> list[str] | None:
    """Return a body that only has the type of a function of floats, since libdevice is missing."""
    if set(parameters) == {result}:
        return [f"  ret {result} %a0"]
    return None


def _converted(name: str, result: str, parameters: list[str]) -> list[str] | None:
    """Return the body of a function with an integer among its parameters, or of one of angles in turns."""
    suffix = FLOATS[result]
    if parameters == ["i32"] or parameters == ["i64"]:
        operation = "uitofp" if name.startswith(("uint", "ull")) else "sitofp"
        return [f"  %r = {operation} {parameters[0]} %a0 to {result}", f"  ret {result} %r"]
    if name.startswith(("sinpi", "cospi")):
        return [f"  %x = fmul {result} %a0, 0x400921FB{'60000000' if result == 'float' else '54442D18'}",
                f"  %r = call {result} @llvm.{name[:3]}.{suffix}({result} %x)", f"  ret {result} %r"]  # fmt: skip
    if name.startswith(("powi", "ldexp", "scalbn")):
        operation = "powi" if name.startswith("powi") else "ldexp"
        return [
            f"  %r = call {result} @llvm.{operation}.{suffix}.i32({result} %a0, i32 %a1)",
            f"  ret {result} %r",
        ]
    return None


def _integers(name: str, result: str, parameters: list[str]) -> list[str] | None:
    """Return the body of a function of integers, or of one that tests or converts floats."""
    kind = parameters[0] if parameters else ""
    wide = {"i32": "i64", "i64": "i128"}.get(kind, "")
    simple = {
        "popc": f"  %r = call {kind} @llvm.ctpop.{kind}({kind} %a0)",
        "clz": f"  %r = call {kind} @llvm.ctlz.{kind}({kind} %a0, i1 false)",
        "brev": f"  %r = call {kind} @llvm.bitreverse.{kind}({kind} %a0)",
        "abs": f"  %r = call {kind} @llvm.abs.{kind}({kind} %a0, i1 false)",
        "min": f"  %r = call {kind} @llvm.smin.{kind}({kind} %a0, {kind} %a1)",
        "max": f"  %r = call {kind} @llvm.smax.{kind}({kind} %a0, {kind} %a1)",
        "umin": f"  %r = call {kind} @llvm.umin.{kind}({kind} %a0, {kind} %a1)",
        "umax": f"  %r = call {kind} @llvm.umax.{kind}({kind} %a0, {kind} %a1)",
    }
    plain = name.removeprefix("ll").removesuffix("ll") if name != "ll" else name
    plain = {"ullmin": "umin", "ullmax": "umax"}.get(name, plain)
    if plain in simple and wide:
        cast = result if result != kind else ""
        return [
            simple[plain],
            f"  %n = trunc {kind} %r to {cast}" if cast else "",
            f"  ret {result} %{'n' if cast else 'r'}",
        ]
    if plain == "ffs" and wide:
        lines = [f"  %z = call {kind} @llvm.cttz.{kind}({kind} %a0, i1 false)", f"  %p = add {kind} %z, 1",
                 f"  %c = icmp eq {kind} %a0, 0", f"  %r = select i1 %c, {kind} 0, {kind} %p"]  # fmt: skip
        narrowed = [f"  %n = trunc {kind} %r to {result}"] if result != kind else []
        return [*lines, *narrowed, f"  ret {result} %{'n' if narrowed else 'r'}"]
    if re.fullmatch(r"u?(mulhi|mul64hi)", name) and wide:
        extend = "zext" if name.startswith("u") else "sext"
        return [f"  %x = {extend} {kind} %a0 to {wide}", f"  %y = {extend} {kind} %a1 to {wide}",
                f"  %m = mul {wide} %x, %y", f"  %h = lshr {wide} %m, {kind[1:]}",
                f"  %r = trunc {wide} %h to {kind}", f"  ret {kind} %r"]  # fmt: skip
    if kind in ("float", "double") and len(parameters) == 1:
        return _tested(name, result, kind) or _to_integer(name, result, kind)
    return None


def _tested(name: str, result: str, kind: str) -> list[str] | None:
    suffix = FLOATS[kind]
    tests = {
        "isnan": "  %c = fcmp uno {k} %a0, %a0",
        "isinf": "  %f = call {k} @llvm.fabs.{s}({k} %a0)\n  %c = fcmp oeq {k} %f, 0x7FF0000000000000",
        "finite": "  %f = call {k} @llvm.fabs.{s}({k} %a0)\n  %c = fcmp olt {k} %f, 0x7FF0000000000000",
    }
    plain = (
        re.sub(r"^(is|)(nan|inf|finite).*$", r"\1\2", name).removeprefix("is")
        if name.startswith("is")
        else ""
    )
    key = {"nan": "isnan", "inf": "isinf", "finite": "finite"}.get(
        plain, "finite" if "finite" in name else ""
    )
    if name.startswith("signbit"):
        bits = {"float": "i32", "double": "i64"}[kind]
        return [f"  %b = bitcast {kind} %a0 to {bits}", f"  %c = icmp slt {bits} %b, 0",
                f"  %r = zext i1 %c to {result}", f"  ret {result} %r"]  # fmt: skip
    if not key:
        return None
    return [tests[key].format(k=kind, s=suffix), f"  %r = zext i1 %c to {result}", f"  ret {result} %r"]


def _to_integer(name: str, result: str, kind: str) -> list[str] | None:
    if not result.startswith("i"):
        return None
    if "_as_" in name or name in ("double2loint", "double2hiint"):
        if name == "double2hiint":
            return [
                "  %b = bitcast double %a0 to i64",
                "  %h = lshr i64 %b, 32",
                "  %r = trunc i64 %h to i32",
                "  ret i32 %r",
            ]
        if name == "double2loint":
            return ["  %b = bitcast double %a0 to i64", "  %r = trunc i64 %b to i32", "  ret i32 %r"]
        return [f"  %r = bitcast {kind} %a0 to {result}", f"  ret {result} %r"]
    if name.startswith("ilogb"):
        return None
    return _rounded_to_integer(name, result, kind)


def _rounded_to_integer(name: str, result: str, kind: str) -> list[str]:
    """Convert a float as its name says: saturating, rounded to nearest (rn), down (rd), up (ru), or towards 0."""
    operation = {"rn": "roundeven", "rd": "floor", "ru": "ceil", "rz": "trunc"}.get(name[-2:], "")
    if re.match(r"l?l?rint", name):
        operation = "roundeven"
    elif re.match(r"l?l?round", name):
        operation = "round"
    unsigned = re.match(r"[fd]2ui|[fd]2ull|(float|double|half)2(uint|ull|ushort|uchar)", name)
    convert = "fptoui" if unsigned else "fptosi"
    suffix = FLOATS[kind]
    lines = [f"  %x = call {kind} @llvm.{operation or 'trunc'}.{suffix}({kind} %a0)"]
    return [
        *lines,
        f"  %r = call {result} @llvm.{convert}.sat.{result}.{suffix}({kind} %x)",
        f"  ret {result} %r",
    ]


def _with_pointers(name: str, parameters: list[str]) -> list[str] | None:
    """Return the body of a function that stores a second result through a pointer."""
    kind = parameters[0] if parameters else ""
    if kind not in ("float", "double"):
        return None
    suffix = FLOATS[kind]
    plain = name.removesuffix("f") if kind == "float" else name
    if plain in ("sincos", "fast_sincos"):
        return [
            f"  %s = call {kind} @llvm.sin.{suffix}({kind} %a0)", f"  store {kind} %s, ptr %a1",
            f"  %c = call {kind} @llvm.cos.{suffix}({kind} %a0)", f"  store {kind} %c, ptr %a2", "  ret void",
        ]  # fmt: skip
    if plain == "modf":
        return [f"  %t = call {kind} @llvm.trunc.{suffix}({kind} %a0)", f"  store {kind} %t, ptr %a1",
                f"  %r = fsub {kind} %a0, %t", f"  ret {kind} %r"]  # fmt: skip
    if plain == "frexp":
        return [f"  %p = call {{ {kind}, i32 }} @llvm.frexp.{suffix}.i32({kind} %a0)",
                f"  %e = extractvalue {{ {kind}, i32 }} %p, 1", "  store i32 %e, ptr %a1",
                f"  %r = extractvalue {{ {kind}, i32 }} %p, 0", f"  ret {kind} %r"]  # fmt: skip
    return None


# NVVM's intrinsics, without the prefix llvm.nvvm.

_UNARY = {
    "ex2": "exp2", "lg2": "log2", "sqrt": "sqrt", "sin": "sin", "cos": "cos", "fabs": "fabs", "ceil": "ceil",
    "floor": "floor", "trunc": "trunc", "round": "round", "tanh": "tanh", "neg": "",
}  # fmt: skip


def _nvvm(name: str, result: str, parameters: list[str]) -> list[str] | None:
    operation = name.partition(".")[0]
    if result in FLOATS and set(parameters) == {result}:
        return _nvvm_float(operation, name, result, len(parameters))
    if operation == "lohi":
        return ["  %l = zext i32 %a0 to i64", "  %h = zext i32 %a1 to i64", "  %s = shl i64 %h, 32",
                "  %o = or i64 %s, %l", "  %r = bitcast i64 %o to double", "  ret double %r"]  # fmt: skip
    if name in ("d2i.lo", "d2i.hi"):
        return _to_integer({"d2i.lo": "double2loint", "d2i.hi": "double2hiint"}[name], "i32", "double")
    if operation.startswith("bitcast"):
        return [f"  %r = bitcast {parameters[0]} %a0 to {result}", f"  ret {result} %r"]
    if operation in ("mulhi", "mul24", "min", "max", "abs"):
        kind = name.split(".")[1]
        unsigned = kind.startswith("u")
        if operation == "mulhi":
            return _integers("umulhi" if unsigned else "mulhi", result, parameters)
        return _integers(f"{'u' if unsigned else ''}{operation}", result, parameters)
    conversion = re.fullmatch(r"(f|d|h|i|ui|ll|ull)2(f|d|h|i|ui|ll|ull)\.(r[nzud])(\.ftz)?", name)
    return (
        _nvvm_conversion(conversion, result, parameters[0]) if conversion and len(parameters) == 1 else None
    )


def _nvvm_float(operation: str, name: str, kind: str, count: int) -> list[str] | None:
    suffix = FLOATS[kind]
    if operation in ("add", "mul", "div", "sub"):
        return [f"  %r = f{operation} {kind} %a0, %a1", f"  ret {kind} %r"]
    if operation == "fma":
        return _intrinsic("fma", kind, 3)
    if operation in ("fmin", "fmax"):
        return _intrinsic(f"{operation[1:]}num", kind, 2)
    if operation == "rcp":
        return [f"  %r = fdiv {kind} 1.0, %a0", f"  ret {kind} %r"]
    if operation == "rsqrt":
        return [
            f"  %s = call {kind} @llvm.sqrt.{suffix}({kind} %a0)",
            f"  %r = fdiv {kind} 1.0, %s",
            f"  ret {kind} %r",
        ]
    if operation == "saturate":
        return [f"  %m = call {kind} @llvm.maxnum.{suffix}({kind} %a0, {kind} 0.0)",
                f"  %r = call {kind} @llvm.minnum.{suffix}({kind} %m, {kind} 1.0)", f"  ret {kind} %r"]  # fmt: skip
    if operation == "neg":
        return [f"  %r = fneg {kind} %a0", f"  ret {kind} %r"]
    return _intrinsic(_UNARY[operation], kind, 1) if operation in _UNARY and count == 1 else None


def _nvvm_conversion(match: re.Match[str], result: str, source: str) -> list[str]:
    """Convert between floats and integers."""
    if source.startswith("i"):
        operation = "uitofp" if match[1].startswith("u") else "sitofp"
        return [f"  %r = {operation} {source} %a0 to {result}", f"  ret {result} %r"]
    if result in FLOATS:
        operation = "fptrunc" if list(FLOATS).index(result) < list(FLOATS).index(source) else "fpext"
        return [f"  %r = {operation} {source} %a0 to {result}", f"  ret {result} %r"]
    return _rounded_to_integer(f"{match[1]}2{match[2]}_{match[3]}", result, source)


# Half floats: numba-cuda calls `shims`, CUDA C++ functions that were compiled on a machine with a GPU. Their first
# parameter points to the result, the others to the arguments.

_OPERATORS = {
    "ml": "fmul", "pl": "fadd", "mi": "fsub", "dv": "fdiv", "eq": "oeq", "ne": "une", "gt": "ogt", "ge": "oge",
    "lt": "olt", "le": "ole",
}  # fmt: skip
_HALF_FUNCTIONS = {
    "__hadd": "fadd", "__hsub": "fsub", "__hmul": "fmul", "__hdiv": "fdiv", "__hadd_rn": "fadd", "__hsub_rn": "fsub",
    "__hmul_rn": "fmul", "__heq": "oeq", "__hne": "une", "__hgt": "ogt", "__hge": "oge", "__hlt": "olt",
    "__hle": "ole", "__hequ": "ueq", "__hneu": "une", "__hgtu": "ugt", "__hgeu": "uge", "__hltu": "ult",
    "__hleu": "ule", "__hisnan": "uno",
}  # fmt: skip
_HALF_INTRINSICS = {
    "hsqrt": "sqrt", "hceil": "ceil", "hfloor": "floor", "htrunc": "trunc", "hrint": "roundeven", "__habs": "fabs",
    "__hmax": "maxnum", "__hmin": "minnum", "__hmax_nan": "maximum", "__hmin_nan": "minimum", "__hfma": "fma",
}  # fmt: skip
# Functions by a GPU's instructions: the intrinsic, and factors of argument and result.
_LOG2_E, _LOG2_10, _LN_2, _LOG10_2 = (
    "0x3FF7154760000000",
    "0x400A934F00000000",
    "0x3FE62E4300000000",
    "0x3FD3441360000000",
)
_HALF_APPROXIMATE = {
    "hsin": ("sin", "", ""), "hcos": ("cos", "", ""), "hexp2": ("ex2", "", ""), "hexp": ("ex2", _LOG2_E, ""),
    "hexp10": ("ex2", _LOG2_10, ""), "hlog2": ("lg2", "", ""), "hlog": ("lg2", "", _LN_2),
    "hlog10": ("lg2", "", _LOG10_2),
}  # fmt: skip


def shim_definition(name: str, parameters: list[str]) -> list[str] | None:
    """Return the body of a shim of half floats; None for any other function."""
    if not name.endswith("_nbst") or "half" not in name:
        return None
    operator = re.fullmatch(r"_Z([a-z]{2})RK6__half(S1_)?_nbst", name)
    function = re.match(r"_ZL?(\d+)", name)
    if operator:
        return _half_operator(operator[1])
    if name.startswith("_ZN6__halfC1E"):
        return _half_conversion("half", name.removeprefix("_ZN6__halfC1E")[0], 1, 2)
    if not function:
        return None
    start = function.end()
    called = name[start : start + int(function[1])]
    return _half_function(called, name[start + int(function[1])])


def _half_operator(code: str) -> list[str] | None:
    if code in ("ng", "ps"):
        operation = "fneg half %x" if code == "ng" else "fadd half %x, 0xH8000"
        return ["  %x = load half, ptr %a1", f"  %r = {operation}", "  store half %r, ptr %a0", "  ret i32 0"]
    return _half_binary(_OPERATORS[code]) if code in _OPERATORS else None


def _half_binary(operation: str) -> list[str]:
    lines = ["  %x = load half, ptr %a1", "  %y = load half, ptr %a2"]
    if operation.startswith("f"):
        return [*lines, f"  %r = {operation} half %x, %y", "  store half %r, ptr %a0", "  ret i32 0"]
    return [*lines, f"  %c = fcmp {operation} half %x, %y", "  %r = zext i1 %c to i8", "  store i8 %r, ptr %a0",
            "  ret i32 0"]  # fmt: skip


def _half_function(name: str, argument: str) -> list[str] | None:
    if name == "__hisnan":
        return ["  %x = load half, ptr %a1", "  %c = fcmp uno half %x, %x", "  %r = zext i1 %c to i32",
                "  store i32 %r, ptr %a0", "  ret i32 0"]  # fmt: skip
    if name in _HALF_FUNCTIONS:
        return _half_binary(_HALF_FUNCTIONS[name])
    if name in _HALF_INTRINSICS:
        return _half_intrinsic(_HALF_INTRINSICS[name])
    if name in _HALF_APPROXIMATE:
        return _half_approximate(*_HALF_APPROXIMATE[name])
    if name in ("htanh", "htanh_approx"):
        return ["  %h = load half, ptr %a1", "  %w = fpext half %h to float", f"  %s = fmul float %w, {_LOG2_E}",
                "  %t = fadd float %s, %s", "  %e = call float @llvm.nvvm.ex2.approx.f(float %t)",
                "  %p = fadd float %e, 1.0", "  %q = fdiv float 2.0, %p", "  %f = fsub float 1.0, %q",
                "  %r = fptrunc float %f to half", "  store half %r, ptr %a0", "  ret i32 0"]  # fmt: skip
    if name in ("__hneg",):
        return _half_operator("ng")
    if name in ("hrsqrt", "hrcp"):
        root = (
            ["  %s = call float @llvm.sqrt.f32(float %w)"]
            if name == "hrsqrt"
            else ["  %s = fadd float %w, 0.0"]
        )
        return ["  %x = load half, ptr %a1", "  %w = fpext half %x to float", *root, "  %i = fdiv float 1.0, %s",
                "  %r = fptrunc float %i to half", "  store half %r, ptr %a0", "  ret i32 0"]  # fmt: skip
    to = re.fullmatch(r"__half2(float|int|uint|ll|ull|short|ushort|char|uchar)(_r[nzud])?", name)
    if to:
        return _half_conversion(to[1], "H", 0, 1, to[2] or "_rz")
    if re.fullmatch(r"__(float|double|int|uint|ll|ull|short|ushort)2half(_r[nzud])?", name):
        return _half_conversion("half", argument, 0, 1)
    if re.fullmatch(r"__(u?short_as_half|half_as_u?short)", name):
        return ["  %x = load i16, ptr %a1", "  store i16 %x, ptr %a0", "  ret i32 0"]
    return None


def _half_approximate(operation: str, before: str, after: str) -> list[str]:
    """Return a function that uses one of a GPU's approximations; before, after: factors of argument and result."""
    lines = ["  %h = load half, ptr %a1", "  %w = fpext half %h to float"]
    lines.append(f"  %x = fmul float %w, {before or '1.0'}")
    lines.append(f"  %y = call float @llvm.nvvm.{operation}.approx.f(float %x)")
    lines.append(f"  %f = fmul float %y, {after or '1.0'}")
    return [*lines, "  %r = fptrunc float %f to half", "  store half %r, ptr %a0", "  ret i32 0"]


def _half_intrinsic(operation: str) -> list[str]:
    count = {"fma": 3, "maxnum": 2, "minnum": 2, "maximum": 2, "minimum": 2}.get(operation, 1)
    lines = []
    for i in range(count):
        lines += [f"  %x{i} = load half, ptr %a{i + 1}", f"  %w{i} = fpext half %x{i} to float"]
    arguments = ", ".join(f"float %w{i}" for i in range(count))
    return [*lines, f"  %d = call float @llvm.{operation}.f32({arguments})", "  %r = fptrunc float %d to half",
            "  store half %r, ptr %a0", "  ret i32 0"]  # fmt: skip


_INTEGERS = {
    "int": "i32",
    "uint": "i32",
    "ll": "i64",
    "ull": "i64",
    "short": "i16",
    "ushort": "i16",
    "char": "i8",
    "uchar": "i8",
}


def _half_conversion(
    to: str, letter: str, target: int, source: int, rounding: str = "_rn"
) -> list[str] | None:
    """Convert from or to a half float; letter: of the source's mangled type."""
    end = ["  ret i32 0"]
    if to == "half":
        if letter in "fd":
            kind = "float" if letter == "f" else "double"
            return [f"  %x = load {kind}, ptr %a{source}", f"  %r = fptrunc {kind} %x to half",
                    f"  store half %r, ptr %a{target}", *end]  # fmt: skip
        if letter not in _WIDTH:
            return None
        kind, operation = f"i{_WIDTH[letter]}", "sitofp" if letter in SIGNED else "uitofp"
        return [f"  %x = load {kind}, ptr %a{source}", f"  %r = {operation} {kind} %x to half",
                f"  store half %r, ptr %a{target}", *end]  # fmt: skip
    load = [f"  %h = load half, ptr %a{source}", "  %a9 = fpext half %h to float"]
    if to == "float":
        return [*load, f"  store float %a9, ptr %a{target}", *end]
    body = _rounded_to_integer(f"half2{to}{rounding}", _INTEGERS[to], "float")
    lines = [line.replace("%a0", "%a9") for line in body[:-1]]
    return [*load, *lines, f"  store {_INTEGERS[to]} %r, ptr %a{target}", *end]
