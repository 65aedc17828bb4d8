"""Arithmetic in captions, choices and answers: parsed with an allow-list of Python's syntax, and evaluated here."""

from __future__ import annotations

import ast
import operator
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from msgspec.structs import replace

from ....kernels.scenarios.suggestions import did_you_mean
from .quantities import Quantity, Unit, is_format, least_certain, quantity_text

LONGEST = 400  # characters of an expression
DEEPEST = 30  # nested parts


class ExpressionError(Exception):
    """An expression that can't be read or computed; the text is one sentence."""


class PendingError(ExpressionError):
    """A number is not computed yet, but will be soon."""


class Names(ABC):
    """An object with named values: a pane, a buffer, a request, a measured row. All methods raise ExpressionError."""

    @property
    @abstractmethod
    def description(self) -> str:
        """Its description in an error: "the left pane"."""

    @abstractmethod
    def get(self, name: str) -> Quantity | Names:
        """Look up a name."""

    def part(self, name: str) -> Quantity | Names:
        """Look up a name whose element or attribute is used next."""
        return self.get(name)

    def lines_with(self, text: str) -> tuple[int, ...]:
        """Return the numbers of the lines with a text, if there is a source."""
        raise ExpressionError(f"{self.description} has no source.")

    def element(self, index: tuple[int, ...]) -> Quantity:
        """Return an element, if there are any."""
        raise ExpressionError(f"{self.description} has no elements; name a buffer, as in left.C[2, 3].")


Function = Callable[[tuple[Quantity, ...], Mapping[str, Quantity]], "Quantity | Names"]
Environment = Mapping[str, "Names | Quantity | Function"]

