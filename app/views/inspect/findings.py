"""The findings: everything worth telling about a launch, worst first; a click goes there."""

from __future__ import annotations

from collections import Counter

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import (
    QFrame,
    QLineEdit,
    QListWidgetItem,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from ....tracer.model.finding import FINDING_KINDS, SEVERITIES, Finding, source_location
from ...model.session import Selection, Session, count_of, known_of
from ...widgets.controls import Combo
from ...widgets.flow_layout import FlowLayout
from ...widgets.plain_text import PlainLabel, plain_tip
from ...widgets.theme import Theme, ink_palette
from ..common.severity import sign_icon
from ..common.view import View
from ..common.wording import plural
from .findings_list import FindingsList, source_of
from .page_dialog import PageDialog
from .race_card import RaceCard, shown_access

NONE = "No findings: no error was found, and nothing is wasted that could be told."
NO_MATCH = "No finding passes the filter."
LOOKING = "Looking for what is worth telling …"


class FindingsView(View):
    """A filter, the list, and for a race a card below it. It asks for the line of the finding that was clicked."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        self.setAccessibleName("Findings")
        self.list, self.card, self.empty = FindingsList(theme), RaceCard(theme), PlainLabel()
        self.severities = {name: QPushButton() for name in SEVERITIES}
        self.kind, self.text = Combo("Kind of finding"), QLineEdit()
        self.page: PageDialog | None = None
        self._build()
        self.set_theme(theme)
        self._show()

    def _build(self) -> None:
        bar = FlowLayout()
        bar.setSpacing(4)
        for name, button in self.severities.items():
            button.setCheckable(True)
            button.setChecked(True)
            button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
            button.setToolTip(plain_tip(f"Show {name}s"))
            button.toggled.connect(lambda _: self._show())
            bar.add(button)
        self.kind.picked.connect(lambda _: self._show())
        self.text.setAccessibleName("Text to look for")
        self.text.setPlaceholderText("Find text")
        self.text.setClearButtonEnabled(True)
        self.text.textChanged.connect(lambda _: self._show())
        bar.add(self.kind)
        bar.add(self.text)
        self.empty.setWordWrap(True)
        self.empty.setAlignment(Qt.AlignmentFlag.AlignTop)
        self.list.itemClicked.connect(self._go)
        self.list.itemActivated.connect(self._go)
        self.list.currentItemChanged.connect(lambda *_: self._show_card())
        self.list.page_asked.connect(self._show_page)
        self.list.setToolTip(plain_tip('Click "?" or press ? to read about a finding'))
        self.card.access_asked.connect(self._look)
        self._column, self._bar = QVBoxLayout(self), bar
        self._column.addLayout(bar)
        self._column.addWidget(self.empty, 1)
        self._column.addWidget(self.list, 1)
        self._area = QScrollArea()
        self._area.setWidgetResizable(True)
        self._area.setFrameShape(QFrame.Shape.NoFrame)
        self._area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._area.setWidget(self.card)
        for widget in (self._area.viewport(), self.card):
            widget.setAutoFillBackground(False)  # the view itself paints the panel
        self._column.addWidget(self._area)

    def load(self, session: Session | None) -> None:
        """Take a session, and its findings where they are known; load it again when they are."""
        chosen_before = self.chosen() if session is self.session else None
        self.list.show_findings(None, ())
        super().load(session)
        kinds = Counter(found.kind for found in known_of(session))
        items: list[tuple[str, object]] = [("All kinds", "")]
        items += [(f"{kind.capitalize()} {kinds[kind]}", kind) for kind in FINDING_KINDS if kinds[kind]]
        chosen = self.kind.currentData()
        self.kind.offer(items, chosen if kinds[chosen] else "")
        self._show()
        self.list.choose(chosen_before)

    def set_theme(self, theme: Theme) -> None:
        """Take other colours or another text size."""
        super().set_theme(theme)
        margin = theme.px(12)
        self._column.setContentsMargins(0, theme.px(8), 0, 0)
        self._column.setSpacing(theme.px(6))
        self._bar.setContentsMargins(margin, 0, margin, 0)
        self.empty.setMargin(margin)
        self.empty.setFont(theme.font(13))
        self.empty.setPalette(ink_palette(theme, "muted"))
        self.text.setFont(theme.font(12))
        self.text.setFixedWidth(theme.px(120))
        self.kind.setFont(theme.font(12))
        for name, button in self.severities.items():
            button.setFont(theme.font(12))
            button.setIcon(sign_icon(name, theme, theme.px(14)))
            button.setIconSize(QSize(theme.px(14), theme.px(14)))
        self.list.set_theme(self.theme)
        self.card.set_theme(self.theme)
        chosen = self.chosen()
        self._show()
        self.list.choose(chosen)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the panel behind everything."""
        QPainter(self).fillRect(event.rect(), self.theme.colour("panel"))

    def count(self) -> dict[str, int]:
        """Return how many findings there are of each severity."""
        return count_of(self.session)

    def chosen(self) -> Finding | None:
        """Return the finding whose row is chosen."""
        return self.list.chosen()

    def _show(self) -> None:
        """List what passes the filter."""
        found = known_of(self.session)
        shown = [finding for finding in found if self._passes(finding)]
        self.list.delegate.theme = self.card.theme = self.theme
        self.list.show_findings(self.session, shown)
        self.list.setVisible(bool(shown))
        self.empty.setVisible(not shown)
        self.kind.setVisible(bool(found))
        self.text.setVisible(bool(found))
        nothing = NONE if self.session and self.session.is_examined else LOOKING
        self.empty.setText("" if not self.session else NO_MATCH if found else nothing)
        self._show_card()
        count = self.count()
        for name, button in self.severities.items():
            button.setText(str(count[name]))
            button.setVisible(bool(count[name]))
            button.setAccessibleName(plural(count[name], name))
        self.setAccessibleDescription(", ".join(plural(count[name], name) for name in SEVERITIES))

    def _show_card(self) -> None:
        """Show the chosen finding's card, if it has one, in the room that the finding leaves, at least a third."""
        self.card.show_race(self.session, self.chosen())
        shown = self.card.isVisibleTo(self._area)
        self._area.setVisible(shown)
        if shown:
            tall, row = self.card.heightForWidth(max(1, self.width())), self.list.currentRow()
            above = self._bar.heightForWidth(self.width()) + 2 * self._column.spacing() + self.theme.px(8)
            left = self.height() - above - self.list.sizeHintForRow(row)
            self._area.setFixedHeight(min(tall, max(left, self.height() // 3)))
            self._column.activate()  # so that the list knows its height
        if self.list.currentItem():
            hints = FindingsList.ScrollHint
            self.list.scrollToItem(
                self.list.currentItem(), hints.PositionAtTop if shown else hints.EnsureVisible
            )

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Give the card the height that its text needs at this width."""
        super().resizeEvent(event)
        self._show_card()

    def _passes(self, finding: Finding) -> bool:
        """Return whether a finding is of a wanted severity and kind and holds the text, in any case."""
        assert self.session
        kind, text = self.kind.currentData(), self.text.text().casefold()
        wanted = self.severities[finding.severity].isChecked() and (not kind or finding.kind == kind)
        line, code = source_of(self.session, finding)
        return wanted and text in f"{finding.kind} {self.say(finding.message)} {line} {code}".casefold()

    def _go(self, item: QListWidgetItem) -> None:
        """Ask for the moment, thread and line of a finding."""
        finding = self.chosen()
        if self.session is None or finding is None:
            return
        self.line_asked.emit(*source_location(finding, self.session.trace))
        access = shown_access(self.session, finding)
        if access:
            self._look(*access)

    def _show_page(self, kind: str) -> None:
        """Open the page about a kind of finding."""
        self.page = self.page or PageDialog(self.theme, self)
        self.page.show_page(kind, self.theme)

    def _look(self, moment: int, selection: Selection) -> None:
        """Ask for a thread, then for the moment: a selection may move the time to where its block runs."""
        self.selection_asked.emit(selection)
        self.moment_asked.emit(float(moment))
