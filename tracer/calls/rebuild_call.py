"""Rebuilds a call's kernel and arguments in the process that runs it, under Numba's simulator."""

from __future__ import annotations

import linecache
import sys
from collections import OrderedDict, namedtuple
from importlib import machinery
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..simulator.host.arrays import device_view
from ..type_inference.question import ArrayContent, Function, Library, Value
from ..type_inference.rebuild_kernel import KernelBuilder, dtype_from
from .call import Argument, ArgumentTuple, ArrayArgument, Call, memory_file

MAX_KEPT_KERNELS = 64  # kernels that are kept, so that a repeated call is not rebuilt
_kernels: OrderedDict[bytes, Any] = OrderedDict()


class _Maker(KernelBuilder):
    runs = True

    def value(self, value: Value) -> Any:
        """Rebuild a described value; raises NotRebuiltError for a value that is not available here."""
        if isinstance(value, ArrayContent):
            order = value.layout
            elements = np.frombuffer(value.data, dtype_from(value.dtype))
            return elements.reshape(value.shape, order=order).copy(order=order)
        if isinstance(value, Library) and value.module == "numba.cuda" and value.name:
            return getattr(sys.modules["numba.cuda"], value.name)
        return super().value(value)


def rebuild_kernel(call: Call) -> Any:
    """Rebuild a call's kernel for the simulator; raises NotRebuiltError."""
    key = call.kernel_key()
    if key not in _kernels:
        _kernels[key] = _rebuild(call)
        while len(_kernels) > MAX_KEPT_KERNELS:
            _kernels.popitem(last=False)
    _kernels.move_to_end(key)
    return _kernels[key]


def _rebuild(call: Call) -> Any:
    from numba import cuda

    for file, text in call.sources.items():
        linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    maker = _Maker(call.functions, _device)
    function = maker.plain(0)
    signatures = [cuda_signature(maker, types) for types in call.signatures]
    declared = signatures if call.specialized else [signatures] if signatures else []
    return cuda.jit(*declared, debug=call.debug)(function)


def cuda_signature(maker: KernelBuilder, types: tuple[Value, ...]) -> Any:
    """Return the signature of a kernel that takes arguments of these types."""
    from numba import types as numba_types

    return numba_types.void(*map(maker.value, types))


def _device(function: FunctionType, described: Function, types: tuple[Any, ...]) -> Any:
    """Turn a function into a device function."""
    from numba import cuda

    return cuda.jit(device=True)(function)


class RebuiltArguments:
    """A call's arguments in this process's memory, which is read from a folder and written back to it."""

    def __init__(self, call: Call, folder: Path) -> None:
        self._call, self._folder = call, folder
        self._maker = _Maker((), _device)
        # Each array owns its elements, because other code looks up the memory that a view belongs to.
        self._memories: list[NDArray[Any]] = [
            np.fromfile(memory_file(folder, number), dtype_from(memory.dtype))
            for number, memory in enumerate(call.memories)
        ]
        self.values = tuple(map(self._argument, call.arguments))

    def write_back(self) -> None:
        """Write the memories back to the folder; raises OSError."""
        for number, memory in enumerate(self._memories):
            memory.view(np.uint8).tofile(memory_file(self._folder, number))

    def _argument(self, argument: Argument) -> Any:
        if isinstance(argument, ArrayArgument):
            return self._rebuild_array(argument)
        if isinstance(argument, ArgumentTuple):
            items = map(self._argument, argument.items)
            return namedtuple(argument.name, argument.fields)(*items) if argument.fields else tuple(items)
        return self._maker.value(argument)

    def _rebuild_array(self, argument: ArrayArgument) -> Any:
        from numba import cuda

        owner, dtype = self._memories[argument.memory], dtype_from(argument.dtype)
        if 0 in argument.shape:
            ary = np.empty(argument.shape, dtype)
        else:
            memory = owner if owner.dtype == dtype else owner.view(np.uint8)
            ary = np.ndarray(argument.shape, dtype, memory, argument.offset, argument.strides)
        if argument.kind == "record":
            return ary[()]
        if argument.kind == "device":
            return device_view(ary)
        ary.flags.writeable = not argument.readonly
        # A read-only array gets no results back.
        transfer = argument.transfer or ("In" if argument.readonly else "")
        return getattr(cuda, transfer)(ary) if transfer else ary


def impersonate_program(call: Call) -> None:
    """Replace this process's __main__ by the user's program, so that its folder counts as the user's."""
    main = ModuleType("__main__")
    main.__file__ = call.program or None
    main.__spec__ = machinery.ModuleSpec(call.module, None) if call.module else None
    sys.modules["__main__"] = main
