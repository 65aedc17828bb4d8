"""A legend in rows whose entries hide what they name."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QPointF, Qt, Signal
from PySide6.QtGui import QPainter

from ...widgets.plain_text import markup
from ...widgets.theme import Theme
from .library import drawSymbol, pg

LINE, HEIGHT = 26, 18  # pixels of a sample


class Sample(pg.ItemSample):
    """A piece of a line and a symbol, in the size of the text. A muted name stands next to a hidden item's."""

    def __init__(self, item: Any, theme: Theme, *, has_line: bool) -> None:
        super().__init__(item)
        self.theme, self.has_line, self.shown_item, self.opts = theme, has_line, item, item.opts
        self.setFixedWidth(theme.px(LINE if has_line else HEIGHT))
        self.setFixedHeight(theme.px(HEIGHT))

    def paint(self, painter: QPainter, *rest: Any) -> None:
        """Draw the sample."""
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        middle, options = self.rect().center(), self.opts
        if not self.shown_item.isVisible():
            painter.setOpacity(0.4)
        if self.has_line:
            painter.setPen(pg.mkPen(options["pen"]))
            painter.drawLine(QPointF(0, middle.y()), QPointF(self.rect().width(), middle.y()))
        scatter = getattr(self.shown_item, "scatter", self.shown_item)
        if options.get("symbol"):
            painter.translate(middle)
            styles = (scatter.opts[name] for name in ("symbol", "size"))
            pens = pg.mkPen(scatter.opts["pen"]), pg.mkBrush(scatter.opts["brush"])
            drawSymbol(painter, *styles, *pens)


class Legend(pg.LegendItem):
    """Samples and names in as many columns as fit; `toggled` carries the key of a clicked entry."""

    toggled = Signal(str)

    def __init__(self, theme: Theme, *, right_aligned: bool = False) -> None:
        super().__init__(
            frame=False,
            labelTextColor=theme.colour("text"),
            labelTextSize=f"{theme.px(12 if right_aligned else 13)}px",
            horSpacing=theme.px(6),
            verSpacing=0,
            sampleType=Sample,
        )
        self.theme, self.keys = theme, list[str]()
        self.size_of_text, self.scale_of_text = theme.px(12 if right_aligned else 13), 1.0
        self.layout.setContentsMargins(0, 0, 0, 0)

    def add(self, item: Any, name: str, key: str = "", *, has_line: bool = False) -> None:
        """Add an entry. key: its name in `toggled`; "" for an entry that hides nothing."""
        self.keys.append(key)
        self.addItem(Sample(item, self.theme, has_line=has_line), markup(name))
        label = self.items[-1][1]
        label.item.setFont(self.theme.font(13))
        label.setText(markup(name), **({} if item.isVisible() else {"color": self.theme.colour("muted")}))

    def fit(self, width: float, columns: int = 0) -> float:
        """Arrange the entries in as many columns as fit in this width, or in so many; return the height."""
        for number in [columns] if columns else range(max(len(self.items), 1), 0, -1):
            self.setColumnCount(number)
            for column in range(1, 2 * number, 2):
                self.layout.setColumnSpacing(column, self.theme.px(14))
            self.layout.invalidate()
            needed = self.layout.effectiveSizeHint(Qt.SizeHint.PreferredSize)
            if needed.width() <= width:
                break
        if needed.width() > width and self.scale_of_text == 1:  # smaller text instead of cut names
            self._scale_text(0.97 * width / needed.width())
            return self.fit(width, columns)
        self.resize(needed)
        return float(needed.height())

    def _scale_text(self, scale: float) -> None:
        self.scale_of_text = scale
        for _, label in self.items:
            label.item.setFont(self.theme.font(13 * scale))
            label.setText(label.text, size=f"{max(1, round(self.size_of_text * scale))}px")

    def mouseClickEvent(self, event: Any) -> None:
        """Hide or show what the entry under the pointer names."""
        for key, (sample, label) in zip(self.keys, self.items, strict=True):
            if key and (sample.geometry() | label.geometry()).contains(event.pos()):
                event.accept()
                self.toggled.emit(key)
                return
        event.ignore()

    def mouseDragEvent(self, event: Any) -> None:
        """Leave the legend where it is."""
        event.ignore()
