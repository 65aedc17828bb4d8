"""The bar above two versions of a kernel with their differences: findings, result, counters and moments."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QPushButton, QSizePolicy, QWidget

from ...tracer.model.finding import Finding
from ..views.common.severity import sign_icon
from ..views.common.wording import EXACT, PART, count_text, plural, times_text
from ..widgets.controls import button
from ..widgets.flow_layout import FlowLayout
from ..widgets.plain_text import PlainLabel, plain_tip
from ..widgets.theme import Theme
from .model.version_differences import (
    OTHER_INPUTS,
    RIGHT_NOW,
    FindingChange,
    NumberChange,
    VersionDifferences,
)

MOST_NUMBERS = 4  # shown at most
COUNTED = ("race", "bank conflict", "hot atomic")  # kinds of findings whose names are countable nouns
SAME = "Counters, findings and result are the same."


class BarRequests(NamedTuple):
    """What the bar calls when the user asks for something."""

    undo: Callable[[], object]  # all edits
    save: Callable[[], object]  # the edited file
    show_race: Callable[[Finding], object]  # in the pictures
    show_findings: Callable[[], object]  # in the inspector


class DifferenceBar(QFrame):
    """Shows the changes from the version on the left to the one on the right.

    Numbers that would need another row are hidden, so that the panes stay where they are: the panes show them too.
    """

    def __init__(self, theme: Theme, ask: BarRequests, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._ask = ask
        self.setObjectName("notice")
        self.setAccessibleName("Differences between the versions")
        self.theme = theme
        self.differences: VersionDifferences | None = None
        self.title = PlainLabel("New version, right:")
        self.undo = button("Undo all edits", "Restore the kernel before the first edit", run=ask.undo)
        self.save = button("Save kernel…", "Save the edited file; a kernel of Tilescope is saved as a copy",
                           run=ask.save)  # fmt: skip
        self.undo.setText("Undo all")
        self.save.setText("Save kernel…")
        self.flow = FlowLayout(self)
        self.flow.setContentsMargins(12, 6, 12, 6)
        self.flow.add(self.title)
        self._pieces: list[QWidget] = []
        self._numbers: list[QWidget] = []  # among the pieces
        for widget in (self.save, self.undo):
            self.flow.add(widget, right=True)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
        self.hide()

    def show_differences(self, differences: VersionDifferences | None) -> None:
        """Show the differences, or hide the bar for None."""
        self.differences = differences
        self._fill()
        self.setVisible(differences is not None)

    def set_theme(self, theme: Theme) -> None:
        """Apply colours, text size and vocabulary."""
        if theme == self.theme and self._pieces:
            return
        self.theme = theme
        self.flow.setSpacing(theme.px(14))
        self.title.setFont(theme.font(14, bold=True))
        for target in (self.undo, self.save):
            target.setFont(theme.font(13))
        self._fill()

    def texts(self) -> list[str]:
        """List the shown texts, from left to right."""
        shown = (piece for piece in self._pieces if not piece.isHidden())
        return [piece.text() for piece in shown if isinstance(piece, PlainLabel | QPushButton)]

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Show the numbers that fit."""
        super().resizeEvent(event)
        self._fit()

    def _fill(self) -> None:
        for old in self._pieces:
            self.flow.removeWidget(old)
            old.hide()
            old.deleteLater()
        self._pieces = self._build_pieces(self.differences) if self.differences else []
        for index, piece in enumerate(self._pieces):
            self.flow.insert(1 + index, piece)
            piece.show()
        self._fit()

    def _fit(self) -> None:
        """Hide the numbers that do not fit into the first row."""
        margins, gap = self.flow.contentsMargins(), self.flow.spacing()
        free = self.width() - margins.left() - margins.right()
        free -= sum(widget.sizeHint().width() + gap for widget in (self.title, self.save, self.undo))
        for piece in self._pieces:
            free -= piece.sizeHint().width() + gap
            piece.setHidden(piece in self._numbers and free < 0)

    def _build_pieces(self, differences: VersionDifferences) -> list[QWidget]:
        """Build the widgets, worst first: findings, the result, then numbers."""
        changes = differences.findings or ()
        pieces: list[QWidget] = [self._finding(change) for change in changes]
        race = next((change.first for change in changes if change.kind == "race" and change.first), None)
        if race is not None:
            pieces.append(self._show_button(race))
        if differences.result:
            looks = {RIGHT_NOW: "good", OTHER_INPUTS: "muted"}
            pieces.append(self._label(differences.result, looks.get(differences.result, "bad")))
        changes_of_numbers = differences.numbers[:MOST_NUMBERS]
        self._numbers = [self._number(change, differences.is_part) for change in changes_of_numbers]
        pieces += self._numbers
        if differences.findings is None:
            pieces.append(self._label("looking for findings …", "muted"))
        elif not pieces:
            pieces.append(self._label(SAME, "muted"))
        return pieces

    def _finding(self, change: FindingChange) -> QPushButton:
        """Build a button that opens the findings: "1 race more"."""
        noun = change.kind if change.kind in COUNTED else f"{change.kind} finding"
        text = f"{plural(abs(change.more), noun)} {'more' if change.more > 0 else 'fewer'}"
        link: QPushButton = button(
            text, change.first.message if change.first else text, run=self._ask.show_findings
        )
        link.setText(self.theme.translate(text))
        link.setStyleSheet(f"font-size: {self.theme.px(13)}px; font-weight: bold")
        link.setToolTip(plain_tip(change.first.message if change.first else text))
        link.setObjectName("link")
        if change.more > 0:
            size = self.theme.px(16)
            link.setIcon(sign_icon(change.severity, self.theme, size))
            link.setIconSize(QSize(size, size))
        link.setCursor(Qt.CursorShape.PointingHandCursor)
        return link

    def _show_button(self, race: Finding) -> QPushButton:
        """Build a button that shows the threads of a race at its first moment."""
        show: QPushButton = button(
            "Show the race",
            "Go to the moment of the race",
            text="Show it",
            run=lambda: self._ask.show_race(race),
        )
        show.setFont(self.theme.font(13))
        return show

    def _number(self, change: NumberChange, is_part: bool) -> PlainLabel:
        """Build the label of a changed number: "global sectors 4,096 → 8,192 (2.0×) · exact"."""
        ratio = f" ({times_text(change.after / change.before)})" if change.before and change.after else ""
        text = f"{change.name} {count_text(change.before)} → {count_text(change.after)}{ratio}"
        label = self._label(text, "")
        label.setToolTip(plain_tip(f"{text}, {PART if is_part else EXACT}"))
        return label

    def _label(self, text: str, look: str) -> PlainLabel:
        label = PlainLabel(self.theme.translate(text))
        label.setFont(self.theme.font(13))
        label.setObjectName("muted" if look == "muted" else "")
        if look in ("good", "bad"):
            label.setStyleSheet(f"color: {self.theme.colour(look).name()}; font-weight: bold")
        return label
