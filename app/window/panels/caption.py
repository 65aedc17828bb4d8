"""The caption of a lecture: what the audience reads above the pictures, and the place of a question."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QFont, QTextDocumentFragment
from PySide6.QtWidgets import QBoxLayout, QFrame, QLabel, QSizePolicy, QVBoxLayout, QWidget

from ...widgets.plain_text import PlainLabel, RichLabel
from ...widgets.theme import Theme

LETTERS = 40  # letters of the caption that the height of the window holds
SMALLEST = 64  # of them, where a long text would take more than its share
SHARE = 3  # of its height, the window gives the caption one part in so many
FOOT = 0.6  # the size of the foot's letters, in those of the caption
TITLE = 0.22  # the share of the width that title and foot have beside the text
UPRIGHT = 1.2  # times as wide as high is a window in which the title stands above the text


class CaptionCard(QFrame):
    """What may stand below a caption."""

    def set_letters(self, pixels: int) -> None:
        """Write in letters of so many pixels, those of the caption."""


class CaptionBar(QFrame):
    """A title with a quiet line below it, a text beside them, and a widget below all. Hidden where all is empty.

    Its height follows from its text and the size of the window alone: the letters are a fortieth of the height of
    the window, or smaller where the text would take more than a third of it; nothing is ever cut.
    """

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.theme = theme
        self.card: CaptionCard | None = None
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
        """Show a title, a text and a quiet line; html is our own, what comes from elsewhere in it is escaped.

        held: keep the room of the text alone, so that nothing moves when it is shown later.
        """
        self.text.setStyleSheet("color: transparent;" if held else "")
        self.text.setAccessibleName("It comes with the answer." if held else "")
        for label, text in zip(self._labels(), (title, html, foot), strict=True):
            label.setText(text)
            label.setVisible(bool(text))
        plain = QTextDocumentFragment.fromHtml(html).toPlainText()
        self.setAccessibleDescription(". ".join(filter(None, (title, plain, foot))))
        self._fit()

    def set_card(self, card: CaptionCard | None) -> None:
        """Show a widget below the text in place of the one before, which is its owner's again."""
        if self.card is not None and self.card is not card:
            self.column.removeWidget(self.card)
            self.card.setParent(None)
            self.card.hide()  # else Qt shows what was just put into a layout, now as a window of its own
        self.card = card
        if card is not None:
            self.column.addWidget(card)
            card.show()
        self._fit()

    def fit(self, room: QSize) -> None:
        """Choose the size of the letters for a window of this size."""
        if room != self._room:
            self._room = room
            self._fit()

    def set_theme(self, theme: Theme) -> None:
        """Take colours and text size."""
        self.theme = theme
        self._fit()

    def minimumSizeHint(self) -> QSize:
        """Return the height alone: the width that the words have now is not to hold the window."""
        return QSize(0, super().minimumSizeHint().height())

    @property
    def letters(self) -> int:
        """The size of the letters, in pixels: what stands in a card is to be as large."""
        return self.text.font().pixelSize()

    def _labels(self) -> tuple[QLabel, QLabel, QLabel]:
        return self.title, self.text, self.foot

    def _fit(self) -> None:
        """Take the largest letters with which the text has room."""
        upright = self._room.width() < UPRIGHT * self._room.height()
        down, right = QBoxLayout.Direction.TopToBottom, QBoxLayout.Direction.LeftToRight
        self.line.setDirection(down if upright else right)
        for size in self._sizes():
            self._write(size)
            if self._text_height() <= self._room.height() / SHARE:
                break
        self.setFixedHeight(self._text_height() + self._card_height())
        self.setVisible(self.card is not None or any(label.text() for label in self._labels()))

    def _sizes(self) -> list[int]:
        """Return the sizes of letters to be tried, from the largest."""
        height = max(1, self._room.height())
        largest = max(self.theme.px(13), round(height / LETTERS))
        return list(range(largest, min(largest, max(9, height // SMALLEST)) - 1, -1))

    def _write(self, size: int) -> None:
        """Give the labels letters of a size, and the space around them."""
        self.title.setFont(sized(self.theme, size, bold=True))
        self.text.setFont(sized(self.theme, size))
        self.foot.setFont(sized(self.theme, round(FOOT * size)))
        edge = round(0.3 * size)
        self.column.setContentsMargins(edge, 0, edge, edge)
        self.column.setSpacing(edge if self.card else 0)
        self.line.setSpacing(0 if self.line.direction() == QBoxLayout.Direction.TopToBottom else size)

    def _width(self) -> int:
        """Return the width inside the margins."""
        margins = self.column.contentsMargins()
        return max(1, self._room.width() - 2 * self.theme.px(10) - margins.left() - margins.right())

    def _text_height(self) -> int:
        """Return the height of title, foot and text in the width that there is, and give the former their share."""
        width, upright = self._width(), self.line.direction() == QBoxLayout.Direction.TopToBottom
        heads = [label for label in (self.title, self.foot) if label.text()]
        beside = bool(heads) and bool(self.text.text()) and not upright
        head = max(1, round(TITLE * width)) if beside else width
        for label in (self.title, self.foot):
            label.setFixedWidth(head)
        left = sum(label.heightForWidth(head) for label in heads)
        right = width - head - self.line.spacing() if beside else width
        text = self.text.heightForWidth(max(1, right)) if self.text.text() else 0
        return (max(left, text) if beside else left + text) + self.column.contentsMargins().bottom()

    def _card_height(self) -> int:
        """Return the height that the card asks for in the width that there is, 0 without one."""
        if self.card is None:
            return 0
        tall = self.card.heightForWidth(self._width()) if self.card.hasHeightForWidth() else -1
        return (tall if tall >= 0 else self.card.sizeHint().height()) + self.column.spacing()


def sized(theme: Theme, pixels: int, *, bold: bool = False) -> QFont:
    """Return the theme's font with letters of so many pixels."""
    font = QFont(theme.font(bold=bold))
    font.setPixelSize(max(1, pixels))
    return font
