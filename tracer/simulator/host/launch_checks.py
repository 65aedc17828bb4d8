"""Checks for launches that a GPU refuses; each error is one sentence that suggests the probable intention."""

from __future__ import annotations

import inspect
import numbers
from collections.abc import Callable, Sequence
from enum import Enum
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from . import h200
from .streams import is_stream

AXES = "xyz"
_LIMITS = {
    part: tuple(h200.ATTRIBUTES[f"MAX_{part.upper()}_DIM_{axis.upper()}"] for axis in AXES)
    for part in ("block", "grid")
}


class Configuration(NamedTuple):
    """A checked launch configuration."""

    grid: tuple[int, ...]  # blocks along x, y, z
    block: tuple[int, ...]  # threads of a block along x, y, z
    stream: Any
    shared_bytes: int  # dynamic shared memory of a block


def configuration(name: str, parameters: Any) -> Configuration:
    """Check the parameters in a kernel's brackets; raises TypeError or ValueError for invalid ones."""
    parts = parameters if isinstance(parameters, tuple) else (parameters,)
    call = f"{name}[{', '.join(map(repr, parts))}]"
    if not 2 <= len(parts) <= 4:
        raise ValueError(
            f"{call}: a launch takes 2 to 4 parameters, {name}[blocks, threads, stream, bytes of shared memory], "
            f"not {len(parts)}."
        )
    grid, block, stream, shared_bytes = (*parts, 0, 0)[:4] if len(parts) < 4 else parts
    if grid is None or block is None:
        raise ValueError(
            f"{call}: a launch needs numbers of blocks and threads; write {name}[blocks, threads]."
        )
    if not is_stream(stream):
        raise TypeError(_wrong_stream_message(call, name, parts))
    if not _is_integer(shared_bytes) or shared_bytes < 0:
        raise TypeError(
            f"{call}: the fourth parameter must be the bytes of shared memory, not {shared_bytes!r}."
        )
    return Configuration(
        _lengths(call, "grid", grid), _lengths(call, "block", block), stream, int(shared_bytes)
    )


def _wrong_stream_message(call: str, name: str, parts: Sequence[Any]) -> str:
    text = f"{call}: the third parameter of a launch must be its stream, not {parts[2]!r}"
    if not _is_integer(parts[2]):
        return f"{text}; write 0 for the default stream."
    grid, block, size = parts[:3]
    return (
        f"{text}; for {size!r} bytes of dynamic shared memory write {name}[{grid!r}, {block!r}, 0, {size!r}]."
    )


def _is_integer(value: Any) -> bool:
    return isinstance(value, numbers.Integral)


def _lengths(call: str, part: str, value: Any) -> tuple[int, ...]:
    lengths = tuple(value) if isinstance(value, tuple | list) else (value,)
    if not 1 <= len(lengths) <= 3:
        problem = f"{part}dim must be a sequence of 1, 2 or 3 integers, got {list(lengths)}"
        raise ValueError(f"{call}: {problem}.")
    for length in lengths:
        if not _is_integer(length):
            remedy = "; write // in place of /" if isinstance(length, float | np.floating) else ""
            kind = type(length).__name__
            problem = f"{part}dim must be a sequence of integers, got {list(lengths)}"
            raise TypeError(f"{call}: {problem}, and {length!r} is {_with_article(kind)}{remedy}.")
    return (*map(int, lengths), *(1,) * (3 - len(lengths)))


def _with_article(kind: str) -> str:
    return f"an {kind}" if kind[0] in "aeiou" else f"a {kind}"


def check_not_empty(name: str, grid: Sequence[int], block: Sequence[int]) -> None:
    """Raise ValueError for a launch without blocks or threads."""
    for part, lengths, unit in (("grid", grid, "blocks"), ("block", block, "threads")):
        for axis, length in zip(AXES, lengths, strict=True):
            if length < 1:
                raise ValueError(
                    f"{name}[{_text(grid)}, {_text(block)}]: {length} {unit} along {axis} of the {part}, but a GPU "
                    "needs at least 1, so the launch fails; skip the launch if there is nothing to do."
                )


