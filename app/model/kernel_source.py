"""The source of a session's kernel: its file, its text, where the kernel is in it; edits between two texts. No Qt."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from ...tracer.measure.cuda_c import source_of
from ...tracer.model.syntax_tree import syntax_tree
from .session import Session

_WHERE = re.compile(r"(\d{1,7})(?:-(\d{1,7})|(\+))?")


def kernel_file(session: Session) -> str:
    """Return the file that defines the kernel, as the trace calls it; "" where it has no sources."""
    trace = session.trace
    files = [s.file for s in trace.sites if s.function == trace.kernel] + list(trace.sources)
    text = session.launch.source
    return next((f for f in files if trace.sources.get(f) == text), files[0] if files else "")


def source_text(session: Session, file: str) -> str:
    """Return the text of a file as it ran; the launch's own where the trace has none."""
    return session.trace.sources.get(file) or (session.launch.source if file == kernel_file(session) else "")


def cuda_c_of(session: Session) -> tuple[str, str, int] | None:
    """Return the file of a kernel in CUDA C, its text and the line to show it from; None for any other kernel."""
    kernel = session.scenario.cuda_c if session.scenario else None
    if kernel is None:
        return None
    path, text = source_of(kernel)
    return str(path), text, 1


@lru_cache(maxsize=8)  # for every session of a kernel again
def lines_of(text: str, name: str) -> tuple[int, int]:
    """Return the first line (from 1) of a function, its first decorator's, and its last; 1 and 0 where it isn't."""
    found = [n for n in ast.walk(syntax_tree(text)) if isinstance(n, ast.FunctionDef) and n.name == name]
    if not found:
        return 1, 0
    first = min([found[0].lineno, *(d.lineno for d in found[0].decorator_list)])
    return first, found[0].end_lineno or first


class TextEdit(NamedTuple):
    """Lines in place of others."""

    where: str  # "47" or "47-48" of the text before, from 1; "46+" is behind line 46, "0+" before all
    text: str  # what comes there, without the last line's end; "" for no line


def edits_between(before: str, after: str) -> tuple[TextEdit, ...]:
    """Return the edits that make one text another, but for the end of its last line; from top to bottom."""
    old, new = before.splitlines(), after.splitlines()
    from difflib import SequenceMatcher  # the window starts without it

    matcher = SequenceMatcher(None, old, new, autojunk=False)
    changed = [codes for codes in matcher.get_opcodes() if codes[0] != "equal"]
    return tuple(TextEdit(_where(i, j), _text(new[m:n])) for _, i, j, m, n in changed)


def _where(first: int, end: int) -> str:
    """Return how lines first <= i < end, counted from 0, are named."""
    return f"{first}+" if first == end else f"{end}" if end - first == 1 else f"{first + 1}-{end}"


def _text(lines: list[str]) -> str:
    """Return lines as one text; where all are empty with the end of the last one, since no text is no line."""
    return "\n".join(lines) if any(lines) else "\n" * len(lines)


def _lines(text: str) -> list[str]:
    """Return the lines of which `_text` made a text."""
    return text.split("\n") if text.strip("\n") else [""] * len(text)


def with_edits(text: str, edits: Iterable[TextEdit]) -> str:
    """Return a text after edits, whose places are those of the text before; raises ValueError with one sentence."""
    lines = text.splitlines()
    for first, end, new in sorted((_read(edit, len(lines)) for edit in edits), reverse=True):
        lines[first:end] = new
    return "\n".join(lines) + "\n"


def _read(edit: TextEdit, count: int) -> tuple[int, int, list[str]]:
    """Return (first, end, lines) of an edit, counted from 0."""
    found = _WHERE.fullmatch(edit.where)
    if found is None:
        raise ValueError(f"Lines are named as 47, 47-48 or 46+, not {edit.where!r}.")
    first, last = int(found[1]), int(found[2] or found[1])
    begin, end = (first, first) if found[3] else (first - 1, last)
    if not (0 <= begin <= end <= count and (found[3] or begin < end)):
        raise ValueError(f"There are no lines {edit.where} in a text of {count:,}.")
    return begin, end, _lines(edit.text)
