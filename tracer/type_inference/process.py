"""What Numba's compiler makes of kernels, run as a process: questions in, answers out, a line of JSON each.

`python -m tilescope.tracer.type_inference.process` needs Numba's real CUDA target, so the simulator must be off, and
neither GPU nor CUDA toolkit. A kernel goes through all of Numba's own compiler: its bytecode is read, typed and
lowered to LLVM's IR, as are the device functions that it calls. What comes after needs NVIDIA's libraries and is not
done: libNVVM's code for a GPU (registers, the size of shared memory) and linking. Of a kernel's file only functions
are taken (see `rebuilt_kernel`): nothing of a user's is run.
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

from ..processes.json_streams import private_streams, sender
from ..processes.parent_death import die_with_parent
from .float64_origins import CONSTANT_KINDS, float64_causes, is_double, operands, operator_name
from .question import Answer, Function, Operation, Question, SourceQuestion
from .rebuilt_kernel import rebuilt_kernel
from .refusals import RECURSION, refusal_at_sight, refusal_of
from .source_kernel import question_of_source
from .typed_program import NotDescribed, note_columns, program_of

ROUNDED_AT_ONCE = ("add", "sub", "mul", "truediv")
SINGLE_TYPES = ("float32", "float16")
UNKNOWN_CAUSE = (("float64 values in it", 0, "convert them with float32()"),)
CAPABILITY = (9, 0)  # of a GPU that has all that Numba knows
SUBMODULES = ("random", "libdevice", "fp16", "bf16", "cg", "types")
# "Data Layout" in the NVVM IR Specification, for programs of 64 bits.
DATA_LAYOUT = (
    "e-p:64:64:64-i1:8:8-i8:8:8-i16:16:16-i32:32:32-i64:64:64-i128:128:128-f32:32:32-f64:64:64-"
    "v16:16:16-v32:32:32-v64:64:64-v128:128:128-n16:32:64"
)
IS_OLD_TARGET = find_spec("numba_cuda") is None
OLD_TARGET = "Numba's own CUDA target, which is older than numba-cuda, fails with"
IR_VERSION = (2, 0, 3, 2)  # of NVVM's IR and of its debug information, major and minor
DEVICE_OPTIONS = ("inline", "fastmath", "forceinline", "debug")


def main() -> None:
    """Answer each question as it comes."""
    os.environ.pop("NUMBA_ENABLE_CUDASIM", None)  # numba looks only once, when it is imported
    os.environ["NUMBA_DISABLE_ERROR_MESSAGE_HIGHLIGHTING"] = "1"
    os.environ["NUMBA_CUDA_LOW_OCCUPANCY_WARNINGS"] = "0"
    warnings.simplefilter("ignore")
    die_with_parent()
    for name in SUBMODULES:  # which programs may have imported, so that `cuda` has them as attributes
        with contextlib.suppress(ImportError):
            importlib.import_module(f"numba.cuda.{name}")
    note_columns()
    source, target = private_streams()
    say = sender(target)
    for line in source:
        say(_answer_to(msgspec.json.decode(line, type=Question | SourceQuestion)))


def _answer_to(question: Question | SourceQuestion) -> Answer:
    try:
        return answer(question)
    except Exception as error:  # noqa: BLE001  # an error or an expression of Numba's that is not known here
        return Answer(unknown=_said(error))


def answer(question: Question | SourceQuestion) -> Answer:
    """Return what Numba makes of a kernel; nothing where it can't be asked."""
    try:
        if isinstance(question, SourceQuestion):
            question = question_of_source(question.launch)
        functions, arguments, codes = rebuilt_kernel(question, _device)
    except Exception as error:  # noqa: BLE001  # a text or a value that is none
        return Answer(unknown=_said(error))
    at_sight = refusal_at_sight(codes)
    return Answer(refusal=at_sight) if at_sight else _compiled(functions, arguments, codes)


def _said(error: Exception) -> str:
    """Return an error as a sentence without its full stop."""
    return f"{type(error).__name__}: {error}".splitlines()[0].rstrip(".: ")


def _compiled(rebuilt: Sequence[FunctionType], arguments: tuple[Any, ...], codes: list[CodeType]) -> Answer:
    from numba import typeof
    from numba.core.types import Type

    try:
        types = tuple(one if isinstance(one, Type) else typeof(one) for one in arguments)
    except Exception as error:  # noqa: BLE001  # an argument that Numba does not know: how it is passed is not known
        return Answer(unknown=_said(error))
    try:
        functions = list(_inferred(rebuilt[0], types))
    except Exception as error:  # noqa: BLE001  # what Numba raises of a kernel is the answer
        refusal = refusal_of(error, codes)
        why = _said(error)
        if IS_OLD_TARGET and refusal is not None and not refusal.error and refusal.reason != RECURSION:
            refusal, why = None, f"{OLD_TARGET} {why}"  # its own faults predict nothing about numba-cuda
        return Answer(refusal=refusal, unknown="" if refusal else why)
    try:
        program, unknown = program_of(functions[0], rebuilt, types), ""
    except NotDescribed as why:
        program, unknown = None, str(why)
    return Answer(_operations_in_float64(functions), program=program, unknown=unknown)


def _operations_in_float64(functions: list[Any]) -> tuple[Operation, ...]:
    try:
        return tuple(_told(functions))
    except Exception:  # noqa: BLE001  # an expression of Numba's that is not known there: the types are
        return ()


