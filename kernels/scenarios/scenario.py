"""What a scenario is: a kernel with its lesson, parameters, launch shape and NumPy reference."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from numpy.typing import NDArray

Value = int | str
Values = Mapping[str, Value]
Dim3 = tuple[int, int, int]
Arrays = Mapping[str, NDArray[Any]]


class CatalogueError(ValueError):
    """A scenario, parameter or input file that cannot be used; the message is one sentence for the user."""


@dataclass(frozen=True)
class Parameter:
    """One thing a user may choose: a whole number in a range, one of some words or numbers, or a file.

    file: the value is the path of a `.npy` file, or "" for none.
    """

    name: str
    label: str
    default: Value
    minimum: int = 1
    maximum: int = 1
    choices: tuple[Value, ...] = ()
    file: bool = False


@dataclass(frozen=True)
class Argument:
    """A kernel argument: an array filled by `fill` (see tracer.launch.Array), or a scalar `value`."""

    name: str
    shape: tuple[int, ...] = ()
    dtype: str = "float32"
    fill: str = "zeros"
    path: str = ""
    value: int | float | None = None


@dataclass(frozen=True)
class Plan:
    """A scenario with its parameters settled: everything a launch needs but the schedule."""

    arguments: tuple[Argument, ...]
    grid: Dim3
    block: Dim3
    constants: Mapping[str, int | float | str]
    shared_bytes: int = 0


@dataclass(frozen=True)
class Baseline:
    """The same work as a CPU program, timed beside the kernel.

    function: `module:function`, which takes the kernel's arguments. The name is unique within its scenario.
    """

    name: str
    title: str
    function: str


@dataclass(frozen=True)
class CudaC:
    """A kernel in CUDA C: a function of a file in kernels/cuda_c; `{tile}` in it is that parameter.

    It takes the arrays, then `numbers`, parameters as ints; `dynamic` says whether the plan's dynamic shared
    memory is for it.
    """

    file: str
    function: str
    numbers: tuple[str, ...] = ("m", "k", "n")
    dynamic: bool = False


@dataclass(frozen=True)
class PhaseText:
    """How a phase is called and what it does; `{step}` is the round, counted from 0."""

    label: str
    sentence: str


_KEPT = ("memory", "load", "store", "request", "atomic", "tile", "array")  # nouns that keep their name
# The words of HSA and OpenCL for those of CUDA. A wavefront is HSA's warp, so that a pass over the banks of
# shared memory, which NVIDIA calls so, gets another name. Python's threads are no work-items.
WORK_ITEM_WORDS = {
    "thread": "work-item",
    "python thread": "Python thread",
    "block": "work-group",
    "grid": "range",
    "warp": "wavefront",
    "wavefront": "bank pass",
    **{f"shared {noun}": f"local {noun}" for noun in _KEPT},
    **{f"local {noun}": f"private {noun}" for noun in _KEPT},
}


def _no_flop(plan: Plan) -> int:
    return 0


@dataclass(frozen=True)
class Scenario:
    """A kernel as a lesson.

    kernel: `module:function`. roles: where a buffer is drawn: "left" of the result, "above" it, or as the
    "result"; shared buffers stand beside them. phases: texts of the phases in turn, repeated; `last`: of
    the last phase of a block. resident: blocks that run at once (None: as many as fit).
    reference: (arguments after filling, by name, and `gridDim` and `blockDim`, three numbers each) -> the
    expected content of each array that the kernel writes, by name. tolerance: (the same arguments) -> the
    largest absolute error that rounding explains.

    group: the heading under which it is listed. pitfall: one sentence about what is wrong with the kernel,
    "" for a right one; works, breaks: parameters that it is right and wrong for.
    timed: the parameters that a measurement takes unless it is told others. flop: the floating-point
    operations of a plan, by a formula; 0 where arithmetic is not the point. baselines: CPU programs for it.
    cuda_c: where the kernel is CUDA C; `kernel` is then the Numba kernel that makes the same accesses, which
    is traced in its place. engine: "python" where `kernel` is a plain
    Python program that plays a launch.
    words: another model's words for CUDA's, where the scenario speaks it (see WORK_ITEM_WORDS).
    """

    name: str
    title: str
    lesson: str
    kernel: str
    parameters: tuple[Parameter, ...]
    plan: Callable[[Values], Plan]
    reference: Callable[[Arrays], dict[str, NDArray[Any]]]
    tolerance: Callable[[Arrays], float]
    roles: Mapping[str, str] = field(default_factory=dict)
    phases: tuple[PhaseText, ...] = ()
    last: PhaseText | None = None
    resident: int | None = None
    group: str = ""
    pitfall: str = ""
    works: tuple[Values, ...] = ()
    breaks: tuple[Values, ...] = ()
    timed: tuple[Values, ...] = ({},)
    flop: Callable[[Plan], int] = _no_flop
    baselines: tuple[Baseline, ...] = ()
    cuda_c: CudaC | None = None
    engine: Literal["cuda", "python"] = "cuda"
    words: Mapping[str, str] = field(default_factory=dict)


def settle(scenario: Scenario, values: Values) -> dict[str, Value]:
    """Return a valid value for every parameter: the given one, as a number where it is one, else the default.

    Raises CatalogueError for an unknown parameter and for a value that is not a number, out of range or not
    one of the choices. Files are opened by `Scenario.plan`, not here.
    """
    known = [parameter.name for parameter in scenario.parameters]
    for name in values:
        if name not in known:
            raise CatalogueError(f"{scenario.name} has no parameter {name!r}{did_you_mean(name, known)}")
    return {p.name: _settled(scenario.name, p, values.get(p.name, p.default)) for p in scenario.parameters}


def _settled(scenario: str, parameter: Parameter, value: Value) -> Value:
    if parameter.file:
        return str(value)
    if parameter.choices:
        return _chosen(scenario, parameter, value)
    try:
        number = int(value)
    except ValueError:
        number = parameter.minimum - 1
    if not parameter.minimum <= number <= parameter.maximum:
        span = f"a whole number from {parameter.minimum} to {parameter.maximum}"
        raise CatalogueError(f"{parameter.name} of {scenario} must be {span}, not {value!r}.")
    return number


def _chosen(scenario: str, parameter: Parameter, value: Value) -> Value:
    for choice in parameter.choices:
        if str(choice) == str(value):
            return choice
    words = joined_words([str(choice) for choice in parameter.choices], "or")
    raise CatalogueError(f"{parameter.name} of {scenario} must be {words}, not {value!r}.")


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return the end of a sentence about an unknown word: what was perhaps meant, else what there is."""
    known = list(known)
    near = sorted((name for name in known if len(word) > 2 and word.lower() in name), key=len)[:3]
    near = near or difflib.get_close_matches(word.lower(), known, cutoff=0.6)
    return (
        f"; did you mean {joined_words(near, 'or')}?"
        if near
        else f"; there are {joined_words(known, 'and')}."
    )


def joined_words(words: list[str], joint: str) -> str:
    """Return the words as a sentence lists them; at least one."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} {joint} {words[-1]}"
