"""The window of the timings: two clicks to a chart, choices, exports, measuring here, and what goes wrong."""

from __future__ import annotations

import threading

import pytest
from msgspec.structs import replace
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication, QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QApplication,
    QFileDialog,
    QStyle,
    QStyleOptionButton,
    QStyleOptionViewItem,
)

from patience import PATIENCE
from recorded_charts import choice_of
from tilescope.app.timings.model.choice import CHARTS, ChartSubject
from tilescope.app.timings.model.sources import own_folder
from tilescope.app.timings.window import TimingsWindow
from tilescope.app.widgets.appearance import apply_theme
from tilescope.app.widgets.theme import Theme
from tilescope.app.window.start import application
from tilescope.tracer.hardware.times import client
from tilescope.tracer.hardware.times.client import MeasureClient
from tilescope.tracer.hardware.times.devices import DeviceList, DeviceListing, ListedDevice
from tilescope.tracer.hardware.times.events import DeviceOpened
from tilescope.tracer.hardware.times.measurement import MeasurementError, load, save
from windows import open_window, press, wait_until

LEFT, NONE = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier


@pytest.fixture
def timings():
    application()
    apply_theme(Theme())
    window = TimingsWindow(Theme())
    window.resize(1280, 800)
    window.show()
    QTest.qWaitForWindowActive(window)
    yield window
    window.close()
    window.deleteLater()


def kernel(window, key):
    """Return the item of a kernel."""
    return next(item for item in window.kernels._items() if item.data(0, Qt.ItemDataRole.UserRole) == key)


def tick(window, key):
    """Click the box of a kernel."""
    item = kernel(window, key)
    window.kernels.scrollToItem(item)
    box = window.kernels.visualItemRect(item)
    QTest.mouseClick(window.kernels.viewport(), LEFT, NONE, QPoint(box.left() + 10, box.center().y()))
    QApplication.processEvents()


def bars(window):
    return {bar.datum.subject: bar for bar in window.figure.panels[0].bars}


# --- two clicks


def test_two_clicks_from_the_main_window_to_a_chart_as_a_file(tmp_path, monkeypatch):
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(tmp_path / "times.svg"), ""))
    with open_window(wait=False) as window:
        QTest.mouseClick(window.toolbar.timings, LEFT)
        timings = window.findChild(TimingsWindow)
        assert timings.isVisible()
        assert list(bars(timings)) == ["matmul-naive-row-on-x", "matmul-naive-col-on-x", "matmul-tiled"]
        QTest.mouseClick(timings.save_button, LEFT)
        assert b"Tiled, shared memory" in (tmp_path / "times.svg").read_bytes()
        assert "saved" in timings.notice.sentence.text()
        window.look.toggle()
        assert timings.theme.name == window.theme.name
        timings.close()


def test_the_key_opens_the_same_window_again():
    with open_window(wait=False) as window:
        press(window, "Ctrl+6")
        first = window.findChild(TimingsWindow)
        assert first.isVisible()
        first.close()
        window.activateWindow()
        window.commands["Timings"].trigger()
        assert window.findChildren(TimingsWindow) == [first]
        assert first.isVisible()
        first.close()


# --- choosing


def test_a_click_adds_a_kernel_and_another_takes_it_away(timings):
    tick(timings, "cuda-c-naive")
    assert "cuda-c-naive" in bars(timings)
    assert not kernel(timings, "cuda-c-naive").icon(0).isNull()
    tick(timings, "cuda-c-naive")
    assert "cuda-c-naive" not in bars(timings)
    assert kernel(timings, "cuda-c-naive").icon(0).isNull()


def test_a_click_on_a_tab_draws_that_chart(timings):
    for place, chart in enumerate(CHARTS):
        QTest.mouseClick(timings.tabs, LEFT, NONE, timings.tabs.tabRect(place).center())
        assert timings.figure.chart == chart
        assert not timings.figure.is_empty


