"""What the compiled engine can't take: the error, and what numba says of such code as one sentence."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable


class NotCompilable(Exception):
    """What this engine can't take: one sentence that names the line and the construct."""


class WaitsForOthers(NotCompilable):
    """A thread waits for what another would do, and they run one after the other; in turns they may end."""


class TooManyTurns(NotCompilable):
    """A launch makes more accesses than are to be made in turns."""


# Where numba was when it gave up: the innermost place comes first.
_PLACE = re.compile(r"During: [^\n]*? at [^\n]*? \((\d+)\)")
_CALL = re.compile(r"No implementation of function .*?>>> (.*?)\s*\n", re.S)
_COLOURS = re.compile(r"\x1b\[\d*m")
_NAME = re.compile(r"Untyped global name '(_ts_(\w+?)_\d+)'")
# The types that a load or a store is given: of what is stored, the array, the index and the number of the site.
_ACCESS = re.compile(r"(?:load|store (.*?),) (Cells\(\w+, \d+\)), (.*), [^,]*")
_ARRAY = re.compile(r"Cells\((\w+), (\d+)\)")


def sentence(error: Exception, functions: Iterable[ast.FunctionDef] = ()) -> str:
    """Return "line 12: what can't be compiled." from an error of numba's over some functions."""
    text = _COLOURS.sub("", str(error))
    place, call, name = _PLACE.search(text), _CALL.search(text), _NAME.search(text)
    line = int(place[1]) if place else getattr(getattr(error, "loc", None), "line", 0)
    said = _call(call[1]) if call else _first(text)
    if name is not None:
        line, said = _line_of(name[1], functions) or line, f"{name[2]}, which Numba does not compile"
    return f"line {line}: {_plain(said)}." if line else f"{_plain(said)}, which Numba does not compile."


def _line_of(name: str, functions: Iterable[ast.FunctionDef]) -> int:
    """Return the first line on which a name stands, 0 if it stands nowhere."""
    named = (n.lineno for f in functions for n in ast.walk(f) if isinstance(n, ast.Name) and n.id == name)
    return next(named, 0)


def unexpected(error: Exception) -> str:
    """Return one sentence of an error that nobody foresaw."""
    return f"{type(error).__name__} where it is compiled: {_first(str(error))}."


def _call(text: str) -> str:
    name, _, arguments = text.partition("(")
    name = name.removeprefix("_ts_").removeprefix("_")
    given = arguments.removesuffix(")")
    if name in ("attribute", "set_attribute"):
        return f"the attribute {given.split(', ')[-2]}"
    given = (
        given.removeprefix("int64, ") if name in ("load", "store") else given
    )  # the state, which they all take
    access = _ACCESS.fullmatch(f"{name} {given}")
    if access is not None:
        value, array, index = access.groups()
        return f"{f'a store of {value} to' if value else 'a load from'} an {array} at {index}"
    return f"{name} of ({given})"


def _first(text: str) -> str:
    lines = [line.strip(" -") for line in text.split("\n")]
    useful = [line for line in lines if line and not line.startswith(("Failed in", "During", "File"))]
    return useful[0].rstrip(".:") if useful else "something that numba can't compile"


def _plain(text: str) -> str:
    text = re.sub(r"Literal\[\w+\]\(([^)]*)\)", r"\1", text)
    return _ARRAY.sub(r"array of \1", text)
