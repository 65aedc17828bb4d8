"""A GPU's timeline instead of the panes: opened by its command, kept in bookmarks, copied, drawn as files."""

import shlex

import msgspec
import pytest
from PySide6.QtGui import QGuiApplication

from gpu_charts import small_timeline
from gpu_timelines import synthetic_timeline
from tilescope.app.cli.commands import parser_of, subcommand_of
from tilescope.app.cli.pictures.picture_options import bookmark_of
from tilescope.app.state.actions import ChooseLayout, ShowChart
from tilescope.app.window.vector_picture import picture_of_parts, write_vector_picture
from tilescope.kernels.scenarios.catalogue import find, settle
from windows import act, press, reset
from windows import settle as settled


@pytest.fixture
def window(shared):
    reset(shared)
    central = shared.central
    central.charts.recorded.timelines = [
        synthetic_timeline(session.trace, settle(find(setup.scenario), setup.values))
        for setup, session in zip(shared.stage.setups, shared.stage.sessions, strict=True)
    ]
    yield shared
    act(shared, ChooseLayout("ordinary"))
    act(shared, ShowChart(""))


def panel(window):
    return window.central.charts.gpu_panel


def test_the_command_shows_it_and_takes_it_away(window):
    press(window, "Ctrl+7")
    assert panel(window).isVisible() and not window.central.panes[0].isVisible()
    assert [pane.shown.level for pane in panel(window).panes] == ["gpu", "gpu"]
    assert panel(window).panes[0].view.hasFocus()
    press(window, "Ctrl+7")
    assert window.central.panes[0].isVisible() and not panel(window).isVisible()
    assert any(text == "On the GPU" for text in window.commands)


def test_keys_are_the_chart_s_while_it_has_the_focus_and_escape_climbs_out(window):
    moment = window.playhead.moment
    press(window, "Ctrl+7", "Return", "Right", "Return", "Down", "Right", "Home")
    assert window.playhead.moment == moment
    assert panel(window).panes[0].shown.level == "block"
    assert window.central.charts.text.startswith("gpu block=")
    press(window, "Escape")
    assert panel(window).panes[0].shown.level == "multiprocessor"
    press(window, "Escape", "Escape")
    assert window.central.charts.text == "" and window.central.panes[0].isVisible()


def test_a_bookmark_holds_where_one_looks(window):
    act(window, ShowChart("gpu block=1/0 range=0:0.5"))
    mark = window.bookmark()
    assert mark.chart == "gpu block=1/0 range=0:0.5"
    window.show_bookmark(msgspec.structs.replace(mark, chart=""))
    assert window.central.panes[0].isVisible()
    window.show_bookmark(mark)
    assert [pane.shown.block for pane in panel(window).panes] == [1, 0]
    assert window.bookmark() == mark


def test_a_text_without_an_anchor_is_refused_and_the_panes_stay(window):
    act(window, ShowChart("gpu blok=1"))
    assert "'blok=1' is not an option of the chart gpu" in window.notice.sentence.text()
    assert window.central.panes[0].isVisible() and window.bookmark().chart == ""


def test_other_launches_are_shown_in_the_chart_that_stays(window):
    act(window, ShowChart("gpu multiprocessor=1/2"))
    setups = window.stage.setups
    window.change_setups((setups[1],))
    settled(window)
    assert window.central.charts.text == "gpu"
    assert [pane.title.text() for pane in panel(window).panes] == ["Tiled, shared memory"]
    assert panel(window).panes[0].shown.level == "gpu"
    window.navigation.travel(-1)
    settled(window)
    assert window.central.charts.text == "gpu multiprocessor=1/2"
    assert len(panel(window).panes) == 2


def test_a_size_that_was_not_recorded_is_offered(window):
    window.central.charts.recorded.timelines = [small_timeline("matmul-tiled")]
    act(window, ShowChart("gpu"))
    assert [pane.shown for pane in panel(window).panes] == [None, None]
    assert "in any size" in panel(window).panes[0].missing.text()
    panel(window).panes[1].nearest.click()
    assert panel(window).panes[1].shown is not None
    assert window.central.charts.text == "gpu size=-/32x16x32"


def test_the_command_that_is_copied_shows_the_same_place(window):
    act(window, ShowChart("gpu block=1/0"))
    press(window, "Ctrl+Shift+K")
    line = QGuiApplication.clipboard().text()
    assert "--chart 'gpu block=1/0'" in line
    command, words = subcommand_of(shlex.split(line)[1:])
    chosen = parser_of(command).parse_args(words)
    assert bookmark_of(chosen).chart == "gpu block=1/0"


@pytest.mark.parametrize("suffix", [".svg", ".pdf"])
def test_it_is_drawn_as_vectors_with_its_words_as_words(window, tmp_path, suffix):
    act(window, ShowChart("gpu block=1/0"))
    path = tmp_path / f"gpu{suffix}"
    write_vector_picture(window.central, "all", path)
    content = path.read_bytes()
    if suffix == ".svg":
        text = content.decode()
        assert "Tiled, shared memory, " in text and "multiprocessor" in text
        assert "warp 0" in text and "measured" in text and "NVIDIA Test, 2026-11-23" in text
    else:
        assert content.startswith(b"%PDF")
    assert picture_of_parts(window.central, "all").size[0] > 500


def test_a_lecture_has_larger_letters(window):
    act(window, ShowChart("gpu"))
    before = panel(window).panes[0].view.theme.scale
    act(window, ChooseLayout("lecture"))
    assert panel(window).panes[0].view.theme.scale > before
    act(window, ChooseLayout("ordinary"))
    assert panel(window).panes[0].view.theme.scale == before
