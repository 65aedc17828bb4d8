"""Traces and arrays in and out of the window."""

import os
import sys

import numpy as np
import pytest
from msgspec.structs import replace
from PySide6.QtCore import QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QDropEvent
from PySide6.QtWidgets import QFileDialog, QLabel

from tilescope.app.window.open_save import usable_paths
from tilescope.app.window.start import application
from tilescope.tracer.model.launch import decode, encode
from tilescope.tracer.storage.trace_file import save
from windows import SMALL, open_window, settle, wait_until


def test_a_trace_is_saved_and_opened_again(window, tmp_path):
    path = tmp_path / "mine.npz"
    window.files.store_trace(path)
    assert str(path) in window.settings.recent
    window.files.open_path(str(path))
    settle(window)
    pane = window.central.panes[1]
    assert pane.heading.title.text() == "mine"
    assert pane.session.end == window.stage.ends()[1] > 0
    assert window.toolbar.scenario_combos[1].currentText() == "mine.npz"
    window.navigation.travel(-1)
    settle(window)
    assert pane.heading.title.text() == "Tiled, shared memory"


@pytest.mark.skipif(sys.platform != "linux", reason="names of files that are no text")
def test_a_trace_whose_name_is_no_text_is_opened_too(window, tmp_path):
    path = tmp_path / os.fsdecode(b"\xff\xfe.npz")
    save(window.stage.sessions[1].trace, path)
    window.files.open_path(str(path))
    settle(window)
    assert window.central.panes[1].session.title == r"\udcff\udcfe"
    window.navigation.travel(-1)
    settle(window)


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 cut", b"hello" * 100])
def test_a_damaged_or_foreign_file_is_reported_and_the_picture_stays(window, tmp_path, content):
    shown = window.stage.sessions[1]
    path = tmp_path / "bad.npz"
    path.write_bytes(content)
    window.files.open_path(str(path))
    settle(window)
    assert window.notice.message_type == "error"
    assert str(path) in window.notice.sentence.text()
    assert window.stage.sessions[1] is shown
    window.navigation.travel(-1)
    settle(window)


def test_a_file_that_never_opened_is_not_asked_for_at_the_next_start(tmp_path):
    with open_window((str(tmp_path / "nope.npz"),), settings=tmp_path / "window.json") as fresh:
        assert fresh.notice.message_type == "error"
    assert b"nope" not in (tmp_path / "window.json").read_bytes()


def test_a_trace_cannot_be_saved_where_nothing_can_be_written(window, tmp_path):
    window.files.store_trace(tmp_path / "missing" / "mine.npz")
    assert window.notice.message_type == "error"
    assert not list(tmp_path.iterdir())


def test_a_files_kernel_runs_only_after_the_user_agrees(tmp_path):
    with open_window((f"matmul-tiled:{SMALL}",)) as fresh:
        trace = fresh.stage.sessions[0].trace
        launch = decode(trace.launch)
        own = replace(launch, source=launch.source + "\n# mine\n")
        path = tmp_path / "theirs.npz"
        save(replace(trace, launch=encode(own)), path)
        fresh.files.open_path(str(path))
        settle(fresh)
        opened_session = fresh.stage.sessions[0]
        fresh.toolbar.schedule.put("sequential")
        fresh.toolbar.ask()
        wait_until(lambda: fresh.notice.message_type == "question")
        assert fresh.stage.sessions[0] is opened_session
        assert fresh.toolbar.schedule.text() == "lockstep"  # as the picture is
        assert fresh.side.tab == "source"
        fresh.notice.answers[0].click()
        wait_until(lambda: fresh.stage.sessions[0] is not opened_session)
        assert decode(fresh.stage.sessions[0].trace.launch).schedule.kind == "sequential"
        assert fresh.toolbar.schedule.text() == "sequential"
        assert "# mine" in decode(fresh.stage.sessions[0].trace.launch).source


def drop(window, path):
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path))])
    button, key = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    window.dropEvent(QDropEvent(QPointF(9, 9), Qt.DropAction.CopyAction, data, button, key))


def test_a_dropped_array_becomes_the_chosen_input(tmp_path):
    path = tmp_path / "mine.npy"
    np.save(path, np.full((16, 24), 2, np.float32))
    with open_window() as fresh:
        drop(fresh, path)
        labels = [answer.text() for answer in fresh.notice.answers]
        assert labels == ["A from file", "B from file"]
        fresh.notice.answers[0].click()
        settle(fresh)
        assert fresh.stage.sessions[1].trace.buffers[0].shape == (16, 24)
        assert fresh.stage.sessions[1].trace.check.equal


def test_a_dropped_trace_is_opened_and_other_files_are_not_taken(tmp_path):
    with open_window() as fresh:
        fresh.files.store_trace(tmp_path / "mine.npz")
        drop(fresh, tmp_path / "mine.npz")
        settle(fresh)
        assert fresh.central.panes[1].heading.title.text() == "mine"
        other = QMimeData()
        other.setUrls([QUrl.fromLocalFile(str(tmp_path / "notes.txt"))])
        assert usable_paths(other) == []


def test_the_file_dialog_names_the_folder_and_the_type():
    application()
    dialog = QFileDialog(options=QFileDialog.Option.DontUseNativeDialog)
    labels = {label.text().replace("&", "") for label in dialog.findChildren(QLabel)}
    assert {"Folder:", "File name:", "Type:"} <= labels
