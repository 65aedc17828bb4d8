"""The task of an exercise as it is shown: pictures, drawn sharp and where they can do no harm, no HTML, no links."""

from __future__ import annotations

import gzip

import pytest
from PySide6.QtCore import QSize
from PySide6.QtGui import QColor, QImage

from tilescope.app.exercises.model.reading import read_exercise
from tilescope.app.exercises.panel import html_of
from tilescope.app.exercises.picture import LARGEST, PictureView, TaskPictureError
from tilescope.app.widgets.theme import Theme
from tilescope.app.window.start import application

SVG = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 200 100">{}</svg>'
RED = '<rect width="200" height="100" fill="#ff0000"/>'


def view(path, content, scale=1.0):
    """Return the view of a picture with this content."""
    application()
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    picture_view = PictureView(Theme.named("light", scale))
    picture_view.show_file(path, "what it shows")
    return picture_view


def test_a_drawing_has_its_declared_size_grows_with_the_text_and_shrinks_with_the_panel(tmp_path):
    picture_view = view(tmp_path / "a.svg", SVG.format(RED))
    assert picture_view.sizeHint() == QSize(200, 100) and picture_view.heightForWidth(100) == 50
    assert view(tmp_path / "a.svg", SVG.format(RED), 1.6).sizeHint() == QSize(320, 160)
    picture_view.shrink(0.5)
    assert picture_view.heightForWidth(400) == 50
    picture_view.resize(100, 50)
    assert picture_view.grab().toImage().pixelColor(25, 12) == QColor("#ff0000")


def test_a_drawing_is_dark_in_the_dark_theme_and_keeps_its_hues(tmp_path):
    drawn = view(
        tmp_path / "a.svg",
        SVG.format(RED.replace("ff0000", "FFFFFF") + '<rect width="9" height="9" fill="#cc0000"/>'),
    )
    drawn.resize(200, 100)
    assert drawn.grab().toImage().pixelColor(100, 50) == QColor("#FFFFFF")
    dark = Theme.named("dark")
    drawn.set_theme(dark)
    image = drawn.grab().toImage()
    assert image.pixelColor(100, 50) == dark.colour("panel")
    red = image.pixelColor(3, 3)
    assert red.red() > 2 * max(red.green(), red.blue())
    drawn.set_theme(Theme.named("light"))
    assert drawn.grab().toImage().pixelColor(100, 50) == QColor("#FFFFFF")


def test_a_png_is_drawn_too(tmp_path):
    image = QImage(40, 20, QImage.Format.Format_RGB32)
    image.fill(QColor("#00ff00"))
    image.save(str(tmp_path / "b.png"))
    picture_view = view(tmp_path / "a.png", (tmp_path / "b.png").read_bytes())
    assert picture_view.sizeHint() == QSize(40, 20)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (SVG.format('<image href="/etc/passwd"/>'), "<image>"),
        (SVG.format('<g><use href="#a"/></g>'), "<use>"),
        (SVG.format("<style>@import url(a.css);</style>"), "<style>"),
        (SVG.format('<animate attributeName="x" dur="1s"/>'), "<animate>"),
        ("<!DOCTYPE svg [<!ENTITY a 'b'>]>" + SVG.format(RED), "!DOCTYPE"),
        (gzip.compress(SVG.format(RED).encode()), "not a valid SVG"),
        (SVG.format(RED).encode("utf-16"), "not a valid SVG"),
        ("<svg", "not a valid SVG"),
        ("", "not a valid SVG"),
        (" " * (LARGEST + 1), "more than 1,000,000 bytes"),
    ],
)
def test_harmful_files_and_files_without_a_drawing_are_refused_in_a_sentence(tmp_path, content, message):
    with pytest.raises(TaskPictureError, match=r"^The picture .*a\.svg") as error:
        view(tmp_path / "a.svg", content)
    assert message in str(error.value) and "\n" not in str(error.value)


def test_a_file_that_is_no_png_is_refused(tmp_path):
    with pytest.raises(TaskPictureError, match="not a valid PNG"):
        view(tmp_path / "a.png", b"\x89PNG\r\n\x1a\n")
    with pytest.raises(TaskPictureError, match="can't be read"):
        application()
        PictureView(Theme()).show_file(tmp_path / "missing.png", "")


def test_a_task_shows_no_html_and_opens_no_link(tmp_path):
    path = tmp_path / "01-ten.md"
    path.write_text('# Ten\n\n<img src="/etc/passwd"> [here](file:///etc/passwd) `a < b` **now**\n')
    html = html_of(read_exercise(path).task)
    assert "<img" not in html and "href" not in html and "<b>now</b>" in html and "a\u00a0&lt;\u00a0b" in html
