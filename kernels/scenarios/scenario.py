"""What a scenario is: a kernel with its lesson, parameters, launch shape and NumPy reference."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal

from msgspec import Struct, field
from numpy.typing import NDArray

from .suggestions import did_you_mean, joined_words

Value = int | str
Values = Mapping[str, Value]
Dim3 = tuple[int, int, int]
CUBLAS = "cublas"  # the name of the baseline that is NVIDIA's library
Arrays = Mapping[str, NDArray[Any]]


class CatalogueError(ValueError):
    """A scenario, parameter or input file that cannot be used; the message is one sentence for the user."""


class Parameter(Struct, frozen=True):
    """One thing a user may choose: a whole number in a range, one of some words or numbers, or a file."""

    name: str  # in commands and saved settings
    label: str  # beside its field in the window
    default: Value  # a number, one of `choices`, or a path
    minimum: int = 1  # of a number that is not one of `choices`
    maximum: int = 1  # the largest that may be chosen
    choices: tuple[Value, ...] = ()  # all values there are; none for a range
    file: bool = False  # whether the value is the path of a `.npy` file, or "" for none
    seldom: bool = False  # whether it is seldom another than its default, so that its field stands aside
    # By how much a hand that drags it moves a number: to the next multiple of this, or of that other parameter;
    # 0 doubles and halves it.
    step: int | str = 1

    @property
    def aside(self) -> bool:
        """Whether its field stands behind the bar's last button, not in the bar."""
        return self.file or self.seldom


class Argument(Struct, frozen=True):
    """A kernel argument: an array, or a scalar."""

    name: str  # of the kernel's parameter
    shape: tuple[int, ...] = ()  # elements along each dimension
    dtype: str = "float32"  # of an element, as NumPy names it
    fill: str = "zeros"  # where the elements come from, see tracer.model.launch.Array
    path: str = ""  # of the `.npy` file, where that is "file"
    value: int | float | None = None  # of a scalar, None for an array


class Plan(Struct, frozen=True):
    """A scenario with its parameters settled: everything a launch needs but the schedule."""

    arguments: tuple[Argument, ...]  # in the kernel's order
    grid: Dim3  # blocks along x, y, z
    block: Dim3  # threads of a block along x, y, z
    constants: Mapping[str, int | float | str]  # globals that the kernel freezes; a str names a numba type
    shared_bytes: int = 0  # of dynamic shared memory, a block


class Baseline(Struct, frozen=True):
    """The same work as a CPU program, or as a library's product on the GPU, timed beside the kernel."""

    name: str  # unique within its scenario
    title: str  # in charts
    function: (
        str  # `module:function`, which takes the kernel's arguments; the library's own name for "cublas"
    )

    @property
    def on_device(self) -> bool:
        """Whether it runs on the GPU."""
        return self.name == CUBLAS

    def title_beside(self, kernel: str) -> str:
        """Return how it is called where the kernel with this title is not in sight; a library does without."""
        return self.title if self.on_device else f"{kernel}, {self.title}"


class CudaC(Struct, frozen=True):
    """A kernel in CUDA C, which takes the arrays and then some parameters as ints."""

    file: str  # in kernels/cuda_c
    function: str  # of that file; `{tile}` in it is that parameter
    numbers: tuple[str, ...] = ("m", "k", "n")  # names of the parameters that it takes
    dynamic: bool = False  # whether the plan's dynamic shared memory is for it


class PhaseText(Struct, frozen=True):
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


class Scenario(Struct, frozen=True):
    """A kernel as a lesson."""

    name: str  # in commands and saved files, unique
    title: str  # in the window
    lesson: str  # one sentence: what there is to see
    kernel: str  # `module:function`
    parameters: tuple[Parameter, ...]  # in the order of their fields
    plan: Callable[[Values], Plan]  # settled parameters -> what is launched
    # Arguments after filling, by name, and `gridDim` and `blockDim`, three numbers each -> the expected content of
    # each array that the kernel writes, by name; and -> the largest absolute error that rounding explains.
    reference: Callable[[Arrays], dict[str, NDArray[Any]]]
    tolerance: Callable[[Arrays], float]
    # Where a global buffer is drawn: "left" of the result, "above" it, or as the "result"; shared ones stand beside.
    roles: Mapping[str, str] = field(default_factory=dict)
    phases: tuple[PhaseText, ...] = ()  # texts of the phases in turn, repeated
    last: PhaseText | None = None  # of the last phase of a block, where it differs
    resident: int | None = None  # blocks that run at once; None is as many as fit
    group: str = ""  # the heading under which it is listed
    pitfall: str = ""  # one sentence about what is wrong with the kernel; "" for a right one
    works: tuple[Values, ...] = ()  # parameters that a wrong kernel is right for
    breaks: tuple[Values, ...] = ()  # parameters that it is wrong for
    timed: tuple[Values, ...] = ({},)  # parameters that a measurement takes unless it is given others
    flop: Callable[[Plan], int] = (
        _no_flop  # floating-point operations, by a formula; 0 where they are not the point
    )
    baselines: tuple[Baseline, ...] = ()  # CPU programs for it
    cuda_c: CudaC | None = (
        None  # the kernel in CUDA C; `kernel` makes the same accesses and is traced in its place
    )
    engine: Literal["cuda", "python"] = (
        "cuda"  # "python": `kernel` is a plain Python program that plays a launch
    )
    words: Mapping[str, str] = field(default_factory=dict)  # for CUDA's words, where another model is spoken


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
