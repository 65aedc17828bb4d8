"""What the window and the process that records for it say to each other, a line of JSON each. No Qt."""

from __future__ import annotations

import msgspec

from ...model.bookmark import Bookmark, Room
from .wanted import Wanted


class Show(msgspec.Struct, frozen=True, tag=True):
    """The first message: what is recorded, as it is on screen."""

    mark: Bookmark
    trusted: tuple[tuple[str, str], ...]  # kernels and texts that the user agreed to run
    scale: float  # pixels a point
    room: Room = Room()  # as the user has shared it; timelines show all of their blocks
    caption: tuple[str, str, str] = ("", "", "")  # of a lecture: title, our own HTML, and what stands below


class Ask(msgspec.Struct, frozen=True, tag=True):
    """What would a recording be, and look like? An answer that a later question has overtaken is left out."""

    number: int  # of the question
    wanted: Wanted
    output: str  # a name with the ending of the kind of file
    share: float  # of the film, from 0 to 1, at which the frame is that is shown
    width: int  # pixels of its picture


class Write(msgspec.Struct, frozen=True, tag=True):
    """Record; the next message of any kind, or the end of the messages, ends it, and leaves no file."""

    wanted: Wanted
    output: str


class Stop(msgspec.Struct, frozen=True, tag=True):
    """Record no further."""


class Preview(msgspec.Struct, frozen=True, tag=True):
    """What a recording would be, before its size is known."""

    number: int  # of the question
    png: bytes  # the frame
    moment: float  # that it shows, of the playhead
    seconds: float
    frames: int


class Expected(msgspec.Struct, frozen=True, tag=True):
    """What the file would be."""

    number: int  # of the question
    text: str  # how long and how large it will be
    is_long: bool  # or large: somebody is to be asked


class Progress(msgspec.Struct, frozen=True, tag=True):
    """How many frames are written."""

    done: int
    total: int


class Written(msgspec.Struct, frozen=True, tag=True):
    """The file is there."""

    output: str


class Failed(msgspec.Struct, frozen=True, tag=True):
    """There is no file, and no answer; the sentence is empty where it was stopped."""

    sentence: str
    number: int = 0  # of the question, 0 for a recording


Message = Show | Ask | Write | Stop
Answer = Preview | Expected | Progress | Written | Failed
