"""What Numba's type inference says of a kernel; run as a process: a launch in, its float64 operations out.

`python -m tilescope.tracer.inference` reads a launch as JSON and writes a line of JSON, a list of Operation.
Needs Numba's real CUDA target, so the simulator must be off; needs neither GPU nor CUDA toolkit.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import msgspec
import numpy as np

from .launch import Array, Launch, decode
from .loading import constants_of, load_kernel
from .types_findings import Operation

CAPABILITY = (7, 5)  # types don't depend on it


def main() -> None:
    """Answer one launch."""
    warnings.simplefilter("ignore")
    launch = decode(sys.stdin.read())
    answer, sys.stdout = sys.stdout, sys.stderr  # where the kernel's file prints
    answer.write(msgspec.json.encode(float64_operations(launch)).decode() + "\n")


def float64_operations(launch: Launch) -> list[Operation]:
    """Return the operations of the kernel and its device functions that are computed in float64.

    None where some array holds float64, or the source names that type: it is meant then.
    """
    from numba import typeof

    module, kernel = load_kernel(launch)
    constants_of(module, launch)
    given = [
        np.empty((1,) * len(a.shape), a.dtype) if isinstance(a, Array) else a.value for a in launch.arguments
    ]
    functions = list(_inferred(kernel.py_func, tuple(typeof(value) for value in given)))
    if not _narrow([t for function in functions for t in function.typemap.values()]):
        return []
    return [operation for function in functions for operation in _operations(function)]


def _inferred(function: Any, arguments: tuple[Any, ...]) -> Iterator[Any]:
    """Return the type annotations of a function and of the device functions that it calls, each once."""
    from numba.cuda import compiler, dispatcher

    device = SimpleNamespace(compute_capability=CAPABILITY)
    dispatcher.get_current_device = lambda: device  # where there is none: asked for by device functions
    waiting = [compiler.compile_cuda(function, None, arguments, cc=CAPABILITY).type_annotation]
    seen: set[int] = set()
    while waiting:
        annotation = waiting.pop()
        if id(annotation) not in seen:
            seen.add(id(annotation))
            yield annotation
            waiting += _callees(annotation)


def _callees(annotation: Any) -> list[Any]:
    """Return the type annotations of the device functions that a function calls."""
    called = []
    for expression, signature in annotation.calltypes.items():
        is_call = getattr(expression, "op", "") == "call"
        callee: Any = annotation.typemap[expression.func.name] if is_call else None
        if hasattr(callee, "dispatcher"):
            called.append(callee.dispatcher.overloads[signature.args].type_annotation)
    return called


def _narrow(types: list[Any]) -> bool:
    """Return whether there are arrays of floats narrower than float64, none of that, and no mention of it."""
    elements = [t.dtype for t in types if hasattr(t, "dtype") and hasattr(t, "ndim")]
    named = [t for t in types if type(t).__name__ == "NumberClass" and _is_double(t.instance_type)]
    floats = [e for e in elements if type(e).__name__ in ("Float", "Complex")]
    return bool(floats) and not named and not any(_is_double(e) for e in floats)


def _is_double(kind: Any) -> bool:
    return str(kind) in ("float64", "complex128")


def _operations(function: Any) -> Iterator[Operation]:
    """Return the operations of one function whose result is float64."""
    definitions: dict[str, list[Any]] = {}
    for statement in _assignments(function):
        definitions.setdefault(statement.target.name, []).append(statement)
    for statement in _assignments(function):
        name = _name(function, statement.value)
        if name and _is_double(function.typemap[statement.target.name]):
            cause, remedy = _cause(function, definitions, statement)
            yield Operation(function.filename, statement.loc.line, name, cause, remedy)


def _assignments(function: Any) -> Iterator[Any]:
    """Return the statements of Numba's representation that give a variable a value."""
    for block in function.blocks.values():
        yield from (statement for statement in block.body if type(statement).__name__ == "Assign")


def _name(function: Any, value: Any) -> str:
    """Return the name of an arithmetic operation: mul, sqrt; "" for anything else."""
    operation = getattr(value, "op", "")
    if operation in ("binop", "unary"):
        return str(value.fn.__name__)
    if operation == "inplace_binop":
        return str(value.immutable_fn.__name__)
    if operation == "call":
        called = getattr(function.typemap[value.func.name], "typing_key", None)
        known = getattr(called, "__module__", None) == "math" or isinstance(called, np.ufunc)
        return str(called.__name__) if known else ""  # type: ignore[union-attr]  # a function
    return ""


def _cause(function: Any, definitions: dict[str, list[Any]], statement: Any) -> tuple[str, str]:
    """Return what made an operation float64, and the remedy: the first number, argument or division found."""
    waiting, seen = [statement], set()
    while waiting:
        statement = waiting.pop(0)
        if id(statement) in seen:
            continue
        seen.add(id(statement))
        found = _origin(function, statement)
        if found:
            return found
        for name in _operands(statement.value):
            if _is_double(function.typemap.get(name)):
                waiting += definitions.get(name, [])
    return "float64 values in it", "convert them with float32()"


def _origin(function: Any, statement: Any) -> tuple[str, str] | None:
    """Return cause and remedy if a statement brings float64 into being."""
    value, line = statement.value, statement.loc.line
    kind = type(value).__name__
    if kind == "Const":
        return f"{value.value!r} on line {line}, which is float64 to Numba", f"write float32({value.value!r})"
    if kind == "Arg":
        return f"the argument {value.name}, which comes as float64", "pass it as a float32 number"
    if kind in ("Global", "FreeVar"):
        return (
            f"the constant {value.name}, which is float64 to Numba",
            f"make it numpy.float32({value.value!r})",
        )
    operands = [str(function.typemap.get(name)) for name in _operands(value)]
    if getattr(value, "op", "") in ("binop", "inplace_binop") and not any("float" in o for o in operands):
        return f"the division of whole numbers on line {line}", "use // or divide float32 numbers"
    return None


def _operands(value: Any) -> list[str]:
    """Return the variables that a value is made of."""
    if hasattr(value, "list_vars"):
        return [variable.name for variable in value.list_vars()]
    return [value.name] if type(value).__name__ == "Var" else []


if __name__ == "__main__":
    main()
