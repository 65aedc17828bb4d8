"""The sizes of the main window's parts: read as plain values, and applied."""

from __future__ import annotations

from ..model.bookmark import Room
from ..state.actions import ToggleBar
from .central_widget import CentralWidget


def read_room(central: CentralWidget) -> Room:
    """Read the sizes that the user has changed."""
    state = central.store.state
    bar = not central.toolbar.isHidden()
    return Room(
        columns=tuple(central.across.sizes()) if central.arrangement.width_moved else (),
        rows=tuple(central.down.sizes()) if central.arrangement.height_moved else (),
        ranges=tuple(timeline.chosen_range() for timeline in central.timelines),
        bar=None if bar == (not state.is_lecture) else bar,
    )


def apply_room(central: CentralWidget, room: Room) -> None:
    """Apply these sizes to a window that is shown and has its size."""
    if room.bar is not None and room.bar == central.toolbar.isHidden():
        central.store.dispatch(ToggleBar())
        central.store.render()
    central.arrangement.set_splitter_sizes(room.columns, room.rows)
    for timeline, chosen in zip(central.timelines, room.ranges, strict=False):
        if chosen is not None:
            timeline.set_x_range(*chosen)
