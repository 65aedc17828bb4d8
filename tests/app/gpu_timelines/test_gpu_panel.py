"""The panel "On the GPU": panes on one axis that go deep together, sizes, and what is said where there is nothing."""

from itertools import pairwise

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from gpu_charts import panel_of, small_timeline, with_head
from sessions import grab_image
from tilescope.app.gpu_timelines.model.place import parse_gpu_place

TILED, NAIVE = "matmul-tiled", "matmul-naive-row-on-x"
PAIR = NAIVE, TILED


def both():
    return [small_timeline(NAIVE), small_timeline(TILED)]


def large():
    values = small_timeline().head.values | {"m": 1024, "k": 1024, "n": 1024}
    return with_head(small_timeline(), values=values)


@pytest.fixture
def panel():
    gpu_panel = panel_of(*PAIR, timelines=both())
    gpu_panel.show()
    yield gpu_panel
    gpu_panel.hide()


def moves(panel):
    requests = []
    panel.show_chart = requests.append
    return requests


def spans(panel):
    return [pane.view.span for pane in panel.panes]


def test_panes_have_one_axis_in_which_the_longer_launch_fits(panel):
    ends = [pane.shown.data.timeline.nanoseconds for pane in panel.panes]
    assert ends[0] != ends[1]
    assert spans(panel)[0] == spans(panel)[1]
    assert spans(panel)[0][1] > max(ends)
    x = [pane.view.mapTo(panel, pane.view.chart_layout.rows.topLeft().toPoint()).x() for pane in panel.panes]
    assert x[0] == x[1]
    assert panel.legend.origin.startswith("µs from the start of the launch's first block")


def test_what_one_pane_zooms_to_all_show(panel):
    requests = moves(panel)
    panel.panes[1].view.zoom(2)
    assert spans(panel)[0] == spans(panel)[1]
    assert "range=" in requests[-1]
    panel.panes[0].view.pan(0.1, 0)
    assert spans(panel)[0] == spans(panel)[1]
    panel.panes[0].view.reset()
    assert requests[-1] == "gpu"


def test_going_into_a_block_takes_the_other_pane_along_and_counts_from_their_starts(panel):
    requests = moves(panel)
    panel.panes[1].view.ask.enter("multiprocessor", 2)
    panel.panes[1].view.ask.enter("block", 6)
    assert [pane.shown.level for pane in panel.panes] == ["block", "block"]
    assert panel.panes[1].shown.block == 6
    assert panel.panes[0].shown.has_details
    assert panel.legend.origin.startswith("µs from the block's start")
    assert spans(panel)[0][1] > max(pane.shown.duration for pane in panel.panes)
    panel.panes[1].view.ask.enter("warp", 1)
    assert panel.panes[1].shown.warp == 1
    assert parse_gpu_place(requests[-1]).pane(1).block == 6


def test_the_way_back_names_the_levels_and_leads_to_them(panel):
    pane = panel.panes[1]
    pane.view.ask.enter("multiprocessor", 2)
    pane.view.ask.enter("block", 6)
    pane.view.ask.enter("warp", 1)
    shown = [step for step in pane.breadcrumbs if not step.isHidden()]
    assert [step.text() for step in shown] == ["Test", "› multiprocessor 2", "› block (2, 1)", "› warp 1"]
    assert [step.isEnabled() for step in shown] == [True, True, True, False]
    shown[1].click()
    assert (pane.shown.level, pane.shown.machine) == ("multiprocessor", 2)
    assert panel.up() and pane.shown.level == "gpu"
    assert not panel.up()


def test_coming_back_shows_the_time_that_one_left(panel):
    panel.panes[0].view.zoom(4)
    panel.panes[0].view.ask.enter("multiprocessor", 1)
    before = spans(panel)
    panel.panes[0].view.ask.enter("block", int(panel.panes[0].shown.data.blocks_on(1)[0]))
    assert spans(panel) != before
    panel.up()
    assert spans(panel) == before


@pytest.mark.parametrize(
    "text", ["gpu", "gpu multiprocessor=3/1", "gpu block=6/9", "gpu block=6/9 warp=1/0 range=0.5:1"]
)
def test_an_anchor_in_words_is_shown_and_written_again(text):
    panel = panel_of(*PAIR, timelines=both(), text=text)
    assert panel.text == text
    again = panel_of(*PAIR, timelines=both())
    again.show_text(text)
    for pane, other in zip(panel.panes, again.panes, strict=True):
        assert (pane.shown.level, pane.shown.block, pane.shown.warp) == (
            other.shown.level, other.shown.block, other.shown.warp,
        )  # fmt: skip
        assert pane.view.span == other.view.span


def test_a_position_reached_by_clicks_is_written_so_that_it_comes_back(panel):
    panel.panes[1].view.ask.enter("multiprocessor", 3)
    panel.panes[0].view.ask.enter("block", 5)
    again = panel_of(*PAIR, timelines=both(), text=panel.text)
    assert [pane.shown.block for pane in again.panes] == [pane.shown.block for pane in panel.panes]


