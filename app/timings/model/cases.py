"""The rows to measure again for a chart."""

from __future__ import annotations

from collections.abc import Sequence

from ....tracer.hardware.times.cases import Case, cases_of
from .choice import Choice, chosen_rows
from .sources import Source


def cases_to_measure(chosen: Sequence[Source], choice: Choice) -> list[Case]:
    """List the rows of a chart as cases to measure; a subject without rows gets its first size.

    A first call is measured if the row has one. Raises CatalogueError for rows of another version's catalogue.
    """
    cases = []
    for subject, measured_rows in chosen_rows(chosen, choice):
        for row in (m.row for m in measured_rows):
            has_first_call = row.timing("first-call") is not None
            cases.append(Case(row.scenario, row.parameters, row.baseline, has_first_call))
        if not measured_rows:
            cases += [case for case in cases_of([subject.scenario]) if case.baseline == subject.baseline][:1]
    unique = {(c.scenario, c.baseline, tuple(sorted(c.values.items()))): c for c in cases}
    return list(unique.values())
