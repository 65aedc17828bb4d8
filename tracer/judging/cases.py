"""The cases that a judge's `cases()` yields, validated before any launch."""

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
REQUIRED_KEYS = KEYS[:4]
MAX_CASES = 100
NUMBER_KINDS = "biufc"  # kinds of NumPy types that a kernel's arrays may have
MAX_SHARED_BYTES = 227 * 1024  # of a block, on any current GPU


class InvalidExerciseError(Exception):
    """The exercise is invalid, not the student's file: one sentence, and its line."""

    def __init__(self, sentence: str, line: int) -> None:
        super().__init__(sentence)
        self.line = line


class Case(Struct, frozen=True, eq=False):
    """A launch and the results expected of it."""

    grid: Dim3  # blocks
    block: Dim3  # threads
    arguments: tuple[Any, ...]  # arrays and numbers in the kernel's order, not shared
    expected: Mapping[int, NDArray[Any]]  # by the index of an argument, in its shape
    tolerance: float  # the largest absolute error that passes
    shared_bytes: int  # dynamic shared memory of a block
    sizes: Mapping[str, float]  # numbers that goals may name

    def fresh_arguments(self) -> list[Any]:
        """Copy the arguments for a kernel to write to."""
        return [a.copy() if isinstance(a, np.ndarray) else a for a in self.arguments]


def collect_cases(make: Callable[[], Any], kernel: Any, file: str) -> list[Case]:
    """Collect the cases that a judge's `cases` yields for the stub's kernel in a file; raises InvalidExerciseError."""
    parameters = tuple(inspect.signature(kernel.py_func).parameters)
    line = getattr(getattr(make, "__code__", None), "co_firstlineno", 1)
    cases: list[Case] = []
    for yielded, case_line in _run_judge(make, file, line):
        if len(cases) == MAX_CASES:
            raise InvalidExerciseError(f"cases() yields more than {MAX_CASES} cases.", case_line)
        try:
            cases.append(_parse_case(yielded, parameters))
        except (ValueError, TypeError, OverflowError) as error:
            raise InvalidExerciseError(f"Case {len(cases) + 1} of the judge: {error}.", case_line) from None
    if not cases:
        raise InvalidExerciseError("cases() yields no case.", line)
    return cases


def _run_judge(make: Callable[[], Any], file: str, line: int) -> Iterator[tuple[Any, int]]:
    """Yield each case with the judge's current line; raises InvalidExerciseError if the judge raises."""
    try:
        generator = make()
        for yielded in generator:
            frame = getattr(generator, "gi_frame", None)
            yield yielded, frame.f_lineno if frame is not None else line
    except InvalidExerciseError:
        raise
    except (Exception, SystemExit) as error:  # the judge is the user's code
        lines = [s.lineno for s in traceback.extract_tb(error.__traceback__) if s.filename == file]
        raise InvalidExerciseError(
            f"The judge raised {type(error).__name__}: {error}.", (lines[-1:] or [line])[0] or line
        ) from error


def _parse_case(fields: Any, parameters: tuple[str, ...]) -> Case:
    """Convert a yielded case; raises ValueError or TypeError, whose message describes the mistake."""
    if not isinstance(fields, Mapping):
        raise ValueError(f"it is {type(fields).__name__}, not a dict")
    for key in REQUIRED_KEYS:
        if key not in fields:
            raise ValueError(f"it has no {key!r}")
    for key in fields:
        if key not in KEYS:
            raise ValueError(f"{key!r} is unknown; the keys are {', '.join(KEYS)}")
    grid, block = (
        _parse_lengths(fields["grid"], "grid", GRID),
        _parse_lengths(fields["block"], "block", BLOCK),
    )
    if math.prod(block) > THREADS:
        raise ValueError(f"a block has at most {THREADS:,} threads, not {math.prod(block):,}")
    arguments = _parse_arguments(fields["arguments"], parameters)
    expected = _parse_expected(fields["expected"], arguments, parameters)
    tolerance, shared = fields.get("tolerance", 0.0), fields.get("shared_bytes", 0)
    if not _is_number(tolerance) or not 0 <= tolerance < math.inf:
        raise ValueError(f"'tolerance' is {tolerance!r}, not a number of at least 0")
    if not isinstance(shared, int | np.integer) or not 0 <= shared <= MAX_SHARED_BYTES:
        raise ValueError(f"'shared_bytes' is {shared!r}, not a whole number from 0 to {MAX_SHARED_BYTES:,}")
    return Case(
        grid, block, arguments, expected, float(tolerance), int(shared), _parse_sizes(fields.get("sizes", {}))
    )


