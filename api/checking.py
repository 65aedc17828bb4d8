"""What launches do wrong, as `tilescope check` tells it, for tests: what has one cause is told once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, TypeVar

from .errors import TilescopeError, refuse_unless
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
) -> Result:
    """Call a function, trace every launch that it makes, and raise FindingsError where one does something wrong.

    Returns what the function returns, called with these arguments. fail_on: "error" (races, barriers, bounds, reads of
    memory that nobody wrote, what a GPU or Numba refuses) or "warning", which counts waste too. The error's text is all
    that `tilescope check` would print. What the function raises goes on as it is, unless there are findings that count:
    those are told first, and its exception is their cause. Raises TilescopeError where no kernel was launched.

    A test calls it: `def test_reverse(): tilescope.check(run_reverse)`. It is no decorator.
    """
    refuse_unless("fail_on", fail_on, ("error", "warning"))
    __tracebackhide__ = True  # pytest shows the line of the test instead
    with trace_launches(schedule=schedule, seed=seed) as launches:
        try:
            result = function(*arguments)
        except Exception as error:
            if found := _counting(launches, fail_on):
                raise FindingsError(found, launches) from error
            raise
    if not launches:
        name = getattr(function, "__name__", repr(function))
        raise TilescopeError(f"{name} launched no kernel, so nothing was checked.")
    if found := _counting(launches, fail_on):
        raise FindingsError(found, launches)
    return result


def _counting(launches: Sequence[TracedLaunch], fail_on: str) -> tuple[Finding, ...]:
    """Return all findings of launches where one is as bad as `fail_on` says, else none."""
    counting = ("error",) if fail_on == "error" else ("error", "warning")
    found = findings_of(launch._recorded for launch in launches)
    return found if any(finding.severity in counting for finding in found) else ()


class FindingsError(AssertionError):
    """`check` found something; the text is what `tilescope check` prints, `findings` the same as objects."""

    __module__ = "tilescope"  # where users find it

    def __init__(self, findings: Sequence[Finding], launches: Sequence[TracedLaunch]) -> None:
        super().__init__("\n".join(map(str, findings)))
        self.findings, self.launches = tuple(findings), tuple(launches)
