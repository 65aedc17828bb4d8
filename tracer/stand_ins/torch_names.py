"""The part of PyTorch that programs with `load_inline` use."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from ..cuda_cpp.build import BuildError, BuildOptions, BuiltProgram
from ..cuda_cpp.compilers import CompilerError
from ..cuda_cpp.session import ProgramFault
from ..cuda_cpp.tensor_call import (
    Extension,
    Given,
    GivenTensor,
    ReturnedTensor,
    TensorCall,
    TensorCallError,
    build_extension,
    call_function,
)
from .arrays import DeviceArray
from .device_objects import CAPABILITY, DEVICE_NAME, Moment, WorkQueue
from .driver import RaisedAs, flush_output, memory, one_at_a_time, settings, take_trace
from .source_place import PlacedText, calling_line, place
from .torch_tensor import DTYPES, FLOAT32, Device, DType, Size, Tensor, computed, lengths_of

_ERRORS = RaisedAs(dict.fromkeys(("memory", "launch", "kernel", "illegal"), (RuntimeError, "CUDA error: ")))
_BINDING = re.compile(r'\.def\(\s*"(\w+)"\s*,\s*&?\s*(\w+)')
_ELEMENTWISE: dict[str, Callable[..., Any]] = {
    "abs": np.abs, "exp": np.exp, "log": np.log, "sqrt": np.sqrt, "sin": np.sin, "cos": np.cos, "tanh": np.tanh,
    "floor": np.floor, "ceil": np.ceil, "round": np.round, "square": np.square, "maximum": np.maximum,
    "minimum": np.minimum, "add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.true_divide,
    "pow": np.power, "matmul": np.matmul, "mm": np.matmul, "bmm": np.matmul, "dot": np.dot, "isclose": np.isclose,
    "relu": lambda x: np.maximum(x, 0), "sigmoid": lambda x: 1 / (1 + np.exp(-x)), "isnan": np.isnan,
    "clamp": lambda x, min=None, max=None: np.clip(x, min, max),
}  # fmt: skip
_REDUCTIONS: dict[str, Callable[..., Any]] = {
    "sum": np.sum, "mean": np.mean, "prod": np.prod, "all": np.all, "any": np.any, "argmax": np.argmax,
    "argmin": np.argmin, "cumsum": np.cumsum, "amax": np.max, "amin": np.min,
}  # fmt: skip


class Function:
    """A function of an extension, which takes and returns tensors."""

    def __init__(self, built: BuiltProgram, placed: PlacedText, name: str) -> None:
        self._built, self._placed, self.__name__ = built, placed, name

    def __call__(self, *arguments: Any) -> Any:
        try:
            call = TensorCall(self.__name__, [_given(value) for value in arguments], memory)
            with one_at_a_time:
                flush_output()
                end = call_function(self._built, call, settings.options)
        except TensorCallError as error:
            raise TypeError(f"{self.__name__}(): {error}") from None
        for fault in end.faults:
            if fault.kind != "leak":
                settings.note(fault)
        with _ERRORS:
            for trace, seconds in end.traces:
                take_trace(trace, self._placed, seconds, can_repeat=False)
        if end.error is not None:
            if end.error.kind == "refused":
                raise TypeError(f"{self.__name__}(): {end.error}")
            raise RuntimeError(f"CUDA error: {end.error}" if end.error.kind == "ended" else str(end.error))
        results = [_tensor(value, arguments) for value in end.returned]
        return results if end.is_list else results[0] if results else None


def _given(value: object) -> Given:
    if isinstance(value, Tensor):
        return GivenTensor(value.content, value.address)
    if value is None or isinstance(value, bool | int | float):
        return value
    raise TensorCallError("refused", f"Tilescope passes tensors and numbers, not {type(value).__name__}")


def _tensor(value: object, arguments: Sequence[Any]) -> object:
    """Return a result: a view if it lies in an argument's memory, else a new tensor."""
    if not isinstance(value, ReturnedTensor):
        return value
    for argument in arguments:
        if isinstance(argument, Tensor) and argument.holder is not None and value.is_cuda:
            allocation = argument.holder._holder.allocation
            offset = value.address - allocation.address
            if 0 <= offset < max(allocation.size, 1):
                view = np.ndarray(value.shape, value.dtype, allocation.content, offset, value.strides)
                return Tensor(view, argument.holder)
    values = np.frombuffer(value.content, value.dtype).reshape(value.shape).copy()
    return Tensor.on(values, is_cuda=value.is_cuda)


