"""A program: what a kernel is rewritten to, and the sites and declared arrays in it."""

from __future__ import annotations

import ast
import hashlib
from typing import Any

import numpy as np
from msgspec import Struct, field
from msgspec.structs import replace

from ...model.trace import Op, Site
from ...model.user_code import UserCode
from ..state import SITES, regions_of


class DeclaredArray(Struct, frozen=True):
    """An array that a kernel declares."""

    name: str  # of the variable that it is assigned to; "" where there is none
    space: str  # "shared", "local" or "constant"
    dtype: np.dtype[Any]  # of its elements
    shape: tuple[int, ...] | None  # None is that of dynamic shared memory
    content: Any = None  # what a constant array holds, of this shape

    @property
    def regions(self) -> int:
        """The regions that it takes."""
        return regions_of(self.dtype)


class RecordingProgram(Struct):
    """The functions that compiled code is made of, and what the driver has to know of them.

    A device function is written once for each set of known arguments: those are in its key,
    (function, caller, *arguments).
    """

    user_code: UserCode  # what tells the kernel's user's code from libraries
    late: frozenset[str] = frozenset()  # constants that compiled code is told as it begins, see late.py
    functions: list[ast.FunctionDef] = field(default_factory=list)  # as they are defined, the kernel last
    values: dict[str, Any] = field(default_factory=dict)  # by name: what their global names mean
    facts: list[str] = field(default_factory=list)  # what their text does not tell of these
    sites: list[Site] = field(default_factory=list)  # by number
    loops: list[tuple[str, int]] = field(
        default_factory=list
    )  # file and line of each whose rounds are counted
    site_kinds: list[int] = field(default_factory=list)  # of each site its Op, or BARRIER
    declared: list[DeclaredArray] = field(default_factory=list)  # by number
    devices: dict[tuple[Any, ...], str] = field(default_factory=dict)  # names of device functions, by key
    written: set[str] = field(default_factory=set)  # names of the device functions that are complete
    files: dict[str, str] = field(default_factory=dict)  # by function: the file that it was written in
    recursive: set[str] = field(default_factory=set)  # names of the device functions that call themselves
    numbers: list[int] = field(default_factory=list)  # that compiled code is told as it begins
    debug: bool = False  # whether a division by zero ends the launch
    prints: bool = False  # whether it prints
    waits_for_grid: bool = False  # whether threads may wait for those of all blocks
    _sites: dict[tuple[Site, int, Site | None], int] = field(
        default_factory=dict
    )  # number, by kind and caller
    _declared: dict[Any, int] = field(default_factory=dict)  # number of an array, by where it is declared
    _numbers: dict[Any, int] = field(default_factory=dict)  # which of them is which
    _names: dict[int, str] = field(default_factory=dict)  # global name of a value, by its id
    _temporaries: int = 0  # variables that the source does not have

    @property
    def meets(self) -> bool:
        """Whether threads are known to meet: by atomics, at barriers of the grid, or in what they print."""
        meets = self.prints or self.waits_for_grid
        return meets or any(Op.ATOMIC <= kind <= Op.REDUCTION for kind in self.site_kinds)

    def site(self, site: Site, kind: int, *others: int, caller: Site | None = None) -> int:
        """Return the number of a site that makes accesses of a kind, and the next numbers for other kinds.

        caller: of a site in a library, the one in the user's code that leads there, which is told in its place.
        """
        key = site, kind, caller
        if key not in self._sites:
            self._sites[key] = len(self.sites)
            self.sites += [caller or site] * (1 + len(others))
            self.site_kinds += [kind, *others]
            if len(self.sites) > SITES:
                raise OverflowError(f"more than {SITES:,} places that access memory")
        return self._sites[key]

    def declare(self, key: Any, array: DeclaredArray) -> int:
        """Return the number of an array declared at a place in the source."""
        if key not in self._declared:
            self._declared[key] = len(self.declared)
            self.declared.append(array)
        return self._declared[key]

    def first_region(self, number: int) -> int:
        """Return the first region of a declared array, counted from those of the arguments; of all, how many."""
        return sum(array.regions for array in self.declared[:number])

    def number(self, key: Any, value: int) -> int:
        """Return which of the numbers that compiled code is told this one is; `key` says what it is of."""
        if key not in self._numbers:
            self._numbers[key] = len(self.numbers)
            self.numbers.append(value)
        return self._numbers[key]

    def told(self) -> list[int]:
        """Return all that compiled code is told as it begins: numbers, and the lengths of declared arrays."""
        return [*self.numbers, *(n for array in self.declared for n in self.told_lengths(array))]

    def told_lengths(self, array: DeclaredArray) -> tuple[int, ...]:
        """Return the lengths of a declared array where compiled code is told them; else they are part of it."""
        return array.shape or () if self.late and array.content is None else ()

    def name(self, value: Any, stem: str, fact: str) -> str:
        """Return the global name of a value; `fact` says all of it that can differ."""
        if id(value) not in self._names:
            self._names[id(value)] = f"_ts_{stem}_{len(self._names)}"
            self.values[self._names[id(value)]] = value
            self.facts.append(f"{self._names[id(value)]} = {fact}")
        return self._names[id(value)]

    def temporary(self) -> str:
        """Return the name of a new variable."""
        self._temporaries += 1
        return f"_ts_{self._temporaries}"

    def text(self) -> str:
        """Return everything that decides what compiled code does, as Python source."""
        facts = "".join(f"# {fact}\n" for fact in (*self.facts, *(["debug"] if self.debug else [])))
        declared = "\n".join(map(self._declared_fact, self.declared))
        return facts + "\n\n".join(map(ast.unparse, self.functions)) + f"\n\n{declared}"

    def _declared_fact(self, array: DeclaredArray) -> str:
        told = self.told_lengths(array)
        return repr(replace(array, shape=(-1,) * len(told)) if told else array)


def digest(text: str) -> str:
    """Return a name for a text."""
    return hashlib.sha256(text.encode()).hexdigest()[:40]
