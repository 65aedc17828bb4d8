"""Functions for the types of their arguments, as Numba compiles them: rewritten once, their names frozen."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from operator import itemgetter
from types import FunctionType
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from .frozen_names import NoSource, current_values, frozen, in_kernel, tree_of
from .statements import NotTyped, StatementTyper
from .static_types import ArrayOf, CudaPath, Number, StaticType, TupleOf, number, type_of

Key = tuple[Any, ...]
LARGE = 1 << 16  # bytes of a global array that is not compared at each launch


class SimulatorNames(NamedTuple):
    """What must be asked of the simulator."""

    cuda: Callable[[], Any]  # the module `cuda`
    path_of: Callable[
        [Any], str | None
    ]  # the path under `cuda` that a value stands for, None for anything else
    function_in: Callable[[Any], FunctionType | None]  # what a device function runs, None for anything else


class Specialisation:
    """A function for arguments of some types.

    names: what its global names and closures meant when it was first called with such types. run: the rewritten
    function, or, where that can't be made, the function as it is. returns: what is known of what it returns.
    """

    def __init__(
        self, owner: Specialisations, function: FunctionType, types: tuple[StaticType, ...], *, debug: bool,
        names: dict[str, Any],
    ) -> None:  # fmt: skip
        self.owner, self.function, self.debug, self.names = owner, function, debug, names
        self.returns: StaticType = None
        self.devices: dict[int, tuple[Any, Specialisation]] = {}  # that it calls, by the id of what it calls
        self._bound: Any = None
        self._told: set[str] = set()  # names of which somebody has been told that they changed
        self._frozen: FunctionType | None = None
        paths = {name: owner.simulator.path_of(value) for name, value in names.items()}
        self._paths = {name: CudaPath(path) for name, path in paths.items() if path is not None}
        self._cuda = [name for name, path in self._paths.items() if not path]
        self._scope = {name: in_kernel(value) for name, value in names.items()}
        self._scope["__name__"] = function.__globals__.get("__name__", "")
        self._scope["__builtins__"] = function.__globals__.get("__builtins__", __builtins__)
        self.run = self._rewritten(types)

    # What the rewriting asks for

    def value_of(self, name: str) -> Any:
        """Return what a name outside the function means; raises KeyError."""
        return self._paths[name] if name in self._paths else self._scope[name]

    def path_of(self, value: Any) -> str | None:
        """Return the path under `cuda` that a value stands for, "" for `cuda` itself, None for anything else."""
        return self.owner.simulator.path_of(value)

    def device_function(self, value: Any) -> FunctionType | None:
        """Return the function that a device function runs, None for anything else."""
        return self.owner.simulator.function_in(value)

    def specialised(self, value: Any, types: tuple[StaticType, ...]) -> tuple[StaticType, Any]:
        """Return what a device function returns for arguments of these types, and what to call."""
        function = self.device_function(value)
        if function is None or any(not is_known(t) for t in types):
            return None, self.dispatching(value)
        found = self.owner.of(function, types, debug=self.debug)
        if found is None:  # it is being made: it calls itself
            return None, self.dispatching(value)
        self.devices[id(value)] = (value, found)
        return found.returns, found.run

    def dispatching(self, value: Any) -> Callable[..., Any]:
        """Return what calls a device function by the types that its arguments turn out to have."""
        function = self.device_function(value)
        assert function is not None
        return self.owner.dispatching(function, debug=self.debug)

    # The function

    def _rewritten(self, types: tuple[StaticType, ...]) -> FunctionType:
        function = self.function
        try:
            tree = tree_of(function)
            code = function.__code__
            typer = StatementTyper(self, frozenset((*code.co_varnames, *code.co_cellvars)))
            defaults = tuple(map(in_kernel, function.__defaults__ or ()))
            given = _with_defaults(types, defaults, code.co_argcount)
            made, self.returns = typer.function(tree, given)
            self._scope.update(typer.helpers)
            found = _compiled(made, code.co_filename, self._scope)
            found.__defaults__, found.__kwdefaults__ = (
                function.__defaults__ and defaults,
                function.__kwdefaults__,
            )
            return found
        except (NoSource, NotTyped, SyntaxError, RecursionError):
            self.returns = None
            return self._as_it_is()

    def _as_it_is(self) -> FunctionType:
        """Return the function with frozen names, and Python's arithmetic."""
        return _with_names(self.function, self._scope)

    def bind(self, module: Any) -> None:
        """Make `cuda` this module, here and in the device functions that are called."""
        if self._bound is module:
            return
        self._bound = module
        self.owner.bound.append(self)
        for name in self._cuda:
            self._scope[name] = module
            if name in self.run.__code__.co_freevars:
                cells = self.run.__closure__ or ()
                cells[self.run.__code__.co_freevars.index(name)].cell_contents = module
        for _, device in self.devices.values():
            device.bind(module)

    def changed_names(self) -> Iterator[tuple[str, Any]]:
        """Yield the global numbers that mean something else by now, with what they meant; each is told once."""
        now = current_values(self.function)
        for name, before in sorted(self.names.items(), key=itemgetter(0)):
            small = isinstance(before, int | float | tuple | np.generic) or (
                not isinstance(before, type) and getattr(before, "nbytes", LARGE) < LARGE
            )
            if small and name not in self._told and not _is_same(before, now.get(name)):
                self._told.add(name)
                yield name, before
        for _, device in self.devices.values():
            if device is not self:
                yield from device.changed_names()

    def frozen_function(self, stand_in: Callable[[Any, FunctionType], Any]) -> FunctionType:
        """Return the function as it is, with the names that it had.

        `stand_in` gives, for a device function that it calls, one that runs another function.
        """
        if self._frozen is None:
            names = dict(self.names)
            for name, value in names.items():
                found = self.devices.get(id(value))
                if found is not None and found[1] is not self:
                    names[name] = stand_in(value, found[1].frozen_function(stand_in))
            self._frozen = _with_names(self.function, {"__name__": self._scope["__name__"], **names})
        return self._frozen


