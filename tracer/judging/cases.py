"""The cases of a judge: what its `cases()` yields, looked at before anything is launched."""

from __future__ import annotations

import inspect
import math
import numbers
import traceback
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from ..model.launch import Dim3
from ..model.launch_limits import BLOCK, GRID, THREADS

KEYS = ("grid", "block", "arguments", "expected", "tolerance", "shared_bytes", "sizes")
NEEDED = KEYS[:4]
MOST = 100  # cases
PLAIN = "biufc"  # kinds of NumPy types that a kernel's arrays may have
MOST_SHARED = 227 * 1024  # bytes of a block on any GPU of today


class JudgeFault(Exception):
    """Something is wrong with the exercise, not with the student's file: one sentence, and the line it is about."""

    def __init__(self, sentence: str, line: int) -> None:
        super().__init__(sentence)
        self.line = line


class Case(Struct, frozen=True, eq=False):
    """A launch, and what it is expected to leave."""

    grid: Dim3  # blocks
    block: Dim3  # threads
    arguments: tuple[Any, ...]  # arrays and numbers in the kernel's order, which nobody else holds
    expected: Mapping[int, NDArray[Any]]  # by the place of an argument, in its shape
    tolerance: float  # the largest absolute error that passes
    shared_bytes: int  # of dynamic shared memory, a block
    sizes: Mapping[str, float]  # numbers that goals may name

    def fresh_arguments(self) -> list[Any]:
        """Return copies of the arguments, which a kernel may write to."""
        return [a.copy() if isinstance(a, np.ndarray) else a for a in self.arguments]


def cases_of(make: Callable[[], Any], kernel: Any, file: str) -> list[Case]:
    """Return the cases that a judge's `cases` makes for the stub's kernel in a file; raises JudgeFault."""
    parameters = tuple(inspect.signature(kernel.py_func).parameters)
    line = getattr(getattr(make, "__code__", None), "co_firstlineno", 1)
    found: list[Case] = []
    for said, at in _yielded(make, file, line):
        if len(found) == MOST:
            raise JudgeFault(f"cases() yields more than {MOST} cases.", at)
        try:
            found.append(_case(said, parameters))
        except (ValueError, TypeError, OverflowError) as error:
            raise JudgeFault(f"Case {len(found) + 1} of the judge: {error}.", at) from None
    if not found:
        raise JudgeFault("cases() yields no case.", line)
    return found


def _yielded(make: Callable[[], Any], file: str, line: int) -> Iterator[tuple[Any, int]]:
    """Yield each case with the line at which the judge stood; raises JudgeFault where the judge raises."""
    try:
        made = make()
        for said in made:
            frame = getattr(made, "gi_frame", None)
            yield said, frame.f_lineno if frame is not None else line
    except JudgeFault:
        raise
    except (Exception, SystemExit) as error:  # whatever somebody's program raises
        lines = [s.lineno for s in traceback.extract_tb(error.__traceback__) if s.filename == file]
        raise JudgeFault(
            f"The judge raised {type(error).__name__}: {error}.", (lines[-1:] or [line])[0] or line
        ) from error


def _case(said: Any, parameters: tuple[str, ...]) -> Case:
    """Return a case as it was yielded; raises ValueError and TypeError, whose text says what is wrong."""
    if not isinstance(said, Mapping):
        raise ValueError(f"it is no dict but {type(said).__name__}")
    for key in NEEDED:
        if key not in said:
            raise ValueError(f"it has no {key!r}")
    for key in said:
        if key not in KEYS:
            raise ValueError(f"{key!r} is not known; there are {', '.join(KEYS)}")
    grid, block = _lengths(said["grid"], "grid", GRID), _lengths(said["block"], "block", BLOCK)
    if math.prod(block) > THREADS:
        raise ValueError(f"a block has at most {THREADS:,} threads, not {math.prod(block):,}")
    arguments = _arguments(said["arguments"], parameters)
    expected = _expected(said["expected"], arguments, parameters)
    tolerance, shared = said.get("tolerance", 0.0), said.get("shared_bytes", 0)
    if not _is_number(tolerance) or not 0 <= tolerance < math.inf:
        raise ValueError(f"'tolerance' is {tolerance!r}, not a number from 0 on")
    if not isinstance(shared, int | np.integer) or not 0 <= shared <= MOST_SHARED:
        raise ValueError(f"'shared_bytes' is {shared!r}, not a whole number from 0 to {MOST_SHARED:,}")
    return Case(
        grid, block, arguments, expected, float(tolerance), int(shared), _sizes(said.get("sizes", {}))
    )


