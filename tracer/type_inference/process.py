"""The process that compiles kernels with Numba: it reads questions and writes answers, each a line of JSON.

`python -m tilescope.tracer.type_inference.process` needs Numba's real CUDA target, so the simulator must be off. It
needs neither a GPU nor a CUDA toolkit. Numba's compiler reads the bytecode of a kernel and its device functions, infers
the types and lowers them to LLVM's IR. Later steps need NVIDIA's libraries and are skipped: libNVVM's code generation
(registers, size of shared memory) and linking. Only functions of a kernel's file are used (see `rebuilt_kernel`), and
no code of the user runs.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import warnings
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from types import CodeType, FunctionType, SimpleNamespace
from typing import Any

import msgspec
import numpy as np

from ..processes.garbage import without_collections
from ..processes.json_streams import make_sender, private_streams
from ..processes.parent_death import die_with_parent
from .float64_origins import CONSTANT_KINDS, float64_causes, is_double, operands, operator_name
from .question import Answer, Function, Operation, Question, SourceQuestion
from .rebuild_kernel import rebuild_question
from .refusals import RECURSION, refusal_in_bytecode, refusal_of
from .source_kernel import question_of_source
from .typed_program import NotDescribedError, keep_columns, program_of

ROUNDED_AT_ONCE = ("add", "sub", "mul", "truediv")
SINGLE_TYPES = ("float32", "float16")
UNKNOWN_CAUSE = (("float64 values in it", 0, "convert them with float32()"),)
CAPABILITY = (9, 0)  # of a GPU with all features that Numba supports
SUBMODULES = ("random", "libdevice", "fp16", "bf16", "cg", "types")
# "Data Layout" in the NVVM IR Specification, for programs of 64 bits.
DATA_LAYOUT = (
    "e-p:64:64:64-i1:8:8-i8:8:8-i16:16:16-i32:32:32-i64:64:64-i128:128:128-f32:32:32-f64:64:64-"
    "v16:16:16-v32:32:32-v64:64:64-v128:128:128-n16:32:64"
)
IS_OLD_TARGET = find_spec("numba_cuda") is None
OLD_TARGET = "Numba's built-in CUDA target, which is older than numba-cuda, fails with"
IR_VERSION = (2, 0, 3, 2)  # major and minor version of NVVM's IR and of its debug information
DEVICE_OPTIONS = ("inline", "fastmath", "forceinline", "debug")


def main() -> None:
    """Answer questions until the input closes."""
    os.environ.pop("NUMBA_ENABLE_CUDASIM", None)  # numba reads it only when it is imported
    os.environ["NUMBA_DISABLE_ERROR_MESSAGE_HIGHLIGHTING"] = "1"
    os.environ["NUMBA_CUDA_LOW_OCCUPANCY_WARNINGS"] = "0"
    warnings.simplefilter("ignore")
    die_with_parent()
    import_submodules()
    keep_columns()
    source, target = private_streams()
    send = make_sender(target)
    for line in source:
        send(_answer_or_error(msgspec.json.decode(line, type=Question | SourceQuestion)))


def import_submodules() -> None:
    """Import the submodules of numba.cuda that programs may have imported: they are attributes of `cuda`."""
    with without_collections():
        for name in SUBMODULES:
            with contextlib.suppress(ImportError):
                importlib.import_module(f"numba.cuda.{name}")


def _answer_or_error(question: Question | SourceQuestion) -> Answer:
    try:
        return answer(question)
    except Exception as error:  # noqa: BLE001  # an unknown error or expression of Numba
        return Answer(unknown=_error_text(error))


def answer(question: Question | SourceQuestion) -> Answer:
    """Compile a kernel and return the answer; `unknown` explains why a question can't be answered."""
    try:
        if isinstance(question, SourceQuestion):
            question = question_of_source(question.launch)
        functions, arguments, codes = rebuild_question(question, _device)
    except Exception as error:  # noqa: BLE001  # an invalid text or value
        return Answer(unknown=_error_text(error))
    refusal = refusal_in_bytecode(codes)
    return Answer(refusal=refusal) if refusal else _compile(functions, arguments, codes)


def _error_text(error: Exception) -> str:
    """Format an error as a sentence without its full stop."""
    return f"{type(error).__name__}: {error}".splitlines()[0].rstrip(".: ")


