"""Kernels for the types of their arguments, as Numba compiles them: typed once, their names frozen."""

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
from .frozen_names import current_values, frozen, in_kernel
from .functions import CudaPath
from .generator import CUDA, Generator, NotGenerated

LARGE = 1 << 16  # bytes of a global array that is not compared at each launch
Names = dict[str, Any]


class SimulatorNames(NamedTuple):
    """What must be asked of the simulator."""

    cuda: Callable[[], Any]  # the module `cuda`
    path_of: Callable[
        [Any], str | None
    ]  # the path under `cuda` that a value stands for, None for anything else
    function_in: Callable[[Any], FunctionType | None]  # what a device function runs, None for anything else


class Described(NamedTuple):
    """What Numba's compiler makes of a kernel for the types of some arguments.

    key: tells types of arguments apart. functions: the question's, the kernel first.
    """

    key: Hashable
    functions: Sequence[FunctionType]
    answer: Callable[[], Answer]  # waits for it


class Refused(Exception):
    """A kernel that Numba does not compile for a GPU."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal.reason)
        self.refusal = refusal


class KernelProgram:
    """A kernel for arguments of some types, with the device functions that it calls.

    run: the function that computes as Numba's IR says, or, where there is none, the kernel as it is. untyped: why
    there is none.
    """

    def __init__(
        self, owner: KernelPrograms, function: FunctionType, described: Described, *, debug: bool
    ) -> None:
        self._owner, self._function, self.debug = owner, function, debug
        self._functions = list(described.functions)
        self.names = owner.names(function, described.key)
        self._scopes: list[Names] = []
        self._bound: Any = None
        self._reported: set[str] = set()
        self._frozen: dict[int, FunctionType] = {}
        self._made: dict[int, FunctionType] = {}
        self._callees: dict[int, Callable[..., Any]] = {}
        self.devices: list[tuple[FunctionType, Names]] = []
        answer = described.answer()
        if answer.refusal is not None:
            raise Refused(answer.refusal)
        self.noted = False  # whether the user has read why there is none
        self.untyped = answer.unknown or ("" if answer.program else "Numba's compiler gave no answer")
        self.run = self._as_it_is() if answer.program is None else self._typed(answer.program)

    def _typed(self, program: Program) -> FunctionType:
        try:
            return self.function(program, 0, self._function)
        except (NotGenerated, RecursionError, SyntaxError) as why:
            self.untyped = str(why)
            return self._as_it_is()

    def function(self, program: Program, number: int, function: FunctionType) -> FunctionType:
        """Return a function of the program; raises NotGenerated."""
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
        around = _FunctionNames(self, program, ir, names)
        generator = Generator(around, program, ir, function)
        tree = generator.tree()
        scope = _new_scope(function) | generator.helpers
        scope[CUDA] = self._bound
        self._scopes.append(scope)
        made = _compiled(tree, function.__code__.co_filename, scope)
        made.__defaults__ = function.__defaults__ and tuple(map(in_kernel, function.__defaults__))
        self._made[number] = made
        return made

    def callee(self, program: Program, number: int, function: FunctionType) -> Callable[..., Any]:
        """Return what to call for a function of the program, which may be in the making."""
        if number in self._made:
            return self._made[number]
        if number not in self._callees:
            self._callees[number] = lambda *given, **named: self._made[number](*given, **named)
            return self.function(program, number, function)
        return self._callees[number]

    def question_function(self, number: int) -> FunctionType:
        """Return a function of the question."""
        return self._functions[number]

    @property
    def simulator(self) -> SimulatorNames:
        """What must be asked of the simulator."""
        return self._owner.simulator

    def _as_it_is(self) -> FunctionType:
        """Return the kernel with frozen names, and Python's arithmetic."""
        scope = _new_scope(self._function) | {
            name: in_kernel(value, name) for name, value in self.names.items()
        }
        self._cuda = [name for name, value in self.names.items() if self.simulator.path_of(value) == ""]
        self._scopes = [scope]
        return _with_names(self._function, scope)

    _cuda: Sequence[str] = ()

    def bind(self, module: Any) -> None:
        """Make `cuda` this module, here and in the device functions that are called."""
        if self._bound is module:
            return
        self._bound = module
        self._owner.bound.append(self)
        for scope in self._scopes:
            scope[CUDA] = module
            for name in self._cuda:
                scope[name] = module
        code = self.run.__code__
        for name in self._cuda:
            if name in code.co_freevars:
                (self.run.__closure__ or ())[code.co_freevars.index(name)].cell_contents = module

    def changed_names(self) -> Iterator[tuple[str, Any]]:
        """Yield the global numbers that mean something else by now, with what they meant; each is reported once."""
        for function, names in [(self._function, self.names), *self.devices]:
            now = current_values(function)
            for name, before in sorted(names.items(), key=itemgetter(0)):
                small = isinstance(before, int | float | tuple | np.generic) or (
                    not isinstance(before, type) and getattr(before, "nbytes", LARGE) < LARGE
                )
                if small and name not in self._reported and not _is_same(before, now.get(name)):
                    self._reported.add(name)
                    yield name, before

    def frozen_function(self, stand_in: Callable[[Any, FunctionType], Any]) -> FunctionType:
        """Return the kernel as it is, with the names that it had.

        `stand_in` gives, for a device function that it calls, one that runs another function.
        """
        devices = {id(function): names for function, names in self.devices}
        return self._frozen_function(self._function, self.names, devices, stand_in)

    def _frozen_function(
        self, function: FunctionType, names: Names, devices: Mapping[int, Names],
        stand_in: Callable[[Any, FunctionType], Any],
    ) -> FunctionType:  # fmt: skip
        if id(function) not in self._frozen:
            seen: Names = {"__name__": function.__globals__.get("__name__", ""), **names}
            made = self._frozen[id(function)] = _with_names(function, seen)
            for name, value in names.items():
                called = self.simulator.function_in(value)
                if called is not None and id(called) in devices:
                    inner = self._frozen_function(called, devices[id(called)], devices, stand_in)
                    seen[name] = stand_in(value, inner)
                    code = made.__code__
                    if name in code.co_freevars:
                        (made.__closure__ or ())[code.co_freevars.index(name)].cell_contents = seen[name]
        return self._frozen[id(function)]


