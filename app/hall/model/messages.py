"""Messages between the window and the hall's server. The window sends complete states, the server counts."""

from __future__ import annotations

from msgspec import Struct

from ...lectures.model.questions import Kind

STYLE = "phone.css"  # in the folder of the pages
Vote = int | float | tuple[float, ...]  # an index, a number, a line's number, or lengths from 0 to 100


class HallQuestion(Struct, frozen=True):
    """A question as the phones see it, without its answer."""

    number: int  # identifies it among all questions of this hall
    kind: Kind
    ask: str
    choices: tuple[str, ...] = ()  # to choose from
    lines: tuple[tuple[int, str], ...] = ()  # to mark: numbers and texts
    bars: tuple[str, ...] = ()  # labels of bars to drag


class Row(Struct, frozen=True):
    """A row of a histogram."""

    label: str
    text: str  # the number of votes, or the median length of a bar
    share: float  # length, from 0 to 1
    is_right: bool = False  # whether it is the answer
    target: float | None = None  # the length of the answer's bar, None before it is revealed


class Serve(Struct, frozen=True, tag="serve"):
    """Start to serve; the first message to the server."""

    folder: str  # of the pages
    address: str  # of this computer in the room's network, "" without one
    port: int
    is_fixed: bool  # False tries the next ports if this one is taken


class HallState(Struct, frozen=True, tag="state"):
    """The current state of the hall, which replaces the one before."""

    step: int = 0  # from 1
    steps: int = 0
    title: str = ""  # of the step
    page: str = ""  # file of the step's replay in the folder, "" while it is drawn
    question: HallQuestion | None = None
    is_open: bool = False  # whether votes count
    answer: str = ""  # "" before it is revealed
    rows: tuple[Row, ...] = ()  # of the histogram, none while the vote is open


Command = Serve | HallState


class Report(Struct, frozen=True):
    """The server's report to the window."""

    port: int = 0  # 0 before it serves
    error: str = ""  # one sentence: why it can't serve
    phones: int = 0  # connected now
    question: int = -1  # number of the question that the votes are about
    votes: tuple[Vote, ...] = ()
