"""Small controls for toolbars: flat, labelled, with accessible names."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol

from PySide6.QtCore import QPointF, QSize, Qt
from PySide6.QtGui import QFont, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPolygonF
from PySide6.QtWidgets import (
    QAbstractButton,
    QComboBox,
    QFrame,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QPushButton,
    QStyledItemDelegate,
    QWidget,
)

from ..model.nothing import nothing
from ..model.visible_text import escape_controls
from .icons import icon
from .plain_text import PlainLabel, plain_tip
from .theme import Theme

HEADING = "a heading of a list"
UNBOUND = 16_777_215  # pixels: Qt's own largest size of a widget
LIST = 0.8  # the largest height of a list, relative to the screen


class Themed(Protocol):
    """A part of the window that can take another theme."""

    def set_theme(self, theme: Theme) -> None: ...


class Combo(QComboBox):
    """A combo box whose arrow has the colour of its text; the wheel scrolls past it instead of changing it.

    left: the user has chosen from the open list and is done here.
    """

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.picked: Callable[[Any], object] = nothing  # gets the value
        self.left: Callable[[], object] = nothing
        self.setAccessibleName(name)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setItemDelegate(QStyledItemDelegate(self))  # lets the style sheet style the list
        self._chosen: object = None
        self._was_opened = False  # whether the list was opened since the last key
        self.activated.connect(lambda _: self._pick())
        self.currentIndexChanged.connect(lambda _: self.updateGeometry())

    def offer(
        self, items: Iterable[tuple[str, object]], chosen: object, tips: Mapping[object, str] | None = None
    ) -> None:
        """Show these (text, value) items, with the chosen value selected; the value HEADING cannot be chosen.

        tips: the tooltips of items, by value.
        """
        self.clear()
        for text, value in items:
            self.addItem(escape_controls(text), value)
            self.setItemData(
                self.count() - 1, plain_tip((tips or {}).get(value, "")), Qt.ItemDataRole.ToolTipRole
            )
            if value is HEADING:
                self._make_heading(self.count() - 1)
        self.choose(chosen)

    def _make_heading(self, i: int) -> None:
        bold = QFont(self.font())
        bold.setBold(True)
        self.setItemData(i, bold, Qt.ItemDataRole.FontRole)
        self.setItemData(i, 0, Qt.ItemDataRole.UserRole - 1)  # the role of an item's flags: none

    def disable(self, i: int) -> None:
        """Disable an item; its tooltip should give the reason."""
        self.setItemData(i, 0, Qt.ItemDataRole.UserRole - 1)  # the role of an item's flags: none

    def _pick(self) -> None:
        """Emit the user's choice; reset it if it is a heading."""
        if self.currentData() == HEADING:
            self.choose(self._chosen)
            return
        self._chosen = self.currentData()
        self.picked(self._chosen)
        if self._was_opened:
            self._was_opened = False
            self.left()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Handle a key; a choice by key in the closed list keeps the focus here."""
        self._was_opened = False
        super().keyPressEvent(event)

    def choose(self, value: object) -> None:
        """Select the item of this value."""
        self._chosen = value
        self.setCurrentIndex(next((i for i in range(self.count()) if self.itemData(i) == value), -1))

    def sizeHint(self) -> QSize:
        """Return the size for the chosen text, since the longest item would push other fields out of the toolbar."""
        text = self.fontMetrics().horizontalAdvance(self.currentText())
        return QSize(text + round(2.2 * self.fontMetrics().height()), super().sizeHint().height())

    def minimumSizeHint(self) -> QSize:
        """Return the size hint, so that the text is never cut."""
        return self.sizeHint()

    def showPopup(self) -> None:
        """Show the list as wide as its longest text and, as far as the screen allows, as high as all of it."""
        self._was_opened = True
        longest = max(
            (self.fontMetrics().horizontalAdvance(self.itemText(i)) for i in range(self.count())), default=0
        )
        self.view().setMinimumWidth(longest + 3 * self.fontMetrics().height())
        rows = int(LIST * self.screen().availableSize().height() / max(self.view().sizeHintForRow(0), 1))
        self.setMaxVisibleItems(max(rows, 1))
        cut = self.count() > rows  # then show the scroll bar from the start
        policies = Qt.ScrollBarPolicy
        self.view().setVerticalScrollBarPolicy(
            policies.ScrollBarAlwaysOn if cut else policies.ScrollBarAsNeeded
        )
        super().showPopup()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the box, then its arrow."""
        super().paintEvent(event)
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self.palette().windowText())
        unit, middle = self.fontMetrics().height() / 16, self.height() / 2
        x = self.width() - 11 * unit
        arrow = [(x - 4 * unit, middle - 2 * unit), (x + 4 * unit, middle - 2 * unit), (x, middle + 3 * unit)]
        painter.drawPolygon(QPolygonF([QPointF(*point) for point in arrow]))
        painter.end()

    def wheelEvent(self, event: object) -> None:
        """Ignore the wheel, so that scrolling past does not start another launch."""


