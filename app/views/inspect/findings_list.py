"""The list of findings: a sign, the sentence, and the source line of each; rows are as high as their text."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import (
    QModelIndex,
    QPersistentModelIndex,
    QPoint,
    QRect,
    QRectF,
    QSignalBlocker,
    QSize,
    Qt,
)
from PySide6.QtGui import QFont, QFontMetrics, QKeyEvent, QMouseEvent, QPainter, QResizeEvent
from PySide6.QtWidgets import (
    QListWidget,
    QListWidgetItem,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from ....tracer.model.finding import Finding, source_location
from ....tracer.model.rules import rule_of
from ...model.nothing import nothing
from ...model.session import Session
from ...widgets.patterns import mixed
from ...widgets.theme import Theme, flat_sheet
from ..common.descriptions import source_line
from ..common.severity import draw_sign

SOURCE = Qt.ItemDataRole.UserRole  # (line number, text of the line)
SEVERITY = Qt.ItemDataRole.UserRole + 1
ModelIndex = QModelIndex | QPersistentModelIndex
WRAP = Qt.TextFlag.TextWordWrap
SENTENCE, CODE = 13.0, 11.5  # text sizes


class FindingsList(QListWidget):
    """The findings that match the filter."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        # Gets the name of a finding's rule after a click on its "?" or the key ?.
        self.page_asked: Callable[[str], object] = nothing
        self.setAccessibleName("Findings")
        self.setFrameShape(QListWidget.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollMode(QListWidget.ScrollMode.ScrollPerPixel)
        self.setResizeMode(QListWidget.ResizeMode.Adjust)
        self.delegate = FindingDelegate(theme, self)
        self.setItemDelegate(self.delegate)
        self._listed: tuple[Finding, ...] = ()  # by row

    def set_theme(self, theme: Theme) -> None:
        """Use another theme and text size."""
        self.delegate.theme = theme
        self.setStyleSheet(flat_sheet("QListWidget", theme))
        self.doItemsLayout()

    def show_findings(self, session: Session | None, shown: Sequence[Finding]) -> None:
        """List some of a session's findings, without a selection."""
        with QSignalBlocker(self):  # the old rows belong to another session
            self.clear()
            self._listed = tuple(shown)
            self._add_rows(session)

    def _add_rows(self, session: Session | None) -> None:
        for finding in self._listed:
            assert session
            line, text = source_of(session, finding)
            message = self.delegate.theme.translate(finding.message)
            item = QListWidgetItem(message)
            item.setData(SOURCE, (line, text))
            item.setData(SEVERITY, finding.severity)
            item.setData(Qt.ItemDataRole.AccessibleTextRole, f"{finding.severity}, line {line}: {message}")
            self.addItem(item)

    def chosen(self) -> Finding | None:
        """Return the selected finding."""
        row = self.currentRow()
        return self._listed[row] if 0 <= row < len(self._listed) else None

    def choose(self, finding: Finding | None) -> None:
        """Select a finding, if it is listed."""
        for row, listed in enumerate(self._listed):
            if listed is finding:
                self.setCurrentRow(row)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Open the page of a finding by a click on its "?"; elsewhere select the row."""
        page = self._page_at(event.position().toPoint())
        if page and event.button() == Qt.MouseButton.LeftButton:
            self.page_asked(page)
        else:
            super().mousePressEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Open the page of the selected finding with the key ?."""
        chosen = self.chosen()
        if event.text() == "?" and chosen:
            self.page_asked(rule_of(chosen.code).name)
        else:
            super().keyPressEvent(event)

    def question_rect(self, row: int) -> QRect:
        """Return the rectangle of a row's "?", in viewport coordinates."""
        return self.delegate.question_rect(self.visualItemRect(self.item(row)))

    def _page_at(self, position: QPoint) -> str:
        """Return the page of the finding whose "?" is at a position, or ""."""
        row = self.row(item) if (item := self.itemAt(position)) else -1
        return (
            rule_of(self._listed[row].code).name
            if row >= 0 and self.question_rect(row).contains(position)
            else ""
        )

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Wrap the sentences again."""
        super().resizeEvent(event)
        self.doItemsLayout()


class FindingDelegate(QStyledItemDelegate):
    """Draws one finding."""

    def __init__(self, theme: Theme, parent: FindingsList) -> None:
        super().__init__(parent)
        self.theme = theme
        self._list = parent

    def sizeHint(self, option: QStyleOptionViewItem, index: ModelIndex) -> QSize:
        """Return the size of a row at the width of the list."""
        width = max(1, self._list.viewport().width())
        return QSize(
            width, self._sentence(QRect(0, 0, width, 0), str(index.data())).bottom() + self._source_height()
        )

    def _source_height(self) -> int:
        return QFontMetrics(self._font(CODE)).height() + self.theme.px(14)

    def _font(self, size: float) -> QFont:
        return self.theme.font(size, mono=size == CODE)

    def _sentence(self, row: QRect, text: str) -> QRect:
        """Return the rectangle of a row's sentence."""
        px = self.theme.px
        room = QRect(row.left() + px(36), row.top() + px(8), max(1, row.width() - px(72)), 100_000)
        return QFontMetrics(self._font(SENTENCE)).boundingRect(room, WRAP, text)

    def question_rect(self, row: QRect) -> QRect:
        """Return the rectangle of the "?" in a row, which opens the page about the kind of finding."""
        side = self.theme.px(24)
        return QRect(row.right() - side - self.theme.px(4), row.top() + self.theme.px(4), side, side)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: ModelIndex) -> None:
        """Draw sign, sentence and source line, and a bar at the side of the selected row."""
        theme, row, text = self.theme, option.rect, str(index.data())
        painter.save()
        self._paint_background(painter, option, row)
        side = theme.px(16)
        sign = QRectF(row.left() + theme.px(12), row.top() + theme.px(8), side, side)
        draw_sign(painter, sign, index.data(SEVERITY), theme)
        sentence = self._sentence(row, text)
        painter.setFont(self._font(SENTENCE))
        painter.setPen(theme.colour("text"))
        painter.drawText(sentence, WRAP, text)
        painter.setPen(theme.colour("accent"))
        painter.drawText(self.question_rect(row), Qt.AlignmentFlag.AlignCenter, "?")
        line, code = index.data(SOURCE)
        self._paint_source(painter, row, sentence.bottom() + theme.px(2), line, code)
        painter.restore()

    def _paint_background(self, painter: QPainter, option: QStyleOptionViewItem, row: QRect) -> None:
        theme = self.theme
        chosen = bool(option.state & QStyle.StateFlag.State_Selected)
        if chosen:
            painter.fillRect(row, mixed(theme.colour("panel"), theme.palette.accent, 0.14))
            painter.fillRect(QRect(row.topLeft(), QSize(theme.px(3), row.height())), theme.colour("accent"))
        elif option.state & QStyle.StateFlag.State_MouseOver:
            painter.fillRect(row, theme.colour("badge"))
        painter.fillRect(QRect(row.left(), row.bottom(), row.width(), 1), theme.colour("border"))

    def _paint_source(self, painter: QPainter, row: QRect, top: int, line: int, code: str) -> None:
        theme, metrics = self.theme, QFontMetrics(self._font(CODE))
        painter.setFont(self._font(CODE))
        painter.setPen(theme.colour("muted"))
        box = QRect(row.left() + theme.px(36), top, row.width() - theme.px(48), metrics.height())
        text = metrics.elidedText(f"{line}  {code}", Qt.TextElideMode.ElideRight, box.width())
        painter.drawText(box, Qt.AlignmentFlag.AlignVCenter, text)


def source_of(session: Session, finding: Finding) -> tuple[int, str]:
    """Return the number and the stripped text of a finding's line."""
    file, line = source_location(finding, session.trace)
    return line, source_line(session, file, line)
