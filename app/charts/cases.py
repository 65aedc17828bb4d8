"""From what a chart shows to what is to be measured for it."""

from __future__ import annotations

from collections.abc import Sequence

from ...tracer.measure.cases import Ask, asks_of
from .choice import Choice, chosen_rows
from .sources import Source


def asks_for(chosen: Sequence[Source], choice: Choice) -> list[Ask]:
    """Return the rows that a chart shows, to be measured; for a subject without any, its lesson's first size.

    A first call is measured where one was before. Raises CatalogueError for rows of another version's catalogue.
    """
    asks = []
    for subject, found in chosen_rows(chosen, choice):
        for row in (m.row for m in found):
            first = row.timing("first-call") is not None
            asks.append(Ask(row.scenario, row.parameters, row.baseline, first))
        if not found:
            asks += [ask for ask in asks_of([subject.scenario]) if ask.baseline == subject.baseline][:1]
    unique = {(a.scenario, a.baseline, tuple(sorted(a.values.items()))): a for a in asks}
    return list(unique.values())
