"""The program that a kernel is rewritten to, with its sites and declared arrays."""

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
from .rounds import RoundBits


class DeclaredArray(Struct, frozen=True):
    """An array that a kernel declares."""

    name: str  # of the variable that it is assigned to; "" where there is none
    space: str  # "shared", "local" or "constant"
    dtype: np.dtype[Any]  # of its elements
    shape: tuple[int, ...] | None  # None: dynamic shared memory
    content: Any = None  # the values of a constant array, of this shape

    @property
    def regions(self) -> int:
        """The number of regions that it takes."""
        return regions_of(self.dtype)


class RecordingProgram(Struct):
    """The functions of compiled code, and the facts that the driver needs about them.

    A device function is written once for each set of constant arguments. They are in its key,
    (function, caller, *arguments).
    """

    user_code: UserCode  # tells the kernel's user's code from libraries
    # Names of module constants that are passed at launch time, see launch_constants.py.
    launch_time_names: frozenset[str] = frozenset()
    functions: list[ast.FunctionDef] = field(default_factory=list)  # in order of definition, the kernel last
    values: dict[str, Any] = field(default_factory=dict)  # values of global names
    facts: list[str] = field(default_factory=list)  # facts about these values that their text does not show
    sites: list[Site] = field(default_factory=list)  # by number
    # File and line of each loop whose rounds are counted.
    loops: list[tuple[str, int]] = field(default_factory=list)
    site_kinds: list[int] = field(default_factory=list)  # the Op of each site, or BARRIER
    declared: list[DeclaredArray] = field(default_factory=list)  # by number
    devices: dict[tuple[Any, ...], str] = field(default_factory=dict)  # names of device functions, by key
    complete_devices: set[str] = field(default_factory=set)  # names of the device functions that are complete
    files: dict[str, str] = field(default_factory=dict)  # by function: the file with its source
    recursive: set[str] = field(default_factory=set)  # names of the device functions that call themselves
    numbers: list[int] = field(default_factory=list)  # passed to compiled code when it begins
    debug: bool = False  # whether a division by zero ends the launch
    prints: bool = False  # whether it prints
    waits_for_grid: bool = False  # whether threads may wait for threads of all blocks
    round_bits: RoundBits | None = None  # of the numbers of rounds, if rows record them
    # Number, by kind and caller.
    _sites: dict[tuple[Site, int, Site | None], int] = field(default_factory=dict)
    _declared: dict[Any, int] = field(default_factory=dict)  # number of an array, by its declaration
    _numbers: dict[Any, int] = field(default_factory=dict)  # index in `numbers`, by key
    _names: dict[int, str] = field(default_factory=dict)  # global name of a value, by its id
    _temporaries: int = 0  # number of variables that are not in the source

    @property
    def threads_interact(self) -> bool:
        """Whether threads are known to interact: through atomics, barriers of the grid, or printing."""
        through_site = self.prints or self.waits_for_grid
        return through_site or any(Op.ATOMIC <= kind <= Op.REDUCTION for kind in self.site_kinds)

    def site(self, site: Site, kind: int, *others: int, caller: Site | None = None) -> int:
        """Return the number of a site that makes accesses of a kind; the next numbers are for `others`.

        caller: for a site in a library, the line of the user's code that leads there. The trace shows it instead.
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
        """Return the number of an array that is declared in the source."""
        if key not in self._declared:
            self._declared[key] = len(self.declared)
            self.declared.append(array)
        return self._declared[key]

    def first_region(self, number: int) -> int:
        """Count the regions of the declared arrays before a number, those of the arguments excluded."""
        return sum(array.regions for array in self.declared[:number])

    def number(self, key: Any, value: int) -> int:
        """Return the index of a runtime constant; `key` identifies it."""
        if key not in self._numbers:
            self._numbers[key] = len(self.numbers)
            self.numbers.append(value)
        return self._numbers[key]

    def runtime_values(self) -> list[int]:
        """List the values that compiled code gets when it begins: numbers, and the lengths of declared arrays."""
        return [*self.numbers, *(n for array in self.declared for n in self.runtime_lengths(array))]

    def runtime_lengths(self, array: DeclaredArray) -> tuple[int, ...]:
        """Return the lengths of a declared array if compiled code gets them at launch; () if the code has them."""
        return array.shape or () if self.launch_time_names and array.content is None else ()

    def name(self, value: Any, stem: str, fact: str) -> str:
        """Return the global name of a value; `fact` describes everything in which values can differ."""
        if id(value) not in self._names:
            self._names[id(value)] = f"_ts_{stem}_{len(self._names)}"
            self.values[self._names[id(value)]] = value
            self.facts.append(f"{self._names[id(value)]} = {fact}")
        return self._names[id(value)]

    def temporary(self) -> str:
        """Make the name of a new variable."""
        self._temporaries += 1
        return f"_ts_{self._temporaries}"

    def text(self) -> str:
        """Return everything that determines the compiled code, as Python source."""
        facts = "".join(f"# {fact}\n" for fact in (*self.facts, *(["debug"] if self.debug else [])))
        declared = "\n".join(map(self._declared_fact, self.declared))
        return facts + "\n\n".join(map(ast.unparse, self.functions)) + f"\n\n{declared}"

    def _declared_fact(self, array: DeclaredArray) -> str:
        lengths = self.runtime_lengths(array)
        return repr(replace(array, shape=(-1,) * len(lengths)) if lengths else array)


def digest(text: str) -> str:
    """Hash a text to a short name."""
    return hashlib.sha256(text.encode()).hexdigest()[:40]
