"""The memory view: every buffer in its place, what happens to it now, and what has happened so far."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import (
    QFocusEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QApplication, QPushButton, QSizePolicy, QToolTip, QWidget

from ...model.session import Selection, Session
from ...model.spotlight import Lit
from ...widgets.plain_text import plain_tip
from ...widgets.theme import Theme
from ..common.descriptions import selection_at
from ..common.drawing import CENTRE, is_vector, write
from ..common.pieces import DrawnPicture, Pieces, Same, changed_area, drawn_picture
from ..common.view import View
from . import descriptions
from .arrangement import Needs, ViewState, Zoom
from .paint import draw_ring
from .picture import MemoryPicture
from .view_data import COLOUR_BY, Tops

WHEEL_STEP, KEY_STEP = 1.2, 1.5
BY_KEYBOARD = (
    Qt.FocusReason.TabFocusReason,
    Qt.FocusReason.BacktabFocusReason,
    Qt.FocusReason.ShortcutFocusReason,
)
NOTHING = "Nothing traced yet"
LEGEND = 1  # rows that the legend may take where nobody says how many


class MemoryView(View):
    """Buffers in the textbook layout, coloured by value or by times read, with the accesses of the moment.

    The wheel, or + and -, zoom; a drag moves the picture; a double click, or 0, shows everything; a click
    asks for the thread that wrote or read the element.
    """

    dims_itself = True

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        self._picture: MemoryPicture | None = None
        self._made: tuple[object, Pieces] | None = None  # what is drawn, and what it follows from
        self._shown: DrawnPicture | None = None  # what was asked to be painted last
        self._colour_by, self._zoom = "auto", Zoom()
        self._tops: Tops = ()
        self._legend, self._large = LEGEND, False
        self._only: tuple[str, ...] = ()
        self._beside: Needs | None = None
        self._grip: tuple[QPointF, Zoom] | None = None
        self._dragged = self._ring = False
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)  # nothing is painted below it
        self.setAccessibleName("Memory")
        self.fit = QPushButton("Fit  0", self)
        self.fit.setAccessibleName("Show everything")
        self.fit.setToolTip("Show everything (0, or a double click)")
        self.fit.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.fit.clicked.connect(lambda _checked: self._show_all())
        self.fit.hide()
        self._describe()

    def sizeHint(self) -> QSize:
        """Return a size at which matrices of 64 x 64 have cells of 3 pixels."""
        return QSize(self.theme.px(550), self.theme.px(450))

    def minimumSizeHint(self) -> QSize:
        """Return the least size at which something can be seen."""
        return QSize(self.theme.px(200), self.theme.px(90))

    @property
    def colour_by(self) -> str:
        """What colours the cells: "value", "reads", one of HEATS, or "auto": reads of what is only read."""
        return self._colour_by

    @colour_by.setter
    def colour_by(self, choice: str) -> None:
        if choice not in COLOUR_BY:
            raise ValueError(f"cells are coloured by {', '.join(COLOUR_BY)}; not by {choice!r}")
        self._colour_by = choice
        self.update()

    @property
    def tops(self) -> Tops:
        """The counts that get the last colour, by measure and space, where panes share their scales."""
        return self._tops

    @tops.setter
    def tops(self, tops: Tops) -> None:
        if tops != self._tops:
            self._tops = tops
            self.update()

    def own_tops(self, selection: Selection) -> dict[tuple[str, str], int]:
        """Return where the scales that count would end without the other panes, by measure and space."""
        return self._picture.tops(self._colour_by, selection) if self._picture else {}

    @property
    def legend(self) -> int:
        """How many rows the legend may take; they are kept for it, so that pictures side by side agree."""
        return self._legend

    @legend.setter
    def legend(self, rows: int) -> None:
        if rows != self._legend:
            self._legend = rows
            self.update()

    @property
    def large(self) -> bool:
        """Whether the cells are as large as they go, for a lecture."""
        return self._large

    @large.setter
    def large(self, large: bool) -> None:
        if large != self._large:
            self._large = large
            self.update()

    @property
    def only(self) -> tuple[str, ...]:
        """The names of the buffers that are shown alone; all are where the launch has none of them."""
        return self._only

    @only.setter
    def only(self, names: tuple[str, ...]) -> None:
        if names != self._only:
            self._only = names
            self.zoom = Zoom()
            self.update()

    @property
    def needs(self) -> Needs | None:
        """What the picture needs where it stands beside another."""
        return self._picture.needs(self._only, self._large) if self._picture else None

    def cell_sizes(self) -> dict[str, float]:
        """Return the side of a cell, in pixels, of each buffer that is shown, by its name; the shorter of the two."""
        if self._picture is None:
            return {}
        places, buffers = self._picture.layout(self._state()).places, self._picture.data.session.trace.buffers
        return {buffers[n].name: min(place.cell, place.row) for n, place in places.items()}

    def cell_texts(self) -> dict[str, dict[tuple[int, int], str]]:
        """Return what is written in cells, by row and column of each buffer by its name, as it was drawn last."""
        if self._picture is None:
            return {}
        places, buffers = self._picture.layout(self._state()).places, self._picture.data.session.trace.buffers
        return {
            buffers[n].name: dict(layer.texts) for n, layer in self._picture.values.items() if n in places
        }

    def stand_beside(self, needs: Needs | None) -> None:
        """Leave the room that this picture and another need together; None for the picture alone."""
        if needs != self._beside:
            self._beside = needs
            self.update()

    @property
    def zoom(self) -> Zoom:
        """The magnification and the point in the middle; `Zoom()` shows everything."""
        return self._zoom

    @zoom.setter
    def zoom(self, zoom: Zoom) -> None:
        scale = max(
            1.0, min(zoom.scale, self._picture.largest_scale(self._state()) if self._picture else 1.0)
        )
        edge = 0.5 / scale
        self._zoom = Zoom(scale, min(max(zoom.x, edge), 1 - edge), min(max(zoom.y, edge), 1 - edge))
        self.setCursor(Qt.CursorShape.OpenHandCursor if scale > 1 else Qt.CursorShape.ArrowCursor)
        self.fit.setVisible(scale > 1)
        self._place_fit()
        self.update()

    def _show_all(self) -> None:
        self.zoom = Zoom()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep the button that shows everything in its corner."""
        self._place_fit()

    def _place_fit(self) -> None:
        self.fit.adjustSize()
        self.fit.move(self.width() - self.fit.width() - self.theme.px(8), self.theme.px(4))

    def load(self, session: Session | None) -> None:
        """Take a session, None to show that there is nothing yet; everything is in view again."""
        super().load(session)
        self._picture = MemoryPicture(session, self.theme) if session else None
        self._made = self._shown = None
        self.zoom = Zoom()
        self._describe()

    def reload(self) -> None:
        """Draw the session anew, more of which is known now, as it is in view."""
        self.set_theme(self.theme)

    def render_moment(self, moment: float, selection: Selection) -> None:
        """Draw this moment; with a fraction, loads are on their way."""
        super().render_moment(moment, selection)
        state = self._state()
        self._describe(state)
        pieces = self._pieces(state, self.devicePixelRatioF()) if self.isVisible() else None
        before, self._shown = self._shown, drawn_picture(pieces) if pieces else None
        area = changed_area(before, pieces) if before and pieces else None
        if area is None:
            self.update()
        else:
            self.update(area)

    def prepare(self, block: int) -> None:
        """Find ahead what another block touches, and what its own memory holds."""
        if self._picture is not None:
            self._picture.prepare(self._state(), block)

    def _pieces(self, state: ViewState, ratio: float) -> Pieces | None:
        """Return what is drawn in a state, made once for a frame."""
        if self._picture is None:
            return None
        key = state, ratio, Same(self._picture), Same(self._picture.data.races)
        if self._made is None or self._made[0] != key:
            self._made = key, self._picture.pieces(state, ratio)
        return self._made[1]

    def set_theme(self, theme: Theme) -> None:
        """Take other colours or another text size."""
        super().set_theme(theme)
        if self.session:
            self._picture = MemoryPicture(self.session, theme)
            self._made = self._shown = None
            self._describe()
        self.updateGeometry()
        self.update()

    def hover_text(self, position: QPointF) -> str:
        """Return what is known about the element at a position, "" where there is none."""
        found = self._picture.element_at(self._state(), position) if self._picture else None
        if not found or not self.session:
            return ""
        text = descriptions.hover_text(self.session, *found, *self._state().now, self._colour_by)
        raced = self._picture.race_at(self._state(), *found) if self._picture else ""
        return self.say(f"{text}\nRace: {raced}" if raced else text)

    def position_of(self, buffer: int, element: int) -> QPointF:
        """Return where the middle of an element stands; raises KeyError for a buffer that is not drawn."""
        if self._picture is None:
            raise KeyError(buffer)
        return QPointF(*self._picture.zoomed(self._state()).places[buffer].middle(element).tolist())

    def _state(self) -> ViewState:
        room = self.width(), self.height(), self._legend, self._beside
        look = self._colour_by, self._tops, self._zoom
        state = ViewState(
            *room, *look, self.moment, self.selection, self._large, self._only, self.lit, self.keep
        )
        if not self._large or self._picture is None:
            return state
        return state._replace(legend=self._picture.lecture_legend(state))

    def is_part_of(self, lit: Lit) -> bool:
        """Return whether some of what stands out is memory."""
        return lit.in_memory

    def _describe(self, state: ViewState | None = None) -> None:
        """Tell a screen reader what the picture says in words, in the state that it is in."""
        picture = self._picture
        self.setAccessibleDescription(
            self.say(picture.description(state or self._state())) if picture else NOTHING
        )

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw what has changed, or everything on paper."""
        painter = QPainter(self)
        if self._picture is None or is_vector(painter):
            painter.fillRect(self.rect(), self.theme.colour("panel"))
        if self._picture:
            state = self._state()
            if is_vector(painter):
                self._picture.paint(painter, state)
            else:
                pieces = self._pieces(state, painter.deviceTransform().m11())
                self._picture.paint(painter, state, pieces, event.rect())
        else:
            style = self.theme.font(15), self.theme.colour("muted"), CENTRE
            write(painter, QRectF(self.rect()), NOTHING, *style)
        if self._ring:
            draw_ring(painter, QRectF(self.rect()), self.theme)
        painter.end()

    def _magnify(self, factor: float, about: QPointF) -> None:
        """Zoom so that the point under `about` stays where it is."""
        scale, x, y = self._zoom
        most = self._picture.largest_scale(self._state()) if self._picture else 1.0
        new = max(1.0, min(scale * factor, most))
        across, down = about.x() / self.width() - 0.5, about.y() / self.height() - 0.5
        self.zoom = Zoom(new, x + across / scale - across / new, y + down / scale - down / new)

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Zoom around the pointer."""
        self._magnify(WHEEL_STEP ** (event.angleDelta().y() / 120), event.position())
        event.accept()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Zoom with + and -, show everything with 0."""
        factor = {"+": KEY_STEP, "=": KEY_STEP, "-": 1 / KEY_STEP, "0": 0.0}.get(event.text())
        if factor is None:
            super().keyPressEvent(event)
        else:
            self._magnify(factor, QPointF(self.width() / 2, self.height() / 2))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Take hold of the picture."""
        if event.button() == Qt.MouseButton.LeftButton:
            self._grip, self._dragged = (event.position(), self._zoom), False

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Move a magnified picture, or tell what is under the pointer."""
        if self._grip is None:
            QToolTip.showText(
                event.globalPosition().toPoint(), plain_tip(self.hover_text(event.position())), self
            )
            return
        start, (scale, x, y) = self._grip
        way = event.position() - start
        self._dragged = self._dragged or way.manhattanLength() >= QApplication.startDragDistance()
        if self._dragged:
            self.zoom = Zoom(scale, x - way.x() / self.width() / scale, y - way.y() / self.height() / scale)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Ask for the thread that wrote, or read, the element that was clicked."""
        if self._grip and not self._dragged and self._picture and self.session:
            found = self._picture.element_at(self._state(), event.position())
            wanted = selection_at(self.session, *found, self.selection) if found else None
            if wanted:
                self.selection_asked.emit(wanted)
        self._grip = None

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Show everything."""
        self.zoom = Zoom()

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Show where the keyboard is, if it came here by the keyboard."""
        self._ring = event.reason() in BY_KEYBOARD
        self.update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """The keyboard is elsewhere."""
        self._ring = False
        self.update()
