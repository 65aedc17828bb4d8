"""What every part of the rewriting needs: sites, names, new variables, statements that come before."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from ...model.trace import Site
from ..not_compilable import NotCompilable
from .ast_positions import located, position_of
from .constants import constant
from .program import RecordingProgram
from .scope import Scope, Source

OWN = "_ts_"  # what names begin with that the source does not have
STATE = f"{OWN}state"
TOLD = f"{OWN}told_"  # variables with numbers that compiled code is told as it begins
NUMBER = f"{OWN}number_"  # what reads these
LARGEST = (1 << 31) - 1  # of those numbers


class Writer:
    """Writes one function anew. `before` holds the statements that come before the one being rewritten.

    known: arguments whose values are known at launch. prefix: of its variables, where it is written out in another
    function. stack: the functions that it stands in. caller: of a library's function, the
    place in the user's code that leads to it.
    """

    def __init__(
        self, program: RecordingProgram, source: Source, known: Mapping[str, Any] | None = None, prefix: str = "",
        stack: tuple[FunctionType, ...] = (), caller: Site | None = None,
    ) -> None:  # fmt: skip
        self.program, self.source, self.prefix, self.caller = program, source, prefix, caller
        self.stack = (*stack, source.function)
        self.scope = Scope(source, known or {})
        self.name = (
            source.function.__code__.co_name
        )  # of the function that is being written, perhaps in this one
        self.before: list[ast.stmt] = []
        self.targets: dict[int, str] = {}

    def renamed(self, name: str) -> str:
        """Return what a variable of this function is called in the rewritten one."""
        return self.prefix + name if name in self.scope.locals else name

    def refuse(self, node: ast.AST, what: str) -> Any:
        """Raise NotCompilable for a construct."""
        raise NotCompilable(f"line {getattr(node, 'lineno', self.source.tree.lineno)}: {what}.")

    def site(self, node: ast.expr | ast.For, kind: int, *others: int) -> ast.expr:
        """Return the number of the site of an expression."""
        number = self.program.site(self._place(node), kind, *others, caller=self.caller)
        return ast.copy_location(ast.Constant(number), node)

    def _place(self, node: ast.expr | ast.For) -> Site:
        line, offset = position_of(node)
        return Site(self.name, self.source.file, line, self.source.column(line, offset))

    def caller_of(self, function: FunctionType, node: ast.Call) -> Site | None:
        """Return the place in the user's code that leads to a library's function, which is called here; else None."""
        owns = self.program.user_code.owns
        if owns(function.__code__.co_filename):
            return None
        return self._place(node) if owns(self.source.file) else self.caller

    @contextmanager
    def inside(self, function: ast.Lambda | ast.FunctionDef) -> Iterator[None]:
        """Write a function that stands in this one meanwhile: its arguments and variables are known there alone.

        Sites in it belong to this function, into which Numba inlines it.
        """
        locals_ = self.scope.locals
        nodes = [n for part in ast.iter_child_nodes(function) for n in ast.walk(part)]
        stored = {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        named = {n.name for n in nodes if isinstance(n, ast.FunctionDef)}
        self.scope.locals = {*locals_, *stored, *named, *(n.arg for n in nodes if isinstance(n, ast.arg))}
        yield
        self.scope.locals = locals_

    def call(self, name: str, arguments: list[ast.expr], where: ast.AST) -> ast.expr:
        """Return a call of a function that takes the state."""
        made = ast.Call(ast.Name(name, ast.Load()), [ast.Name(STATE, ast.Load()), *arguments], [])
        return located(made, where)  # type: ignore[no-any-return]

    def constant(self, value: Any, stem: str, where: ast.AST) -> ast.expr:
        """Return an expression with a value known at launch."""
        made = constant(self.program, value, stem)
        if made is None:
            self.refuse(where, _description(value, stem))
        return located(made, where)  # type: ignore[no-any-return]

    def is_late(self, node: ast.expr, value: Any) -> bool:
        """Return whether what a name means is told to compiled code as it begins."""
        return (
            isinstance(node, ast.Name)
            and node.id in self.program.late
            and type(value) is int
            and -LARGEST <= value <= LARGEST
            and self.source.function.__globals__.get(node.id) is value
        )

    def number(self, key: Any, value: int, where: ast.AST) -> ast.expr:
        """Return the variable with a number that compiled code is told as it begins; `key` says what it is of."""
        name = f"{TOLD}{self.program.number(key, value)}"
        self.scope.told[name] = value
        return located(ast.Name(name, ast.Load()), where)  # type: ignore[no-any-return]

    def put(self, value: ast.expr) -> ast.Name:
        """Assign a value to a new variable, before the statement being rewritten."""
        name = self.program.temporary()
        target = ast.Name(name, ast.Store())
        self.before.append(located(ast.Assign([target], value), value))
        return located(ast.Name(name, ast.Load()), value)  # type: ignore[no-any-return]

    def write(self, statement: ast.stmt, where: ast.AST) -> None:
        """Write a statement before the one being rewritten."""
        self.before.append(located(statement, where))


def _description(value: Any, name: str) -> str:
    """Return what stands in the way of compiling a value."""
    if isinstance(value, FunctionType):
        return f"{name}, a function of Python; @cuda.jit(device=True) makes it one of the GPU"
    if isinstance(value, ModuleType):
        return f"the module {name}"
    if isinstance(value, np.ndarray):
        return f"the global array {name}, {value.nbytes:,} bytes of {value.dtype}"
    return name if callable(value) else f"{name}, an object of the class {type(value).__name__}"
