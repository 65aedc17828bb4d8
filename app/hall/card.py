"""The hall in the audience's window: address and QR code, the count of votes, and their histogram."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import Struct
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QKeySequence, QPainter, QPaintEvent, QShortcut
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from ...tracer.model.finding import count_noun
from ..lectures.player.caption import CaptionCard, sized
from ..model.nothing import nothing
from ..widgets.plain_text import PlainLabel, plain_tip
from ..widgets.theme import Theme
from .model.messages import Row

QUIET = 4  # modules around a QR code, as its standard requires
CLOSE_KEY = "V"
QR_SIZE = 13  # side of a QR code, in letters
ROW = 1.5  # height of a row, in letters
LABELS, COUNTS = 0.34, 4  # width of labels as a share, and of counts in letters


class HallView(Struct, frozen=True):
    """The hall as the audience sees it."""

    address: str = ""  # "" hides it
    code: tuple[bytes, ...] = ()  # rows of the QR code, a byte for each module
    phones: int = 0
    votes: int | None = None  # None without a question
    is_open: bool = False
    rows: tuple[Row, ...] = ()
    hint: str = ""  # a sentence for the lecturer


class CodeView(QWidget):
    """A QR code: dark modules on white in both themes, since scanners need that."""

    def __init__(self) -> None:
        super().__init__()
        self.code: Sequence[bytes] = ()
        self.setAccessibleName("QR code of the address")

    def show_code(self, code: Sequence[bytes], size: int) -> None:
        """Show a code with modules of equal pixels, about as large as `size`."""
        modules = len(code) + 2 * QUIET
        self.code = code
        self.setFixedSize(*[modules * max(2, round(size / modules))] * 2)
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the modules."""
        painter = QPainter(self)
        painter.fillRect(self.rect(), QColor("#FFFFFF"))
        side = self.width() // (len(self.code) + 2 * QUIET) if self.code else 0
        for y, row in enumerate(self.code):
            for x, is_dark in enumerate(row):
                if is_dark:
                    painter.fillRect((x + QUIET) * side, (y + QUIET) * side, side, side, QColor("#000000"))
        painter.end()


