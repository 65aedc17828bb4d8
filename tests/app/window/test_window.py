"""The window as its users meet it: time, keys, look and access; and once on a real X server."""

import signal
import subprocess
import sys

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QComboBox, QLabel, QLineEdit

from patience import PATIENCE, wait_for_child
from tilescope.app.model.session import Selection
from tilescope.app.panels.pane import Pane
from tilescope.app.panels.side import Inspector
from tilescope.app.panels.transport import Transport
from tilescope.app.state.actions import Focus, Zoom
from tilescope.app.window.actions import keys
from windows import (
    PAIR,
    act,
    open_window,
    parameter_field,
    press,
    screen_environment,
    seen_on_screen,
    settle,
    wait_until,
)

# Time


def test_it_starts_paused_where_every_pane_has_loaded_something():
    with open_window() as fresh:
        assert not fresh.playhead.playing
        counts = [
            s.counters.values_at(int(m))
            for s, m in zip(fresh.stage.sessions, fresh.stage.moments(), strict=True)
        ]
        assert all(count["global_load_sectors"] > 0 for count in counts)


def test_space_plays_and_pauses(window):
    press(window, "Space")
    assert window.playhead.playing
    wait_until(lambda: window.stage.moments()[1] > 4)
    press(window, "Space")
    assert not window.playhead.playing


@pytest.mark.parametrize("focus", [0, 1])
def test_every_pane_stops_at_an_integral_moment(window, focus):
    act(window, Focus(focus))
    window.stage.set_link("progress")
    window.stage.seek(1, 5)
    press(window, "Space")
    wait_until(lambda: window.stage.moments()[focus] > 6.2)
    press(window, "Space")
    assert window.stage.moments()[focus] % 1 == 0
    for key in ("Right", "Shift+Right", "Left", "Right"):
        press(window, key)
        wait_until(lambda: not window.central.results.is_behind)
        shown = [pane.memory.moment for pane in window.central.panes]
        assert all(moment % 1 == 0 for moment in shown), (key, shown)
        assert all(moment == np.floor(own) for moment, own in zip(shown, window.stage.moments(), strict=True))


def test_both_panes_glide_while_they_play(window):
    window.stage.set_link("progress")
    window.stage.seek(1, 2)
    press(window, "Space")
    wait_until(lambda: all(pane.memory.moment % 1 for pane in window.central.panes))
    press(window, "Space")


def test_keys_step_in_moments_of_the_pane_in_focus(window):
    press(window, "Right", "Right", "Left", "Right")
    assert window.stage.moments()[1] == 5
    press(window, "F6")
    before = window.stage.moments()[0]
    press(window, "Right")
    assert window.stage.moments()[0] == np.floor(before) + 1
    press(window, "End")
    assert window.stage.moments() == tuple(window.stage.ends())
    press(window, "Home")
    assert window.stage.moments() == (0, 0)


def test_keys_go_through_phases_and_blocks(window):
    session = window.stage.sessions[1]
    press(window, "Shift+Right")
    assert window.stage.moments()[1] == session.requests.span_start[0, 1] + 1
    press(window, "Shift+Left")
    assert window.stage.moments()[1] == 1
    press(window, "Ctrl+Right", "Ctrl+Right")
    assert window.stage.selections[1].block == 2
    assert window.stage.moments()[1] == session.requests.span_start[2, 0] + 1
    press(window, "Ctrl+Left")
    assert window.stage.selections[1].block == 1


def test_phases_are_those_of_the_pane_that_has_barriers(window):
    session = window.stage.sessions[1]
    begin = session.requests.span_start[0, 1] + 1
    press(window, "F6")
    assert window.stage.focus == 0
    window.stage.seek(1, 1)
    press(window, "Shift+Right")
    assert window.stage.moments()[1] == begin
    assert window.stage.focus == 0
    label = window.central.transport.position
    wait_until(
        lambda: label.strong == f"Left: moment {int(window.stage.moments()[0])} of {window.stage.ends()[0]}"
    )
    press(window, "F6")
    wait_until(lambda: label.strong == f"Right: moment {begin} of {session.end}")


def test_one_pane_is_not_named_next_to_the_moment():
    with open_window(PAIR[1:]) as fresh:
        assert fresh.central.transport.position.strong.startswith("moment ")


def test_both_panes_go_to_a_block_together(window):
    for block in range(4):
        window.stage.select(1, Selection(block, 5))
        assert [selection.block for selection in window.stage.selections] == [block, block]
        assert [selection.thread for selection in window.stage.selections] == [5, 5]