ARITHMETIC: dict[type[ast.operator], tuple[str, Callable[[float, float], float]]] = {
    ast.Add: ("+", operator.add),
    ast.Sub: ("-", operator.sub),
    ast.Mult: ("*", operator.mul),
    ast.Div: ("/", operator.truediv),
    ast.FloorDiv: ("//", operator.floordiv),
    ast.Mod: ("%", operator.mod),
}
COMPARISONS: dict[type[ast.cmpop], Callable[[Any, Any], bool]] = {  # of two numbers, or of two words
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
MOST_DIGITS = 15  # of a rounded number, before or after its point


def _rounded(number: float, digits: float | None = None) -> float:
    """Round a number as Python does; raises ValueError for digits that would take too long."""
    if digits is None:
        return round(number)
    if not isinstance(digits, int) or abs(digits) > MOST_DIGITS:
        raise ValueError
    return round(number, digits)


FUNCTIONS: dict[str, Callable[..., float]] = {"min": min, "max": max, "round": _rounded, "abs": abs}
ALLOWED = (
    ast.Expression, ast.BinOp, ast.UnaryOp, ast.USub, ast.Compare, ast.IfExp, ast.BoolOp, ast.And, ast.Or, ast.Not,
    ast.Call, ast.keyword, ast.Attribute, ast.Subscript, ast.Tuple, ast.Name, ast.Load, ast.Constant,
    *ARITHMETIC, *COMPARISONS,
)  # fmt: skip


@dataclass(frozen=True)
class Expression:
    """An expression that was read, with the format of its text."""

    text: str  # as written
    tree: ast.expr = field(compare=False)  # of Python's syntax
    spec: str = ""  # after the colon

    def evaluate(self, names: Environment) -> Quantity:
        """Evaluate the expression; raises ExpressionError."""
        value = _value(self.tree, names)
        if not isinstance(value, Quantity):
            name = ast.unparse(self.tree)
            raise ExpressionError(
                f"{name} is {value.description}, not a number; name one of its values, as in {name}.NAME."
            )
        return value

    def format(self, value: Quantity) -> str:
        """Format the value; raises ExpressionError if it does not suit the format."""
        try:
            return quantity_text(value, self.spec)
        except (ValueError, OverflowError):
            reason = f"can't be written as {self.spec!r}" if self.spec else "is too large to be written"
            raise ExpressionError(f"{self.text} {reason}.") from None


def parse(text: str) -> Expression:
    """Parse a text such as "left.global_sectors / 2:.1f"; raises ExpressionError."""
    body, spec = _split(text)
    if not body.strip():
        raise ExpressionError("There is nothing between the braces.")
    if len(body) > LONGEST:
        raise ExpressionError(f"An expression may have {LONGEST} characters, not {len(body):,}.")
    if not is_format(spec):
        words = "_".join(spec.split())
        if words.isidentifier() and len(words) > 1:  # a name, not a format
            raise ExpressionError(
                f"{text.strip()!r} is not the name of a number; write for example left.{words}, "
                "and a format such as .1f after a colon."
            )
        raise ExpressionError(f"The format {spec!r} is not known; write for example .1f, .0f, d or .0%.")
    try:
        with warnings.catch_warnings(action="error"):  # Python's parser would print them
            tree = ast.parse(body.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise ExpressionError(f"{body.strip()} can't be read as arithmetic.") from None
    _check(tree, 0)
    return Expression(text, tree, spec)


def _split(text: str) -> tuple[str, str]:
    """Split a text into expression and format at the first colon outside quotes."""
    quote = ""
    for i, char in enumerate(text):
        if quote:
            quote = "" if char == quote else quote
        elif char in "'\"":
            quote = char
        elif char == ":":
            return text[:i], text[i + 1 :].strip()
    return text, ""


def _check(node: ast.AST, depth: int) -> None:
    if depth > DEEPEST:
        raise ExpressionError("The expression is nested too deeply.")
    if not isinstance(node, ALLOWED):
        raise ExpressionError(
            f"{_shown(node)} is not allowed here; there are numbers, names, + - * / // % and comparisons."
        )
    if isinstance(node, ast.Constant) and not isinstance(node.value, int | float | str):
        raise ExpressionError(f"{_shown(node)} is not allowed here; write a number or a word in quotes.")
    for child in ast.iter_child_nodes(node):
        _check(child, depth + 1)


def _shown(node: ast.AST) -> str:
    return ast.unparse(node) if isinstance(node, ast.expr) else type(node).__name__


def _value(node: ast.expr, names: Environment) -> Quantity | Names:
    match node:
        case ast.Constant():
            return Quantity(_constant(node))
        case ast.Name():
            return _named(node.id, names)
        case ast.Attribute():
            return _part(node, names)
        case ast.Subscript():
            return _element(node, names)
        case ast.Call():
            return _call(node, names)
        case ast.BinOp():
            return _arithmetic(node, names)
        case ast.UnaryOp():
            return _signed(node, names)
        case ast.Compare():
            return _compared(node, names)
        case ast.BoolOp():
            return _joined(node, names)
        case ast.IfExp():
            return _chosen(node, names)
    raise ExpressionError(f"{_shown(node)} is not allowed here.")


def _chosen(node: ast.IfExp, names: Environment) -> Quantity:
    """Return one of two values; the mark includes that of the condition."""
    test = _quantity(node.test, names)
    value = _quantity(node.body if test.value else node.orelse, names)
    return replace(value, mark=least_certain((value.mark, test.mark)), origin=_origin(value, test))


def _constant(node: ast.Constant) -> float | int | str | bool:
    if isinstance(node.value, int | float | str):
        return node.value
    raise ExpressionError(f"{_shown(node)} is not allowed here.")


def _named(name: str, names: Environment) -> Quantity | Names:
    meaning = names.get(name)
    if meaning is None or callable(meaning):
        if owner := _owner_of(name, names):
            raise ExpressionError(f"{name} needs its pane; write {owner}.{name}.")
        variables = [key for key, value in names.items() if not callable(value)]
        raise ExpressionError(f"{name} is not known{did_you_mean(name, variables)}")
    return meaning


def _owner_of(name: str, names: Environment) -> str:
    """Find the first object that has a value of this name; "" if there is none."""
    for owner, value in names.items():
        if isinstance(value, Names):
            with suppress(ExpressionError):
                value.get(name)
                return owner
    return ""


def _part(node: ast.Attribute, names: Environment) -> Quantity | Names:
    owner = _owner(node.value, names)
    if isinstance(owner, Quantity):
        raise ExpressionError(f"{_shown(node.value)} is a number and has no {node.attr}.")
    return owner.get(node.attr)


def _owner(node: ast.expr, names: Environment) -> Quantity | Names:
    """Evaluate the owner of an attribute; if a buffer and a parameter have one name, choose the buffer."""
    if not isinstance(node, ast.Attribute):
        return _value(node, names)
    outer = _owner(node.value, names)
    return _part(node, names) if isinstance(outer, Quantity) else outer.part(node.attr)


def _element(node: ast.Subscript, names: Environment) -> Quantity:
    owner = _owner(node.value, names)
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    index = tuple(_quantity(part, names).value for part in parts)
    if isinstance(owner, Quantity) or not all(type(number) is int for number in index):
        raise ExpressionError(f"{_shown(node)} is not an element of a buffer.")
    return owner.element(tuple(int(number) for number in index))


def _call(node: ast.Call, names: Environment) -> Quantity | Names:
    name = _shown(node.func)
    arguments = tuple(_quantity(part, names) for part in node.args)
    keywords = {part.arg: _quantity(part.value, names) for part in node.keywords if part.arg}
    function = names.get(name)
    if function is not None and callable(function):
        return function(arguments, keywords)
    if name not in FUNCTIONS or keywords or not arguments:
        raise ExpressionError(f"{name}(...) is not known{did_you_mean(name, [*FUNCTIONS, 'measured'])}")
    mark = least_certain(a.mark for a in arguments)
    value = _computed(node, lambda: FUNCTIONS[name](*(_number(node, a) for a in arguments)))
    return Quantity(value, mark, arguments[0].unit, _origin(*arguments))


def _quantity(node: ast.expr, names: Environment) -> Quantity:
    value = _value(node, names)
    if not isinstance(value, Quantity):
        raise ExpressionError(f"{_shown(node)} is {value.description}, not a number.")
    return value


def _number(node: ast.AST, quantity: Quantity) -> float:
    if isinstance(quantity.value, str):
        raise ExpressionError(f"{_shown(node)} needs numbers, not {quantity.value!r}.")
    return quantity.value


def _computed(node: ast.expr, compute: Callable[[], float]) -> float:
    try:
        return compute()
    except ZeroDivisionError:
        raise ExpressionError(f"{_shown(node)} divides by zero.") from None
    except (OverflowError, TypeError, ValueError):
        raise ExpressionError(f"{_shown(node)} can't be computed.") from None


def _arithmetic(node: ast.BinOp, names: Environment) -> Quantity:
    left, right = _quantity(node.left, names), _quantity(node.right, names)
    symbol, compute = ARITHMETIC[type(node.op)]
    a, b = _number(node, left), _number(node, right)
    value = _computed(node, lambda: compute(a, b))
    return Quantity(
        value,
        least_certain((left.mark, right.mark)),
        _unit(symbol, left.unit, right.unit),
        _origin(left, right),
    )


def _unit(symbol: str, left: Unit, right: Unit) -> Unit:
    """Return the unit of a sum of equal units, or of a multiple; else none."""
    if symbol in "+-":
        return left if left == right else ""
    return left if not right and symbol != "%" else ""


def _origin(*quantities: Quantity) -> str:
    return next((q.origin for q in quantities if q.origin), "")


def _signed(node: ast.UnaryOp, names: Environment) -> Quantity:
    inner = _quantity(node.operand, names)
    if isinstance(node.op, ast.Not):
        return Quantity(not inner.value, inner.mark)
    return Quantity(-_number(node, inner), inner.mark, inner.unit, inner.origin)


def _compared(node: ast.Compare, names: Environment) -> Quantity:
    parts = [_quantity(part, names) for part in (node.left, *node.comparators)]
    truth = True
    for test, left, right in zip(node.ops, parts, parts[1:], strict=False):
        if isinstance(left.value, str) != isinstance(right.value, str):
            raise ExpressionError(f"{_shown(node)} compares a number with a word.")
        truth = truth and COMPARISONS[type(test)](left.value, right.value)
    return Quantity(truth, least_certain(part.mark for part in parts))


def _joined(node: ast.BoolOp, names: Environment) -> Quantity:
    parts = [_quantity(part, names) for part in node.values]
    is_and = isinstance(node.op, ast.And)
    truth = all(bool(p.value) for p in parts) if is_and else any(bool(p.value) for p in parts)
    return Quantity(truth, least_certain(part.mark for part in parts))
