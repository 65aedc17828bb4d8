"""A paint device that records a painter's operations in logical pixels."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np
from msgspec import Struct, field
from numpy.typing import NDArray
from PySide6.QtCore import QByteArray, QDataStream, QIODevice, QLineF, QPoint, QPointF, QRect, QRectF, Qt
from PySide6.QtGui import (
    QBrush,
    QColor,
    QFont,
    QImage,
    QPaintDevice,
    QPaintEngine,
    QPaintEngineState,
    QPainter,
    QPainterPath,
    QPen,
    QPixmap,
    QTextItem,
    QTransform,
)

Operation = tuple[
    Any, ...
]  # its name, then its arguments: numbers, texts and tuples of them; see `replay.js`
Pixels = NDArray[np.uint32]
UNITS = 100  # units of coordinates per logical pixel
NOTHING = -1  # instead of a colour: no edge, or no fill
NO_HINTS = QPainter.RenderHint(0)
CAPS = {Qt.PenCapStyle.FlatCap: 0, Qt.PenCapStyle.SquareCap: 1, Qt.PenCapStyle.RoundCap: 2}
JOINS = {Qt.PenJoinStyle.MiterJoin: 0, Qt.PenJoinStyle.BevelJoin: 1, Qt.PenJoinStyle.RoundJoin: 2}
DASHES: dict[Qt.PenStyle, tuple[float, ...]] = {Qt.PenStyle.DashLine: (4, 2), Qt.PenStyle.DotLine: (1, 2)}
Flag = QPaintEngine.DirtyFlag
# A point of a path in Qt's stream format: the kind of its segment and its position; a curve has two more points.
POINT = np.dtype([("kind", ">i4"), ("x", ">f8"), ("y", ">f8")])
MOVE, LINE, CURVE = range(3)


class Picture(NamedTuple):
    """A recorded drawing. Operations contain indices into the lists of colours and images."""

    operations: list[Operation]  # in order
    colours: list[int]  # 0xAARRGGBB, not premultiplied
    images: list[Pixels]  # (rows, columns), 0xAARRGGBB


def record_drawing(draw: Callable[[QPainter], None], width: int, height: int) -> Picture:
    """Record the operations of a function on a device of this size in logical pixels."""
    device = _Device(width, height)
    painter = QPainter(device)
    try:
        draw(painter)
    finally:
        painter.end()
    return device.engine.picture


class _Ink(Struct):
    """The current state of a painter."""

    pen: QPen = field(default_factory=QPen)
    brush: QBrush = field(default_factory=QBrush)
    opacity: float = 1.0
    hints: QPainter.RenderHint = NO_HINTS
    transform: QTransform = field(default_factory=QTransform)
    is_clip_current: bool = True  # whether the engine's clip is up to date


class _Engine(QPaintEngine):
    """Records every operation with its colours and its transformed position."""

    def __init__(self) -> None:
        super().__init__(QPaintEngine.PaintEngineFeature.AllFeatures)
        self.picture = Picture([], [], [])
        self._ink = _Ink()
        self._clip: str = ""  # the current clip path, "" for none

    def begin(self, device: QPaintDevice) -> bool:
        return True

    def end(self) -> bool:
        return True

    def type(self) -> QPaintEngine.Type:
        return QPaintEngine.Type.User

    def updateState(self, state: QPaintEngineState) -> None:
        flags, ink = state.state(), self._ink
        if flags & Flag.DirtyPen:
            ink.pen = state.pen()
        if flags & Flag.DirtyBrush:
            ink.brush = state.brush()
        if flags & Flag.DirtyOpacity:
            ink.opacity = state.opacity()
        if flags & Flag.DirtyHints:
            ink.hints = state.renderHints()
        if flags & Flag.DirtyTransform:
            ink.transform = state.transform()
        if flags & (Flag.DirtyClipPath | Flag.DirtyClipRegion | Flag.DirtyClipEnabled):
            ink.is_clip_current = False

    # Operations.

    def drawRects(self, rects: Iterable[Any]) -> None:
        boxes = [self._mapped(QRectF(rect)) for rect in rects]
        flat = [n for box in boxes for n in _box(box)]
        self._add("r", self._fill(), self._edge(), self._smooth(), *flat)

    def drawEllipse(self, rect: QRectF | QRect, /) -> None:
        self._add("e", self._fill(), self._edge(), self._smooth(), *_box(self._mapped(QRectF(rect))))

    def drawLines(self, lines: Iterable[Any]) -> None:
        mapped = [self._ink.transform.map(QLineF(line)) for line in lines]
        flat = [units(n) for p in mapped for n in (p.x1(), p.y1(), p.x2(), p.y2())]
        self._add("l", self._edge(), self._smooth(), *flat)

    def drawPoints(self, points: Iterable[Any]) -> None:
        mapped = [self._ink.transform.map(QPointF(point)) for point in points]
        self._add("o", self._edge(), *[units(n) for p in mapped for n in (p.x(), p.y())])

    def drawPolygon(self, points: Iterable[Any], mode: QPaintEngine.PolygonDrawMode) -> None:
        first, *others = points
        path, is_line = QPainterPath(QPointF(first)), mode == QPaintEngine.PolygonDrawMode.PolylineMode
        for point in others:
            path.lineTo(QPointF(point))
        if not is_line:
            path.closeSubpath()
        odd = mode == QPaintEngine.PolygonDrawMode.OddEvenMode
        self._path(path, NOTHING if is_line else self._fill(), odd)

    def drawPath(self, path: QPainterPath) -> None:
        self._path(path, self._fill(), path.fillRule() == Qt.FillRule.OddEvenFill)

    def drawTextItem(self, point: QPointF | QPoint | QPainterPath.Element, item: QTextItem, /) -> None:
        position, turned = self._ink.transform.map(QPointF(point)), self._ink.transform.m12()  # type: ignore[arg-type]
        colour = self._colour(self._ink.pen.color())
        quarter = round(math.copysign(1, turned)) if abs(turned) > 0.5 else 0
        font, width = _font(item.font()), units(item.width())
        self._add("t", colour, font, units(position.x()), units(position.y()), width, quarter, item.text())

    def drawPixmap(self, box: QRectF | QRect, pixmap: QPixmap | QImage, part: QRectF | QRect, /) -> None:
        self.drawImage(box, pixmap if isinstance(pixmap, QImage) else pixmap.toImage(), part)

    def drawImage(
        self,
        box: QRectF | QRect,
        image: QImage,
        part: QRectF | QRect,
        /,
        flags: Qt.ImageConversionFlag = Qt.ImageConversionFlag.AutoColor,
    ) -> None:
        smooth = bool(self._ink.hints & QPainter.RenderHint.SmoothPixmapTransform)
        shown = image.copy(QRectF(part).toRect()).convertToFormat(QImage.Format.Format_ARGB32)
        height, width = shown.height(), shown.width()
        pixels = np.frombuffer(shown.constBits(), np.uint32).reshape(height, shown.bytesPerLine() // 4)
        self.picture.images.append(pixels[:, :width].copy())
        number = len(self.picture.images) - 1
        opacity = round(self._ink.opacity, 3)
        self._add("i", number, int(smooth), opacity, *_box(self._mapped(QRectF(box))))

    # State.

    def _add(self, *operation: Any) -> None:
        self._update_clip()
        self.picture.operations.append(operation)

    def _update_clip(self) -> None:
        """Record a changed clip before an operation."""
        ink = self._ink
        if ink.is_clip_current:
            return
        ink.is_clip_current = True
        painter = self.painter()
        limited = painter.hasClipping()
        text = path_text(ink.transform.map(painter.clipPath())) if limited else ""
        if text != self._clip:
            self._clip = text
            self.picture.operations.append(("c", text))

    def _path(self, path: QPainterPath, fill: Any, odd: bool) -> None:
        edge = self._edge()
        if not path.isEmpty() and (fill != NOTHING or edge != NOTHING):
            text = path_text(self._ink.transform.map(path))
            self._add("p", fill, edge, self._smooth(), int(odd), text)

    def _mapped(self, rect: QRectF) -> QRectF:
        return self._ink.transform.mapRect(rect)

    def _smooth(self) -> int:
        return int(bool(self._ink.hints & QPainter.RenderHint.Antialiasing))

    def _fill(self) -> Any:
        brush = self._ink.brush
        return NOTHING if brush.style() == Qt.BrushStyle.NoBrush else self._colour(brush.color())

    def _edge(self) -> Any:
        """Return the pen: colour, width, cap, join and dashes, in units."""
        pen = self._ink.pen
        if pen.style() == Qt.PenStyle.NoPen:
            return NOTHING
        width = max(pen.widthF(), 1.0) if pen.isCosmetic() or not pen.widthF() else pen.widthF()
        pattern = DASHES.get(pen.style()) or (
            pen.dashPattern() if pen.style() == Qt.PenStyle.CustomDashLine else ()
        )
        dashes = tuple(units(max(width, 1.0) * part) for part in pattern)
        return (
            self._colour(pen.color()),
            units(width),
            CAPS[pen.capStyle()],
            JOINS.get(pen.joinStyle(), 0),
            dashes,
        )

    def _colour(self, colour: QColor) -> int:
        """Return the index of a colour with the painter's opacity."""
        alpha = round(colour.alpha() * self._ink.opacity)
        self.picture.colours.append(alpha << 24 | (colour.rgba() & 0xFFFFFF))
        return len(self.picture.colours) - 1


