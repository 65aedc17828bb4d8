"""The process that records timelines: `python -m tilescope.tracer.hardware.marks.process` reads a TimelineRequest.

It answers in lines of JSON. It ends when an error has made the device unusable; its client then starts another process
for the remaining cases.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import msgspec

from ...processes.json_streams import make_sender, private_streams
from ...processes.parent_death import die_with_parent
from ..timeline import Timeline
from ..timeline_file import SUFFIX, save
from ..times.cases import Case
from ..times.gpu import Gpu, open_gpu
from ..times.measurement import Device, MeasurementError
from ..times.process import problem_of
from .events import (
    NoDevice,
    TimelineMessage,
    TimelineRecorded,
    TimelineRefused,
    TimelineRequest,
    TimelineStarted,
)

Send = Callable[[TimelineMessage], None]
Say = Callable[[str], None]
Record = Callable[[Case, Gpu, Device, str, Say], Timeline]


def main() -> None:
    """Record the cases of the request on standard input."""
    os.environ.update(
        NUMBA_ENABLE_CUDASIM="0", NUMBA_CUDA_LOW_OCCUPANCY_WARNINGS="0", NUMBA_CUDA_WARN_ON_IMPLICIT_COPY="0"
    )
    die_with_parent()
    source, target = private_streams()
    request = msgspec.json.decode(source.read(), type=TimelineRequest)
    send = make_sender(target)
    try:
        gpu = open_gpu()
    except MeasurementError as error:
        send(NoDevice(str(error)))
        return
    from .record import timeline_of

    serve(request, send, gpu, timeline_of)


def serve(request: TimelineRequest, send: Send, gpu: Gpu, record: Record) -> None:
    """Record the cases one after the other, while the device works."""
    device = gpu.describe()
    for index, case in enumerate(request.cases):

        def say(step: str, place: int = index) -> None:
            send(TimelineStarted(place, step))

        say("compiling")
        try:
            path = Path(request.folder) / file_name(case)
            save(record(case, gpu, device, request.revision, say), path)
            send(TimelineRecorded(index, str(path)))
        except Exception as error:  # noqa: BLE001  # only this case ends
            send(TimelineRefused(index, problem_of(error)))
            if gpu.is_lost():
                return


def file_name(case: Case) -> str:
    """Return the name of a case's file: matmul-tiled-m64-k64-n64-tile16-float32.npz."""
    parts = [f"{name}{value}" if isinstance(value, int) else value for name, value in case.values.items()]
    words = [case.scenario, *(part for part in parts if part)]
    return "-".join("".join(c if c.isalnum() else "-" for c in word) for word in words)[:120] + SUFFIX


if __name__ == "__main__":
    main()
