"""From what a chart shows to what is to be measured for it."""

from __future__ import annotations

from collections.abc import Sequence

from ...tracer.measure.cases import Case, cases_of
from .choice import Choice, chosen_rows
from .sources import Source


def cases_to_measure(chosen: Sequence[Source], choice: Choice) -> list[Case]:
    """Return the rows that a chart shows, to be measured; for a subject without any, its lesson's first size.

    A first call is measured where one was before. Raises CatalogueError for rows of another version's catalogue.
    """
    cases = []
    for subject, found in chosen_rows(chosen, choice):
        for row in (m.row for m in found):
            first = row.timing("first-call") is not None
            cases.append(Case(row.scenario, row.parameters, row.baseline, first))
        if not found:
            cases += [case for case in cases_of([subject.scenario]) if case.baseline == subject.baseline][:1]
    unique = {(a.scenario, a.baseline, tuple(sorted(a.values.items()))): a for a in cases}
    return list(unique.values())
