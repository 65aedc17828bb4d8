"""Kernels as Numba compiles them: one program for each list of argument types, with frozen names."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from operator import itemgetter
from types import FunctionType
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from ...type_inference.question import Answer, Refusal
from ...type_inference.typed_ir import FunctionIR, Program
from .frozen_names import as_seen_by_kernel, current_values, freeze
from .generator import CUDA, Generator, NotGeneratedError
from .library_functions import CudaPath

MAX_COMPARED = 1 << 16  # bytes; larger global arrays are not compared at each launch
Names = dict[str, Any]


class SimulatorNames(NamedTuple):
    """Functions of the simulator that look up names."""

    cuda: Callable[[], Any]  # returns the module `cuda`
    path_of: Callable[[Any], str | None]  # returns the path of a value under `cuda`, None for anything else
    function_in: Callable[[Any], FunctionType | None]  # returns the function of a device function, or None


class DescribedKernel(NamedTuple):
    """The question about a kernel for some argument types, with its answer.

    key: identifies the argument types. functions: of the question, the kernel first.
    """

    key: Hashable
    functions: Sequence[FunctionType]
    answer: Callable[[], Answer]  # waits for the answer


class RefusedError(Exception):
    """Numba does not compile a kernel for a GPU."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal.reason)
        self.refusal = refusal


