"""What the panels show, as frozen values computed from the state and the sessions; `==` finds what has changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from ...kernels.scenarios.catalogue import Scenario
from ..model.bookmark import LayoutChoice, Link, PictureChoice, Setup, SideChoice, TracedValue
from ..model.explanation import Explanation, reference_of
from ..model.session import Selection, Session, are_versions, launch_name
from ..model.setup_edits import differences
from ..model.spotlight import Highlight, resolve_highlights
from .window_state import WindowState

Sessions = Sequence[Session | None]
PANE_NAMES = ("Left", "Right")
VERSIONS = ("before the edit", "after the edit")  # of a kernel of the user's program


class PaneView(Struct, frozen=True):
    """What a pane shows, except the moment."""

    session: Session | None = None
    picture: PictureChoice = "auto"
    colour_by: str = "auto"
    zoom: tuple[str, ...] = ()
    compiled: str = "auto"
    nearest: bool = True  # whether the nearest measured launch is shown without a measurement
    is_asking: bool = False
    is_picture_only: bool = False
    is_closable: bool = False
    difference: str = ""  # from the other pane
    highlight: Highlight | None = None
    explanation: Explanation | None = None  # of the value whose path is shown

    def shows_histogram(self) -> bool:
        """Return True if the pane shows the histogram of a launch that counts."""
        if self.session is None or self.session.histogram_launch is None:
            return False
        return self.picture == "histogram" or (self.picture == "auto" and self.session.is_only_histogram)


class BarView(Struct, frozen=True):
    """What the toolbar shows."""

    setups: tuple[Setup, ...] = ()
    focus: int = 0
    shared: bool = True
    names: tuple[str, ...] = ()  # of the panes' trace files


class SideView(Struct, frozen=True):
    """What the inspector shows, except the moment."""

    tab: str = "source"
    colour_by: str = "auto"
    shows_fates: bool = True
    compared: tuple[Session, ...] = ()  # whose lines have a common scale
    highlight: Highlight | None = None
    other_highlight: Highlight | None = None  # of the pane that is not in focus
    traced: TracedValue | None = None  # the value whose path is shown
    explanation: Explanation | None = None  # None while it is being computed
    has_order: bool = False  # whether the pane in focus runs in an explicit order
    counts_findings: bool = True  # on their tab
    pane_name: str = ""  # of the pane in focus, "" for a single pane


class TransportView(Struct, frozen=True):
    """What the row of buttons shows."""

    link: Link
    colour_by: str
    speed: float
    is_speed_chosen: bool
    loop: bool
    is_playing: bool
    end: float
    is_linked: bool  # whether there are two panes


class LayoutView(Struct, frozen=True):
    """What determines which parts are shown and their sizes, except the size of the window."""

    layout: LayoutChoice
    side: SideChoice
    shows_bar: bool
    is_picture_only: bool
    side_share: int
    focus: int
    panes: int
    has_chart: bool

    @property
    def is_lecture(self) -> bool:
        """Whether the layout is that of a lecture."""
        return self.layout == "lecture"

    def shows_side(self, has_room: bool) -> bool:
        """Return True if the inspector is shown. has_room: whether the window is wide enough for it."""
        automatic = self.side == "auto" and has_room and not self.is_lecture
        return (automatic or self.side == "shown") and not self.is_picture_only


class PaneViews:
    """Computes the view models of the panes; keeps what is slow to compute."""

    def __init__(self, scenarios: Mapping[str, Scenario]) -> None:
        self._scenarios = scenarios
        self._lit: tuple[object, tuple[Highlight | None, ...]] = (None, ())
        self._differing: tuple[object, Sequence[str]] = (None, ())

    def compute(self, state: WindowState, sessions: Sessions) -> tuple[PaneView, ...]:
        """Compute the view model of each pane."""
        highlights, texts = self.highlights(state, sessions), self._differences(state.panes)
        loaded = [session for session in sessions if session is not None]
        if len(loaded) == 2 and loaded[0].title == loaded[1].title and are_versions(*loaded):
            texts = texts if any(texts) else VERSIONS
        return tuple(
            PaneView(
                session=session, picture=state.picture,
                colour_by=state.colour_by, zoom=state.zoom, compiled=state.compiled_here,
                nearest=state.nearest == "shown", is_asking=state.is_asking, is_picture_only=state.is_picture_only,
                is_closable=len(sessions) > 1 and not state.is_lecture, difference=text, highlight=highlight,
                explanation=explanation,
            )
            for session, text, highlight, explanation in zip(
                sessions, texts, highlights, self.explanations(state, sessions), strict=True
            )
        )  # fmt: skip

    def highlights(self, state: WindowState, sessions: Sessions) -> tuple[Highlight | None, ...]:
        """Resolve the spotlight for each pane."""
        key = state.spotlight, tuple(sessions)
        if self._lit[0] != key:
            self._lit = key, resolve_highlights(state.spotlight, sessions)
        return self._lit[1]

    def explanations(self, state: WindowState, sessions: Sessions) -> list[Explanation | None]:
        """Return the explanation of the traced value in each pane, None without one."""
        return [explain_in_pane(state, sessions, pane) for pane in range(len(sessions))]

    def _differences(self, setups: tuple[Setup, ...]) -> Sequence[str]:
        if self._differing[0] is not setups:
            self._differing = setups, differences(setups, self._scenarios) if setups else ()
        return self._differing[1]


def bar_view(state: WindowState, sessions: Sessions) -> BarView:
    """Compute what the toolbar shows."""
    kernels = [session.launch.kernel if session else "" for session in sessions]
    named = zip(state.panes, kernels, strict=True)
    names = (launch_name(Path(setup.file), kernel) if setup.file else "" for setup, kernel in named)
    return BarView(state.panes, state.focus, state.shared, tuple(names))


def explain_in_pane(state: WindowState, sessions: Sessions, pane: int) -> Explanation | None:
    """Return the explanation of the traced value in a pane, None without one or while it is being computed."""
    session = sessions[pane] if pane < len(sessions) else None
    if session is None or state.traced is None or state.is_asking:
        return None
    from ..model.value_causes import explanation_of  # the first window shows no path

    selection = state.selections[pane] if pane < len(state.selections) else Selection()
    return explanation_of(session, state.traced, selection, reference_of(sessions, pane))


def side_view(
    state: WindowState,
    sessions: Sequence[Session],
    highlights: Sequence[Highlight | None],
    explanation: Explanation | None = None,
) -> SideView:
    """Compute what the inspector shows of these sessions, with the highlights of the panes.

    explanation: of the pane in focus.
    """
    highlight = highlights[state.focus] if highlights else None
    other = highlights[1 - state.focus] if len(highlights) == 2 else None
    has_order = state.focus < len(state.panes) and state.panes[state.focus].schedule.kind == "order"
    counts_findings = not state.is_asking and (state.tab == "findings" or not state.is_lecture)
    pane_name = PANE_NAMES[state.focus] if len(state.panes) > 1 else ""
    return SideView(
        state.tab, state.colour_by, state.shows_fates, tuple(sessions), highlight, other, state.traced,
        explanation, has_order, counts_findings, pane_name,
    )  # fmt: skip


def layout_view(state: WindowState) -> LayoutView:
    """Compute what the arrangement of the window depends on."""
    return LayoutView(
        state.layout, state.side, state.shows_bar, state.is_picture_only, state.side_share, state.focus,
        len(state.panes), bool(state.chart),
    )  # fmt: skip
