"""The memory of a CUDA C++ launch: its allocations and variables, their names, and the arguments that name them."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from ..model import cpp_text
from ..model import launch as launches
from ..model.trace import ALIAS_SEPARATOR, Dim3
from .debug_info import Layout
from .program_facts import ProgramFacts
from .regions import Region, Views

DEVICE_BASE = 256  # address in the trace at which allocations begin
VARIABLES_BASE = 1 << 40  # the same for the program's variables
HEAP_CALL = 1  # in place of a call: of the memory from which kernels allocate
_ALLOCATION = re.compile(
    r"cuda\w*Alloc\w*\s*\(\s*(?:\(\s*void\s*\*\s*\*\s*\)\s*)?&\s*\(?([A-Za-z_][\w.]*)", re.IGNORECASE
)


class LaunchEvent(Struct):
    """A launch, as the runtime reports it."""

    kernel: str
    file: str
    line: int
    grid: Dim3
    block: Dim3
    shared: int
    cooperative: int
    function: int  # the kernel's address, from the start of the image; 0 if it is unknown
    arguments: list[tuple[int, str]]  # address and type, see `runtime/interface.h`
    allocations: list[
        tuple[int, int, int, int]
    ] = []  # address, size, whether it is live, the call that made it
    thread_memory: int = 0
    symbols: int = 0
    stream: int = 0  # 0 for the default stream

    @property
    def kernel_name(self) -> str:
        """The kernel's name without namespaces and template arguments."""
        return self.kernel.partition("<")[0].rpartition("::")[2].strip()


class ProgramMemory(Struct, frozen=True):
    """Where the memory of a running program lies, and a way to read the device's."""

    arena: int
    dynamic: int
    base: int
    read: Callable[[int, int], NDArray[np.uint8]]  # (address, size) in the arena


