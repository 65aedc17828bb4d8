"""What the command line and the process that records timelines say to each other: a line of JSON each."""

from __future__ import annotations

import msgspec

from ...measure.cases import Case


class TimelineRequest(msgspec.Struct, frozen=True):
    """What is to be recorded, and where the files go."""

    cases: tuple[Case, ...] = msgspec.field(name="asks")
    folder: str
    revision: str  # of git, as a timeline keeps it


class TimelineStarted(msgspec.Struct, frozen=True, tag_field="event", tag="started"):
    """The case at this place in the request is at this step."""

    place: int
    step: str


class TimelineRecorded(msgspec.Struct, frozen=True, tag_field="event", tag="recorded"):
    """The case at this place is done, and its file is there."""

    place: int
    path: str


class TimelineRefused(msgspec.Struct, frozen=True, tag_field="event", tag="refused"):
    """The case at this place has no timeline; `reason` is one sentence."""

    place: int
    reason: str


class NoDevice(msgspec.Struct, frozen=True, tag_field="event", tag="no-device"):
    """Nothing can be recorded here; `reason` is one sentence."""

    reason: str


TimelineMessage = TimelineStarted | TimelineRecorded | TimelineRefused | NoDevice