def _text(lengths: Sequence[int]) -> str:
    shortened = list(lengths)
    while len(shortened) > 1 and shortened[-1] == 1:
        shortened.pop()
    return str(shortened[0]) if len(shortened) == 1 else f"({', '.join(map(str, shortened))})"


def check_limits(name: str, grid: Sequence[int], block: Sequence[int], shared_bytes: int) -> None:
    """Raise ValueError for a launch that exceeds a GPU's limits and fails there."""
    call = f"{name}[{_text(grid)}, {_text(block)}]"
    threads, max_threads = int(np.prod(block, dtype=object)), h200.ATTRIBUTES["MAX_THREADS_PER_BLOCK"]
    if threads > max_threads:
        raise ValueError(
            f"{call}: {threads:,} threads in a block, but a GPU takes at most {max_threads:,}, so the launch fails."
        )
    for part, lengths in (("block", block), ("grid", grid)):
        for axis, length, limit in zip(AXES, lengths, _LIMITS[part], strict=True):
            if length > limit:
                text = f"{length:,} along {axis} of the {part}, but a GPU takes at most {limit:,}, so the launch fails"
                raise ValueError(f"{call}: {text}; use x, which has the highest limit.")
    bytes_most = h200.ATTRIBUTES["MAX_SHARED_MEMORY_PER_BLOCK"]
    if shared_bytes > bytes_most:
        raise ValueError(
            f"{call}: {shared_bytes:,} bytes of dynamic shared memory, but Numba can use at most "
            f"{bytes_most:,}, so the launch fails."
        )


def check_arguments(function: Callable[..., Any], arguments: Sequence[Any], *, converted: bool) -> None:
    """Raise TypeError for too many or too few arguments, or for arguments without a type on a GPU.

    converted: whether an extension of the kernel converts the arguments.
    """
    parameters = _parameters(function)
    takes_any_number = any(parameter.kind is parameter.VAR_POSITIONAL for parameter in parameters)
    required = sum(p.default is p.empty and p.kind is not p.VAR_POSITIONAL for p in parameters)
    if not required <= len(arguments) <= (len(arguments) if takes_any_number else len(parameters)):
        are = "is" if len(arguments) == 1 else "are"
        takes = f"{len(parameters)} {'argument' if len(parameters) == 1 else 'arguments'}"
        raise TypeError(f"{function.__name__} takes {takes}, but {len(arguments)} {are} given.")
    for index, value in enumerate(arguments if not converted else ()):
        problem = unsupported_argument(value)
        if problem:
            parameter = parameters[min(index, len(parameters) - 1)].name
            raise TypeError(f"argument {parameter} of {function.__name__} is {problem}.")


@lru_cache(maxsize=256)
def _parameters(function: Callable[..., Any]) -> tuple[inspect.Parameter, ...]:
    return tuple(inspect.signature(function).parameters.values())


def unsupported_argument(value: Any) -> str:
    """Describe a value that no kernel takes, with the value to pass instead; "" for a supported value."""
    if isinstance(value, tuple):
        return next(
            (f"a tuple with {problem}" for problem in map(unsupported_argument, value) if problem), ""
        )
    if isinstance(value, np.ndarray) and value.dtype.kind == "O":
        return "an array of Python objects, which has no type on a GPU; give it a dtype of numbers"
    if isinstance(value, list):
        return "a list, which a kernel does not take; pass np.array(...) of it"
    if value is None or isinstance(value, str | bytes | dict | set | frozenset | type) or callable(value):
        kind = "None" if value is None else _with_article(type(value).__name__)
        return f"{kind}, which a kernel does not take; pass numbers and arrays"
    if isinstance(value, Enum):
        return unsupported_argument(value.value)
    return ""
