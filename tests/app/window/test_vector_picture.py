"""The views as SVG and PDF: other programs draw the same picture; text is text; small; written atomically."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

import numpy as np
import pytest
from msgspec.structs import replace
from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QImage, QKeyEvent, QPainter
from PySide6.QtWidgets import QAbstractButton, QFileDialog

from launching import Array, trace
from pdf_picture import render_pdf
from pdf_text import text_of
from svg_in_browser import BROWSER, render_svgs
from tilescope.app.cli.main import main
from tilescope.app.model.first_bookmark import first_bookmark
from tilescope.app.state.actions import ShowChart, ToggleLayout
from tilescope.app.widgets.widget_picture import PictureError
from tilescope.app.window.vector_picture import (
    FILTERS,
    content_of,
    picture_asked,
    picture_of_parts,
    write_vector_picture,
)
from tilescope.tracer.storage.trace_file import save
from windows import PAIR, act, open_window, settle

CELL = 6  # pixels on each side of the squares whose mean colours are compared: edges are smoothed differently
DIFFERENT = 40  # of 255, between the mean colours of a square
MOST = 0.006  # of the squares that show something may be different: where letters and thin lines stand between pixels
CUBE = ("matmul-naive-row-on-x:m=64,k=64,n=64", "matmul-tiled:m=64,k=64,n=64")
LARGEST = 500_000  # bytes, of the picture of a 64-cube

# Name -> (scenarios, moment of the last pane, parts, what else the bookmark holds).
STATES = {
    "cube": (CUBE, 500, "all", {}),
    "later": (CUBE, 520, "all", {}),
    "end": (CUBE, 10**9, "all", {"theme": "dark"}),
    "lit": (CUBE, 500, "all", {"spotlight": ("a", "warp 2")}),
    "warp": (("matmul-naive-col-on-x:m=64,k=64,n=64",), 6, "warp", {"theme": "dark"}),
    "counts": (("histogram-private", "transpose-tile"), 30, "memory", {}),
    "large": (("matmul-tiled:m=512,k=512,n=512,blocks=0",), 400, "memory", {}),
    "letters": (PAIR, 60, "timeline", {"text_scale": 1.4}),
}


class Drawn(NamedTuple):
    """A picture of a state."""

    size: tuple[int, int]
    screen: QImage  # as the views draw it on a screen
    svg: bytes
    pdf: bytes


def on_screen(picture) -> QImage:
    """Return a picture as the views draw it on a screen."""
    image = QImage(*picture.size, QImage.Format.Format_RGB32)
    painter = QPainter(image)
    picture.draw(painter)
    painter.end()
    return image


def show(window, specs, moment, more):
    """Show a state in a window."""
    window.show_bookmark(replace(first_bookmark(specs, None), **{"theme": "light", **more}))
    settle(window)
    window.stage.set_focus(len(specs) - 1)
    window.stage.seek(len(specs) - 1, moment)
    settle(window)
    window.draw()


@pytest.fixture(scope="module")
def drawn():
    """Return the pictures of all states."""
    names = {}
    with open_window() as window:
        window.resize(1280, 860)
        for name, (specs, moment, parts, more) in STATES.items():
            show(window, specs, moment, more)
            picture = picture_of_parts(window.central, parts)
            files = (content_of(picture, suffix) for suffix in (".svg", ".pdf"))
            names[name] = Drawn(picture.size, on_screen(picture), *files)
    return names


@pytest.fixture(scope="module")
def in_browser(drawn, tmp_path_factory):
    """Return a browser's drawing of each SVG, and of one without its clips."""
    sized = {name: (picture.svg, picture.size) for name, picture in drawn.items()}
    sized["unclipped"] = re.sub(rb' clip-path="[^"]*"', b"", drawn["lit"].svg), drawn["lit"].size
    return render_svgs(sized, tmp_path_factory.mktemp("svg"))


