"""The source of a session's kernel: its file, its text, and where in it the kernel begins and ends. No Qt."""

from __future__ import annotations

import ast

from ...tracer.measure.cuda_c import source_of
from ...tracer.model.syntax_tree import syntax_tree
from .session import Session


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


def lines_of(text: str, name: str) -> tuple[int, int]:
    """Return the first line (from 1) of a function, its first decorator's, and its last; 1 and 0 where it isn't."""
    found = [n for n in ast.walk(syntax_tree(text)) if isinstance(n, ast.FunctionDef) and n.name == name]
    if not found:
        return 1, 0
    first = min([found[0].lineno, *(d.lineno for d in found[0].decorator_list)])
    return first, found[0].end_lineno or first
