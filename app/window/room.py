"""The sizes of the main window's parts: read as plain values, and applied."""

from __future__ import annotations

from ..model.bookmark import Room
from .central_widget import BAR, CentralWidget


def read_room(central: CentralWidget) -> Room:
    """Read the sizes that the user has changed."""
    bar = not central.toolbar.isHidden()
    return Room(
        columns=tuple(central.across.sizes()) if central.width_moved else (),
        rows=tuple(central.down.sizes()) if central.foot_moved else (),
        ranges=tuple(timeline.chosen_range() for timeline in central.timelines),
        bar=None if bar == BAR[central.layout_choice] else bar,
    )


def apply_room(central: CentralWidget, room: Room) -> None:
    """Apply these sizes to a window that is shown and has its size."""
    if room.bar is not None and room.bar == central.toolbar.isHidden():
        central.toggle_bar()
    central.set_splitter_sizes(room.columns, room.rows)
    for timeline, chosen in zip(central.timelines, room.ranges, strict=False):
        if chosen is not None:
            timeline.set_x_range(*chosen)
