"""Kernels that run in the simulator, which accepts all of Python, and that Numba refuses to compile for a GPU."""

from __future__ import annotations

import numpy as np

from ..model.finding import Finding
from ..model.trace import Trace
from ..type_inference.client import Refusal

KIND, SEVERITY = "compile", "error"


def refusal_message(kernel: str, refusal: Refusal) -> str:
    """Describe in one sentence why Numba refuses a kernel."""
    remedy = f"; {refusal.remedy}" if refusal.remedy else ""
    return f"Numba can't compile {kernel} for a GPU: {refusal.reason}{remedy}."


def refusal_findings(trace: Trace, refusal: Refusal | None) -> list[Finding]:
    """Return an error, at the line that Numba names, where its compiler refuses the kernel of a trace."""
    if refusal is None:
        return []
    message, place = refusal_message(trace.kernel, refusal), (refusal.file, refusal.line)
    no_rows = np.empty(0, np.int64)
    return [Finding(KIND, SEVERITY, message, refusal.remedy, 1, (), no_rows, (), (), 0, place)]
