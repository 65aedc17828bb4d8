"""The result of an exercise: the verdict in large words with a sign, and the rows with the reasons."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QEasingCurve, QEvent, QPointF, QRectF, QSize, Qt, QVariantAnimation
from PySide6.QtGui import QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QFrame, QHBoxLayout, QVBoxLayout, QWidget

from ..model.nothing import nothing
from ..views.common.severity import draw_sign
from ..widgets.flow_layout import FlowLayout
from ..widgets.plain_text import PlainLabel, plain_tip
from ..widgets.theme import Theme, text_palette
from .verdict_text import PASSED, Row

JOY = 600  # milliseconds of the animated tick of a passed exercise
TICK = (QPointF(3, 8.5), QPointF(6.7, 12.2), QPointF(13, 4.2))  # in a square of 16 x 16
KEYS = (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space)


class SignView(QWidget):
    """A sign: "right" is a tick, "error" and "warning" are those of findings, "" is a dotted ring."""

    def __init__(self, theme: Theme, size: float) -> None:
        super().__init__()
        self.theme, self.length, self.sign = theme, size, ""
        self._drawn = QVariantAnimation(self, startValue=0.0, endValue=1.0, duration=JOY)
        self._drawn.setEasingCurve(QEasingCurve.Type.OutCubic)
        self._drawn.valueChanged.connect(lambda _: self.update())
        self.set_theme(theme)

    def show_sign(self, sign: str, *, joy: bool = False) -> None:
        """Show a sign; joy: animate it, unless motion is reduced."""
        self.sign = sign
        self._drawn.stop()
        if joy and not self.theme.reduced_motion:
            self._drawn.start()
        self.update()

    def set_theme(self, theme: Theme) -> None:
        """Apply colours and text size."""
        self.theme = theme
        self.setFixedSize(theme.px(self.length), theme.px(self.length))
        self.update()

    def _share(self) -> float:
        """Return the drawn share of the tick."""
        running = self._drawn.state() == QVariantAnimation.State.Running
        return float(self._drawn.currentValue()) if running else 1.0

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the sign."""
        painter = QPainter(self)
        if self.sign in ("error", "warning"):
            draw_sign(painter, QRectF(self.rect()), self.sign, self.theme)
        else:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.scale(self.width() / 16, self.height() / 16)
            self._draw_tick(painter) if self.sign else self._draw_ring(painter)
        painter.end()

    def _draw_tick(self, painter: QPainter) -> None:
        painter.setPen(QPen(self.theme.colour("good"), 2.4, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap,
                            Qt.PenJoinStyle.RoundJoin))  # fmt: skip
        first, corner, last = TICK
        share = self._share()
        points = [first, first + (corner - first) * min(1.0, 3 * share)]
        if share > 1 / 3:
            points.append(corner + (last - corner) * min(1.0, (share - 1 / 3) * 1.5))
        painter.drawPolyline(QPolygonF(points))

    def _draw_ring(self, painter: QPainter) -> None:
        painter.setPen(QPen(self.theme.colour("muted"), 1.8, Qt.PenStyle.DotLine))
        painter.drawEllipse(QRectF(2, 2, 12, 12))


class ResultHead(QFrame):
    """The verdict in large words, with a line of details below, and buttons at the right."""

    def __init__(self, theme: Theme, buttons: Sequence[QWidget]) -> None:
        super().__init__()
        self.setObjectName("verdict")
        self.theme = theme
        self.sign = SignView(theme, 26)
        self.words, self.line = PlainLabel(), PlainLabel()
        self.line.setObjectName("muted")
        self.line.setWordWrap(True)
        self.column, self.row = QVBoxLayout(self), FlowLayout()
        self.row.add(self.sign)
        self.row.add(self.words)
        for widget in buttons:
            self.row.add(widget, right=True)
        self.column.addLayout(self.row)
        self.column.addWidget(self.line)

    def show_result(self, words: str, line: str, sign: str, *, joy: bool) -> None:
        """Show the verdict with its sign; joy: it has just changed to passed."""
        self.words.setText(words)
        self.line.setText(line)
        if sign != self.sign.sign or joy:
            self.sign.show_sign(sign, joy=joy)
        self.setAccessibleName(f"{words}. {line}")
        self._colour()

    def set_theme(self, theme: Theme) -> None:
        """Apply colours and text size."""
        self.theme = theme
        px = theme.px
        self.sign.set_theme(theme)
        self.words.setFont(theme.font(19, bold=True))
        self.line.setFont(theme.font(12.5))
        self.column.setContentsMargins(px(10), px(6), px(8), px(6))
        self.column.setSpacing(px(2))
        self.row.setSpacing(px(8))
        self._colour()

    def _colour(self) -> None:
        passed, palette = self.words.text() == PASSED, self.theme.palette
        self.words.setPalette(text_palette(self.theme, "good" if passed else "text"))
        self.setStyleSheet(
            f"QFrame#verdict {{ background: {palette.badge}; border: none; border-radius: {self.theme.px(6)}px;"
            f" border-left: {self.theme.px(4)}px solid {palette.good if passed else palette.control}; }}"
        )