def _is_number(value: Any) -> bool:
    return isinstance(value, numbers.Real) or (isinstance(value, np.generic) and value.dtype.kind in "biuf")


def _parse_lengths(value: Any, key: str, limits: Dim3) -> Dim3:
    lengths = value if isinstance(value, tuple | list) else (value,)
    are_positive = all(isinstance(n, int | np.integer) and n > 0 for n in lengths)
    if not are_positive or not 1 <= len(lengths) <= 3:
        raise ValueError(f"{key!r} is {value!r}, not one to three positive whole numbers")
    x, y, z = (int(n) for n in (*lengths, 1, 1)[:3])
    if x > limits[0] or y > limits[1] or z > limits[2]:
        raise ValueError(f"{key!r} is {value!r}; CUDA takes at most {limits}")
    return x, y, z


def _parse_arguments(values: Any, parameters: tuple[str, ...]) -> tuple[Any, ...]:
    if not isinstance(values, tuple | list):
        raise ValueError(f"'arguments' is {type(values).__name__}, not a tuple")
    if len(values) != len(parameters):
        raise ValueError(f"the stub's kernel takes {len(parameters)} arguments, not {len(values)}")
    return tuple(_parse_argument(value, name) for value, name in zip(values, parameters, strict=True))


def _parse_argument(value: Any, name: str) -> Any:
    """Check an argument; an array is copied, in C order as the kernel gets it."""
    if isinstance(value, np.ndarray):
        if value.dtype.kind not in NUMBER_KINDS or not value.ndim or not value.dtype.isnative:
            raise ValueError(f"the argument {name} is an array of {value.dtype}, not of numbers")
        return np.array(value, order="C", copy=True, subok=False)
    if isinstance(value, bool | np.bool_) or _is_number(value):
        return value
    raise ValueError(f"the argument {name} is {type(value).__name__}, not a NumPy array or a number")


def _parse_expected(
    arrays_by_name: Any, arguments: tuple[Any, ...], parameters: tuple[str, ...]
) -> dict[int, NDArray[Any]]:
    if not isinstance(arrays_by_name, Mapping) or not arrays_by_name:
        raise ValueError("'expected' is not a dict with an array for at least one argument")
    expected = {}
    for name, content in arrays_by_name.items():
        index = parameters.index(name) if name in parameters else -1
        if index < 0 or not isinstance(arguments[index], np.ndarray):
            arrays = [n for n, a in zip(parameters, arguments, strict=True) if isinstance(a, np.ndarray)]
            raise ValueError(
                f"{name!r} in 'expected' is not an array of the stub; its arrays are {', '.join(arrays)}"
            )
        array = np.array(content, copy=True)
        if array.dtype.kind not in NUMBER_KINDS:
            raise ValueError(f"{name!r} in 'expected' holds {array.dtype}, not numbers")
        if array.shape != arguments[index].shape:
            raise ValueError(
                f"{name!r} in 'expected' has the shape {array.shape}, and the argument {arguments[index].shape}"
            )
        expected[index] = array
    return expected


def _parse_sizes(sizes: Any) -> dict[str, float]:
    if not isinstance(sizes, Mapping):
        raise ValueError("'sizes' is not a dict")
    for name, number in sizes.items():
        if (
            not isinstance(name, str)
            or not name.isidentifier()
            or not _is_number(number)
            or not math.isfinite(number)
        ):
            raise ValueError(f"{name!r} in 'sizes' is not a name with a finite number")
    return {name: int(v) if isinstance(v, int | np.integer) else float(v) for name, v in sizes.items()}
