"""What variables carry at a place of a program: of each load, whether its values are in there, on every way or on some.

A lattice after "Reaching Definitions" (Aho, Lam, Sethi and Ullman, Compilers, 9.2), with two components for each load:
its newest execution, and all older ones. So a running sum carries all of them, and a variable that is set anew in
each round of a loop the newest alone.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum
from typing import NamedTuple

Place = tuple[int, int]  # (line from 1, column from 0 in bytes) of an access


class Share(IntEnum):
    """Of some executions of a load: whether their values are carried."""

    NONE = 0  # those of none
    SOME = 1  # of some, or on some ways through the program
    ALL = 2  # of all, on every way


class Carried(NamedTuple):
    """Which executions of a load are carried."""

    older: Share
    newest: Share


NOTHING = Carried(Share.NONE, Share.NONE)
Values = dict[Place, Carried]  # by load; one that is missing carries nothing


def united(values: Iterable[Values]) -> Values:
    """Return what an expression carries that is computed of several."""
    found: Values = {}
    for one in values:
        for place, carried in one.items():
            other = found.get(place, NOTHING)
            found[place] = Carried(max(other.older, carried.older), max(other.newest, carried.newest))
    return found


def doubtful(values: Values) -> Values:
    """Return what is carried at best: nobody knows whether it is."""
    return {p: Carried(min(c.older, Share.SOME), min(c.newest, Share.SOME)) for p, c in values.items()}


class Paths:
    """What all ways to a place of the program have in common. `dead` where no way leads there."""

    def __init__(self) -> None:
        self.dead = False
        self.variables: dict[str, Values] = {}
        self.made: dict[Place, bool] = {}  # loads that were executed, and whether more than once

    def copy(self) -> Paths:
        """Return the same, to be changed apart. Values are never changed in place."""
        other = Paths()
        other.dead, other.variables, other.made = self.dead, dict(self.variables), dict(self.made)
        return other

    def load(self, place: Place) -> Values:
        """Execute a load; return what it gives."""
        if place in self.made:
            self.variables = {name: _aged(v, place, self.made[place]) for name, v in self.variables.items()}
        self.made[place] = place in self.made
        return {place: Carried(Share.NONE, Share.ALL)}

    def forget(self) -> None:
        """Begin anew: what was loaded before is of no interest any more."""
        self.variables, self.made = {}, {}

    def reaching(self, values: Values) -> Values:
        """Return what is carried of each load that was executed; of one that can't have older executions both alike."""
        found = {place: values.get(place, NOTHING) for place in self.made}
        return {
            place: carried if self.made[place] else Carried(carried.newest, carried.newest)
            for place, carried in found.items()
        }

    def key(self) -> tuple[object, ...]:
        """Return what tells whether two are the same."""
        carried = {n: {p: c for p, c in v.items() if c != NOTHING} for n, v in self.variables.items()}
        return self.dead, dict(self.made), {name: values for name, values in carried.items() if values}


def _aged(values: Values, place: Place, has_older: bool) -> Values:
    """Return what is carried once a load is executed anew: its newest execution is an older one now."""
    if place not in values:
        return values
    older, newest = values[place]
    return {**values, place: Carried(_alike(older, newest) if has_older else newest, Share.NONE)}


def _alike(one: Share, other: Share) -> Share:
    return one if one == other else Share.SOME


def joined(paths: Iterable[Paths]) -> Paths:
    """Return the ways that meet at a place."""
    alive = [one for one in paths if not one.dead]
    if not alive:
        end = Paths()
        end.dead = True
        return end
    found = alive[0]
    for other in alive[1:]:
        found = _joined(found, other)
    return found


def _joined(one: Paths, other: Paths) -> Paths:
    found = Paths()
    places = one.made.keys() | other.made.keys()
    found.made = {p: one.made.get(p, False) or other.made.get(p, False) for p in places}
    for name in one.variables.keys() | other.variables.keys():
        first, second = one.variables.get(name, {}), other.variables.get(name, {})
        found.variables[name] = {
            place: _met(place, one, first, other, second) for place in first.keys() | second.keys()
        }
    return found


def _met(place: Place, one: Paths, first: Values, other: Paths, second: Values) -> Carried:
    """Return what both ways have in common: where a load was never executed on one, it is as on the other."""
    if place not in one.made or place not in other.made:
        return (second if place not in one.made else first).get(place, NOTHING)
    a, b = first.get(place, NOTHING), second.get(place, NOTHING)
    older = _alike(a.older, b.older)
    if not (one.made[place] and other.made[place]):
        older = a.older if one.made[place] else b.older
    return Carried(older, _alike(a.newest, b.newest))
