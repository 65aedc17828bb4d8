"""The meaning of the names in a kernel's source: its closure, its module's globals, and the paths under `cuda`."""

from __future__ import annotations

import ast
import builtins
import linecache
import sys
from collections.abc import Callable, Iterable, Mapping
from copy import deepcopy
from dataclasses import dataclass
from enum import Enum, EnumType
from functools import lru_cache
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

from ..not_compilable import NotCompilableError
from .constants import is_type
from .cuda_names import EXPRESSIONS


class CudaPath(str):
    """The path of a name under `cuda`, such as "shared.array"; "" is `cuda` itself."""


DTYPE = ".dtype"
LAMBDA = "<lambda>"  # the name of every lambda


class UnknownValueError(Exception):
    """A name or expression whose value is only available at run time."""


@dataclass(frozen=True)
class Source:
    """A function's source: the function itself, its tree, and the text of its file."""

    function: FunctionType
    tree: ast.FunctionDef
    lines: tuple[str, ...]

    @property
    def file(self) -> str:
        """The path of the file."""
        return self.function.__code__.co_filename

    def column(self, line: int, offset: int) -> int:
        """Convert an offset in UTF-8 bytes, as in trees, to one in characters."""
        return len(self.lines[line - 1].encode()[:offset].decode(errors="ignore"))


def source_of(function: FunctionType) -> Source:
    """Find the source of a function; raises NotCompilableError if there is none."""
    code = function.__code__
    lines = tuple(linecache.getlines(code.co_filename))
    try:
        tree = _tree_of("".join(lines))
    except SyntaxError as error:
        raise NotCompilableError(f"the source of {code.co_filename} can't be read: {error.msg}.") from error
    if code.co_name == LAMBDA:
        return Source(function, deepcopy(_find_lambda(tree, code)), lines)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name == code.co_name:
            first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
            if first == code.co_firstlineno:
                return Source(function, deepcopy(node), lines)
    raise NotCompilableError(f"line {code.co_firstlineno}: the source of {code.co_name} was not found.")


@lru_cache(maxsize=8)
def _tree_of(text: str) -> ast.Module:
    """Parse a file, of which many functions may be rewritten; callers change only copies of its nodes."""
    return ast.parse(text)


def _find_lambda(tree: ast.Module, code: CodeType) -> ast.FunctionDef:
    """Return a lambda as a function: the one on its line that compiles to the same code."""
    nodes = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Lambda) and node.lineno == code.co_firstlineno and _compiles_to(node, code)
    ]
    if len(nodes) > 1:  # such as x + y and x * y, which have equal names and constants
        nodes = [node for node in nodes if _contains(node.body, code)][-1:]  # the innermost
    if not nodes:
        raise NotCompilableError(f"line {code.co_firstlineno}: the source of a lambda was not found.")
    node = nodes[0]
    returned = ast.copy_location(ast.Return(node.body), node.body)
    definition = ast.FunctionDef("_ts_lambda", node.args, [returned], [], None, None)
    return ast.copy_location(definition, node)


def _contains(body: ast.expr, code: CodeType) -> bool:
    """Check whether the instructions of a lambda are at places in a body."""
    first, last = (body.lineno, body.col_offset), (body.end_lineno or 0, body.end_col_offset or 0)
    places = [
        ((line, column), (end_line, end_column))
        for line, end_line, column, end_column in code.co_positions()
        if line and end_line and column is not None and end_column  # None where Python keeps no places
    ]
    return bool(places) and all(first <= begin and end <= last for begin, end in places)


def _compiles_to(node: ast.Lambda, code: CodeType) -> bool:
    compiled = compile(ast.unparse(node), "", "eval").co_consts[0]
    has_same_names = (compiled.co_names, compiled.co_varnames) == (code.co_names, code.co_varnames)
    return (
        has_same_names and compiled.co_consts == code.co_consts
        if not code.co_freevars
        else compiled.co_varnames == code.co_varnames
    )


