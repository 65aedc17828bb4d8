"""Finds in Numba's IR why an operation is float64: the constants, arguments and integers that caused it.

An integer of 32 bits or more and a float32 give a float64 ("Types and signatures" in Numba's manual, after NumPy's
promotion). So `a[i] * 2` is a float64, also if 2 is in a variable.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

WIDE_INTEGERS = ("int32", "int64", "uint32", "uint64")  # narrower integers keep a float32
OPERATORS: dict[str, type[ast.operator]] = {
    "add": ast.Add, "sub": ast.Sub, "mul": ast.Mult, "truediv": ast.Div, "floordiv": ast.FloorDiv, "mod": ast.Mod,
    "pow": ast.Pow, "lshift": ast.LShift, "rshift": ast.RShift, "and_": ast.BitAnd, "or_": ast.BitOr, "xor": ast.BitXor,
}  # fmt: skip
MAX_DEPTH = 8  # nested operations in the text of an expression; deeper parts appear by Numba's names
CONSTANT_KINDS = ("Const", "Global", "FreeVar")
Definitions = dict[str, list[Any]]  # the statements that assign to each variable
Cause = tuple[str, int, str]  # what made an operation float64, its line (0 for none), and the remedy


def is_double(kind: Any) -> bool:
    """Check whether a type of Numba's is float64 or complex128."""
    return str(kind) in ("float64", "complex128")


def operands(value: Any) -> list[str]:
    """Return the names of a value's operands."""
    if hasattr(value, "list_vars"):
        return [variable.name for variable in value.list_vars()]
    return [value.name] if type(value).__name__ == "Var" else []


def float64_causes(function: Any, definitions: Definitions, statement: Any) -> Iterator[Cause]:
    """Find all causes that make an operation float64; each of them must be fixed."""
    waiting, seen = [statement], set()
    while waiting:
        statement = waiting.pop(0)
        if id(statement) in seen:
            continue
        seen.add(id(statement))
        doubles = [name for name in operands(statement.value) if is_double(function.typemap.get(name))]
        waiting += [definition for name in doubles for definition in definitions.get(name, [])]
        yield from _wide_integer_causes(function, definitions, statement)
        if not doubles:
            yield from _other_causes(function, definitions, statement)


def operator_name(value: Any) -> str:
    """Return the name of an expression's operator, such as add for + and +=; "" for anything else."""
    fn = {"binop": "fn", "unary": "fn", "inplace_binop": "immutable_fn"}.get(getattr(value, "op", ""))
    return str(getattr(value, fn).__name__) if fn else ""


def _wide_integer_causes(function: Any, definitions: Definitions, statement: Any) -> Iterator[Cause]:
    """Yield the integers that make an operation, or a variable of several types, float64."""
    value, name = statement.value, operator_name(statement.value)
    called = _called(function, value)
    if (
        type(value).__name__ == "Expr"
        and name not in OPERATORS
        and (called is None or hasattr(called, "dispatcher"))
    ):
        return
    inputs = [operand for operand in operands(value) if called is None or operand != value.func.name]
    if name == "pow":
        inputs = [value.lhs.name]  # a float32 ** 2 is a float32
    wide = [operand for operand in inputs if _is_wide_integer(function.typemap.get(operand))]
    if name == "truediv" and len(wide) == len(inputs):
        yield "the division of whole numbers", statement.loc.line, "use // or divide float32 numbers"
        return
    for operand in wide:
        text = _text(definitions, operand)
        yield f"the whole number {text}", _line(definitions, operand, statement), f"write float32({text})"


def _called(function: Any, value: Any) -> Any:
    """Return the type of the function that a value calls, None if it is not a call."""
    return function.typemap[value.func.name] if getattr(value, "op", "") == "call" else None


def _is_wide_integer(kind: Any) -> bool:
    return str(kind) in WIDE_INTEGERS or str(kind).startswith("Literal[int]")


def _line(definitions: Definitions, name: str, statement: Any) -> int:
    """Return the line of a constant, or for another value the line of the statement that uses it."""
    assignments = definitions.get(name, [])
    return int(
        (
            assignments[0]
            if len(assignments) == 1 and type(assignments[0].value).__name__ == "Const"
            else statement
        ).loc.line
    )


