"""The counters of launches at a depth: as written, as compiled, or as measured on a GPU; as tables."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from ....tracer.as_compiled.line_counters import compiled_by_line
from ....tracer.hardware.times.recorded_counters import recorded_counters_of
from ....tracer.model.counter_names import NAMES
from ...compiled.model.compiled_counters import compiled_counters_of
from ...model.session import Session
from ...views.common.wording import (
    COMPILED,
    EXACT,
    MEASURED,
    PART,
    count_text,
    counter_mark_of,
    estimate_text,
)
from .text_output import align_columns

DEPTHS = ("written", "compiled", "measured")


class Column(Struct, frozen=True):
    """The counters of one session at one depth."""

    title: str
    mark: str
    counters: dict[str, int]  # empty if they are not known
    notes: tuple[str, ...]  # sentences about them
    at_least: tuple[str, ...] = ()  # counters that a GPU may count higher


def depths_table(sessions: Sequence[Session], depths: Sequence[str]) -> str:
    """Format the counters of sessions at some depths, a column for each pair."""
    column_of = {"written": _written_column, "compiled": _compiled_column, "measured": _measured_column}
    columns = [column_of[depth](session) for session in sessions for depth in depths]
    used = [name for name in NAMES if any(column.counters.get(name) for column in columns)]
    several = len(depths) > 1
    titles = [f"{c.title} {c.mark}" if several and c.mark != EXACT else c.title for c in columns]
    rows = [["", *titles], *([name.replace("_", " "), *(_cell(c, name) for c in columns)] for name in used)]
    notes = [f"{column.title}: {note}" for column in columns for note in column.notes]
    return "\n".join([*align_columns(rows), *notes])


def _cell(column: Column, name: str) -> str:
    if name not in column.counters:
        return "-"
    bound = "at least " if name in column.at_least else ""
    return f"{bound}{count_text(column.counters[name])} {column.mark}"


def _written_column(session: Session) -> Column:
    total = session.counters.total
    is_complete = (session.trace.totals or not session.trace.is_part) and session.trace.error is None
    covers = bool(session.trace.totals)
    mark = counter_mark_of(session.trace, of_launch=covers) if is_complete else PART
    note = estimate_text(session.trace)
    return Column(session.title, mark, dict(total), (note,) if note else ())


def _compiled_column(session: Session) -> Column:
    compiled = compiled_counters_of(session)
    if compiled.reason:
        return Column(session.title, COMPILED, {}, (f"not compiled: {compiled.reason}",))
    notes = (f"compiled by {compiled.compiler}.", *compiled.notes)
    if compiled.registers is not None:
        spills = f", {count_text(compiled.spills)} bytes of spills" if compiled.spills else ""
        notes = (
            f"compiled by {compiled.compiler}: {compiled.registers} registers a thread{spills}.",
            *compiled.notes,
        )
    return Column(session.title, COMPILED, dict(compiled.counters), notes, compiled.at_least)


def _measured_column(session: Session) -> Column:
    recorded = recorded_counters_of(session.launch)
    if recorded is None:
        return Column(session.title, MEASURED, {}, ("this launch was not measured.",))
    counters = {name: amount for name, amount in recorded.counters.items() if name in NAMES}
    return Column(session.title, MEASURED, counters, (f"measured on an {recorded.device}.",))


def compiled_lines_text(session: Session) -> str:
    """Format the compiled counters of each line, one a row, under the title and the mark."""
    compiled = compiled_counters_of(session)
    if compiled.reason:
        return f"{session.title}: not compiled: {compiled.reason}"
    rows: list[list[str]] = []
    by_line = sorted(compiled_by_line(compiled).items(), key=lambda item: item[0][1])
    for (_, line), counters in by_line:
        title = f"line {line}" if line else "several lines"
        for number, (name, amount) in enumerate(counters.items()):
            rows.append(["" if number else title, name.replace("_", " "), count_text(amount)])
    widths = (max((len(row[0]) for row in rows), default=0), 26, 13)
    title = f"{session.title}, by line ({COMPILED}, {compiled.compiler})"
    return "\n".join([title, *align_columns(rows, "<<>", widths)])
