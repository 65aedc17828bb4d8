"""The lists at the left of the timings: kernels under headings, and their measurements."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from PySide6.QtCore import QPointF, QSignalBlocker, QSize, Qt
from PySide6.QtGui import QIcon, QPainter, QPixmap
from PySide6.QtWidgets import QSizePolicy, QTreeWidget, QTreeWidgetItem, QWidget

from ...kernels.scenarios.catalogue import find, groups
from ..model.nothing import nothing
from ..model.visible_text import escape_controls, escape_controls_in_lines
from ..views.plotting.style import draw_symbol
from ..widgets.icons import DENSITY
from ..widgets.plain_text import plain_tip
from ..widgets.theme import Theme, check_box_palette, check_box_sheet, flat_sheet
from .model.choice import ChartSubject, is_on_cpu, slots_of, subject_of_key
from .model.sources import Source

VISIBLE_ROWS = 2  # measurements that are visible without scrolling
KEY = Qt.ItemDataRole.UserRole


class CheckList(QTreeWidget):
    """Items with check boxes, optionally under headings. `changed` is called only for changes by the user."""

    def __init__(self, name: str, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.changed: Callable[[], object] = nothing
        self.theme = theme
        self.setAccessibleName(name)
        self.setHeaderHidden(True)
        self.setRootIsDecorated(False)
        self.setItemsExpandable(False)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.itemChanged.connect(lambda _item, _column: self._emit_changed())
        self.set_theme(theme)

    def _emit_changed(self) -> None:
        if not self.signalsBlocked():
            self.changed()

    def set_theme(self, theme: Theme) -> None:
        """Use another theme and text size."""
        self.theme = theme
        plain = "QTreeWidget::branch { image: none; border-image: none; }"
        self.setStyleSheet(flat_sheet("QTreeWidget", theme) + plain + check_box_sheet("QTreeWidget", theme))
        self.setIconSize(QSize(theme.px(16), theme.px(16)))
        self.setPalette(check_box_palette(theme))
        self.setFont(theme.font())
        self.setIndentation(theme.px(12))

    def _items(self) -> Iterator[QTreeWidgetItem]:
        return _with_all_below(self.invisibleRootItem())

    def checked(self) -> list[object]:
        """List the values of the checked items, from the top."""
        return [
            i.data(0, KEY)
            for i in self._items()
            if i.checkState(0) == Qt.CheckState.Checked and i.data(0, KEY)
        ]

    def check(self, values: Iterable[object]) -> None:
        """Check only the items of these values, without a signal."""
        wanted = list(values)
        with QSignalBlocker(self):
            for item in self._items():
                if item.data(0, KEY):
                    on = item.data(0, KEY) in wanted
                    item.setCheckState(0, Qt.CheckState.Checked if on else Qt.CheckState.Unchecked)
        self.viewport().update()


def _with_all_below(top: QTreeWidgetItem) -> Iterator[QTreeWidgetItem]:
    """Yield all items below one, parents first; Python never frees an iterator of Qt's own."""
    for i in range(top.childCount()):
        child = top.child(i)
        assert child is not None
        yield child
        yield from _with_all_below(child)


def _item(text: str, key: str, tip: str = "") -> QTreeWidgetItem:
    item = QTreeWidgetItem([escape_controls_in_lines(text)])
    item.setData(0, KEY, key)
    item.setToolTip(0, plain_tip(tip))
    item.setFlags(Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable | Qt.ItemFlag.ItemIsUserCheckable)
    item.setCheckState(0, Qt.CheckState.Unchecked)
    return item


class KernelList(CheckList):
    """All kernels of the catalogue and their baselines; the chosen ones have their sign in the chart."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__("Kernels", theme, parent)
        for heading, scenarios in groups().items():
            top = QTreeWidgetItem([heading])
            top.setFlags(Qt.ItemFlag.ItemIsEnabled)
            self.addTopLevelItem(top)
            for scenario in scenarios:
                kernel = _item(scenario.title, scenario.name)
                top.addChild(kernel)
                for baseline in scenario.baselines:
                    kernel.addChild(_item(baseline.title, f"{scenario.name}/{baseline.name}"))
        self.expandAll()
        self.set_theme(theme)

    def subjects(self) -> tuple[ChartSubject, ...]:
        """List the checked subjects."""
        return tuple(subject_of_key(str(key)) for key in self.checked())

    def set_theme(self, theme: Theme) -> None:
        """Use another theme and text size."""
        super().set_theme(theme)
        # A font is a change of an item too, and would redraw the chart each time.
        with QSignalBlocker(self):
            for i in range(self.topLevelItemCount()):
                top = self.topLevelItem(i)
                assert top is not None
                top.setFont(0, theme.font(bold=True))
        self._set_tips()
        self.show_signs()

    def _set_tips(self) -> None:
        """Set the tooltips in the theme's terminology, unless the scenario has its own."""
        with QSignalBlocker(self):
            for item in self._items():
                if key := item.data(0, KEY):
                    subject = subject_of_key(str(key))
                    scenario = find(subject.scenario)
                    say = str if scenario.words else self.theme.translate
                    runs_with = "on the CPU" if is_on_cpu(subject) else "by NVIDIA's library"
                    baseline = f"The work of {scenario.title} {runs_with}"
                    item.setToolTip(0, plain_tip(baseline if subject.baseline else say(scenario.lesson)))

    def show_signs(self) -> None:
        """Draw the signs of checked kernels next to them."""
        slots = slots_of(self.subjects())
        with QSignalBlocker(self):
            for item in self._items():
                key = item.data(0, KEY)
                item.setIcon(0, _sign(slots[key], self.theme) if key in slots else QIcon())


def _sign(slot: int, theme: Theme) -> QIcon:
    side = theme.px(16) * DENSITY
    pixmap = QPixmap(side, side)
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.scale(DENSITY * theme.scale, DENSITY * theme.scale)
    draw_symbol(painter, theme, slot, QPointF(8, 8))
    painter.end()
    return QIcon(pixmap)


class MeasurementList(CheckList):
    """The measurements: recorded ones, and those made on this machine."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__("Measurements", theme, parent)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)
        self.sources: list[Source] = []

    def offer(self, measurements: Sequence[Source], checked: Sequence[str]) -> None:
        """Show these measurements, and check those with the given paths."""
        with QSignalBlocker(self):
            self.clear()
            self.sources = list(measurements)
            for source in measurements:
                text = f"{escape_controls(source.device)}\n{source.when.removesuffix(' UTC')}"
                self.addTopLevelItem(_item(text, str(source.path), source.line.replace(" · ", "\n")))
        self.check(checked)
        self.updateGeometry()

    def set_theme(self, theme: Theme) -> None:
        """Use another theme and text size."""
        super().set_theme(theme)
        self.updateGeometry()

    def sizeHint(self) -> QSize:
        """Return the height of two measurements; the list scrolls to the others."""
        return QSize(super().sizeHint().width(), self._height(VISIBLE_ROWS))

    def minimumSizeHint(self) -> QSize:
        """Return the height of one measurement."""
        return QSize(super().minimumSizeHint().width(), self._height(1))

    def _height(self, shown: int) -> int:
        rows = [self.visualItemRect(item).height() for item in self._items()]
        return sum(rows[:shown]) + self.theme.px(4)

    def chosen(self) -> list[Source]:
        """List the checked measurements."""
        paths = self.checked()
        return [source for source in self.sources if str(source.path) in paths]