class _Device(QPaintDevice):
    """A device of a fixed size, with one dot per logical pixel."""

    def __init__(self, width: int, height: int) -> None:
        super().__init__()
        self.engine = _Engine()
        metric = QPaintDevice.PaintDeviceMetric
        dots = (metric.PdmDpiX, metric.PdmDpiY, metric.PdmPhysicalDpiX, metric.PdmPhysicalDpiY)
        self._metrics = dict.fromkeys(dots, 96) | {
            metric.PdmWidth: width, metric.PdmHeight: height, metric.PdmDepth: 32, metric.PdmNumColors: 1 << 24,
            metric.PdmWidthMM: round(width * 25.4 / 96), metric.PdmHeightMM: round(height * 25.4 / 96),
            metric.PdmDevicePixelRatio: 1, metric.PdmDevicePixelRatioScaled: int(self.devicePixelRatioFScale()),
        }  # fmt: skip

    def paintEngine(self) -> QPaintEngine:
        return self.engine

    def metric(self, which: QPaintDevice.PaintDeviceMetric) -> int:
        return self._metrics.get(which, 0)


def units(length: float) -> int:
    """Convert a length to hundredths of a logical pixel."""
    return round(length * UNITS)


def _box(rect: QRectF) -> tuple[int, int, int, int]:
    """Return left, top, width and height, rounded so that adjacent boxes stay adjacent."""
    left, top = units(rect.left()), units(rect.top())
    return left, top, units(rect.left() + rect.width()) - left, units(rect.top() + rect.height()) - top