class ResultRow(QFrame):
    """One row: a sign, a sentence, and the numbers of a goal; a click or Enter goes to its line."""

    def __init__(self, row: Row, theme: Theme) -> None:
        super().__init__()
        self.asked: Callable[[int], object] = nothing
        self.row = row
        self.sign = SignView(theme, 15)
        self.sign.show_sign(row.sign)
        self.text = PlainLabel(theme.translate(row.text))
        self.text.setWordWrap(True)
        self.text.setFont(theme.font(13))
        column = QVBoxLayout()
        column.setSpacing(theme.px(2))
        column.addWidget(self.text)
        if row.needs:
            column.addWidget(_numbers(row, theme))
        line = QHBoxLayout(self)
        line.setContentsMargins(theme.px(4), theme.px(3), theme.px(4), theme.px(3))
        line.setSpacing(theme.px(8))
        line.addWidget(self.sign, 0, Qt.AlignmentFlag.AlignTop)
        line.addLayout(column, 1)
        self.setAccessibleName(f"{row.sign}: {row.text}")
        if row.tip:
            self.setToolTip(plain_tip(row.tip))
        if row.line:
            self._make_link(theme)

    def _make_link(self, theme: Theme) -> None:
        self.setObjectName("row")
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setStyleSheet(
            f"QFrame#row {{ border: 1px solid transparent; border-radius: {theme.px(4)}px; }}"
            f" QFrame#row:hover {{ background: {theme.palette.badge}; }}"
            f" QFrame#row:focus {{ border: 1px solid {theme.palette.accent}; }}"
        )

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Go to the line."""
        if self.row.line:
            self.asked(self.row.line)

    def event(self, event: QEvent) -> bool:
        """Reserve the keys that go to the line, which are shortcuts of the window."""
        override = isinstance(event, QKeyEvent) and event.type() == QEvent.Type.ShortcutOverride
        if override and self.row.line and event.key() in KEYS:  # type: ignore[attr-defined]
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Go to the line with Enter or Space."""
        if self.row.line and event.key() in KEYS:
            self.asked(self.row.line)
        else:
            super().keyPressEvent(event)


def _numbers(row: Row, theme: Theme) -> PlainLabel:
    """Build the label of a goal's numbers: each counter, the stub's, and the condition if it is not met."""
    lines = [f"{name}: {own}, the stub {stub} · exact" for name, own, stub in row.table]
    if row.sign != "right":
        lines = [row.instead, *lines] if row.instead else [*lines, f"needs {row.needs}"]
    label = PlainLabel("\n".join(lines))
    label.setObjectName("muted")
    label.setWordWrap(True)
    label.setFont(theme.font(12))
    label.setToolTip(plain_tip(f"needs {row.needs}"))
    return label


class ResultRows(QWidget):
    """All rows of a verdict, one below the other. asked: go to a line."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: Callable[[int], object] = nothing
        self.rows: tuple[Row, ...] = ()
        self.column = QVBoxLayout(self)
        self.column.setContentsMargins(0, 0, 0, 0)
        self.column.setSpacing(0)

    def show_rows(self, rows: Sequence[Row], theme: Theme) -> None:
        """Replace the rows."""
        self.rows = tuple(rows)
        while (item := self.column.takeAt(0)) is not None:
            if (old := item.widget()) is not None:
                old.hide()
                old.deleteLater()
        for row in rows:
            row_widget = ResultRow(row, theme)
            row_widget.asked = self.asked
            self.column.addWidget(row_widget)

    def minimumSizeHint(self) -> QSize:
        """Return no minimum width, since sentences wrap."""
        return QSize(0, super().minimumSizeHint().height())
