"""The statements of a function in CUDA C++ as a Python tree, as far as the rounds of its loops need it.

The tree has the conditions, loops, accesses, assignments and calls of the function, not its arithmetic.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

from ..model.cpp_text import functions, parameters, plain

_TOKEN = re.compile(r"\w+|&&|\|\||\+\+|--|->|::|<<=|>>=|<<|>>|[-+*/%&|^=!<>]=|\S")
_ASSIGNMENTS = frozenset(("=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="))
_BEFORE_POINTER = _ASSIGNMENTS | {*"([{,;+-/%&|^!<>?:", "&&", "||", "==", "!=", "<=", ">=", "return"}
_OPENING, _CLOSING = frozenset("([{"), frozenset(")]}")
# Functions whose results differ between the lanes of a warp, whatever their arguments.
_LANE_CALLS = re.compile(
    r"__(?:shfl|ballot|any|all|match|reduce|activemask|lanemask)\w*|clock\w*|\w*rank|curand\w*"
)
_LANE = "laneid"


def functions_of(source: str) -> dict[str, ast.FunctionDef]:
    """Return the functions of a text by name."""
    text, trees = plain(source), dict[str, ast.FunctionDef]()
    for function in functions(source):
        tokens = _TOKEN.findall(text[function.body : function.end])
        names = parameters(source, function.name) or ()
        arguments = ast.arguments([], [ast.arg(name) for name in names], None, [], [], None, [])
        trees[function.name] = ast.FunctionDef(
            function.name, arguments, _Statements(tokens).statement(), [], None, None
        )
    return trees


class _Statements:
    """Reads statements from tokens, one after the other."""

    def __init__(self, tokens: Sequence[str]) -> None:
        self._tokens, self._next = tokens, 0

    def _peek(self) -> str:
        return self._tokens[self._next] if self._next < len(self._tokens) else ""

    def _take(self) -> str:
        self._next += 1
        return self._tokens[self._next - 1] if self._next <= len(self._tokens) else ""

    def _until(self, ends: str) -> list[str]:
        """Take the tokens before one of these that is in no bracket, and that one too."""
        taken, depth = list[str](), 0
        while self._next < len(self._tokens):
            token = self._take()
            if not depth and token in ends:
                break
            depth += (token in _OPENING) - (token in _CLOSING)
            taken.append(token)
        return taken

    def _in_brackets(self) -> list[str]:
        self._take()
        return self._until(")")

    def statement(self) -> list[ast.stmt]:
        """Return the next statement, with those in it."""
        token = self._peek()
        if token == "{":
            self._take()
            inner = list[ast.stmt]()
            while self._peek() not in ("}", ""):
                inner += self.statement()
            self._take()
            return inner
        if token in ("if", "switch"):
            return [self._branch()]
        if token in ("for", "while", "do"):
            return [self._loop()]
        if token in ("case", "default"):
            self._until(":")
            return []
        tokens = self._until(";")
        if token in ("break", "continue"):
            return [ast.Break() if token == "break" else ast.Continue()]
        if token == "return":
            return [ast.Return(_expression(tokens[1:]))]
        if tokens[-2:] == ["(", ")"] and tokens[-3:-2] in (["__syncthreads"], ["sync"]):
            return [ast.Expr(ast.Call(ast.Name("syncthreads", ast.Load()), [], []))]
        return [ast.Expr(_expression(tokens))]

    def _branch(self) -> ast.stmt:
        self._take()
        if self._peek() == "constexpr":
            self._take()
        test, body = _expression(self._in_brackets()), self.statement()
        orelse = list[ast.stmt]()
        if self._peek() == "else":
            self._take()
            orelse = self.statement()
        return ast.If(test, body, orelse)

    def _loop(self) -> ast.stmt:
        kind = self._take()
        if kind == "do":
            body = self.statement()
            self._take()
            test = _expression(self._in_brackets())
            self._until(";")
            return ast.While(test, body, [])
        head = self._in_brackets()
        body = self.statement()
        if kind == "while":
            return ast.While(_expression(head), body, [])
        parts, rest = list[ast.expr](), _Statements(head)
        while rest._next < len(head):
            parts.append(_expression(rest._until(";")))
        head_of_loop = ast.Tuple(parts, ast.Load())
        assigned = (node.target for node in ast.walk(head_of_loop) if isinstance(node, ast.NamedExpr))
        return ast.For(ast.Tuple([*assigned], ast.Store()), head_of_loop, body, [])


def _split(tokens: Sequence[str], separators: frozenset[str]) -> tuple[int, str] | None:
    """Find the first of these tokens that is in no bracket."""
    depth = 0
    for index, token in enumerate(tokens):
        if not depth and token in separators:
            return index, token
        depth += (token in _OPENING) - (token in _CLOSING)
    return None


def _expression(tokens: Sequence[str]) -> ast.expr:
    for separators in (frozenset(","), _ASSIGNMENTS, frozenset("?"), frozenset(("||",)), frozenset(("&&",))):
        if (separator := _split(tokens, separators)) is None:
            continue
        left, right = tokens[: separator[0]], tokens[separator[0] + 1 :]
        if separator[1] in _ASSIGNMENTS:
            return _assignment(left, _expression(right))
        if separator[1] == "?":
            colon = _split(right, frozenset(":")) or (len(right), ":")
            arms = _expression(right[: colon[0]]), _expression(right[colon[0] + 1 :])
            return ast.IfExp(_expression(left), *arms)
        if separator[1] == ",":
            return ast.Tuple([_expression(left), _expression(right)], ast.Load())
        return ast.BoolOp(
            ast.Or() if separator[1] == "||" else ast.And(), [_expression(left), _expression(right)]
        )
    return ast.Tuple(_operands(tokens), ast.Load())


def _assignment(target: Sequence[str], value: ast.expr) -> ast.expr:
    """Return an assignment to a variable, or to an element."""
    is_behind_pointer = len(target) > 1 and target[0] == "*"
    if target and target[-1].isidentifier() and not is_behind_pointer and target[-2:-1] != ["->"]:
        return ast.NamedExpr(ast.Name(target[-1], ast.Store()), value)
    return ast.Tuple([*_operands(target), value], ast.Load())


def _operands(tokens: Sequence[str]) -> list[ast.expr]:
    """Return the names, accesses and calls of an expression without conditions and assignments."""
    operands, index = list[ast.expr](), 0
    while index < len(tokens):
        token, before = tokens[index], tokens[index - 1] if index else "("
        after = tokens[index + 1] if index + 1 < len(tokens) else ""
        if token in ("(", "["):
            end = _end_of(tokens, index)
            inner = _expression(tokens[index + 1 : end])
            if token == "[":
                inner = ast.Subscript(operands.pop() if operands else inner, inner, ast.Load())
            operands.append(inner)
            index = end
        elif token == "->" and operands:
            operands.append(ast.Subscript(operands.pop(), ast.Constant(0), ast.Load()))
        elif token == "*" and before in _BEFORE_POINTER and after not in (")", ",", ""):
            pointer = ast.Name(after if after.isidentifier() else "_", ast.Load())
            operands.append(ast.Subscript(pointer, ast.Constant(0), ast.Load()))
        elif token.isidentifier():
            if after in ("++", "--") or before in ("++", "--"):
                operands.append(ast.NamedExpr(ast.Name(token, ast.Store()), ast.Name(token, ast.Load())))
            elif after == "(":
                end = _end_of(tokens, index + 1)
                operands.append(_call(token, _expression(tokens[index + 2 : end])))
                index = end
            else:
                operands.append(ast.Name(token, ast.Load()))
        index += 1
    return operands


def _end_of(tokens: Sequence[str], index: int) -> int:
    """Return the index of the bracket that closes the one at `index`."""
    depth = 0
    for end in range(index, len(tokens)):
        depth += (tokens[end] in _OPENING) - (tokens[end] in _CLOSING)
        if not depth:
            return end
    return len(tokens)


def _call(name: str, inner: ast.expr) -> ast.expr:
    arguments = _parts(inner)
    if name.startswith("atomic"):
        return ast.Call(ast.Attribute(ast.Name("atomic", ast.Load()), name, ast.Load()), arguments, [])
    if _LANE_CALLS.fullmatch(name):
        return ast.Tuple([ast.Name(_LANE, ast.Load()), inner], ast.Load())
    return ast.Call(ast.Attribute(ast.Name("math", ast.Load()), name, ast.Load()), arguments, [])


def _parts(inner: ast.expr) -> list[ast.expr]:
    """Return the arguments of a call, which commas separate."""
    if isinstance(inner, ast.Tuple) and len(inner.elts) == 2 and isinstance(inner.elts[1], ast.Tuple):
        return [inner.elts[0], *_parts(inner.elts[1])]
    return [inner]