def _compile(rebuilt: Sequence[FunctionType], arguments: tuple[Any, ...], codes: list[CodeType]) -> Answer:
    from numba import typeof
    from numba.core.types import Type

    try:
        types = tuple(argument if isinstance(argument, Type) else typeof(argument) for argument in arguments)
    except Exception as error:  # noqa: BLE001  # Numba has no type for the argument
        return Answer(unknown=_error_text(error))
    try:
        functions = list(_infer_types(rebuilt[0], types))
    except Exception as error:  # noqa: BLE001  # Numba's error is the answer
        refusal = refusal_of(error, codes)
        reason = _error_text(error)
        if IS_OLD_TARGET and refusal is not None and not refusal.error and refusal.reason != RECURSION:
            refusal, reason = None, f"{OLD_TARGET} {reason}"  # its bugs predict nothing about numba-cuda
        return Answer(refusal=refusal, unknown="" if refusal else reason)
    try:
        program, unknown = program_of(functions[0], rebuilt, types), ""
    except NotDescribedError as error:
        program, unknown = None, str(error)
    return Answer(_operations_in_float64(functions), program=program, unknown=unknown)


def _operations_in_float64(functions: list[Any]) -> tuple[Operation, ...]:
    try:
        return tuple(_unintended_operations(functions))
    except Exception:  # noqa: BLE001  # an unknown expression of Numba; the types are still valid
        return ()


def _device(function: FunctionType, described: Function, types: tuple[Any, ...]) -> Any:
    """Turn a function into a device function; types: of result and arguments if a signature declares them."""
    from numba import cuda

    _stand_in_for_gpu()
    options: dict[str, Any] = {n: value for n, value in described.options.items() if n in DEVICE_OPTIONS}
    signature = []
    if types:  # the first is None if only the arguments are declared
        signature = [types[1:] if types[0] is None else types[0](*types[1:])]
    decorate = cuda.jit(*signature, device=described.role == "device", **options)
    return decorate(function)


class StandIn(SimpleNamespace):
    """The properties that Numba reads of a device or of libNVVM; errors about it are ours (`refusals.UNRELATED`)."""


def _stand_in_for_gpu() -> None:
    """Make Numba find a GPU of this capability, and the properties of libNVVM that it reads before compiling."""
    from numba.cuda import dispatcher
    from numba.cuda.cudadrv import nvvm

    device = StandIn(compute_capability=CAPABILITY)
    library = StandIn(data_layout=DATA_LAYOUT, get_ir_version=lambda: IR_VERSION)
    dispatcher.get_current_device = lambda: device
    nvvm.NVVM = lambda: library


def _infer_types(function: Any, arguments: tuple[Any, ...]) -> Iterator[Any]:
    """Yield the type annotations of a function and of the device functions that it calls, each once."""
    from numba import types
    from numba.cuda import compiler

    _stand_in_for_gpu()
    compiled = compiler.compile_cuda(function, types.void, arguments, cc=CAPABILITY)
    waiting = [compiled.type_annotation]
    seen: set[int] = set()
    while waiting:
        annotation = waiting.pop()
        if id(annotation) not in seen:
            seen.add(id(annotation))
            yield annotation
            waiting += _callees(annotation)


def _unintended_operations(functions: list[Any]) -> Iterator[Operation]:
    """Yield the float64 operations of a kernel and its device functions that are probably unintended.

    With arrays of narrower floats these are all; if no array holds floats, only those in loops. There are none if an
    array holds float64 or the source names that type.
    """
    types = [kind for function in functions for kind in function.typemap.values()]
    floats = [element for element in _elements(types) if type(element).__name__ in ("Float", "Complex")]
    if any(map(is_double, floats)) or any(map(_names_float64, types)):
        return
    for function in functions:
        if floats:
            yield from _operations(function)
        elif _elements(types):
            yield from _in_loops(function)


def _elements(types: list[Any]) -> list[Any]:
    """Return the element types of arrays."""
    return [kind.dtype for kind in types if hasattr(kind, "dtype") and hasattr(kind, "ndim")]


def _names_float64(kind: Any) -> bool:
    """Check whether a type comes from a float64 name in the source: the type, or a function like uniform_float64."""
    if type(kind).__name__ == "NumberClass":
        return is_double(kind.instance_type)
    return hasattr(kind, "dispatcher") and "float64" in str(kind.dispatcher.py_func.__name__)