class HistogramView(QWidget):
    """The votes as horizontal bars, with the answer once it is revealed."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.theme, self.letters = theme, theme.px(20)
        self.rows: Sequence[Row] = ()
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def show_rows(self, rows: Sequence[Row], theme: Theme, letters: int) -> None:
        """Show these rows."""
        self.rows, self.theme, self.letters = rows, theme, letters
        self.setFixedHeight(round(len(rows) * ROW * letters))
        self.setAccessibleName("Votes of the hall")
        self.setAccessibleDescription("; ".join(map(_row_text, rows)))
        self.setVisible(bool(rows))
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the rows."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for i, row in enumerate(self.rows):
            self._paint_row(painter, row, i * ROW * self.letters)
        painter.end()

    def _paint_row(self, painter: QPainter, row: Row, top: float) -> None:
        letters, palette = self.letters, self.theme.palette
        height = ROW * letters
        left, right = LABELS * self.width(), self.width() - COUNTS * letters
        ink = QColor(palette.good if row.is_right else palette.text)
        painter.setFont(sized(self.theme, letters, bold=row.is_right))
        painter.setPen(ink)
        sign = "  ✓" * row.is_right
        room = round(left - letters)
        metrics = painter.fontMetrics()
        shown = room - metrics.horizontalAdvance(sign)
        text = metrics.elidedText(row.label, Qt.TextElideMode.ElideRight, shown) + sign
        middle = Qt.AlignmentFlag.AlignVCenter
        painter.drawText(QRectF(0, top, room, height), middle | Qt.AlignmentFlag.AlignLeft, text)
        painter.drawText(
            QRectF(right, top, COUNTS * letters, height), middle | Qt.AlignmentFlag.AlignRight, row.text
        )
        track = QRectF(left, top + 0.2 * height, right - left, 0.6 * height)
        painter.setPen(Qt.PenStyle.NoPen)
        for width, colour in (
            (track.width(), palette.badge),
            (row.share * track.width(), palette.good if row.is_right else palette.control),
        ):
            painter.setBrush(QColor(colour))
            painter.drawRoundedRect(QRectF(track.left(), track.top(), width, track.height()), 4, 4)
        if row.target is not None:
            painter.setBrush(QColor(palette.good))
            x = track.left() + row.target * track.width()
            painter.drawRect(QRectF(x - 3, top + 0.08 * height, 6, 0.84 * height))


class HallCard(CaptionCard):
    """The hall below a lecture's caption. closed: the lecturer closes the vote."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.closed: Callable[[], object] = nothing
        self.theme, self.view, self.size_of_letters = theme, HallView(), theme.px(20)
        self.setAccessibleName("Hall")
        self.code, self.histogram = CodeView(), HistogramView(theme)
        self.address, self.count, self.hint = PlainLabel(), PlainLabel(), PlainLabel()
        self.address.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.hint.setWordWrap(True)
        self.hint.setObjectName("muted")
        self.close_vote = QPushButton("Close vote")
        self.close_vote.setToolTip(plain_tip(f"Close the vote and show the histogram ({CLOSE_KEY})"))
        self.key = QShortcut(QKeySequence(CLOSE_KEY), self)
        self.key.setContext(Qt.ShortcutContext.WindowShortcut)
        self.key.activated.connect(lambda: self.closed())
        self.close_vote.clicked.connect(lambda: self.closed())
        texts = QVBoxLayout()
        self.line = QHBoxLayout()
        self.line.addWidget(self.count)
        self.line.addWidget(self.close_vote)
        self.line.addStretch(1)
        texts.addStretch(1)
        texts.addWidget(self.address)
        texts.addLayout(self.line)
        texts.addWidget(self.hint)
        texts.addWidget(self.histogram)
        texts.addStretch(1)
        self.row = QHBoxLayout(self)
        self.row.addWidget(self.code, 0, Qt.AlignmentFlag.AlignTop)
        self.row.addLayout(texts, 1)
        self.texts = texts
        self.hide()

    def show_view(self, view: HallView) -> bool:
        """Show the hall; return False if nothing has changed."""
        if view == self.view:
            return False
        self.view = view
        self._show()
        return True

    def set_theme(self, theme: Theme) -> None:
        """Apply colours and text size."""
        self.theme = theme
        self._show()

    def set_letters(self, pixels: int) -> None:
        """Set the font size in pixels."""
        if pixels != self.size_of_letters:
            self.size_of_letters = pixels
            self._show()

    def _show(self) -> None:
        view, letters, theme = self.view, self.size_of_letters, self.theme
        self.row.setContentsMargins(0, letters // 3, 0, 0)
        self.row.setSpacing(letters)
        self.texts.setSpacing(letters // 4)
        self.line.setSpacing(letters)
        self.code.setVisible(bool(view.code))
        if view.code:
            self.code.show_code(view.code, QR_SIZE * letters)
        self.address.setText(view.address)
        self.address.setFont(sized(theme, round(1.5 * letters), bold=True))
        self.address.setVisible(bool(view.address))
        self.hint.setText(view.hint)
        self.hint.setFont(sized(theme, round(0.8 * letters)))
        self.hint.setVisible(bool(view.hint))
        self.count.setText(count_text(view))
        self.count.setFont(sized(theme, letters, bold=view.votes is not None))
        self.count.setVisible(bool(view.address) or view.votes is not None)
        self.close_vote.setVisible(view.is_open)
        self.key.setEnabled(view.is_open)
        self.close_vote.setFont(sized(theme, round(0.8 * letters)))
        self.histogram.show_rows(view.rows, theme, letters)
        self.setVisible(bool(view.address) or view.votes is not None)


def count_text(view: HallView) -> str:
    """Count the connected phones, or the votes on an open question."""
    phones = count_noun(view.phones, "phone")
    if view.votes is None:
        return f"{phones} connected"
    votes = count_noun(view.votes, "vote")
    return f"{votes} of {phones}" if view.is_open else f"{votes}, closed"


def _row_text(row: Row) -> str:
    answer = ", the answer" * row.is_right
    target = "" if row.target is None else f", the answer is {100 * row.target:.0f}"
    return f"{row.label}: {row.text}{answer}{target}"
