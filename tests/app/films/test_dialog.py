"""Record… in the window: the screen's content, previewed, and written by another process."""

import sys

import pytest
from PIL import Image
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog

from tilescope.app.films.dialog import DRAWING, RenderDialog
from tilescope.app.films.opening import NOTHING
from tilescope.app.window.actions import RENDER
from windows import open_window, settle, wait_until

TINY = ("matmul-tiled:m=4,k=4,n=4,tile=2",)


@pytest.fixture(scope="module")
def window():
    """Return a window on a small product at moment 7, in dark colours."""
    with open_window(TINY) as main_window:
        main_window.resize(800, 600)
        main_window.look.use("dark")
        main_window.stage.seek(0, 7)
        settle(main_window)
        yield main_window


@pytest.fixture(scope="module")
def shared(window):
    """Return the dialog as the test before left it."""
    window.commands[RENDER].trigger()
    (render_dialog,) = window.findChildren(RenderDialog)
    render_dialog.fields.kind.choose(".gif")
    return render_dialog


@pytest.fixture
def dialog(shared):
    """Return the dialog, once it has said what a GIF of four moments will be."""
    shared.place.setValue(500)
    change(shared, begin="start", end="4", speed="8", hold="1", rate="20")
    return shared


def wait_for_text(dialog, text):
    """Wait until the dialog says something with this text in it."""
    wait_until(lambda: text in dialog.outlook.text())


def change(dialog, **texts):
    """Type into fields and wait until the answer to it is there."""
    for name, text in texts.items():
        field = getattr(dialog.fields, name)
        field.setCurrentText(text) if hasattr(field, "setCurrentText") else field.setText(text)
    dialog.outlook.setText("")
    wait_until(lambda: "about" in dialog.outlook.text() or "There is no" in dialog.outlook.text())


def test_it_shows_a_frame_and_its_length_and_size(dialog):
    assert "frames of 800 x 600 pixels, about" in dialog.outlook.text()
    assert dialog.picture.pixmap().size().width() > 300
    assert dialog.picture.pixmap().toImage().pixelColor(2, 2).lightness() < 90  # in the window's colours
    before = dialog.picture.pixmap().toImage()
    dialog.place.setValue(1000)
    wait_until(lambda: dialog.picture.pixmap().toImage() != before)
    change(dialog, begin="3", end="5", speed="2", hold="0", rate="10")
    wait_until(lambda: dialog.outlook.text().startswith("1.1 s, 11 frames"))


def test_it_records_what_is_on_screen_and_the_window_goes_on(window, dialog, tmp_path):
    change(dialog, begin="now, moment 7", end="9", speed="4", hold="0.5")
    dialog.record_to(tmp_path / "mine")  # which gets the ending of its kind
    assert dialog.is_recording and not dialog.fields.isEnabled()
    window.stage.seek(0, 20)
    wait_until(lambda: not dialog.is_recording)
    assert f"saved as {tmp_path / 'mine.gif'}" in dialog.outlook.text()
    assert "mine.gif" in window.central.notice.news.sentence.text()
    with Image.open(tmp_path / "mine.gif") as file:
        assert file.size == (800, 600)
        assert sum(_stay(file, i) for i in range(file.n_frames)) == 1000
    window.stage.seek(0, 7)


def _stay(file, i):
    file.seek(i)
    return file.info["duration"]


def test_stop_leaves_no_file_and_it_can_record_again(dialog, tmp_path):
    change(dialog, begin="start", end="end", speed="0.5", rate="50")
    dialog.record_to(tmp_path / "a.gif")
    wait_for_text(dialog, "frame ")
    dialog.stop.click()
    wait_for_text(dialog, "no file was written")
    assert list(tmp_path.iterdir()) == [] and not dialog.is_recording
    change(dialog, end="1", speed="8", rate="10")
    dialog.record_to(tmp_path / "a.gif")
    wait_for_text(dialog, "saved as")
    assert [path.name for path in tmp_path.iterdir()] == ["a.gif"]


