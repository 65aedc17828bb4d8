"""Pictures of the window, drawn without a screen and written atomically."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from PySide6.QtGui import QImage

from patience import PATIENCE, until
from tilescope.app.cli.main import main
from tilescope.app.cli.pictures.snapshot import snapshot
from tilescope.app.widgets.widget_picture import PictureError, write_png
from tilescope.kernels.scenarios.catalogue import CatalogueError
from windows import PAIR, open_window

SIZE = (1280, 800)


def brightness(image):
    return image.scaled(1, 1).pixelColor(0, 0).lightness()


def draw(path, **options):
    snapshot(PAIR, path, **{"size": SIZE, **options})
    image = QImage(str(path))
    assert not image.isNull()
    return image


def test_a_moment_and_a_phase_are_the_last_scenarios_and_the_end_is_the_end(tmp_path):
    with open_window() as window:
        end = window.stage.ends()[-1]
    start = draw(tmp_path / "start.png", moment=0)
    last = draw(tmp_path / "last.png", moment=end)
    assert (start.width(), start.height()) == SIZE
    assert start != last
    assert draw(tmp_path / "beyond.png", moment=10**9) == last
    assert draw(tmp_path / "no-such-phase.png", phase=99) == last
    assert draw(tmp_path / "phase.png", phase=1) not in (start, last)


def test_the_command_prints_the_path_of_the_picture(tmp_path, capsys):
    path = str(tmp_path / "a.png")
    assert main(["snapshot", PAIR[1], "-o", path, "--size", "800x600"]) == 0
    assert capsys.readouterr().out == f"{path}\n"
    assert not QImage(path).isNull()


def test_both_themes_and_the_text_size(tmp_path):
    light, dark = draw(tmp_path / "a.png", theme="light"), draw(tmp_path / "b.png", theme="dark")
    assert brightness(light) > 200
    assert brightness(dark) < brightness(light) / 3  # cells may be bright in either
    assert draw(tmp_path / "c.png", theme="light", text_size=1.6) != light


def test_twice_the_pixels_are_no_blown_up_pixels(tmp_path):
    sharp = draw(tmp_path / "sharp.png", scale=2.0)
    assert (sharp.width(), sharp.height()) == (2 * SIZE[0], 2 * SIZE[1])
    blown = sharp.scaled(*SIZE).scaled(sharp.size())
    assert blown != sharp


def test_scenarios_that_do_not_exist_are_refused(tmp_path):
    with pytest.raises(CatalogueError, match="no-such"):
        snapshot(["no-such"], tmp_path / "a.png")
    assert not list(tmp_path.iterdir())


def test_a_folder_that_is_not_there_is_one_sentence(tmp_path):
    path = tmp_path / "missing" / "a.png"
    with pytest.raises(PictureError, match="missing"):
        draw(path)


def test_a_picture_that_fails_leaves_the_old_one(tmp_path):
    old = tmp_path / "a.png"
    old.write_bytes(b"old")
    with pytest.raises(PictureError):
        write_png(QImage(), old)
    assert old.read_bytes() == b"old"
    folder = tmp_path / "b.png"
    folder.mkdir()
    with pytest.raises(PictureError, match=r"b\.png"):
        write_png(QImage(4, 4, QImage.Format.Format_RGB32), folder)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.png", "b.png"]


def test_the_windows_own_picture_has_twice_its_size(tmp_path):
    with open_window() as window:
        window.files.store_picture(tmp_path / "mine.png")
        assert QImage(str(tmp_path / "mine.png")).size() == window.size() * 2
        assert "mine.png" in window.central.notice.news.sentence.text()
        window.files.store_picture(tmp_path / "no" / "mine.png")
        assert window.notice.message_type == "error"


def test_it_needs_no_display(tmp_path):
    hidden = ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")
    code = (
        "import sys; from tilescope.app.cli.pictures.snapshot import snapshot; "
        "snapshot(sys.argv[2:], sys.argv[1], scale=2.0)"
    )
    environment = {name: value for name, value in os.environ.items() if name not in hidden}
    path = tmp_path / "a.png"
    done = subprocess.run(
        [sys.executable, "-c", code, str(path), *PAIR], env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    image = QImage(str(path))
    assert (image.width(), image.height()) == (3200, 1800)


def test_a_picture_that_is_too_large_is_one_sentence(tmp_path, capsys):
    words = ["snapshot", PAIR[1], "-o", str(tmp_path / "a.png"), "--size", "8192x8192", "--scale", "4"]
    assert main(words) == 2
    assert "32768 x 32768 pixels is too large" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(sys.platform != "linux", reason="/proc")
@pytest.mark.parametrize("library", ["libQt6Core", "libQt6Widgets"])
def test_ctrl_c_ends_it_without_a_word(tmp_path, library):
    command = [sys.executable, "-m", "tilescope", "snapshot", *PAIR, "-o", str(tmp_path / "a.png")]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        maps = Path(f"/proc/{process.pid}/maps")
        until(lambda: process.poll() is not None or library in maps.read_text())
        assert process.poll() is None
        process.send_signal(signal.SIGINT)
        error = process.communicate(timeout=PATIENCE)[1]
    assert (process.returncode, error) == (-signal.SIGINT, "")
    assert not list(tmp_path.iterdir())
