"""What colours the cells: the key that changes it, and when it goes back to what suits each buffer."""

from __future__ import annotations

from collections.abc import Callable

from ..control.stage import Stage
from ..control.start_moment import kernels_of
from ..views.common.heat import HEATS, heat_of
from ..views.memory.view_data import COLOUR_BY
from .central_widget import CentralWidget

NAMES = {"auto": "what suits each buffer", "value": "value", "reads": "times read so far"}


class Colouring:
    """Changes the colouring of the panes; what tells nothing of another kernel does not stay for it.

    draw: draws the moment anew.
    """

    def __init__(self, stage: Stage, central: CentralWidget, draw: Callable[[], None]) -> None:
        self.stage, self.central, self.draw = stage, central, draw
        self._before: frozenset[tuple[str, str]] | None = None  # kernels from which the user turned to others
        stage.settled.connect(self._reconsider)
        stage.jobs.examined.connect(lambda _session: self._reconsider())

    def next(self) -> None:
        """Colour the cells, and count the lines, by the next of: what suits each buffer, value, times read, heat."""
        central = self.central
        self.keep()
        central.colour_by(COLOUR_BY[(COLOUR_BY.index(central.colour) + 1) % len(COLOUR_BY)])
        heat = HEATS.get(central.colour, "")
        heat_text = f"Cells and lines show {heat} so far." if heat else ""
        central.notice.inform(heat_text or f"Cells are coloured by {NAMES[central.colour]}.")
        self.draw()

    def keep(self) -> None:
        """Keep the colouring, whatever is shown: somebody chose it for that."""
        self._before = None

    def leave(self) -> None:
        """Take note that the user turns to something else."""
        self._before = kernels_of(self.stage.sessions)

    def _reconsider(self) -> None:
        central, shown = self.central, self.stage.sessions
        sessions = [session for session in shown if session is not None]
        new = self._before is not None and bool(kernels_of(shown) - self._before)
        known = central.colour != "races" or all(session.is_examined for session in sessions)
        if not (new and known and central.colour in HEATS):
            return
        if not any(len(heat_of(session, central.colour).rows) for session in sessions):
            central.colour_by("auto")
            self.draw()