class _FunctionNames:
    """What the names of one function of a program mean."""

    def __init__(self, owner: KernelProgram, program: Program, ir: FunctionIR, names: Names) -> None:
        self._owner, self._program, self._ir, self._names = owner, program, ir, names
        self.debug = owner.debug

    def meaning(self, number: int, name: str) -> Any:
        """Return what a name outside a function of the question means; raises KeyError."""
        if number == self._ir.number:
            return in_kernel(self._names[name], name)
        return in_kernel(current_values(self._owner.question_function(number))[name], name)

    def path_of(self, value: Any) -> str | None:
        """Return the path under `cuda` that a value stands for, None for anything else."""
        return self._owner.simulator.path_of(value)

    def function_in(self, value: Any) -> FunctionType | None:
        """Return the function that a device function runs, None for anything else."""
        return None if isinstance(value, CudaPath) else self._owner.simulator.function_in(value)

    def callee(self, number: int, function: FunctionType) -> Callable[..., Any]:
        """Return what to call for a function of the program."""
        return self._owner.callee(self._program, number, function)


class KernelPrograms:
    """The kernels of a process, each for the types of arguments that it was launched with."""

    def __init__(self, simulator: SimulatorNames) -> None:
        self.simulator = simulator
        self.module: Any = None  # what `cuda` is meanwhile
        self.bound: list[KernelProgram] = []  # those that know it
        self._known: WeakKeyDictionary[FunctionType, dict[Hashable, KernelProgram | Refused]] = (
            WeakKeyDictionary()
        )
        self._names: WeakKeyDictionary[FunctionType, dict[Hashable, Names]] = WeakKeyDictionary()
        self._plain: WeakKeyDictionary[FunctionType, FunctionType] = WeakKeyDictionary()

    def of(self, function: FunctionType, described: Described, *, debug: bool) -> KernelProgram:
        """Return a kernel for arguments of these types; raises Refused where Numba does not compile it."""
        known = self._known.setdefault(function, {})
        key = (described.key, debug)
        if key not in known:
            try:
                known[key] = KernelProgram(self, function, described, debug=debug)
            except Refused as refused:
                known[key] = refused
        found = known[key]
        if isinstance(found, Refused):
            raise Refused(found.refusal)
        return found

    def names(self, function: FunctionType, key: Hashable) -> Names:
        """Return what the names of a function mean, frozen when it is first asked for with these types."""
        known = self._names.setdefault(function, {})
        if key not in known:
            path_of, cuda = self.simulator.path_of, self.simulator.cuda()
            values = current_values(function).items()
            known[key] = {n: cuda if path_of(v) == "" else frozen(v) for n, v in values}
        return known[key]

    def release(self) -> None:
        """Forget the module that `cuda` was, and with it all that was recorded."""
        self.module = None
        for found in list(self.bound):
            found.bind(self.simulator.cuda())
        self.bound.clear()

    def call(self, function: FunctionType, given: Sequence[Any], named: Mapping[str, Any]) -> Any:
        """Call a device function from a kernel that runs as it is."""
        if named:
            arguments = inspect.signature(function).bind(*given, **named)
            arguments.apply_defaults()
            given = arguments.args
        names = self.names(function, None)
        scope = _new_scope(function) | {name: in_kernel(value, name) for name, value in names.items()}
        scope |= {name: self.module for name, value in names.items() if self.simulator.path_of(value) == ""}
        return _with_names(function, scope)(*given)


def _new_scope(function: FunctionType) -> Names:
    names = function.__globals__
    return {"__name__": names.get("__name__", ""), "__builtins__": names.get("__builtins__", __builtins__)}


def _compiled(tree: ast.FunctionDef, file: str, names: Names) -> FunctionType:
    made: Names = {}
    exec(compile(ast.Module([tree], []), file, "exec", dont_inherit=True), names, made)  # made of the IR
    found: FunctionType = made[tree.name]
    return found


def _with_names(function: FunctionType, names: Names) -> FunctionType:
    """Return a function that finds other values under the names that it looks up outside."""
    code = function.__code__
    cells = []
    for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
        cells.append(type(cell)(names[name]) if name in names else cell)
    made = FunctionType(code, names, function.__name__, function.__defaults__, tuple(cells))
    made.__kwdefaults__ = function.__kwdefaults__
    return made


def _is_same(before: Any, now: Any) -> bool:
    if isinstance(before, np.ndarray):
        return isinstance(now, np.ndarray) and np.array_equal(
            before, now, equal_nan=before.dtype.kind in "fc"
        )
    return type(before) is type(now) and bool(before == now or before != before)