def _other_causes(function: Any, definitions: Definitions, statement: Any) -> Iterator[Cause]:
    """Yield the causes of a float64 result other than integers."""
    value, line = statement.value, statement.loc.line
    kind, wanted = type(value).__name__, _narrower(function.typemap.get(statement.target.name))
    if kind == "Const":
        yield f"{value.value!r}", line, f"write {wanted}({value.value!r})"
    elif kind == "Arg":
        yield f"the argument {value.name}", 0, f"pass {value.name} as {wanted}"
    elif kind in CONSTANT_KINDS:
        yield f"the constant {value.name}", 0, f"make it numpy.{wanted}({value.value!r})"
    elif hasattr(_called(function, value), "dispatcher"):
        name = _text(definitions, value.func.name)
        yield f"{name}(), which returns float64", line, f"let {name} return {wanted}"
    elif called := _called_and_unpacked(function, definitions, value):
        yield f"{called}(), which returns float64", line, f"let {called} return {wanted}"
    elif kind == "Expr" and value.op in ("getattr", "getitem", "static_getitem"):
        text = _unpacked_to(definitions, statement.target.name) or _text(definitions, statement.target.name)
        yield text, line, f"write {wanted}({text})"


def _unpacked(definitions: Definitions, value: Any) -> Any:
    """Return the sequence that a value is unpacked from, as in `x, y = p[i]`; None if it is not unpacked."""
    if getattr(value, "op", "") != "static_getitem":
        return None
    assignments = definitions.get(value.value.name, [])
    sequence = assignments[0].value if len(assignments) == 1 else None
    if sequence is None or getattr(sequence, "op", "") != "exhaust_iter":
        return None
    assignments = definitions.get(sequence.value.name, [])
    is_written = (
        len(assignments) == 1 and getattr(assignments[0].value, "op", "") == "build_tuple"
    )  # x, n = 0.0, 0
    return None if is_written else sequence


def _called_and_unpacked(function: Any, definitions: Definitions, value: Any) -> str:
    """Return the name of the function whose result a value is unpacked from; "" for none."""
    sequence = _unpacked(definitions, value)
    assignments = definitions.get(sequence.value.name, []) if sequence is not None else []
    if len(assignments) != 1 or not hasattr(_called(function, assignments[0].value), "dispatcher"):
        return ""
    return _text(definitions, assignments[0].value.func.name)


def _unpacked_to(definitions: Definitions, name: str) -> str:
    """Return the variable that an unpacked value is assigned to; "" if the value is not unpacked."""
    assignments = definitions.get(name, [])
    if len(assignments) != 1 or _unpacked(definitions, assignments[0].value) is None:
        return ""
    targets = (
        target
        for target, statements in definitions.items()
        for statement in statements
        if not target.startswith("$")
        and type(statement.value).__name__ == "Var"
        and statement.value.name == name
    )
    return next(targets, "").partition(".")[0]


def _narrower(kind: Any) -> str:
    return "complex64" if str(kind) == "complex128" else "float32"


def _text(definitions: Definitions, name: str) -> str:
    """Reconstruct the source text of a value: n, a.shape[0], (n + 1) * (n + 2)."""
    return ast.unparse(_expression(definitions, name, MAX_DEPTH))


def _expression(definitions: Definitions, name: str, depth: int) -> ast.expr:
    assignments = definitions.get(name, [])
    value = assignments[0].value if len(assignments) == 1 else None
    kind = type(value).__name__
    if kind == "Const" and value is not None:
        return ast.Constant(value.value)
    if not name.startswith("$") or value is None or not depth:
        return ast.Name(name.partition(".")[0].lstrip("$"))
    if kind in ("Global", "FreeVar"):
        return ast.Name(str(value.name))
    if kind in ("Var", "Arg"):
        return _expression(definitions, value.name, depth)
    return _operation(definitions, value, depth - 1)


def _operation(definitions: Definitions, value: Any, depth: int) -> ast.expr:
    def part(variable: Any) -> ast.expr:
        return _expression(definitions, variable.name, depth)

    sign = operator_name(value)
    if sign in OPERATORS:
        return ast.BinOp(part(value.lhs), OPERATORS[sign](), part(value.rhs))
    if sign in ("neg", "pos"):
        return ast.UnaryOp(ast.USub() if sign == "neg" else ast.UAdd(), part(value.value))
    if value.op in ("cast", "exhaust_iter"):
        return part(value.value)
    if value.op == "getattr":
        return ast.Attribute(part(value.value), value.attr)
    if value.op in ("getitem", "static_getitem"):
        index = ast.Constant(value.index) if value.op == "static_getitem" else part(value.index)
        return _element(part(value.value), index)
    if value.op == "call":
        return ast.Call(part(value.func), [part(argument) for argument in value.args], [])
    return ast.Tuple([part(variable) for variable in value.list_vars()])


def _element(sequence: ast.expr, index: ast.expr) -> ast.expr:
    """Build the expression for an element of a sequence; an element of a tuple display is returned itself."""
    number = index.value if isinstance(index, ast.Constant) else None
    if isinstance(number, int) and isinstance(sequence, ast.Tuple):
        return sequence.elts[number]
    if isinstance(number, int) and isinstance(sequence, ast.Constant) and isinstance(sequence.value, tuple):
        return ast.Constant(sequence.value[number])
    return ast.Subscript(sequence, index)
