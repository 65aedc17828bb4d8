"""Tools for all parts of the rewriter: sites, names, new variables, statements to insert before."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from ...model.trace import Site
from ..not_compilable import NotCompilableError
from .ast_positions import position_of, set_position
from .constants import constant
from .program import RecordingProgram
from .scope import Scope, Source

RESERVED_PREFIX = "_ts_"  # prefix of names that are not in the source
STATE = f"{RESERVED_PREFIX}state"
RUNTIME_PREFIX = f"{RESERVED_PREFIX}told_"  # variables with the runtime constants
READER_PREFIX = f"{RESERVED_PREFIX}number_"  # functions that read them
LARGEST = (1 << 31) - 1  # of these constants


class Writer:
    """Rewrites one function. `before` holds the statements to insert before the one being rewritten.

    constants: arguments whose values are known at launch. prefix: of its variables, if it is inlined into another
    function. stack: the functions that it is nested in. caller: for a function of a library, the line of the user's
    code that leads to it.
    """

    def __init__(
        self, program: RecordingProgram, source: Source, constants: Mapping[str, Any] | None = None, prefix: str = "",
        stack: tuple[FunctionType, ...] = (), caller: Site | None = None,
    ) -> None:  # fmt: skip
        self.program, self.source, self.prefix, self.caller = program, source, prefix, caller
        self.stack = (*stack, source.function)
        self.scope = Scope(source, constants or {})
        # Of the function that is being written, perhaps in this one.
        self.name = source.function.__code__.co_name
        self.before: list[ast.stmt] = []
        self.targets: dict[int, str] = {}

    def new_name(self, name: str) -> str:
        """Return the new name of a variable of this function."""
        return self.prefix + name if name in self.scope.locals else name

    def refuse(self, node: ast.AST, construct: str) -> Any:
        """Raise NotCompilableError for a construct."""
        raise NotCompilableError(f"line {getattr(node, 'lineno', self.source.tree.lineno)}: {construct}.")

    def site(self, node: ast.expr | ast.For, kind: int, *others: int) -> ast.expr:
        """Return the number of the site of an expression."""
        number = self.program.site(self._make_site(node), kind, *others, caller=self.caller)
        return ast.copy_location(ast.Constant(number), node)

    def _make_site(self, node: ast.expr | ast.For) -> Site:
        line, offset = position_of(node)
        return Site(self.name, self.source.file, line, self.source.column(line, offset))

    def caller_of(self, function: FunctionType, node: ast.Call) -> Site | None:
        """Return the site in the user's code that leads to a library's function called here; else None."""
        owns = self.program.user_code.owns
        if owns(function.__code__.co_filename):
            return None
        return self._make_site(node) if owns(self.source.file) else self.caller

    @contextmanager
    def nested_scope(self, function: ast.Lambda | ast.FunctionDef) -> Iterator[None]:
        """Rewrite a nested function in this context: its arguments and variables are known only there.

        Sites in it belong to this function, since Numba inlines it.
        """
        outer_locals = self.scope.locals
        nodes = [n for part in ast.iter_child_nodes(function) for n in ast.walk(part)]
        stored = {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        named = {n.name for n in nodes if isinstance(n, ast.FunctionDef)}
        self.scope.locals = {
            *outer_locals,
            *stored,
            *named,
            *(n.arg for n in nodes if isinstance(n, ast.arg)),
        }
        yield
        self.scope.locals = outer_locals

    def call(self, name: str, arguments: list[ast.expr], where: ast.AST) -> ast.expr:
        """Return a call of a function that takes the state."""
        call = ast.Call(ast.Name(name, ast.Load()), [ast.Name(STATE, ast.Load()), *arguments], [])
        return set_position(call, where)  # type: ignore[no-any-return]

    def constant(self, value: Any, stem: str, where: ast.AST) -> ast.expr:
        """Return an expression for a value known at launch."""
        expression = constant(self.program, value, stem)
        if expression is None:
            self.refuse(where, _describe(value, stem))
        return set_position(expression, where)  # type: ignore[no-any-return]

    def is_runtime_constant(self, node: ast.expr, value: Any) -> bool:
        """Check if compiled code gets the value of a name at launch."""
        return (
            isinstance(node, ast.Name)
            and node.id in self.program.launch_time_names
            and type(value) is int
            and -LARGEST <= value <= LARGEST
            and self.source.function.__globals__.get(node.id) is value
        )

    def number(self, key: Any, value: int, where: ast.AST) -> ast.expr:
        """Return the variable that holds a runtime constant; `key` identifies it."""
        name = f"{RUNTIME_PREFIX}{self.program.number(key, value)}"
        self.scope.runtime_constants[name] = value
        return set_position(ast.Name(name, ast.Load()), where)  # type: ignore[no-any-return]

    def assign_temporary(self, value: ast.expr) -> ast.Name:
        """Assign a value to a new variable, before the statement being rewritten."""
        name = self.program.temporary()
        target = ast.Name(name, ast.Store())
        self.before.append(set_position(ast.Assign([target], value), value))
        return set_position(ast.Name(name, ast.Load()), value)  # type: ignore[no-any-return]

    def write(self, statement: ast.stmt, where: ast.AST) -> None:
        """Insert a statement before the one being rewritten."""
        self.before.append(set_position(statement, where))


def _describe(value: Any, name: str) -> str:
    """Describe a value that can't be compiled."""
    if isinstance(value, FunctionType):
        return f"{name}, a function of Python; @cuda.jit(device=True) makes it one of the GPU"
    if isinstance(value, ModuleType):
        return f"the module {name}"
    if isinstance(value, np.ndarray):
        return f"the global array {name}, {value.nbytes:,} bytes of {value.dtype}"
    return name if callable(value) else f"{name}, an object of the class {type(value).__name__}"
