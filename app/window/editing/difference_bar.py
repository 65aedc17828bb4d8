"""The line above two versions of a kernel that says what differs: counters, findings, result, and how long it took."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import QFrame, QPushButton, QSizePolicy, QWidget

from ....tracer.model.finding import Finding
from ...views.common.severity import sign_icon
from ...views.common.wording import EXACT, PART, count_text, plural, times_text
from ...widgets.controls import button
from ...widgets.flow_layout import FlowLayout
from ...widgets.plain_text import PlainLabel, plain_tip
from ...widgets.theme import Theme
from .version_differences import RIGHT_NOW, FindingChange, NumberChange, VersionDifferences

MOST_NUMBERS = 4  # that are said; the others stand under the panes
COUNTED = ("race", "bank conflict", "hot atomic")  # kinds of findings that are nouns by themselves
SAME = "Counters, findings and result are the same."


class DifferenceBar(QFrame):
    """Says what the version on the right does otherwise than the one on the left.

    race_asked: a Finding shall be seen in the pictures. findings_asked: the list of findings shall be seen.
    undo_asked: all edits shall go. save_asked: a copy of the edited file shall be kept.
    """

    race_asked = Signal(object)
    findings_asked = Signal()
    undo_asked = Signal()
    save_asked = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("notice")
        self.setAccessibleName("What differs between the versions")
        self.theme = theme
        self.differences: VersionDifferences | None = None
        self.title = PlainLabel("New version, right:")
        self.undo = button(
            "Undo all edits", "Show the kernel as it was before it was edited", run=self.undo_asked.emit
        )
        self.save = button("Save kernel…", "Keep the edited file: a copy, where the kernel is Tilescope's",
                           run=self.save_asked.emit)  # fmt: skip
        self.undo.setText("Undo all")
        self.save.setText("Save kernel…")
        self.flow = FlowLayout(self)
        self.flow.setContentsMargins(12, 6, 12, 6)
        self.flow.add(self.title)
        self._pieces: list[QWidget] = []
        for widget in (self.save, self.undo):
            self.flow.add(widget, right=True)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
        self.hide()

    def show_differences(self, found: VersionDifferences | None) -> None:
        """Say what differs, nothing for None."""
        self.differences = found
        self._fill()
        self.setVisible(found is not None)

    def set_theme(self, theme: Theme) -> None:
        """Take colours, text size and words."""
        if theme == self.theme and self._pieces:
            return
        self.theme = theme
        self.flow.setSpacing(theme.px(14))
        self.title.setFont(theme.font(14, bold=True))
        for target in (self.undo, self.save):
            target.setFont(theme.font(13))
        self._fill()

    def texts(self) -> list[str]:
        """Return all that is said, from left to right."""
        return [piece.text() for piece in self._pieces if isinstance(piece, PlainLabel | QPushButton)]

    def _fill(self) -> None:
        for old in self._pieces:
            self.flow.removeWidget(old)
            old.hide()
            old.deleteLater()
        self._pieces = self._made(self.differences) if self.differences else []
        for at, piece in enumerate(self._pieces):
            self.flow.insert(1 + at, piece)
            piece.show()

    def _made(self, found: VersionDifferences) -> list[QWidget]:
        """Return what is said, worst first: errors, the result, then numbers."""
        known = found.findings or ()
        made: list[QWidget] = [self._finding(change) for change in known]
        race = next((change.first for change in known if change.kind == "race" and change.first), None)
        if race is not None:
            made.append(self._show_button(race))
        if found.result:
            made.append(self._label(found.result, "good" if found.result == RIGHT_NOW else "bad"))
        made += [self._number(change, found.is_part) for change in found.numbers[:MOST_NUMBERS]]
        if found.findings is None:
            made.append(self._label("looking for findings …", "muted"))
        elif not made:
            made.append(self._label(SAME, "muted"))
        return made

    def _finding(self, change: FindingChange) -> QPushButton:
        """Return a button that goes to the findings: "1 race more"."""
        noun = change.kind if change.kind in COUNTED else f"{change.kind} finding"
        text = f"{plural(abs(change.more), noun)} {'more' if change.more > 0 else 'fewer'}"
        made: QPushButton = button(
            text, change.first.message if change.first else text, run=self.findings_asked.emit
        )
        made.setText(self.theme.say(text))
        made.setStyleSheet(f"font-size: {self.theme.px(13)}px; font-weight: bold")
        made.setToolTip(plain_tip(change.first.message if change.first else text))
        made.setObjectName("link")
        if change.more > 0:
            size = self.theme.px(16)
            made.setIcon(sign_icon(change.severity, self.theme, size))
            made.setIconSize(QSize(size, size))
        made.setCursor(Qt.CursorShape.PointingHandCursor)
        return made

    def _show_button(self, race: Finding) -> QPushButton:
        """Return a button that shows the threads of a race where they first meet."""
        made: QPushButton = button(
            "Show the race",
            "Go to the moment of the race",
            text="Show it",
            run=lambda: self.race_asked.emit(race),
        )
        made.setFont(self.theme.font(13))
        return made

    def _number(self, change: NumberChange, is_part: bool) -> PlainLabel:
        """Return what a number was and is: "global sectors 4,096 → 8,192 (2.0×) · exact"."""
        ratio = f" ({times_text(change.after / change.before)})" if change.before and change.after else ""
        text = f"{change.name} {count_text(change.before)} → {count_text(change.after)}{ratio}"
        made = self._label(text, "")
        made.setToolTip(plain_tip(f"{text}, {PART if is_part else EXACT}"))
        return made

    def _label(self, text: str, look: str) -> PlainLabel:
        made = PlainLabel(self.theme.say(text))
        made.setFont(self.theme.font(13))
        made.setObjectName("muted" if look == "muted" else "")
        if look in ("good", "bad"):
            made.setStyleSheet(f"color: {self.theme.colour(look).name()}; font-weight: bold")
        return made
