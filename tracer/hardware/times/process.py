"""The measuring process: `python -m tilescope.tracer.hardware.times.process` reads one Request.

It answers in lines of JSON. It needs neither Qt nor a display. It ends when an error has made the device unusable
(`DeviceLost`); its client then starts another process for the remaining rows.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence

import msgspec

from ...processes.json_streams import make_sender, private_streams
from ...processes.parent_death import die_with_parent
from ...recording.reference_check import compare_results
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
from .sampling import Sampler, SamplingError, StoppingCriterion, sample
from .timed_calls import TimedCall, timed_call_of

FIRST_CALLS = 3


Send = Callable[[MeasureMessage], None]
MakeTimedCall = Callable[[Case, Gpu | None], TimedCall]


class LostDeviceError(Exception):
    """An error has made the device unusable."""


def main() -> None:
    """Measure the request on standard input."""
    os.environ.update(
        NUMBA_ENABLE_CUDASIM="0", NUMBA_CUDA_LOW_OCCUPANCY_WARNINGS="0", NUMBA_CUDA_WARN_ON_IMPLICIT_COPY="0"
    )
    die_with_parent()
    source, target = private_streams()
    request = msgspec.json.decode(source.read(), type=Request)
    gpu, reason = _gpu_for(request)
    serve(request, make_sender(target), gpu, reason)


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
    """Measure the rows of a request, group by group; without a device, `reason` explains why."""
    ceilings = measure_ceilings(gpu) if gpu and request.ceilings else None
    send(DeviceOpened(gpu.describe() if gpu else None, ceilings, reason))
    handler = RequestHandler(request, send, gpu, reason, make)
    try:
        for indices in groups_of_equal_size(request.cases):
            handler.group(indices)
    except LostDeviceError:
        send(DeviceLost())


class RequestHandler:
    """Measures the rows of one request, one group at a time."""

    def __init__(
        self, request: Request, send: Send, gpu: Gpu | None, reason: str, make: MakeTimedCall
    ) -> None:
        self._request, self._send, self._gpu = request, send, gpu
        self._reason, self._make = reason, make
        self._rows: dict[int, Row] = {}

    def group(self, indices: Sequence[int]) -> None:
        """Check the rows with these indices, then time the correct ones alternately."""
        self._rows = {index: row_of(self._request.cases[index]) for index in indices}
        calls = {index: call for index in indices if (call := self._prepare(index)) is not None}
        while calls and not self._time_calls(calls):
            pass

    def _prepare(self, index: int) -> TimedCall | None:
        """Check a row's result and time its first calls; return its call, or finish the row and return None."""
        self._send(RowStarted(index))
        case = self._request.cases[index]
        if case.needs_device and self._gpu is None:
            self._end(index, self._reason)
            return None
        try:
            call = self._make(case, self._gpu)
            if not self._check_result(index, call):
                return None
            if case.first and call.compiles:
                times = tuple(call.first_call() for _ in range(FIRST_CALLS))
                self._add(index, [Timing("first-call", times, False)])
            return call
        except Exception as error:  # noqa: BLE001  # only this row ends
            self._fail(index, error)
            return None

    def _check_result(self, index: int, call: TimedCall) -> bool:
        row, case = self._rows[index], self._request.cases[index]
        results = call.results()
        check = compare_results(launch_of_case(case), tuple(row_names(case)), results)
        error = check.largest_error if check.largest_error < float("inf") else None
        result = Result(error, check.tolerance, check.equal)
        self._rows[index] = msgspec.structs.replace(row, result=result)
        if check.equal:
            return True
        outcomes = call.outcomes()
        self._rows[index] = msgspec.structs.replace(self._rows[index], outcomes=outcomes)
        self._end(index, f"It differs from NumPy by {check.largest_error:,g}, so it was not timed.")
        return False

    def _time_calls(self, calls: dict[int, TimedCall]) -> bool:
        """Time the rows and return True; if one fails, finish it, remove it and return False."""
        samplers: dict[tuple[int, TimingKind], Sampler] = {
            (index, kind): sampler
            for index, call in calls.items()
            for kind, sampler in call.samplers().items()
        }
        criterion = StoppingCriterion(self._request.precision, self._request.time_limit)
        indices = tuple(calls)
        try:
            results = sample(
                samplers,
                criterion,
                lambda done, total: self._send(SamplingProgress(indices, done, total)),
            )
        except SamplingError as failure:
            failed = failure.key[0] if isinstance(failure.key, tuple) else -1
            del calls[failed]
            self._fail(failed, failure.error)
            return False
        for index in calls:
            self._add(index, [Timing(kind, *results[i, kind]) for i, kind in results if i == index])
            self._end(index, "")
        return True

    def _add(self, index: int, timings: list[Timing]) -> None:
        row = self._rows[index]
        self._rows[index] = msgspec.structs.replace(row, timings=(*row.timings, *timings))

    def _end(self, index: int, problem: str) -> None:
        self._send(RowMeasured(index, msgspec.structs.replace(self._rows.pop(index), problem=problem)))

    def _fail(self, index: int, error: Exception) -> None:
        """Finish a row with its error; raises LostDeviceError if the device is unusable."""
        self._rows[index] = msgspec.structs.replace(self._rows[index], timings=())
        self._end(index, problem_of(error))
        if self._gpu is not None and self._gpu.is_lost():
            raise LostDeviceError


def row_names(case: Case) -> list[str]:
    """List the names of a row's arguments."""
    from ....kernels.scenarios.catalogue import find

    return [argument.name for argument in find(case.scenario).plan(case.values).arguments]


def problem_of(error: Exception) -> str:
    """Explain in one sentence why a row could not be measured."""
    text = str(error)
    if isinstance(error, MeasurementError):
        return text
    if "OUT_OF_MEMORY" in text or isinstance(error, MemoryError):
        return "The device has too little memory; choose a smaller size."
    if "ILLEGAL_ADDRESS" in text or "MISALIGNED" in text:
        return "It accessed memory outside its arrays, and the device stopped it."
    if "LAUNCH_TIMEOUT" in text:
        return "It ran too long, and the device stopped it."
    return f"It could not be measured ({first_line(error)})."


if __name__ == "__main__":
    main()
