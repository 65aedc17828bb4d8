"""The window's views as one vector picture for papers: memory pictures side by side, timelines, lanes of a warp.

The views draw the current pictures again into SVG or PDF, with real text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from PySide6.QtCore import QPoint, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QRegion
from PySide6.QtWidgets import QAbstractButton, QScrollArea, QWidget

from ...tracer.storage.atomic_write import write_atomically
from ..gpu_timelines.model.place import is_gpu
from ..model.session import Selection, Session
from ..model.visible_text import escape_controls
from ..panels.legend import Legend
from ..views.common.drawing import LEFT, MIDDLE, clipped, draw_text
from ..views.common.wording import block_text, count_text, notice_text
from ..views.warp.view import WarpView
from ..widgets.vector_files import PictureParts, is_vector_file, pdf_of, svg_of
from ..widgets.widget_picture import PictureError
from .central_widget import CentralWidget

if TYPE_CHECKING:
    from ..gpu_timelines.gpu_panel import GpuPanel

MARGIN, GAP = 12, 16  # around the picture, and between parts
HEADING, SMALL = 15, 12  # font sizes
LEGEND = 28  # the height of the timelines' legend
LINE = 1.5  # line height relative to the font size
WARP_SIZE = QSize(420, 640)  # of a warp view that is not on screen


CHART = "A chart covers the pictures. Close it, or draw it with tilescope export timings."


class Part(NamedTuple):
    """A drawing and its box."""

    box: QRectF
    draw: Callable[[QPainter], None]  # draws at (0, 0)


class VectorPicture(NamedTuple):
    """A picture before it is written."""

    size: tuple[int, int]  # in pixels, 96 per inch
    draw: Callable[[QPainter], None]
    title: str
    description: str


# The filters of the dialog: kinds of pictures with suffixes, and their parts; None is the complete window.
FILTERS: dict[str, PictureParts | None] = {
    "The window (*.png)": None,
    "Memory and timelines, for papers (*.svg *.pdf)": "all",
    "Memory only (*.svg *.pdf)": "memory",
    "Timelines only (*.svg *.pdf)": "timeline",
    "Lanes of the warp (*.svg *.pdf)": "warp",
}


def picture_asked(path: str, chosen: str) -> tuple[Path, PictureParts | None]:
    """Return the file and its parts for the result of a dialog with FILTERS.

    The suffix of an SVG or PDF file takes precedence. Otherwise the filter decides, even if the name still has the
    suggested suffix.
    """
    parts, name = FILTERS.get(chosen), Path(path)
    if is_vector_file(name):
        return name, parts or "all"
    return name.with_suffix(".png" if parts is None else ".svg"), parts


def write_vector_picture(central: CentralWidget, parts: PictureParts, path: Path) -> None:
    """Write these parts of the screen as SVG or PDF, by the suffix of the name.

    Raises PictureError if none of them is on screen, or if the file can't be written.
    """
    picture = picture_of_parts(central, parts)
    try:
        write_atomically(path, content_of(picture, path.suffix.lower()))
    except OSError as error:
        raise PictureError(f"{path} could not be written: {error.strerror or error}.") from error


def content_of(picture: VectorPicture, suffix: str) -> bytes:
    """Encode a picture as SVG or PDF."""
    if suffix == ".pdf":
        return pdf_of(picture.size, picture.draw, picture.title)
    return svg_of(picture.size, picture.draw, picture.title, picture.description)


def picture_of_parts(central: CentralWidget, parts: PictureParts) -> VectorPicture:
    """Build the picture of these parts of the screen; raises PictureError if none of them is shown."""
    sessions = [pane.session for pane in central.panes if pane.session is not None]
    if not sessions:
        raise PictureError("There is nothing to draw: no trace is shown.")
    page = _Page(central)
    if parts == "warp":
        page.add_warp()
    elif central.charts.gpu_panel and is_gpu(central.charts.text):
        page.add_gpu(central.charts.gpu_panel)
    elif central.charts.text:
        raise PictureError(CHART)
    else:
        page.add_views(parts)
    if not page.parts:
        raise PictureError(f"There is no {'picture' if parts == 'all' else parts} on screen to draw.")
    page.add_legend()
    titles = " and ".join(dict.fromkeys(session.title for session in sessions))
    notices = " ".join(dict.fromkeys(notice_text(session.trace) for session in sessions))
    return VectorPicture(page.size(), page.draw, titles, notices)


@contextmanager
def _without_buttons(widget: QWidget) -> Iterator[None]:
    """Hide the buttons inside the context, since they are useless on paper."""
    shown = [button for button in widget.findChildren(QAbstractButton) if not button.isHidden()]
    for button in shown:
        button.hide()
    yield
    for button in shown:
        button.show()


class _Page:
    """Arranges parts below each other."""

    def __init__(self, central: CentralWidget) -> None:
        self._central, self.theme = central, central.theme
        self.parts: list[Part] = []
        self._below = float(MARGIN)
        self._has_timelines = False  # whether a legend is needed
        panes = zip(central.panes, central.stage.shown_moments(), strict=False)
        self._moments = {pane.session: moment for pane, moment in panes if pane.session is not None}

    def size(self) -> tuple[int, int]:
        """Return the total size."""
        return round(self._right() + MARGIN), round(self._below - GAP + MARGIN)

    def draw(self, painter: QPainter) -> None:
        """Draw all parts."""
        painter.fillRect(QRectF(0, 0, *self.size()), self.theme.colour("panel"))
        for part in self.parts:
            painter.save()
            painter.translate(part.box.topLeft())
            with clipped(painter, QRectF(0, 0, part.box.width(), part.box.height())):
                part.draw(painter)
            painter.restore()

    def add_memory(self) -> None:
        """Add the pictures of the panes, each below its title."""
        pairs = ((pane, pane.stack.currentWidget()) for pane in self._central.panes if pane.isVisible())
        shown = [(pane, view) for pane, view in pairs if view is not None]
        if not shown:
            return
        width = max(self._timelines_width(), sum(view.width() for _, view in shown) + GAP * (len(shown) - 1))
        share = (width - GAP * (len(shown) - 1)) / len(shown)
        tallest, top = max(view.height() for _, view in shown), self._below
        for number, (pane, view) in enumerate(shown):
            left = MARGIN + number * (share + GAP)
            height = self._add_heading(pane.session, pane.selection, left, top, share)
            middle = left + (share - view.width()) / 2
            self._add_widget(view, QRectF(middle, top + height, view.width(), view.height()))
            self._below = max(self._below, top + height + tallest + GAP)

    def add_timelines(self) -> None:
        """Add the timelines as on screen: below each other, or each below its pane."""
        shown = [timeline for timeline in self._central.timelines if timeline.isVisible()]
        left, top = (min((t.pos().toTuple()[axis] for t in shown), default=0) for axis in (0, 1))
        for timeline in shown:
            corner = QPointF(timeline.x() - left + MARGIN, timeline.y() - top + self._below)
            self._add_widget(timeline, QRectF(corner, timeline.size().toSizeF()))
        if shown:
            self._has_timelines, self._below = True, self._bottom() + GAP / 2

    def add_warp(self) -> None:
        """Add the lanes of the selected warp of the pane in focus, as in the inspector."""
        session = self._central.stage.focused()
        shown = self._central.side.view("warp")
        if session is None or not isinstance(shown, WarpView):
            return
        size = shown.size() if shown.isVisible() else WARP_SIZE * self.theme.scale
        view = self._warp_view(session, shown)
        view.resize(size)
        view.grab()  # activates its layout
        for area in view.findChildren(QScrollArea):
            area.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
            for page in filter(None, [area.widget()]):
                size.setHeight(max(size.height(), page.minimumSizeHint().height()))
        view.resize(size)  # large enough to show everything without scrolling
        view.grab()
        self._below += self._add_heading(session, view.selection, MARGIN, self._below, size.width())
        self._add_widget(view, QRectF(MARGIN, self._below, size.width(), size.height()))
        self._below += size.height() + GAP

    def _warp_view(self, session: Session, shown: WarpView) -> WarpView:
        """Create a copy of the window's warp view, without buttons."""
        stage = self._central.stage
        view = WarpView(shown.theme)
        view.load(session)
        view.render_moment(stage.shown_moments()[stage.focus], stage.selections[stage.focus])
        view.choice = shown.choice
        view.set_spotlight(shown.highlight)
        for button in (*view.buttons.buttons(), view.go):
            button.hide()
        return view

    def add_legend(self) -> None:
        """Add the legend of the timelines."""
        shown = self._central.transport.legend
        if self._has_timelines and shown.kinds:
            legend = Legend(shown.theme)  # a new one with full labels: the one on screen may be shortened
            legend.show_kinds(shown.kinds)
            width, height = legend.width_with(legend.labels), self.theme.px(LEGEND)
            legend.resize(width, height)
            left = max(float(MARGIN), self._right() - width)
            self._add_widget(legend, QRectF(left, self._below, width, height))
            self._below += height + GAP

    def add_views(self, parts: PictureParts) -> None:
        """Add memory pictures, timelines, or both."""
        if parts in ("all", "memory"):
            self.add_memory()
        if parts in ("all", "timeline"):
            self.add_timelines()

    def add_gpu(self, panel: GpuPanel) -> None:
        """Add the recordings of a GPU: the charts of the panes below each other, their facts, and the legend."""
        width = float(panel.legend.width())
        for pane in panel.panes:
            height = self._add_line(pane.name_text(), MARGIN, self._below, width, is_title=True)
            height += self._add_line(pane.place_text(), MARGIN, self._below + height, width)
            self._below += height
            for part in (pane.view, pane.facts):
                if not part.isHidden():
                    box = QRectF(MARGIN, self._below, part.width(), part.height())
                    if part is pane.view:
                        self._add(box, pane.view.draw)
                    else:
                        self._add_widget(part, box)
                    self._below += part.height() + self.theme.px(SMALL) / 2
            self._below += GAP / 2
        if not panel.legend.isHidden():
            self._add_widget(panel.legend, QRectF(MARGIN, self._below, width, panel.legend.height()))
            self._below += panel.legend.height() + GAP

    def _timelines_width(self) -> int:
        return max((t.width() for t in self._central.timelines if t.isVisible()), default=0)

    def _right(self) -> float:
        return max((part.box.right() for part in self.parts), default=MARGIN)

    def _bottom(self) -> float:
        return max(part.box.bottom() for part in self.parts)

    def _add(self, box: QRectF, draw: Callable[[QPainter], None]) -> None:
        self.parts.append(Part(box, draw))

    def _add_widget(self, widget: QWidget, box: QRectF) -> None:
        def draw(painter: QPainter) -> None:
            with _without_buttons(widget):
                widget.render(painter, QPoint(), QRegion(), QWidget.RenderFlag.DrawChildren)

        self._add(box, draw)

    def _add_heading(
        self, session: Session | None, selection: Selection, left: float, top: float, width: float
    ) -> float:
        """Add the title of a session, its moment, and the notice of its trace; return their height."""
        if session is None:
            return 0.0
        block = self.theme.translate(block_text(session.trace, selection.block))
        moment = f"moment {count_text(int(self._moments[session]))} of {count_text(session.end)}, {block}"
        height = self._add_line(session.title, left, top, width, is_title=True)
        for text in filter(None, (moment, notice_text(session.trace))):
            height += self._add_line(text, left, top + height, width)
        return height + self.theme.px(SMALL) / 2

    def _add_line(self, text: str, left: float, top: float, width: float, *, is_title: bool = False) -> float:
        """Add a line of text and return its height."""
        size = HEADING if is_title else SMALL
        font, ink = self.theme.font(size, bold=is_title), self.theme.colour("text" if is_title else "muted")
        height = float(self.theme.px(LINE * size))
        box = QRectF(0, 0, width, height)
        self._add(
            QRectF(left, top, width, height),
            lambda painter: draw_text(painter, box, escape_controls(text), font, ink, LEFT | MIDDLE),
        )
        return height
