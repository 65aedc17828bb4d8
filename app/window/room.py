"""How the main window shares its room: read as plain values, and taken over."""

from __future__ import annotations

from ..model.bookmark import Room
from .central_widget import BAR, CentralWidget


def room_of(central: CentralWidget) -> Room:
    """Return what the user gave the parts by hand."""
    bar = not central.toolbar.isHidden()
    return Room(
        columns=tuple(central.across.sizes()) if central.width_moved else (),
        rows=tuple(central.down.sizes()) if central.foot_moved else (),
        ranges=tuple(timeline.chosen_range() for timeline in central.timelines),
        bar=None if bar == BAR[central.layout_choice] else bar,
    )


def take_room(central: CentralWidget, room: Room) -> None:
    """Share the room so, in a window that is shown and has its size."""
    if room.bar is not None and room.bar == central.toolbar.isHidden():
        central.toggle_bar()
    central.share_by_hand(room.columns, room.rows)
    for timeline, chosen in zip(central.timelines, room.ranges, strict=False):
        if chosen is not None:
            timeline.set_x_range(*chosen)