def _in_loops(function: Any) -> Iterator[Operation]:
    """Yield the float64 operations of a function's outermost loops, each with the first line of its loop."""
    for loop in _loops(function.blocks):
        inside = {id(inner) for label in loop for inner in function.blocks[label].body}
        lines = [
            inner.loc.line
            for label in loop
            for inner in function.blocks[label].body
            if type(inner).__name__ != "Del"
        ]
        for operation, statement in _operations_and_statements(function):
            if id(statement) in inside:
                yield msgspec.structs.replace(operation, loop=min(lines))


def _loops(blocks: dict[int, Any]) -> list[set[int]]:
    """Find the outermost loops of a function, each as the labels of its blocks."""
    try:
        from numba.cuda.core.analysis import compute_cfg_from_blocks
    except ImportError:  # without numba-cuda
        from numba.core.analysis import compute_cfg_from_blocks
    loops = [set(loop.body) for loop in compute_cfg_from_blocks(blocks).loops().values()]
    return [loop for loop in loops if not any(loop < other for other in loops)]


def _callees(annotation: Any) -> list[Any]:
    """Return the type annotations of the device functions that a function calls."""
    called = []
    for expression, signature in annotation.calltypes.items():
        is_call = getattr(expression, "op", "") == "call"
        callee: Any = annotation.typemap[expression.func.name] if is_call else None
        if hasattr(callee, "dispatcher"):
            called.append(callee.dispatcher.overloads[signature.args].type_annotation)
    return called


def _operations(function: Any) -> Iterator[Operation]:
    """Yield the operations of one function whose result is and stays float64."""
    return (operation for operation, _ in _operations_and_statements(function))


def _operations_and_statements(function: Any) -> Iterator[tuple[Operation, Any]]:
    definitions: dict[str, list[Any]] = {}
    for statement in _assignments(function):
        definitions.setdefault(statement.target.name, []).append(statement)
    for statement in _assignments(function):
        name = _name(function, statement.value)
        if not name or not is_double(function.typemap[statement.target.name]):
            continue
        if not (name in ROUNDED_AT_ONCE and _is_rounded_at_once(function, definitions, statement)):
            causes = tuple(dict.fromkeys(float64_causes(function, definitions, statement))) or UNKNOWN_CAUSE
            yield Operation(function.filename, statement.loc.line, name, causes), statement


def _is_rounded_at_once(function: Any, definitions: dict[str, list[Any]], statement: Any) -> bool:
    """Check whether an operation on float32 values, and constants that float32 represents, is only stored as float32.

    Then the compiler computes it in float32 with the same result (Figueroa, "When is double rounding innocuous?",
    SIGNUM Newsletter 30, 1995; LLVM's InstCombine), so `a[i] += 1` costs nothing.
    """
    name = statement.target.name
    uses = [other for block in function.blocks.values() for other in block.body if _uses(other, name)]
    if len(uses) != 1 or type(uses[0]).__name__ not in ("SetItem", "StaticSetItem"):
        return False
    if str(function.typemap[uses[0].target.name].dtype) not in SINGLE_TYPES:
        return False
    return all(_is_single(function, definitions, operand) for operand in operands(statement.value))


def _uses(statement: Any, name: str) -> bool:
    if type(statement).__name__ == "Del":
        return False
    target = getattr(statement, "target", None) if type(statement).__name__ == "Assign" else None
    return any(variable.name == name for variable in statement.list_vars() if variable is not target)


def _is_single(function: Any, definitions: dict[str, list[Any]], name: str) -> bool:
    """Check whether a value is a float32, or a constant that float32 represents exactly."""
    if str(function.typemap[name]) in SINGLE_TYPES:
        return True
    assigned = [statement.value for statement in definitions.get(name, [])]
    value = assigned[0].value if len(assigned) == 1 and type(assigned[0]).__name__ in CONSTANT_KINDS else None
    return isinstance(value, int | float) and float(np.float32(value)) == value


def _assignments(function: Any) -> Iterator[Any]:
    """Yield the assignments of a function's Numba IR."""
    for block in function.blocks.values():
        yield from (statement for statement in block.body if type(statement).__name__ == "Assign")


def _name(function: Any, value: Any) -> str:
    """Return the name of an arithmetic operation, such as mul or sqrt; "" for anything else."""
    if name := operator_name(value):
        return name
    if getattr(value, "op", "") == "call":
        called = getattr(function.typemap[value.func.name], "typing_key", None)
        is_arithmetic = getattr(called, "__module__", None) == "math" or isinstance(called, np.ufunc)
        return str(called.__name__) if is_arithmetic else ""  # type: ignore[union-attr]  # a function
    return ""


if __name__ == "__main__":
    main()
