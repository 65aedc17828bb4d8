"""The views of the window as one vector picture, for papers: memory pictures side by side, timelines, lanes of a warp.

What is on screen is drawn again by the views themselves, into SVG or PDF: the same picture, with letters as letters.
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
from ..gpu.place import is_gpu
from ..model.session import Selection, Session
from ..model.visible_text import visible
from ..views.common.drawing import LEFT, MIDDLE, clipped, write
from ..views.common.wording import block_text, count_text, notice_text
from ..views.warp.view import WarpView
from ..widgets.vector_picture import PictureParts, is_vector_file, pdf_of, svg_of
from ..widgets.widget_picture import PictureError
from .central_widget import CentralWidget
from .panels.legend import Legend

if TYPE_CHECKING:
    from .panels.gpu_panel import GpuPanel

MARGIN, GAP = 12, 16  # around everything, and between parts
HEADING, SMALL = 15, 12  # sizes of letters
LEGEND = 28  # the height of that of the timelines
LINE = 1.5  # times the size of its letters that a line of them is high
WARP_SIZE = QSize(420, 640)  # of the warp view where none is on screen


CHART = "A chart stands in place of the pictures; take it away, or draw it with tilescope export timings."


class Part(NamedTuple):
    """Something that is drawn, and where."""

    box: QRectF
    draw: Callable[[QPainter], None]  # from (0, 0) on


class VectorPicture(NamedTuple):
    """A picture before it is written."""

    size: tuple[int, int]  # in pixels, 96 to the inch
    draw: Callable[[QPainter], None]
    title: str
    description: str


# What a dialog offers: kinds of pictures with their endings, and what they show; None is the whole window.
FILTERS: dict[str, PictureParts | None] = {
    "The window (*.png)": None,
    "Memory and timelines, for papers (*.svg *.pdf)": "all",
    "Memory alone (*.svg *.pdf)": "memory",
    "Timelines alone (*.svg *.pdf)": "timeline",
    "Lanes of the warp (*.svg *.pdf)": "warp",
}


def picture_asked(path: str, chosen: str) -> tuple[Path, PictureParts | None]:
    """Return the file, and what it shall show, from what a dialog with FILTERS returned.

    SVG or PDF by its ending is one whatever the filter; else the filter says what it is, also where the name still has
    the ending that was suggested.
    """
    parts, name = FILTERS.get(chosen), Path(path)
    if is_vector_file(name):
        return name, parts or "all"
    return name.with_suffix(".png" if parts is None else ".svg"), parts


def write_vector_picture(central: CentralWidget, parts: PictureParts, path: Path) -> None:
    """Write what is on screen of these parts as SVG or PDF, by the ending of the name.

    Raises PictureError where there is nothing of them on screen, and where the file can't be written.
    """
    picture = picture_of_parts(central, parts)
    try:
        write_atomically(path, content_of(picture, path.suffix.lower()))
    except OSError as error:
        raise PictureError(f"{path} could not be written: {error.strerror or error}.") from error


def content_of(picture: VectorPicture, suffix: str) -> bytes:
    """Return a picture as SVG or PDF."""
    if suffix == ".pdf":
        return pdf_of(picture.size, picture.draw, picture.title)
    return svg_of(picture.size, picture.draw, picture.title, picture.description)


def picture_of_parts(central: CentralWidget, parts: PictureParts) -> VectorPicture:
    """Return the picture of what is on screen of these parts; raises PictureError where there is nothing."""
    sessions = [pane.session for pane in central.panes if pane.session is not None]
    if not sessions:
        raise PictureError("There is nothing to draw yet.")
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
    """Hide meanwhile what can be pressed, which nobody sees go: on paper nothing can."""
    shown = [button for button in widget.findChildren(QAbstractButton) if not button.isHidden()]
    for button in shown:
        button.hide()
    yield
    for button in shown:
        button.show()


class _Page:
    """Places parts below each other."""

    def __init__(self, central: CentralWidget) -> None:
        self._central, self.theme = central, central.theme
        self.parts: list[Part] = []
        self._below = float(MARGIN)
        self._has_timelines = False  # whose colours are told below
        panes = zip(central.panes, central.stage.shown_moments(), strict=False)
        self._moments = {pane.session: moment for pane, moment in panes if pane.session is not None}

    def size(self) -> tuple[int, int]:
        """Return the size of everything."""
        return round(self._right() + MARGIN), round(self._below - GAP + MARGIN)

    def draw(self, painter: QPainter) -> None:
        """Draw everything."""
        painter.fillRect(QRectF(0, 0, *self.size()), self.theme.colour("panel"))
        for part in self.parts:
            painter.save()
            painter.translate(part.box.topLeft())
            with clipped(painter, QRectF(0, 0, part.box.width(), part.box.height())):
                part.draw(painter)
            painter.restore()

    def add_memory(self) -> None:
        """Add what the panes show, each below its title."""
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
        """Add the timelines as they stand on screen: below each other, or each below its pane."""
        shown = [timeline for timeline in self._central.timelines if timeline.isVisible()]
        left, top = (min((t.pos().toTuple()[axis] for t in shown), default=0) for axis in (0, 1))
        for timeline in shown:
            corner = QPointF(timeline.x() - left + MARGIN, timeline.y() - top + self._below)
            self._add_widget(timeline, QRectF(corner, timeline.size().toSizeF()))
        if shown:
            self._has_timelines, self._below = True, self._bottom() + GAP / 2

    def add_warp(self) -> None:
        """Add the lanes of the selected warp of the pane in focus, as the column at the right shows them."""
        session = self._central.stage.focused()
        shown = self._central.side.view("warp")
        if session is None or not isinstance(shown, WarpView):
            return
        size = shown.size() if shown.isVisible() else WARP_SIZE * self.theme.scale
        view = self._warp_view(session, shown)
        view.resize(size)
        view.grab()  # lays it out
        for area in view.findChildren(QScrollArea):
            area.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
            for page in filter(None, [area.widget()]):
                size.setHeight(max(size.height(), page.minimumSizeHint().height()))
        view.resize(size)  # nothing of it is scrolled away
        view.grab()
        self._below += self._add_heading(session, view.selection, MARGIN, self._below, size.width())
        self._add_widget(view, QRectF(MARGIN, self._below, size.width(), size.height()))
        self._below += size.height() + GAP

    def _warp_view(self, session: Session, shown: WarpView) -> WarpView:
        """Return a view of its own that shows what the window's does, without its buttons."""
        stage = self._central.stage
        view = WarpView(shown.theme)
        view.load(session)
        view.render_moment(stage.shown_moments()[stage.focus], stage.selections[stage.focus])
        view.choice = shown.choice
        view.set_spotlight(shown.lit)
        for button in (*view.buttons.buttons(), view.go):
            button.hide()
        return view

    def add_legend(self) -> None:
        """Add what the colours of the timelines mean."""
        shown = self._central.transport.legend
        if self._has_timelines and shown.kinds:
            legend = Legend(shown.theme)  # in full words: the one on screen may have room for fewer
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
        """Add what was recorded on a GPU: below each other the charts of the panes, their facts, and the axis."""
        width = float(panel.axis.width())
        for pane in panel.panes:
            height = self._add_line(pane.name_text(), MARGIN, self._below, width, is_title=True)
            height += self._add_line(pane.place_text(), MARGIN, self._below + height, width)
            self._below += height
            for part in (pane.view, pane.facts):
                if not part.isHidden():
                    self._add_widget(part, QRectF(MARGIN, self._below, part.width(), part.height()))
                    self._below += part.height() + self.theme.px(SMALL) / 2
            self._below += GAP / 2
        if not panel.axis.isHidden():
            self._add_widget(panel.axis, QRectF(MARGIN, self._below, width, panel.axis.height()))
            self._below += panel.axis.height() + GAP

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
        """Add the name of a session, its moment, and what of it is missing; return the height of that."""
        if session is None:
            return 0.0
        block = self.theme.say(block_text(session.trace, selection.block))
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
            lambda painter: write(painter, box, visible(text), font, ink, LEFT | MIDDLE),
        )
        return height