def _is_number(value: Any) -> bool:
    return isinstance(value, numbers.Real) or (isinstance(value, np.generic) and value.dtype.kind in "biuf")


def _lengths(said: Any, key: str, most: Dim3) -> Dim3:
    lengths = said if isinstance(said, tuple | list) else (said,)
    whole = all(isinstance(n, int | np.integer) and n > 0 for n in lengths)
    if not whole or not 1 <= len(lengths) <= 3:
        raise ValueError(f"{key!r} is {said!r}, not one to three whole numbers from 1 on")
    x, y, z = (int(n) for n in (*lengths, 1, 1)[:3])
    if x > most[0] or y > most[1] or z > most[2]:
        raise ValueError(f"{key!r} is {said!r}; CUDA takes at most {most}")
    return x, y, z


def _arguments(said: Any, parameters: tuple[str, ...]) -> tuple[Any, ...]:
    if not isinstance(said, tuple | list):
        raise ValueError(f"'arguments' is {type(said).__name__}, not a tuple")
    if len(said) != len(parameters):
        raise ValueError(f"the stub's kernel takes {len(parameters)} arguments, not {len(said)}")
    return tuple(_argument(value, name) for value, name in zip(said, parameters, strict=True))


def _argument(value: Any, name: str) -> Any:
    """Return an argument: of an array a copy, in C order as the kernel gets it."""
    if isinstance(value, np.ndarray):
        if value.dtype.kind not in PLAIN or not value.ndim or not value.dtype.isnative:
            raise ValueError(f"the argument {name} is an array of {value.dtype}, not of numbers")
        return np.array(value, order="C", copy=True, subok=False)
    if isinstance(value, bool | np.bool_) or _is_number(value):
        return value
    raise ValueError(f"the argument {name} is {type(value).__name__}, not a NumPy array or a number")


def _expected(said: Any, arguments: tuple[Any, ...], parameters: tuple[str, ...]) -> dict[int, NDArray[Any]]:
    if not isinstance(said, Mapping) or not said:
        raise ValueError("'expected' is no dict with an array for one argument at least")
    found = {}
    for name, value in said.items():
        place = parameters.index(name) if name in parameters else -1
        if place < 0 or not isinstance(arguments[place], np.ndarray):
            arrays = [n for n, a in zip(parameters, arguments, strict=True) if isinstance(a, np.ndarray)]
            raise ValueError(
                f"{name!r} in 'expected' is no array of the stub's; there are {', '.join(arrays)}"
            )
        array = np.array(value, copy=True)
        if array.dtype.kind not in PLAIN:
            raise ValueError(f"{name!r} in 'expected' holds {array.dtype}, no numbers")
        if array.shape != arguments[place].shape:
            raise ValueError(
                f"{name!r} in 'expected' has the shape {array.shape}, and the argument {arguments[place].shape}"
            )
        found[place] = array
    return found


def _sizes(said: Any) -> dict[str, float]:
    if not isinstance(said, Mapping):
        raise ValueError("'sizes' is no dict")
    for name, value in said.items():
        if (
            not isinstance(name, str)
            or not name.isidentifier()
            or not _is_number(value)
            or not math.isfinite(value)
        ):
            raise ValueError(f"{name!r} in 'sizes' is no name with a number")
    return {name: int(v) if isinstance(v, int | np.integer) else float(v) for name, v in said.items()}