def _font(font: QFont) -> tuple[int, int, int, int]:
    """Return the size in pixels, and flags for bold, italic and monospace."""
    mono = any("mono" in family.lower() or family in ("Menlo", "Consolas") for family in font.families())
    return font.pixelSize(), int(font.bold()), int(font.italic()), int(mono)


def path_text(path: QPainterPath) -> str:
    """Write a path in SVG syntax, in hundredths of a logical pixel.

    Qt streams the path to a buffer first, since a call from Python for every point takes twice as long.
    """
    data = QByteArray()
    QDataStream(data, QIODevice.OpenModeFlag.WriteOnly) << path
    count = path.elementCount()
    points = np.frombuffer(data.data(), POINT, count, 4) if count else np.empty(0, POINT)
    xs, ys = (np.rint(points[axis] * UNITS).astype(int).tolist() for axis in ("x", "y"))
    parts: list[str] = []
    x = y = x0 = y0 = 0
    for i, kind in enumerate(points["kind"].tolist()):
        if kind == MOVE:
            parts.append(f"M{xs[i]} {ys[i]}")
            x0, y0 = xs[i], ys[i]
        elif kind == LINE:
            parts.append(_line_text(xs[i] - x, ys[i] - y, closes=(xs[i], ys[i]) == (x0, y0)))
        elif kind == CURVE:
            ends = (f"{xs[n] - x} {ys[n] - y}" for n in range(i, i + 3))
            parts.append(f"c{' '.join(ends)}")
            continue  # its end is the third point
        elif points["kind"][i - 1] == CURVE:
            continue
        x, y = xs[i], ys[i]
    return "".join(parts)


def _line_text(across: int, down: int, *, closes: bool) -> str:
    if closes:
        return "z"
    return f"h{across}" if not down else f"v{down}" if not across else f"l{across} {down}"