def load_inline(
    name: str, cpp_sources: str | Sequence[str], cuda_sources: str | Sequence[str] | None = None,
    functions: str | Sequence[str] | dict[str, str] | None = None, extra_cflags: Sequence[str] | None = None,
    extra_cuda_cflags: Sequence[str] | None = None, extra_ldflags: Sequence[str] | None = None,
    extra_include_paths: Sequence[str] | None = None, **_: object,
) -> ModuleType:  # fmt: skip
    """Compile an extension; return a module with its functions."""
    cpp, cuda = _joined(cpp_sources), _joined(cuda_sources)
    placed = place(cuda if cuda.strip() else cpp)
    declarations = cpp if cuda.strip() else ""
    names = [functions] if isinstance(functions, str) else list(functions or ())
    bound = {key: key for key in names} or dict(_BINDING.findall(cpp + cuda))
    flags = " ".join([*(extra_cflags or ()), *(extra_cuda_cflags or ())])
    build = BuildOptions(
        include_folders=tuple(map(Path, extra_include_paths or ())),
        definitions=tuple(re.findall(r"-D\s*(\S+)", flags)),
    )
    extension = Extension(
        Path(placed.file), placed.compiled, declarations, tuple(dict.fromkeys(bound.values())), build
    )
    try:
        built = build_extension(extension)
    except CompilerError as error:
        raise RuntimeError(f"Error building extension '{name}': {error}") from None
    except BuildError as error:
        file, line = (error.file, error.line) if error.file and error.line else calling_line()
        settings.note(ProgramFault("compile", str(error), file, line))
        raise RuntimeError(f"Error building extension '{name}': {file}:{line}: {error}") from None
    module = ModuleType(name)
    for shown, own in bound.items():
        setattr(module, shown, Function(built, placed, own))
    return module


def _joined(sources: str | Sequence[str] | None) -> str:
    return sources if isinstance(sources, str) else "\n".join(sources or ())


def _maker(make: Callable[..., Any]) -> Callable[..., Tensor]:
    """Return a function that makes a tensor of a shape, a type and a device."""

    def create(*shape: object, dtype: DType | None = None, device: object = "cpu", **names: object) -> Tensor:
        if "size" in names:
            shape = (names.pop("size"),)
        values = np.asarray(make(lengths_of(shape))).astype((dtype or FLOAT32).numpy)
        return Tensor.on(values, is_cuda=Device(device or "cpu").type == "cuda")

    return create


def empty(*shape: object, dtype: DType | None = None, device: object = "cpu", **_: object) -> Tensor:
    """Allocate a tensor that nothing has written."""
    kind = (dtype or FLOAT32).numpy
    if Device(device or "cpu").type == "cpu":
        return Tensor(np.empty(lengths_of(shape), kind))
    with _ERRORS:
        array = DeviceArray.new(lengths_of(shape), kind, is_written=False)
    return Tensor(array._values, array)


def _like(make: Callable[..., Tensor]) -> Callable[..., Tensor]:
    def like(other: Tensor, *, dtype: DType | None = None, device: object = None, **_: object) -> Tensor:
        return make(other.shape, dtype=dtype or other.dtype, device=device or other.device)

    return like


def full(
    shape: object, value: object, *, dtype: DType | None = None, device: object = "cpu", **_: object
) -> Tensor:
    """Make a tensor of one value."""
    own = DTYPES[np.dtype(type(value))] if not isinstance(value, float) else FLOAT32
    return _placed(np.full(lengths_of((shape,)), value), dtype or own, device)


def arange(*bounds: Any, dtype: DType | None = None, device: Any = "cpu", **_: Any) -> Tensor:
    """Make a tensor of equidistant numbers."""
    values = np.arange(*bounds)
    return _placed(values, dtype or (FLOAT32 if values.dtype.kind == "f" else DTYPES[values.dtype]), device)


def tensor(data: object, *, dtype: DType | None = None, device: object = "cpu", **_: object) -> Tensor:
    """Copy numbers to a tensor."""
    values = np.array(data.content if isinstance(data, Tensor) else data)
    is_own = isinstance(data, np.ndarray | Tensor) or values.dtype.kind != "f"
    return _placed(values, dtype or (DTYPES[values.dtype] if is_own else FLOAT32), device)


def _placed(values: object, dtype: DType, device: object) -> Tensor:
    is_cuda = Device(device or "cpu").type == "cuda"
    return Tensor.on(np.asarray(values).astype(dtype.numpy), is_cuda=is_cuda)


