"""The line below the counters: where the compiler's counts, or a GPU's, differ from what the source says."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFont, QFontMetricsF, QHelpEvent, QKeyEvent, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from ...compiled.depths import Depths, depth_text, depths_of, short_compiler
from ...model.counter_labels import COMPILED as LABEL
from ...model.session import Session
from ...model.spotlight import Lit
from ...widgets.plain_text import plain_tip
from ...widgets.theme import Theme
from ..common.dimming import draw_frame
from ..common.drawing import width_of
from ..common.view import View
from ..common.wording import COMPILED, MARKS, MEASURED, count_text, plural

HEIGHT, SIDE, GAP, TEXT = 22, 10, 18, 11  # pixels at the normal text size
LARGE_HEIGHT, LARGE_TEXT = 32, 16  # of a lecture
OFFER = "as compiled: the kernel came with this file; click to run it"
SAME = "compiled: the same requests"
SAME_MEASURED = "compiled and measured: the same requests"


class DepthsView(View):
    """One line, which keeps its height from the first picture on: it fills once the compiler has answered.

    agreed: the user clicked on the offer to count a kernel that came with a file.
    """

    agreed = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        self.setAccessibleName("Counters as written, compiled and measured")
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.depths: Depths | None = None
        self.is_large = False
        self.is_quiet = False
        self.is_offered = False

    def load(self, session: Session | None) -> None:
        """Take a session."""
        super().load(session)
        self.show_compiled()

    def show_compiled(self) -> None:
        """Show what is known of the session as compiled."""
        self.depths = depths_of(self.session) if self.session else None
        self.setAccessibleDescription(self.say(self.text()))
        self.update()

    def enlarge(self, large: bool) -> None:
        """Write as large as the back of a room needs it, or as usual."""
        if large != self.is_large:
            self.is_large = large
            self.updateGeometry()
            self.update()

    def keep_quiet(self, quiet: bool) -> None:
        """Say nothing while a lecture asks, or say it again."""
        if quiet != self.is_quiet:
            self.is_quiet = quiet
            self.show_compiled()

    def offer(self, offered: bool) -> None:
        """Offer to count the kernel, which came with a file, once the user agrees to run it."""
        if offered != self.is_offered:
            self.is_offered = offered
            self.setCursor(Qt.CursorShape.PointingHandCursor if offered else Qt.CursorShape.ArrowCursor)
            self.setFocusPolicy(Qt.FocusPolicy.TabFocus if offered else Qt.FocusPolicy.NoFocus)
            self.show_compiled()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Agree to what is offered."""
        if self.is_offered and self.depths is None:
            self.agreed.emit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Agree to what is offered by Return."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.is_offered and self.depths is None:
            self.agreed.emit()
        else:
            super().keyPressEvent(event)

    def items(self) -> list[tuple[str, str]]:
        """Return what the line says: labels, and what stands behind each."""
        depths = self.depths
        if self.is_offered and depths is None and not self.is_quiet:
            return [("", OFFER)]
        if depths is None or self.is_quiet:
            return []
        if depths.compiled.reason:
            return [("not compiled", depths.compiled.reason)]
        telling = depths.telling()
        if telling:  # the numbers above are those by now, these those of the whole launch
            return [(f"{depth.short_label} in all", depth_text(depth)) for depth in telling]
        return [("", SAME_MEASURED if depths.measured else SAME)]

    def text(self) -> str:
        """Return the line as it is read out."""
        return ", ".join(": ".join(filter(None, item)) for item in self.items())

    def sizeHint(self) -> QSize:
        """Return the height of a line."""
        return QSize(self.theme.px(200), self._height())

    def minimumSizeHint(self) -> QSize:
        """Return the height of a line, and no width: what has no room is in the tip."""
        return QSize(0, self._height())

    def _height(self) -> int:
        return self.theme.px(LARGE_HEIGHT if self.is_large else HEIGHT)

    def set_theme(self, theme: Theme) -> None:
        """Take other colours or another text size."""
        super().set_theme(theme)
        self.updateGeometry()
        self.update()

    def is_part_of(self, lit: Lit) -> bool:
        """Return whether the line stands out."""
        return LABEL in lit.counters

    def paintEvent(self, event: QPaintEvent) -> None:
        """Write as many counters as there is room for; the last one that is cut ends in an ellipsis."""
        painter, theme = QPainter(self), self.theme
        painter.fillRect(event.rect(), theme.colour("panel"))
        room = QRectF(self.rect()).adjusted(theme.px(SIDE), 0, -theme.px(SIDE), 0)
        size = LARGE_TEXT if self.is_large else TEXT
        muted, strong = theme.font(size), theme.font(size, bold=True)
        items, left = self.items(), room.left()
        for number, (label, text) in enumerate(items):
            rest = len(items) - number
            more = f"+ {plural(rest, 'more counter')}"
            wide = self._wide(label, text, muted, strong)
            if number and left + wide > room.right():
                self._write(painter, room, left, more, muted, "muted")
                break
            if label:
                left = self._write(painter, room, left, f"{self.say(label)}  ", muted, "muted")
            telling = bool(self.depths and not self.depths.compiled.reason and label)
            for word in text.split(" · ") if telling else [text]:
                name, _, amount = word.rpartition(" ") if telling else (word, "", "")
                left = self._write(painter, room, left, f"{self.say(name)} ", muted, "muted")
                left = self._write(painter, room, left, amount, strong, "text")
                left += theme.px(GAP / 3) if telling else 0
            left += theme.px(GAP)
        if self.lit is not None and self.is_part_of(self.lit):
            draw_frame(painter, QRectF(self.rect()).adjusted(2, 2, -2, -2), theme)

    @staticmethod
    def _wide(label: str, text: str, muted: QFont, strong: QFont) -> float:
        return width_of(f"{label}  ", muted) + width_of(text, strong)

    def _write(
        self, painter: QPainter, room: QRectF, left: float, text: str, font: QFont, colour: str
    ) -> float:
        """Write a text from `left` on, as much of it as fits; return where it ends."""
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
        """Show all counters in a tip, where the pointer rests; everything else as usual."""
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            QToolTip.showText(event.globalPos(), plain_tip(self.say(self.tip())), self)
            return True
        return super().event(event)

    def tip(self) -> str:
        """Return all counters at all depths, and where they come from."""
        depths = self.depths
        if depths is None or self.is_quiet:
            return ""
        found = depths.compiled
        if found.reason:
            return f"Not compiled: {found.reason}"
        lines = [f"{d.label}: {depth_text(d)}" for d in depths.counters if not d.name.endswith("bytes")]
        spills = f", {count_text(found.spills)} bytes of spills" if found.spills else ""
        registers = f", {found.registers} registers a thread{spills}" if found.registers is not None else ""
        lines.append(f"Compiled by {short_compiler(found)}{registers}. {MARKS[COMPILED]}")
        if depths.measured:
            lines.append(
                f"Measured on an {depths.measured.device}, {depths.measured.date}. {MARKS[MEASURED]}"
            )
        return "\n".join([*lines, *found.notes])
