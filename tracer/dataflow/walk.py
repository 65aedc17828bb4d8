"""A walk through a function along all its paths, which tracks the values in variables. The program does not run.

Only data flow is followed: a value used in a condition, or as an index, goes nowhere.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping, Sequence

from .carried import AccessPosition, Paths, Values, join_paths, join_values, weaken

DEEPEST = 6  # nested calls
ROUNDS = 12  # of a loop; no hand-written program needs more
# Limit for all walks of a program: nodes, and variables at each statement.
MOST_WORK = 3_000_000
ARITHMETIC = re.compile(r"(u?int|float|complex)(_|c|p|8|16|32|64|128)?|bool_?|abs|round|pow|divmod")
MODULES = {"math", "cmath", "np", "numpy", "operator", "libdevice", "fp16"}
EXCHANGES = re.compile(r"shfl\w*|\w+_sync|activemask|lanemask_lt|syncthreads\w*|syncwarp")


class AnalysisBudgetExceededError(Exception):
    """Raised if the program is too large, or has statements that are not analysed."""


class Work:
    """The remaining work for a program: the same on every machine, so that all show the same picture."""

    def __init__(self, most: int = MOST_WORK) -> None:
        self._remaining = most

    def take(self, amount: int) -> None:
        """Spend work; raises AnalysisBudgetExceededError if less is left."""
        self._remaining -= amount
        if self._remaining < 0:
            raise AnalysisBudgetExceededError


class Walk:
    """A walk to one store (`place`), which calls `reached` with the values written, each time it gets there."""

    def __init__(
        self,
        functions: Mapping[str, ast.FunctionDef],
        place: AccessPosition,
        reached: Callable[[Values], None],
        work: Work,
    ) -> None:
        self._functions, self._place, self._reached, self._work = functions, place, reached, work
        self._paths = Paths()
        self._frames: list[str] = []
        self._leaving: list[dict[str, list[Paths]]] = [{}]  # exits of loops and functions, by keyword
        self._returned: list[list[Values]] = [[]]
        self._kept = 0

    def function(self, node: ast.FunctionDef, arguments: Sequence[Values]) -> Values:
        """Walk through a function; return the values that its result carries. Raises AnalysisBudgetExceededError."""
        self._frames.append(node.name)
        self._leaving.append({})
        self._returned.append([])
        names = [arg.arg for arg in (*node.args.posonlyargs, *node.args.args)]
        for number, name in enumerate(names):
            self._set(name, arguments[number] if number < len(arguments) else {})
        self._body(node.body)
        self._paths = join_paths([self._paths, *self._leaving.pop().get("return", [])])
        prefix = f"{len(self._frames)}."
        self._paths.variables = {
            name: values for name, values in self._paths.variables.items() if not name.startswith(prefix)
        }
        self._frames.pop()
        results = self._returned.pop()
        return results[0] if len(results) == 1 else weaken(join_values(results))

    def _name(self, name: str) -> str:
        return f"{len(self._frames)}.{name}"

    def _set(self, name: str, values: Values) -> None:
        self._paths.variables[self._name(name)] = values

    def _count(self) -> None:
        self._work.take(1)

    def _body(self, statements: Sequence[ast.stmt]) -> None:
        for statement in statements:
            if self._paths.dead:
                return
            self._work.take(1 + len(self._paths.variables))
            getattr(self, f"_do_{type(statement).__name__}", self._other)(statement)

    def _other(self, node: ast.stmt) -> None:
        if isinstance(node, ast.Try | ast.AsyncFor | ast.AsyncWith | ast.ClassDef):
            raise AnalysisBudgetExceededError

    def _do_Match(self, node: ast.stmt) -> None:
        raise AnalysisBudgetExceededError

    def _do_With(self, node: ast.With) -> None:
        for item in node.items:
            self._value(item.context_expr)
        self._body(node.body)

    def _do_Expr(self, node: ast.Expr) -> None:
        self._value(node.value)

    def _do_Assert(self, node: ast.Assert) -> None:
        self._value(node.test)

    def _do_Raise(self, node: ast.Raise) -> None:
        self._leave("raise")

    def _do_Return(self, node: ast.Return) -> None:
        self._returned[-1].append(self._value(node.value) if node.value else {})
        self._leave("return")

    def _do_Break(self, node: ast.Break) -> None:
        self._leave("break")

    def _do_Continue(self, node: ast.Continue) -> None:
        self._leave("continue")

    def _leave(self, word: str) -> None:
        self._leaving[-1].setdefault(word, []).append(self._paths)
        self._paths = join_paths([])

    def _do_Assign(self, node: ast.Assign) -> None:
        parts = node.value.elts if isinstance(node.value, ast.Tuple | ast.List) else None
        targets = node.targets[0].elts if isinstance(node.targets[0], ast.Tuple | ast.List) else None
        if parts and targets and len(node.targets) == 1 and len(parts) == len(targets):
            for target, values in zip(targets, self._values(parts), strict=True):
                self._assign(target, values)
            return
        values = self._value(node.value)
        for target_node in node.targets:
            self._assign(target_node, values)

    def _do_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value:
            self._assign(node.target, self._value(node.value))

    def _do_AugAssign(self, node: ast.AugAssign) -> None:
        values = join_values(self._values([node.target, node.value], loaded=True))
        self._assign(node.target, values, indexed=True)

    def _assign(self, target: ast.expr, values: Values, *, indexed: bool = False) -> None:
        if isinstance(target, ast.Name):
            self._set(target.id, values)
        elif isinstance(target, ast.Tuple | ast.List):
            for part in target.elts:
                self._assign(part, weaken(values))
        elif isinstance(target, ast.Starred):
            self._assign(target.value, weaken(values))
        elif isinstance(target, ast.Subscript | ast.Attribute):
            if not indexed:
                self._index(target)
            self._store((target.lineno, target.col_offset), values)

    def _index(self, node: ast.expr) -> None:
        """Execute the loads in the index of an element."""
        while isinstance(node, ast.Subscript | ast.Attribute):
            if isinstance(node, ast.Subscript):
                self._value(node.slice)
            node = node.value

    def _store(self, place: AccessPosition, values: Values) -> None:
        if place == self._place:
            self._reached(self._paths.reaching(values))
            self._paths.forget()

    def _do_If(self, node: ast.If) -> None:
        self._value(node.test)
        before = self._paths.copy()
        self._body(node.body)
        after, self._paths = self._paths, before
        self._body(node.orelse)
        self._paths = join_paths([after, self._paths])

    def _do_While(self, node: ast.While) -> None:
        self._loop(node, lambda: self._value(node.test))

    def _do_For(self, node: ast.For) -> None:
        values = self._value(node.iter)
        if not isinstance(node.iter, ast.Call):  # an array, of which the loop loads each element
            values = {}

        def head() -> None:
            places = {(node.iter.lineno, node.iter.col_offset), (node.lineno, node.col_offset)}
            loads = [self._paths.load(place) for place in places] if isinstance(node.iter, ast.Name) else []
            self._assign(node.target, join_values(loads))

        self._loop(node, head if not values else lambda: self._assign(node.target, weaken(values)))

    def _loop(self, node: ast.For | ast.While, head: Callable[[], object]) -> None:
        """Walk through a loop until nothing new is found."""
        entry, after_loop = self._paths.copy(), []
        for _ in range(ROUNDS):
            key = self._paths.key()
            head()
            after_loop = [self._paths.copy()]
            self._leaving.append({})
            self._body(node.body)
            exits = self._leaving.pop()
            for word in ("return", "raise"):
                self._leaving[-1].setdefault(word, []).extend(exits.get(word, []))
            after_loop += exits.get("break", [])
            self._paths = join_paths([entry.copy(), self._paths, *exits.get("continue", [])])
            if self._paths.key() == key:
                break
        else:
            raise AnalysisBudgetExceededError
        self._paths = join_paths(after_loop[:1]).copy()
        self._body(node.orelse)
        self._paths = join_paths([self._paths, *after_loop[1:]])

    def _value(self, node: ast.expr, *, loaded: bool = False) -> Values:
        """Return the values that an expression carries; `loaded`: a target that is read before it is written."""
        self._count()
        method = getattr(self, f"_of_{type(node).__name__}", None)
        if method is not None and (loaded or not isinstance(getattr(node, "ctx", None), ast.Store)):
            values: Values = method(node)
            return values
        return join_values(
            self._values([part for part in ast.iter_child_nodes(node) if isinstance(part, ast.expr)])
        )

    def _values(self, nodes: Sequence[ast.expr], *, loaded: bool = False) -> list[Values]:
        """Return the values of expressions; each is kept as a variable while the others are computed."""
        first = self._kept
        for node in nodes:
            values = self._value(node, loaded=loaded)
            self._paths.variables[f"?{self._kept}"] = values
            self._kept += 1
        kept, self._kept = [f"?{number}" for number in range(first, self._kept)], first
        return [self._paths.variables.pop(name, {}) for name in kept]

    def _of_Name(self, node: ast.Name) -> Values:
        return self._paths.variables.get(self._name(node.id), {})

    def _of_Constant(self, node: ast.Constant) -> Values:
        return {}

    def _of_Lambda(self, node: ast.Lambda) -> Values:
        raise AnalysisBudgetExceededError

    def _of_ListComp(self, node: ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp) -> Values:
        """Return the values that a comprehension may carry, as if it ran no round, one or more."""
        parts = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
        parts += [part for generator in node.generators for part in (generator.iter, *generator.ifs)]
        values: list[Values] = []
        for _ in range(2):
            before = self._paths.copy()
            values += self._values(parts)
            self._paths = join_paths([before, self._paths])
        return weaken(join_values(values))

    _of_SetComp = _of_DictComp = _of_GeneratorExp = _of_ListComp

    def _of_NamedExpr(self, node: ast.NamedExpr) -> Values:
        values = self._value(node.value)
        self._assign(node.target, values)
        return values

    def _of_Attribute(self, node: ast.Attribute) -> Values:
        if isinstance(node.value, ast.Subscript):
            return self._value(node.value, loaded=True)
        return {}  # a shape, a size, a thread's number

    def _of_Subscript(self, node: ast.Subscript) -> Values:
        self._index(node)
        root: ast.expr = node
        while isinstance(root, ast.Subscript | ast.Attribute):
            root = root.value
        packed = self._paths.variables.get(self._name(root.id), {}) if isinstance(root, ast.Name) else {}
        return join_values([self._paths.load((node.lineno, node.col_offset)), weaken(packed)])

    def _of_IfExp(self, node: ast.IfExp) -> Values:
        self._value(node.test)
        before = self._paths.copy()
        first = self._value(node.body)
        after, self._paths = self._paths, before
        second = self._value(node.orelse)
        # As if each path assigned its value to one variable.
        after.variables["if"], self._paths.variables["if"] = first, second
        self._paths = join_paths([after, self._paths])
        return self._paths.variables.pop("if", {})

    def _of_BoolOp(self, node: ast.BoolOp) -> Values:
        return weaken(join_values(self._values(node.values)))

    def _of_Call(self, node: ast.Call) -> Values:
        name, owner = called(node.func)
        arguments = self._values([*node.args, *(keyword.value for keyword in node.keywords)])
        if owner == "atomic":
            self._store((node.lineno, node.col_offset), arguments[-1] if len(arguments) > 1 else {})
            return {}
        if name in self._functions and not owner:
            if len(self._frames) > DEEPEST or name in self._frames:
                raise AnalysisBudgetExceededError
            return self.function(self._functions[name], arguments)
        if EXCHANGES.fullmatch(name) or name in ("range", "len", "grid", "gridsize"):
            return {}
        if owner in MODULES or ARITHMETIC.fullmatch(name):
            return join_values(arguments)
        return weaken(join_values(arguments))  # min, max, cuda.selp, unknown functions


def called(function: ast.expr) -> tuple[str, str]:
    """Return the name of a called function, and the last name of its owner, "" for none."""
    if isinstance(function, ast.Attribute):
        owner = function.value
        return function.attr, owner.attr if isinstance(owner, ast.Attribute) else getattr(owner, "id", "?")
    return getattr(function, "id", ""), ""