class KernelProgram:
    """A kernel for some argument types, with the device functions that it calls.

    run: the function generated from Numba's IR, or without one the kernel with Python's arithmetic. untyped: the reason
    for the latter.
    """

    def __init__(
        self, owner: KernelPrograms, function: FunctionType, described: DescribedKernel, *, debug: bool
    ) -> None:
        self._owner, self._function, self.debug = owner, function, debug
        self._functions = list(described.functions)
        self.names = owner.names(function, described.key)
        self._scopes: list[Names] = []
        self._bound: Any = None
        self._reported: set[str] = set()
        self._frozen: dict[int, FunctionType] = {}
        self._generated: dict[int, FunctionType] = {}
        self._callees: dict[int, Callable[..., Any]] = {}
        self.devices: list[tuple[FunctionType, Names]] = []
        answer = described.answer()
        if answer.refusal is not None:
            raise RefusedError(answer.refusal)
        self.noted = False  # whether the note about `untyped` was printed
        self.untyped = answer.unknown or ("" if answer.program else "Numba's compiler gave no answer")
        self.run = (
            self._untyped_function() if answer.program is None else self._typed_function(answer.program)
        )

    def _typed_function(self, program: Program) -> FunctionType:
        try:
            return self.function(program, 0, self._function)
        except (NotGeneratedError, RecursionError, SyntaxError) as error:
            self.untyped = str(error)
            return self._untyped_function()

    def function(self, program: Program, number: int, function: FunctionType) -> FunctionType:
        """Generate a function of the program; raises NotGeneratedError."""
        ir = program.functions[number]
        if number == 0:
            names = self.names
        else:
            key = tuple(
                program.types[ir.variables[s.target]]
                for b in ir.blocks
                for s in b.statements
                if s.op == "arg"
            )
            names = self._owner.names(function, key)
            self.devices.append((function, names))
        context = _FunctionNames(self, program, ir, names)
        generator = Generator(context, program, ir, function)
        tree = generator.tree()
        scope = _new_scope(function) | generator.helpers
        scope[CUDA] = self._bound
        self._scopes.append(scope)
        compiled = _compile(tree, function.__code__.co_filename, scope)
        compiled.__defaults__ = function.__defaults__ and tuple(map(as_seen_by_kernel, function.__defaults__))
        self._generated[number] = compiled
        return compiled

    def callee(self, program: Program, number: int, function: FunctionType) -> Callable[..., Any]:
        """Return the generated version of a function, or a forwarder while that is being generated."""
        if number in self._generated:
            return self._generated[number]
        if number not in self._callees:
            self._callees[number] = lambda *arguments, **named: self._generated[number](*arguments, **named)
            return self.function(program, number, function)
        return self._callees[number]

    def question_function(self, number: int) -> FunctionType:
        """Return a function of the question."""
        return self._functions[number]

    @property
    def simulator(self) -> SimulatorNames:
        """The simulator's functions that look up names."""
        return self._owner.simulator

    def _untyped_function(self) -> FunctionType:
        """Return the kernel with frozen names and Python's arithmetic."""
        scope = _new_scope(self._function) | {
            name: as_seen_by_kernel(value, name) for name, value in self.names.items()
        }
        self._cuda_names = [name for name, value in self.names.items() if self.simulator.path_of(value) == ""]
        self._scopes = [scope]
        return _with_names(self._function, scope)

    _cuda_names: Sequence[str] = ()

    def bind(self, module: Any) -> None:
        """Replace `cuda` by this module, here and in the called device functions."""
        if self._bound is module:
            return
        self._bound = module
        self._owner.bound.append(self)
        for scope in self._scopes:
            scope[CUDA] = module
            for name in self._cuda_names:
                scope[name] = module
        code = self.run.__code__
        for name in self._cuda_names:
            if name in code.co_freevars:
                (self.run.__closure__ or ())[code.co_freevars.index(name)].cell_contents = module

    def changed_names(self) -> Iterator[tuple[str, Any]]:
        """Yield the global numbers that have changed, with their frozen values; each is reported once."""
        for function, names in [(self._function, self.names), *self.devices]:
            current = current_values(function)
            for name, frozen_value in sorted(names.items(), key=itemgetter(0)):
                is_small = isinstance(frozen_value, int | float | tuple | np.generic) or (
                    not isinstance(frozen_value, type)
                    and getattr(frozen_value, "nbytes", MAX_COMPARED) < MAX_COMPARED
                )
                if is_small and name not in self._reported and not _is_same(frozen_value, current.get(name)):
                    self._reported.add(name)
                    yield name, frozen_value

    def frozen_function(self, stand_in: Callable[[Any, FunctionType], Any]) -> FunctionType:
        """Return the unchanged kernel with its frozen names.

        `stand_in(device function, function)` returns a device function that runs another function.
        """
        devices = {id(function): names for function, names in self.devices}
        return self._frozen_function(self._function, self.names, devices, stand_in)

    def _frozen_function(
        self, function: FunctionType, names: Names, devices: Mapping[int, Names],
        stand_in: Callable[[Any, FunctionType], Any],
    ) -> FunctionType:  # fmt: skip
        if id(function) not in self._frozen:
            scope: Names = {"__name__": function.__globals__.get("__name__", ""), **names}
            frozen_kernel = self._frozen[id(function)] = _with_names(function, scope)
            for name, value in names.items():
                device_function = self.simulator.function_in(value)
                if device_function is not None and id(device_function) in devices:
                    inner = self._frozen_function(
                        device_function, devices[id(device_function)], devices, stand_in
                    )
                    scope[name] = stand_in(value, inner)
                    code = frozen_kernel.__code__
                    if name in code.co_freevars:
                        (frozen_kernel.__closure__ or ())[code.co_freevars.index(name)].cell_contents = scope[
                            name
                        ]
        return self._frozen[id(function)]


class _FunctionNames:
    """Looks up the names of one function of a program."""

    def __init__(self, owner: KernelProgram, program: Program, ir: FunctionIR, names: Names) -> None:
        self._owner, self._program, self._ir, self._names = owner, program, ir, names
        self.debug = owner.debug

    def global_value(self, number: int, name: str) -> Any:
        """Return the value of a global name of a question's function; raises KeyError."""
        if number == self._ir.number:
            return as_seen_by_kernel(self._names[name], name)
        return as_seen_by_kernel(current_values(self._owner.question_function(number))[name], name)

    def path_of(self, value: Any) -> str | None:
        """Return the path of a value under `cuda`, None for anything else."""
        return self._owner.simulator.path_of(value)

    def function_in(self, value: Any) -> FunctionType | None:
        """Return the Python function of a device function, None for anything else."""
        return None if isinstance(value, CudaPath) else self._owner.simulator.function_in(value)

    def callee(self, number: int, function: FunctionType) -> Callable[..., Any]:
        """Return the generated version of a function of the program."""
        return self._owner.callee(self._program, number, function)