def test_keys_work_from_every_control_but_a_text_field(window):
    for widget in [*window.findChildren(QAbstractButton), *window.findChildren(QComboBox)]:
        if widget.isVisible() and widget.isEnabled() and widget.window() is window:
            window.stage.seek(1, 3)
            widget.setFocus()
            act(window, Focus(1))  # a control in the left pane has turned to that
            press(window, "Right")
            assert window.stage.moments()[1] == 4, widget.accessibleName()
    entry = parameter_field(window, "m")
    entry.setFocus()
    entry.setCursorPosition(0)
    window.stage.seek(1, 3)
    press(window, "Right")
    assert (window.stage.moments()[1], entry.cursorPosition()) == (3, 1)


def test_return_presses_the_button_in_focus(window):
    window.central.transport.play.setFocus()
    press(window, "Return")
    assert window.playhead.playing


def test_links(window):
    window.stage.set_link("moment")
    window.playhead.seek(window.playhead.end)
    assert window.stage.moments() == tuple(window.stage.ends())
    window.playhead.seek(7)
    assert window.stage.moments() == (7, 7)
    window.stage.set_link("progress")
    assert window.stage.moments()[1] == 7


def test_scrubbing_draws_the_last_moment_once(window):
    drawn = []
    window.central.draw, real = (lambda: drawn.append(window.playhead.moment)), window.central.draw
    try:
        for moment in range(50):
            window.playhead.seek(moment)
        QApplication.processEvents()
    finally:
        window.central.draw = real
    assert drawn == [49]


def test_actions_of_one_turn_are_rendered_once_and_only_where_they_show(window, monkeypatch):
    rendered = []
    for kind in (Pane, Inspector, Transport):
        real = kind.render_view
        monkeypatch.setattr(
            kind,
            "render_view",
            lambda part, view, real=real: (rendered.append(type(part)), real(part, view))[1],
        )
    for names in (("A",), ("B",), ("A", "B")):
        window.store.dispatch(Zoom(names))
    assert rendered == [] and window.bookmark().zoom == ("A", "B")
    QApplication.processEvents()
    assert rendered == [Pane, Pane]
    act(window, Zoom(()))
    act(window, Zoom(()))
    assert rendered == [Pane] * 4


def test_a_hint_explains_how_to_play_until_the_time_moves():
    with open_window() as fresh:
        assert fresh.central.transport.position.quiet == "Press Space to play"
        press(fresh, "Right")
        press(fresh, "Left")
        assert fresh.central.transport.position.quiet == "block (0, 0) · phase 0"


def test_the_anchor_is_shown_in_words(window):
    window.stage.step_block(1)
    window.draw()
    position = window.central.transport.position
    moment, end = int(window.stage.moments()[1]), window.stage.ends()[1]
    assert position.strong == f"Right: moment {moment} of {end}"
    assert position.quiet == "block (1, 0) · phase 0"


# Look and access


def test_every_control_has_a_name_and_can_be_reached_by_tab(window):
    controls = [c for kind in (QAbstractButton, QComboBox, QLineEdit) for c in window.findChildren(kind)]
    shown = [
        c
        for c in controls
        if c.isVisible() and c.window() is window and not isinstance(c.parent(), QComboBox)
    ]
    nameless = [
        c for c in shown if not (c.accessibleName() or (hasattr(c, "text") and c.text())) and _is_ours(c)
    ]
    assert nameless == []
    start = window.central.transport.play
    reached, widget = set(), start.nextInFocusChain()
    while widget is not start:
        reached.add(widget)
        widget = widget.nextInFocusChain()
    assert all(c in reached or c is start for c in shown)
    ours = [c for c in shown if window.toolbar.isAncestorOf(c) or window.central.transport.isAncestorOf(c)]
    assert all(c.focusPolicy() & Qt.FocusPolicy.TabFocus for c in ours)


def _is_ours(control):
    return type(control).__module__.startswith("tilescope") or not control.objectName().startswith("qt_")


def test_text_size_scales_everything_within_bounds(window):
    before = window.central.transport.play.height(), parameter_field(window, "m").width()
    press(window, "Ctrl+Plus", "Ctrl+Plus", "Ctrl+Plus", "Ctrl+Plus")
    assert window.theme.scale == pytest.approx(1.4)
    assert window.central.transport.play.height() > before[0]
    assert parameter_field(window, "m").width() > before[1]
    for _ in range(20):
        press(window, "Ctrl+Minus")
    assert window.theme.scale == pytest.approx(0.8)
    press(window, "Ctrl+0")
    assert window.theme.scale == 1
    assert (window.central.transport.play.height(), parameter_field(window, "m").width()) == before


def test_light_and_dark_change_every_pixel_region(window):
    window.look.use("light")
    light = window.grab().toImage()
    press(window, "Ctrl+T")
    dark = window.grab().toImage()
    for x, y in ((5, 5), (640, 5), (16, 700), (1270, 790)):
        assert light.pixelColor(x, y).lightness() > 180 > 90 > dark.pixelColor(x, y).lightness(), (x, y)
    window.look.use("light")


