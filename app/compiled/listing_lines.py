"""A kernel's source and what it is compiled to, as lines that name each other. No Qt."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from msgspec import Struct

from ...tracer.listing.listing import CodeLine, Listing
from ..model.kernel_source import kernel_file, lines_of, source_text
from ..model.session import Session

Language = Literal["PTX", "SASS"]
LANGUAGES: tuple[Language, ...] = ("PTX", "SASS")


class Row(Struct, frozen=True):
    """A line as it is shown."""

    text: str
    line: int  # of the kernel's file, 0 for none


def code_of(listing: Listing, language: Language) -> tuple[CodeLine, ...]:
    """Return the lines of one of the languages."""
    return listing.ptx if language == "PTX" else listing.sass


def code_rows(session: Session, code: Sequence[CodeLine]) -> list[Row]:
    """Return code with, before each line, the number of its line of the source, and how many registers are in use."""
    home, counted = kernel_file(session), any(line.registers for line in code)
    rows = []
    for one in code:
        line = one.line if _is_home(one.file, home, session) else 0
        if one.text.endswith(":"):
            rows.append(Row(one.text, 0))
            continue
        registers = f"{one.registers or '':>4}" if counted else ""
        spill = "  ← spill" if one.is_spill else ""
        rows.append(Row(f"{line or '':>5}{registers}  {one.text}{spill}", line))
    return rows


def source_rows(session: Session, code: Sequence[CodeLine]) -> list[Row]:
    """Return the lines of the kernel, each with how many instructions and registers it takes."""
    home = kernel_file(session)
    first, last = lines_of(source_text(session, home), session.trace.kernel)
    own = [one for one in code if _is_home(one.file, home, session) and one.line]
    rows = []
    for number, text in enumerate(source_text(session, home).splitlines()[first - 1 : last], first):
        there = [one for one in own if one.line == number]
        registers = max((one.registers for one in there), default=0)
        spills = sum(one.is_spill for one in there)
        counts = f"{len(there) or '':>4}{registers or '':>4}" + (f" {spills} spills" if spills else "")
        rows.append(Row(f"{number:>5}{counts}  {text}", number))
    return rows


def _is_home(file: str, home: str, session: Session) -> bool:
    """Return whether a file is the kernel's, which the compiler may call by its module's name."""
    return bool(file) and (file == home or file not in {site.file for site in session.trace.sites})


def heading(listing: Listing, language: Language) -> str:
    """Return what made the code, and what it takes."""
    if language == "PTX" or not listing.sass:
        return listing.ptx_by
    spills = f", {listing.spills:,} bytes of spills" if listing.spills else ", no spills"
    return f"{listing.sass_by}: {listing.registers} registers a thread{spills}"