def test_the_ladder_is_two_clicks_away_and_leaves_the_choice_as_it_was():
    with open_window(wait=False) as window:
        QTest.mouseClick(window.toolbar.timings, LEFT)
        timings = window.findChild(TimingsWindow)
        QTest.mouseClick(timings.tabs, LEFT, NONE, timings.tabs.tabRect(CHARTS.index("ladder")).center())
        assert {"python-threads", "matmul-naive-col-on-x/numpy", "matmul-tiled"} <= bars(timings).keys()
        assert timings.figure.panels[0].axis.log
        QTest.mouseClick(timings.tabs, LEFT, NONE, timings.tabs.tabRect(CHARTS.index("bars")).center())
        assert list(bars(timings)) == ["matmul-naive-row-on-x", "matmul-naive-col-on-x", "matmul-tiled"]
        QTest.mouseClick(timings.tabs, LEFT, NONE, timings.tabs.tabRect(CHARTS.index("ladder")).center())
        tick(timings, "cuda-c-naive")
        QTest.mouseClick(timings.tabs, LEFT, NONE, timings.tabs.tabRect(CHARTS.index("bars")).center())
        assert "python-threads" in bars(timings)
        timings.close()


def test_fields_offer_what_was_measured(timings):
    size = timings.fields.combos["problem"]
    assert size.currentText() == "M = K = N = 1,024"
    size.setCurrentIndex(size.findText("M = K = N = 64"))
    size.picked(size.currentData())
    assert {bar.datum.parameters["m"] for bar in bars(timings).values()} == {64}
    kind = timings.fields.combos["kind"]
    kind.picked("call")
    assert {bar.datum.kind for bar in bars(timings).values()} == {"call"}
    axis = timings.fields.combos["axis"]
    assert [axis.itemText(n) for n in range(axis.count())] == ["automatic", "linear", "logarithmic"]
    axis.picked(True)
    assert timings.figure.panels[0].axis.log
    assert axis.currentText() == "logarithmic"


def test_only_fields_that_a_chart_uses_are_shown(timings):
    timings.show_choice(replace(timings.choice, chart="speedup"))
    assert timings.fields.chips["against"].isVisible()
    timings.fields.combos["against"].picked("matmul-tiled")
    assert bars(timings)["matmul-tiled"].value == 1
    timings.show_choice(replace(timings.choice, chart="scaling"))
    assert not timings.fields.chips["against"].isVisible()
    assert not timings.fields.chips["problem"].isVisible()


def test_numbers_are_accessible_without_seeing_the_chart(timings):
    for chart, message in (
        ("bars", "Tiled, shared memory: 297 µs"),
        ("scaling", "Tiled, shared memory, N 1,024: 297 µs"),
    ):
        timings.show_choice(replace(timings.choice, chart=chart))
        assert message in timings.chart.accessibleDescription()


def texts(combo):
    return [combo.itemText(n) for n in range(combo.count())]


def test_blocks_are_named_and_none_is_offered_twice(timings):
    shape = timings.fields.combos["shape"]
    assert shape.currentText() == "16 × 16 (default)"
    assert texts(shape) == ["16 × 16 (default)", "8 × 8", "32 × 32", "all"]
    timings.show_choice(replace(timings.choice, shape="blocks of 16 × 16"))
    assert shape.currentText() == "16 × 16"
    timings.show_choice(choice_of("vector-multiply", "histogram-global"))
    assert shape.currentText() == "default for each kernel"


def test_the_window_follows_the_words_of_the_main_one():
    with open_window(wait=False) as window:
        window.timings.show()
        timings = window.findChild(TimingsWindow)
        window.look.set_words("work-item")
        assert "work-groups of 16 × 16" in timings.figure.subtitle
        assert timings.fields.chips["shape"].caption.text() == "Work-groups"
        window.look.set_words("cuda")
        assert "blocks of 16 × 16" in timings.figure.subtitle
        assert timings.fields.chips["shape"].caption.text() == "Blocks"
        timings.close()


@pytest.mark.parametrize("scale", [1.0, 1.6, 2.0])
def test_boxes_and_signs_grow_with_the_text(timings, scale):
    theme = Theme.named("light", scale)
    apply_theme(theme)
    timings.set_theme(theme)
    box = timings.fields.published
    option = QStyleOptionButton()
    option.initFrom(box)
    part = box.style().subElementRect(QStyle.SubElement.SE_CheckBoxIndicator, option, box)
    assert (part.width(), part.height()) == (theme.px(14), theme.px(14))
    tree, item = timings.kernels, QStyleOptionViewItem()
    tree.initViewItemOption(item)
    item.features |= QStyleOptionViewItem.ViewItemFeature.HasCheckIndicator
    item.rect = tree.visualItemRect(kernel(timings, "matmul-tiled"))
    part = tree.style().subElementRect(QStyle.SubElement.SE_ItemViewItemCheckIndicator, item, tree)
    assert (part.width(), part.height()) == (theme.px(14), theme.px(14))
    assert tree.iconSize().width() == theme.px(16)