def allclose(a: Tensor, b: Tensor, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> bool:
    """Return True if all elements of two tensors are close."""
    if a.dtype is not b.dtype:
        raise RuntimeError(f"{a.dtype} did not match {b.dtype}")
    return bool(computed(np.allclose, (a, b), {"rtol": rtol, "atol": atol, "equal_nan": equal_nan}))


def _reduction(function: Callable[..., Any]) -> Callable[..., Tensor]:
    def reduce(value: Tensor, dim: Any = None, keepdim: bool = False, **_: Any) -> Tensor:
        names: dict[str, Any] = {"axis": dim} | ({"keepdims": True} if keepdim else {})
        result: Tensor = computed(function, (value,), names)
        return result

    return reduce


def _extreme(name: str) -> Callable[..., Any]:
    """Return `torch.max` or `torch.min`: of all elements, along an axis with positions, or of two tensors."""

    def extreme(value: Tensor, dim: object = None, keepdim: bool = False) -> object:
        if isinstance(dim, Tensor):
            return computed(getattr(np, f"{name}imum"), (value, dim), {})
        if dim is None:
            return computed(getattr(np, name), (value,), {})
        names = {"axis": dim, "keepdims": keepdim}
        return tuple(computed(getattr(np, which), (value,), names) for which in (name, f"arg{name}"))

    return extreme


def _softmax(value: Tensor, dim: int) -> Tensor:
    def softmax(x: Any) -> Any:
        powers = np.exp(x - x.max(axis=dim, keepdims=True))
        return powers / powers.sum(axis=dim, keepdims=True)

    result: Tensor = computed(softmax, (value,), {})
    return result


def _on_tensors(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *arguments, **names: computed(function, arguments, names)


def _functions() -> dict[str, Callable[..., Any]]:
    """List what is a function of `torch` and a method of its tensors."""
    return (
        {name: _on_tensors(function) for name, function in _ELEMENTWISE.items()}
        | {name: _reduction(function) for name, function in _REDUCTIONS.items()}
        | {"max": _extreme("max"), "min": _extreme("min"), "allclose": allclose, "softmax": _softmax}
        | {"equal": lambda a, b: a.shape == b.shape and bool(computed(np.array_equal, (a, b), {}))}
    )


for _name, _call in _functions().items():
    setattr(Tensor, _name, _call)


class Event(Moment):
    """An event; times are those of this processor."""

    elapsed_time = Moment.milliseconds_to


def torch_names() -> dict[str, Any]:
    """List the names that the stand-in for `torch` offers; random numbers are NumPy's."""
    state = np.random.default_rng(0)

    def seed(number: int) -> None:
        nonlocal state
        state = np.random.default_rng(number)

    def randint(
        low: int, high: Any, size: Any = None, *, dtype: DType | None = None, device: Any = "cpu"
    ) -> Tensor:
        first, end, shape = (0, low, high) if size is None else (low, high, size)
        return _placed(
            state.integers(first, end, size=tuple(shape)), dtype or DTYPES[np.dtype("int64")], device
        )

    zeros, ones = _maker(np.zeros), _maker(np.ones)
    rand, randn = (
        _maker(lambda shape: state.random(shape)),
        _maker(lambda shape: state.standard_normal(shape)),
    )
    short = {"float": "float32", "double": "float64", "half": "float16", "int": "int32", "long": "int64"}
    names: dict[str, Any] = {dtype.name: dtype for dtype in DTYPES.values()}
    names |= {name: names[own] for name, own in short.items()}
    return names | _functions() | {
        "__version__": "2.9 (a stand-in of Tilescope)", "Tensor": Tensor, "Size": Size, "device": Device,
        "dtype": DType, "zeros": zeros, "ones": ones, "rand": rand, "randn": randn, "randint": randint,
        "empty": empty, "full": full, "arange": arange, "tensor": tensor, "manual_seed": seed,
        "zeros_like": _like(zeros), "ones_like": _like(ones), "empty_like": _like(empty), "rand_like": _like(rand),
        "randn_like": _like(randn), "full_like": lambda other, value: _like(empty)(other).fill_(value),
        "eye": lambda n, **names: _placed(np.eye(n), names.get("dtype") or FLOAT32, names.get("device")),
        "from_numpy": Tensor, "is_tensor": lambda value: isinstance(value, Tensor), "no_grad": nullcontext,
        "inference_mode": nullcontext, "set_printoptions": lambda **_: None,
    }  # fmt: skip


def cuda_names() -> dict[str, Any]:
    """List the names that the stand-in for `torch.cuda` offers."""
    return {
        "is_available": lambda: True, "synchronize": lambda *_: None, "Event": Event, "Stream": WorkQueue,
        "device_count": lambda: 1, "current_device": lambda: 0, "set_device": lambda *_: None,
        "get_device_name": lambda *_: DEVICE_NAME, "get_device_capability": lambda *_: CAPABILITY,
        "empty_cache": lambda: None, "manual_seed": lambda number: None, "manual_seed_all": lambda number: None,
        "current_stream": lambda *_: WorkQueue(),
    }  # fmt: skip


def extension_names() -> dict[str, Any]:
    """List the names that the stand-in for `torch.utils.cpp_extension` offers."""
    return {"load_inline": load_inline}
