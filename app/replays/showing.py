"""The showing of a replay's step: its sessions, their looks side by side, and its moments."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from ..control.playhead import default_speed
from ..lectures.model.scenes import Moment
from ..lectures.model.time_anchors import TimeAnchor, TimeAnchorError, find_anchor, parse_anchor
from ..model import phase_steps
from ..model.bookmark import Bookmark, Setup
from ..model.explanation import Explanation, reference_of
from ..model.pane_moments import pane_moments, playhead_moment
from ..model.session import Selection, Session
from ..model.spotlight import resolve_highlights
from ..views.memory.arrangement import PairedSpace
from ..views.memory.picture import MemoryPicture
from ..widgets.theme import Theme
from .frames import Form, PaneLook

# Moments up to which the longest launch is complete: at its first step, and at later steps.
COMPLETE, AGAIN = 2_500, 500
AROUND = 120  # moments before and after the step's moment in a longer launch, at least


class Range(NamedTuple):
    """The range of the playhead's moments on a page, including the last."""

    first: float
    last: float


class Showing(Struct, frozen=True):
    """The showing of a step."""

    setups: tuple[Setup, ...]  # of the panes
    sessions: tuple[Session, ...]  # one per pane
    look: Bookmark  # everything independent of traces
    moment: Moment  # first and final moments
    speed: float  # moments per second
    is_played: bool = False  # whether it plays from its first to its final moment
    asked: Range | None = None  # the requested moments, None for suitable ones

    @property
    def ends(self) -> list[int]:
        """The last moment of each pane."""
        return [session.end for session in self.sessions]

    def at_moment(self, position: float) -> Showing:
        """Return the showing at another final moment, with running blocks selected."""
        moments = pane_moments(position, self.ends, self.look.link)
        selections = tuple(
            phase_steps.follow_running_block(session, Selection(), moment)
            for session, moment in zip(self.sessions, moments, strict=True)
        )
        return replace(self, moment=Moment(position, position, selections, selections))

    def moments(self, limit: int) -> Range:
        """Compute the range of shown moments: all of a short launch, `limit` around the step of a long one."""
        longest = max(self.ends)
        if self.asked is not None:
            return self.asked
        if longest <= limit:
            return Range(0.0, float(longest))
        low, high = sorted((self.moment.begin, self.moment.stand))
        last = min(float(longest), max(math.ceil(high) + AROUND, math.floor(low) - AROUND + limit))
        return Range(max(0.0, math.floor(low) - AROUND), last)

    def pane_range(self, pane: int, shown: Range) -> range:
        """Return the integer moments of a pane for a range of the playhead."""
        first, last = (pane_moments(position, self.ends, self.look.link)[pane] for position in shown)
        return range(math.floor(first), math.floor(last) + 1)


def speed_of(look: Bookmark, longest: int) -> float:
    """Return the speed in moments per second."""
    return look.speed or default_speed(longest)


def first_showing(setups: tuple[Setup, ...], sessions: tuple[Session, ...], look: Bookmark) -> Showing:
    """Return the showing of launches at their first loads, as in a new window."""
    ends = [session.end for session in sessions]
    position = max(
        playhead_moment(phase_steps.first_load(session), pane, ends, look.link)
        for pane, session in enumerate(sessions)
    )
    selections = (Selection(),) * len(sessions)
    showing = Showing(
        setups, sessions, look, Moment(position, position, selections, selections), speed_of(look, max(ends))
    )
    return showing.at_moment(position)


def cut(showing: Showing, begin: str | None, end: str | None) -> Showing:
    """Restrict a showing to the moments between two anchors, with the first as its final moment.

    begin, end: such as "24", "phase 2", "end"; None for the start and the end. Raises TimeAnchorError.
    """
    if begin is None and end is None:
        return showing
    first = _anchor_moment(begin, showing) if begin else 0.0
    last = _anchor_moment(end, showing) if end else float(max(showing.ends))
    if first >= last:
        raise TimeAnchorError(f"{end or 'the end'} is not after {begin or 'the start'}. Swap them.")
    return replace(showing.at_moment(first), asked=Range(first, last))


def _anchor_moment(text: str, showing: Showing) -> float:
    """Find the playhead's moment of an anchor in the last pane."""
    anchor = TimeAnchor("moment", int(text)) if text.isdecimal() else parse_anchor(text)
    if anchor.kind == "end":
        return float(max(showing.ends))
    if anchor.kind == "first load":
        return showing.moment.stand
    pane = len(showing.sessions) - 1
    moment, _ = find_anchor(anchor, showing.sessions[pane], showing.moment.selections[pane], 0.0)
    return playhead_moment(moment, pane, showing.ends, showing.look.link)


def _explanation(showing: Showing, pane: int) -> Explanation | None:
    """Compute the path of the traced value in a pane; None without one."""
    if showing.look.traced is None:
        return None
    from ..model.value_causes import explain_now, explanation_of  # most pages show no path

    session, selection = showing.sessions[pane], showing.moment.selections[pane]
    others = session, showing.look.traced, selection, reference_of(showing.sessions, pane)
    return explanation_of(*others) or explain_now(*others)


def looks_of(showing: Showing, form: Form) -> list[PaneLook]:
    """Compute the look of each pane, aligned with the other."""
    look, theme = showing.look, Theme.named("light", form.text_size)
    pictures = [MemoryPicture(session, theme.with_words_of(session.scenario)) for session in showing.sessions]
    needs = [picture.paired_space(look.zoom) for picture in pictures]
    tops: dict[tuple[str, str], int] = {}
    for picture, selection in zip(pictures, showing.moment.selections, strict=True):
        for scale, top in picture.tops(look.colour_by, selection).items():
            tops[scale] = max(top, tops.get(scale, 0))
    shared = tuple(sorted(tops.items()))
    highlights = resolve_highlights(look.spotlight, showing.sessions)
    warps = look.side == "shown" and look.tab == "warp"
    focus = min(look.focus, len(pictures) - 1)
    return [
        PaneLook(
            _shows_histogram(session, look),
            look.colour_by,
            shared,
            _combined_needs(needs[pane], needs),
            look.zoom,
            highlights[pane],
            look.words,
            warps and pane == focus,
            _explanation(showing, pane),
        )
        for pane, session in enumerate(showing.sessions)
    ]


def _shows_histogram(session: Session, look: Bookmark) -> bool:
    if session.histogram_launch is None:
        return False
    return look.picture == "histogram" or (look.picture == "auto" and session.is_only_histogram)


def _combined_needs(own: PairedSpace, needs: Sequence[PairedSpace]) -> PairedSpace | None:
    """Combine the needs of all pictures with the same shapes as this one; None if there is no other."""
    same_shape = [need for need in needs if need.shapes == own.shapes]
    if len(same_shape) < 2:
        return None
    left, right = max(need.left for need in same_shape), max(need.right for need in same_shape)
    return PairedSpace(
        own.shapes,
        left,
        right,
        any(need.tiles for need in same_shape),
        any(need.strip for need in same_shape),
    )
