"""A picture is dragged out of the window: by a pane's heading that of the pane, by the bar at the top all of it."""

from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QDrag, QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from tilescope.app.widgets.widget_picture import picture_of
from windows import open_window


@pytest.fixture
def dropped(monkeypatch):
    """What was dragged and dropped: (action, picture, file's picture, path)."""
    requests = []

    def drop(drag, action):
        data = drag.mimeData()
        path = data.urls()[0].toLocalFile()
        requests.append((action, QImage(data.imageData()), QImage(path), path))
        return action

    monkeypatch.setattr(QDrag, "exec", drop)
    return requests


def pull(widget, by):
    """Press on a widget, move the pointer and let go."""
    start = QPoint(30, 8)
    for _ in range(3):
        QApplication.processEvents()  # until nothing moves any more
    QTest.mousePress(widget, Qt.MouseButton.LeftButton, pos=start)
    for step in range(1, by + 1):
        QTest.mouseMove(widget, start + QPoint(step, 0))
    QTest.mouseRelease(widget, Qt.MouseButton.LeftButton, pos=start + QPoint(by, 0))


def test_a_heading_gives_its_pane_and_the_bar_the_window(dropped):
    with open_window() as window:
        pane = window.central.panes[0]
        pull(pane.heading.title, QApplication.startDragDistance() + 3)
        action, picture, on_disk, path = dropped[0]
        assert action == Qt.DropAction.CopyAction
        assert picture.size() == pane.size() * 2 == on_disk.size()
        assert picture == picture_of(pane, 2)
        assert on_disk.pixel(40, 40) == picture.pixel(40, 40)
        pull(window.toolbar, QApplication.startDragDistance() + 3)
        assert dropped[1][1].size() == window.size() * 2
        assert dropped[1][3] != path  # what took the first may still be reading it
        assert Path(path).is_file()
    QApplication.processEvents()
    assert not Path(path).exists()


def test_a_click_drags_nothing(dropped):
    with open_window() as window:
        pull(window.central.panes[0].heading.title, 2)
        assert dropped == []


def test_a_folder_that_cannot_be_made_is_one_sentence(dropped, monkeypatch):
    with open_window() as window:
        monkeypatch.setattr(
            "tempfile.mkdtemp", lambda **_: (_ for _ in ()).throw(OSError(28, "No space left"))
        )
        pull(window.central.panes[0].heading.title, QApplication.startDragDistance() + 3)
        assert dropped == []
        assert "No space left" in window.notice.sentence.text()
