"""The cases of an exercise for kernels in CUDA C++, which take sizes where Numba's arrays know their shapes."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from ..model import cpp_text
from .cases import Case, InvalidExerciseError
from .result import JudgingTask
from .student_file import StudentFileError


def cuda_cpp_cases(
    cases: Sequence[Case], names: Sequence[str], task: JudgingTask
) -> tuple[list[Case], tuple[str, ...]]:
    """Give each case the arguments of the stub in CUDA C++; return the cases and the names of its parameters.

    names: the parameters of the stub in Numba. A parameter of one of these names gets that argument; any other gets the
    case's size of its name. Raises InvalidExerciseError.
    """
    parameters = cpp_text.parameters(task.stub_text, task.kernel)
    if parameters is None:
        raise InvalidExerciseError(f"The stub in CUDA C++ has no kernel {task.kernel}.", 1)
    missing = [name for name in names if name not in parameters]
    if missing:
        raise InvalidExerciseError(
            f"The stub in CUDA C++ has no parameter {missing[0]}, as that in Numba has.", 1
        )
    return [_case(case, names, parameters) for case in cases], parameters


def _case(case: Case, names: Sequence[str], parameters: Sequence[str]) -> Case:
    for name in parameters:
        if name not in names and name not in case.sizes:
            sizes = ", ".join(case.sizes) or "there are none"
            raise InvalidExerciseError(
                f"The stub in CUDA C++ takes {name}, which is neither a parameter of the stub in Numba nor one of the "
                f"judge's sizes ({sizes}).",
                1,
            )
    places = {name: parameters.index(name) for name in names}
    return replace(
        case,
        arguments=tuple(
            case.arguments[names.index(name)] if name in names else case.sizes[name] for name in parameters
        ),
        expected={places[names[index]]: content for index, content in case.expected.items()},
    )


def check_cuda_cpp_parameters(text: str, kernel: str, stub_names: tuple[str, ...]) -> tuple[str, ...]:
    """Return the names of the student's parameters; raises StudentFileError unless there are as many as the stub's."""
    names = cpp_text.parameters(text, kernel)
    if names is None:
        raise StudentFileError(f"There is no kernel named {kernel}; the kernel must keep its name.", 0)
    if len(names) != len(stub_names):
        raise StudentFileError(
            f"{kernel} takes ({', '.join(stub_names)}) in this exercise, not ({', '.join(names)}).",
            cpp_text.function_lines(text, kernel)[0],
        )
    return names
