"""Charts as files: real vectors with text as text, numbers, pictures; from the command line without a screen."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
from xml.etree import ElementTree

import pytest
from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QGuiApplication, QImage, QPainter
from PySide6.QtSvg import QSvgRenderer

from pdf_text import text_of
from tilescope.app.cli.main import main
from tilescope.app.timings.drawing.view import ChartView
from tilescope.app.timings.export import Page, copy_figure, image_of, write_figure
from tilescope.app.timings.model.build import build
from tilescope.app.timings.model.choice import CHARTS, ChartSubject, Choice
from tilescope.app.timings.model.sources import Source
from tilescope.app.widgets.widget_picture import PictureError
from tilescope.app.window.start import application
from tilescope.tracer.hardware.times.measurement import load, recorded_measurements

SIZE = (960, 540)
PAGE = Page(SIZE)
H200 = Source(recorded_measurements()[0], load(recorded_measurements()[0]), recorded=True)
FIGURE_TEXTS = (
    "Time: kernel only, L2 cache warm",
    "Naive, row on x",
    "Tiled, shared memory",
    "297 µs",
    "time, ms",
    "measured",
)


@pytest.fixture(autouse=True)
def qt():
    return application()


def figure(chart="bars"):
    return build([H200], Choice(chart))


def write(path, chart="bars", name="light"):
    write_figure(figure(chart), path, Page(SIZE, name))
    return path.read_bytes()


def shown(svg):
    """Return the texts of an SVG file."""
    return [
        "".join(node.itertext()).strip()
        for node in ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")
    ]


def test_svg_has_its_text_as_text(tmp_path):
    texts = shown(write(tmp_path / "chart.svg"))
    assert set(FIGURE_TEXTS) <= set(texts)
    assert any("NVIDIA H200, recorded on 2026" in text for text in texts)
    assert any("CUDA events" in text for text in texts)


def test_svg_is_drawn_by_others_as_the_png_is(tmp_path):
    svg = write(tmp_path / "chart.svg")
    image = QImage(*SIZE, QImage.Format.Format_RGB32)
    painter = QPainter(image)
    QSvgRenderer(svg).render(painter, QRectF(0, 0, *SIZE))
    painter.end()
    png = image_of(figure(), PAGE)
    different = sum(
        abs(image.pixelColor(x, y).lightness() - png.pixelColor(x, y).lightness()) > 60
        for x in range(0, SIZE[0], 4)
        for y in range(0, SIZE[1], 4)
    )
    assert different < 0.01 * SIZE[0] * SIZE[1] / 16


def test_pdf_has_its_text_as_text_and_no_picture(tmp_path):
    content = write(tmp_path / "chart.pdf")
    text = text_of(content)
    for phrase in FIGURE_TEXTS:
        assert phrase.replace(" ", "") in text
    assert b"/Subtype /Image" not in content
    assert b"/MediaBox [0 0 720" in content  # 960 pixels of 1/96 inch


@pytest.mark.parametrize("chart", CHARTS)
def test_every_chart_is_drawn_as_vectors_and_as_a_picture(chart, tmp_path):
    texts = " ".join(shown(write(tmp_path / "chart.svg", chart, "dark")))
    drawn = figure(chart)
    assert drawn.title in texts
    for number in {bar.text for panel in drawn.panels for bar in getattr(panel, "bars", ())}:
        assert number in texts
    for series in {s.name for panel in drawn.panels for s in getattr(panel, "series", ())}:
        assert series in texts
    assert b"<image" not in (tmp_path / "chart.svg").read_bytes()


def test_png_has_the_size_asked_for_at_300_dots_an_inch(tmp_path):
    write_figure(figure(), tmp_path / "chart.png", Page((1601, 903), "dark"))
    image = QImage(str(tmp_path / "chart.png"))
    assert (image.width(), image.height()) == (1601, 903)
    assert round(image.dotsPerMeterX() * 0.0254) == 300


@pytest.mark.parametrize("chart", CHARTS)
def test_a_figure_is_the_same_wherever_and_however_often_it_is_drawn(chart):
    drawn = figure(chart)
    first, again = image_of(drawn, PAGE), image_of(drawn, PAGE)
    assert first == again
    view = ChartView(PAGE.theme_for(drawn))
    view.show_figure(figure("bars" if chart == "scaling" else "scaling"))
    view.resize(*SIZE)
    view.grab()
    view.show_figure(drawn)
    view.setMinimumSize(*SIZE)
    view.resize(*SIZE)
    assert view.grab().toImage().convertToFormat(first.format()) == first


INK = """
import sys
import numpy as np
from PySide6.QtGui import QImage
from tilescope.app.timings.model.build import build
from tilescope.app.timings.model.choice import Choice
from tilescope.app.timings.model.sources import default_sources, sources
from tilescope.app.timings.drawing.view import ChartView
from tilescope.app.widgets.theme import Theme
from tilescope.app.window.start import application
application()
view = ChartView(Theme())
view.resize(900, 600)
view.show_figure(build(default_sources(sources()[0]), Choice("roofline")))
area = view.plots[0].vb.sceneBoundingRect().toRect()
image = view.grab(area).toImage().convertToFormat(QImage.Format.Format_Grayscale8)
rows = np.frombuffer(image.constBits(), np.uint8).reshape(image.height(), -1)[:, : image.width()]
print(image.width() / area.width(), (255 - rows.astype(float)).mean())
view.close()
"""


def test_lines_are_as_thick_on_a_screen_with_small_pixels():
    inks = []
    for ratio in (1, 2):
        environment = os.environ | {"QT_SCALE_FACTOR": str(ratio)}
        command = [sys.executable, "-c", INK]
        done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
        drawn, ink = map(float, done.stdout.split())
        assert drawn == ratio
        inks.append(ink)
    assert inks[1] == pytest.approx(inks[0], rel=0.05)


def test_a_tooltip_describes_the_point_under_the_pointer():
    view = ChartView(PAGE.theme_for(figure()))
    view.show_figure(figure())
    view.resize(*SIZE)
    plot, mark = view.marks[2]
    view.point_at(view.nearest(plot.pixel_of(mark)))
    assert plot.readout.toPlainText().startswith("Tiled, shared memory: 297 µs\n95 % interval")
    assert "samples\nNVIDIA H200, recorded on 2026-11-21" in plot.readout.toPlainText()
    assert view.nearest(QPointF(1, 1)) == -1


def test_the_clipboard_gets_the_picture():
    copy_figure(figure(), PAGE)
    assert QGuiApplication.clipboard().image() == image_of(figure(), PAGE)


def test_files_are_written_atomically(tmp_path):
    (tmp_path / "chart.svg").mkdir()
    with pytest.raises(PictureError, match=r"could not be written: .*\.$"):
        write(tmp_path / "chart.svg")
    assert [path.name for path in tmp_path.iterdir()] == ["chart.svg"]
    with pytest.raises(PictureError, match="must end with"):
        write(tmp_path / "chart.gif")
    empty = build([], Choice(subjects=(ChartSubject("matmul-tiled"),)))
    with pytest.raises(PictureError, match=r"nothing to draw.*Not measured"):
        write_figure(empty, tmp_path / "empty.csv", PAGE)
    assert not (tmp_path / "empty.csv").exists()


# --- the command


def test_the_command_draws_without_a_screen(tmp_path):
    environment = {
        name: value for name, value in os.environ.items() if name not in ("DISPLAY", "WAYLAND_DISPLAY")
    }
    environment.pop("QT_QPA_PLATFORM")
    words = [
        "matmul-naive-col-on-x",
        "matmul-tiled",
        "--chart",
        "speedup",
        "--size",
        "800x450",
        "-o",
        "chart.pdf",
    ]
    command = [sys.executable, "-P", "-m", "tilescope", "export", "timings", *words]
    done = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "chart.pdf\n"), done.stderr
    speedup = (
        build([H200], Choice("speedup", tuple(ChartSubject(name) for name in words[:2])))
        .panels[0]
        .bars[1]
        .text
    )
    assert speedup in text_of((tmp_path / "chart.pdf").read_bytes())


def test_the_command_takes_parameters_baselines_and_a_file(tmp_path):
    words = ["matmul-tiled:m=1024,tile=32", "matmul-naive-col-on-x/numpy:m=1024,tile=32", "--kind", "call"]
    assert (
        main(
            [
                "export",
                "timings",
                *words,
                "--from",
                str(recorded_measurements()[0]),
                "-o",
                str(tmp_path / "a.json"),
            ]
        )
        == 0
    )
    numbers = json.loads((tmp_path / "a.json").read_bytes())["numbers"]
    assert [(n["kernel"], n["kind"], n["parameters"]["tile"]) for n in numbers] == [
        ("matmul-tiled", "call", 32),
        ("matmul-naive-col-on-x/numpy", "cpu", 32),
    ]
    again = [words[0], *words, "--from", str(recorded_measurements()[0])]  # what is said twice is drawn once
    assert (
        main(
            [
                "export",
                "timings",
                *again,
                "--from",
                str(recorded_measurements()[0]),
                "-o",
                str(tmp_path / "b.json"),
            ]
        )
        == 0
    )
    assert (tmp_path / "a.json").read_bytes() == (tmp_path / "b.json").read_bytes()
    assert numbers[0]["value"] == statistics.median(numbers[0]["samples"])


def test_the_command_takes_a_chart_in_the_words_of_a_lecture(tmp_path):
    path = tmp_path / "a.json"
    words = ["over", "tile", "matmul-tiled", "matmul-naive-row-on-x", "size=1024", "show=rate"]
    assert main(["export", "timings", *words, "-o", str(path)]) == 0
    numbers = json.loads(path.read_bytes())["numbers"]
    assert {n["quantity"] for n in numbers} == {"rate"}
    assert {n["parameters"]["tile"] for n in numbers} >= {8, 16, 32}
    assert (
        main(["export", "timings", "bars", "matmul-tiled", "size=4096", "--axis", "log", "-o", str(path)])
        == 0
    )
    assert [n["parameters"]["m"] for n in json.loads(path.read_bytes())["numbers"]] == [4096]


def test_the_command_uses_the_chosen_words(tmp_path):
    path = tmp_path / "a.csv"
    for words, phrase in (("work-item", "work-groups of 16 × 16"), ("own", "blocks of 16 × 16")):
        assert main(["export", "timings", "--words", words, "-o", str(path)]) == 0
        assert phrase in path.read_text(encoding="utf-8").splitlines()[1]


def test_the_command_needs_no_qt_for_numbers(tmp_path):
    code = (
        "import sys; from tilescope.app.cli.main import main; "
        "main(['export', 'timings', '-o', 'a.csv']); "
        "print([m for m in sys.modules if m.split('.')[0] in ('PySide6', 'numba')])"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines() == ["a.csv", "[]"]


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (["-o", "a.gif"], "must end with .png"),
        (["nope", "-o", "a.svg"], "no scenario is called 'nope'"),
        (["matmul-tiled/numpy", "-o", "a.svg"], "has no baseline 'numpy'"),
        (["matmul-tiled:q=3", "-o", "a.svg"], "'q' is not a parameter of matmul-tiled"),
        (["matmul-tiled:m=7", "-o", "a.svg"], "nothing to draw"),
        (["bars", "matmul-tiled", "size=7", "-o", "a.svg"], "size=7 was not measured; there are"),
        (["vector-too-few-threads", "-o", "a.svg"], "differs from NumPy"),
        (["--from", "missing.json", "-o", "a.svg"], "missing.json can't be read"),
        (["--size", "8x8", "-o", "a.svg"], "must be WIDTHxHEIGHT"),
        (["--text-size", "9", "-o", "a.svg"], "from 0.5 to 2"),
        (["-o", "no/such/folder/a.svg"], "could not be written"),
    ],
)
def test_the_command_refuses_in_one_sentence(words, part, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["export", "timings", *words]) == 2
    error = capsys.readouterr().err.strip()
    assert part in error
    assert len(error.splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


def test_help_of_the_shorter_command_names_the_longer(capsys):
    assert main(["export"]) == 2
    assert "tilescope export --help" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["export", "--help"])
    assert "tilescope export timings" in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize(
    "spoil", [b"", b"{}", b"\xff\xfe", b'{"format":"tilescope measurement","version":9}']
)
def test_a_measurement_that_is_none_is_refused(spoil, tmp_path, capsys):
    (tmp_path / "bad.json").write_bytes(spoil)
    words = ["--from", str(tmp_path / "bad.json"), "-o", str(tmp_path / "a.svg")]
    assert main(["export", "timings", *words]) == 2
    assert "can't be opened" in capsys.readouterr().err
    assert not (tmp_path / "a.svg").exists()
