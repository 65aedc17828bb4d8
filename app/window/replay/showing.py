"""What a step of a replay shows: of which sessions, how they look side by side, and which moments are there."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from ...lecture.places import Place, PlaceError, find_place, parse_place
from ...lecture.scenes import Moment
from ...model import phase_steps
from ...model.bookmark import Bookmark, Setup
from ...model.pane_moments import pane_moments, playhead_moment
from ...model.playhead import usual_speed
from ...model.session import Selection, Session
from ...model.spotlight import lit_of
from ...views.memory.arrangement import Needs
from ...views.memory.picture import MemoryPicture
from ...widgets.theme import Theme
from .frames import Form, PaneLook

# Moments of the longest launch, up to which all are there: where it is shown first, and where once more.
WHOLE, AGAIN = 2_500, 500
AROUND = 120  # moments before and behind where a step of a longer one stands, at least


class Range(NamedTuple):
    """The moments of the playhead that a page has, the last included."""

    first: float
    last: float


class Showing(Struct, frozen=True):
    """What a step shows."""

    setups: tuple[Setup, ...]  # of the panes
    sessions: tuple[Session, ...]  # one a pane
    look: Bookmark  # all that does not depend on traces
    moment: Moment  # where it stands
    speed: float  # moments a second
    is_played: bool = False  # whether it goes by itself from where it begins to where it stands
    asked: Range | None = None  # the moments that are shown, None for those that suit it

    @property
    def ends(self) -> list[int]:
        """The last moment of each pane."""
        return [session.end for session in self.sessions]

    def standing(self, at: float) -> Showing:
        """Return the same standing at another moment, each pane with a block that runs there."""
        moments = pane_moments(at, self.ends, self.look.link)
        selections = tuple(
            phase_steps.follow(session, Selection(), moment)
            for session, moment in zip(self.sessions, moments, strict=True)
        )
        return replace(self, moment=Moment(at, at, selections, selections))

    def moments(self, whole: int) -> Range:
        """Return which moments of the playhead are shown: all of a short launch, so many around here of a long one."""
        longest = max(self.ends)
        if self.asked is not None:
            return self.asked
        if longest <= whole:
            return Range(0.0, float(longest))
        low, high = sorted((self.moment.begin, self.moment.stand))
        last = min(float(longest), max(math.ceil(high) + AROUND, math.floor(low) - AROUND + whole))
        return Range(max(0.0, math.floor(low) - AROUND), last)

    def pane_range(self, pane: int, shown: Range) -> range:
        """Return the whole moments of a pane while the playhead is in a range."""
        first, last = (pane_moments(at, self.ends, self.look.link)[pane] for at in shown)
        return range(math.floor(first), math.floor(last) + 1)


def speed_of(look: Bookmark, longest: int) -> float:
    """Return how many moments a second are played."""
    return look.speed or usual_speed(longest)


def first_showing(setups: tuple[Setup, ...], sessions: tuple[Session, ...], look: Bookmark) -> Showing:
    """Return what the window would show of launches when it opens with them: their first loads."""
    ends = [session.end for session in sessions]
    at = max(
        playhead_moment(phase_steps.first_load(session), pane, ends, look.link)
        for pane, session in enumerate(sessions)
    )
    selections = (Selection(),) * len(sessions)
    found = Showing(setups, sessions, look, Moment(at, at, selections, selections), speed_of(look, max(ends)))
    return found.standing(at)


def cut(showing: Showing, begin: str | None, end: str | None) -> Showing:
    """Return a showing of the moments from a place to another, which then stands at the first.

    begin, end: "24", "phase 2", "end"; None for the start and the end. Raises PlaceError.
    """
    if begin is None and end is None:
        return showing
    first = _named(begin, showing) if begin else 0.0
    last = _named(end, showing) if end else float(max(showing.ends))
    if first >= last:
        raise PlaceError(f"{end or 'the end'} is not after {begin or 'the start'}; exchange them.")
    return replace(showing.standing(first), asked=Range(first, last))


def _named(text: str, showing: Showing) -> float:
    """Return the playhead's moment of a place in time of the last pane."""
    place = Place("moment", int(text)) if text.isdecimal() else parse_place(text)
    if place.kind == "end":
        return float(max(showing.ends))
    if place.kind == "first load":
        return showing.moment.stand
    pane = len(showing.sessions) - 1
    found, _ = find_place(place, showing.sessions[pane], showing.moment.selections[pane], 0.0)
    return playhead_moment(found, pane, showing.ends, showing.look.link)


def looks_of(showing: Showing, form: Form) -> list[PaneLook]:
    """Return how each pane looks, beside the other."""
    look, theme = showing.look, Theme.named("light", form.text_size)
    pictures = [MemoryPicture(session, theme.speaking(session.scenario)) for session in showing.sessions]
    needs = [picture.needs(look.zoom) for picture in pictures]
    tops: dict[tuple[str, str], int] = {}
    for picture, selection in zip(pictures, showing.moment.selections, strict=True):
        for scale, top in picture.tops(look.colour_by, selection).items():
            tops[scale] = max(top, tops.get(scale, 0))
    shared = tuple(sorted(tops.items()))
    lits = lit_of(look.spotlight, showing.sessions)
    warps = look.side == "shown" and look.tab == "warp"
    focus = min(look.focus, len(pictures) - 1)
    return [
        PaneLook(
            _shows_histogram(session, look),
            look.colour_by,
            shared,
            _together(needs[pane], needs),
            look.zoom,
            lits[pane],
            look.words,
            warps and pane == focus,
        )
        for pane, session in enumerate(showing.sessions)
    ]


def _shows_histogram(session: Session, look: Bookmark) -> bool:
    if session.counting is None:
        return False
    return look.picture == "histogram" or (look.picture == "auto" and session.only_counts)


def _together(own: Needs, needs: Sequence[Needs]) -> Needs | None:
    """Return what is enough for all pictures of the same shapes as this one, None where it is alone."""
    like = [need for need in needs if need.shapes == own.shapes]
    if len(like) < 2:
        return None
    left, right = max(need.left for need in like), max(need.right for need in like)
    return Needs(own.shapes, left, right, any(need.tiles for need in like), any(need.strip for need in like))
