"""The row under the timeline: play, step, speed, loop, link, where we are, and what the colours mean."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QPushButton, QWidget

from ..tracer.requests import KINDS
from .bookmark import Link
from .controls import Chip, Combo, Themed, button, paint_icon
from .flow import FlowLayout
from .legend import LegendItem
from .playhead import SPEEDS, Playhead
from .position import Position
from .session import Session
from .theme import Theme
from .views.wording import place_text

# name, icon, tip, and the command that the window carries out
STEPS = (
    ("Start", "first", "Start (Home)"),
    ("Previous phase", "previous-phase", "Previous phase (Shift+Left)"),
    ("Previous moment", "previous", "Previous moment (Left)"),
    ("Next moment", "next", "Next moment (Right)"),
    ("Next phase", "next-phase", "Next phase (Shift+Right)"),
    ("End", "last", "End (End)"),
)


class Transport(QFrame):
    """Buttons for the playhead; `command` names what is wanted, as the actions of the window are named."""

    command = Signal(str)
    link_asked = Signal(str)

    def __init__(self, playhead: Playhead, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.playhead, self.theme = playhead, theme
        self.setObjectName("transport")
        self.flow = FlowLayout(self)
        self._build_buttons()
        self._build_choices()
        self.position = Position(theme)
        self.flow.add(self.position)
        self.legend: list[LegendItem] = []
        self.with_legend = True
        playhead.changed.connect(self.refresh)
        self.refresh()

    def _build_buttons(self) -> None:
        self.play = button("Play", "Play or pause (Space)", "play", "Play", self.playhead.toggle)
        self.play.setObjectName("primary")
        made = [
            button(name, tip, picture, run=partial(self.command.emit, name)) for name, picture, tip in STEPS
        ]
        for widget in (*made[:3], self.play, *made[3:]):
            self.flow.add(widget)

    def _build_choices(self) -> None:
        self.speed = Combo("Speed in moments a second")
        self.speed.offer([(f"{speed} / s", float(speed)) for speed in SPEEDS], self.playhead.speed)
        self.speed.picked.connect(lambda speed: self.playhead.set_speed(float(str(speed))))
        self.link = Combo("Link the panes by")
        self.link.offer([("progress", "progress"), ("moment", "moment")], "progress")
        self.link.picked.connect(lambda mode: self.link_asked.emit(str(mode)))
        self.loop = button("Loop", "Start again at the end (L)", "loop")
        self.loop.setCheckable(True)
        self.loop.clicked.connect(self.playhead.set_loop)
        self.link_chip = Chip("Link", [self.link])
        for widget in (Chip("Speed", [self.speed]), self.loop, self.link_chip):
            self.flow.add(widget)

    def refresh(self) -> None:
        """Show what the playhead does."""
        playing = self.playhead.playing
        if self.play.property("picture") != ("pause" if playing else "play") or not self.play.text():
            self.play.setProperty("picture", "pause" if playing else "play")
            self.play.setText("Pause" if playing else "Play")
            self.play.setAccessibleName(self.play.text())
            paint_icon(self.play, self.theme)
        self.loop.setChecked(self.playhead.loop)
        if self.speed.currentData() != self.playhead.speed:
            self._show_speed(self.playhead.speed)

    def _show_speed(self, speed: float) -> None:
        if self.speed.findData(speed) < 0:
            self.speed.addItem(f"{speed:g} / s", speed)
        self.speed.choose(speed)

    def serve(self, sessions: Sequence[Session]) -> None:
        """Say what the colours of these sessions mean, and keep room for the largest numbers of the position."""
        made = {kind for session in sessions for kind in set(session.requests.kind.tolist())}
        barriers = any(len(session.trace.barriers.step) for session in sessions)
        self.show_kinds([KINDS[kind] for kind in sorted(made)] + ["waiting"] * barriers)
        end = max((session.end for session in sessions), default=0)
        lasts = [place_text(int(s.trace.blocks[-1]), s.trace.grid) for s in sessions if len(s.trace.blocks)]
        last = max(lasts, key=len, default="")
        phases = max((session.requests.span_start.shape[-1] for session in sessions), default=1)
        place = f"work-group {last} · phase {phases}"  # the longer of two words
        self.position.keep_room_for(f"moment {end:,} of {end:,}", place)

    def show_kinds(self, kinds: Iterable[str]) -> None:
        """Say what these kinds look like."""
        kinds = list(kinds)
        if kinds == [item.kind for item in self.legend]:
            return
        for old in self.legend:
            self.flow.removeWidget(old)
            old.deleteLater()
        self.legend = [LegendItem(kind, self.theme) for kind in kinds]
        for item in self.legend:
            self.flow.add(item, right=True)
            item.setVisible(self.with_legend)

    def show_legend(self, shown: bool) -> None:
        """Show what the colours mean, or not."""
        self.with_legend = shown
        for item in self.legend:
            item.setVisible(shown)

    def show_link(self, mode: Link, linked: bool) -> None:
        """Show how the panes are linked; `linked` is whether there are two."""
        self.link.choose(mode)
        self.link_chip.setVisible(linked)

    def set_theme(self, theme: Theme) -> None:
        """Take colours and text size."""
        self.theme = theme
        for target in self.findChildren(QPushButton):
            paint_icon(target, theme)
        self.flow.setSpacing(theme.px(6))
        parts: tuple[Themed, ...] = (self.position, *self.legend)
        for part in parts:
            part.set_theme(theme)
