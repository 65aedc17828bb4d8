"""The colouring of cells: the key that changes it, and the return to the automatic one."""

from __future__ import annotations

from ..control.stage import Stage
from ..control.start_moment import kernels_of
from ..model.bookmark import COLOUR_BY
from ..state.actions import ColourBy
from ..views.common.heat import EXPLANATIONS, HEATS, heat_of
from ..widgets.notice import Notice

NAMES = {"auto": "the default of each buffer", "value": "value", "reads": "times read so far"}


class Colouring:
    """Changes the colouring of the panes, and resets it if it is empty for a new kernel."""

    def __init__(self, stage: Stage, notice: Notice) -> None:
        self.stage, self.store, self.notice = stage, stage.store, notice
        self._before: frozenset[tuple[str, str]] | None = None  # (scenario, kernel) pairs before a change
        stage.settled.connect(self._reconsider)
        stage.jobs.examined.connect(lambda _session: self._reconsider())

    @property
    def colour(self) -> str:
        """The current colouring."""
        return self.store.state.colour_by

    def next(self) -> None:
        """Switch to the next colouring: automatic, value, times read, or a heat."""
        self.choose(COLOUR_BY[(COLOUR_BY.index(self.colour) + 1) % len(COLOUR_BY)])
        heat = HEATS.get(self.colour, "")
        heat_text = f"Cells and lines show {heat} so far: {EXPLANATIONS[self.colour]}." if heat else ""
        self.notice.inform(heat_text or f"Cells are coloured by {NAMES[self.colour]}.")

    def choose(self, colour: str) -> None:
        """Colour the cells by one of COLOUR_BY."""
        self.keep()
        self.store.dispatch(ColourBy(colour))

    def keep(self) -> None:
        """Keep the colouring for all kernels, since it was chosen for them."""
        self._before = None

    def leave(self) -> None:
        """Note the shown kernels before a change."""
        self._before = kernels_of(self.stage.sessions)

    def _reconsider(self) -> None:
        shown = self.stage.sessions
        sessions = [session for session in shown if session is not None]
        new = self._before is not None and bool(kernels_of(shown) - self._before)
        findings_are_ready = self.colour != "races" or all(session.is_examined for session in sessions)
        if not (new and findings_are_ready and self.colour in HEATS):
            return
        if not any(len(heat_of(session, self.colour).rows) for session in sessions):
            self.store.dispatch(ColourBy("auto"))
