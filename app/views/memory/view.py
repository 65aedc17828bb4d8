"""The memory view: every buffer, its current accesses and its earlier contents."""

from __future__ import annotations

from functools import partial

from msgspec.structs import replace
from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import (
    QContextMenuEvent,
    QFocusEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QApplication, QMenu, QPushButton, QSizePolicy, QToolTip, QWidget

from ...model.bookmark import COLOUR_BY, TracedValue
from ...model.explanation import Explanation, traced_at_moment, traced_element
from ...model.session import Selection, Session
from ...model.spotlight import Highlight
from ...widgets.plain_text import plain_tip
from ...widgets.theme import Theme
from ..common.descriptions import selection_at
from ..common.drawing import CENTRE, draw_text, is_vector
from ..common.pieces import ByIdentity, DrawnPicture, Pieces, changed_area, record_picture
from ..common.view import View
from . import descriptions
from .arrangement import PairedSpace, ViewState, Zoom
from .paint import draw_focus_ring
from .picture import MemoryPicture
from .view_data import Tops

WHEEL_STEP, KEY_STEP = 1.2, 1.5
BY_KEYBOARD = (
    Qt.FocusReason.TabFocusReason,
    Qt.FocusReason.BacktabFocusReason,
    Qt.FocusReason.ShortcutFocusReason,
)
NOTHING = "Nothing traced yet"
LEGEND = 1  # the default number of rows for the legend


class MemoryView(View):
    """Buffers in the textbook layout, coloured by value or by number of reads, with the accesses of the moment.

    The wheel, or + and -, zoom. A drag moves the picture. A double click, or 0, shows everything. A click selects
    the thread that wrote or read the element.
    """

    dims_itself = True

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        self._picture: MemoryPicture | None = None
        self._latest_pieces: tuple[object, Pieces] | None = None  # the latest pieces, with their key
        self._latest_picture: DrawnPicture | None = None  # the picture of the latest update
        self._colour_by, self._zoom = "auto", Zoom()
        self._tops: Tops = ()
        self._legend, self._large = LEGEND, False
        self._only: tuple[str, ...] = ()
        self._explanation: Explanation | None = None
        self._hides_faults = False
        self._paired_space: PairedSpace | None = None
        self._drag: tuple[QPointF, Zoom] | None = None
        self._is_dragged = self._shows_ring = False
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)  # it paints all its pixels
        self.setAccessibleName("Memory")
        self.fit_button = QPushButton("Fit  0", self)
        self.fit_button.setAccessibleName("Show everything")
        self.fit_button.setToolTip("Show everything (0, or a double click)")
        self.fit_button.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.fit_button.clicked.connect(lambda _checked: self._show_all())
        self.fit_button.hide()
        self._describe()

    def sizeHint(self) -> QSize:
        """Return a size that gives matrices of 64 x 64 cells of 3 pixels."""
        return QSize(self.theme.px(550), self.theme.px(450))

    def minimumSizeHint(self) -> QSize:
        """Return the smallest useful size."""
        return QSize(self.theme.px(200), self.theme.px(90))

    @property
    def colour_by(self) -> str:
        """The measure that colours cells: "value", "reads", one of HEATS, or "auto": "reads" if only read."""
        return self._colour_by

    @colour_by.setter
    def colour_by(self, choice: str) -> None:
        if choice not in COLOUR_BY:
            raise ValueError(f"cells are coloured by {', '.join(COLOUR_BY)}; not by {choice!r}")
        self._colour_by = choice
        self.update()

    @property
    def tops(self) -> Tops:
        """The largest counts of scales that panes share, by measure and space."""
        return self._tops

    @tops.setter
    def tops(self, tops: Tops) -> None:
        if tops != self._tops:
            self._tops = tops
            self.update()

    def own_tops(self, selection: Selection) -> dict[tuple[str, str], int]:
        """Compute the largest counts of the scales without the other panes, by measure and space."""
        return self._picture.tops(self._colour_by, selection) if self._picture else {}

    @property
    def legend(self) -> int:
        """The number of rows that are kept for the legend, so that pictures side by side align."""
        return self._legend

    @legend.setter
    def legend(self, rows: int) -> None:
        if rows != self._legend:
            self._legend = rows
            self.update()

    def hide_faults(self, hidden: bool) -> None:
        """Hide or show races and elements that differ from NumPy, which can answer a question."""
        if hidden != self._hides_faults:
            self._hides_faults = hidden
            self._describe(self._state())
            self.update()

    @property
    def large(self) -> bool:
        """Whether the cells are as large as possible, for a lecture."""
        return self._large

    @large.setter
    def large(self, large: bool) -> None:
        if large != self._large:
            self._large = large
            self.update()

    @property
    def only(self) -> tuple[str, ...]:
        """The names of the only visible buffers; all buffers are visible if the launch has none of these."""
        return self._only

    @only.setter
    def only(self, names: tuple[str, ...]) -> None:
        if names != self._only:
            self._only = names
            self.zoom = Zoom()
            self.update()

    @property
    def explanation(self) -> Explanation | None:
        """The explanation of the value whose path is drawn."""
        return self._explanation

    @explanation.setter
    def explanation(self, explanation: Explanation | None) -> None:
        if explanation is not self._explanation:
            self._explanation = explanation
            self.update()

    @property
    def paired_space(self) -> PairedSpace | None:
        """The space that the picture needs next to another."""
        return self._picture.paired_space(self._only, self._large) if self._picture else None

    def cell_sizes(self) -> dict[str, float]:
        """Return the shorter side of a cell, in pixels, of each visible buffer by its name."""
        if self._picture is None:
            return {}
        places, buffers = self._picture.layout(self._state()).places, self._picture.data.session.trace.buffers
        return {buffers[n].name: min(place.cell, place.row) for n, place in places.items()}

    def cell_texts(self) -> dict[str, dict[tuple[int, int], str]]:
        """Return the latest texts in cells, by buffer name, then by row and column."""
        if self._picture is None:
            return {}
        places, buffers = self._picture.layout(self._state()).places, self._picture.data.session.trace.buffers
        return {
            buffers[n].name: dict(layer.texts) for n, layer in self._picture.values.items() if n in places
        }

    def reserve_paired_space(self, needs: PairedSpace | None) -> None:
        """Reserve the space that this picture and another need together; None for a single picture."""
        if needs != self._paired_space:
            self._paired_space = needs
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
        self.fit_button.setVisible(scale > 1)
        self._move_fit_button()
        self.update()

    def _show_all(self) -> None:
        self.zoom = Zoom()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep the "Fit" button in its corner."""
        self._move_fit_button()

    def _move_fit_button(self) -> None:
        self.fit_button.adjustSize()
        self.fit_button.move(self.width() - self.fit_button.width() - self.theme.px(8), self.theme.px(4))

    def load(self, session: Session | None) -> None:
        """Take a session (None shows an empty view) and reset the zoom."""
        super().load(session)
        self._picture = MemoryPicture(session, self.theme) if session else None
        self._latest_pieces = self._latest_picture = None
        self.zoom = Zoom()
        self._describe()

    def reload(self) -> None:
        """Redraw the session after new findings, with the same zoom."""
        self.set_theme(self.theme)

    def render_moment(self, moment: float, selection: Selection) -> None:
        """Draw this moment; its fraction is the progress of the loads on their way."""
        super().render_moment(moment, selection)
        state = self._state()
        self._describe(state)
        pieces = self._pieces(state, self.devicePixelRatioF()) if self.isVisible() else None
        before, self._latest_picture = self._latest_picture, record_picture(pieces) if pieces else None
        area = changed_area(before, pieces) if before and pieces else None
        if area is None:
            self.update()
        else:
            self.update(area)

    def prepare(self, block: int) -> None:
        """Compute in advance another block's footprints and memory contents."""
        if self._picture is not None:
            self._picture.prepare(self._state(), block)

    def _pieces(self, state: ViewState, ratio: float) -> Pieces | None:
        """Collect the pieces of a state; memoised for a frame."""
        if self._picture is None:
            return None
        key = state, ratio, ByIdentity(self._picture), ByIdentity(self._picture.data.races)
        if self._latest_pieces is None or self._latest_pieces[0] != key:
            self._latest_pieces = key, self._picture.pieces(state, ratio)
        return self._latest_pieces[1]

    def set_theme(self, theme: Theme) -> None:
        """Apply other colours or another text size."""
        super().set_theme(theme)
        if self.session:
            self._picture = MemoryPicture(self.session, theme)
            self._latest_pieces = self._latest_picture = None
            self._describe()
        self.updateGeometry()
        self.update()

    def hover_text(self, position: QPointF) -> str:
        """Describe the element at a position; "" if there is none."""
        element = self._picture.element_at(self._state(), position) if self._picture else None
        if not element or not self.session:
            return ""
        text = descriptions.hover_text(self.session, *element, *self._state().now, self._colour_by)
        race = self._picture.race_at(self._state(), *element) if self._picture else ""
        return self.reword(f"{text}\nRace: {race}" if race else text)

    def position_of(self, buffer: int, element: int) -> QPointF:
        """Compute the centre of an element. Raises KeyError for a buffer that is not drawn."""
        if self._picture is None:
            raise KeyError(buffer)
        return QPointF(*self._picture.zoomed(self._state()).places[buffer].middle(element).tolist())

    def _state(self) -> ViewState:
        room = self.width(), self.height(), self._legend, self._paired_space
        look = self._colour_by, self._tops, self._zoom
        return ViewState(
            *room,
            *look,
            self.moment,
            self.selection,
            self._large,
            self._only,
            self.highlight,
            self.keep,
            self._explanation,
            self._hides_faults,
        )

    def shows_highlight(self, highlight: Highlight) -> bool:
        """Check whether memory is highlighted."""
        return highlight.has_memory

    def _describe(self, state: ViewState | None = None) -> None:
        """Describe the picture in a state, the current one by default, for screen readers."""
        picture = self._picture
        self.setAccessibleDescription(
            self.reword(picture.description(state or self._state())) if picture else NOTHING
        )

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the changed part, or everything in a vector picture."""
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
            draw_text(painter, QRectF(self.rect()), NOTHING, *style)
        if self._shows_ring:
            draw_focus_ring(painter, QRectF(self.rect()), self.theme)
        painter.end()

    def _magnify(self, factor: float, about: QPointF) -> None:
        """Zoom so that the point under `about` keeps its position."""
        scale, x, y = self._zoom
        limit = self._picture.largest_scale(self._state()) if self._picture else 1.0
        new_scale = max(1.0, min(scale * factor, limit))
        across, down = about.x() / self.width() - 0.5, about.y() / self.height() - 0.5
        self.zoom = Zoom(
            new_scale, x + across / scale - across / new_scale, y + down / scale - down / new_scale
        )

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
        """Begin a drag or a click."""
        if event.button() == Qt.MouseButton.LeftButton:
            self._drag, self._is_dragged = (event.position(), self._zoom), False

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Move a magnified picture, or show a tooltip for the element under the pointer."""
        if self._drag is None:
            QToolTip.showText(
                event.globalPosition().toPoint(), plain_tip(self.hover_text(event.position())), self
            )
            return
        start, (scale, x, y) = self._drag
        offset = event.position() - start
        self._is_dragged = self._is_dragged or offset.manhattanLength() >= QApplication.startDragDistance()
        if self._is_dragged:
            self.zoom = Zoom(
                scale, x - offset.x() / self.width() / scale, y - offset.y() / self.height() / scale
            )

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Select the thread that wrote, or read, the clicked element."""
        if self._drag and not self._is_dragged:
            self._select_at(event.position())
        self._drag = None

    def _select_at(self, position: QPointF) -> None:
        """Select the thread that wrote, or read, the element at a position."""
        if self._picture and self.session:
            element = self._picture.element_at(self._state(), position)
            selection = selection_at(self.session, *element, self.selection) if element else None
            if selection:
                self.ask.select(selection)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Show everything."""
        self.zoom = Zoom()

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Show the menu of the element under the pointer."""
        menu = self.value_menu(QPointF(event.pos()))
        menu.exec(event.globalPos())
        menu.deleteLater()

    def value_menu(self, position: QPointF) -> QMenu:
        """Return the menu of the element at a position: where its value comes from, and what it reaches."""
        menu = QMenu(self)
        menu.setAccessibleName("Value of an element")
        traced = self.traced_at(position)
        if traced is not None:
            now = traced_at_moment(traced, self.moment, self.session)
            forward = replace(now, forward=True)
            menu.addAction(f"Why this value?  {traced.element}", partial(self._ask_value, now, position))
            menu.addAction(
                f"What does it reach?  {traced.element}", partial(self._ask_value, forward, position)
            )
        else:
            menu.addAction("No element here").setEnabled(False)
        if self._explanation is not None:
            menu.addAction("Hide the path", lambda: self.ask.trace_value(None))
        return menu

    def _ask_value(self, traced: TracedValue, position: QPointF) -> None:
        """Ask for the path of a value, and select the thread that wrote or read its element."""
        self._select_at(position)
        self.ask.trace_value(traced)

    def traced_at(self, position: QPointF) -> TracedValue | None:
        """Return the value of the element at a position; None if there is none."""
        element = self._picture.element_at(self._state(), position) if self._picture else None
        return traced_element(self.session, *element, self.selection) if element and self.session else None

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Show the focus ring if the focus came by the keyboard."""
        self._shows_ring = event.reason() in BY_KEYBOARD
        self.update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Hide the focus ring."""
        self._shows_ring = False
        self.update()
