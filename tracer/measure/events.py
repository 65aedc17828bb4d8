"""What the command line or the window and the measuring process say to each other: a line of JSON each."""

from __future__ import annotations

import msgspec

from .cases import Case
from .measurement import Ceilings, Device, Row


class Request(msgspec.Struct, frozen=True):
    """What is to be measured, and how long."""

    cases: tuple[Case, ...] = msgspec.field(name="asks")  # those to be measured
    precision: float = 0.01  # half a median's interval over the median, at which it is known well enough
    time_limit: float = 1.0  # seconds for each timing
    ceilings: bool = True  # whether the device's are wanted too


class DeviceOpened(msgspec.Struct, frozen=True, tag_field="event", tag="opened"):
    """What will be measured on; without a device `reason` is a sentence, and rows that need one fail."""

    device: Device | None
    ceilings: Ceilings | None
    reason: str


class RowStarted(msgspec.Struct, frozen=True, tag_field="event", tag="started"):
    """The row at this place in the request is being prepared and checked."""

    place: int


class SamplingProgress(msgspec.Struct, frozen=True, tag_field="event", tag="sampling"):
    """So many of these rows' timings, which are taken in turns, are done."""

    places: tuple[int, ...]
    done: int
    of: int


class RowMeasured(msgspec.Struct, frozen=True, tag_field="event", tag="measured"):
    """A row is done."""

    place: int
    row: Row


class DeviceLost(msgspec.Struct, frozen=True, tag_field="event", tag="lost"):
    """The device can't be used any more in this process, which ends."""


MeasureMessage = DeviceOpened | RowStarted | SamplingProgress | RowMeasured | DeviceLost
