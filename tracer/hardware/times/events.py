"""The messages between the command line or the window and the measuring process: one line of JSON each."""

from __future__ import annotations

import msgspec

from .cases import Case
from .measurement import Ceilings, Device, Row


class Request(msgspec.Struct, frozen=True):
    """The cases to measure, and the stopping criterion."""

    cases: tuple[Case, ...] = msgspec.field(name="asks")
    precision: float = 0.01  # half a median's interval over the median, at which sampling ends
    time_limit: float = 1.0  # seconds for each timing
    ceilings: bool = True  # the device's limits are measured too


class DeviceOpened(msgspec.Struct, frozen=True, tag_field="event", tag="opened"):
    """The device of the measurement; without one, `reason` is a sentence, and rows that need it fail."""

    device: Device | None
    ceilings: Ceilings | None
    reason: str


class RowStarted(msgspec.Struct, frozen=True, tag_field="event", tag="started"):
    """The row with this index in the request is being prepared and checked."""

    place: int


class SamplingProgress(msgspec.Struct, frozen=True, tag_field="event", tag="sampling"):
    """The number of finished timings of these rows, which are sampled alternately."""

    places: tuple[int, ...]
    done: int
    total: int


class RowMeasured(msgspec.Struct, frozen=True, tag_field="event", tag="measured"):
    """A row is finished."""

    place: int
    row: Row


class DeviceLost(msgspec.Struct, frozen=True, tag_field="event", tag="lost"):
    """The device is unusable for this process, which ends."""


MeasureMessage = DeviceOpened | RowStarted | SamplingProgress | RowMeasured | DeviceLost
