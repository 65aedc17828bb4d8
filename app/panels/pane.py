"""A pane: the heading, picture and counters of a session, and the progress of the next one."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from msgspec.structs import replace
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QFrame, QStackedWidget, QVBoxLayout, QWidget

from ..model.bookmark import PictureChoice
from ..model.nothing import nothing
from ..model.session import Selection, Session
from ..model.spotlight import Highlight
from ..state.view_models import PaneView
from ..views.common.dimming import Veil
from ..views.common.view import View
from ..views.counters.depths import DepthsView
from ..views.counters.numbers import has_conflicts
from ..views.counters.view import CountersView, TileForm
from ..views.histogram.view import HistogramView
from ..views.memory.view import MemoryView
from ..widgets.appearance import dress
from ..widgets.theme import Theme
from .pane_heading import HeadingView, PaneHeading
from .progress_overlay import ProgressOverlay

COUNTERS = 0.8  # text size of the counters in a lecture, relative to the pictures
TIMED = 360  # minimum height for a measured time, in pixels at the normal text size
# Minimum heights for compiled counters, in a lecture and otherwise, in pixels at the normal text size.
LECTURE_DEPTHS, DEPTHS = 260, 400
WIDE = 900  # minimum width for a lesson in one line, in pixels at the normal text size


class PaneDetail(NamedTuple):
    """The details that a pane shows besides its picture."""

    lesson: int  # lines
    legend: int  # rows of the legend of cells
    counters: TileForm  # the form of the counters


LECTURE = PaneDetail(0, 1, "line")  # the caption shows the rest; the colours always have their meaning


def detail_of(width: float, height: float) -> PaneDetail:
    """Choose the details of a pane of this size, in pixels at the normal text size.

    The lesson is hidden first (it becomes the tooltip of the title), then the legend; the counters become a line, and
    are hidden last.
    """
    lesson = 0 if height < 480 else 1 if width >= WIDE else 2
    legend = 0 if height < 330 else 1 if height < 400 or width >= 560 else 2
    return PaneDetail(lesson, legend, "tall" if height >= 360 else "line" if height >= 210 else "none")


class PaneRequests(NamedTuple):
    """What a pane calls when the user asks for something."""

    cancel: Callable[[], object] = nothing  # the tracing
    choose_picture: Callable[[PictureChoice], object] = nothing  # the memory, or the histogram
    show_chart: Callable[[], object] = nothing  # of the measured time
    close: Callable[[], object] = nothing  # the pane
    trust: Callable[[], object] = nothing  # a kernel that came with a file, to compile it
    fit: Callable[[], object] = nothing  # the headings of all panes, since this one needs another brevity


class Pane(QFrame):
    """One of the two panes; it renders a `PaneView`, and then moments of its session."""

    def __init__(self, name: str, theme: Theme, ask: PaneRequests, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("panel")
        self.setAccessibleName(f"{name} pane")
        self.theme = theme
        self.shown = PaneView()
        self._is_laid_out = True  # for the current session
        self.selection = Selection()
        self.is_lecture = False  # the layout
        self.enlarged = self.heading_scale = 1.0
        self.conflicts = False  # whether the session has bank conflicts
        self.heading = PaneHeading(theme, ask.fit, ask.show_chart, ask.close)
        self.veil = Veil(self.heading, lambda: self.theme)
        self.veil.hide()
        self.switch = self.heading.switch
        self.switch.chosen = lambda name: ask.choose_picture("memory" if name == "memory" else "histogram")
        self.memory, self.counters = MemoryView(theme), CountersView(theme)
        self.histogram = HistogramView(theme)
        self.depths = DepthsView(theme)
        self.depths.agreed = ask.trust
        self.views: tuple[View, ...] = (self.memory, self.histogram, self.counters, self.depths)
        self.overlay = ProgressOverlay(self, ask.cancel)
        self._build()
        self.setFocusPolicy(Qt.FocusPolicy.ClickFocus)

    def _build(self) -> None:
        self.column = column = QVBoxLayout(self)
        column.setContentsMargins(2, 2, 2, 2)  # the edge
        column.setSpacing(0)
        column.addWidget(self.heading)
        self.stack = QStackedWidget()
        self.stack.addWidget(self.memory)
        self.stack.addWidget(self.histogram)
        column.addWidget(self.stack, 1)
        column.addWidget(self.counters)
        column.addWidget(self.depths)
        self.focus_border = FocusBorder(self)

    @property
    def session(self) -> Session | None:
        """The session whose pictures are shown."""
        return self.shown.session

    def render_view(self, view: PaneView) -> bool:
        """Show everything but the moment; return True if the session is new."""
        before, self.shown = self.shown, view
        is_new = view.session is not before.session
        if view.zoom != before.zoom:
            self.memory.only = view.zoom
        if view.colour_by != before.colour_by:
            self.memory.colour_by = view.colour_by
        for hide in (
            self.depths.set_quiet,
            self.counters.set_quiet,
            self.memory.hide_faults,
            self.histogram.hide_reasons,
        ):
            hide(view.is_asking)
        self.heading.setVisible(not view.is_picture_only)
        self.heading.render_view(
            HeadingView(view.session, view.difference, view.is_asking, view.nearest, view.is_closable)
        )
        if is_new:
            self._load(view.session)
        self.show_picture()
        self.memory.explanation = view.explanation
        if view.highlight != before.highlight or is_new:
            self._set_spotlight(view.highlight)
        self._fit_details()
        return is_new

    def _load(self, session: Session | None) -> None:
        """Replace the session."""
        self._is_laid_out = False
        self.overlay.uncover()
        for view in self.views:
            view.load(session)
        self.conflicts = session is not None and has_conflicts(session)
        self.counters.count_wavefronts(self.conflicts)

    def shows_histogram(self) -> bool:
        """Return True if the pane shows the histogram of a launch that counts."""
        return self.shown.shows_histogram()

    def show_picture(self) -> None:
        """Show the memory, or the histogram of a launch that counts."""
        self.switch.show_choice("histogram" if self.shows_histogram() else "memory")
        self.stack.setCurrentWidget(self.histogram if self.shows_histogram() else self.memory)

    def lay_out(self) -> None:
        """Activate the layout for a new session now; Qt would do so only after the picture is drawn."""
        if not self._is_laid_out:
            self._is_laid_out = True
            self.column.activate()

    def render_moment(self, moment: float, selection: Selection) -> None:
        """Draw a moment of the session for a selected block and thread."""
        self.selection = selection
        for view in (self.histogram if self.shows_histogram() else self.memory, self.counters):
            view.render_moment(moment, selection)

    def _set_spotlight(self, highlight: Highlight | None) -> None:
        for view in self.views:
            view.set_spotlight(highlight)
        self.veil.setVisible(highlight is not None and highlight.dims_all)

    def set_theme(self, theme: Theme) -> None:
        """Apply colours and text size."""
        self.theme = theme
        heading = replace(theme, scale=max(theme.scale, self.heading_scale))
        dress(self.heading, heading, theme)
        self.heading.set_theme(heading)
        self.overlay.set_theme(theme)
        for view, factor in (
            (self.memory, 1.0),
            (self.histogram, 1.0),
            (self.counters, COUNTERS),
            (self.depths, COUNTERS),
        ):
            view.set_theme(replace(theme, scale=max(theme.scale, factor * self.enlarged)))
        self.focus_border.update()
        self._fit_details()

    def show_layout(self, is_lecture: bool, scale: float, heading_scale: float) -> None:
        """Show the details of a layout, with at least these text sizes in the pictures and the heading."""
        self.is_lecture = self.memory.large = is_lecture
        if (scale, heading_scale) != (self.enlarged, self.heading_scale):
            self.enlarged, self.heading_scale = scale, heading_scale
            self.set_theme(self.theme)
        self._fit_details()

    def set_focused(self, focused: bool) -> None:
        """Show with a border whether the inspector follows this pane, without changing the layout."""
        self.focus_border.setVisible(focused and not self.shown.is_picture_only)

    def _fit_details(self) -> None:
        """Hide the details that do not fit."""
        width, height = self.width() / self.theme.scale, self.height() / self.theme.scale
        detail = LECTURE if self.is_lecture else detail_of(width, height)
        self.heading.set_lines(detail.lesson, time=detail is LECTURE or height >= TIMED)
        self.memory.legend = detail.legend
        self.counters.set_form("none" if self.shown.is_picture_only else detail.counters)
        is_program = self.session is not None and self.session.is_python_program
        self.depths.enlarge(detail is LECTURE)
        has_room = height >= (LECTURE_DEPTHS if detail is LECTURE else DEPTHS)
        self.depths.setVisible(
            has_room and self.shown.compiled != "hidden" and not (self.shown.is_picture_only or is_program)
        )

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Resize the overlays, and hide the details that do not fit."""
        super().resizeEvent(event)
        self.overlay.setGeometry(self.rect())
        self.focus_border.setGeometry(self.rect())
        self._fit_details()


class FocusBorder(QWidget):
    """The border of the pane that the inspector follows; it ignores the pointer."""

    def __init__(self, pane: Pane) -> None:
        super().__init__(pane)
        self.pane = pane
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.hide()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the border if the exposed region touches it."""
        inside = self.pane.theme.px(8)
        if self.rect().adjusted(inside, inside, -inside, -inside).contains(event.region().boundingRect()):
            return
        painter, theme = QPainter(self), self.pane.theme
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(theme.colour("accent"), 2))
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(1, 1, -1, -1), theme.px(8), theme.px(8))
        painter.end()
