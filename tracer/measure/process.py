"""The measuring process: `python -m tilescope.tracer.measure.process` reads one Request and answers in lines of JSON.

It needs neither Qt nor a screen. A device that an error has made unusable ends the process (`DeviceLost`); who
started it starts another for the rows that are left.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence

import msgspec

from ..processes.json_streams import private_streams, sender
from ..processes.parent_death import die_with_parent
from ..recording.reference_check import checked
from .cases import Case, groups_of_equal_size, launch_of_case, row_of
from .ceilings import ceilings_of
from .events import (
    DeviceLost,
    DeviceOpened,
    MeasureMessage,
    Request,
    RowMeasured,
    RowStarted,
    SamplingProgress,
)
from .gpu import Gpu, first_line, open_gpu
from .measurement import Ceilings, MeasurementError, Result, Row, Timing, TimingKind
from .sampling import Failure, Sampler, StoppingCriterion, sample
from .timed_calls import TimedCall, timed_call_of

FIRST_CALLS = 3


Send = Callable[[MeasureMessage], None]
MakeTimedCall = Callable[[Case, Gpu | None], TimedCall]


class LostDeviceError(Exception):
    """An error has made the device unusable."""


def main() -> None:
    """Measure what standard input asks for."""
    os.environ.update(
        NUMBA_ENABLE_CUDASIM="0", NUMBA_CUDA_LOW_OCCUPANCY_WARNINGS="0", NUMBA_CUDA_WARN_ON_IMPLICIT_COPY="0"
    )
    die_with_parent()
    source, target = private_streams()
    request = msgspec.json.decode(source.read(), type=Request)
    gpu, reason = _gpu_for(request)
    serve(request, sender(target), gpu, reason)


def _gpu_for(request: Request) -> tuple[Gpu | None, str]:
    if not any(case.needs_device for case in request.cases):
        return None, ""
    try:
        return open_gpu(), ""
    except MeasurementError as error:
        return None, str(error)


def serve(
    request: Request, send: Send, gpu: Gpu | None, reason: str,
    make: MakeTimedCall = timed_call_of, measure_ceilings: Callable[[Gpu], Ceilings] = ceilings_of,
) -> None:  # fmt: skip
    """Measure the rows of a request, group by group; without a device `reason` says why."""
    ceilings = measure_ceilings(gpu) if gpu and request.ceilings else None
    send(DeviceOpened(gpu.describe() if gpu else None, ceilings, reason))
    handler = RequestHandler(request, send, gpu, reason, make)
    try:
        for places in groups_of_equal_size(request.cases):
            handler.group(places)
    except LostDeviceError:
        send(DeviceLost())


class RequestHandler:
    """Measures the rows of one request, a group at a time."""

    def __init__(
        self, request: Request, send: Send, gpu: Gpu | None, reason: str, make: MakeTimedCall
    ) -> None:
        self._request, self._send, self._gpu = request, send, gpu
        self._reason, self._make = reason, make
        self._rows: dict[int, Row] = {}

    def group(self, places: Sequence[int]) -> None:
        """Check the rows at these places, then time the right ones in turns."""
        self._rows = {place: row_of(self._request.cases[place]) for place in places}
        calls = {place: s for place in places if (s := self._prepared(place)) is not None}
        while calls and not self._timed(calls):
            pass

    def _prepared(self, place: int) -> TimedCall | None:
        """Return what a row times, its result found right and its first calls timed; else end the row."""
        self._send(RowStarted(place))
        case = self._request.cases[place]
        if case.needs_device and self._gpu is None:
            self._end(place, self._reason)
            return None
        try:
            call = self._make(case, self._gpu)
            if not self._is_right(place, call):
                return None
            if case.first and call.compiles:
                times = tuple(call.first_call() for _ in range(FIRST_CALLS))
                self._add(place, [Timing("first-call", times, False)])
            return call
        except Exception as error:  # noqa: BLE001  # a row ends so, not the run
            self._fail(place, error)
            return None

    def _is_right(self, place: int, call: TimedCall) -> bool:
        row, case = self._rows[place], self._request.cases[place]
        results = call.results()
        check = checked(launch_of_case(case), tuple(row_names(case)), results)
        error = check.largest_error if check.largest_error < float("inf") else None
        result = Result(error, check.tolerance, check.equal)
        self._rows[place] = msgspec.structs.replace(row, result=result)
        if check.equal:
            return True
        outcomes = call.outcomes()
        self._rows[place] = msgspec.structs.replace(self._rows[place], outcomes=outcomes)
        self._end(place, f"It differs from NumPy by {check.largest_error:,g}, so it was not timed.")
        return False

    def _timed(self, calls: dict[int, TimedCall]) -> bool:
        """Time the rows and return True; where one fails, end it, take it out and return False."""
        samplers: dict[tuple[int, TimingKind], Sampler] = {
            (place, kind): sampler for place, s in calls.items() for kind, sampler in s.samplers().items()
        }
        criterion = StoppingCriterion(self._request.precision, self._request.time_limit)
        places = tuple(calls)
        try:
            found = sample(
                samplers, criterion, lambda done, of: self._send(SamplingProgress(places, done, of))
            )
        except Failure as failure:
            place = failure.key[0] if isinstance(failure.key, tuple) else -1
            del calls[place]
            self._fail(place, failure.error)
            return False
        for place in calls:
            self._add(place, [Timing(kind, *found[p, kind]) for p, kind in found if p == place])
            self._end(place, "")
        return True

    def _add(self, place: int, timings: list[Timing]) -> None:
        row = self._rows[place]
        self._rows[place] = msgspec.structs.replace(row, timings=(*row.timings, *timings))

    def _end(self, place: int, problem: str) -> None:
        self._send(RowMeasured(place, msgspec.structs.replace(self._rows.pop(place), problem=problem)))

    def _fail(self, place: int, error: Exception) -> None:
        """End a row with what went wrong; raises LostDevice where nothing can run after it."""
        self._rows[place] = msgspec.structs.replace(self._rows[place], timings=())
        self._end(place, problem_of(error))
        if self._gpu is not None and self._gpu.is_lost():
            raise LostDeviceError


def row_names(case: Case) -> list[str]:
    """Return the names of a row's arguments, in their order."""
    from ...kernels.scenarios.catalogue import find

    return [argument.name for argument in find(case.scenario).plan(case.values).arguments]


def problem_of(error: Exception) -> str:
    """Return in one sentence why a row could not be measured."""
    text = str(error)
    if isinstance(error, MeasurementError):
        return text
    if "OUT_OF_MEMORY" in text or isinstance(error, MemoryError):
        return "The memory is too small for it; choose a smaller size."
    if "ILLEGAL_ADDRESS" in text or "MISALIGNED" in text:
        return "It touched memory outside its arrays, and the device stopped it."
    if "LAUNCH_TIMEOUT" in text:
        return "It ran too long, and the device stopped it."
    return f"It could not be measured ({first_line(error)})."


if __name__ == "__main__":
    main()
