"""The row below the timeline: play, steps, speed, loop, link, position, and legend."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QWidget

from ...tracer.analysis.requests import REQUEST_KINDS
from ..control.playhead import DEFAULT_SPEED, SPEEDS
from ..model.bookmark import Link
from ..model.session import Session
from ..state.view_models import TransportView
from ..views.common.heat import EXPLANATIONS, HEATS
from ..views.common.wording import coordinates_text
from ..widgets.controls import UNBOUND, Chip, Combo, Themed, button, mark, paint_icon
from ..widgets.flow_layout import FlowLayout
from ..widgets.patterns import EXCHANGE, WAITING
from ..widgets.plain_text import plain_tip
from ..widgets.theme import Theme
from .legend import LabelLength, Legend
from .position_label import PositionLabel, position_text

# (name of the button and its command, icon, tooltip)
STEPS = (
    ("Start", "first", "Start (Home)"),
    ("Previous phase", "previous-phase", "Previous phase (Shift+Left)"),
    ("Previous moment", "previous", "Previous moment (Left)"),
    ("Next moment", "next", "Next moment (Right)"),
    ("Next phase", "next-phase", "Next phase (Shift+Right)"),
    ("End", "last", "End (End)"),
)


COLOURS = {  # the list of what colours the cells, in the order of key C
    "auto": "automatic",
    "value": "values",
    "reads": "reads",
    **{name: HEATS[name] for name in HEATS},
}
PLAY = "Play or pause"  # the name of the command
SLIM = 22  # pixels: the height of the widgets in a lecture


class TransportDetail(NamedTuple):
    """The parts that the row shows at some width."""

    labels: LabelLength = "all"  # of the legend
    captions: bool = True  # of the speed and the link
    where: bool = True  # the block and the phase next to the moment
    link: bool = True  # of the panes
    legend: bool = True  # of the colours
    colour: bool = True  # the list of what colours the cells
    loop: bool = True  # the button; its key always works
    ends: bool = True  # the buttons for start, end and loop; their keys always work
    speed: bool = True  # moments a second


LECTURE_DETAILS = (  # in a lecture, which keeps the colours' meanings
    TransportDetail(speed=False, link=False),
    TransportDetail("some", speed=False, link=False),
    TransportDetail("some", speed=False, link=False, where=False),
    TransportDetail("none", speed=False, link=False, where=False),
    TransportDetail("none", speed=False, link=False, where=False, ends=False),
)
DETAILS = (  # from a wide row to a narrow one
    TransportDetail(),
    TransportDetail("some"),
    TransportDetail("some", captions=False),
    TransportDetail("some", captions=False, where=False),
    TransportDetail("some", captions=False, where=False, link=False, loop=False),
    TransportDetail("some", captions=False, where=False, colour=False, link=False),
    TransportDetail("some", captions=False, where=False, colour=False, link=False, speed=False),
    TransportDetail("some", captions=False, where=False, colour=False, link=False, speed=False, ends=False),
    TransportDetail("none", captions=False, where=False, colour=False, link=False),
    TransportDetail("none", captions=False, where=False, colour=False, link=False, legend=False),
    TransportDetail("none", captions=False, where=False, colour=False, link=False, legend=False, ends=False),
)


class TransportRequests(NamedTuple):
    """What the row calls when the user asks for something."""

    run: Callable[[str], object]  # a command of the window, by its name
    set_speed: Callable[[float], object]
    set_loop: Callable[[bool], object]
    link: Callable[[Link], object]
    colour: Callable[[str], object]  # the cells, by one of COLOURS


class Transport(QFrame):
    """Buttons for the playhead; it renders a `TransportView`, and the position at every frame."""

    def __init__(self, theme: Theme, ask: TransportRequests, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.theme, self._ask = theme, ask
        self.is_picture = False  # whether it is printed, so that it offers no choices of colours
        self.setObjectName("transport")
        self.flow = FlowLayout(self)
        self._build_buttons()
        self._build_choices()
        self.position = PositionLabel(theme)
        self.flow.add(self.position)
        self.flow.add(self.colour_chip, right=True)
        self.legend = Legend(theme)
        self.flow.add(self.legend, right=True)

    def _build_buttons(self) -> None:
        self.play = button("Play", "Play or pause (Space)", "play", "Play", partial(self._ask.run, PLAY))
        self.play.setObjectName("primary")
        buttons = [
            button(name, tip, picture, run=partial(self._ask.run, name)) for name, picture, tip in STEPS
        ]
        self.steps = (*buttons[:3], self.play, *buttons[3:])
        for widget in self.steps:
            self.flow.add(widget)

    def _build_choices(self) -> None:
        self.speed = Combo("Speed in moments per second")
        self.speed.offer([(f"{speed} / s", float(speed)) for speed in SPEEDS], DEFAULT_SPEED)
        self.speed.picked = lambda speed: self._ask.set_speed(float(str(speed)))
        self.link = Combo("Link the panes by")
        self.link.offer([("progress", "progress"), ("moment", "moment")], "progress")
        self.link.picked = self._ask.link
        self.loop = button("Loop", "Repeat from the start (L)", "loop")
        self.loop.setCheckable(True)
        self.loop.clicked.connect(self._ask.set_loop)
        self.link_chip = Chip("Link", [self.link])
        self.linked, self.slim = True, False
        self._shown: tuple[TransportDetail, bool] | None = None
        self._wanted = DETAILS[0], True
        self._is_fitting = False
        self.speed_chip = Chip("Speed", [self.speed])
        for widget in (self.speed_chip, self.loop, self.link_chip):
            self.flow.add(widget)
        self.colour = Combo("Colour of the cells")
        tips: dict[object, str] = {name: f"{HEATS[name]}: {text}" for name, text in EXPLANATIONS.items()}
        self.colour.offer([(text, name) for name, text in COLOURS.items()], "auto", tips)
        self.colour.setToolTip("What the colours of the cells mean (C)")
        self.colour.picked = self._ask.colour
        self.colour_chip = Chip("Colour", [self.colour])

    def render_view(self, view: TransportView) -> None:
        """Show the state of the playhead, the link of the panes and the colouring."""
        self.play.setProperty("picture", "pause" if view.is_playing else "play")
        self.play.setText("Pause" if view.is_playing else "Play")
        self.play.setAccessibleName(self.play.text())
        paint_icon(self.play, self.theme)
        self.loop.setChecked(view.loop)
        if self.speed.currentData() != view.speed:
            self._show_speed(view.speed)
        self.speed.setToolTip(plain_tip(_speed_tip(view)))
        self.link.choose(view.link)
        self.colour.choose(view.colour_by)
        self.linked = view.is_linked
        self._fit(self.width())

    def _show_speed(self, speed: float) -> None:
        if self.speed.findData(speed) < 0:
            self.speed.addItem(f"{speed:,.0f} / s" if speed >= 1000 else f"{speed:g} / s", speed)
        self.speed.choose(speed)

    def serve(self, sessions: Sequence[Session], panes: Sequence[str] = ()) -> None:
        """Show the legend of these sessions, and reserve space for the largest numbers of the position.

        panes: their names.
        """
        kinds = {
            kind for s in sessions for kind in np.flatnonzero(np.bincount(s.requests.kind)).tolist()
        }  # a set of millions of requests would be slow
        exchanges = any(len(session.requests.exchanges) for session in sessions)
        barriers = any(len(session.trace.barriers.step) for session in sessions)
        self.legend.show_kinds(
            [REQUEST_KINDS[kind] for kind in sorted(kinds)] + [EXCHANGE] * exchanges + [WAITING] * barriers
        )
        end = max((session.end for session in sessions), default=0)
        lasts = [
            coordinates_text(int(s.trace.blocks[-1]), s.trace.grid) for s in sessions if len(s.trace.blocks)
        ]
        last = max(lasts, key=len, default="")
        phases = max((session.requests.span_start.shape[-1] for session in sessions), default=1)
        where = f"work-group {last} · phase {phases}"  # the longer of the two terms
        longest = max(panes, key=len, default="") if len(sessions) > 1 else ""
        self.position.keep_room_for(position_text(end, end, longest), where)
        self._fit(self.width())

    def show_as_picture(self) -> None:
        """Show only what a printed picture needs."""
        self.position.hint, self.is_picture = "", True

    def set_slim(self, slim: bool) -> None:
        """Make the row low for a lecture, without speed and link, which have keys; or restore it."""
        self.flow.unsetContentsMargins()
        side = self.flow.contentsMargins().left()  # the style's default
        edge = self.theme.px(1) if slim else side
        self.flow.setContentsMargins(side, edge, side, edge)
        for widget in (*self.steps, self.loop, self.position, self.legend):
            widget.setMaximumHeight(self.theme.px(SLIM) if slim else UNBOUND)
            mark(widget, "slim", slim)
        self.colour_chip.setMinimumHeight(
            self.theme.px(SLIM) if slim else 0
        )  # the list may not know yet that it is slim
        self.colour_chip.setMaximumHeight(self.theme.px(SLIM) if slim else UNBOUND)
        self.colour_chip.row.setContentsMargins(9, 0 if slim else 2, 4, 0 if slim else 2)
        mark(self.colour, "slim", slim)
        if slim != self.slim:
            self.slim = slim
            self._fit(self.width())

    def heightForWidth(self, width: int) -> int:
        """Return the height for a width, at which the parts that do not fit in one row are hidden."""
        fits = self._needed(self._detail_at(width)) <= width
        return self.flow.heightForWidth(UNBOUND if fits else width)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Fit the parts into one row."""
        super().resizeEvent(event)
        self._fit(self.width())

    def _fit(self, width: int) -> None:
        """Hide as few parts as needed for one row."""
        self._wanted = self._detail_at(width), self.linked
        if self._is_fitting:  # a part that appears makes Qt lay out the row at once, and resize it
            return
        self._is_fitting = True
        while self._wanted != self._shown:
            self._shown = self._wanted
            self._show_detail(self._wanted[0])
        self._is_fitting = False

    def _detail_at(self, width: int) -> TransportDetail:
        """Return the parts of one row of a width, or the fewest if none fit."""
        details = LECTURE_DETAILS if self.slim else DETAILS
        return next((detail for detail in details if self._needed(detail) <= width), details[-1])

    def _needed(self, detail: TransportDetail) -> int:
        """Compute the width of these parts in one row."""
        chips = [self.speed_chip] * detail.speed + [self.link_chip] * (self.linked and detail.link)
        buttons = [*self.steps] if detail.ends else [*self.steps[1:-1]]
        buttons += [self.loop] * (detail.ends and detail.loop)
        widths = [widget.sizeHint().width() for widget in buttons]
        widths += [chip.width_with(detail.captions) for chip in chips]
        widths += [self.position.width_with(detail.where)]
        has_colour = detail.colour and not self.is_picture
        widths += [self.colour_chip.width_with(True)] if has_colour else []
        widths += [self.legend.width_with(detail.labels)] if detail.legend else []
        return sum(widths) + self.flow.spacing() * len(widths) + margins_of(self.flow)

    def _show_detail(self, detail: TransportDetail) -> None:
        self.legend.set_labels(detail.labels)
        self.legend.setVisible(detail.legend)
        self.colour_chip.setVisible(detail.colour and not self.is_picture)
        for chip in (self.speed_chip, self.link_chip):
            chip.caption.setVisible(detail.captions)
        for end in (self.steps[0], self.steps[-1]):
            end.setVisible(detail.ends)
        self.loop.setVisible(detail.ends and detail.loop)
        self.position.show_quiet(detail.where)
        self.speed_chip.setVisible(detail.speed)
        self.link_chip.setVisible(self.linked and detail.link)

    def set_theme(self, theme: Theme) -> None:
        """Apply colours and text size."""
        self.theme = theme
        for target in (*self.steps, self.loop):
            paint_icon(target, theme)
        self.flow.setSpacing(theme.px(6))
        parts: tuple[Themed, ...] = (self.position, self.legend)
        for part in parts:
            part.set_theme(theme)
        self._fit(self.width())


def _speed_tip(view: TransportView) -> str:
    """Build the tooltip of the speed, with the reason for an automatic one."""
    tip = "Speed in moments per second ([ and ])"
    if view.is_speed_chosen or view.speed == DEFAULT_SPEED:
        return tip
    return f"{tip}. Set so that the {view.end:,.0f} moments play within a minute."


def margins_of(flow: FlowLayout) -> int:
    """Return the width of the margins of a row."""
    margins = flow.contentsMargins()
    return margins.left() + margins.right()
