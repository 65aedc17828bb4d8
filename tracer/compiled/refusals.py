"""What numba says of code that it can't compile, as one sentence."""

from __future__ import annotations

import re

# Where numba was when it gave up: the innermost place comes first.
_PLACE = re.compile(r"During: [^\n]*? at [^\n]*? \((\d+)\)")
_CALL = re.compile(r"No implementation of function .*?>>> (.*?)\s*\n", re.S)
_COLOURS = re.compile(r"\x1b\[\d*m")
_ARRAY = re.compile(r"Cells\((\w+), (\d+)\)")


def sentence(error: Exception) -> str:
    """Return "line 12: what can't be compiled." from an error of numba's."""
    text = _COLOURS.sub("", str(error))
    place, call = _PLACE.search(text), _CALL.search(text)
    line = int(place[1]) if place else getattr(getattr(error, "loc", None), "line", 0)
    said = _call(call[1]) if call else _first(text)
    return f"line {line}: {_plain(said)}."


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
    return f"{name} of ({given})"


def _first(text: str) -> str:
    lines = [line.strip(" -") for line in text.split("\n")]
    useful = [line for line in lines if line and not line.startswith(("Failed in", "During", "File"))]
    return useful[0].rstrip(".:") if useful else "something that numba can't compile"


def _plain(text: str) -> str:
    text = re.sub(r"Literal\[\w+\]\(([^)]*)\)", r"\1", text)
    return _ARRAY.sub(r"array of \1", text)
