"""A kernel's source and its compiled code, as lines that refer to each other. No Qt."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from msgspec import Struct

from ....tracer.listing.listing import CodeLine, Listing
from ...model.kernel_source import function_lines, kernel_file, source_text
from ...model.session import Session

Language = Literal["PTX", "SASS"]
LANGUAGES: tuple[Language, ...] = ("PTX", "SASS")


class Row(Struct, frozen=True):
    """A displayed line."""

    text: str
    line: int  # of the kernel's file, 0 for none


def code_of(listing: Listing, language: Language) -> tuple[CodeLine, ...]:
    """Return the lines of one of the languages."""
    return listing.ptx if language == "PTX" else listing.sass


def code_rows(session: Session, code: Sequence[CodeLine]) -> list[Row]:
    """Format code; each line begins with its source line and the number of registers in use."""
    home, counted = kernel_file(session), any(line.registers for line in code)
    rows = []
    for code_line in code:
        line = code_line.line if _is_home(code_line.file, home, session) else 0
        if code_line.text.endswith(":"):
            rows.append(Row(code_line.text, 0))
            continue
        registers = f"{code_line.registers or '':>4}" if counted else ""
        spill = "  ← spill" if code_line.is_spill else ""
        rows.append(Row(f"{line or '':>5}{registers}  {code_line.text}{spill}", line))
    return rows


def source_rows(session: Session, code: Sequence[CodeLine]) -> list[Row]:
    """Format the lines of the kernel, each with its instructions and registers."""
    home = kernel_file(session)
    first, last = function_lines(source_text(session, home), session.trace.kernel)
    own = [code_line for code_line in code if _is_home(code_line.file, home, session) and code_line.line]
    rows = []
    for number, text in enumerate(source_text(session, home).splitlines()[first - 1 : last], first):
        own_code = [code_line for code_line in own if code_line.line == number]
        registers = max((code_line.registers for code_line in own_code), default=0)
        spills = sum(code_line.is_spill for code_line in own_code)
        counts = f"{len(own_code) or '':>4}{registers or '':>4}" + (f" {spills} spills" if spills else "")
        rows.append(Row(f"{number:>5}{counts}  {text}", number))
    return rows


def _is_home(file: str, home: str, session: Session) -> bool:
    """Check whether a file is the kernel's, which the compiler may call by its module's name."""
    return bool(file) and (file == home or file not in {site.file for site in session.trace.sites})


def listing_heading(listing: Listing, language: Language) -> str:
    """Describe the compiler and the resources of the code."""
    if language == "PTX" or not listing.sass:
        return listing.ptx_by
    spills = f", {listing.spills:,} bytes of spills" if listing.spills else ", no spills"
    return f"{listing.sass_by}: {listing.registers} registers a thread{spills}"
