"""What a GPU refuses of a launch, as one sentence that says what was probably meant."""

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
    what: tuple(h200.ATTRIBUTES[f"MAX_{what.upper()}_DIM_{axis.upper()}"] for axis in AXES)
    for what in ("block", "grid")
}


class Configuration(NamedTuple):
    """Where and how a kernel is launched, checked."""

    grid: tuple[int, ...]  # blocks along x, y, z
    block: tuple[int, ...]  # threads of a block along x, y, z
    stream: Any
    shared_bytes: int  # dynamic shared memory of a block


def configuration(name: str, given: Any) -> Configuration:
    """Return what stands in a kernel's brackets; raises TypeError or ValueError for what no launch takes."""
    parts = given if isinstance(given, tuple) else (given,)
    call = f"{name}[{', '.join(map(repr, parts))}]"
    if not 2 <= len(parts) <= 4:
        raise ValueError(
            f"{call}: a launch takes 2 to 4 parameters, {name}[blocks, threads, stream, bytes of shared memory], "
            f"not {len(parts)}."
        )
    grid, block, stream, shared_bytes = (*parts, 0, 0)[:4] if len(parts) < 4 else parts
    if grid is None or block is None:
        raise ValueError(f"{call}: a launch takes numbers of blocks and of threads, {name}[blocks, threads].")
    if not is_stream(stream):
        raise TypeError(_no_stream(call, name, parts))
    if not _is_whole(shared_bytes) or shared_bytes < 0:
        raise TypeError(
            f"{call}: the fourth parameter is bytes of shared memory, which {shared_bytes!r} is not."
        )
    return Configuration(
        _lengths(call, "grid", grid), _lengths(call, "block", block), stream, int(shared_bytes)
    )


def _no_stream(call: str, name: str, parts: Sequence[Any]) -> str:
    text = f"{call}: the third parameter of a launch is its stream, which {parts[2]!r} is not"
    if not _is_whole(parts[2]):
        return f"{text}; write 0 for the default stream."
    grid, block, size = parts[:3]
    return (
        f"{text}; for {size!r} bytes of dynamic shared memory write {name}[{grid!r}, {block!r}, 0, {size!r}]."
    )


def _is_whole(value: Any) -> bool:
    return isinstance(value, numbers.Integral)


def _lengths(call: str, what: str, given: Any) -> tuple[int, ...]:
    lengths = tuple(given) if isinstance(given, tuple | list) else (given,)
    if not 1 <= len(lengths) <= 3:
        taken = f"{what}dim must be a sequence of 1, 2 or 3 integers, got {list(lengths)}"
        raise ValueError(f"{call}: {taken}.")
    for length in lengths:
        if not _is_whole(length):
            remedy = "; write // in place of /" if isinstance(length, float | np.floating) else ""
            kind = type(length).__name__
            taken = f"{what}dim must be a sequence of integers, got {list(lengths)}"
            raise TypeError(f"{call}: {taken}, and {length!r} is {_a(kind)}{remedy}.")
    return (*map(int, lengths), *(1,) * (3 - len(lengths)))


def _a(kind: str) -> str:
    return f"an {kind}" if kind[0] in "aeiou" else f"a {kind}"


def check_not_empty(name: str, grid: Sequence[int], block: Sequence[int]) -> None:
    """Raise ValueError for a launch without blocks or threads."""
    for what, lengths, unit in (("grid", grid, "blocks"), ("block", block, "threads")):
        for axis, length in zip(AXES, lengths, strict=True):
            if length < 1:
                raise ValueError(
                    f"{name}[{_text(grid)}, {_text(block)}]: {length} {unit} along {axis} of the {what}, where a GPU "
                    "takes at least 1: the launch fails; launch nothing where there is nothing to do."
                )


def _text(lengths: Sequence[int]) -> str:
    given = list(lengths)
    while len(given) > 1 and given[-1] == 1:
        given.pop()
    return str(given[0]) if len(given) == 1 else f"({', '.join(map(str, given))})"


def check_limits(name: str, grid: Sequence[int], block: Sequence[int], shared_bytes: int) -> None:
    """Raise ValueError for a launch that is larger than a GPU takes, which fails there as a whole."""
    call = f"{name}[{_text(grid)}, {_text(block)}]"
    threads, most = int(np.prod(block, dtype=object)), h200.ATTRIBUTES["MAX_THREADS_PER_BLOCK"]
    if threads > most:
        raise ValueError(
            f"{call}: {threads:,} threads in a block, where a GPU takes {most:,}: the launch fails."
        )
    for what, lengths in (("block", block), ("grid", grid)):
        for axis, length, limit in zip(AXES, lengths, _LIMITS[what], strict=True):
            if length > limit:
                text = f"{length:,} along {axis} of the {what}, where a GPU takes {limit:,}: the launch fails"
                raise ValueError(f"{call}: {text}; use x, which may be longest.")
    bytes_most = h200.ATTRIBUTES["MAX_SHARED_MEMORY_PER_BLOCK"]
    if shared_bytes > bytes_most:
        raise ValueError(
            f"{call}: {shared_bytes:,} bytes of dynamic shared memory, where Numba gets "
            f"{bytes_most:,}: the launch fails."
        )


def check_arguments(function: Callable[..., Any], arguments: Sequence[Any], *, converted: bool) -> None:
    """Raise TypeError for arguments that a kernel does not take: too many, too few, or of no type that a GPU has.

    converted: whether an extension of the kernel's makes others of them.
    """
    parameters = _parameters(function)
    rest = any(p.kind is p.VAR_POSITIONAL for p in parameters)
    needed = sum(p.default is p.empty and p.kind is not p.VAR_POSITIONAL for p in parameters)
    if not needed <= len(arguments) <= (len(arguments) if rest else len(parameters)):
        takes = f"{len(parameters)} {'argument' if len(parameters) == 1 else 'arguments'}"
        raise TypeError(f"{function.__name__} takes {takes}, and {len(arguments)} are given.")
    for place, value in enumerate(arguments if not converted else ()):
        why = unsupported(value)
        if why:
            parameter = parameters[min(place, len(parameters) - 1)].name
            raise TypeError(f"argument {parameter} of {function.__name__} is {why}.")


@lru_cache(maxsize=256)
def _parameters(function: Callable[..., Any]) -> tuple[inspect.Parameter, ...]:
    return tuple(inspect.signature(function).parameters.values())


def unsupported(value: Any) -> str:
    """Return what a value is that no kernel takes, with what to pass in its place; "" for what kernels take."""
    if isinstance(value, tuple):
        return next((f"a tuple with {why}" for why in map(unsupported, value) if why), "")
    if isinstance(value, np.ndarray) and value.dtype.kind == "O":
        return "an array of Python objects, which has no type on a GPU; give it a dtype of numbers"
    if isinstance(value, list):
        return "a list, which a kernel does not take; pass np.array(...) of it"
    if value is None or isinstance(value, str | bytes | dict | set | frozenset | type) or callable(value):
        kind = "None" if value is None else _a(type(value).__name__)
        return f"{kind}, which a kernel does not take; pass numbers and arrays"
    if isinstance(value, Enum):
        return unsupported(value.value)
    return ""
