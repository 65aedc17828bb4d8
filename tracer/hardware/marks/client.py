"""Client of the process that records timelines; that process may crash."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import msgspec
from msgspec import Struct

from ...processes.json_process import StartError, module_command
from ...processes.process_client import ProcessClient, ProcessEndedError
from ..times.cases import Case
from ..times.client import case_spec, revision
from ..times.measurement import MeasurementError
from .events import (
    NoDevice,
    TimelineMessage,
    TimelineRecorded,
    TimelineRefused,
    TimelineRequest,
    TimelineStarted,
)
from .refusal import reason_for_refusal

COMMAND = module_command("tilescope.tracer.hardware.marks.process")
MESSAGE: msgspec.json.Decoder[TimelineMessage] = msgspec.json.Decoder(TimelineMessage)
Report = Callable[[str, int, int], None]
Start = Callable[[TimelineRequest], Iterator[TimelineMessage]]


class Outcome(Struct, frozen=True):
    """The result of a case: a file, or a sentence that explains why there is none."""

    case: Case
    path: Path | None
    reason: str = ""


def record_timelines(
    cases: Sequence[Case],
    folder: Path,
    report: Report = lambda text, done, total: None,
    start: Start | None = None,
) -> list[Outcome]:
    """Record cases into a folder in another process, and return the outcome of each.

    A process that ends early is restarted for the remaining cases. Raises MeasurementError if nothing can be recorded.
    """
    refused = [
        Outcome(case, None, reason) if (reason := reason_for_refusal(case)) else None for case in cases
    ]
    asked = [case for case, outcome in zip(cases, refused, strict=True) if outcome is None]
    outcomes: list[Outcome] = []
    while len(outcomes) < len(asked):
        left = asked[len(outcomes) :]
        request = TimelineRequest(tuple(left), str(folder), revision())
        _listen((start or _messages)(request), left, outcomes, report)
    recorded = iter(outcomes)
    return [outcome or next(recorded) for outcome in refused]


def _listen(
    messages: Iterator[TimelineMessage], cases: Sequence[Case], outcomes: list[Outcome], report: Report
) -> None:
    """Process messages until the process ends; afterwards there is at least one more outcome."""
    before, total = len(outcomes), len(outcomes) + len(cases)
    for message in messages:
        if isinstance(message, NoDevice):
            raise MeasurementError(message.reason)
        case = cases[message.place]
        if isinstance(message, TimelineStarted):
            report(f"{case_spec(case)}: {message.step}", len(outcomes), total)
        elif isinstance(message, TimelineRecorded):
            outcomes.append(Outcome(case, Path(message.path)))
        elif isinstance(message, TimelineRefused):
            outcomes.append(Outcome(case, None, message.reason))
    if len(outcomes) == before:
        reason = "The process that records timelines ended while it ran; the device may have stopped it."
        outcomes.append(Outcome(cases[0], None, reason))


def _messages(request: TimelineRequest) -> Iterator[TimelineMessage]:
    """Yield the messages of a new process about a request."""
    client = ProcessClient("process that records timelines", COMMAND, MESSAGE, is_single=True)
    try:
        with suppress(ProcessEndedError), client.conversation(request) as messages:
            yield from messages
    except StartError as error:
        raise MeasurementError(str(error)) from error