def _device(function: FunctionType, described: Function, types: tuple[Any, ...]) -> Any:
    """Return a function as one that kernels call; types: of result and arguments where a signature says them."""
    from numba import cuda

    _stand_in_for_gpu()
    chosen: dict[str, Any] = {n: value for n, value in described.options.items() if n in DEVICE_OPTIONS}
    signature = []
    if types:  # the first is None where only the arguments' are declared
        signature = [types[1:] if types[0] is None else types[0](*types[1:])]
    decorate = cuda.jit(*signature, device=described.role == "device", **chosen)
    return decorate(function)


def _stand_in_for_gpu() -> None:
    """Let Numba find a GPU of this capability, and of libNVVM the little that it asks of it before it is to compile."""
    from numba.cuda import dispatcher
    from numba.cuda.cudadrv import nvvm

    device = SimpleNamespace(compute_capability=CAPABILITY)
    library = SimpleNamespace(data_layout=DATA_LAYOUT, get_ir_version=lambda: IR_VERSION)
    dispatcher.get_current_device = lambda: device
    nvvm.NVVM = lambda: library


def _inferred(function: Any, arguments: tuple[Any, ...]) -> Iterator[Any]:
    """Return the type annotations of a function and of the device functions that it calls, each once."""
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


def _told(functions: list[Any]) -> Iterator[Operation]:
    """Yield the operations of a kernel and its device functions that are computed in float64, as far as not meant so.

    All of them where there are arrays of narrower floats; where no array holds floats, those in loops. None where some
    array holds float64, or the source names that type.
    """
    types = [t for function in functions for t in function.typemap.values()]
    floats = [e for e in _elements(types) if type(e).__name__ in ("Float", "Complex")]
    if any(map(is_double, floats)) or any(map(_names_float64, types)):
        return
    for function in functions:
        if floats:
            yield from _operations(function)
        elif _elements(types):
            yield from _in_loops(function)


def _elements(types: list[Any]) -> list[Any]:
    """Return the types of the elements of arrays."""
    return [t.dtype for t in types if hasattr(t, "dtype") and hasattr(t, "ndim")]


def _names_float64(kind: Any) -> bool:
    """Return whether something in a source is float64 by name: the type, or a function such as uniform_float64."""
    if type(kind).__name__ == "NumberClass":
        return is_double(kind.instance_type)
    return hasattr(kind, "dispatcher") and "float64" in str(kind.dispatcher.py_func.__name__)


def _in_loops(function: Any) -> Iterator[Operation]:
    """Yield the float64 operations of a function's outermost loops, told of at the first line of each."""
    for loop in _loops(function.blocks):
        inside = {id(s) for label in loop for s in function.blocks[label].body}
        lines = [
            s.loc.line for label in loop for s in function.blocks[label].body if type(s).__name__ != "Del"
        ]
        for operation, statement in _operations_and_statements(function):
            if id(statement) in inside:
                yield msgspec.structs.replace(operation, loop=min(lines))


def _loops(blocks: dict[int, Any]) -> list[set[int]]:
    """Return the outermost loops of a function, as the labels of their blocks."""
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
    """Return the operations of one function whose result is float64, and stays it."""
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
            found = tuple(dict.fromkeys(float64_causes(function, definitions, statement))) or UNKNOWN_CAUSE
            yield Operation(function.filename, statement.loc.line, name, found), statement


def _is_rounded_at_once(function: Any, definitions: dict[str, list[Any]], statement: Any) -> bool:
    """Return whether an operation on float32 values, and constants that float32 holds, is stored as float32 alone.

    The compiler does it in float32 then, which gives the same (Figueroa, "When is double rounding innocuous?",
    SIGNUM Newsletter 30, 1995; LLVM's InstCombine): `a[i] += 1` costs nothing.
    """
    uses = [s for block in function.blocks.values() for s in block.body if _uses(s, statement.target.name)]
    if len(uses) != 1 or type(uses[0]).__name__ not in ("SetItem", "StaticSetItem"):
        return False
    if str(function.typemap[uses[0].target.name].dtype) not in SINGLE_TYPES:
        return False
    return all(_is_single(function, definitions, name) for name in operands(statement.value))


def _uses(statement: Any, name: str) -> bool:
    if type(statement).__name__ == "Del":
        return False
    target = getattr(statement, "target", None) if type(statement).__name__ == "Assign" else None
    return any(v.name == name for v in statement.list_vars() if v is not target)


def _is_single(function: Any, definitions: dict[str, list[Any]], name: str) -> bool:
    """Return whether a value is a float32, or a constant that one holds exactly."""
    if str(function.typemap[name]) in SINGLE_TYPES:
        return True
    made = [statement.value for statement in definitions.get(name, [])]
    value = made[0].value if len(made) == 1 and type(made[0]).__name__ in CONSTANT_KINDS else None
    return isinstance(value, int | float) and float(np.float32(value)) == value


def _assignments(function: Any) -> Iterator[Any]:
    """Return the statements of Numba's representation that give a variable a value."""
    for block in function.blocks.values():
        yield from (statement for statement in block.body if type(statement).__name__ == "Assign")


def _name(function: Any, value: Any) -> str:
    """Return the name of an arithmetic operation: mul, sqrt; "" for anything else."""
    if name := operator_name(value):
        return name
    if getattr(value, "op", "") == "call":
        called = getattr(function.typemap[value.func.name], "typing_key", None)
        known = getattr(called, "__module__", None) == "math" or isinstance(called, np.ufunc)
        return str(called.__name__) if known else ""  # type: ignore[union-attr]  # a function
    return ""


if __name__ == "__main__":
    main()
