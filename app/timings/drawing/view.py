"""A figure as a widget and in files: title, legends, plots, and below them origin, method and notes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import count, groupby
from typing import TypeVar

from msgspec.structs import replace
from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetricsF, QPainter, QResizeEvent
from PySide6.QtWidgets import QGraphicsTextItem, QSizePolicy, QWidget

from ...model.nothing import nothing
from ...views.common.view import guard_handler
from ...views.plotting.axis import AxisLabel
from ...views.plotting.legend import Legend
from ...views.plotting.plot import Plot, PlotMark
from ...views.plotting.view import PlotView
from ...widgets.plain_text import RichDocument, markup
from ...widgets.theme import Theme
from ..model.choice import Sight
from ..model.figure import BarPanel, Figure, PointPanel, number_texts
from .bars import ROW, BarPlot, samples_beyond
from .points import PointPlot

MARGIN, GAP = 18, 24  # pixels: around everything, and between plots
NARROW, PLANE = 400, 300  # pixels: the least width of plots side by side, and the height of a plot of points
SHRINK = 0.95  # the factor of each step that makes the text smaller
EMPTY = "There is nothing to draw: choose a kernel that was measured like this."
Panel = BarPanel | PointPanel
Item = TypeVar("Item")
Group = tuple[list[Panel], Legend, list[tuple[Plot, AxisLabel]]]


class ChartView(PlotView):
    """Shows a figure, at least as high as its bars need."""

    figure: Figure | None = None

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        self.changed: Callable[[Sight], object] = nothing  # the Sight that the user chose
        self.sight, self.is_for_files = Sight(), False
        self._groups: list[Group] = []
        self._head, self._foot = QGraphicsTextItem(), QGraphicsTextItem()
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)

    def show_figure(self, figure: Figure, sight: Sight | None = None) -> None:
        """Draw another figure, or another sight of it."""
        sight = Sight() if sight is None else sight
        if figure == self.figure and sight.hidden == self.sight.hidden:
            if sight != self.sight:
                self.sight = sight
                self._show_sight()
            return
        self.figure, self.sight = figure, sight
        self.setAccessibleName(f"{figure.title}. {figure.subtitle}")
        self.setAccessibleDescription(". ".join((*number_texts(figure), figure.method, *figure.notes)))
        self._build()

    def set_theme(self, theme: Theme) -> None:
        """Use another theme and text size."""
        if theme != self.theme:
            self.theme = theme
            self._build()

    def sizeHint(self) -> QSize:
        """Return a normal width and the least height."""
        return QSize(self.theme.px(760), self.minimumHeight())

    # What the user changes.

    def take_sight(self) -> None:
        """Report the visible parts, the locked axes and the mark pointed at."""
        spans = [plot.spans() for plot in self.plots]
        x = next((x for x, _ in spans if x is not None), None)
        upright = tuple(y for _, y in spans)
        y = upright if any(upright) else ()
        self.sight = Sight(x, y, self.sight.hidden, self.locked, self.cursor)
        self.changed(self.sight)

    def toggle_series(self, key: str) -> None:
        """Hide a series, or show it again."""
        hidden = self.sight.hidden
        hidden = tuple(k for k in hidden if k != key) if key in hidden else (*hidden, key)
        self.sight = replace(self.sight, hidden=hidden)
        self._build()
        self.changed(self.sight)

    def _show_sight(self) -> None:
        """Show the visible parts, the locked axes and the mark of the current sight."""
        self.locked = self.sight.locked
        upright = (*self.sight.y, *[None] * len(self.plots))
        for plot, y in zip(self.plots, upright, strict=False):
            plot.lock(self.locked)
            plot.show_spans(self.sight.x, y)
        self.arrange_labels()
        self.point_at(self.sight.cursor)

    # Building.

    def _build(self) -> None:
        """Make the items of the figure."""
        figure, theme = self.figure, self._ink()
        self.clear_plots()
        self.setBackground(theme.colour("panel"))
        if figure is None:
            return
        self._head, self._foot = QGraphicsTextItem(), QGraphicsTextItem()
        for item, html in ((self._head, head_html(figure, theme)), (self._foot, foot_html(figure, theme))):
            document = RichDocument(item)
            document.setDocumentMargin(0)
            item.setDocument(document)
            item.setFont(theme.font(13))
            document.show_html(html)
            item.setParentItem(self.page)
        self._groups = [] if figure.is_empty else [self._group(panels) for panels in groups_of(figure)]
        self._ask_height()
        self._arrange()
        self._show_sight()

    def _ink(self) -> Theme:
        """Return the theme, with pens for the screen; a file has one pixel for each."""
        return replace(self.theme, pixel_ratio=1.0 if self.is_for_files else self.devicePixelRatioF())

    def event(self, event: QEvent) -> bool:
        """Use other pens on another screen."""
        if event.type() == QEvent.Type.DevicePixelRatioChange:
            self._build()
        return super().event(event)

    def _group(self, panels: list[Panel]) -> Group:
        theme = self._ink()
        legend = Legend(theme)
        rows: list[tuple[Plot, AxisLabel]] = []
        for panel in panels:
            keys = series_keys(panel)
            hidden = [key in self.sight.hidden for key in keys]
            plot = BarPlot(panel, hidden, theme) if isinstance(panel, BarPanel) else None
            plot = plot or PointPlot(panel, hidden, theme)  # type: ignore[arg-type]
            self.watch(plot)
            label = AxisLabel(plot.axes_shown[0], theme)
            label.setParentItem(self.page)
            if rows:
                plot.setXLink(rows[0][0])
            rows.append((plot, label))
            new = [key for key in dict.fromkeys(keys) if key not in self.series_keys]
            self.series_keys += new
            if isinstance(plot, PointPlot) and isinstance(panel, PointPanel):
                for key, item, series in zip(keys, plot.items_of, panel.series, strict=True):
                    if key in new:
                        has_line = series.style > 0 and len(series.points) > 1
                        legend.add(item, series.full_name, key, has_line=has_line)
        # Later: hiding rebuilds the legend, which still handles the click.
        legend.toggled.connect(self.toggle_series, Qt.ConnectionType.QueuedConnection)
        legend.setParentItem(self.page)
        return panels, legend, rows

    # Layout.

    def _ask_height(self) -> None:
        if self.figure is not None:
            self.setMinimumHeight(wanted_height(self.figure, self.width(), self.theme))

    @guard_handler
    def resizeEvent(self, event: QResizeEvent) -> None:
        """Arrange the figure in the new size."""
        super().resizeEvent(event)
        if self.figure is not None:
            self._ask_height()
            self._arrange()
            self._show_sight()

    def _arrange(self) -> None:
        """Place everything: the title above, the notes below, the plots between them."""
        theme, margin = self.theme, self.theme.px(MARGIN)
        inside = QRectF(0, 0, self.width(), self.height()).adjusted(margin, margin, -margin, -margin)
        for item in (self._head, self._foot):
            item.setTextWidth(max(inside.width(), 1.0))
        foot_height = self._foot.boundingRect().height()
        self._head.setPos(inside.topLeft())
        self._foot.setPos(inside.left(), inside.bottom() - foot_height)
        y = inside.top() + self._head.boundingRect().height() + theme.px(10)
        bottom = inside.bottom() - foot_height - theme.px(10)
        gap = theme.px(GAP)
        legends = [
            legend.fit(inside.width()) + theme.px(10) if legend.items else 0.0
            for _, legend, _ in self._groups
        ]
        rows = [_rows(plots, inside.width(), theme) for _, _, plots in self._groups]
        number = max(sum(map(len, rows)), 1)
        height = max((bottom - y - sum(legends) - gap * (number - 1)) / number, 1.0)
        for (_, legend, _), legend_height, group_rows in zip(self._groups, legends, rows, strict=True):
            legend.setPos(inside.left(), y)
            y += legend_height
            for row in group_rows:
                width = (inside.width() - gap * (len(row) - 1)) / len(row)
                for index, (plot, label) in enumerate(row):
                    self._put(plot, label, QRectF(inside.left() + index * (width + gap), y, width, height))
                y += height + gap

    def _put(self, plot: Plot, label: AxisLabel, box: QRectF) -> None:
        """Place a plot in a box, with the label of its horizontal axis below it."""
        below = label.height_for(box.width()) + self.theme.px(4)
        upper = QRectF(box.left(), box.top(), box.width(), max(box.height() - below, 1.0))
        plot.setGeometry(upper)
        if isinstance(plot, BarPlot | PointPlot):
            plot.fit(upper.width(), upper.height())
        plot.settle()
        values = (
            max((v.size_in_pixels()[0] for v in plot.values), default=0.0)
            if isinstance(plot, BarPlot)
            else 0.0
        )
        if values:
            plot.layout.setContentsMargins(0, 0, values + self.theme.px(14), 0)
            plot.settle()
        left = min(plot.pos().x() + plot.vb.pos().x(), max(box.left(), box.right() - label.full_width))
        label.setGeometry(QRectF(left, upper.bottom() + self.theme.px(4), box.right() - left, below))

    def arrange_labels(self) -> None:
        """Place the labels of all plots for their visible parts."""
        for plot in self.plots:
            if isinstance(plot, BarPlot | PointPlot):
                plot.arrange_labels()

    def distance(self, plot: Plot, mark: PlotMark, place: QPointF) -> float:
        """Return the pixels to a mark; a bar is near in all of its row."""
        if isinstance(plot, BarPlot) and plot.vb.sceneBoundingRect().contains(place):
            return abs(plot.pixel_of(mark).y() - place.y()) / 8
        return super().distance(plot, mark, place)


def draw_figure(painter: QPainter, figure: Figure, size: tuple[int, int], theme: Theme, sight: Sight) -> None:
    """Draw a figure at (0, 0) of a painter, as on screen."""
    view = ChartView(theme)
    view.is_for_files = True
    view.setMinimumSize(*size)
    view.resize(*size)
    view.show_figure(figure, replace(sight, cursor=-1))
    view.draw(painter)
    view.close()


def series_keys(panel: Panel) -> list[str]:
    """Return a name for each bar or series of a panel: its kernel, with a number from the second one on."""
    if isinstance(panel, BarPanel):
        return _numbered([bar.datum.subject for bar in panel.bars])
    return _numbered([series.points[0].datum.subject if series.points else "" for series in panel.series])


def _numbered(names: Sequence[str]) -> list[str]:
    counters = {name: count(1) for name in names}
    numbers = [next(counters[name]) for name in names]
    return [name if number == 1 else f"{name}#{number}" for name, number in zip(names, numbers, strict=True)]


def groups_of(figure: Figure) -> list[list[Panel]]:
    """Group the panels that share an x axis and a legend."""
    groups = groupby(figure.panels, lambda p: p.x.label if isinstance(p, PointPanel) else "")
    return [list(panels) for _, panels in groups]


def _rows(panels: Sequence[Item], width: float, theme: Theme) -> list[Sequence[Item]]:
    """Place panels side by side, or one per row if they would be too narrow."""
    is_narrow = len(panels) > 1 and width / len(panels) < theme.px(NARROW)
    return [[panel] for panel in panels] if is_narrow else [panels]


# Texts and heights.


def head_html(figure: Figure, theme: Theme) -> str:
    """Return title and subtitle."""
    title = f"<div style='font-size:{theme.px(18)}px; font-weight:700; color:{theme.palette.text}'>"
    subtitle = (
        f"<div style='font-size:{theme.px(13)}px; color:{theme.palette.muted}; margin-top:{theme.px(2)}px'>"
    )
    return f"{title}{markup(figure.title)}</div>{subtitle}{markup(figure.subtitle)}</div>"


def foot_html(figure: Figure, theme: Theme) -> str:
    """Return notes, method and origins."""
    outside = sum(samples_beyond(panel) for panel in figure.panels if isinstance(panel, BarPanel))
    notes = [*figure.notes, *([f"Samples beyond the axis: {outside:,}."] if outside else [])]
    if figure.is_empty:
        notes = [EMPTY, *notes]
    style = f"font-size:{theme.px(11)}px; color:{theme.palette.muted}"
    texts = (" ".join(notes), figure.method, *figure.origins)
    return "".join(f"<div style='{style}'>{markup(text)}</div>" for text in texts if text)


def _text_height(html: str, width: float, theme: Theme) -> float:
    document = RichDocument()
    document.setDocumentMargin(0)
    document.setDefaultFont(theme.font(13))
    document.show_html(html)
    document.setTextWidth(max(width, 1.0))
    return document.size().height()


def wanted_height(figure: Figure, width: float, theme: Theme) -> int:
    """Return the height at which every bar has room for its name, and every plot of points for its points."""
    inside = width - 2 * MARGIN * theme.scale
    small = QFontMetricsF(theme.font(12)).height()
    height = _text_height(head_html(figure, theme), inside, theme) + _text_height(
        foot_html(figure, theme), inside, theme
    )
    for group in groups_of(figure):
        if isinstance(group[0], PointPanel):
            entries = len(
                {s.full_name for panel in group if isinstance(panel, PointPanel) for s in panel.series}
            )
            columns = max(1, int(inside / theme.px(180)))
            height += len(_rows(group, inside, theme)) * theme.px(PLANE)
            height += -(-entries // columns) * theme.px(18) + theme.px(10)
        for panel in group:
            if isinstance(panel, BarPanel):
                row = theme.px(ROW) + any(bar.published for bar in panel.bars) * small / 2
                below = small + theme.px(14) + AxisLabel(panel.axis, theme).height_for(inside)
                height += 0.75 * (len(panel.bars) * row + below)
    return round(height + theme.px(2 * MARGIN + 24))


def fitting_theme(figure: Figure, size: tuple[float, float], theme: Theme, minimum: float) -> Theme:
    """Shrink the text of a theme until a figure fits, but not below the text size `minimum`."""
    scale = theme.scale
    while scale * SHRINK >= minimum and wanted_height(figure, size[0], replace(theme, scale=scale)) > size[1]:
        scale *= SHRINK
    return replace(theme, scale=scale)
