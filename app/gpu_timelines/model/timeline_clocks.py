"""The recorded clocks of a GPU for the shown launches."""

from __future__ import annotations

from collections.abc import Sequence

from ....tracer.hardware.timeline import Timeline
from ...model.session import Session

NOT_RECORDED = "by moments: no GPU's clock was recorded for this launch"


def recorded_of(sessions: Sequence[Session | None]) -> list[Timeline | None]:
    """Look up the recorded timeline of each session's launch, None where there is none.

    This computer's own recordings come before those included with Tilescope. The first call reads files.
    """
    from ....tracer.hardware.recorded_timelines import timelines_of_launch  # the window starts without it

    recordings = [
        timelines_of_launch(s.launch) if s is not None and (s.scenario is not None or s.is_cuda_cpp) else []
        for s in sessions
    ]
    return [timelines[0] if timelines else None for timelines in recordings]
