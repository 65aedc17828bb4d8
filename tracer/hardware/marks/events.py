"""The messages between the client and the process that records timelines: one line of JSON each."""

from __future__ import annotations

import msgspec

from ..times.cases import Case


class TimelineRequest(msgspec.Struct, frozen=True):
    """The cases to record, and the folder of the files."""

    cases: tuple[Case, ...] = msgspec.field(name="asks")
    folder: str
    revision: str  # of git, for the timelines


class TimelineStarted(msgspec.Struct, frozen=True, tag_field="event", tag="started"):
    """The case with this index is at this step."""

    place: int
    step: str


class TimelineRecorded(msgspec.Struct, frozen=True, tag_field="event", tag="recorded"):
    """The case with this index is recorded in a file."""

    place: int
    path: str


class TimelineRefused(msgspec.Struct, frozen=True, tag_field="event", tag="refused"):
    """The case with this index has no timeline; `reason` is one sentence."""

    place: int
    reason: str


class NoDevice(msgspec.Struct, frozen=True, tag_field="event", tag="no-device"):
    """Nothing can be recorded on this machine; `reason` is one sentence."""

    reason: str


TimelineMessage = TimelineStarted | TimelineRecorded | TimelineRefused | NoDevice