def squares(image: QImage) -> np.ndarray:
    """Return the mean colours of the squares of a picture."""
    image = image.convertToFormat(QImage.Format.Format_RGB32)
    pixels = np.frombuffer(image.constBits(), np.uint8).reshape(image.height(), image.bytesPerLine() // 4, 4)
    rows, cols = image.height() // CELL * CELL, image.width() // CELL * CELL
    parts = pixels[:rows, :cols, :3].astype(float).reshape(rows // CELL, CELL, cols // CELL, CELL, 3)
    return parts.mean(axis=(1, 3))


def difference(first: QImage, other: QImage) -> float:
    """Return the share of the squares that are different, of those in which one of them shows more than its ground."""
    assert abs(first.width() - other.width()) <= 1 and abs(first.height() - other.height()) <= 1
    a, b = squares(first), squares(other)
    rows, cols = min(len(a), len(b)), min(a.shape[1], b.shape[1])
    a, b = a[:rows, :cols], b[:rows, :cols]
    used = (np.abs(a - a[0, 0]).max(axis=2) > 2) | (np.abs(b - a[0, 0]).max(axis=2) > 2)
    return float((np.abs(a - b).max(axis=2)[used] > DIFFERENT).mean())


needs_browser = pytest.mark.skipif(not BROWSER, reason="Chromium is not installed")


@needs_browser
@pytest.mark.parametrize("name", STATES)
def test_a_browser_draws_of_the_svg_what_is_on_screen(name, drawn, in_browser):
    assert difference(drawn[name].screen, in_browser[name]) <= MOST


@pytest.mark.parametrize("name", STATES)
def test_another_reader_draws_of_the_pdf_what_is_on_screen(name, drawn):
    assert difference(drawn[name].screen, render_pdf(drawn[name].pdf)) <= MOST


def test_the_comparison_distinguishes_moments_and_themes(drawn):
    assert difference(drawn["cube"].screen, drawn["later"].screen) > MOST
    assert difference(drawn["cube"].screen, drawn["lit"].screen) > MOST
    assert difference(drawn["cube"].screen, render_pdf(drawn["later"].pdf)) > MOST


@needs_browser
def test_the_comparison_detects_a_clip_that_is_lost(drawn, in_browser):
    assert difference(drawn["lit"].screen, in_browser["unclipped"]) > MOST


def texts(svg: bytes) -> list[str]:
    """Return the texts of an SVG file, which has to be well-formed."""
    tree = ElementTree.fromstring(svg)
    return ["".join(node.itertext()).strip() for node in tree.iter("{http://www.w3.org/2000/svg}text")]


PHRASES = {
    "cube": ("Naive, row on x", "Tiled, shared memory", "moment 500 of 2,448, block (3, 0)", "64 × 64", "tile_a",
             "reads 32 elements of A from global memory", "exact", "compute tile 0", "shared load", "no value"),
    "warp": ("Naive, column on x", "32-byte sectors", "128-byte line", "lane", "31"),
    "counts": ("Histogram, privatised", "private, shared memory of block 0", "Transpose, tile"),
    "letters": ("warp 0 of 0–1", "load tile 0", "shared load"),
    "large": ("A part of the launch: 1 of 1,024 blocks ran.", "512 × 512", "part"),
}  # fmt: skip


@pytest.mark.parametrize("name", PHRASES)
def test_text_is_text_in_both(name, drawn):
    svg, pdf = texts(drawn[name].svg), text_of(drawn[name].pdf)
    for phrase in PHRASES[name]:
        assert phrase in svg
        assert phrase.replace(" ", "") in pdf


def test_the_picture_of_a_64_cube_is_small(drawn):
    for name in ("cube", "end", "lit"):
        assert max(len(drawn[name].svg), len(drawn[name].pdf)) <= LARGEST


def test_nothing_but_the_picture_is_in_an_svg(drawn):
    for picture in drawn.values():
        assert b"fe02" not in picture.svg and b"fe01" not in picture.svg, "marks of clips"
        assert not re.search(rb'(?:href|src)="(?!data:image/png;base64,)', picture.svg)
        names = re.findall(rb'<clipPath id="(\w+)"', picture.svg)
        assert len(set(names)) == len(names)
        assert set(re.findall(rb"url\(#(\w+)\)", picture.svg)) == set(names)


def test_a_name_with_markup_in_it_stays_text(tmp_path):
    source = "@cuda.jit\ndef kernel(a):\n    a[0] = 1\n"
    renamed = trace(tmp_path, source, (Array((4,)),))
    hostile = "</svg><script>alert(1)</script>&"
    renamed = replace(
        renamed, kernel=hostile, buffers=tuple(replace(b, name=hostile) for b in renamed.buffers)
    )
    save(renamed, tmp_path / f"000-{hostile.replace('/', '_')}.npz")
    with open_window((str(next(tmp_path.glob("*.npz"))),)) as window:
        write_vector_picture(window.central, "all", tmp_path / "x.svg")
    svg = (tmp_path / "x.svg").read_bytes()
    assert any("<script>alert(1)" in text for text in texts(svg))
    assert not list(ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}script"))


# --- written whole or not at all


def test_snapshot_writes_the_views_as_vectors(tmp_path, capsys):
    path = tmp_path / "x.svg"
    assert main(["snapshot", PAIR[1], "-o", str(path), "--moment", "30", "--size", "1000x700"]) == 0
    assert "moment 30 of 180, block (0, 0)" in texts(path.read_bytes())
    pdf = tmp_path / "x.pdf"
    assert main(["snapshot", PAIR[1], "-o", str(pdf), "--view", "warp", "--size", "1000x700"]) == 0
    assert pdf.read_bytes().startswith(b"%PDF") and "Tiled,sharedmemory" in text_of(pdf.read_bytes())
    capsys.readouterr()
    assert main(["snapshot", PAIR[1], "-o", str(tmp_path / "x.png"), "--view", "warp"]) == 2
    assert "--view needs a picture that ends with .svg or .pdf" in capsys.readouterr().err


def test_the_window_saves_the_choice_of_the_dialog(tmp_path, monkeypatch):
    names = {name.partition(" ")[0]: name for name in FILTERS}
    with open_window() as window:
        for kind, name in (("Memory", "tilescope.png"), ("Lanes", "lanes.pdf")):
            chosen = str(tmp_path / name), names[kind]
            monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_, chosen=chosen: chosen)
            window.files.save_picture()
        assert sorted(path.name for path in tmp_path.iterdir()) == ["lanes.pdf", "tilescope.svg"]
        assert "lanes.pdf" in window.central.notice.news.sentence.text()
        assert "Tiled, shared memory" in texts((tmp_path / "tilescope.svg").read_bytes())
        window.files.store_picture(tmp_path / "no" / "x.svg", "all")
        assert window.notice.message_type == "error"


@pytest.mark.parametrize(
    ("path", "kind", "expected"),
    [
        ("a.png", "The window", ("a.png", None)),
        ("a", "The window", ("a.png", None)),
        ("a.svg", "The window", ("a.svg", "all")),
        ("a.png", "Memory and timelines", ("a.svg", "all")),
        ("a.b", "Memory only", ("a.svg", "memory")),
        ("a.pdf", "Timelines only", ("a.pdf", "timeline")),
        ("a.SVG", "Lanes", ("a.SVG", "warp")),
    ],
)
def test_a_dialog_s_answer_contains_the_file_and_its_content(path, kind, expected):
    chosen = next(name for name in FILTERS if name.startswith(kind))
    assert picture_asked(path, chosen) == (Path(expected[0]), expected[1])


def test_a_magnified_picture_stays_in_its_place_and_has_no_buttons(tmp_path):
    with open_window(PAIR) as window:
        memory = window.central.panes[1].memory
        memory.keyPressEvent(
            QKeyEvent(QEvent.Type.KeyPress, Qt.Key.Key_Plus, Qt.KeyboardModifier.NoModifier, "+")
        )
        settle(window)
        window.draw()
        picture = picture_of_parts(window.central, "all")
        screen, svg, pdf = on_screen(picture), content_of(picture, ".svg"), content_of(picture, ".pdf")
        assert [button.text() for button in memory.findChildren(QAbstractButton) if button.isVisible()]
    assert not any("Fit" in text for text in texts(svg))
    assert difference(screen, render_pdf(pdf)) <= MOST


def test_timelines_that_stand_side_by_side_do_so_on_paper(tmp_path):
    with open_window(PAIR) as window:
        window.resize(1280, 860)
        act(window, ToggleLayout())
        settle(window)
        first, second = (timeline.pos() for timeline in window.central.timelines)
        assert first.y() == second.y()
        assert (
            picture_of_parts(window.central, "timeline").size[0]
            > second.x() + window.central.timelines[1].width()
        )


def test_a_chart_instead_of_the_pictures_is_reported():
    with open_window(PAIR) as window:
        act(window, ShowChart("bars matmul-tiled"))
        with pytest.raises(PictureError, match="A chart covers the pictures"):
            picture_of_parts(window.central, "all")


def test_what_can_t_be_written_or_is_not_on_screen_is_a_sentence(tmp_path):
    (tmp_path / "x.svg").mkdir()
    with open_window((PAIR[1],)) as window:
        with pytest.raises(PictureError, match=r"x\.svg could not be written: "):
            write_vector_picture(window.central, "all", tmp_path / "x.svg")
        for pane in window.central.panes:
            pane.hide()
        with pytest.raises(PictureError, match="There is no memory on screen to draw"):
            write_vector_picture(window.central, "memory", tmp_path / "y.svg")
    assert [path.name for path in tmp_path.iterdir()] == ["x.svg"]