def test_nothing_is_cut_or_overlaps_at_any_size_and_text_scale(window):
    for scale in (1.0, 1.6):
        window.look.show("light", scale, False)
        for size in ((1280, 800), (1920, 1080)):
            window.resize(*size)
            QApplication.processEvents()
            assert (window.width(), window.height()) == size
            for bar in (window.toolbar, window.central.transport):
                placed = [
                    item.geometry()
                    for item in map(bar.flow.itemAt, range(bar.flow.count()))
                    if not item.isEmpty()
                ]
                assert all(bar.rect().contains(rect) for rect in placed)
                assert not any(a.intersects(b) for i, a in enumerate(placed) for b in placed[i + 1 :])
    window.look.show("light", 1.0, False)
    window.resize(1280, 800)


def test_the_keys_are_listed_and_no_key_means_two_things(window):
    listed = [key for _, _, shown in keys(window.window_menu.commands()) for key in shown.split(" or ")]
    assert len(listed) == len(set(listed))
    assert {"Space", "Left", "Shift+Left", "Ctrl+Left", "Home", "F11", "Ctrl+E", "Ctrl+Shift+C", "F1"} <= set(
        listed
    )
    window.commands["Keyboard shortcuts"].trigger()
    shown = next(w for w in QApplication.topLevelWidgets() if w.windowTitle() == "Keyboard shortcuts")
    assert not shown.isModal()
    assert "Shift with any of these" in " ".join(label.text() for label in shown.findChildren(QLabel))
    shown.close()


def test_full_screen_and_escape(window):
    press(window, "F11")
    assert window.isFullScreen()
    press(window, "Escape")
    assert not window.isFullScreen()


def test_a_click_that_moves_the_time_is_announced_and_back_returns(window):
    window.stage.seek(1, 3)
    window.draw()
    view = window.central.panes[1].memory
    number = next(i for i, b in enumerate(view.session.trace.buffers) if b.name == "c")
    spot = view.position_of(number, view.session.trace.buffers[number].size - 1)
    QTest.mouseClick(view, Qt.MouseButton.LeftButton, pos=spot.toPoint())
    wait_until(lambda: window.stage.moments()[1] != 3)
    moment = int(window.stage.moments()[1])
    wait_until(window.notice.news.isVisible)
    assert f"moment {moment}" in window.notice.news.sentence.text()
    assert window.notice.news.sentence.text().startswith("Block (1, 1)")
    press(window, "Alt+Left")
    wait_until(lambda: window.stage.moments()[1] == 3)
    QTest.mouseClick(view, Qt.MouseButton.LeftButton, pos=view.position_of(0, 0).toPoint())


def test_back_undoes_a_click_and_not_the_launch_before_it():
    with open_window(PAIR) as window:
        setups = window.stage.setups
        window.toolbar.pick(1, "matmul-naive-row-on-x")
        settle(window)
        picked, view = window.stage.setups, window.central.panes[1].memory
        number = next(i for i, b in enumerate(view.session.trace.buffers) if b.name == "c")
        before = window.stage.selections[1]
        for element in (1, 2, 3):
            spot = view.position_of(number, element).toPoint()
            QTest.mouseClick(view, Qt.MouseButton.LeftButton, pos=spot)
            settle(window)
        assert window.stage.selections[1] != before
        press(window, "Alt+Left")
        settle(window)
        assert window.stage.setups == picked and window.stage.selections[1] == before
        press(window, "Alt+Left")
        settle(window)
        assert window.stage.setups == setups


def test_a_click_in_a_pane_turns_to_it(window):
    assert window.stage.focus == 1
    QTest.mouseClick(window.central.panes[0], Qt.MouseButton.LeftButton, pos=QPoint(20, 12))
    assert window.stage.focus == 0
    QApplication.processEvents()
    assert window.side.session is window.stage.sessions[0]


# A real screen


def test_a_real_window_is_started_played_scrubbed_and_closed(screen, tmp_path):
    seen = seen_on_screen("screen_play.py", screen, tmp_path, *PAIR)
    assert seen["paused at"] >= 1
    assert seen["played"] > 2
    assert not seen["playing"]
    assert seen["scrubbed"] == sorted(set(seen["scrubbed"]))
    assert (tmp_path / "config" / "window.json").exists()


def test_ctrl_c_in_the_terminal_ends_it(screen, tmp_path):
    start = "from tilescope.app.window.start import run_window"
    code = f"import sys; {start}; print('up', flush=True); sys.exit(run_window([]))"
    command, environment = [sys.executable, "-c", code], screen_environment(screen, tmp_path)
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, start_new_session=True
    ) as process:
        assert process.stdout.readline() == b"up\n"
        wait_for_child(process)  # the window's first act is to start the worker
        process.send_signal(signal.SIGINT)
        try:
            assert process.wait(PATIENCE) == 0
        finally:
            process.kill()
