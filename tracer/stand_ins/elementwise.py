"""CuPy's ElementwiseKernel: a kernel from a statement in C++ for one element."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from msgspec import Struct

from .arrays import DeviceArray
from .driver import Argument, CudaModule, numpy_argument
from .source_place import PlacedText, calling_line

_PARAMETER = re.compile(r"\s*(?:const\s+)?(raw\s+)?(\w+)\s+(\w+)\s*")
_C_TYPES = {
    "bool": "bool", "int8": "signed char", "int16": "short", "int32": "int", "int64": "long long",
    "uint8": "unsigned char", "uint16": "unsigned short", "uint32": "unsigned int", "uint64": "unsigned long long",
    "float32": "float", "float64": "double",
}  # fmt: skip


class Parameter(Struct, frozen=True):
    """A parameter of an elementwise kernel."""

    name: str
    type: str  # of NumPy, or a letter that stands for one
    is_raw: bool
    is_output: bool


def read_parameters(text: str, *, are_outputs: bool) -> list[Parameter]:
    """Parse "float32 x, raw T y"; raises ValueError for another text."""
    parameters = []
    for piece in filter(str.strip, text.split(",")):
        match = _PARAMETER.fullmatch(piece)
        if match is None:
            raise ValueError(f"Tilescope's stand-in for CuPy can't read the parameter {piece.strip()!r}")
        parameters.append(Parameter(match[3], match[2], bool(match[1]), are_outputs))
    return parameters


class ElementwiseKernel:
    """A kernel that computes each element by a statement in C++."""

    new: Callable[..., DeviceArray]  # allocates an array, given its shape and dtype
    errors: Any  # the context manager that raises errors as CuPy does

    def __init__(
        self, in_params: str, out_params: str, operation: str, name: str = "kernel", reduce_dims: bool = True,
        preamble: str = "", no_return: bool = False, return_tuple: bool = False, *, loop_prep: str = "",
        after_loop: str = "", options: Sequence[str] = (), **_: Any,
    ) -> None:  # fmt: skip
        if loop_prep or after_loop:
            raise NotImplementedError("Tilescope's stand-in for CuPy has no loop_prep and after_loop")
        self.name, self._operation, self._preamble = name, operation, preamble
        self._inputs = read_parameters(in_params, are_outputs=False)
        self._outputs = read_parameters(out_params, are_outputs=True)
        self._returns, self._returns_tuple, self._options = not no_return, return_tuple, options
        self._place = calling_line()
        self._modules: dict[tuple[str, ...], CudaModule] = {}

    def __call__(self, *args: Any, size: int | None = None, block_size: int = 128, **_: Any) -> Any:
        inputs, given = args[: len(self._inputs)], args[len(self._inputs) :]
        if len(inputs) < len(self._inputs) or len(given) not in (0, len(self._outputs)):
            wanted = f"{len(self._inputs)} or {len(self._inputs) + len(self._outputs)}"
            raise TypeError(f"Wrong number of arguments for {self.name}: {wanted}, not {len(args)}")
        for value in args:
            if isinstance(value, np.ndarray) and value.ndim:
                raise TypeError(f"Unsupported type {type(value)}")
        types = self._types(inputs, given)
        elementwise = [
            value for value, parameter in zip(args, [*self._inputs, *self._outputs], strict=False)
            if isinstance(value, DeviceArray) and not parameter.is_raw
        ]  # fmt: skip
        shape = np.broadcast_shapes(*(array.shape for array in elementwise)) if elementwise else (size or 0,)
        if not elementwise and size is None:
            raise ValueError("Loop size is undecided.")
        count = int(np.prod(shape)) if size is None else size
        outputs = list(given) or [self.new(shape, types[parameter.type]) for parameter in self._outputs]
        kinds = tuple(types[parameter.type] for parameter in [*self._inputs, *self._outputs])
        pairs = list(zip([*self._inputs, *self._outputs], [*inputs, *outputs], kinds, strict=True))
        values = [self._plain(parameter, value, kind, shape) for parameter, value, kind in pairs]
        is_array = tuple(isinstance(value, DeviceArray) for value in values)
        with self.errors:
            module = self._module(kinds, is_array)
            if count:
                arguments = [numpy_argument(np.int64(count)), *map(_argument, values)]
                module.launch(self.name, (-(-count // block_size),), (block_size,), arguments)
        for output, value in zip(outputs, values[len(inputs) :], strict=True):
            if value is not output:
                output[...] = value
        if not self._returns:
            return None
        return outputs[0] if len(outputs) == 1 and not self._returns_tuple else tuple(outputs)

    def _types(self, inputs: Sequence[Any], outputs: Sequence[Any]) -> dict[str, str]:
        """Return the NumPy type of each type that the parameters name."""
        types: dict[str, str] = {}
        values = [*inputs, *outputs]
        parameters = [*self._inputs, *self._outputs]
        for is_array in (True, False):
            for parameter, value in zip(parameters, values, strict=False):
                if isinstance(value, DeviceArray) == is_array and len(parameter.type) == 1:
                    types.setdefault(parameter.type, np.dtype(getattr(value, "dtype", type(value))).name)
        for parameter in parameters:
            if len(parameter.type) > 1:
                types[parameter.type] = np.dtype(parameter.type).name
            elif parameter.type not in types:
                raise TypeError(f"the type {parameter.type} of {self.name} is undecided")
        return types

    def _plain(self, parameter: Parameter, value: Any, kind: str, shape: tuple[int, ...]) -> Any:
        """Return an array with the elements of a parameter one after the other, or a number."""
        if not isinstance(value, DeviceArray):
            if parameter.is_raw or parameter.is_output:
                raise TypeError(f"{parameter.name} of {self.name} must be an array")
            return np.dtype(kind).type(value)
        is_fitting = value.dtype.name == kind and (parameter.is_raw or value.shape == shape)
        if is_fitting and value.flags.c_contiguous:
            return value
        content = value.host if parameter.is_raw else np.broadcast_to(value.host, shape)
        return type(value).copied(np.ascontiguousarray(content.astype(kind)))

    def _module(self, kinds: tuple[str, ...], is_array: tuple[bool, ...]) -> CudaModule:
        key = (*kinds, *map(str, is_array))
        if key not in self._modules:
            text = self._text(kinds, is_array)
            name = f"{self._place[0]} [line {self._place[1]}].cu"
            self._modules[key] = CudaModule(PlacedText(name, text, text, name), self._options)
        return self._modules[key]

    def _text(self, kinds: tuple[str, ...], is_array: tuple[bool, ...]) -> str:
        """Write the kernel."""
        parameters = [*self._inputs, *self._outputs]
        for kind in kinds:
            if kind not in _C_TYPES:
                raise TypeError(f"Tilescope's stand-in for CuPy has no ElementwiseKernel for {kind}")
        kernel, element, values = ["long long n"], ["long long i", "const TilescopeSize _ind"], ["i", "{n}"]
        for parameter, kind, is_pointer in zip(parameters, kinds, is_array, strict=True):
            const = "" if parameter.is_output else "const "
            plain = f"{const}{_C_TYPES[kind]}"
            kernel.append(f"{plain}{'*' if is_pointer else ''} {parameter.name}")
            element.append(f"{plain}{'*' if parameter.is_raw else '&'} {parameter.name}")
            is_element = is_pointer and not parameter.is_raw
            values.append(f"{parameter.name}[i]" if is_element else parameter.name)
        names = dict(zip((parameter.type for parameter in parameters), kinds, strict=True))
        aliases = "".join(
            f"typedef {_C_TYPES[kind]} {name};\n" for name, kind in names.items() if name not in kinds
        )
        return (
            f"{aliases}struct TilescopeSize {{ long long n; __device__ long long size() const {{ return n; }} }};\n"
            f"{self._preamble}\n"
            f"__device__ void {self.name}_element({', '.join(element)}) {{\n{self._operation};\n}}\n"
            f'extern "C" __global__ void {self.name}({", ".join(kernel)}) {{\n'
            "    for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < n; "
            "i += gridDim.x * (long long)blockDim.x) {\n"
            f"        {self.name}_element({', '.join(values)});\n    }}\n}}\n"
        )


def _argument(value: Any) -> Argument:
    return value.argument() if isinstance(value, DeviceArray) else numpy_argument(value)
