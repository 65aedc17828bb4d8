"""Data-flow facts: for each load, whether a variable carries its values, on all paths or on some.

A lattice after "Reaching Definitions" (Aho, Lam, Sethi and Ullman, Compilers, 9.2), with two components for each
load: its newest execution, and all older ones. So a running sum carries all of them; a variable that each round of
a loop assigns carries only the newest.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum
from typing import NamedTuple

AccessPosition = tuple[int, int]  # (line from 1, column from 0 in bytes) of an access


class Share(IntEnum):
    """The share of a load's executions whose values are carried."""

    NONE = 0
    SOME = 1  # some executions, or some paths
    ALL = 2  # all executions, on every path


class Carried(NamedTuple):
    """The executions of a load that are carried."""

    older: Share
    newest: Share


NOTHING = Carried(Share.NONE, Share.NONE)
Values = dict[AccessPosition, Carried]  # by load; a missing load carries nothing


def join_values(values: Iterable[Values]) -> Values:
    """Join the values of several operands."""
    result: Values = {}
    for operand in values:
        for place, carried in operand.items():
            other = result.get(place, NOTHING)
            result[place] = Carried(max(other.older, carried.older), max(other.newest, carried.newest))
    return result


def weaken(values: Values) -> Values:
    """Lower all values to at most SOME: they may be carried or not."""
    return {
        place: Carried(min(carried.older, Share.SOME), min(carried.newest, Share.SOME))
        for place, carried in values.items()
    }


class Paths:
    """The common facts of all paths to a point of the program; `dead` if no path leads there."""

    def __init__(self) -> None:
        self.dead = False
        self.variables: dict[str, Values] = {}
        self.executed: dict[AccessPosition, bool] = {}  # executed loads, and whether more than once

    def copy(self) -> Paths:
        """Return an independent copy. Values are never changed in place."""
        other = Paths()
        other.dead, other.variables, other.executed = self.dead, dict(self.variables), dict(self.executed)
        return other

    def load(self, place: AccessPosition) -> Values:
        """Execute a load; return its values."""
        if place in self.executed:
            self.variables = {
                name: _age(values, place, self.executed[place]) for name, values in self.variables.items()
            }
        self.executed[place] = place in self.executed
        return {place: Carried(Share.NONE, Share.ALL)}

    def forget(self) -> None:
        """Forget all earlier loads and variables."""
        self.variables, self.executed = {}, {}

    def reaching(self, values: Values) -> Values:
        """Return the carried values of each executed load; without older executions both components are equal."""
        values_by_load = {place: values.get(place, NOTHING) for place in self.executed}
        return {
            place: carried if self.executed[place] else Carried(carried.newest, carried.newest)
            for place, carried in values_by_load.items()
        }

    def key(self) -> tuple[object, ...]:
        """Return a key that is equal for equal facts."""
        carried = {
            name: {place: share for place, share in values.items() if share != NOTHING}
            for name, values in self.variables.items()
        }
        return self.dead, dict(self.executed), {name: values for name, values in carried.items() if values}


def _age(values: Values, place: AccessPosition, has_older: bool) -> Values:
    """Return the values after a load is executed again: its newest execution becomes an older one."""
    if place not in values:
        return values
    older, newest = values[place]
    return {**values, place: Carried(_common_share(older, newest) if has_older else newest, Share.NONE)}


def _common_share(first: Share, second: Share) -> Share:
    return first if first == second else Share.SOME


def join_paths(paths: Iterable[Paths]) -> Paths:
    """Join the paths that meet at a point."""
    alive = [path for path in paths if not path.dead]
    if not alive:
        end = Paths()
        end.dead = True
        return end
    result = alive[0]
    for other in alive[1:]:
        result = _joined(result, other)
    return result


def _joined(left: Paths, right: Paths) -> Paths:
    result = Paths()
    places = left.executed.keys() | right.executed.keys()
    result.executed = {
        place: left.executed.get(place, False) or right.executed.get(place, False) for place in places
    }
    for name in left.variables.keys() | right.variables.keys():
        left_values, right_values = left.variables.get(name, {}), right.variables.get(name, {})
        result.variables[name] = {
            place: _join_carried(place, left, left_values, right, right_values)
            for place in left_values.keys() | right_values.keys()
        }
    return result


def _join_carried(
    place: AccessPosition, left: Paths, left_values: Values, right: Paths, right_values: Values
) -> Carried:
    """Join a load's values on both paths; a load that only one path executed keeps that path's values."""
    if place not in left.executed or place not in right.executed:
        return (right_values if place not in left.executed else left_values).get(place, NOTHING)
    left_carried, right_carried = left_values.get(place, NOTHING), right_values.get(place, NOTHING)
    older = _common_share(left_carried.older, right_carried.older)
    if not (left.executed[place] and right.executed[place]):
        older = left_carried.older if left.executed[place] else right_carried.older
    return Carried(older, _common_share(left_carried.newest, right_carried.newest))
