"""What the window runs: sizes, blocks, panes; and how it stops, fails and ends."""

import os
import signal

import msgspec
import pytest
from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from tilescope.app.model.bookmark import Setup
from tilescope.app.model.setup_launch import launch_of_setup
from tilescope.app.state.actions import Focus
from tilescope.kernels.scenarios.catalogue import scenarios
from tilescope.tracer.run.worker_client import Worker
from windows import SMALL, act, enter, open_window, parameter_field, press, settle, wait_until


def test_a_typed_size_is_run_after_the_typing_and_the_old_picture_stays():
    with open_window() as fresh:
        enter(fresh, "m", "24")
        assert fresh.stage.sessions[0].trace.buffers[0].shape == (16, 16)
        wait_until(lambda: fresh.stage.setups[0].values["m"] == 24)
        settle(fresh)
        assert [session.trace.buffers[0].shape for session in fresh.stage.sessions] == [(24, 16), (24, 16)]
        assert fresh.central.panes[1].memory.session is fresh.stage.sessions[1]
        assert parameter_field(fresh, "m").hasFocus()


class Paintings(QObject):
    """Notes at each painting of a pane's memory how many rows A has, the moment, and whether it is held."""

    def __init__(self, window):
        super().__init__(window)
        self.window, self.view, self.seen = window, window.central.panes[0].memory, []
        self.view.installEventFilter(self)

    def eventFilter(self, _, event):
        if event.type() == QEvent.Type.Paint:
            rows = self.view.session.trace.buffers[0].shape[0]
            self.seen.append((rows, self.view.moment, self.window.central.results.is_behind))
        return False


def test_a_session_is_painted_where_it_is_to_be_looked_at_and_at_no_moment_before():
    with open_window() as fresh:
        fresh.stage.seek(0, 5)
        settle(fresh)
        paintings, held = Paintings(fresh), []
        fresh.stage.settled.connect(lambda: held.append(fresh.central.results.is_behind))
        enter(fresh, "m", "24")
        wait_until(lambda: fresh.stage.setups[0].values["m"] == 24)
        settle(fresh)
        wait_until(lambda: any(rows == 24 for rows, _, _ in paintings.seen))
        assert held == [True]
        assert {seen for seen in paintings.seen if seen[0] == 24} == {
            (24, fresh.stage.shown_moments()[0], False)
        }


@pytest.mark.parametrize("text", ["", "0", "-4", "x", "1.5", "99999"])
def test_an_unusable_size_is_marked_and_reported_and_nothing_is_lost(window, text):
    shown = window.stage.sessions[0]
    entry = parameter_field(window, "m")
    entry.setFocus()
    entry.selectAll()
    QTest.keyClick(entry, Qt.Key.Key_Delete)
    QTest.keyClicks(entry, text)
    wait_until(lambda: bool(entry.property("invalid")))
    assert window.notice.message_type == "error"
    assert "from 1 to 4096" in window.notice.sentence.text()
    assert (entry.text(), window.stage.sessions[0]) == (text, shown)
    assert entry.hasFocus()
    enter(window, "m", "16")
    wait_until(lambda: not entry.property("invalid"))
    assert not window.notice.isVisible()


def test_missing_blocks_are_reported(window):
    blocks = window.toolbar.options["blocks"]
    blocks.setText("0 99")
    window.toolbar.ask()
    assert "99" in window.notice.sentence.text()
    blocks.setText("two")
    window.toolbar.ask()
    assert "0 3 5-8" in window.notice.sentence.text()
    blocks.setText("all")
    window.toolbar.ask()
    assert window.notice.isHidden()


def test_chosen_blocks_are_run_and_called_a_part():
    with open_window((f"matmul-tiled:{SMALL},blocks=1+2",)) as fresh:
        assert fresh.stage.sessions[0].trace.blocks.tolist() == [1, 2]
        assert "2 of 4" in fresh.central.panes[0].heading.part.text()
        assert fresh.stage.selections[0].block == 1


def test_one_pane_and_two_again(window):
    two = [launch_of_setup(setup) for setup in window.stage.setups]
    window.toolbar.pick(1, None)
    QApplication.processEvents()
    assert [pane.isVisible() for pane in window.central.panes] == [True]
    assert len(window.stage.sessions) == len(window.central.timelines) == 1
    window.toolbar.pick(1, "matmul-tiled")
    settle(window)
    assert [launch_of_setup(setup) for setup in window.stage.setups] == two
    assert window.central.panes[1].session.scenario.name == "matmul-tiled"