class KernelPrograms:
    """The programs of a process's kernels, by the types of their arguments."""

    def __init__(self, simulator: SimulatorNames) -> None:
        self.simulator = simulator
        self.module: Any = None  # the `cuda` module of the running launch
        self.bound: list[KernelProgram] = []  # programs that are bound to it
        self._programs: WeakKeyDictionary[FunctionType, dict[Hashable, KernelProgram | RefusedError]] = (
            WeakKeyDictionary()
        )
        self._names: WeakKeyDictionary[FunctionType, dict[Hashable, Names]] = WeakKeyDictionary()
        self._plain: WeakKeyDictionary[FunctionType, FunctionType] = WeakKeyDictionary()

    def program_for(
        self, function: FunctionType, described: DescribedKernel, *, debug: bool
    ) -> KernelProgram:
        """Return the program of a kernel for these types; raises Refused if Numba does not compile it."""
        programs = self._programs.setdefault(function, {})
        key = (described.key, debug)
        if key not in programs:
            try:
                programs[key] = KernelProgram(self, function, described, debug=debug)
            except RefusedError as refused:
                programs[key] = refused
        program = programs[key]
        if isinstance(program, RefusedError):
            raise RefusedError(program.refusal)
        return program

    def names(self, function: FunctionType, key: Hashable) -> Names:
        """Return the values of a function's names, frozen at the first call with these types."""
        frozen_names = self._names.setdefault(function, {})
        if key not in frozen_names:
            path_of, cuda = self.simulator.path_of, self.simulator.cuda()
            values = current_values(function).items()
            frozen_names[key] = {
                name: cuda if path_of(value) == "" else freeze(value) for name, value in values
            }
        return frozen_names[key]

    def release(self) -> None:
        """Release the launch's `cuda` module, and with it the recorded data."""
        self.module = None
        for program in list(self.bound):
            program.bind(self.simulator.cuda())
        self.bound.clear()

    def call(self, function: FunctionType, positional: Sequence[Any], named: Mapping[str, Any]) -> Any:
        """Call a device function from a kernel with Python's arithmetic."""
        if named:
            arguments = inspect.signature(function).bind(*positional, **named)
            arguments.apply_defaults()
            positional = arguments.args
        names = self.names(function, None)
        scope = _new_scope(function) | {name: as_seen_by_kernel(value, name) for name, value in names.items()}
        scope |= {name: self.module for name, value in names.items() if self.simulator.path_of(value) == ""}
        return _with_names(function, scope)(*positional)


def _new_scope(function: FunctionType) -> Names:
    names = function.__globals__
    return {"__name__": names.get("__name__", ""), "__builtins__": names.get("__builtins__", __builtins__)}


def _compile(tree: ast.FunctionDef, file: str, names: Names) -> FunctionType:
    definitions: Names = {}
    exec(
        compile(ast.Module([tree], []), file, "exec", dont_inherit=True), names, definitions
    )  # made of the IR
    function: FunctionType = definitions[tree.name]
    return function


def _with_names(function: FunctionType, names: Names) -> FunctionType:
    """Copy a function with other values of its global names and closures."""
    code = function.__code__
    cells = []
    for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
        cells.append(type(cell)(names[name]) if name in names else cell)
    copy = FunctionType(code, names, function.__name__, function.__defaults__, tuple(cells))
    copy.__kwdefaults__ = function.__kwdefaults__
    return copy


def _is_same(frozen_value: Any, current: Any) -> bool:
    if isinstance(frozen_value, np.ndarray):
        return isinstance(current, np.ndarray) and np.array_equal(
            frozen_value, current, equal_nan=frozen_value.dtype.kind in "fc"
        )
    return type(frozen_value) is type(current) and bool(
        frozen_value == current or frozen_value != frozen_value
    )
