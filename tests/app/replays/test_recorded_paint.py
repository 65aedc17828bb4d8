"""A painter's operations, written down once: operations, colours of two themes, images as differences."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QImage, QPainter, QPainterPath, QPen

from sessions import application
from tilescope.app.replays.drawings import Drawings
from tilescope.app.replays.paint_recorder import NOTHING, Picture, path_text, record_drawing
from tilescope.app.replays.step_functions import Changes


@pytest.fixture(autouse=True)
def _qt():
    application()


def operations(draw) -> list[tuple]:
    return record_drawing(draw, 100, 80).operations


def test_shapes_are_in_hundredths_of_a_pixel_where_they_come_to_lie():
    def draw(painter: QPainter) -> None:
        painter.translate(1, 2)
        painter.fillRect(QRectF(0.5, 0, 3, 4), QColor("#102030"))
        painter.setPen(QPen(QColor("#ff0000"), 2))
        painter.drawLines([QLineF(0, 0, 5, 0)])

    picture = record_drawing(draw, 100, 80)
    assert picture.operations[0][0] == "r"
    assert picture.operations[0][2:] == (NOTHING, 0, 150, 200, 300, 400)
    assert picture.colours[picture.operations[0][1]] == 0xFF102030
    name, (colour, width, *_), smooth, *ends = picture.operations[1]
    assert (name, width, smooth, ends) == ("l", 200, 0, [100, 200, 600, 200])
    assert picture.colours[colour] == 0xFFFF0000


def test_a_text_has_its_letters_size_and_room():
    def draw(painter: QPainter) -> None:
        font = QFont("DejaVu Sans")
        font.setPixelSize(14)
        font.setBold(True)
        painter.setFont(font)
        painter.drawText(QPointF(3, 20), "tile_a <b>")

    ((name, _, font, x, y, width, quarter, text),) = operations(draw)
    assert (name, font[:2], x, y, quarter, text) == ("t", (14, 1), 300, 2000, 0, "tile_a <b>")
    assert 3000 < width < 14000


def test_what_is_faint_is_so_in_its_colour_and_clips_end_where_they_do():
    def draw(painter: QPainter) -> None:
        painter.save()
        painter.setClipRect(QRectF(0, 0, 10, 10))
        painter.setOpacity(0.5)
        painter.fillRect(QRectF(0, 0, 50, 50), QColor("#000000"))
        painter.restore()
        painter.fillRect(QRectF(0, 0, 5, 5), QColor("#000000"))

    picture = record_drawing(draw, 100, 80)
    assert [operation[0] for operation in picture.operations] == ["c", "r", "c", "r"]
    assert picture.operations[2] == ("c", "")
    assert [colour >> 24 for colour in picture.colours] == [128, 255]


def test_paths_are_those_of_svg():
    path = QPainterPath(QPointF(1, 1))
    path.lineTo(3, 1)
    path.lineTo(3, 2.5)
    path.cubicTo(4, 4, 5, 5, 6, 4)
    path.closeSubpath()
    assert path_text(path) == "M100 100h200v150c100 150 200 250 300 150z"


def image(values: np.ndarray) -> Picture:
    return Picture([("i", 0, 0, 1.0, 0, 0, 800, 800)], [], [values.astype(np.uint32)])


def restored(drawings: Drawings, number: int) -> np.ndarray:
    """Compose an image as the page does: each run after the one before, from the last complete image."""
    chain = [number]
    while drawings.images[chain[-1]][2]:
        chain.append(chain[-1] - drawings.images[chain[-1]][2])
    width, height = drawings.images[number][:2]
    flat = np.zeros(width * height, np.int64)
    for item in reversed(chain):
        runs, position = drawings.images[item][3:], 0
        for gap, length, value in zip(runs[::3], runs[1::3], runs[2::3], strict=True):
            flat[position + gap : position + gap + length] = value
            position += gap + length
    colours = np.array([light for light, _ in drawings.colours])
    return colours[flat].reshape(height, width)


def test_images_come_back_from_what_changed():
    seed = 20261123
    random, drawings, shown = np.random.default_rng(seed), Drawings(), []
    values = np.full((9, 7), 0xFF000000)
    for _ in range(60):
        values = values.copy()
        values[random.integers(0, 9), random.integers(0, 7)] = 0xFF000000 + random.integers(0, 5)
        drawings.add(image(values), image(values ^ 0xFFFF), "cells")
        shown.append(values)
    numbers = [operation[1] for operation in drawings.operations if operation[0] == "i"]
    for number in numbers:
        assert any((restored(drawings, number) == values).all() for values in shown), seed
    longest = max(len(image) for image in drawings.images)
    assert sum(map(len, drawings.images)) < 20 * longest, seed


def test_the_same_drawing_has_one_number_and_two_colours():
    def draw(colour: str):
        return record_drawing(lambda painter: painter.fillRect(QRectF(0, 0, 9, 9), QColor(colour)), 100, 80)

    drawings = Drawings()
    first = drawings.add(draw("#ffffff"), draw("#000000"))
    assert drawings.add(draw("#ffffff"), draw("#000000")) == first
    assert drawings.add(draw("#ffffff"), draw("#000001")) != first
    assert drawings.written()["colours"] == [["#ffffff", "#000000"], ["#ffffff", "#000001"]]


def test_a_drawing_of_another_shape_in_the_dark_is_there_twice():
    light = record_drawing(lambda painter: painter.drawLines([QLineF(0, 0, 5, 0)]), 100, 80)
    dark = record_drawing(lambda painter: painter.drawEllipse(QRectF(0, 0, 5, 5)), 100, 80)
    drawings = Drawings()
    drawings.add(light, dark)
    assert [operation[0] for operation in drawings.operations] == ["s", "l", "s", "e", "s"]


def test_a_picture_is_drawn_without_smoothing_where_it_was():
    def draw(painter: QPainter) -> None:
        painter.drawImage(QRectF(1, 1, 20, 20), QImage(2, 2, QImage.Format.Format_RGB32))
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        painter.drawImage(QRectF(1, 1, 20, 20), QImage(2, 2, QImage.Format.Format_RGB32))
        painter.setPen(Qt.PenStyle.NoPen)
        painter.drawEllipse(QRectF(0, 0, 3, 3))

    assert [(o[0], o[2]) for o in operations(draw)[:2]] == [("i", 0), ("i", 1)]


def test_changes_say_what_holds_from_when():
    changes = Changes()
    for moment, value in ((0, "a"), (3, "a"), (4, "b"), (9, "a")):
        changes.note(moment, value)
    assert changes.written() == [[0, 4, 5], ["a", "b", "a"]]