def test_facts_and_what_is_chosen_stand_below_the_chart(panel):
    pane = panel.panes[1]
    assert any(fact.text.startswith("NVIDIA Test") for fact in pane.facts.facts)
    shown = pane.facts.placed_texts(pane.facts.width())
    assert all(fact.box.right() <= pane.facts.width() for fact in shown)
    assert shown[-1].box.bottom() <= pane.facts.height() + 1
    pane.view.choose(1, None)
    assert "multiprocessor 1" in pane.status.toolTip()


def test_nothing_recorded_is_one_sentence_a_button_and_a_command():
    panel = panel_of(*PAIR, timelines=[small_timeline(NAIVE), large()])
    panel.show()
    pane = panel.panes[1]
    assert pane.shown is None and panel.panes[0].shown is not None
    assert pane.missing.text() == (
        "No GPU timeline was recorded for Tiled, shared memory at 32 × 16 × 32; recorded: 1,024."
    )
    assert pane.command.text().endswith("tilescope measure --timeline matmul-tiled:m=32,k=16,n=32,tile=8")
    assert pane.nearest.text() == "Show 1,024" and not pane.view.isVisible()
    requests = moves(panel)
    pane.nearest.click()
    assert requests == ["gpu size=-/1024"]
    assert pane.shown.data.size == "1,024" and pane.view.isVisible() and not pane.missing.isVisible()
    assert (
        panel_of(*PAIR, timelines=[small_timeline(NAIVE), large()], text=requests[0]).panes[1].shown
        is not None
    )
    panel.hide()


def test_a_size_is_picked_for_every_pane_that_has_it():
    other = with_head(small_timeline(NAIVE), values=large().head.values)
    panel = panel_of(*PAIR, timelines=[*both(), other, large()])
    pane = panel.panes[0]
    words = [pane.sizes.itemData(i) for i in range(pane.sizes.count())]
    assert sorted(words) == ["1024", "32x16x32"]
    pane.sizes.picked("1024")
    assert [each.shown.data.size for each in panel.panes] == ["1,024", "1,024"]
    assert panel.text == "gpu size=1024/1024"
    pane.sizes.picked("32x16x32")
    assert panel.text == "gpu"


def test_while_files_are_read_it_reports_it_and_then_shows_them():
    panel = panel_of(TILED, timelines=None)
    assert panel.panes[0].missing.text().startswith("Reading")
    assert panel.panes[0].nearest.isHidden()
    panel.show_launches(panel.launches, both())
    assert panel.panes[0].shown is not None


def test_panes_are_there_before_qt_comes_to_them_as_pictures_of_steps_need_them():
    gpu_panel = panel_of(TILED, timelines=both())
    gpu_panel.show()
    gpu_panel.show_launches(panel_of(*PAIR, timelines=both()).launches, both())
    assert all(pane.isVisible() and pane.view.isVisible() for pane in gpu_panel.panes)
    gpu_panel.hide()


def test_panes_come_and_go_with_the_launches(panel):
    panel.show_launches(panel.launches[1:], both())
    assert len(panel.panes) == 1 and panel.panes[0].title.text() == "Tiled, shared memory"
    assert panel.panes[0].shown.data.timeline is small_timeline(TILED)


def test_words_follow_those_of_the_user(panel):
    from tilescope.app.widgets.theme import Theme

    panel.set_theme(Theme.named("light", words="work-item"))
    pane = panel.panes[1]
    pane.view.ask.enter("block", 6)
    assert "work-group (2, 1)" in [step.text() for step in pane.breadcrumbs][2]


@pytest.mark.parametrize("size", [(1240, 700), (1880, 980), (640, 420)])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_nothing_lies_over_another_at_any_size(size, theme):
    panel = panel_of(*PAIR, timelines=both(), size=size, theme=theme, text="gpu block=6/9")
    panel.show()
    QApplication.processEvents()
    for pane in panel.panes:
        parts = [pane.title, pane.view, pane.status, pane.facts]
        boxes = [part.geometry() for part in parts if part.isVisible()]
        assert len(boxes) == 4 or size[1] < 600
        assert all(fact.text in pane.title.toolTip() for fact in pane.facts.facts)
        assert all(a.bottom() <= b.top() + 1 for a, b in pairwise(boxes)), boxes
        assert pane.view.height() >= pane.view.minimumSizeHint().height()
    assert not grab_image(panel).isNull()
    panel.hide()


def test_keys_reach_the_chart_that_has_the_focus(panel):
    panel.activateWindow()
    QTest.qWaitForWindowActive(panel)
    panel.setFocus()
    assert panel.panes[0].view.hasFocus()
    QTest.keyClick(panel.panes[0].view, Qt.Key.Key_Return)
    assert panel.panes[0].shown.level == "multiprocessor"