def test_errors_are_reported_and_recording_remains_possible(dialog, tmp_path):
    change(dialog, end="phase 99")
    assert "There is no phase 99" in dialog.outlook.text()
    dialog.fields.end.setCurrentText("end")
    dialog.fields.speed.setText("fast")
    wait_for_text(dialog, "red border")
    change(dialog, speed="8")
    dialog.record_to(tmp_path / "gone" / "a.gif")
    wait_for_text(dialog, "there is no folder")
    assert not dialog.is_recording and dialog.record.isVisible()


def test_what_would_be_long_is_to_be_asked_for_twice(dialog, monkeypatch):
    asked = []
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (asked.append(1) or "", ""))
    change(dialog, begin="start", end="end", speed="0.02")
    assert "That is long or large" in dialog.outlook.text()
    dialog.record.click()
    assert "Press Render again" in dialog.outlook.text() and not asked
    dialog.record.click()
    assert asked


def test_closing_it_in_the_midst_leaves_no_half_file(dialog, tmp_path):
    change(dialog, begin="start", end="end", speed="0.5", rate="50")
    dialog.record_to(tmp_path / "a.webp")
    wait_for_text(dialog, "frame ")
    dialog.close()
    assert list(tmp_path.iterdir()) == []


def test_without_a_trace_it_reports_it(monkeypatch, window):
    before = window.findChildren(RenderDialog)
    monkeypatch.setattr(window.stage, "sessions", [None])
    window.outputs.open_render_dialog()
    assert window.central.notice.news.sentence.text() == NOTHING
    assert window.findChildren(RenderDialog) == before


def test_without_pyav_a_gif_is_offered_and_videos_say_why_they_cannot_be_chosen(window, monkeypatch):
    monkeypatch.setitem(sys.modules, "av", None)
    for shown in window.findChildren(RenderDialog):
        shown.close()
    window.commands[RENDER].trigger()
    dialog = next(d for d in window.findChildren(RenderDialog) if d.isVisible())
    kind = dialog.fields.kind
    assert kind.currentData() == ".gif"
    for suffix in (".mp4", ".webm"):
        i = kind.findData(suffix)
        assert not kind.model().item(i).isEnabled()
        assert "PyAV" in kind.itemText(i) and "pip install av" in kind.itemData(
            i, Qt.ItemDataRole.ToolTipRole
        )
    wait_for_text(dialog, "about")
    assert dialog.picture.pixmap().width() > 300
    assert dialog.record.isEnabled()
    dialog.close()


def test_what_cannot_be_recorded_shows_no_frame_to_come_and_no_button(window):
    for shown in window.findChildren(RenderDialog):
        shown.close()
    window.commands[RENDER].trigger()
    dialog = next(d for d in window.findChildren(RenderDialog) if d.isVisible())
    dialog.fields.begin.setCurrentText("phase 99")
    wait_for_text(dialog, "There is no")
    assert dialog.picture.text() != DRAWING
    assert not dialog.record.isEnabled()
    dialog.fields.begin.setCurrentText("start")
    wait_until(dialog.record.isEnabled)
    wait_for_text(dialog, "about")
    dialog.close()


def test_a_web_page_is_recorded_of_what_is_on_screen(window, tmp_path):
    for shown in window.findChildren(RenderDialog):
        shown.close()
    window.commands[RENDER].trigger()
    dialog = next(d for d in window.findChildren(RenderDialog) if d.isVisible())
    dialog.fields.kind.choose(".html")
    dialog.fields.kind.picked(".html")
    wait_for_text(dialog, "any browser opens")
    assert not dialog.fields.rate.isVisible() and dialog.fields.begin.isVisible()
    dialog.record_to(tmp_path / "mine")
    wait_until(lambda: not dialog.is_recording)
    page = (tmp_path / "mine.html").read_text()
    assert f"The page was saved as {tmp_path / 'mine.html'}" in dialog.outlook.text()
    assert page.startswith("<!") and "Tiled" in page
    dialog.close()
