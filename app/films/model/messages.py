"""The messages between the window and its rendering process, one line of JSON each. No Qt."""

from __future__ import annotations

import msgspec

from ...model.bookmark import Bookmark, Room
from .wanted import FilmOptions


class Show(msgspec.Struct, frozen=True, tag=True):
    """The first message: the state of the window to render."""

    mark: Bookmark
    trusted: tuple[tuple[str, str], ...]  # kernels and texts that the user agreed to run
    scale: float  # pixels per point
    room: Room = Room()  # the user's sizes of the parts; timelines show all blocks
    caption: tuple[str, str, str] = ("", "", "")  # of a lecture: title, escaped HTML, foot


class Ask(msgspec.Struct, frozen=True, tag=True):
    """Asks for a preview and an estimate; an outdated question gets no answer."""

    number: int  # of the question
    wanted: FilmOptions
    output: str  # a name with the suffix of the kind of file
    share: float  # the position of the frame in the film, from 0 to 1
    width: int  # pixels of its picture


class Write(msgspec.Struct, frozen=True, tag=True):
    """Starts rendering; any further message, or the end of the input, stops it without a file."""

    wanted: FilmOptions
    output: str


class Stop(msgspec.Struct, frozen=True, tag=True):
    """Stops rendering."""


class Preview(msgspec.Struct, frozen=True, tag=True):
    """A frame of the film, before the size is known."""

    number: int  # of the question
    png: bytes  # the frame
    moment: float  # of the playhead in the frame
    seconds: float
    frames: int


class Expected(msgspec.Struct, frozen=True, tag=True):
    """The estimate of the file."""

    number: int  # of the question
    text: str  # duration and size
    is_long: bool  # whether it is so long or large that the user must confirm


class Progress(msgspec.Struct, frozen=True, tag=True):
    """The progress in frames."""

    done: int
    total: int


class Written(msgspec.Struct, frozen=True, tag=True):
    """The file was written."""

    output: str


class Failed(msgspec.Struct, frozen=True, tag=True):
    """The request failed; the sentence is empty if it was stopped."""

    sentence: str
    number: int = 0  # of the question, 0 for rendering


Message = Show | Ask | Write | Stop
Answer = Preview | Expected | Progress | Written | Failed