class Entry(QLineEdit):
    """A text field as wide as `digits` of its font that can be marked as wrong."""

    def __init__(self, name: str, digits: int, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.digits = digits
        self.setAccessibleName(name)
        self.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.refit()

    def refit(self) -> None:
        """Set the width for the current font."""
        self.setFixedWidth(self.fontMetrics().horizontalAdvance("0") * self.digits + 16)

    def mark(self, sentence: str) -> None:
        """Mark the field as invalid, with the sentence as its tooltip; "" marks it as valid."""
        self.setToolTip(plain_tip(sentence))
        mark(self, "invalid", bool(sentence))


class Chip(QFrame):
    """A label and its fields in one rounded frame; a text becomes a plain label."""

    def __init__(self, label: str | QLabel, fields: list[QWidget], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("chip")
        self.row = row = QHBoxLayout(self)
        row.setContentsMargins(9, 2, 4, 2)
        row.setSpacing(4)
        self.caption = PlainLabel(label) if isinstance(label, str) else label
        if isinstance(label, str):
            self.caption.setObjectName("muted")
        row.addWidget(self.caption)
        self.notes: dict[QWidget, QLabel] = {}
        for field in fields:
            row.addWidget(field)
            self.notes[field] = PlainLabel()
            self.notes[field].setObjectName("differs")
            self.notes[field].hide()
            row.addWidget(self.notes[field])
        if len(fields) == 1:
            self.caption.setBuddy(fields[0])

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Open the field nearest to the click."""
        if event.button() == Qt.MouseButton.LeftButton and self.rect().contains(event.position().toPoint()):
            x = event.position().x()
            fields = [field for field in self.notes if field.isVisible()]
            if fields:
                open_field(min(fields, key=lambda field: abs(field.geometry().center().x() - x)))

    def width_with(self, caption: bool) -> int:
        """Return the width with or without the caption, independent of its visibility."""
        label = self.caption.sizeHint().width() + self.row.spacing()
        return self.sizeHint().width() + label * (caption - (not self.caption.isHidden()))

    def note(self, field: QWidget, text: str, tip: str) -> None:
        """Show a note next to a field; "" hides it."""
        self.notes[field].setText(text)
        self.notes[field].setToolTip(plain_tip(tip))
        self.notes[field].setVisible(bool(text))
        field.setAccessibleDescription(tip)


def open_field(field: QWidget) -> None:
    """Open the list of a combo box, or select the text of an entry."""
    field.setFocus(Qt.FocusReason.MouseFocusReason)
    if isinstance(field, Combo):
        field.showPopup()
    elif isinstance(field, QLineEdit):
        field.selectAll()


def mark(widget: QWidget, name: str, value: object) -> None:
    """Set a style sheet property and restyle the widget if it changed; a missing property equals False."""
    if (widget.property(name) or False) == value:
        return
    widget.setProperty(name, value)
    if widget.testAttribute(
        Qt.WidgetAttribute.WA_WState_Polished
    ):  # otherwise Qt styles the widget when it is first shown
        widget.style().unpolish(widget)
        widget.style().polish(widget)


def button(
    name: str, tip: str, picture: str = "", text: str = "", run: Callable[[], object] | None = None
) -> QPushButton:
    """Create a button with an accessible name and a tooltip; `paint_icon` draws the icon named by `picture`."""
    push_button = QPushButton(text)
    push_button.setAccessibleName(name)
    push_button.setToolTip(plain_tip(tip))
    push_button.setProperty("picture", picture)
    push_button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
    if run is not None:
        push_button.clicked.connect(lambda _checked: run())
    return push_button


def on_choice(items: QListWidget, choose: Callable[[QListWidgetItem], object]) -> None:
    """Call a function with each item of a list that the user clicks, or chooses with Return."""
    for signal in (items.itemClicked, items.itemActivated):
        signal.connect(choose)


def paint_icon(target: QAbstractButton, theme: Theme) -> None:
    """Draw the button's picture in the theme's colour and size."""
    picture = target.property("picture")
    if picture:
        colour = "accent_text" if target.objectName() == "primary" else "text"
        target.setIcon(icon(picture, theme.colour(colour)))
        size = theme.px(14)
        target.setIconSize(QSize(size, size))