def test_panes_can_differ_when_they_are_not_changed_alike():
    with open_window((f"matmul-tiled:{SMALL}", "matmul-tiled:m=16,k=16,n=16,tile=16")) as fresh:
        assert not fresh.toolbar.same.isChecked()
        act(fresh, Focus(0))
        assert parameter_field(fresh, "tile").text() == "8"
        enter(fresh, "k", "8")
        wait_until(lambda: fresh.stage.setups[0].values["k"] == 8)
        settle(fresh)
        assert [setup.values["k"] for setup in fresh.stage.setups] == [8, 16]
        assert [setup.values["tile"] for setup in fresh.stage.setups] == [8, 16]


def test_escape_cancels_and_goes_back_to_what_is_shown():
    with open_window() as fresh:
        before, shown = fresh.stage.setups, list(fresh.stage.sessions)
        long = tuple(msgspec.structs.replace(s, values=s.values | {"m": 2048, "k": 2048}) for s in before)
        fresh.change_setups(long)
        wait_until(
            lambda: (
                fresh.central.panes[0].overlay.bar.maximum() > 0
                or fresh.central.panes[1].overlay.bar.maximum() > 0
            )
        )
        wait_until(fresh.central.panes[0].overlay.isVisible)
        press(fresh, "Escape")
        assert [pane.overlay.isVisible() for pane in fresh.central.panes] == [False, False]
        assert (fresh.stage.setups, fresh.stage.sessions) == (before, shown)
        assert "cancelled" in fresh.notice.news.sentence.text()
        assert parameter_field(fresh, "m").text() == "16"


def test_a_worker_that_dies_is_reported_and_the_next_run_works():
    with open_window(worker=Worker()) as fresh:
        long = tuple(
            msgspec.structs.replace(s, values=s.values | {"m": 2048, "k": 2048})
            for s in fresh.stage.setups[:1]
        )
        fresh.change_setups(long)
        wait_until(lambda: fresh.central.panes[0].overlay.bar.maximum() > 0)
        os.kill(fresh.stage.jobs.worker.pid, signal.SIGKILL)
        wait_until(lambda: fresh.notice.message_type == "error")
        assert fresh.stage.sessions[0] is not None
        fresh.navigation.travel(-1)
        settle(fresh)
        assert len(fresh.stage.sessions) == 2


def test_closing_while_tracing_is_quick_and_remembers_what_was_shown(tmp_path):
    with open_window(settings=tmp_path / "window.json", worker=Worker()) as fresh:
        before = fresh.stage.setups
        worker = fresh.stage.jobs.worker
        fresh.change_setups((Setup("matmul-tiled", {"m": 2048, "k": 2048, "n": 2048}),))
        wait_until(lambda: fresh.central.panes[0].overlay.bar.maximum() > 0)
        fresh.close()
        assert worker.pid is None
    assert b"2048" not in (tmp_path / "window.json").read_bytes()
    assert before


def test_another_scenario_keeps_the_parameters_that_it_knows_and_drops_the_others():
    with open_window() as fresh:
        kept = fresh.stage.setups[1].values
        fresh.toolbar.pick(1, "transpose-tile")
        settle(fresh)
        assert fresh.notice.isHidden()
        assert fresh.central.panes[1].heading.title.text() == "Transpose, tile"
        assert {"m", "rows"} <= set(fresh.toolbar.fields)
        fresh.toolbar.pick(1, "matmul-tiled")
        settle(fresh)
        assert set(fresh.stage.setups[1].values) <= set(kept)


def test_every_scenario_is_offered_once_and_headings_cannot_be_chosen(window):
    combo = window.toolbar.scenario_combos[0]
    flags = [combo.model().flags(combo.model().index(i, 0)) for i in range(combo.count())]
    choosable = [combo.itemData(i) for i in range(combo.count()) if flags[i] & Qt.ItemFlag.ItemIsEnabled]
    assert sorted(choosable) == sorted(scenario.name for scenario in scenarios())
    assert len(choosable) < combo.count()


def test_every_control_of_the_bar_has_the_size_of_its_text(window):
    for combo in window.toolbar.scenario_combos:
        text = combo.fontMetrics().horizontalAdvance(combo.currentText())
        assert text < combo.width() < text + 60