def test_measurements_take_the_room_they_need_and_leave_the_rest_to_kernels(timings):
    theme = Theme.named("light", 1.6)
    apply_theme(theme)
    timings.resize(760, 640)
    timings.set_theme(theme)
    QApplication.processEvents()
    rows = sum(timings.sources.visualItemRect(item).height() for item in timings.sources._items())
    assert rows <= timings.sources.height() <= rows + theme.px(8)
    assert timings.kernels.height() > timings.sources.height()


def test_without_a_kernel_or_a_measurement_it_explains_the_next_step(timings):
    timings.show_choice(replace(timings.choice, subjects=()))
    assert timings.figure.is_empty
    timings.measure()
    assert "choose a kernel" in timings.notice.sentence.text()
    timings.copy()
    assert "nothing to copy" in timings.notice.sentence.text()


@pytest.mark.parametrize("scale", [1.0, 1.6])
@pytest.mark.parametrize("size", [(1280, 800), (1920, 1080)])
@pytest.mark.parametrize("name", ["light", "dark"])
def test_everything_fits(timings, scale, size, name):
    theme = Theme.named(name, scale)
    apply_theme(theme)
    timings.resize(*size)
    timings.set_theme(theme)
    for chart in CHARTS:
        timings.show_choice(replace(timings.choice, chart=chart))
        QApplication.processEvents()
        assert (timings.width(), timings.height()) == size
        assert timings.chart.width() <= timings.area.viewport().width()
        for widget in (timings.save_button, timings.measure_button, timings.tabs):
            assert timings.rect().contains(
                widget.geometry().translated(widget.parent().mapTo(timings, QPoint()))
            )


# --- exports


def test_copy_puts_a_slide_on_the_clipboard(timings):
    QTest.mouseClick(timings.copy_button, LEFT)
    image = QGuiApplication.clipboard().image()
    assert (image.width(), image.height()) == (1600, 900)
    assert not QGuiApplication.clipboard().mimeData().hasText()
    for text in (timings.notice.sentence.text(), timings.copy_button.toolTip()):
        assert "as text" not in text


def test_a_name_without_an_ending_becomes_a_png(timings, tmp_path, monkeypatch):
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(tmp_path / "times"), ""))
    timings.ask_save()
    assert QImage(str(tmp_path / "times.png")).width() == 1600


def test_a_measurement_that_cannot_be_saved_is_reported(timings, tmp_path):
    timings.save(tmp_path / "no" / "times.csv")
    assert timings.notice.message_type == "error"
    assert "could not be written" in timings.notice.sentence.text()


# --- measuring here


def test_a_program_is_measured_here_and_drawn_next_to_the_recorded_times(timings, monkeypatch):
    """Its bar names the processor, or the dates next to times of the same processor."""
    monkeypatch.setattr(client, "_processor", lambda: "Another processor")
    timings.show_choice(replace(timings.choice, subjects=(ChartSubject("vector-double", "numpy"),)))
    QTest.mouseClick(timings.measure_button, LEFT)
    assert timings.measure_button.text() == "Cancel"
    assert timings.progress.isVisible()
    wait_until(lambda: not timings.job.is_running)
    (path,) = own_folder().glob("*.json")
    try:
        saved = load(path)
        assert [row.scenario for row in saved.rows] == ["vector-double"]
        assert [source.recorded for source in timings.sources.chosen()] == [True, False]
        theirs = timings.sources.chosen()[0].measurement.host.processor
        assert [bar.part for bar in timings.figure.panels[0].bars] == [theirs, "Another processor"]
        assert str(path) in timings.notice.sentence.text()
        assert timings.measure_button.text() == "Measure here"
        same = replace(saved.host, processor=theirs)
        save(replace(saved, host=same), path)
        again = TimingsWindow(Theme())
        assert [str(source.path) for source in again.sources.chosen()][-1:] == [str(path)]
        again.show_choice(timings.choice)
        assert [bar.part.split()[0] for bar in again.figure.panels[0].bars] == ["recorded", "here"]
        again.deleteLater()
    finally:
        path.unlink()


