"""Rewrite the expressions of a kernel: accesses, names of `cuda`, calls."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from functools import reduce
from importlib import import_module
from itertools import zip_longest
from types import FunctionType, ModuleType
from typing import Any

from ...model.registered_functions import is_registered
from ...model.trace import Op
from ...model.vector_types import VECTOR_TYPES
from ...nvidia_math.libdevice_functions import signature_of
from .array_declarations import rewrite_declaration
from .ast_positions import make_call, parse_expression, parse_statement, set_line, set_position
from .constant_arguments import constant_arguments
from .cuda_names import CALLS, EXPRESSIONS, FUNCTIONS, UPDATES
from .gpu_names import OPERATORS, accepts_count, name_of_function
from .rounds import Frame, call_arguments
from .scope import CudaPath, UnknownValueError, source_of
from .waits import THIS_GRID, WAIT_NAMES, make_group_wait, make_wait, this_grid
from .writer import RESERVED_PREFIX, Writer

_CONSTRUCT_NAMES: dict[type, str] = {
    ast.AsyncFunctionDef: "async", ast.ClassDef: "a class", ast.With: "with", ast.Try: "try", ast.Match: "match",
    ast.ListComp: "a comprehension", ast.DictComp: "a comprehension", ast.SetComp: "a comprehension",
    ast.GeneratorExp: "a generator", ast.JoinedStr: "an f-string", ast.Dict: "a dictionary", ast.Set: "a set",
    ast.Import: "an import", ast.ImportFrom: "an import", ast.Delete: "del", ast.Global: "global",
    ast.Nonlocal: "nonlocal", ast.NamedExpr: ":=",
}  # fmt: skip
LIBDEVICE = "libdevice."
_DIVISIONS = (ast.Div, ast.FloorDiv, ast.Mod)
_ARRAY_ATTRIBUTES = ("shape", "strides", "ndim", "itemsize", "nbytes", "dtype")
_VIEW_METHODS = ("transpose", "ravel", "reshape", "view")
_KEPT_NODES = (
    ast.expr_context, ast.operator, ast.unaryop, ast.boolop, ast.cmpop, ast.Constant, ast.Name, ast.Attribute,
    ast.Subscript, ast.Call, ast.keyword, ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.IfExp, ast.Tuple,
    ast.List, ast.Slice, ast.Starred, ast.Expr, ast.Return, ast.Raise, ast.Assert, ast.Pass, ast.Break, ast.Continue,
)  # fmt: skip


class ExpressionRewriter(Writer, ast.NodeTransformer):
    """Rewrites the expressions of one function; the subclass for statements adds `block` and `device`.

    frame: the innermost loop or the function, if rows record rounds.
    """

    frame: Frame | None = None

    def block(self, statements: Sequence[ast.stmt]) -> list[ast.stmt]:
        """Rewrite statements."""
        raise NotImplementedError

    def device(self, name: str) -> ast.FunctionDef:
        """Write a device function."""
        raise NotImplementedError

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if node.id in self.scope.locals:
            return ast.copy_location(ast.Name(self.new_name(node.id), node.ctx), node)
        replacement = self._static_expression(node, node.id)
        if replacement is None and not node.id.startswith(RESERVED_PREFIX):
            self.refuse(node, f"{node.id}, which is not defined")
        return replacement or node

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        replacement = self._static_expression(node, node.attr)
        if replacement is not None:
            return replacement
        self._refuse_missing(node)
        if node.attr in _ARRAY_ATTRIBUTES:
            return self.generic_visit(node)  # type: ignore[no-any-return]
        return self.field(self.visit(node.value), node)

    def _refuse_missing(self, node: ast.Attribute) -> None:
        """Refuse a name that a module does not have."""
        try:
            missing = isinstance(self.scope.value(node.value), ModuleType)
        except UnknownValueError:
            return
        if missing:
            self.refuse(node, f"{ast.unparse(node)}, which does not exist")

    def field(self, record: ast.expr, node: ast.Attribute) -> ast.expr:
        """Return the call that reads an attribute, which may be a field of records."""
        return self.call("_ts_field", [record, ast.Constant(node.attr), self.site(node, Op.LOAD)], node)

    def _static_expression(self, node: ast.expr, stem: str) -> ast.expr | None:
        try:
            value = self.scope.value(node)
        except UnknownValueError:
            return None
        if isinstance(value, CudaPath):
            if value in EXPRESSIONS:
                return parse_expression(EXPRESSIONS[value], node)  # type: ignore[no-any-return]
            self.refuse(node, f"cuda.{value}")
        if self.is_runtime_constant(node, value):
            return self.number((id(self.source.function.__globals__), stem), value, node)
        return self.constant(value, stem, node)

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        is_metadata = isinstance(node.value, ast.Attribute) and node.value.attr in ("shape", "strides")
        if is_metadata:
            return self.generic_visit(node)  # type: ignore[no-any-return]
        member = self._static_expression(node, "member")
        if member is not None:
            return member
        return self.load(self.visit(node.value), self.visit(node.slice), node)

    def load(self, array: ast.expr, index: ast.expr, node: ast.expr) -> ast.expr:
        """Return the call that loads an element."""
        return self.call("_ts_load", [array, index, self.site(node, Op.LOAD)], node)

    def visit_Call(self, node: ast.Call) -> ast.expr:
        if any(k.arg is None for k in node.keywords):
            self.refuse(node, "arguments with **")
        try:
            value = self.scope.value(node.func)
        except UnknownValueError:
            return self._method_call(node) or self._late_bound_call(node)
        if hasattr(value, "py_func"):
            return self._device_call(value.py_func, node)
        if isinstance(value, FunctionType) and is_registered(value):
            return self._device_call(value, node)
        if not any(value is function for function in (zip, max, min, complex)):
            self._refuse_starred(node)
        if isinstance(value, CudaPath):
            return self._cuda_call(value, node)
        if value is print:
            return self._print_call(node)
        if value is divmod and self.program.debug and len(node.args) == 2:
            return make_call(self._checked_division(None, node), [self.visit(a) for a in node.args], node)
        name = name_of_function(value)
        if name and not node.keywords and accepts_count(name, len(node.args)):
            return self._gpu_function_call(name, node)
        return self.generic_visit(node)  # type: ignore[no-any-return]

    def _refuse_starred(self, node: ast.Call) -> None:
        if any(isinstance(a, ast.Starred) for a in node.args):
            self.refuse(node, f"arguments of {ast.unparse(node.func)} with *")

    def _print_call(self, node: ast.Call) -> ast.expr:
        """Return the call that prints values; it loads all values of one statement before the thread's turn."""
        if node.keywords:
            self.refuse(node, f"print with {node.keywords[0].arg}=")
        self.program.prints = True
        values = ast.Tuple([self.visit(a) for a in node.args], ast.Load())
        return self.call("_ts_print", [values], node)

    def visit_Lambda(self, node: ast.Lambda) -> ast.expr:
        with self.nested_scope(node):
            return set_position(ast.Lambda(node.args, self.visit(node.body)), node)  # type: ignore[no-any-return]

    def _gpu_function_call(self, name: str, node: ast.Call) -> ast.expr:
        """Return the call of a function that computes differently on a CPU."""
        parts = [self.visit(a) for a in node.args]
        return (
            reduce(lambda a, b: make_call(name, [a, b], node), parts)
            if len(parts) > 2
            else make_call(name, parts, node)
        )

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        return self.operation(node.op, self.visit(node.left), node.right, self.visit(node.right), node)

    def operation(
        self, op: ast.operator, left: ast.expr, right: ast.expr, visited: ast.expr, node: ast.AST
    ) -> ast.expr:
        """Return an operation; `visited` is the rewritten form of `right`."""
        if self.program.debug and isinstance(op, _DIVISIONS) and not self._is_never_zero(right):
            return make_call(self._checked_division(op, node), [left, visited], node)
        if type(op) in OPERATORS and not self._is_same_on_cpu(op, right):
            return make_call(OPERATORS[type(op)], [left, visited], node)
        return set_position(ast.BinOp(left, op, visited), node)  # type: ignore[no-any-return]

    def _is_never_zero(self, divisor: ast.expr) -> bool:
        """Check if a divisor is a constant other than zero."""
        try:
            value = self.scope.static_value(divisor)
        except UnknownValueError:
            return False
        return isinstance(value, int | float | complex) and value != 0

    def _checked_division(self, op: ast.operator | None, node: ast.AST) -> str:
        """Define a function for a division or divmod that raises at this line for a zero divisor; return its name."""
        name, function = (
            f"{RESERVED_PREFIX}divided_{len(self.program.functions)}",
            OPERATORS.get(type(op), "divmod"),
        )
        quotient = "a / b" if isinstance(op, ast.Div) else f"{function}(a, b)"
        text = (
            f"def {name}(a, b):\n if b == 0: raise ZeroDivisionError('division by zero')\n return {quotient}"
        )
        definition = parse_statement(text, node)
        assert isinstance(definition, ast.FunctionDef)
        self.program.files[name] = (self.caller or self.source).file
        if self.caller is not None:
            set_line(definition, self.caller.line)
        self.program.functions.append(definition)
        return name

    def _is_same_on_cpu(self, op: ast.operator, right: ast.expr) -> bool:
        """Check if CPUs and GPUs compute the same result with this constant."""
        try:
            value = self.scope.static_value(right)
        except UnknownValueError:
            return False
        if not isinstance(value, int):
            return False
        return 0 <= value < 64 if isinstance(op, ast.LShift | ast.RShift) else True

    def _late_bound_call(self, node: ast.Call) -> ast.expr:
        """Return a call that only Numba can resolve: of a method, or of a function that is passed as an argument."""
        if isinstance(node.func, ast.Attribute):
            self._refuse_missing(node.func)
            node.func.value = self.visit(node.func.value)
            node.args = [self.visit(a) for a in node.args]
            node.keywords = [ast.keyword(k.arg, self.visit(k.value)) for k in node.keywords]
            return node
        return self.generic_visit(node)  # type: ignore[no-any-return]

    def _method_call(self, node: ast.Call) -> ast.expr | None:
        """Return the call that replaces a method of an array or group; None for another method."""
        if not isinstance(node.func, ast.Attribute) or node.keywords:
            return None
        if node.func.attr == "sync" and not node.args:
            return make_group_wait(self, self.visit(node.func.value), node)
        if node.func.attr == "bit_count" and not node.args:
            return make_call("_ts_cuda_popc", [self.visit(node.func.value)], node)
        if node.func.attr not in _VIEW_METHODS:
            return None
        array, arguments = self.visit(node.func.value), [self.visit(a) for a in node.args]
        name, count = node.func.attr, len(arguments)
        if name == "transpose" and not count:
            return make_call("_ts_turned", [array], node)
        if name == "ravel" and not count:
            return make_call("_ts_reshape", [array, ast.Constant(-1)], node)
        if name == "reshape" and count:
            shape = arguments[0] if count == 1 else ast.Tuple(arguments, ast.Load())
            return make_call("_ts_reshape", [array, shape], node)
        if name == "view" and count == 1:
            return make_call("_ts_view", [array, *arguments], node)
        return self.refuse(node, f"{name} with {count} arguments")  # type: ignore[no-any-return]

    def _cuda_call(self, path: CudaPath, node: ast.Call) -> ast.expr:
        declared = rewrite_declaration(self, path, node)
        if declared is not None:
            return declared
        if path in ("grid", "gridsize"):
            return self._grid_index(path, node)
        if path in UPDATES:
            return self.update(path, node, Op.ATOMIC)
        if path in FUNCTIONS:
            return self._function_call(path, node)
        if path.startswith(LIBDEVICE) and not node.keywords:
            return self._libdevice_call(path, node)
        if path in VECTOR_TYPES and not node.keywords:
            parts = ast.Tuple([self.visit(a) for a in node.args], ast.Load())
            return make_call(f"_ts_vector_{VECTOR_TYPES[path].name}", [parts], node)
        if path in WAIT_NAMES:
            return make_wait(self, path, [self.visit(a) for a in node.args], node)
        if path == THIS_GRID:
            return this_grid(self, node)
        if path in CALLS and not node.args:
            return parse_expression(CALLS[path], node)  # type: ignore[no-any-return]
        return self.refuse(node, f"cuda.{path}")  # type: ignore[no-any-return]

    def _function_call(self, path: str, node: ast.Call) -> ast.expr:
        """Return the call of a function of `cuda` that computes."""
        return make_call(f"_ts_cuda_{path.replace('.', '_')}", [self.visit(a) for a in node.args], node)

    def _libdevice_call(self, path: str, node: ast.Call) -> ast.expr:
        """Return the call of a function of `cuda.libdevice`, if it is installed."""
        name = path.removeprefix(LIBDEVICE)
        signature = signature_of(name)
        if signature is None or len(signature.arguments) != len(node.args):
            self.refuse(node, f"cuda.{path}")
        function_name = f"{RESERVED_PREFIX}libdevice_{name}"
        self.program.values[function_name] = getattr(import_module("numba.cuda.libdevice"), name)
        return make_call(function_name, [self.visit(a) for a in node.args], node)

    def _grid_index(self, path: str, node: ast.Call) -> ast.expr:
        try:
            dimensions = self.scope.static_value(node.args[0])
        except (UnknownValueError, IndexError):
            self.refuse(node, f"cuda.{path} of a number that is not constant")
        if dimensions not in (1, 2, 3):
            self.refuse(node, f"cuda.{path} takes 1, 2 or 3, not {dimensions}")
        return parse_expression(EXPRESSIONS[f"{path}{dimensions}"], node)  # type: ignore[no-any-return]

    def update(self, path: str, node: ast.Call, kind: Op) -> ast.expr:
        """Return the call of an atomic operation."""
        name, values = UPDATES[path]
        arguments = [self.visit(a) for a in node.args]
        if node.keywords or len(arguments) != values:
            self.refuse(node, f"cuda.{path} with {len(arguments)} arguments")
        if path == "atomic.compare_and_swap":
            arguments.insert(1, ast.Constant(0))
        return self.call(name, [*arguments, self.site(node, kind)], node)

    def _device_call(self, function: FunctionType, node: ast.Call) -> ast.expr:
        constants, caller = constant_arguments(self, function, node), self.caller_of(function, node)
        key = (function, caller, *constants.items())
        if key not in self.program.devices:
            name = f"{function.__name__.strip('<>')}_{len(self.program.devices)}"
            self.program.devices[key] = name
            definition = type(self)(self.program, source_of(function), constants, caller=caller).device(name)
            self.program.functions.append(definition)
            self.program.complete_devices.add(name)
        name = self.program.devices[key]
        if name not in self.program.complete_devices:
            self.program.recursive.add(name)
        names = function.__code__.co_varnames[: function.__code__.co_argcount]
        pairs = zip_longest(names[: len(node.args)], node.args)
        positional = [self.visit(a) for n, a in pairs if n is None or n not in constants]
        bits = self.program.round_bits
        numbers = call_arguments(self.frame, bits, node) if self.frame is not None and bits else []
        call = self.call(name, [*numbers, *positional], node)
        assert isinstance(call, ast.Call)
        if name in self.program.recursive:
            call.args = [
                a if isinstance(a, ast.Starred) else make_call("_ts_plain", [a], node) for a in call.args
            ]
        call.keywords = [
            ast.keyword(k.arg, self.visit(k.value)) for k in node.keywords if k.arg not in constants
        ]
        return set_position(call, node)  # type: ignore[no-any-return]

    def generic_visit(self, node: ast.AST) -> Any:
        """Rewrite the children of a node; refuse a node of an unsupported kind."""
        if not isinstance(node, _KEPT_NODES):
            self.refuse(node, f"{_CONSTRUCT_NAMES.get(type(node), type(node).__name__)} in a kernel")
        return super().generic_visit(node)
