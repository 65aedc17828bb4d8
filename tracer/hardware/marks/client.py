"""Recording timelines as seen from the command line: start the process, listen, survive its death."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import msgspec
from msgspec import Struct

from ...measure.cases import Case
from ...measure.client import label, revision
from ...measure.measurement import MeasurementError
from ...processes.json_process import JsonProcess, StartError, module_command
from .events import (
    NoDevice,
    TimelineMessage,
    TimelineRecorded,
    TimelineRefused,
    TimelineRequest,
    TimelineStarted,
)
from .refusal import refusal

COMMAND = module_command("tilescope.tracer.hardware.marks.process")
Report = Callable[[str, int, int], None]
Start = Callable[[TimelineRequest], Iterator[TimelineMessage]]


class Outcome(Struct, frozen=True):
    """What came of a case: a file, or a sentence about why there is none."""

    case: Case
    path: Path | None
    reason: str = ""


def record_timelines(
    cases: Sequence[Case],
    folder: Path,
    report: Report = lambda text, done, of: None,
    start: Start | None = None,
) -> list[Outcome]:
    """Have a process record cases into a folder, and return what came of each.

    A process that ends early is started anew for the cases that are left. Raises MeasurementError where nothing can
    be recorded at all.
    """
    refused = [Outcome(case, None, reason) if (reason := refusal(case)) else None for case in cases]
    asked = [case for case, one in zip(cases, refused, strict=True) if one is None]
    outcomes: list[Outcome] = []
    while len(outcomes) < len(asked):
        left = asked[len(outcomes) :]
        request = TimelineRequest(tuple(left), str(folder), revision())
        _listen((start or _messages)(request), left, outcomes, report)
    recorded = iter(outcomes)
    return [one or next(recorded) for one in refused]


def _listen(
    messages: Iterator[TimelineMessage], cases: Sequence[Case], outcomes: list[Outcome], report: Report
) -> None:
    """Take in what a process says until it ends; there is at least one more outcome then."""
    before, of = len(outcomes), len(outcomes) + len(cases)
    for message in messages:
        if isinstance(message, NoDevice):
            raise MeasurementError(message.reason)
        case = cases[message.place]
        if isinstance(message, TimelineStarted):
            report(f"{label(case)}: {message.step}", len(outcomes), of)
        elif isinstance(message, TimelineRecorded):
            outcomes.append(Outcome(case, Path(message.path)))
        elif isinstance(message, TimelineRefused):
            outcomes.append(Outcome(case, None, message.reason))
    if len(outcomes) == before:
        reason = "The process that records timelines ended while it ran; the device may have stopped it."
        outcomes.append(Outcome(cases[0], None, reason))


def _messages(request: TimelineRequest) -> Iterator[TimelineMessage]:
    """Yield what a new process says about a request, to its end."""
    try:
        process = JsonProcess("process that records timelines", COMMAND)
    except StartError as error:
        raise MeasurementError(str(error)) from error
    with process:
        process.send(request)
        process.end_input()
        for line in process.lines():
            yield msgspec.json.decode(line, type=TimelineMessage)
