"""The time axis of timelines: moments, or the clock of a GPU for launches that were recorded there."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QObject, Signal

from ...tracer.hardware.timeline import Timeline
from ..model.bookmark import TimeChoice
from ..model.session import Session

NOT_RECORDED = "by moments: no GPU's clock was recorded for this launch"


class TimelineClocks(QObject):
    """The choice between moments and GPU time. changed: the user has made another choice."""

    changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.choice: TimeChoice = "moments"

    def choose(self, choice: TimeChoice) -> None:
        """Show moments with equal widths, or with the durations that a GPU needed."""
        if choice != self.choice:
            self.choice = choice
            self.changed.emit()

    def toggle(self) -> None:
        """Switch between moments and GPU time."""
        self.choose("moments" if self.choice == "measured" else "measured")

    @property
    def is_stretched(self) -> bool:
        """True if GPU time is shown."""
        return self.choice == "measured"


def recorded_of(sessions: Sequence[Session | None]) -> list[Timeline | None]:
    """Look up the recorded timeline of each session's launch, None where there is none.

    This computer's own recordings come before those included with Tilescope. The first call reads files.
    """
    from ...tracer.hardware.recorded_timelines import timelines_of_launch  # the window starts without it

    recordings = [
        timelines_of_launch(s.launch) if s is not None and s.scenario is not None else [] for s in sessions
    ]
    return [timelines[0] if timelines else None for timelines in recordings]
