"""The table [tool.tilescope] of pyproject.toml: what to check, and which findings count."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from ....kernels.scenarios.suggestions import did_you_mean
from ..common.arguments import UsageError
from .chosen_rules import check_prefixes

FILE = "pyproject.toml"
TABLE = "tool.tilescope"


class Limits(NamedTuple):
    """Limits of each launch; None for the command's own."""

    patience: float | None = None
    resident: int | None = None
    blocks: tuple[int, ...] | str | None = None  # numbers, or "all"


class Configuration(NamedTuple):
    """The settings of a project."""

    folder: Path  # of the file
    paths: tuple[str, ...] = ()
    select: tuple[str, ...] = ()  # none for all
    ignore: tuple[str, ...] = ()
    per_file_ignores: tuple[tuple[str, tuple[str, ...]], ...] = ()
    programs: tuple[tuple[str, ...], ...] = ()  # the words of each
    schedules: int = 0
    baseline: Path | None = None
    limits: Limits = Limits()


class _ValueProblem(Exception):
    """A value that can't be used; the text says what it must be."""


def find_configuration(start: Path) -> Configuration:
    """Read the settings in the nearest pyproject.toml that has some; raises UsageError with the line of a mistake."""
    for folder in (start, *start.parents):
        path = folder / FILE
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            continue
        if TABLE in text or re.search(r"^\s*\[\s*tool\s*\]", text, re.MULTILINE):
            table = _table(path, text)
            if table is not None:
                return _configuration(path, text, table)
    return Configuration(start)


def _table(path: Path, text: str) -> dict[str, Any] | None:
    import tomllib  # imported here for a fast start

    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        place = re.search(r" \(at line (\d+), column \d+\)$", str(error))
        line = place[1] if place else text.count("\n") + 1
        reason = str(error)[: place.start()] if place else str(error).removesuffix(" (at end of document)")
        raise UsageError(f"{path}:{line}: {reason[:1].lower()}{reason[1:]}.") from error
    tool = data.get("tool", {})
    table = tool.get("tilescope") if isinstance(tool, dict) else None
    if table is not None and not isinstance(table, dict):
        raise UsageError(f"{path}:{_line_of(text, ['tilescope'])}: {TABLE} must be a table.")
    return table


def _configuration(path: Path, text: str, table: dict[str, Any]) -> Configuration:
    readers: dict[str, Callable[[Any], Any]] = {
        "paths": _texts, "select": _codes, "ignore": _codes, "per-file-ignores": _per_file, "programs": _programs,
        "schedules": _count, "baseline": lambda value: path.parent / _text(value),
        "limits": lambda value: _limits(path, text, value),
    }  # fmt: skip
    values = _read(path, text, table, readers, [])
    return Configuration(path.parent, **{name.replace("-", "_"): value for name, value in values.items()})


def _read(
    path: Path, text: str, table: dict[str, Any], readers: dict[str, Callable[[Any], Any]], above: list[str]
) -> dict[str, Any]:
    values = {}
    for name, value in table.items():
        line = _line_of(text, [*above, name])
        if name not in readers:
            where = ".".join([TABLE, *above])
            raise UsageError(f"{path}:{line}: [{where}] has no setting {name!r}{did_you_mean(name, readers)}")
        try:
            values[name] = readers[name](value)
        except _ValueProblem as problem:
            raise UsageError(f"{path}:{line}: {name} {problem}.") from problem
        except UsageError as error:
            already = str(error).startswith(str(path))
            raise UsageError(str(error) if already else f"{path}:{line}: {error}") from error
    return values


def _text(value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise _ValueProblem("must be a text")
    return value


def _texts(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) and item for item in value):
        raise _ValueProblem("must be a list of texts")
    return tuple(value)


def _codes(value: Any) -> tuple[str, ...]:
    return check_prefixes(_texts(value))


def _per_file(value: Any) -> tuple[tuple[str, tuple[str, ...]], ...]:
    if not isinstance(value, dict):
        raise _ValueProblem("must be a table of patterns with lists of rules")
    return tuple((pattern, _codes(codes)) for pattern, codes in value.items())


def _programs(value: Any) -> tuple[tuple[str, ...], ...]:
    """Parse command lines such as "kernels.py --size 64", or lists of their words."""
    if not isinstance(value, list):
        raise _ValueProblem("must be a list of programs with their arguments")
    programs = []
    for item in value:
        try:
            words = shlex.split(item) if isinstance(item, str) else list(_texts(item))
        except ValueError as error:
            raise _ValueProblem(f"has a quote without its end in {item!r}") from error
        if not words:
            raise _ValueProblem("must be a list of programs with their arguments")
        programs.append(tuple(words))
    return tuple(programs)


def _count(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise _ValueProblem("must be a whole number from 1 on")
    return value


def _seconds(value: Any) -> float:
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0.001 <= value <= 1_000_000:
        raise _ValueProblem("must be a number of seconds above 0")
    return float(value)


def _blocks(value: Any) -> tuple[int, ...] | str:
    if value == "all":
        return "all"
    is_list = isinstance(value, list) and value
    if not is_list or not all(isinstance(n, int) and not isinstance(n, bool) and n >= 0 for n in value):
        raise _ValueProblem('must be a list of block numbers, or "all"')
    return tuple(sorted(set(value)))


def _limits(path: Path, text: str, value: Any) -> Limits:
    if not isinstance(value, dict):
        raise _ValueProblem("must be a table")
    readers: dict[str, Callable[[Any], Any]] = {"patience": _seconds, "resident": _count, "blocks": _blocks}
    return Limits(**_read(path, text, value, readers, ["limits"]))


def _line_of(text: str, names: list[str]) -> int:
    """Find the line of a key in the table, as well as a text without positions allows; 1 if it is not clear."""
    table, inside = "", re.compile(r"^\s*\[\s*([^\]]+?)\s*\]")
    wanted = ".".join([TABLE, *names])
    for number, line in enumerate(text.splitlines(), 1):
        if header := inside.match(line):
            table = re.sub(r"[\s\"']", "", header[1])
            if table == wanted:
                return number
            continue
        key = re.match(r"\s*([\w\"'.-]+)\s*=", line)
        if key and f"{table}.{re.sub(chr(34) + '|' + chr(39), '', key[1])}" == wanted:
            return number
    return next(
        (
            n
            for n, line in enumerate(text.splitlines(), 1)
            if re.search(rf"\b{re.escape(names[-1])}\b\s*=", line)
        ),
        1,
    )
