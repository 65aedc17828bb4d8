"""The measurements of a kernel for the numbers of a lecture: those of this computer first, then the shipped ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ....kernels.scenarios.catalogue import CatalogueError
from ....kernels.scenarios.suggestions import did_you_mean
from ....tracer.hardware.times.measurement import TimingKind
from ...model.session import Session
from ...timings.model.choice import subject_of_key, timing_of
from ...timings.model.nearest_measured import nearest_times, query_of_launch
from ...timings.model.sources import MeasuredRow, Source, rows_of, sources
from ...timings.model.wording import problem_of, used_bytes
from .expressions import ExpressionError, Names
from .quantities import Mark, Quantity, Unit

KINDS: dict[str, TimingKind] = {  # values of a row besides `time`: each a median
    "first_call": "first-call",
    "call": "call",
    "cold": "kernel-cold",
    "with_copies": "with-copies",
    "launch": "launch",
}
Parameters = Mapping[str, int | str]


class MeasuredNames(Names):
    """A measured row: its times, and rates by the formulas of the catalogue."""

    description = "a measured row"

    def __init__(self, measured: MeasuredRow) -> None:
        self.row, self.ran_on = measured.row, measured.ran_on
        self.when = measured.source.when

    def get(self, name: str) -> Quantity:
        """Look up one of its numbers; raises ExpressionError."""
        if name in KINDS or name == "time":
            return self._number(self._time(KINDS.get(name, "kernel-warm")), "measured", "us")
        if name == "bandwidth":
            return self._number(used_bytes(self.row) / self._time() / 1000, "modelled", "GB/s")
        if name == "rate" and self.row.flop:
            return self._number(self.row.flop / self._time() / 1000, "modelled", "GFLOP/s")
        words = {"size": problem_of(self.row), "device": self.ran_on}
        if name not in words:
            names = ["time", *KINDS, "bandwidth", *["rate"] * bool(self.row.flop), *words]
            raise ExpressionError(
                f"{self.description} of {self.row.scenario} has no {name}{did_you_mean(name, names)}"
            )
        return self._number(words[name], "measured")

    def _time(self, kind: TimingKind = "kernel-warm") -> float:
        timing = timing_of(self.row, kind)
        if timing is None:
            raise ExpressionError(f"This time of {self.row.scenario} was not measured ({kind}).")
        return timing.median

    def _number(self, value: float | str, mark: Mark, unit: Unit = "") -> Quantity:
        basis = "by formula from times measured" if mark == "modelled" else ""
        return Quantity(value, mark, unit, f"{basis} on {self.ran_on}, {self.when}".strip())


def measured_of_panes(
    sessions: Sequence[Session], values: Sequence[Parameters]
) -> list[MeasuredNames | None]:
    """Find the rows nearest to the panes, of one size if they can be compared; None if there is none."""
    requests = [
        query_of_launch(session.launch, given) if session.is_unmodified else None
        for session, given in zip(sessions, values, strict=True)
    ]
    times = nearest_times(requests, sources()[0])
    return [MeasuredNames(time.measured) if time else None for time in times]


def measured_row(key: str, values: Parameters) -> MeasuredNames:
    """Find the first measured row of a scenario with these parameters; raises ExpressionError if there is none.

    key: the scenario's name, optionally with a slash and one of its CPU programs: matmul-tiled/numpy.
    """
    try:
        subject = subject_of_key(key)
        rows = [m for m in rows_of(_own_first()) if subject.names(m.row) and m.row.timings]
    except CatalogueError as error:
        raise ExpressionError(str(error)) from None
    fitting = [m for m in rows if all(m.row.parameters.get(name) == value for name, value in values.items())]
    if not fitting:
        given = ", ".join(f"{name}={value}" for name, value in values.items())
        condition = f"with {given}" if rows and given else "at all"
        raise ExpressionError(f"There are no measurements of {key} {condition}.")
    return MeasuredNames(fitting[0])


def _own_first() -> list[Source]:
    return sorted(sources()[0], key=lambda source: source.recorded)