class Scope:
    """The values of a function's names at launch; `known` holds the constant arguments.

    In `known`, "a.dtype" is the dtype of the array `a`.
    """

    def __init__(self, source: Source, constants: Mapping[str, Any]) -> None:
        function = source.function
        self.dtypes = {k.removesuffix(DTYPE): v for k, v in constants.items() if k.endswith(DTYPE)}
        code = function.__code__
        self.constants = constants
        self.runtime_constants: dict[str, int] = {}  # by variable: the runtime constants
        self.locals = {*code.co_varnames, *code.co_cellvars} - constants.keys()
        self._closure = dict(zip(code.co_freevars, function.__closure__ or (), strict=True))
        self._globals = function.__globals__
        self._single_assignments = _constant_locals(source.tree)

        # By variable: objects that Numba knows when it compiles, such as cuda.blockIdx.
        self.aliases: dict[str, Any] = {}
        self._find_aliases()

    def _find_aliases(self) -> None:
        """Move variables that are assigned once, and stand for no number, from `locals` to `aliases`."""
        candidates = {name: value for name, value in self._single_assignments.items() if name in self.locals}
        previous_count = -1
        while len(self.aliases) > previous_count:  # an alias may refer to another one
            previous_count = len(self.aliases)
            for name in list(candidates):
                alias = self._alias_value(candidates[name])
                if alias is not None:
                    self.aliases[name] = alias
                    self.locals.discard(name)
                    del candidates[name]

    def _alias_value(self, node: ast.expr) -> Any:
        """Return the function, type or part of `cuda` that an expression means; None if it is a value."""
        try:
            if isinstance(node, ast.Attribute) and node.attr == "dtype":
                return np.dtype(self.dtype(node.value))
            value = self.value(node)
        except (UnknownValueError, TypeError):
            return None
        if isinstance(value, CudaPath):
            return None if value in EXPRESSIONS else value
        is_compiled = hasattr(value, "py_func") or is_type(value)
        return value if is_compiled or isinstance(value, ModuleType | type | np.dtype) else None

    def value(self, node: ast.expr) -> Any:
        """Return the value of a name, of its attributes, or of a member of an enum; raises UnknownValueError."""
        if isinstance(node, ast.Name):
            return self._name(node.id)
        if isinstance(node, ast.Attribute):
            return _get_attribute(self.value(node.value), node.attr)
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
            return _enum_member(self.value(node.value), node.slice.value)
        raise UnknownValueError

    def _name(self, name: str) -> Any:
        if name in self.runtime_constants:
            return self.runtime_constants[name]
        if name in self.aliases:
            return self.aliases[name]
        if name in self.locals:
            raise UnknownValueError
        if name in self.constants:
            return self.constants[name]
        if name in self._closure:
            return _resolve_cuda(self._closure[name].cell_contents)
        if name in self._globals:
            return _resolve_cuda(self._globals[name])
        if hasattr(builtins, name):
            return getattr(builtins, name)
        raise UnknownValueError

    def static_value(self, node: ast.expr) -> Any:
        """Compute an expression of constants; raises UnknownValueError."""
        if isinstance(node, ast.Name) and node.id in self._single_assignments:
            return self.static_value(self._single_assignments[node.id])
        if isinstance(node, ast.Constant):
            return node.value
        if isinstance(node, ast.Tuple | ast.List):
            return tuple(map(self.static_value, node.elts))
        if isinstance(node, ast.BinOp):
            return _compute(type(node.op), self.static_value(node.left), self.static_value(node.right))
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return -self.static_value(node.operand)
        if isinstance(node, ast.Attribute) and node.attr == "dtype":
            return self.dtype(node.value)
        value = self.value(node)
        if isinstance(value, CudaPath):
            raise UnknownValueError
        return value

    def dtype(self, array: ast.expr) -> Any:
        """Find the dtype of an array or of a view of one; raises UnknownValueError."""
        if isinstance(array, ast.Name) and array.id in self.dtypes:
            return self.dtypes[array.id]
        if isinstance(array, ast.Name) and array.id in self._single_assignments:
            return self.dtype(self._single_assignments[array.id])
        if isinstance(array, ast.Subscript):
            return self.dtype(array.value)
        if isinstance(array, ast.Call) and getattr(array.func, "attr", "") == "array":
            dtype_arguments = [*array.args[1:2], *(k.value for k in array.keywords if k.arg == "dtype")]
            return self.static_value(dtype_arguments[0])
        dtype = getattr(self.value(array), "dtype", None)
        if dtype is None:
            raise UnknownValueError
        return dtype


