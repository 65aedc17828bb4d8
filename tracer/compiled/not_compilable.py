"""The error for code that the compiled engine refuses, and numba's errors summed up in one sentence."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable


class NotCompilableError(Exception):
    """Code that the compiled engine refuses: one sentence that names the line and the construct."""


class EndlessWaitError(NotCompilableError):
    """A thread waits for another one while threads run one after the other; if they take turns, it may end."""


class TooManyTurnsError(NotCompilableError):
    """A launch makes more accesses than threads may make in turns."""


# Where numba was when it gave up: the innermost location comes first.
_LOCATION = re.compile(r"During: [^\n]*? at [^\n]*? \((\d+)\)")
_CALL = re.compile(r"No implementation of function .*?>>> (.*?)\s*\n", re.S)
_COLOURS = re.compile(r"\x1b\[\d*m")
_NAME = re.compile(r"Untyped global name '(_ts_(\w+?)_\d+)'")
# The argument types of a load or a store: of the stored value, the array, the index and the site number.
_ACCESS = re.compile(r"(?:load|store (.*?),) (Cells\(\w+, \d+\)), (.*), [^,]*")
_ARRAY = re.compile(r"Cells\((\w+), (\d+)\)")


def summarise_error(error: Exception, functions: Iterable[ast.FunctionDef] = ()) -> str:
    """Turn an error that numba raised while compiling some functions into "line 12: the construct."."""
    text = _COLOURS.sub("", str(error))
    location, call, name = _LOCATION.search(text), _CALL.search(text), _NAME.search(text)
    line = int(location[1]) if location else getattr(getattr(error, "loc", None), "line", 0)
    description = _describe_call(call[1]) if call else _first_useful_line(text)
    if name is not None:
        line, description = _line_of(name[1], functions) or line, f"{name[2]}, which Numba does not compile"
    return (
        f"line {line}: {_simplify_types(description)}."
        if line
        else f"{_simplify_types(description)}, which Numba does not compile."
    )


def _line_of(name: str, functions: Iterable[ast.FunctionDef]) -> int:
    """Find the first line that uses a name; 0 if no line does."""
    lines = (n.lineno for f in functions for n in ast.walk(f) if isinstance(n, ast.Name) and n.id == name)
    return next(lines, 0)


def describe_unexpected(error: Exception) -> str:
    """Describe an unforeseen error in one sentence."""
    return f"{type(error).__name__} while compiling: {_first_useful_line(str(error))}."


def _describe_call(text: str) -> str:
    name, _, arguments = text.partition("(")
    name = name.removeprefix("_ts_").removeprefix("_")
    argument_types = arguments.removesuffix(")")
    if name in ("attribute", "set_attribute"):
        return f"the attribute {argument_types.split(', ')[-2]}"
    # Without the state, which they all take.
    argument_types = argument_types.removeprefix("int64, ") if name in ("load", "store") else argument_types
    access = _ACCESS.fullmatch(f"{name} {argument_types}")
    if access is not None:
        value, array, index = access.groups()
        return f"{f'a store of {value} to' if value else 'a load from'} an {array} at {index}"
    return f"{name} of ({argument_types})"


def _first_useful_line(text: str) -> str:
    lines = [line.strip(" -") for line in text.split("\n")]
    useful = [line for line in lines if line and not line.startswith(("Failed in", "During", "File"))]
    return useful[0].rstrip(".:") if useful else "something that numba can't compile"


def _simplify_types(text: str) -> str:
    text = re.sub(r"Literal\[\w+\]\(([^)]*)\)", r"\1", text)
    return _ARRAY.sub(r"array of \1", text)
