"""A page of a PDF file that Qt wrote, drawn with none of what wrote it: a reader of the few operators that it has.

Names and meanings of operators: PDF 32000-1:2008, annex A. Text is drawn in the font that the file names.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QBrush, QColor, QFont, QImage, QPainter, QPainterPath, QPen, QTransform

from pdf_text import _meanings, _stream

Numbers = list[float]
TOKEN = re.compile(rb"\[[^\]]*\]|<[0-9A-Fa-f]*>|/?[^\s\[\]<>/]+")
CAPS = (Qt.PenCapStyle.FlatCap, Qt.PenCapStyle.RoundCap, Qt.PenCapStyle.SquareCap)
JOINS = (Qt.PenJoinStyle.MiterJoin, Qt.PenJoinStyle.RoundJoin, Qt.PenJoinStyle.BevelJoin)


@dataclass
class State:
    """What `q` keeps and `Q` brings back."""

    matrix: QTransform = field(default_factory=QTransform)
    clip: QPainterPath | None = None  # in pixels
    fill: QColor = field(default_factory=lambda: QColor("black"))
    stroke: QColor = field(default_factory=lambda: QColor("black"))
    alphas: tuple[float, float] = (1.0, 1.0)  # of fills, of strokes
    width: float = 1.0
    cap: int = 0
    join: int = 0
    limit: float = 10.0
    dashes: tuple[Numbers, float] = field(default_factory=lambda: ([], 0.0))


class PdfPage:
    """Reads the first page. content: of the file."""

    def __init__(self, content: bytes) -> None:
        self.objects = {int(n): body for n, body in re.findall(rb"(\d+) 0 obj\n(.*?)endobj", content, re.S)}
        page = next(body for body in self.objects.values() if b"/Type /Page\n" in body)
        box = re.search(rb"/MediaBox \[0 0 ([\d.]+) ([\d.]+)\]", page)
        contents, resources = (
            re.search(rb"/%s (\d+) 0 R" % name, page) for name in (b"Contents", b"Resources")
        )
        assert box and contents and resources
        self.points = float(box[1]), float(box[2])
        self.operators = _stream(self.objects[int(contents[1])])
        named = re.findall(rb"/(\w+) (\d+) 0 R", self.objects[int(resources[1])])
        self.resources = {name.decode(): self.objects[int(number)] for name, number in named}

    def image(self) -> QImage:
        """Return the page, 96 pixels to the inch."""
        scale = 96 / 72
        image = QImage(*(round(side * scale) for side in self.points), QImage.Format.Format_RGB32)
        image.fill(Qt.GlobalColor.white)
        painter = QPainter(image)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        flipped = QTransform(scale, 0, 0, -scale, 0, self.points[1] * scale)
        _Drawing(self, painter, State(flipped)).run()
        painter.end()
        return image

    def picture(self, name: str) -> QImage:
        """Return an image of the file; what its mask leaves out is transparent."""
        body = self.resources[name]
        width, height = (int(re.search(rb"/%s (\d+)" % side, body)[1]) for side in (b"Width", b"Height"))  # type: ignore[index]
        pixels = _stream(body)
        image = QImage(pixels, width, height, 3 * width, QImage.Format.Format_RGB888)
        image = image.convertToFormat(QImage.Format.Format_ARGB32)
        mask = re.search(rb"/Mask (\d+) 0 R", body)
        if mask:
            bits, row = _stream(self.objects[int(mask[1])]), (width + 7) // 8
            shown = QImage(bits, width, height, row, QImage.Format.Format_Mono)
            shown.setColorTable([0xFF000000, 0xFFFFFFFF])
            image.setAlphaChannel(shown.convertToFormat(QImage.Format.Format_Grayscale8))
        return image

    def font(self, name: str) -> tuple[QFont, dict[int, str]]:
        """Return a font by its name in the file, and what its glyphs mean."""
        body = self.resources[name]
        base, table = (re.search(rb"/%s (\S+)" % key, body) for key in (b"BaseFont", b"ToUnicode"))
        assert base and table
        family, _, style = base[1].decode().lstrip("/").partition("-")
        font = QFont(re.sub(r"(?<=[a-z])(?=[A-Z])", " ", family))
        font.setBold("Bold" in style)
        return font, _meanings(_stream(self.objects[int(table[1])]))


class _Drawing:
    """Obeys the operators one after the other."""

    def __init__(self, page: PdfPage, painter: QPainter, state: State) -> None:
        self.page, self.painter, self.state = page, painter, state
        self.kept: list[State] = []
        self.path, self.clips = QPainterPath(), False
        self.font, self.meanings, self.size = QFont(), dict[int, str](), 1.0
        self.text = self.line = QTransform()

    def run(self) -> None:
        """Draw everything; an operator that is not known raises AttributeError."""
        operands: list[bytes] = []
        for token in TOKEN.findall(self.page.operators):
            if re.match(rb"[-+.\d\[</]", token):
                operands.append(token)
                continue
            name = token.decode().replace("*", "_star")
            getattr(self, f"op_{name}")(*operands)
            operands = []

    # State.

    def op_q(self) -> None:
        self.kept.append(replace(self.state))

    def op_Q(self) -> None:
        self.state = self.kept.pop()

    def op_cm(self, *numbers: bytes) -> None:
        self.state.matrix = QTransform(*map(float, numbers)) * self.state.matrix

    def op_gs(self, name: bytes) -> None:
        body = self.page.resources[name.decode()[1:]]
        matches = [re.search(rb"/%s ([\d.]+)" % key, body) for key in (b"ca", b"CA")]
        self.state.alphas = tuple(float(match[1]) for match in matches if match)  # type: ignore[assignment]

    def op_cs(self, name: bytes) -> None:
        assert name == b"/CSp"

    op_CS = op_cs

    def op_scn(self, *numbers: bytes) -> None:
        self.state.fill = QColor.fromRgbF(*map(float, numbers))

    def op_SCN(self, *numbers: bytes) -> None:
        self.state.stroke = QColor.fromRgbF(*map(float, numbers))

    def op_w(self, width: bytes) -> None:
        self.state.width = float(width)

    def op_J(self, cap: bytes) -> None:
        self.state.cap = int(cap)

    def op_j(self, join: bytes) -> None:
        self.state.join = int(join)

    def op_M(self, limit: bytes) -> None:
        self.state.limit = float(limit)

    def op_d(self, dashes: bytes, phase: bytes = b"0") -> None:
        self.state.dashes = [float(n) for n in dashes.strip(b"[]").split()], float(phase)

    # Paths.

    def op_m(self, x: bytes, y: bytes) -> None:
        self.path.moveTo(float(x), float(y))

    def op_l(self, x: bytes, y: bytes) -> None:
        self.path.lineTo(float(x), float(y))

    def op_c(self, *numbers: bytes) -> None:
        self.path.cubicTo(*map(float, numbers))

    def op_h(self) -> None:
        self.path.closeSubpath()

    def op_re(self, *numbers: bytes) -> None:
        self.path.addRect(QRectF(*map(float, numbers)))

    def op_W(self) -> None:
        self.clips = True
        self.path.setFillRule(Qt.FillRule.WindingFill)

    def op_W_star(self) -> None:
        self.clips = True

    def op_n(self) -> None:
        if self.clips:
            path = self.state.matrix.map(self.path)
            self.state.clip = path if self.state.clip is None else self.state.clip.intersected(path)
        self.path, self.clips = QPainterPath(), False

    def op_f(self) -> None:
        self.path.setFillRule(Qt.FillRule.WindingFill)
        self.op_f_star()

    def op_f_star(self) -> None:
        self._ready(self.state.matrix)
        self.painter.fillPath(self.path, QBrush(_with(self.state.fill, self.state.alphas[0])))
        self.painter.restore()
        self.path = QPainterPath()

    def op_S(self) -> None:
        state = self.state
        colour = QBrush(_with(state.stroke, state.alphas[1]))
        pen = QPen(colour, state.width, Qt.PenStyle.SolidLine, CAPS[state.cap], JOINS[state.join])
        pen.setMiterLimit(state.limit)
        if state.dashes[0]:
            width = state.width or 1.0
            pen.setDashPattern([length / width for length in state.dashes[0]])
            pen.setDashOffset(state.dashes[1] / width)
        self._ready(state.matrix)
        self.painter.strokePath(self.path, pen)
        self.painter.restore()
        self.path = QPainterPath()

    # Images and text.

    def op_Do(self, name: bytes) -> None:
        self._ready(QTransform(1, 0, 0, -1, 0, 1) * self.state.matrix)
        self.painter.setOpacity(self.state.alphas[0])
        image = self.page.picture(name.decode()[1:])
        shown = self.painter.transform().mapRect(QRectF(0, 0, 1, 1)).size().toSize()
        if shown.width() < image.width() or shown.height() < image.height():
            smooth = Qt.TransformationMode.SmoothTransformation
            image = image.scaled(shown.expandedTo(QSize(1, 1)), Qt.AspectRatioMode.IgnoreAspectRatio, smooth)
        self.painter.drawImage(QRectF(0, 0, 1, 1), image)
        self.painter.restore()

    def op_BT(self) -> None:
        self.text = self.line = QTransform()

    def op_ET(self) -> None:
        pass

    def op_Tf(self, name: bytes, size: bytes) -> None:
        self.font, self.meanings = self.page.font(name.decode()[1:])
        self.size = float(size)
        self.font.setPixelSize(64)

    def op_Tm(self, *numbers: bytes) -> None:
        self.line = QTransform(*map(float, numbers))

    def op_Td(self, x: bytes, y: bytes) -> None:
        self.line = QTransform.fromTranslate(float(x), float(y)) * self.line

    def op_Tj(self, glyphs: bytes) -> None:
        path, code = QPainterPath(), int(glyphs.strip(b"<>")[:4], 16)
        assert len(glyphs) == 6, "a glyph at a time"
        path.addText(QPointF(), self.font, self.meanings.get(code, "?"))
        share = self.size / 64
        self._ready(QTransform.fromScale(share, -share) * self.line * self.state.matrix)
        self.painter.fillPath(path, _with(self.state.fill, self.state.alphas[0]))
        self.painter.restore()

    def _ready(self, matrix: QTransform) -> None:
        self.painter.save()
        if self.state.clip is not None:
            self.painter.setClipPath(self.state.clip)
        self.painter.setTransform(matrix)


def _with(colour: QColor, alpha: float) -> QColor:
    shade = QColor(colour)
    shade.setAlphaF(alpha)
    return shade


def render_pdf(content: bytes) -> QImage:
    """Return the first page of a PDF file, 96 pixels to the inch."""
    return PdfPage(content).image()
