"""The histogram view: what it draws and says of real traces, where a click leads, and its place in the window."""

from __future__ import annotations

import numpy as np
import pytest
from msgspec.structs import replace
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from sessions import grab_image, matmul
from tilescope.app.model.bookmark import Bookmark, Setup, decode, encode
from tilescope.app.model.session import Selection
from tilescope.app.views.counters.view import tiles_of
from tilescope.app.views.histogram.counter import CounterViewData, measured_text, seeds_text
from tilescope.app.widgets.theme import Theme
from tilescope.kernels.scenarios.catalogue import find
from tilescope.tracer.hardware.times.recorded_outcomes import Spread
from tilescope.tracer.model.launch import Schedule
from tilescope.tracer.model.plan import launch_of
from tilescope.tracer.model.trace import Op
from tilescope.tracer.simulator.numba_patch import run
from tilescope.tracer.storage.trace_file import save
from views import H200, LIGHT, counter_session, record_requests, show_histogram
from windows import open_window, press, settle, wait_until

SMALL = {"count": 900, "num_blocks": 2, "threads": 64, "bins": 20}


SESSIONS = {
    "global": lambda: matmul("histogram-global", **SMALL),
    "private": lambda: matmul("histogram-private", **SMALL),
    "counter": counter_session,
}


@pytest.mark.parametrize("theme", [LIGHT, Theme.named("dark", 1.6)])
@pytest.mark.parametrize("name", SESSIONS)
def test_a_moment_looks_the_same_from_wherever_it_is_reached(name, theme):
    session = SESSIONS[name]()
    again = show_histogram(session, 9, Selection(1, 40), theme=theme)
    grab_image(again)
    for moment in (session.end, 5.5, 0):
        again.render_moment(moment, Selection(0, 9))
        grab_image(again)
    again.render_moment(3, Selection(0, 1))
    assert grab_image(again) == grab_image(show_histogram(session, 3, Selection(0, 1), theme=theme))


def test_moments_themes_and_sessions_look_different():
    session = SESSIONS["global"]()
    seen = [show_histogram(session, moment) for moment in (2, 4, 4.5, session.end)]
    seen += [
        show_histogram(session, 4, theme=Theme.named("dark")),
        show_histogram(SESSIONS["private"](), 4),
        show_histogram(None),
    ]
    images = [grab_image(view) for view in seen]
    assert all(a != b for i, a in enumerate(images) for b in images[:i])


def test_reduced_motion_keeps_lanes_on_their_bins():
    still = Theme.named("light", reduced_motion=True)
    session = SESSIONS["global"]()
    assert grab_image(show_histogram(session, 4.5, theme=still)) == grab_image(
        show_histogram(session, 4, theme=still)
    )


@pytest.mark.parametrize("block", [0, 1])
def test_bars_are_the_contents_of_memory_and_end_as_numpy_counts(block):
    session = SESSIONS["private"]()
    samples = session.memory.values(0, 0).astype(np.float64)
    for moment in range(session.end + 1):
        apart, result = show_histogram(session, moment, Selection(block, 0)).bars()
        assert result.values.tolist() == session.memory.values(1, moment).tolist()
        own = session.memory.values(2, moment, block)
        assert (
            apart.values[apart.values >= 0].tolist() == own[session.memory.written(2, moment, block)].tolist()
        )
    assert result.values.tolist() == np.histogram(samples, 20, (-4, 4))[0].tolist()


