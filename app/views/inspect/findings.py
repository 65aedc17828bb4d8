"""The findings of a launch, worst first; a click goes to the moment and the line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLineEdit,
    QListWidgetItem,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from ....tracer.model.finding import FINDING_KINDS, SEVERITIES, Finding, source_location
from ...model.session import Selection, Session, count_by_severity, known_findings
from ...widgets.controls import Combo, on_choice
from ...widgets.flow_layout import FlowLayout
from ...widgets.plain_text import PlainLabel, plain_tip
from ...widgets.theme import Theme, text_palette
from ..common.severity import sign_icon
from ..common.view import View
from ..common.wording import plural
from .findings_list import FindingsList, source_of
from .page_dialog import PageDialog
from .race_card import RaceCard, shown_access

NONE = "No findings: there are no errors and no avoidable costs."
NOT_COMPARED = (
    "No findings in this kernel: no errors in accesses, barriers and warps, and no avoidable costs. "
    "Its result was not compared with NumPy, so it can still be wrong."
)
NONE_HERE = "No findings in this launch."
NO_MATCH = "No finding matches the filter."
PROOF = "Tried in four orders: the finding disappears. Undo takes the change back."
LOOKING = "Analysing the launch…"


class FindingsView(View):
    """A filter, the list, a card for a race, and a button for a proven remedy.

    It asks for the line of the clicked finding.
    errors_elsewhere: returns a sentence about errors in other launches of a program, "" for none.
    """

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        self.setAccessibleName("Findings")
        self.list, self.card, self.empty = FindingsList(theme), RaceCard(theme), PlainLabel()
        self.errors_elsewhere: Callable[[], str] = str
        self.order = PlainLabel()  # the result of a search for another order
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
        self.kind.picked = lambda _: self._show()
        self.text.setAccessibleName("Text to look for")
        self.text.setPlaceholderText("Find text")
        self.text.setClearButtonEnabled(True)
        self.text.textChanged.connect(lambda _: self._show())
        bar.add(self.kind)
        bar.add(self.text)
        self.empty.setWordWrap(True)
        self.empty.setAlignment(Qt.AlignmentFlag.AlignTop)
        on_choice(self.list, self._go)
        self.list.currentItemChanged.connect(lambda *_: self._show_card())
        self.list.page_asked = self._show_page
        self.list.setToolTip(plain_tip('Click "?" or press ? to read about a finding'))
        self.card.access_asked = self._go_to_access
        self.card.find_order.clicked.connect(lambda _checked: self.ask.find_order())
        self._column, self._bar = QVBoxLayout(self), bar
        self.order.setWordWrap(True)
        self.order.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._column.addLayout(bar)
        self._column.addWidget(self.order)
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
        self.fix = QPushButton("Do it")
        self.fix.setObjectName("primary")
        self.fix.setAccessibleName("Apply the remedy")
        self.fix.clicked.connect(self._ask_for_fix)
        self.fix.hide()
        self._fix_row = QHBoxLayout()
        self.proof = PlainLabel(PROOF)
        self.proof.setWordWrap(True)
        self.proof.hide()
        self._fix_row.addWidget(self.fix)
        self._fix_row.addWidget(self.proof, 1)
        self._column.addLayout(self._fix_row)

    def load(self, session: Session | None) -> None:
        """Load a session with its findings, if they are known; load it again when they are."""
        chosen_before = self.chosen() if session is self.session else None
        self.list.show_findings(None, ())
        super().load(session)
        kinds = Counter(finding.kind for finding in known_findings(session))
        items: list[tuple[str, object]] = [("All kinds", "")]
        items += [(f"{kind.capitalize()} {kinds[kind]}", kind) for kind in FINDING_KINDS if kinds[kind]]
        chosen = self.kind.currentData()
        self.kind.offer(items, chosen if kinds[chosen] else "")
        self._show()
        self.list.choose(chosen_before)

    def set_theme(self, theme: Theme) -> None:
        """Use another theme or text size."""
        super().set_theme(theme)
        margin = theme.px(12)
        self._column.setContentsMargins(0, theme.px(8), 0, 0)
        self._column.setSpacing(theme.px(6))
        self._bar.setContentsMargins(margin, 0, margin, 0)
        self.order.setMargin(margin)
        self.order.setFont(theme.font(13, bold=True))
        self.empty.setMargin(margin)
        self.empty.setFont(theme.font(13))
        self.empty.setPalette(text_palette(theme, "muted"))
        self.text.setFont(theme.font(12))
        self.text.setFixedWidth(theme.px(120))
        self.kind.setFont(theme.font(12))
        for name, button in self.severities.items():
            button.setFont(theme.font(12))
            button.setIcon(sign_icon(name, theme, theme.px(14)))
            button.setIconSize(QSize(theme.px(14), theme.px(14)))
        self.fix.setFont(theme.font(13, bold=True))
        self.proof.setFont(theme.font(12))
        self.proof.setPalette(text_palette(theme, "muted"))
        self._fix_row.setContentsMargins(margin, 0, margin, theme.px(10))
        self._fix_row.setSpacing(theme.px(10))
        self.list.set_theme(self.theme)
        self.card.set_theme(self.theme)
        chosen = self.chosen()
        self._show()
        self.list.choose(chosen)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the panel behind everything."""
        QPainter(self).fillRect(event.rect(), self.theme.colour("panel"))

    def count(self) -> dict[str, int]:
        """Count the findings of each severity."""
        return count_by_severity(self.session)

    def chosen(self) -> Finding | None:
        """Return the selected finding."""
        return self.list.chosen()

    def _show(self) -> None:
        """List the findings that match the filter."""
        findings = known_findings(self.session)
        shown = [finding for finding in findings if self._passes(finding)]
        self.list.delegate.theme = self.card.theme = self.theme
        self.list.show_findings(self.session, shown)
        words = self.session.order_words if self.session else ""
        self.order.setText(self.reword(words))
        self.order.setVisible(bool(words))
        self.list.setVisible(bool(shown))
        self.empty.setVisible(not shown)
        self.kind.setVisible(bool(findings))
        self.text.setVisible(bool(findings))
        is_program = self.session is not None and self.session.scenario is None
        elsewhere = self.errors_elsewhere() if is_program else ""
        is_compared = self.session is not None and self.session.trace.check is not None
        none = f"{NONE_HERE} {elsewhere}" if elsewhere else NONE if is_compared else NOT_COMPARED
        empty_text = none if self.session and self.session.is_examined else LOOKING
        self.empty.setText("" if not self.session else NO_MATCH if findings else empty_text)
        self._show_card()
        count = self.count()
        for name, button in self.severities.items():
            button.setText(str(count[name]))
            button.setVisible(bool(count[name]))
            button.setAccessibleName(plural(count[name], name))
        self.setAccessibleDescription(", ".join(plural(count[name], name) for name in SEVERITIES))

    def _show_card(self) -> None:
        """Show the selected race's card in the room below the list, at least a third of the height."""
        self.card.show_race(self.session, self.chosen())
        chosen = self.chosen()
        is_proven = chosen is not None and bool(chosen.remedy and chosen.fixed_text)
        self.fix.setVisible(is_proven)
        self.proof.setVisible(is_proven)
        if chosen is not None and is_proven:
            self.fix.setToolTip(plain_tip(f"Change the kernel's text and run it: {chosen.remedy}"))
        shown = self.card.isVisibleTo(self._area)
        self._area.setVisible(shown)
        if shown:
            card_height, row = self.card.heightForWidth(max(1, self.width())), self.list.currentRow()
            above = self._bar.heightForWidth(self.width()) + 4 * self._column.spacing() + self.theme.px(8)
            above += self.fix.sizeHint().height() + self.theme.px(14) if is_proven else 0
            left = self.height() - above - self.list.sizeHintForRow(row)
            self._area.setFixedHeight(min(card_height, max(left, self.height() // 3)))
            self._column.activate()  # so that the list knows its height
        if self.list.currentItem():
            hints = FindingsList.ScrollHint
            self.list.scrollToItem(
                self.list.currentItem(), hints.PositionAtTop if shown else hints.EnsureVisible
            )

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Adapt the card's height to the new width."""
        super().resizeEvent(event)
        self._show_card()

    def _passes(self, finding: Finding) -> bool:
        """Return True if a finding has a chosen severity and kind, and contains the text in any case."""
        assert self.session
        kind, text = self.kind.currentData(), self.text.text().casefold()
        wanted = self.severities[finding.severity].isChecked() and (not kind or finding.kind == kind)
        line, code = source_of(self.session, finding)
        return wanted and text in f"{finding.kind} {self.reword(finding.message)} {line} {code}".casefold()

    def _go(self, item: QListWidgetItem) -> None:
        """Go to the moment, thread and line of a finding."""
        finding = self.chosen()
        if self.session is None or finding is None:
            return
        self.ask.show_line(*source_location(finding, self.session.trace))
        access = shown_access(self.session, finding)
        if access:
            self._go_to_access(*access)

    def _ask_for_fix(self) -> None:
        if chosen := self.chosen():
            self.ask.fix(chosen)

    def _show_page(self, kind: str) -> None:
        """Open the page about a kind of finding."""
        self.page = self.page or PageDialog(self.theme, self)
        self.page.show_page(kind, self.theme)

    def _go_to_access(self, moment: int, selection: Selection) -> None:
        """Select a thread, then the moment: a selection may change the time to when its block runs."""
        self.ask.select(selection)
        self.ask.seek(float(moment))
