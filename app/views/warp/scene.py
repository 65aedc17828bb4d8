"""The data of a request's picture, and the drawing functions that its parts share."""

from __future__ import annotations

import math
from functools import cached_property

from msgspec import Struct
from PySide6.QtCore import QLineF, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPen

from ...widgets.theme import Theme
from ..common.dimming import dim_theme
from ..common.drawing import MIDDLE, clipped
from ..common.geometry import Box
from .lanes import Lanes
from .lanes_text import address_text, index_text
from .layout import ColumnWidths, WarpLayout

SMALL, SMALLEST = 11.5, 8.0  # text sizes
CAPTION, FOOT = 18.0, 24.0  # heights above and below the lanes
MARK = 12.0  # width of a lane's box with its number outside
FAINT = 0.3  # the opacity of lanes that are not highlighted


class WarpScene(Struct, frozen=True, eq=False, dict=True):
    """The data of the picture. The sets of lanes are empty while the pointer is elsewhere."""

    lanes: Lanes  # the request
    layout: WarpLayout  # where its parts stand
    theme: Theme  # colours and text size
    chosen: int  # the selected lane, -1 for none
    pointed_lanes: frozenset[int]  # lanes under the pointer, whose connections are emphasised
    highlighted: frozenset[int]  # highlighted lanes, all others are faint; by pointer or spotlight

    @property
    def ink(self) -> QColor:
        """The colour of the request's kind."""
        return self.theme.colour(self.lanes.kind)

    def strength(self, *lanes: int) -> float:
        """Return the opacity of what belongs to some lanes."""
        return 1.0 if not self.highlighted or any(lane in self.highlighted for lane in lanes) else FAINT

    def words(self, lane: int) -> Theme:
        """Return the theme for the texts of a lane."""
        return self.theme if self.strength(lane) == 1.0 else dim_theme(self.theme)

    def users(self, number: int) -> frozenset[int]:
        """Return the lanes that access a sector or bank."""
        return frozenset(lane for p in self.lanes.touched if p.target == number for lane in p.lanes)

    def height(self, index: int) -> float:
        """Return the y coordinate of a connection's end: stacked in a sector, in the middle of a bank."""
        piece, box = self.lanes.touched[index], self.layout.targets[self.lanes.touched[index].target]
        if self.lanes.buffer.space != "global":
            return box.middle
        pieces = [p for p in self.lanes.touched if p.target == piece.target]
        return box.y + (pieces.index(piece) + 0.5) / len(pieces) * box.height

    @property
    def label_step(self) -> int:
        """Every n-th lane is labelled: each one if rows are high enough."""
        return label_step(self.layout.row, self.theme)

    @cached_property
    def labelled(self) -> frozenset[int]:
        """The labelled lanes: the selected one, those under the pointer, and as many others as fit."""
        labelled: list[int] = []
        others = range(0, len(self.layout.chips), self.label_step)
        for lane in (self.chosen, *sorted(self.pointed_lanes or self.highlighted), *others):
            if lane >= 0 and all(abs(lane - other) >= self.label_step for other in labelled):
                labelled.append(lane)
        return frozenset(labelled)

    @cached_property
    def numbers_fit(self) -> bool:
        """All accessed bytes have room for the texts of their lanes."""
        bold = QFontMetricsF(self.theme.font(self.size, bold=True))
        return all(
            box.height >= self.theme.px(self.size)
            and bold.horizontalAdvance(lanes_label(piece.lanes)) + 2 <= box.width
            for piece, box in zip(self.lanes.touched, self.layout.slices, strict=True)
        )

    @cached_property
    def noted(self) -> frozenset[int]:
        """The sectors with a note of their used bytes: the selected lane's, and as many others as fit."""
        noted: dict[int, float] = {}
        line = 1.1 * self.theme.px(self.size)
        for number in sorted(self.layout.targets, key=lambda n: (self.chosen not in self.users(n), n)):
            middle = self.layout.targets[number].middle
            if all(abs(middle - other) >= line for other in noted.values()):
                noted[number] = middle
        return frozenset(noted)

    @property
    def size(self) -> float:
        """The size of the texts at the lanes."""
        return min(SMALL, max(SMALLEST, 0.78 * self.layout.row * self.label_step / self.theme.scale))


def lanes_label(lanes: tuple[int, ...]) -> str:
    """Return the lane that accesses some bytes, or the number of lanes."""
    return str(lanes[0]) if len(lanes) == 1 else f"×{len(lanes)}"


def label_step(row: float, theme: Theme) -> int:
    """Return n such that every n-th row of this height has room for text: 1, 2, 4 ..."""
    return 1 << max(0, math.ceil(math.log2(theme.px(SMALLEST) * 1.25 / row)))


def column_widths(lanes: Lanes, row: float, theme: Theme) -> ColumnWidths:
    """Measure the widths of the texts in pixels."""
    small, mono = QFontMetricsF(theme.font(SMALL)), QFontMetricsF(theme.font(SMALL, mono=True))
    active = lanes.active
    longest = max((index_text(lanes, lane) for lane in active), key=len, default="")
    last = address_text(int(lanes.address.max(initial=0)))
    gap = float(theme.px(12))
    addressed = bool(active) and lanes.buffer.space != "local"
    chip = max(small.horizontalAdvance("31") + theme.px(10), min(row * 1.6, theme.px(30)))
    return ColumnWidths(
        chip if label_step(row, theme) == 1 else small.horizontalAdvance("31") + theme.px(MARK + 3),
        max(small.horizontalAdvance("element"), mono.horizontalAdvance(longest)) + gap if active else 0.0,
        mono.horizontalAdvance(last) + gap if addressed else 0.0,
        small.horizontalAdvance("32 of 32") + gap / 2,
        gap,
    )


def spread(box: Box, step: int) -> QRectF:
    """Return a box over `step` rows, which a text may cover."""
    return QRectF(box.x, box.middle - 0.5 * box.height * step, box.width, box.height * step)


def write(
    painter: QPainter, scene: WarpScene, box: QRectF, text: str, ink: QColor, side: Qt.AlignmentFlag, *,
    bold: bool = False, mono: bool = False,
) -> None:  # fmt: skip
    painter.setFont(scene.theme.font(scene.size, bold=bold, mono=mono))
    painter.setPen(ink)
    painter.drawText(box, side | MIDDLE | Qt.TextFlag.TextDontClip, text)


def stripes(painter: QPainter, box: QRectF, colour: QColor, step: float) -> None:
    """Draw thin diagonals into a box, `step` pixels apart."""
    height = box.height()
    # Lines follow a common grid, so that a box's pattern does not depend on its neighbours.
    begin = math.floor((box.left() - height) / step) * step + (box.bottom() % step)
    count = int((box.width() + 2 * height) / step) + 2
    starts = [begin + i * step for i in range(count)]
    with clipped(painter, box):
        painter.setPen(QPen(colour, max(1.0, step / 5)))
        painter.drawLines([QLineF(x, box.bottom(), x + height, box.top()) for x in starts])