def test_the_lanes_that_add_now_are_those_of_the_trace():
    session = SESSIONS["global"]()
    trace, requests = session.trace, session.requests
    for moment in range(1, session.end + 1):
        adding = show_histogram(session, moment, Selection(1, 40)).bars()[0].adding
        rows = [r for r in session.memory.accesses_at(moment).tolist() if trace.op[r] >= Op.ATOMIC]
        additions = sorted(
            zip(adding.block.tolist(), adding.thread.tolist(), adding.bin.tolist(), strict=True)
        )
        assert additions == sorted(
            (int(trace.block[r]), int(trace.thread[r]), int(trace.index[r])) for r in rows
        )
        own = [r for r in rows if trace.block[r] == 1 and trace.thread[r] // 32 == 1]
        assert adding.own.sum() == len(own)
        meet = {(int(requests.request[r]), int(trace.index[r])) for r in own}
        if own:
            counts = [sum((int(requests.request[r]), int(trace.index[r])) == m for r in own) for m in meet]
            assert adding.together[adding.own].max() == max(counts)


def test_words_name_progress_meetings_and_the_verdict():
    session = SESSIONS["global"]()
    early = show_histogram(session, 2).accessibleDescription()
    assert "adds 32 samples" in early
    assert "128 of 900 samples counted" in early
    assert "equals" not in early
    most = int(session.histogram_launch.result.contending.max())
    last = show_histogram(session, session.end).accessibleDescription()
    assert "equals np.histogram in all 20 bins" in last
    assert f"at most {most} lanes of a request met, in bin" in last
    assert "loads 32 samples, on their way to" in show_histogram(session, 1).accessibleDescription()


def test_samples_that_are_in_no_bin_are_reported():
    session = matmul("histogram-global", count=20000, num_blocks=8, threads=128)
    samples = session.memory.values(0, 0)
    outside = int(((samples < -4) | (samples >= 4)).sum())
    description = show_histogram(session, session.end).accessibleDescription()
    assert outside > 0
    assert f"{20000 - outside:,} of 20,000 samples counted ({outside} outside \u22124 to 4)" in description
    assert "outside" not in show_histogram(SESSIONS["global"](), 3).accessibleDescription()


def test_differing_bins_are_named():
    session = SESSIONS["global"]()
    wrong = session.histogram_launch.expected.copy()
    wrong[[2, 5, 7, 11, 13]] += 1
    other = replace(session)
    other.__dict__["histogram_launch"] = replace(session.histogram_launch, expected=wrong)
    description = show_histogram(other, session.end).accessibleDescription()
    assert "differs from NumPy in bins 2, 5, 7 and 2 more" in description
    assert grab_image(show_histogram(other, session.end)) != grab_image(show_histogram(session, session.end))


def click(view, x, y):
    asked = record_requests(view, "select")
    QTest.mouseClick(view, Qt.MouseButton.LeftButton, pos=QPoint(round(x), round(y)))
    return asked


def test_a_click_on_a_bin_asks_for_the_thread_that_added_to_it_first():
    session = SESSIONS["global"]()
    view = show_histogram(session, 4)
    field = view.places().plots[0].field
    (asked,) = click(view, field.x + (9 + 0.5) * field.width / 20, field.y + field.height / 2)
    first = int(np.flatnonzero((session.trace.buffer == 1) & (session.trace.index == 9))[0])
    assert asked == Selection(int(session.trace.block[first]), int(session.trace.thread[first]))
    assert click(view, 2, field.y + 5) == []


def test_a_click_on_a_lane_asks_for_its_thread():
    view = show_histogram(SESSIONS["global"](), 4, Selection(1, 40))
    lanes = view.places().lanes
    (asked,) = click(view, lanes.x + (7 + 0.5) * lanes.width / 32, lanes.y + lanes.height / 2)
    assert asked == Selection(1, 32 + 7)


def test_pointing_at_a_bin_shows_its_count_its_span_and_who_adds():
    session = SESSIONS["global"]()
    view = show_histogram(session, 4, Selection(0, 3))
    adding, field = view.bars()[0].adding, view.places().plots[0].field
    place = int(adding.bin[adding.own][0])
    text = view.hover_text(QPointF(field.x + (place + 0.5) * field.width / 20, field.y + field.height - 3))
    low = -4 + place * 0.4
    assert text.startswith(f"bin {place}, samples from {low:.4g} to {low + 0.4:.4g}\n")
    assert (
        f"global memory: {session.memory.values(1, 4)[place]}; NumPy: {session.histogram_launch.expected[place]}"
        in text
    )
    assert "of warp 0 in block 0" in text
    assert view.hover_text(QPointF(1, 1)) == ""


@pytest.mark.parametrize(
    ("schedule", "value", "lost", "why"),
    [
        ("lockstep", "1", "1,023 lost", "every thread loads before any of them stores"),
        ("sequential", "1,024", "none lost", "Sequential hides the race"),
        ("random", "9", "1,015 lost", "Random, seed 3"),
    ],
)
def test_a_racing_counter_shows_lost_additions_and_the_reason(schedule, value, lost, why):
    session = counter_session(schedule)
    description = show_histogram(session, session.end).accessibleDescription()
    for words in (f"counter is {value}, expected 1,024", lost, why):
        assert words in description
    assert "0 of 1,024 additions made, none lost" in show_histogram(session, 0).accessibleDescription()


def test_an_atomic_counter_loses_nothing():
    session = counter_session(name="count-atomic")
    description = show_histogram(session, session.end).accessibleDescription()
    assert "none lost" in description
    assert "one act" in description


def test_additions_are_drawn_from_load_to_store():
    lines = CounterViewData(session := counter_session("random"), session.histogram_launch).lines
    assert len(lines.first) == 1024
    assert (lines.first < lines.last).all()
    assert lines.survives.sum() == 9
    assert (lines.loaded <= lines.stored).all()


def test_the_spread_of_seeds_and_the_gpus_answer_are_described_and_drawn():
    session = counter_session()
    part, all_seeds = Spread((5, 6), 32, (H200,)), Spread((5, 6, 1, 13), 4, (H200,))
    assert seeds_text(part) == "Tracing random schedules: 2 of 32…"
    assert seeds_text(all_seeds) == "4 random schedules: 1 to 13, median 5.5"
    assert seeds_text(Spread(problem="It ended.")) == "It ended."
    assert "too large" in seeds_text(Spread(wanted=0))
    assert measured_text(H200) == "NVIDIA H200: 1 in each of 100 recorded launches"
    views = [show_histogram(session, session.end, spread=spread) for spread in (None, part, all_seeds)]
    images = [grab_image(view) for view in views]
    assert images[0] != images[1] != images[2]
    assert "NVIDIA H200: 1 in each of 100 recorded launches" in views[2].accessibleDescription()
    assert "NVIDIA" not in views[0].accessibleDescription()


@pytest.mark.parametrize("name", SESSIONS)
def test_a_small_view_with_large_text_is_drawn_without_harm(name):
    session = SESSIONS[name]()
    for size in ((200, 160), (320, 260), (1400, 180)):
        for theme in (LIGHT, Theme.named("dark", 1.6)):
            spread = Spread((5, 6, 1, 13), 4, (H200,))
            assert not grab_image(
                show_histogram(session, 3.5, size=size, theme=theme, spread=spread)
            ).isNull()


def test_more_bins_than_pixels_are_drawn():
    session = matmul("histogram-global", count=900, num_blocks=2, threads=64, bins=4096)
    view = show_histogram(session, session.end, size=(400, 300))
    assert view.bin_at(QPointF(395 - 8, 150))[1] > 4000
    assert grab_image(view) != grab_image(show_histogram(session, 1, size=(400, 300)))


def test_atomics_are_counted_next_to_the_other_counters():
    private, plain = SESSIONS["private"](), SESSIONS["global"]()
    texts = {tile.label: tile.text(private.end) for tile in tiles_of(private)}
    assert (texts["global atomics"], texts["shared atomics"]) == ("40", "900")
    texts = {tile.label: tile.text for tile in tiles_of(plain)}
    assert (texts["global atomics"](plain.end), texts["global atomics"](0)) == ("900", "0")
    assert "shared atomics" not in texts
    assert not any("atomics" in tile.label for tile in tiles_of(matmul("transpose-naive", rows=8, cols=8)))


# In the window


def test_the_switch_is_there_for_launches_that_count_and_h_turns_it():
    spec = "histogram-global:count=200,num_blocks=1,threads=32"
    with open_window((spec, "vector-double:count=64,threads=32")) as window:
        left, right = window.central.panes
        assert left.switch.isVisible()
        assert left.stack.currentWidget() is left.histogram
        assert not right.switch.isVisible()
        assert right.stack.currentWidget() is right.memory
        press(window, "H")
        assert left.stack.currentWidget() is left.memory
        assert window.bookmark().picture == "memory"
        left.switch.buttons["histogram"].click()
        QApplication.processEvents()
        assert left.stack.currentWidget() is left.histogram
        window.change_setups((Setup("vector-double", {"count": 64}),))
        settle(window)
        assert not window.central.panes[0].switch.isVisible()


def test_a_bookmark_keeps_the_picture_and_the_words():
    setups = (Setup("histogram-global", {"count": 200, "num_blocks": 1, "threads": 32}),)
    mark = decode(encode(Bookmark(setups, picture="memory", words="work-item")))
    with open_window(mark=mark) as window:
        pane = window.central.panes[0]
        assert pane.stack.currentWidget() is pane.memory
        assert (window.bookmark().picture, window.bookmark().words) == ("memory", "work-item")
        window.show_bookmark(replace(mark, picture="auto", words="own"))
        settle(window)
        assert pane.stack.currentWidget() is pane.histogram


def test_seeds_are_traced_while_the_window_runs_until_all_are_there():
    with open_window(("count-racing:num_blocks=2,threads=40",)) as window:
        view = window.central.panes[0].histogram
        wait_until(lambda: view.spread is not None and len(view.spread.totals) == 32)
        wait_until(window.central.results.spreads.is_idle)
        assert all(1 <= total < 80 for total in view.spread.totals)
        assert view.spread.measured == ()
        seen = view.spread
        window.change_setups(
            (Setup("count-racing", {"num_blocks": 2, "threads": 40}, Schedule("sequential")),)
        )
        settle(window)
        assert window.central.panes[0].histogram.spread == seen


def test_seeds_of_a_kernel_that_came_with_a_file_are_not_traced_unasked(tmp_path):
    launch = launch_of(find("count-racing"), {"num_blocks": 1, "threads": 8})
    other = replace(launch, source=launch.source + "\n# changed\n")
    path = tmp_path / "foreign.npz"
    save(run(other, lambda done, total: None), path)
    with open_window((str(path),)) as window:
        pane = window.central.panes[0]
        assert pane.stack.currentWidget() is pane.histogram
        assert window.central.results.spreads.is_idle()
        assert pane.histogram.spread is None


def test_a_pitfall_is_marked_in_the_head():
    with open_window(("matmul-tiled-row-on-x:k=24", "matmul-tiled:m=16,k=16,n=16,tile=8")) as window:
        wrong, right = window.central.panes
        assert wrong.heading.pitfall.isVisible()
        assert find("matmul-tiled-row-on-x").pitfall in wrong.heading.pitfall.toolTip()
        assert "It is wrong as it opens, with K 8" in wrong.heading.pitfall.toolTip()
        assert not right.heading.pitfall.isVisible()


def test_a_block_of_fewer_threads_than_a_warp_has_no_lanes_but_theirs():
    view = show_histogram(matmul("histogram-global", **SMALL | {"threads": 8}), 2, Selection(1, 3))
    lanes = view.places().lanes
    grab_image(view)
    for lane in range(8):
        assert view.lane_at(QPointF(lanes.x + (lane + 0.5) * lanes.width / 8, lanes.middle)) == lane
    assert view.lane_at(QPointF(lanes.right + 3, lanes.middle)) is None


RACING_PROGRAM = """import numpy as np
from numba import cuda


@cuda.jit
def add_up(a, total):
    total[0] += a[cuda.threadIdx.x]


for first in (100, 200):
    total = np.zeros(1, np.int32)
    add_up[1, 4](np.full(4, first, np.int32), total)
"""


def test_seeds_of_a_program_s_launches_have_the_inputs_of_each_launch(tmp_path):
    (tmp_path / "totals.py").write_text(RACING_PROGRAM)
    with open_window() as window:
        window.files.run_program(str(tmp_path / "totals.py"))
        wait_until(lambda: [s and s.trace.kernel for s in window.stage.sessions] == ["add_up", "add_up"])
        views = [pane.histogram for pane in window.central.panes[:2]]
        wait_until(lambda: all(view.spread and len(view.spread.totals) == 32 for view in views))
        for view, first in zip(views, (100, 200), strict=True):
            assert {total % first for total in view.spread.totals} == {0} and max(view.spread.totals) >= first
