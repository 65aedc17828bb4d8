"""A chart of measured times instead of the panes: shown, kept in bookmarks, left again, in letters for a lecture."""

from __future__ import annotations

import msgspec
import pytest
from PySide6.QtWidgets import QApplication

from tilescope.app.state.actions import ChooseLayout, ShowChart
from tilescope.app.timings.model.figure import number_texts
from windows import act, press, reset

SCALING = "scaling matmul-naive-row-on-x matmul-tiled"


@pytest.fixture
def window(shared):
    reset(shared)
    yield shared
    act(shared, ChooseLayout("ordinary"))
    act(shared, ShowChart(""))


def test_a_chart_takes_the_place_of_panes_and_timelines_until_escape(window):
    central = window.central
    act(window, ShowChart(SCALING))
    assert central.charts.times_panel.isVisible()
    assert not central.panes[0].isVisible()
    assert not central.timelines[0].isVisible()
    assert "Tiled, shared memory, N 1,024: 297 µs" in number_texts(central.charts.times_panel.figure)
    assert "NVIDIA H200, recorded on" in central.charts.times_panel.figure.origins[0]
    press(window, "Escape")
    assert central.panes[0].isVisible()
    assert not central.charts.times_panel.isVisible()
    assert central.charts.text == ""


def test_a_bookmark_holds_the_chart(window):
    act(window, ShowChart(SCALING))
    mark = window.bookmark()
    assert mark.chart == SCALING
    window.show_bookmark(msgspec.structs.replace(mark, chart=""))
    assert window.central.panes[0].isVisible()
    window.show_bookmark(mark)
    assert window.central.charts.times_panel.isVisible()
    assert window.bookmark() == mark


def test_another_kernel_brings_the_panes_back(window):
    act(window, ShowChart(SCALING))
    setups = window.stage.setups
    window.change_setups((setups[1], setups[0]))
    QApplication.processEvents()
    assert window.central.panes[0].isVisible()
    window.navigation.travel(-1)
    assert window.central.charts.text == SCALING


def test_a_text_that_names_no_chart_is_refused_and_the_panes_stay(window):
    act(window, ShowChart("scaling matmul-tilde"))
    assert "did you mean matmul-tiled" in window.notice.sentence.text()
    assert window.central.panes[0].isVisible()
    assert window.bookmark().chart == ""


def test_a_lecture_has_letters_of_a_45th_of_its_height_and_all_of_the_chart_in_sight(window):
    central = window.central
    act(window, ShowChart(SCALING))
    assert central.charts.times_panel.view.theme.scale == window.theme.scale
    act(window, ChooseLayout("lecture"))
    assert central.charts.times_panel.view.theme.scale * 13 == pytest.approx(central.height() / 45, rel=0.01)
    act(window, ShowChart("ladder"))
    assert central.charts.times_panel.view.height() <= central.charts.times_panel.area.viewport().height()
