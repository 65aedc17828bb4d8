"""What timelines show: moments, or the clocks of a GPU for launches that were recorded there."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QObject, Signal

from ...tracer.hardware.timeline import Timeline
from ..model.bookmark import TimeChoice
from ..model.session import Session

NOT_RECORDED = "by moments: no GPU's clock was recorded for this launch"


class TimelineClocks(QObject):
    """Whether timelines are stretched, and the recordings of what panes show. changed: the choice is another."""

    changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.choice: TimeChoice = "moments"

    def choose(self, choice: TimeChoice) -> None:
        """Show moments, all equally wide, or as long as a GPU took for them."""
        if choice != self.choice:
            self.choice = choice
            self.changed.emit()

    def toggle(self) -> None:
        """Show the other one."""
        self.choose("moments" if self.choice == "measured" else "measured")

    @property
    def is_stretched(self) -> bool:
        """Whether a GPU's clock is wanted."""
        return self.choice == "measured"


def recorded_of(sessions: Sequence[Session | None]) -> list[Timeline | None]:
    """Return what was recorded of each of these launches, this computer's own before what came with Tilescope.

    None where nothing was. Reads files when it is first asked.
    """
    from ...tracer.hardware.recorded_timelines import timelines_of_launch  # the window starts without it

    found = [
        timelines_of_launch(s.launch) if s is not None and s.scenario is not None else [] for s in sessions
    ]
    return [timelines[0] if timelines else None for timelines in found]
