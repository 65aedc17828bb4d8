"""Report what launches do wrong, as `tilescope check` does, for tests; findings with one cause are merged."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, TypeVar

from ..tracer.run.long_launch import CHECK_PATIENCE
from .errors import TilescopeError, require_choice
from .findings import Finding, findings_of
from .launches import TracedLaunch
from .tracing import Order, trace_launches

Result = TypeVar("Result")


def check(
    function: Callable[..., Result],
    *arguments: Any,
    fail_on: Literal["error", "warning"] = "error",
    schedule: Order = "lockstep",
    seed: int = 0,
    patience: float = CHECK_PATIENCE,
) -> Result:
    """Call a function, trace every launch it makes, and raise FindingsError if one does something wrong.

    Returns the result of the function for these arguments. fail_on: "error" (races, barriers, bounds, reads of memory
    that was never written, whatever a GPU or Numba refuses) or "warning", which includes waste. The text of the error
    is all that `tilescope check` would print. patience: seconds of CPU time after which a block counts as endless,
    which is an error. Exceptions of the function propagate. If there are findings as well, they are raised first, with
    the exception as their cause. Raises TilescopeError if no kernel was launched.

    A test calls it: `def test_reverse(): tilescope.check(run_reverse)`. It is not a decorator.
    """
    require_choice("fail_on", fail_on, ("error", "warning"))
    __tracebackhide__ = True  # pytest shows the line of the test instead
    with trace_launches(schedule=schedule, seed=seed, patience=patience) as launches:
        try:
            result = function(*arguments)
        except Exception as error:
            if findings := _failing_findings(launches, fail_on):
                raise FindingsError(findings, launches) from error
            raise
    if not launches:
        name = getattr(function, "__name__", repr(function))
        raise TilescopeError(f"{name} launched no kernel, so nothing was checked.")
    if findings := _failing_findings(launches, fail_on):
        raise FindingsError(findings, launches)
    return result


def _failing_findings(launches: Sequence[TracedLaunch], fail_on: str) -> tuple[Finding, ...]:
    """Return all findings of launches if one is at least as severe as `fail_on`, else none."""
    severities = ("error",) if fail_on == "error" else ("error", "warning")
    findings = findings_of(launch._recorded for launch in launches)
    return findings if any(finding.severity in severities for finding in findings) else ()


class FindingsError(AssertionError):
    """`check` found errors; the text is the output of `tilescope check`, `findings` holds the same as objects."""

    __module__ = "tilescope"  # where users find it

    def __init__(self, findings: Sequence[Finding], launches: Sequence[TracedLaunch]) -> None:
        super().__init__("\n".join(map(str, findings)))
        self.findings, self.launches = tuple(findings), tuple(launches)
