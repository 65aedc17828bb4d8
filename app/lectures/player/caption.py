"""The caption of a lecture above the pictures, and the card of its question."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QFont, QTextDocumentFragment
from PySide6.QtWidgets import QBoxLayout, QFrame, QLabel, QSizePolicy, QVBoxLayout, QWidget

from ...widgets.plain_text import PlainLabel, RichLabel
from ...widgets.theme import Theme

LETTERS = 40  # the window's height divided by the font size
SMALLEST = 64  # the same for the smallest font, used for long texts
SHARE = 3  # the caption gets at most the window's height divided by this
FOOT = 0.6  # the font size of the foot, relative to the caption
TITLE = 0.22  # the share of the width for title and foot next to the text
UPRIGHT = 1.2  # width divided by height, below which the title is above the text


class CaptionCard(QFrame):
    """A widget below a caption."""

    def set_letters(self, pixels: int) -> None:
        """Set the font size in pixels, that of the caption."""


class CaptionBar(QFrame):
    """A title with a muted line below, a text next to them, and a card at the bottom. Hidden if all are empty.

    Its height depends only on its text and the size of the window: the font size is a fortieth of the window's height,
    or smaller if the text would take more than a third of it. Text is never cut.
    """

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.theme = theme
        self.card: CaptionCard | None = None
        self.addition: CaptionCard | None = None  # below the card; a feature adds it for good
        self.setAccessibleName("Caption")
        self.title, self.text, self.foot = PlainLabel(), RichLabel(), PlainLabel()
        self.foot.setObjectName("muted")
        self._room = QSize()
        for label in self._labels():
            label.setWordWrap(True)
            label.setAlignment(Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft)
        self.head = QVBoxLayout()
        self.head.setSpacing(0)
        self.head.addWidget(self.title)
        self.head.addWidget(self.foot)
        self.head.addStretch(1)
        self.line = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self.line.addLayout(self.head)
        self.line.addWidget(self.text, 1)
        self.column = QVBoxLayout(self)
        self.column.addLayout(self.line)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.hide()

    def show_caption(self, title: str, html: str, foot: str, *, held: bool = False) -> None:
        """Show a title, a text and a muted line; `html` must have foreign text escaped.

        held: reserve the space for the text without showing it, so that nothing moves later.
        """
        self.text.setStyleSheet("color: transparent;" if held else "")
        self.text.setAccessibleName("Shown with the answer" if held else "")
        for label, text in zip(self._labels(), (title, html, foot), strict=True):
            label.setText(text)
            label.setVisible(bool(text))
        plain = QTextDocumentFragment.fromHtml(html).toPlainText()
        self.setAccessibleDescription(". ".join(filter(None, (title, plain, foot))))
        self._fit()

    def set_card(self, card: CaptionCard | None) -> None:
        """Replace the card below the text; the previous card returns to its owner."""
        if self.card is not None and self.card is not card:
            self.column.removeWidget(self.card)
            self.card.setParent(None)
            self.card.hide()  # otherwise Qt shows a widget removed from its layout as a separate window
        self.card = card
        if card is not None:
            self.column.insertWidget(1, card)
            card.show()
        self._fit()

    def set_addition(self, addition: CaptionCard | None) -> None:
        """Replace the lowest card, which takes space while it is not hidden; the previous one is deleted."""
        if self.addition is not None:
            self.column.removeWidget(self.addition)
            self.addition.hide()
            self.addition.deleteLater()
        self.addition = addition
        if addition is not None:
            self.column.addWidget(addition)
        self._fit()

    def refit(self) -> None:
        """Choose the font size and the height again, since a card has changed."""
        self._fit()

    def _cards(self) -> list[CaptionCard]:
        """List the visible cards, from top to bottom."""
        addition = self.addition if self.addition is not None and not self.addition.isHidden() else None
        return [card for card in (self.card, addition) if card is not None]

    def fit(self, room: QSize) -> None:
        """Choose the font size for a window of this size."""
        if room != self._room:
            self._room = room
            self._fit()

    def set_theme(self, theme: Theme) -> None:
        """Apply colours and text size."""
        self.theme = theme
        self._fit()

    def minimumSizeHint(self) -> QSize:
        """Return only the height, so that the current text does not limit the window's width."""
        return QSize(0, super().minimumSizeHint().height())

    @property
    def letters(self) -> int:
        """The font size in pixels."""
        return self.text.font().pixelSize()

    def _labels(self) -> tuple[QLabel, QLabel, QLabel]:
        return self.title, self.text, self.foot

    def _fit(self) -> None:
        """Choose the largest font with which the text fits."""
        upright = self._room.width() < UPRIGHT * self._room.height()
        down, right = QBoxLayout.Direction.TopToBottom, QBoxLayout.Direction.LeftToRight
        self.line.setDirection(down if upright else right)
        for size in self._sizes():
            self._write(size)
            if self._text_height() <= self._room.height() / SHARE:
                break
        self.setFixedHeight(self._text_height() + sum(map(self._card_height, self._cards())))
        self.setVisible(bool(self._cards()) or any(label.text() for label in self._labels()))

    def _sizes(self) -> list[int]:
        """List the font sizes to try, largest first."""
        height = max(1, self._room.height())
        largest = max(self.theme.px(13), round(height / LETTERS))
        return list(range(largest, min(largest, max(9, height // SMALLEST)) - 1, -1))

    def _write(self, size: int) -> None:
        """Set the font size of the labels, and their margins."""
        self.title.setFont(sized(self.theme, size, bold=True))
        self.text.setFont(sized(self.theme, size))
        self.foot.setFont(sized(self.theme, round(FOOT * size)))
        for card in (self.card, self.addition):
            if card is not None:
                card.set_letters(size)
        edge = round(0.3 * size)
        self.column.setContentsMargins(edge, 0, edge, edge)
        self.column.setSpacing(edge if self._cards() else 0)
        self.line.setSpacing(0 if self.line.direction() == QBoxLayout.Direction.TopToBottom else size)

    def _width(self) -> int:
        """Return the width inside the margins."""
        margins = self.column.contentsMargins()
        return max(1, self._room.width() - 2 * self.theme.px(10) - margins.left() - margins.right())

    def _text_height(self) -> int:
        """Set the width of title and foot, and compute the height of title, foot and text."""
        width, upright = self._width(), self.line.direction() == QBoxLayout.Direction.TopToBottom
        heads = [label for label in (self.title, self.foot) if label.text()]
        side_by_side = bool(heads) and bool(self.text.text()) and not upright
        head = max(1, round(TITLE * width)) if side_by_side else width
        for label in (self.title, self.foot):
            label.setFixedWidth(head)
        left = sum(label.heightForWidth(head) for label in heads)
        right = width - head - self.line.spacing() if side_by_side else width
        text = self.text.heightForWidth(max(1, right)) if self.text.text() else 0
        return (max(left, text) if side_by_side else left + text) + self.column.contentsMargins().bottom()

    def _card_height(self, card: CaptionCard) -> int:
        """Return the height of a card for the available width."""
        height = card.heightForWidth(self._width()) if card.hasHeightForWidth() else -1
        return (height if height >= 0 else card.sizeHint().height()) + self.column.spacing()


def sized(theme: Theme, pixels: int, *, bold: bool = False) -> QFont:
    """Return the theme's font in a size in pixels."""
    font = QFont(theme.font(bold=bold))
    font.setPixelSize(max(1, pixels))
    return font


def unbroken(words: str) -> str:
    """Join words that stay on one line with no-break spaces."""
    return words.replace(" ", "\u00a0")
