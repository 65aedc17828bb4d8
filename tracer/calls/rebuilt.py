"""A call's kernel and arguments as they are in the process that runs it, under Numba's simulator."""

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

from ..simulator.host.arrays import over
from ..type_inference.question import ArrayContent, Function, Library, Value
from ..type_inference.rebuilt_kernel import Maker, dtype_from
from .call import Argument, ArgumentTuple, ArrayPlace, Call, memory_file

KEPT = 64  # kernels that are at hand, so that one that is called again is not rewritten anew
_kernels: OrderedDict[bytes, Any] = OrderedDict()


class _Maker(Maker):
    runs = True

    def value(self, value: Value) -> Any:
        """Return what a value stands for; raises NotRebuilt for what can't be had here."""
        if isinstance(value, ArrayContent):
            order = value.layout
            elements = np.frombuffer(value.data, dtype_from(value.dtype))
            return elements.reshape(value.shape, order=order).copy(order=order)
        if isinstance(value, Library) and value.module == "numba.cuda" and value.name:
            return getattr(sys.modules["numba.cuda"], value.name)
        return super().value(value)


def kernel_of(call: Call) -> Any:
    """Return a call's kernel, one of the simulator's; raises NotRebuilt."""
    key = call.kernel_key()
    if key not in _kernels:
        _kernels[key] = _made(call)
        while len(_kernels) > KEPT:
            _kernels.popitem(last=False)
    _kernels.move_to_end(key)
    return _kernels[key]


def _made(call: Call) -> Any:
    from numba import cuda

    for file, text in call.sources.items():
        linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    maker = _Maker(call.functions, _device)
    function = maker.plain(0)
    signatures = [cuda_signature(maker, types) for types in call.signatures]
    given = signatures if call.specialized else [signatures] if signatures else []
    return cuda.jit(*given, debug=call.debug)(function)


def cuda_signature(maker: Maker, types: tuple[Value, ...]) -> Any:
    """Return the signature of a kernel that takes arguments of these types."""
    from numba import types as numba_types

    return numba_types.void(*map(maker.value, types))


def _device(function: FunctionType, described: Function, types: tuple[Any, ...]) -> Any:
    """Return a function as one that kernels call."""
    from numba import cuda

    return cuda.jit(device=True)(function)


class Arguments:
    """A call's arguments, in memory of this process that is read from a folder and written back to it."""

    def __init__(self, call: Call, folder: Path) -> None:
        self._call, self._folder = call, folder
        self._maker = _Maker((), _device)
        # Each owns its elements, for what looks for the memory of a view.
        self._held: list[NDArray[Any]] = [
            np.fromfile(memory_file(folder, number), dtype_from(memory.dtype))
            for number, memory in enumerate(call.memories)
        ]
        self.values = tuple(map(self._argument, call.arguments))

    def write_back(self) -> None:
        """Write what the memories hold now; raises OSError."""
        for number, held in enumerate(self._held):
            held.view(np.uint8).tofile(memory_file(self._folder, number))

    def _argument(self, argument: Argument) -> Any:
        if isinstance(argument, ArrayPlace):
            return self._placed(argument)
        if isinstance(argument, ArgumentTuple):
            items = map(self._argument, argument.items)
            return namedtuple(argument.name, argument.fields)(*items) if argument.fields else tuple(items)
        return self._maker.value(argument)

    def _placed(self, place: ArrayPlace) -> Any:
        from numba import cuda

        held, dtype = self._held[place.memory], dtype_from(place.dtype)
        if 0 in place.shape:
            ary = np.empty(place.shape, dtype)
        else:
            memory = held if held.dtype == dtype else held.view(np.uint8)
            ary = np.ndarray(place.shape, dtype, memory, place.offset, place.strides)
        if place.kind == "record":
            return ary[()]
        if place.kind == "device":
            return over(ary)
        ary.flags.writeable = not place.readonly
        transfer = place.transfer or (
            "In" if place.readonly else ""
        )  # nothing comes back into what can't be written
        return getattr(cuda, transfer)(ary) if transfer else ary


def stand_for_program(call: Call) -> None:
    """Have the user's program stand where this process's is, so that its folder counts as the user's."""
    main = ModuleType("__main__")
    main.__file__ = call.program or None
    main.__spec__ = machinery.ModuleSpec(call.module, None) if call.module else None
    sys.modules["__main__"] = main