def test_without_a_gpu_it_gives_the_reason_in_one_sentence(timings, monkeypatch):
    message = "No GPU can be used: there is no NVIDIA driver; install one, or measure on another computer."

    def no_device(self, request):
        yield DeviceOpened(None, None, message)

    monkeypatch.setattr(MeasureClient, "_messages", no_device)
    timings.measure()
    wait_until(lambda: not timings.job.is_running)
    assert timings.notice.sentence.text() == message
    assert not list(own_folder().glob("*.json"))


def test_escape_cancels_and_nothing_is_saved(timings):
    timings.show_choice(replace(timings.choice, subjects=(ChartSubject("python-threads"),)))
    timings.measure()
    wait_until(lambda: timings.job.client.pid is not None)
    QTest.keyClick(timings, Qt.Key.Key_Escape)
    wait_until(lambda: not timings.job.is_running)
    assert "cancelled" in timings.notice.sentence.text()
    assert not list(own_folder().glob("*.json"))


def test_closing_ends_the_measurement(timings):
    timings.show_choice(replace(timings.choice, subjects=(ChartSubject("python-threads"),)))
    timings.measure()
    wait_until(lambda: timings.job.client.pid is not None)
    timings.close()
    assert timings.job.client.pid is None
    assert not list(own_folder().glob("*.json"))


def test_a_spoilt_measurement_is_named_and_the_others_are_drawn(timings):
    own_folder().mkdir(parents=True, exist_ok=True)
    path = own_folder() / "spoilt.json"
    path.write_bytes(b'{"format":"tilescope measurement","version":2}')
    try:
        timings.load()
        assert "spoilt.json can't be opened" in timings.notice.sentence.text()
        path.with_name("other.json").write_bytes(b"")
        timings.load()
        assert timings.notice.sentence.text().endswith("; 1 more can't be opened either.")
        assert bars(timings)
    finally:
        path.unlink()
        path.with_name("other.json").unlink(missing_ok=True)


# --- the GPUs of this computer


def test_the_gpus_are_listed_in_a_dialog_that_comes_at_once(timings, monkeypatch):
    answer = threading.Event()

    def run(_):
        answer.wait(PATIENCE)
        return DeviceList((ListedDevice(0, "NVIDIA <b>H200", (9, 0), (0, 29, 0), 150_109_880_320, 132, ""),))

    monkeypatch.setattr(DeviceListing, "run", run)
    QTest.mouseClick(timings.devices_button, LEFT)
    shown = timings.devices
    assert shown.dialog.isVisible()
    assert "Asking" in shown.text.text()
    answer.set()
    wait_until(lambda: "Asking" not in shown.text.text())
    assert "NVIDIA &lt;b&gt;H200" in shown.text.text()
    assert "0000:1d:00.0" in shown.text.text()
    assert "1 of 1 GPUs can be used" in shown.text.text()


def test_an_answer_after_the_dialog_was_closed_changes_nothing(timings, monkeypatch):
    answer = threading.Event()
    monkeypatch.setattr(
        DeviceListing, "run", lambda _: (answer.wait(PATIENCE), DeviceList((), reason="None."))[1]
    )
    QTest.mouseClick(timings.devices_button, LEFT)
    timings.devices.dialog.close()
    QApplication.processEvents()
    answer.set()
    wait_until(lambda: not timings.devices_job.is_running)
    QTest.mouseClick(timings.devices_button, LEFT)
    wait_until(lambda: "None." in timings.devices.text.text())


def test_the_dialog_shows_the_reason_for_a_missing_gpu(timings, monkeypatch):
    def run(_):
        raise MeasurementError("The GPU's driver has not answered for 60 seconds.")

    monkeypatch.setattr(DeviceListing, "run", run)
    QTest.mouseClick(timings.devices_button, LEFT)
    wait_until(lambda: "has not answered" in timings.devices.text.text())