class LaunchMemory:
    """The regions of memory that a launch can access.

    regions: the allocations in the order of their launch, then the program's variables. views: of each region.
    allocations: their number. passed: the numbers of those that arguments name.
    """

    def __init__(
        self,
        event: LaunchEvent,
        facts: ProgramFacts,
        memory: ProgramMemory,
        symbols: NDArray[np.uint8],
        kernel: str,
    ) -> None:
        """symbols: contents of the program's variables, each from a multiple of 16. kernel: its name."""
        self._event, self._facts, self._memory, self._kernel = event, facts, memory, kernel
        self._parameters = self._kernel_parameters()
        self.passed: set[int] = set()
        self.allocations = len(event.allocations)
        self.regions = self._make_regions(symbols)
        self.views = [Views(region) for region in self.regions]

    def _kernel_parameters(self) -> list[tuple[str, Layout]]:
        count = len([argument for argument in self._event.arguments if "@" not in argument[1]])
        return self._facts.debug.parameters_of(self._kernel, count)

    def _make_regions(self, symbols: NDArray[np.uint8]) -> list[Region]:
        names: dict[int, list[str]] = {}
        layouts: dict[int, Layout] = {}
        starts = np.array([start for start, *_ in self._event.allocations], np.int64)
        for number, (pointer, kind) in enumerate(self._event.arguments):
            index = int(np.searchsorted(starts, pointer, side="right")) - 1
            if index < 0 or not pointer or pointer >= starts[index] + self._event.allocations[index][1]:
                continue
            name, layout = self._argument(number, kind)
            if name not in names.setdefault(index, []):
                names[index].append(name)
            if layout.size and index not in layouts:
                layouts[index] = layout
        self.passed = set(names)  # numbers of the allocations that arguments name
        regions = []
        budget = 1 << 29
        for index, (start, size, live, pc) in enumerate(self._event.allocations):
            name = ALIAS_SEPARATOR.join(names.get(index, ())) or self._host_name(pc, index)
            space_address = DEVICE_BASE + start - self._memory.arena
            initial = self._memory.read(start, size) if live and size <= budget else None
            budget -= size if initial is not None else 0
            regions.append(
                Region(
                    start, size, name, "global", space_address, layouts.get(index, Layout(0)), True, initial
                )
            )
        shared_end = 0
        for variable in self._facts.debug.shared:
            shared_end = -(-shared_end // 16) * 16
            start = self._event.thread_memory + variable.offset
            regions.append(
                Region(start, variable.size, variable.name, "shared", shared_end, variable.layout, False)
            )
            shared_end += variable.size
        shared_end = -(-shared_end // 16) * 16
        name, dtype = self._facts.dynamic[0] if self._facts.dynamic else ("dynamic shared", "|u1")
        if self._event.shared:
            layout = Layout(np.dtype(dtype).itemsize, dtype)
            regions.append(
                Region(self._memory.dynamic, self._event.shared, name, "shared", shared_end, layout, True)
            )
        address, offset = VARIABLES_BASE, 0
        for variable in self._facts.debug.variables:
            content = (
                symbols[offset : offset + variable.size] if len(symbols) >= offset + variable.size else None
            )
            offset += -(-variable.size // 16) * 16
            space = self._facts.spaces.get(variable.name, "global")
            start = self._memory.base + variable.offset
            regions.append(
                Region(start, variable.size, variable.name, space, address, variable.layout, False, content)
            )
            address += -(-max(1, variable.size) // 256) * 256
        return regions

    def _host_name(self, pc: int, index: int) -> str:
        """Return the host's name of an allocation, as `cudaMalloc(&d_next, size)` has it, else its line or number."""
        if pc == HEAP_CALL:
            return "heap"
        site = self._facts.debug.site(pc)
        lines = self._facts.texts.get(site.file, "").splitlines() if site else []
        calls = _ALLOCATION.findall(lines[site.line - 1]) if site and site.line <= len(lines) else []
        if len(calls) == 1:
            return str(calls[0])
        return f"memory of line {site.line}" if lines and site else f"memory{index}"

    def _argument(self, number: int, kind: str) -> tuple[str, Layout]:
        """Return an argument's name in the kernel, and the layout of what it points to."""
        position, _, offset = kind.partition("@")
        if offset:  # a pointer in a structure that was passed by value
            number = int(position or 0)
            if number < len(self._parameters):
                name, layout = self._parameters[number]
                for field, place, part in layout.fields:
                    if place == int(offset):
                        return f"{name}.{field}", part.target or Layout(0)
                return name, Layout(0)
            return f"argument {number}", Layout(0)
        plain = sum(not earlier.partition("@")[2] for _, earlier in self._event.arguments[:number])
        if plain < len(self._parameters):
            name, layout = self._parameters[plain]
            target = layout.target or Layout(0)
            if not target.size and kind:
                target = Layout(np.dtype(kind).itemsize, kind)
            return name, target
        is_known = kind not in ("", "v") and not kind.startswith("=")
        return f"argument {plain}", Layout(np.dtype(kind).itemsize, kind) if is_known else Layout(0)

    def recorded_arguments(
        self, file: str
    ) -> tuple[tuple[launches.Array | launches.Scalar, ...], dict[str, bool | int | float | str]] | None:
        """Return the arguments and template arguments that launch the kernel again; None if they are not known.

        Arrays are described by their shapes: `with_inputs` adds their contents. Structures, memory that two arguments
        share, pointers into allocations and device variables that the host has set are left out.
        """
        text = self._facts.texts.get(file, "")
        function = next((f for f in cpp_text.functions(text) if f.name == self._kernel), None)
        if function is None or any(
            region.name in self._facts.spaces and region.initial is not None and region.initial.any()
            for region in self.regions[self.allocations :]
        ):
            return None
        constants = self._template_arguments(text, function)
        if len(constants) < len(cpp_text.template_parameters(text, function)):
            return None
        arguments: list[launches.Array | launches.Scalar] = []
        used: set[int] = set()
        starts = {start: number for number, (start, *_) in enumerate(self._event.allocations)}
        for pointer, kind in self._event.arguments:
            if kind.startswith("="):
                arguments.append(_scalar(kind))
                continue
            region = starts.get(pointer, -1)
            buffer = self.views[region].main_buffer() if region >= 0 else None
            if region in used or buffer is None or np.dtype(buffer.dtype).kind not in "biuf":
                return None
            used.add(region)
            arguments.append(launches.Array(buffer.shape, np.dtype(buffer.dtype).name))
        return tuple(arguments), constants

    def known_values(self, file: str) -> dict[str, bool | int | float | str]:
        """Return the values of the kernel's numeric parameters and template arguments by name."""
        text = self._facts.texts.get(file, "")
        function = next((f for f in cpp_text.functions(text) if f.name == self._kernel), None)
        values = self._template_arguments(text, function) if function else {}
        for number, (_, kind) in enumerate(self._event.arguments):
            if kind.startswith("="):
                values[self._argument(number, "")[0]] = _scalar(kind).value
        return values

    def _template_arguments(
        self, text: str, function: cpp_text.Function
    ) -> dict[str, bool | int | float | str]:
        """Return the template arguments that are numbers, by name."""
        names = cpp_text.template_parameters(text, function)
        chosen = self._event.kernel.partition("<")[2].rstrip("> ").split(",")
        if len(chosen) != len(names):
            return {}
        pairs = zip(names, map(str.strip, chosen), strict=True)
        return {name: int(value) for name, value in pairs if value.isdecimal()}


def _scalar(kind: str) -> launches.Scalar:
    """Read an argument such as `=<i4:64`."""
    dtype, _, value = kind[1:].partition(":")
    return launches.Scalar(float(value) if dtype[1] == "f" else int(value), np.dtype(dtype).name)
