"""Scenarios: a kernel with its lesson, parameters, launch shape and NumPy reference."""

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
    """An unusable scenario, parameter or input file; the message is one sentence for the user."""


class Parameter(Struct, frozen=True):
    """A parameter that users set: an integer in a range, one of several words or numbers, or a file."""

    name: str  # in commands and saved settings
    label: str  # next to its field in the window
    default: Value  # a number, one of `choices`, or a path
    minimum: int = 1  # unless it is one of `choices`
    maximum: int = 1  # the largest allowed value
    choices: tuple[Value, ...] = ()  # all allowed values; none for a range
    file: bool = False  # whether the value is the path of a `.npy` file, or "" for none
    seldom: bool = False  # whether it rarely differs from its default, so that its field is in a menu
    # The step when the user drags a number: to the next multiple of this, or of that other parameter; 0 doubles
    # and halves it.
    step: int | str = 1

    @property
    def is_in_menu(self) -> bool:
        """Whether its field is in the menu of the toolbar's last button."""
        return self.file or self.seldom


class Argument(Struct, frozen=True):
    """A kernel argument: an array, or a scalar."""

    name: str  # of the kernel's parameter
    shape: tuple[int, ...] = ()  # elements along each dimension
    dtype: str = "float32"  # of an element, as NumPy names it
    fill: str = "zeros"  # the source of the elements, see tracer.model.launch.Array
    path: str = ""  # of the `.npy` file if `fill` is "file"
    value: int | float | None = None  # of a scalar, None for an array


class Plan(Struct, frozen=True):
    """A scenario with its parameters settled: everything for a launch except the schedule."""

    arguments: tuple[Argument, ...]  # in the kernel's order
    grid: Dim3  # blocks along x, y, z
    block: Dim3  # threads of a block along x, y, z
    constants: Mapping[
        str, int | float | str
    ]  # globals that the kernel freezes; a str is the name of a Numba type
    shared_bytes: int = 0  # of dynamic shared memory, a block


class Baseline(Struct, frozen=True):
    """The same work as a CPU program, or in a library on the GPU, timed for comparison with the kernel."""

    name: str  # unique within its scenario
    title: str  # in charts
    function: (
        str  # `module:function`, which takes the kernel's arguments; the library's own name for "cublas"
    )

    @property
    def on_device(self) -> bool:
        """Whether it runs on the GPU."""
        return self.name == CUBLAS

    def title_with_kernel(self, kernel: str) -> str:
        """Return the title with that of the kernel, if the kernel is not in sight; a library needs none."""
        return self.title if self.on_device else f"{kernel}, {self.title}"


class CudaC(Struct, frozen=True):
    """A kernel in CUDA C, which takes the arrays and then some parameters as ints."""

    file: str  # in kernels/cuda_c
    function: str  # of that file; `{tile}` in it is that parameter
    numbers: tuple[str, ...] = ("m", "k", "n")  # names of the parameters that it takes
    dynamic: bool = False  # whether it uses the plan's dynamic shared memory
    # Its template parameters and macros, and the parameters that they are.
    constants: Mapping[str, str] = field(default_factory=dict)


class PhaseText(Struct, frozen=True):
    """The name and description of a phase; `{step}` is the round, counted from 0."""

    label: str
    sentence: str


_KEPT = ("memory", "load", "store", "request", "atomic", "tile", "array")  # nouns that keep their names
# The terms of HSA and OpenCL for those of CUDA. HSA's wavefront is a warp, so NVIDIA's wavefront, a pass over the
# banks of shared memory, gets another name. Python's threads are no work-items.
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
    lesson: str  # one sentence: what it shows
    kernel: str  # `module:function`
    parameters: tuple[Parameter, ...]  # in the order of their fields
    plan: Callable[[Values], Plan]  # settled parameters -> launch
    # Filled arguments by name, with `gridDim` and `blockDim` as three numbers each -> the expected contents of each
    # array that the kernel writes, by name; and -> the largest absolute error that rounding explains.
    reference: Callable[[Arrays], dict[str, NDArray[Any]]]
    tolerance: Callable[[Arrays], float]
    # The position of a global buffer: "left" of the result, "above" it, or the "result"; shared ones are next to it.
    roles: Mapping[str, str] = field(default_factory=dict)
    phases: tuple[PhaseText, ...] = ()  # texts of the phases in order, repeated
    last: PhaseText | None = None  # of a block's last phase, if it differs
    resident: int | None = None  # blocks that run at once; None is as many as fit
    group: str = ""  # its heading in lists
    pitfall: str = ""  # one sentence about the kernel's error; "" for a correct kernel
    works: tuple[Values, ...] = ()  # parameters for which a wrong kernel is correct
    breaks: tuple[Values, ...] = ()  # parameters for which it is wrong
    timed: tuple[Values, ...] = ({},)  # default parameters of a measurement
    flop: Callable[[Plan], int] = _no_flop  # number of floating-point operations; 0 if they do not matter
    baselines: tuple[Baseline, ...] = ()  # CPU programs for it
    cuda_c: CudaC | None = None  # the kernel in CUDA C, which is timed and, with a C++ compiler, traced
    twin: Scenario | None = None  # the same in Numba, which is traced where there is no C++ compiler
    engine: Literal["cuda", "python"] = (
        "cuda"  # "python": `kernel` is a plain Python program that emulates a launch
    )
    words: Mapping[str, str] = field(default_factory=dict)  # replacements for CUDA's terms


def settle(scenario: Scenario, values: Values) -> dict[str, Value]:
    """Return a valid value for every parameter: the given one, converted to a number if possible, else the default.

    Raises CatalogueError for an unknown parameter and for a value that is not a number, out of range or not
    one of the choices. Files are opened by `Scenario.plan`, not here.
    """
    parameter_names = [parameter.name for parameter in scenario.parameters]
    for name in values:
        if name not in parameter_names:
            raise CatalogueError(
                f"{scenario.name} has no parameter {name!r}{did_you_mean(name, parameter_names)}"
            )
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
