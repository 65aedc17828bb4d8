"""The source of a session's kernel: its file, text and position; edits between two texts. No Qt."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

from ...tracer.hardware.times.cuda_c import source_of
from ...tracer.model import cpp_text
from ...tracer.model.launch import is_cuda_cpp_launch
from ...tracer.model.syntax_tree import syntax_tree
from .session import Session

_WHERE = re.compile(r"(\d{1,7})(?:-(\d{1,7})|(\+))?")


def kernel_file(session: Session) -> str:
    """Find the file that defines the kernel, as the trace names it; "" if it has no sources."""
    trace = session.trace
    files = [s.file for s in trace.sites if s.function == trace.kernel] + list(trace.sources)
    text = session.launch.source
    return next((f for f in files if trace.sources.get(f) == text), files[0] if files else "")


def source_text(session: Session, file: str) -> str:
    """Return the text of a file as it ran, or the launch's own source if the trace has none."""
    return session.trace.sources.get(file) or (session.launch.source if file == kernel_file(session) else "")


def cuda_c_of(session: Session) -> tuple[str, str, int] | None:
    """Return the file of the kernel in CUDA C whose Numba twin was traced, its text and first line; None for others."""
    kernel = session.scenario.cuda_c if session.scenario else None
    if kernel is None or is_cuda_cpp_launch(session.launch):
        return None
    path, text = source_of(kernel)
    return str(path), text, 1


def counterpart_of(sessions: Sequence[Session | None], focus: int) -> int | None:
    """Find the pane whose kernel is in another language than that of the pane in focus; None without one."""
    if len(sessions) != 2 or any(session is None or session.is_python_program for session in sessions):
        return None
    languages = {is_in_cuda_cpp(session) for session in sessions if session}
    return 1 - focus if len(languages) == 2 else None


def is_in_cuda_cpp(session: Session) -> bool:
    """Return True if the source that is shown of a session is in CUDA C++."""
    return is_cuda_cpp_launch(session.launch) or cuda_c_of(session) is not None


@lru_cache(maxsize=8)  # every session of a kernel asks again
def function_lines(text: str, name: str) -> tuple[int, int]:
    """Find the first line (from 1) of a function, including decorators, and its last; 1 and 0 if there is none."""
    if cpp_text.is_cpp(text):
        return cpp_text.function_lines(text, name)
    functions = [n for n in ast.walk(syntax_tree(text)) if isinstance(n, ast.FunctionDef) and n.name == name]
    if not functions:
        return cpp_text.function_lines(text, name) if cpp_text.holds_cpp(text) else (1, 0)
    first = min([functions[0].lineno, *(d.lineno for d in functions[0].decorator_list)])
    return first, functions[0].end_lineno or first


def kernel_lines(session: Session) -> list[tuple[int, str]]:
    """List the numbers and texts of a kernel's lines; empty without its source."""
    text = source_text(session, kernel_file(session))
    first, last = function_lines(text, session.trace.kernel)
    return list(enumerate(text.splitlines()[first - 1 : last], first))


class TextEdit(NamedTuple):
    """Lines that replace others."""

    where: str  # "47" or "47-48" of the text before, from 1; "46+" is after line 46, "0+" before all
    text: str  # the new lines, without the last line end; "" for no line


def edits_between(before: str, after: str) -> tuple[TextEdit, ...]:
    """List the edits from one text to another, from top to bottom, ignoring the end of the last line."""
    old, new = before.splitlines(), after.splitlines()
    from difflib import SequenceMatcher  # imported here for a fast start

    matcher = SequenceMatcher(None, old, new, autojunk=False)
    changed = [codes for codes in matcher.get_opcodes() if codes[0] != "equal"]
    return tuple(TextEdit(_where(i, j), _text(new[m:n])) for _, i, j, m, n in changed)


def _where(first: int, end: int) -> str:
    """Format the lines first <= i < end, counted from 0."""
    return f"{first}+" if first == end else f"{end}" if end - first == 1 else f"{first + 1}-{end}"


def _text(lines: list[str]) -> str:
    """Join lines; if all are empty, end each with a newline, because an empty text means no line."""
    return "\n".join(lines) if any(lines) else "\n" * len(lines)


def _lines(text: str) -> list[str]:
    """Split a text that `_text` joined."""
    return text.split("\n") if text.strip("\n") else [""] * len(text)


def apply_edits(text: str, edits: Iterable[TextEdit]) -> str:
    """Apply edits whose positions refer to the text before; raises ValueError with one sentence."""
    lines = text.splitlines()
    for first, end, new in sorted((_read(edit, len(lines)) for edit in edits), reverse=True):
        lines[first:end] = new
    return "\n".join(lines) + "\n"


def _read(edit: TextEdit, count: int) -> tuple[int, int, list[str]]:
    """Parse an edit into (first, end, lines), counted from 0."""
    match = _WHERE.fullmatch(edit.where)
    if match is None:
        raise ValueError(f"Lines are named as 47, 47-48 or 46+, not {edit.where!r}.")
    first, last = int(match[1]), int(match[2] or match[1])
    begin, end = (first, first) if match[3] else (first - 1, last)
    if not (0 <= begin <= end <= count and (match[3] or begin < end)):
        raise ValueError(f"There are no lines {edit.where} in a text of {count:,}.")
    return begin, end, _lines(edit.text)
