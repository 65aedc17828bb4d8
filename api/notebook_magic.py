"""`%load_ext tilescope`, `%%tilescope` and `%tilescope on`: check the launches of a notebook's cells, and show them."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from ..tracer.model.finding import count_noun
from .checked_cell import CheckedCell
from .measured import LaunchCopies
from .replays import start_in_notebook
from .tracing import observed_launches

MAGIC = "tilescope"
LOW_OCCUPANCY = r"(?s).*Grid size \d+ will likely result in GPU under-utilization"
FIRST_LINE = "#\n"  # replaces the line of the magic, so that lines have the cell's numbers


def load_ipython_extension(shell: Any) -> None:
    """Register `%%tilescope` and `%tilescope` in IPython's shell: the effect of `%load_ext tilescope`."""
    warnings.filterwarnings("ignore", LOW_OCCUPANCY)  # of each small launch, which traces only
    shell.register_magic_function(partial(_run_cell, shell), "cell", MAGIC)
    shell.register_magic_function(partial(_trace_notebook, shell), "line", MAGIC)
    start_in_notebook()


def _trace_notebook(shell: Any, line: str) -> None:
    """Trace all launches from now on: `%tilescope on`."""
    from IPython.core.error import UsageError
    from IPython.display import display

    from .notebook_recording import RecordingError, start_recording

    if line.strip() != "on":
        raise UsageError(
            "Write %tilescope on, to trace all launches, or %%tilescope above a cell, to trace its own."
        )
    try:
        start_recording(shell, display)
    except RecordingError as error:
        raise UsageError(str(error)) from None


def _run_cell(shell: Any, line: str, cell: str) -> None:
    """Run a cell, trace its launches, and show their findings next to the lines, and a replay.

    line: the number of the launch to replay, from 1; "" is the last one.
    """
    from IPython.core.error import UsageError  # printed without a traceback
    from IPython.display import display

    if line.strip() and not line.strip().isdecimal():
        raise UsageError(f"%%tilescope takes the number of the launch to replay, not {line.strip()!r}.")
    copies = LaunchCopies()
    with observed_launches(copies.add) as launches, _number_of_cell(shell):
        ran = shell.run_cell(FIRST_LINE + cell)  # which prints what the cell raises
    if not launches and not ran.success:
        return
    if not launches:
        raise UsageError("The cell launched no kernel, so nothing was traced.")
    chosen = int(line) if line.strip() else len(launches)
    if not 1 <= chosen <= len(launches):
        count = count_noun(len(launches), "launch")
        raise UsageError(f"There is no launch {chosen}: the cell made {count}.")
    checked = CheckedCell(launches, chosen - 1)
    if not any(
        finding.severity == "error" for finding in checked.findings
    ):  # which may break the GPU's context
        checked.measured = copies.measure(chosen - 1)
    display(checked)


@contextmanager
def _number_of_cell(shell: Any) -> Iterator[None]:
    """Let the code within have the number of its cell: IPython counts on before a cell runs."""
    count = shell.execution_count
    shell.execution_count = len(shell.user_ns["In"]) - 1
    try:
        yield
    finally:
        shell.execution_count = count
