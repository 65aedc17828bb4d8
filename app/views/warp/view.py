"""The warp view: 32 lanes and their sectors or banks, for the current request or the most wasteful one."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtGui import QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import (
    QButtonGroup,
    QFrame,
    QHBoxLayout,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from ....tracer.model.array_types import Ints
from ....tracer.model.trace import WARP
from ...model.session import Selection, Session
from ...model.spotlight import Highlight
from ...widgets.flow_layout import FlowLayout
from ...widgets.patterns import EXCHANGE, swatch
from ...widgets.plain_text import PlainLabel, RichLabel, markup, plain_tip
from ...widgets.theme import Theme, text_palette
from ..common.activity import BlockActivity, WarpActivity, block_activity, warp_activity, warp_status
from ..common.descriptions import exchange_text
from ..common.exchange_paint import exchange_data, lane_role_text
from ..common.heat import waste_of
from ..common.view import View
from ..common.wording import EXACT, MEASURED, block_text
from . import lanes_text as words
from .lanes import Lanes, idle_lanes, lanes_of
from .picture import WarpPicture

ROOM = 460  # the height from which texts are below the picture
CHOICES = {"now": "Now", "worst": "Worst of this line"}
STATES = {
    "absent": "The trace holds no accesses of this block",
    "before": "Its block has not started",
    "exchange": "Its lanes exchange values",
    "waiting": "It waits at the barrier",
    "idle": "No access at this moment",
    "after": "It has finished",
}


class WarpView(View):
    """Shows the memory request of the selected thread's warp. A click on a lane selects its thread."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        self._choice = "now"
        self._activity: tuple[Selection, BlockActivity, WarpActivity] | None = None
        self._shown: Lanes | None = None
        self.picture = WarpPicture(theme)
        self.title, self.warp_label, self.state, self.description = (PlainLabel() for _ in range(4))
        self.figures = RichLabel()
        self.sign = PlainLabel()
        self.buttons = QButtonGroup(self)
        self.go = QPushButton("Go there")
        self._build()
        self.set_theme(theme)

    def _build(self) -> None:
        for label in (self.title, self.warp_label, self.figures, self.state, self.description):
            label.setWordWrap(True)
            label.setMinimumWidth(1)
            label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.description.setAlignment(Qt.AlignmentFlag.AlignTop)
        self.go.clicked.connect(self._go)
        self.picture.lane_asked = self._ask
        self.picture.pointed = lambda *_: self._show_description()
        page = QWidget()
        self._column = QVBoxLayout(page)
        self._column.addLayout(self._bar())
        self._column.addLayout(self._head())
        for part in (self.warp_label, self.figures, self.state):
            self._column.addWidget(part)
        self._column.addWidget(self.picture, 1)
        self._column.addWidget(self.description)
        self._area = QScrollArea(self)
        self._area.setWidgetResizable(True)
        self._area.setFrameShape(QFrame.Shape.NoFrame)
        self._area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._area.setWidget(page)
        for widget in (self._area.viewport(), page):
            widget.setAutoFillBackground(False)  # the view itself paints the panel
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self._area)

    def _bar(self) -> FlowLayout:
        row = FlowLayout()
        row.setSpacing(4)
        for name, text in CHOICES.items():
            button = QPushButton(text)
            button.setCheckable(True)
            button.setChecked(name == self._choice)
            button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
            button.clicked.connect(lambda _, name=name: self._choose(name))
            self.buttons.addButton(button)
            row.add(button)
        row.add(self.go, right=True)
        return row

    def _head(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.addWidget(self.sign)
        row.addWidget(self.title, 1)
        return row

    @property
    def choice(self) -> str:
        """The shown request: "now", or "worst", the most wasteful one of the same line."""
        return self._choice

    @choice.setter
    def choice(self, choice: str) -> None:
        for button, name in zip(self.buttons.buttons(), CHOICES, strict=True):
            button.setChecked(name == choice)
        self._choose(choice)

    def _choose(self, choice: str) -> None:
        self._choice = choice
        self._show()

    def load(self, session: Session | None) -> None:
        """Load a session."""
        super().load(session)
        self._activity = self._shown = None
        self.setEnabled(session is not None)
        self._show()

    def render_moment(self, moment: float, selection: Selection) -> None:
        """Show the request at a moment."""
        changed = int(moment) != int(self.moment) or selection != self.selection
        super().render_moment(moment, selection)
        if changed:
            self._show()

    def set_theme(self, theme: Theme) -> None:
        """Use another theme or text size."""
        super().set_theme(theme)
        margin = theme.px(12)
        self._column.setContentsMargins(margin, theme.px(8), margin, theme.px(8))
        self._column.setSpacing(theme.px(4))
        self.title.setFont(theme.font(15, bold=True))
        self.figures.setFont(theme.font(14))
        for label in (self.warp_label, self.state, self.description):
            label.setFont(theme.font(12))
        # The picture must not move.
        self.description.setMinimumHeight(3 * self.description.fontMetrics().lineSpacing())
        for part, ink in ((self.title, "text"), (self.figures, "text"), (self.warp_label, "muted"),
                           (self.state, "muted"), (self.description, "text")):  # fmt: skip
            part.setPalette(text_palette(theme, ink))
        for button in (*self.buttons.buttons(), self.go):
            button.setFont(theme.font(12))
        self.description.setVisible(self.height() >= theme.px(ROOM))
        self.picture.set_theme(theme)
        self._show()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Show the texts only as a tooltip if there is little room."""
        super().resizeEvent(event)
        self.description.setVisible(self.height() >= self.theme.px(ROOM))

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the panel behind everything."""
        QPainter(self).fillRect(event.rect(), self.theme.colour("panel"))

    def shows_highlight(self, highlight: Highlight) -> bool:
        """Return True if the shown warp, or a thread of it, is highlighted."""
        return highlight.has_warp_of(self.selection)

    def apply_spotlight(self) -> None:
        """Show the highlighted lanes."""
        self._light()

    def _light(self) -> None:
        """Highlight the lanes of highlighted threads, or all lanes of a highlighted warp."""
        highlight, warp = self.highlight, self.selection.thread // WARP
        threads = (
            highlight.threads
            if highlight is not None and self.shows_highlight(highlight) and warp not in highlight.warps
            else ()
        )
        self.picture.highlight_lanes(frozenset(thread % WARP for thread in threads if thread // WARP == warp))

    def _show(self) -> None:
        """Show the chosen request."""
        self._light()
        lanes, state = self._find_request() if self.session else (None, "")
        self._shown = lanes
        worst = self._choice == "worst"
        self._name_parts()
        self.title.setText(words.title(lanes) if lanes else "")
        self.warp_label.setText(self.reword(words.warp_text(lanes)) if lanes else "")
        self.figures.setText(self._rich(words.figures(lanes)) if lanes else "")
        self.figures.setVisible(bool(lanes and lanes.kind))
        self.state.setText("" if worst else self.reword(state_text(state, lanes)))
        self.state.setVisible(bool(self.state.text()))
        self.go.setVisible(worst and bool(lanes and lanes.kind))
        side = self.theme.px(13)
        kind = lanes.kind if lanes else ""
        self.sign.setPixmap(swatch(kind, side, self.theme, self.devicePixelRatioF()))
        self.sign.setVisible(bool(kind))
        self.sign.setToolTip(plain_tip(self.reword(kind)))
        self.picture.show_lanes(lanes, self._lane(lanes))
        figures = self.reword(words.sentence(words.figures(lanes))) if lanes else ""
        self.setAccessibleDescription(f"{self.title.text()}, {self.warp_label.text()}: {figures}")
        self._show_exchange(state)

    def _show_exchange(self, state: str) -> None:
        """Show a current exchange of the warp's lanes instead of its last request."""
        data = None
        if self.session and state == "exchange" and self._choice == "now":
            exchanges, (warp, lane) = self.session.requests.exchanges, divmod(self.selection.thread, WARP)
            exchange = exchanges.find(self.selection.block, warp, int(self.moment))
            data = exchange_data(exchanges, exchange, lane, self.session.lanes)
            line = self.session.trace.sites[int(exchanges.site[exchange])].line
            self.title.setText(self.reword(f"{data.kind.capitalize()}, line {line}"))
            block = block_text(self.session.trace, self.selection.block)
            self.warp_label.setText(self.reword(f"warp {warp} of {block}, moment {int(self.moment):,}"))
            text = exchange_text(self.session, exchange)
            self.setAccessibleDescription(
                self.reword(f"{self.title.text()}, {self.warp_label.text()}: {text}")
            )
            self.figures.hide()
            self.state.hide()
            self.sign.setPixmap(swatch(EXCHANGE, self.theme.px(13), self.theme, self.devicePixelRatioF()))
            self.sign.setVisible(True)
        self.picture.show_exchange(data)
        self._show_description()

    def _name_parts(self) -> None:
        """Set the accessible names, the tooltips and the theme of the parts."""
        self.setAccessibleName(self.reword("Warp"))
        self.go.setToolTip(plain_tip(self.reword("Go to the moment of this request, and to its warp")))
        self.picture.theme = self.theme

    def _find_request(self) -> tuple[Lanes, str]:
        """Return the request to show, and the state of the warp."""
        assert self.session
        session, chosen = self.session, self.selection
        if self._activity is None or self._activity[0] != chosen:
            warp = warp_activity(session.requests, chosen.block, chosen.thread // WARP)
            self._activity = chosen, block_activity(session, chosen.block), warp
        _, block, warp = self._activity
        now = warp_status(block, warp, session.requests, self.moment)
        request = last_request(warp, int(self.moment))
        if request >= 0 and self._choice == "worst":
            request = worst_request(session, request)
        if request < 0:
            return idle_lanes(session, chosen.block, chosen.thread // WARP), now.state
        if self._shown and self._shown.session is session and self._shown.request == request:
            return self._shown, now.state
        return lanes_of(session, request), now.state

    def _lane(self, lanes: Lanes | None) -> int:
        """Return the selected thread's lane, -1 if another warp is shown."""
        chosen = self.selection
        is_shown = lanes and (lanes.block, lanes.warp) == (chosen.block, chosen.thread // WARP)
        return chosen.thread % WARP if is_shown else -1

    def _show_description(self) -> None:
        """Describe what is under the pointer, else the selected lane."""
        lanes, lane, target = self._shown, self.picture.lane, self.picture.target
        text = ""
        if self.picture.exchange is not None:
            text = lane_role_text(self.picture.exchange)
        elif lanes is not None and target >= 0:
            text = words.target_text(lanes, target)
        elif lanes is not None and max(lane, self.picture.chosen) >= 0:
            text = words.lane_text(lanes, lane if lane >= 0 else self.picture.chosen)
        self.description.setText(self.reword(text))
        self.picture.setToolTip(
            plain_tip("" if self.description.isVisibleTo(self) else self.description.text())
        )

    def _rich(self, figures: list[words.Figure]) -> str:
        colours, px = self.theme.palette, self.theme.px
        parts = [f"<b>{markup(number)}</b> {markup(self.reword(text))}" for number, text in figures]
        look = f"background:{colours.badge}; color:{colours.muted}; font-size:{px(11)}px"
        mark = MEASURED if self.session and self.session.trace.schedule == MEASURED else EXACT
        return f"{' · '.join(parts)} <span style='{look}'>&nbsp;{mark}&nbsp;</span>"

    def _ask(self, lane: int) -> None:
        """Select the thread of a lane."""
        if self._shown:
            self.ask.select(Selection(self._shown.block, self._shown.warp * WARP + lane))

    def _go(self) -> None:
        """Go to the thread and the moment of the shown request."""
        if self.session and self._shown and self._shown.kind:
            self._ask(self._shown.active[0])
            self.ask.seek(float(self.session.requests.moment[self._shown.request]))


def state_text(state: str, lanes: Lanes | None) -> str:
    """Describe the state of a warp without a current request, and whether its last one is shown; "" with one."""
    if state not in STATES or lanes is None:
        return ""
    return f"{STATES[state]}; its last request is shown." if lanes.request >= 0 else f"{STATES[state]}."


def last_request(warp: WarpActivity, moment: int) -> int:
    """Return the request of a warp at a moment or the last before it, -1 before its first."""
    index = int(np.searchsorted(warp.moments, moment, "right")) - 1
    return int(warp.requests[index]) if index >= 0 else -1


def worst_request(session: Session, request: int) -> int:
    """Return the most wasteful request of the same line, the first of several."""
    sites, site = session.trace.sites, session.trace.sites[int(session.requests.site[request])]
    line = [n for n, other in enumerate(sites) if (other.file, other.line) == (site.file, site.line)]
    line_requests: Ints = np.flatnonzero(np.isin(session.requests.site, line))
    sectors, wavefronts = waste_of(session)
    return int(line_requests[np.argmax(sectors[line_requests] + wavefronts[line_requests])])