def _compute(operation: type[ast.operator], left: Any, right: Any) -> Any:
    if operation not in _OPERATIONS:
        raise UnknownValueError
    return _OPERATIONS[operation](left, right)


_OPERATIONS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: lambda a, b: a + b, ast.Sub: lambda a, b: a - b, ast.Mult: lambda a, b: a * b,
    ast.FloorDiv: lambda a, b: a // b, ast.Mod: lambda a, b: a % b, ast.Pow: lambda a, b: a**b,
    ast.LShift: lambda a, b: a << b, ast.RShift: lambda a, b: a >> b,
}  # fmt: skip


def _constant_locals(tree: ast.FunctionDef) -> dict[str, ast.expr]:
    """Find the variables that are assigned once, with their values."""
    assigned: dict[str, list[ast.expr | None]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            assigned.setdefault(node.id, []).append(None)
        for target, value in _assignments(node):
            if isinstance(target, ast.Name):
                assigned.setdefault(target.id, []).append(value)
    arguments = {a.arg for a in ast.walk(tree) if isinstance(a, ast.arg)}  # also of nested functions
    stored = {n: [v for v in values if v is not None] for n, values in assigned.items()}
    return {
        n: v[0] for n, v in stored.items() if len(v) == 1 and len(assigned[n]) == 2 and n not in arguments
    }


def _assignments(node: ast.AST) -> Iterable[tuple[ast.expr, ast.expr]]:
    """Pair the targets of an assignment with their values, those of tuples one by one."""
    if not isinstance(node, ast.Assign) or len(node.targets) != 1:
        return ()
    target, value = node.targets[0], node.value
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
        return zip(target.elts, value.elts, strict=True)
    return ((target, value),)


def _resolve_cuda(value: Any) -> Any:
    """Return a value, or CudaPath for `cuda`: the module, or the simulator's replacement for it."""
    if value is sys.modules.get("numba.cuda"):
        return CudaPath()
    if hasattr(type(value), "cuda_path"):  # a name that the program imported from `cuda`
        return CudaPath(value.cuda_path)
    if (getattr(value, "__module__", None) or "").endswith("simulator.vector_types"):
        return CudaPath(value.__name__)
    stands_in = any(base.__name__ == "FakeCUDAModule" for base in type(value).__mro__)
    return CudaPath() if stands_in else value


def _enum_member(kind: Any, name: Any) -> Any:
    if not isinstance(kind, EnumType) or name not in kind.__members__:
        raise UnknownValueError
    return kind[name]


def _get_attribute(value: Any, name: str) -> Any:
    if isinstance(value, CudaPath) and value == "random":
        return getattr(sys.modules.get("numba.cuda.random"), name, CudaPath(f"random.{name}"))
    if isinstance(value, CudaPath):
        return CudaPath(f"{value}.{name}" if value else name)
    parts = ("name", "value") if isinstance(value, Enum) else ()
    if not isinstance(value, ModuleType | type) and name not in parts:
        raise UnknownValueError
    if not hasattr(value, name):
        raise UnknownValueError
    return _resolve_cuda(getattr(value, name))
