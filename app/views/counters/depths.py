"""The line below the counters: the differences between the source's, the compiler's and a GPU's counts."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QRectF, QSize, Qt
from PySide6.QtGui import QFont, QFontMetricsF, QHelpEvent, QKeyEvent, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from ...compiled.model.depths import Depths, depth_text, depths_of, short_compiler
from ...model.counter_labels import COMPILED as LABEL
from ...model.session import Session
from ...model.spotlight import Highlight
from ...widgets.plain_text import plain_tip
from ...widgets.theme import Theme
from ..common.dimming import draw_frame
from ..common.drawing import text_width
from ..common.view import View
from ..common.wording import COMPILED, MARKS, MEASURED, count_text, plural

HEIGHT, SIDE, GAP, TEXT = 22, 10, 18, 11  # pixels at the normal text size
LARGE_HEIGHT, LARGE_TEXT = 32, 13  # in a lecture
OFFER = "as compiled: the kernel came with this file; click to run it"
SAME = "compiled: the same requests"
SAME_MEASURED = "compiled and measured: the same requests"


class DepthsView(View):
    """One line of a constant height, which is filled when the compiler has answered.

    agreed: called when the user clicks on the offer to compile a kernel that came with a file.
    """

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        self.setAccessibleName("Counters as written, compiled and measured")
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.agreed: Callable[[], object] = lambda: None
        self.depths: Depths | None = None
        self.is_large = False
        self.is_quiet = False
        self.is_offered = False

    def load(self, session: Session | None) -> None:
        """Load a session."""
        super().load(session)
        self.show_compiled()

    def show_compiled(self) -> None:
        """Show the compiler's counts of the session, as far as known."""
        self.depths = depths_of(self.session) if self.session else None
        self.setAccessibleDescription(self.reword(self.text()))
        self.update()

    def enlarge(self, large: bool) -> None:
        """Use a large text for lectures, or the normal one."""
        if large != self.is_large:
            self.is_large = large
            self.updateGeometry()
            self.update()

    def set_quiet(self, quiet: bool) -> None:
        """Show nothing while a lecture asks a question, or show the counts again."""
        if quiet != self.is_quiet:
            self.is_quiet = quiet
            self.show_compiled()

    def offer(self, offered: bool) -> None:
        """Offer to compile a kernel that came with a file, which the user must allow."""
        if offered != self.is_offered:
            self.is_offered = offered
            self.setCursor(Qt.CursorShape.PointingHandCursor if offered else Qt.CursorShape.ArrowCursor)
            self.setFocusPolicy(Qt.FocusPolicy.TabFocus if offered else Qt.FocusPolicy.NoFocus)
            self.show_compiled()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Accept the offer."""
        if self.is_offered and self.depths is None:
            self.agreed()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Accept the offer with Return."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.is_offered and self.depths is None:
            self.agreed()
        else:
            super().keyPressEvent(event)

    def items(self) -> list[tuple[str, str]]:
        """List the labels and texts of the line."""
        depths = self.depths
        if self.is_offered and depths is None and not self.is_quiet:
            return [("", OFFER)]
        if depths is None or self.is_quiet:
            return []
        if depths.compiled.reason:
            return [("not compiled", depths.compiled.reason)]
        differing = depths.differing()
        if differing:  # the numbers above are those so far, these are of the complete launch
            return [(f"{depth.short_label} in all", depth_text(depth)) for depth in differing]
        return [("", SAME_MEASURED if depths.measured else SAME)]

    def text(self) -> str:
        """Return the line for screen readers."""
        return ", ".join(": ".join(filter(None, item)) for item in self.items())

    def sizeHint(self) -> QSize:
        """Return the height of a line."""
        return QSize(self.theme.px(200), self._height())

    def minimumSizeHint(self) -> QSize:
        """Return the height of a line and no width: the tooltip has everything."""
        return QSize(0, self._height())

    def _height(self) -> int:
        return self.theme.px(LARGE_HEIGHT if self.is_large else HEIGHT)

    def set_theme(self, theme: Theme) -> None:
        """Use another theme or text size."""
        super().set_theme(theme)
        self.updateGeometry()
        self.update()

    def shows_highlight(self, highlight: Highlight) -> bool:
        """Return True if the line is highlighted."""
        return LABEL in highlight.counters

    def paintEvent(self, event: QPaintEvent) -> None:
        """Write as many counters as fit; the last one is shortened."""
        painter, theme = QPainter(self), self.theme
        painter.fillRect(event.rect(), theme.colour("panel"))
        room = QRectF(self.rect()).adjusted(theme.px(SIDE), 0, -theme.px(SIDE), 0)
        size = LARGE_TEXT if self.is_large else TEXT
        muted, strong = theme.font(size), theme.font(size, bold=True)
        items, left = self.items(), room.left()
        for number, (label, text) in enumerate(items):
            rest = len(items) - number
            more = f"+ {plural(rest, 'more counter')}"
            width = self._item_width(label, text, muted, strong)
            if number and left + width > room.right():
                self._write(painter, room, left, more, muted, "muted")
                break
            if label:
                left = self._write(painter, room, left, f"{self.reword(label)}  ", muted, "muted")
            has_amounts = bool(self.depths and not self.depths.compiled.reason and label)
            for word in text.split(" · ") if has_amounts else [text]:
                name, _, amount = word.rpartition(" ") if has_amounts else (word, "", "")
                left = self._write(painter, room, left, f"{self.reword(name)} ", muted, "muted")
                left = self._write(painter, room, left, amount, strong, "text")
                left += theme.px(GAP / 3) if has_amounts else 0
            left += theme.px(GAP)
        if items and self.highlight is not None and self.shows_highlight(self.highlight):
            draw_frame(painter, QRectF(self.rect()).adjusted(2, 2, -2, -2), theme)

    @staticmethod
    def _item_width(label: str, text: str, muted: QFont, strong: QFont) -> float:
        return text_width(f"{label}  ", muted) + text_width(text, strong)

    def _write(
        self, painter: QPainter, room: QRectF, left: float, text: str, font: QFont, colour: str
    ) -> float:
        """Write a text from `left` on, shortened to the room; return its end."""
        free = room.right() - left
        if free <= 0 or not text:
            return left
        shown = QFontMetricsF(font).elidedText(text, Qt.TextElideMode.ElideRight, free)
        painter.setFont(font)
        painter.setPen(self.theme.colour(colour))
        box = QRectF(left, room.top(), free, room.height())
        painter.drawText(box, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, shown)
        return left + QFontMetricsF(font).horizontalAdvance(shown)

    def event(self, event: QEvent) -> bool:
        """Show all counters in a tooltip; handle all other events as usual."""
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            QToolTip.showText(event.globalPos(), plain_tip(self.reword(self.tip())), self)
            return True
        return super().event(event)

    def tip(self) -> str:
        """Describe all counters of source, compiler and GPU, with their origin."""
        depths = self.depths
        if depths is None or self.is_quiet:
            return ""
        compiled = depths.compiled
        if compiled.reason:
            return f"Not compiled: {compiled.reason}"
        lines = [f"{d.label}: {depth_text(d)}" for d in depths.counters if not d.name.endswith("bytes")]
        spills = f", {count_text(compiled.spills)} bytes of spills" if compiled.spills else ""
        registers = (
            f", {compiled.registers} registers a thread{spills}" if compiled.registers is not None else ""
        )
        lines.append(f"Compiled by {short_compiler(compiled)}{registers}. {MARKS[COMPILED]}")
        if depths.measured:
            lines.append(
                f"Measured on an {depths.measured.device}, {depths.measured.date}. {MARKS[MEASURED]}"
            )
        return "\n".join([*lines, *compiled.notes])
