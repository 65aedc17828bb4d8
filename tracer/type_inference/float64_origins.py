"""Why an operation is float64 to Numba: the numbers, arguments and whole numbers that made it so, in its IR.

A whole number of 32 bits or more and a float32 give a float64 ("Types and signatures" in Numba's manual, after
NumPy's promotion), so that `a[i] * 2` is one, and stays one where 2 is a variable.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

WIDE_INTEGERS = ("int32", "int64", "uint32", "uint64")  # those of fewer bits leave a float32 as it is
OPERATORS: dict[str, type[ast.operator]] = {
    "add": ast.Add, "sub": ast.Sub, "mul": ast.Mult, "truediv": ast.Div, "floordiv": ast.FloorDiv, "mod": ast.Mod,
    "pow": ast.Pow, "lshift": ast.LShift, "rshift": ast.RShift, "and_": ast.BitAnd, "or_": ast.BitOr, "xor": ast.BitXor,
}  # fmt: skip
DEEPEST = (
    8  # operations in an expression that is named; of a deeper one, the names that Numba gives to its parts
)
CONSTANT_KINDS = ("Const", "Global", "FreeVar")
Definitions = dict[str, list[Any]]  # the statements that give each variable a value
Cause = tuple[str, int, str]  # what made an operation float64, on which line (0 for none), and what helps


def is_double(kind: Any) -> bool:
    """Return whether a type of Numba's is a float64, or a complex number of two."""
    return str(kind) in ("float64", "complex128")


def operands(value: Any) -> list[str]:
    """Return the variables that a value is made of."""
    if hasattr(value, "list_vars"):
        return [variable.name for variable in value.list_vars()]
    return [value.name] if type(value).__name__ == "Var" else []


def float64_causes(function: Any, definitions: Definitions, statement: Any) -> Iterator[Cause]:
    """Return all that made an operation float64: it stays so until each of these is mended."""
    waiting, seen = [statement], set()
    while waiting:
        statement = waiting.pop(0)
        if id(statement) in seen:
            continue
        seen.add(id(statement))
        doubles = [name for name in operands(statement.value) if is_double(function.typemap.get(name))]
        waiting += [made for name in doubles for made in definitions.get(name, [])]
        yield from _wide_integer_causes(function, definitions, statement)
        if not doubles:
            yield from _other_causes(function, definitions, statement)


def operator_name(value: Any) -> str:
    """Return the name of an operator that makes a value: add for + and +=; "" for anything else."""
    fn = {"binop": "fn", "unary": "fn", "inplace_binop": "immutable_fn"}.get(getattr(value, "op", ""))
    return str(getattr(value, fn).__name__) if fn else ""


def _wide_integer_causes(function: Any, definitions: Definitions, statement: Any) -> Iterator[Cause]:
    """Return the whole numbers that make an operation, or a variable of several types, float64."""
    value, name = statement.value, operator_name(statement.value)
    called = _called(function, value)
    if (
        type(value).__name__ == "Expr"
        and name not in OPERATORS
        and (called is None or hasattr(called, "dispatcher"))
    ):
        return
    inputs = [v for v in operands(value) if called is None or v != value.func.name]
    if name == "pow":
        inputs = [value.lhs.name]  # a float32 ** 2 is a float32
    wide = [v for v in inputs if _is_wide_integer(function.typemap.get(v))]
    if name == "truediv" and len(wide) == len(inputs):
        yield "the division of whole numbers", statement.loc.line, "use // or divide float32 numbers"
        return
    for one in wide:
        text = _text(definitions, one)
        yield f"the whole number {text}", _line(definitions, one, statement), f"write float32({text})"


def _called(function: Any, value: Any) -> Any:
    """Return the type of the function that makes a value, None where none does."""
    return function.typemap[value.func.name] if getattr(value, "op", "") == "call" else None


def _is_wide_integer(kind: Any) -> bool:
    return str(kind) in WIDE_INTEGERS or str(kind).startswith("Literal[int]")


def _line(definitions: Definitions, name: str, statement: Any) -> int:
    """Return the line of a constant, or else of the statement that uses it."""
    made = definitions.get(name, [])
    return int(
        (made[0] if len(made) == 1 and type(made[0].value).__name__ == "Const" else statement).loc.line
    )


def _other_causes(function: Any, definitions: Definitions, statement: Any) -> Iterator[Cause]:
    """Return what it is where a statement makes float64 of anything but whole numbers."""
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
    """Return what is unpacked, as `x, y = p[i]` does, where a value is one part of it; None where it is not."""
    if getattr(value, "op", "") != "static_getitem":
        return None
    made = definitions.get(value.value.name, [])
    sequence = made[0].value if len(made) == 1 else None
    if sequence is None or getattr(sequence, "op", "") != "exhaust_iter":
        return None
    made = definitions.get(sequence.value.name, [])
    is_written = len(made) == 1 and getattr(made[0].value, "op", "") == "build_tuple"  # x, n = 0.0, 0
    return None if is_written else sequence


def _called_and_unpacked(function: Any, definitions: Definitions, value: Any) -> str:
    """Return the name of the function that returns what is unpacked; "" where none does."""
    sequence = _unpacked(definitions, value)
    made = definitions.get(sequence.value.name, []) if sequence is not None else []
    if len(made) != 1 or not hasattr(_called(function, made[0].value), "dispatcher"):
        return ""
    return _text(definitions, made[0].value.func.name)


def _unpacked_to(definitions: Definitions, name: str) -> str:
    """Return the variable that a part of what is unpacked is given to; "" where it is no such part."""
    made = definitions.get(name, [])
    if len(made) != 1 or _unpacked(definitions, made[0].value) is None:
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
    """Return how the source may have named a value: n, a.shape[0], (n + 1) * (n + 2)."""
    return ast.unparse(_expression(definitions, name, DEEPEST))


def _expression(definitions: Definitions, name: str, depth: int) -> ast.expr:
    made = definitions.get(name, [])
    value = made[0].value if len(made) == 1 else None
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
    """Return an element of what a source names; of a tuple without a name, as `x, n = 0.0, 0` has it, that itself."""
    number = index.value if isinstance(index, ast.Constant) else None
    if isinstance(number, int) and isinstance(sequence, ast.Tuple):
        return sequence.elts[number]
    if isinstance(number, int) and isinstance(sequence, ast.Constant) and isinstance(sequence.value, tuple):
        return ast.Constant(sequence.value[number])
    return ast.Subscript(sequence, index)