class Specialisations:
    """The functions of a program, each for the types of arguments that it was called with."""

    def __init__(self, simulator: SimulatorNames) -> None:
        self.simulator = simulator
        self.module: Any = None  # what `cuda` is meanwhile
        self.bound: list[Specialisation] = []  # those that know it
        self._known: WeakKeyDictionary[FunctionType, dict[Key, Specialisation | None]] = WeakKeyDictionary()
        self._names: WeakKeyDictionary[FunctionType, dict[Key, dict[str, Any]]] = WeakKeyDictionary()
        self._dispatching: dict[tuple[int, bool], Callable[..., Any]] = {}

    def of(
        self, function: FunctionType, types: tuple[StaticType, ...], *, debug: bool
    ) -> Specialisation | None:
        """Return a function for arguments of these types; None while it is being made."""
        known = self._known.setdefault(function, {})
        types = tuple(map(_general, types))
        key = (*types, debug)
        if key not in known:
            known[key] = None
            try:
                known[key] = self._made(function, types, debug=debug)
            finally:
                if known[key] is None:
                    del known[key]
        found = known[key]
        if found is not None and self.module is not None:
            found.bind(self.module)
        return found

    def release(self) -> None:
        """Forget the module that `cuda` was, and with it all that was recorded."""
        self.module = None
        for found in list(self.bound):
            found.bind(self.simulator.cuda())
        self.bound.clear()

    def _made(self, function: FunctionType, types: tuple[StaticType, ...], *, debug: bool) -> Specialisation:
        """Return a new one; what names mean is frozen for types of arguments, whatever their ranges."""
        frozen_names = self._names.setdefault(function, {})
        key = tuple(map(_without_range, types))
        if key not in frozen_names:
            path_of, cuda = self.simulator.path_of, self.simulator.cuda()
            values = current_values(function).items()
            frozen_names[key] = {n: cuda if path_of(v) == "" else frozen(v) for n, v in values}
        return Specialisation(self, function, types, debug=debug, names=frozen_names[key])

    def dispatching(self, function: FunctionType, *, debug: bool) -> Callable[..., Any]:
        """Return what calls a device function by the types that its arguments turn out to have."""
        key = (id(function), debug)
        if key not in self._dispatching:
            self._dispatching[key] = lambda *given, **named: self.call(function, given, named, debug=debug)
        return self._dispatching[key]

    def call(
        self, function: FunctionType, given: Sequence[Any], named: Mapping[str, Any], *, debug: bool = False
    ) -> Any:
        """Call a device function."""
        if named:
            bound = inspect.signature(function).bind(*given, **named)
            bound.apply_defaults()
            given = bound.args
        found = self.of(function, tuple(map(type_of, given)), debug=debug)
        assert found is not None
        return found.run(*given)


def is_known(found: StaticType) -> bool:
    """Return whether a function can be specialised for an argument of a type."""
    if isinstance(found, TupleOf):
        return all(map(is_known, found.parts))
    return isinstance(found, Number) or (isinstance(found, ArrayOf) and found.ndim is not None)


def _general(found: StaticType) -> StaticType:
    """Return a type of which there are few: integers are small, or any."""
    if isinstance(found, Number):
        small = type_of(0)
        assert isinstance(small, Number)
        fits = found.kind == "int64" and small.low <= found.low <= found.high <= small.high
        return small if fits else number(found.kind)
    return TupleOf(tuple(map(_general, found.parts))) if isinstance(found, TupleOf) else found


def _without_range(found: StaticType) -> Any:
    if isinstance(found, TupleOf):
        return tuple(map(_without_range, found.parts))
    return found.kind if isinstance(found, Number) else found


def _with_defaults(
    types: tuple[StaticType, ...], defaults: tuple[Any, ...], count: int
) -> tuple[StaticType, ...]:
    missing = count - len(types)
    return (*types, *map(type_of, defaults[len(defaults) - missing :])) if missing > 0 else types


def _compiled(tree: ast.FunctionDef, file: str, names: dict[str, Any]) -> FunctionType:
    made: dict[str, Any] = {}
    exec(
        compile(ast.Module([tree], []), file, "exec", dont_inherit=True), names, made
    )  # the user's own kernel
    found: FunctionType = made[tree.name]
    return found


def _with_names(function: FunctionType, names: dict[str, Any]) -> FunctionType:
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
