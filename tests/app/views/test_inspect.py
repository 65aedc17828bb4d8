"""Counters, source, thread inspector and explanation: what they show of real traces, held against the traces."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from msgspec.structs import replace
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QFontMetricsF
from PySide6.QtTest import QTest

from launching import Array, launch, trace
from sessions import grab_image, matmul, uneven_session
from synthetic_profiles import replace_recorded_profiles, synthetic_profile, synthetic_record
from tilescope.app.model.session import Selection, build_session
from tilescope.app.views.counters.tiles import NAME, grid_of, mark_width
from tilescope.app.views.counters.view import STYLES, CountersView
from tilescope.app.views.inspect.explain import ExplainView
from tilescope.app.views.inspect.thread import ThreadView
from tilescope.app.views.source.view import SourceView
from tilescope.app.widgets.theme import Theme
from tilescope.tracer.model.trace import Op
from views import LEFT, LIGHT, record_requests, show_panel

VIEWS = (CountersView, SourceView, ThreadView, ExplainView)


@pytest.fixture(scope="module")
def tiled():
    return matmul(m=20, k=12, n=28, tile=8)


@pytest.mark.parametrize("kind", VIEWS)
@pytest.mark.parametrize("theme", [LIGHT, Theme.named("dark", 1.6)])
def test_a_moment_looks_the_same_from_wherever_it_is_reached(kind, theme, tiled):
    again = show_panel(kind, tiled, 9, Selection(2, 40), theme=theme)
    grab_image(again)
    for moment in (tiled.end, 200, 31):
        again.render_moment(moment, Selection(5, 9))
    again.render_moment(3, Selection(0, 1))
    assert grab_image(again) == grab_image(show_panel(kind, tiled, 3, Selection(0, 1), theme=theme))


@pytest.mark.parametrize("kind", VIEWS)
def test_a_view_shows_the_session_that_was_loaded_last(kind, tiled):
    view = show_panel(kind, matmul("matmul-naive-col-on-x", m=8, k=4, n=8, tile=8), 2)
    before = grab_image(view)
    view.load(tiled)
    view.render_moment(3, Selection())
    assert grab_image(view) == grab_image(show_panel(kind, tiled, 3)) != before
    view.load(None)
    assert grab_image(view) == grab_image(show_panel(kind, None, 3))


@pytest.mark.parametrize("kind", VIEWS)
def test_a_changed_theme_leaves_nothing_of_the_one_before(kind, tiled):
    view, dark = show_panel(kind, tiled, 40), Theme.named("dark", 1.4)
    view.set_theme(dark)
    assert grab_image(view) == grab_image(show_panel(kind, tiled, 40, theme=dark))


# Counters


def numbers(view, moment):
    return {tile.label: tile.text(moment) for tile in view.tiles}


def test_the_numbers_are_those_of_the_trace(tiled):
    view, trace, requests = show_panel(CountersView, tiled), tiled.trace, tiled.requests
    glob = np.array([b.space == "global" for b in trace.buffers])
    for moment in (0, 1, 57, tiled.end):
        done = requests.moment <= moment
        own_requests = glob[requests.buffer] & done
        a = next(b for b, buffer in enumerate(trace.buffers) if buffer.name == "a")
        reads = int((done[requests.request] & (trace.buffer == a) & (trace.op == Op.LOAD)).sum())
        expected = {
            "global sectors": f"{int(requests.sectors[own_requests].sum()):,}",
            "global requests": f"{int(own_requests.sum()):,}",
            "shared requests": f"{int((done & ~glob[requests.buffer]).sum()):,}",
            "mean reads of A": f"{reads / (20 * 12):.1f}×",
        }
        assert numbers(view, moment).items() >= expected.items()
    assert list(numbers(view, 0)) == [
        "global sectors", "global requests", "global bytes", "shared requests", "mean reads of A", "mean reads of B",
    ]  # fmt: skip


@pytest.mark.parametrize("scale", [1.0, 1.6])
@pytest.mark.parametrize("width", [330, 420, 560, 800, 1300])
def test_numbers_labels_and_marks_fit_their_tiles(tiled, width, scale):
    theme = Theme.named("light", scale)
    view = show_panel(CountersView, tiled, size=(width, 60), theme=theme)
    view.resize(width, view.heightForWidth(width))
    ranked = sorted(view.tiles, key=lambda t: t.rank)
    grid_shown, grid = view.shown(), grid_of(ranked, width, "exact", theme, STYLES["tall"])
    big, small = theme.font(grid.style.number, bold=True), theme.font(NAME)
    for tile, box in grid_shown:
        number = QFontMetricsF(big).horizontalAdvance(tile.text(tiled.end))
        name, mark = QFontMetricsF(small).horizontalAdvance(tile.label), mark_width("exact", theme)
        used = max(number + mark, name) if grid.style.mark_at_number else max(number, name + mark)
        assert used < box.width() and box.right() <= width + 0.1 and box.bottom() <= view.height() + 0.1
    assert not any(a.intersects(b) for (_, a), (_, b) in itertools.combinations(grid_shown, 2))
    assert "global sectors" in [tile.label for tile, _ in grid_shown] and len(grid_shown) >= max(
        1, min(4, int(width / (140 * scale)))
    )


def test_a_part_of_a_launch_is_never_shown_as_a_total():
    part = matmul(m=20, k=12, n=28, tile=8, blocks=(5,))
    view = show_panel(CountersView, part)
    assert view.mark == "part" and "1 of 12 blocks" in view.notice
    assert view.notice in view.accessibleDescription() and "part" in view.accessibleDescription()
    assert view.heightForWidth(420) > show_panel(
        CountersView, matmul(m=20, k=12, n=28, tile=8)
    ).heightForWidth(420)


def test_a_capped_trace_shows_the_counters_of_all(tiled):
    totals = {"global_load_sectors": 7000, "global_store_sectors": 70, "global_load_requests": 90}
    capped = replace(tiled.trace, accesses=10**9, totals=totals, notice="Only the first rows are kept.")
    view = show_panel(CountersView, replace(tiled, trace=capped))
    assert view.mark == "exact" and view.notice == "Counters of the complete launch, at any moment."
    for moment in (0, 40):
        assert numbers(view, moment)["global sectors"] == "7,070"
        assert numbers(view, moment)["global requests"] == "90"
        assert not any("mean reads" in name for name in numbers(view, moment))


# Thread


def facts_of(view):
    return {name: label.text().replace("\u00a0", " ") for name, label in view.values.items()}


def accesses_of(session, block, thread):
    """Return (moment, row) of each access of a thread, in order."""
    trace, requests = session.trace, session.requests
    rows = [r for r in range(len(trace)) if trace.block[r] == block and trace.thread[r] == thread]
    return [(int(requests.moment[requests.request[r]]), r) for r in rows]


def test_the_rows_say_what_the_thread_is_and_does(tiled):
    block, thread = 5, 8 * 3 + 5  # (1, 1) of a grid of 4 x 3, (5, 3) of a block of 8 x 8
    view, trace = show_panel(ThreadView, tiled, 0, Selection(block, thread)), tiled.trace
    assert facts_of(view) | {"Now": ""} == {
        "Element": "C[11, 13]", "Warp, lane": "0, 29",
        "Phase": "0: load tile 0", "Now": "", "Variables": "",
    }  # fmt: skip
    assert facts_of(view)["Now"] == "not started yet"
    verbs = {Op.LOAD: "reads", Op.STORE: "writes"}
    for moment, row in accesses_of(tiled, block, thread):
        view.render_moment(moment + 0.9, Selection(block, thread))
        buffer = trace.buffers[trace.buffer[row]]
        place = np.unravel_index(int(trace.index[row]), buffer.shape)
        name = buffer.name if buffer.space == "shared" else buffer.name.upper()
        value = f"{float(trace.value[row]):.4g}"
        expected = f"{verbs[Op(trace.op[row])]} {name}[{place[0]}, {place[1]}] = {value}"
        assert facts_of(view)["Now"] == expected
    assert facts_of(view)["Phase"] == "4: store C"
    assert "ty = 3, total = " in facts_of(view)["Variables"]
    view.render_moment(tiled.end, Selection(block, thread))
    assert facts_of(view)["Now"] == "finished"


def test_waiting_idle_lanes_and_missing_blocks_are_described(tmp_path):
    session = uneven_session(tmp_path)
    view = show_panel(ThreadView, session, 2, Selection(0, 40))
    assert facts_of(view)["Now"] == "waits at the barrier"
    end = int(session.requests.moment[session.requests.block == 0].max())
    view.render_moment(end, Selection(0, 4))
    assert facts_of(view)["Now"] in ("finished", "no access: other lanes of its warp access memory")
    assert facts_of(view)["Element"] == "none: it stores nothing in global memory"
    part = matmul(m=20, k=12, n=28, tile=8, blocks=(5,))
    assert (
        facts_of(show_panel(ThreadView, part, 3, Selection(1, 0)))["Now"]
        == "the trace holds no accesses of this block"
    )


def test_the_list_holds_the_accesses_around_and_a_click_goes_there(tiled):
    accesses = accesses_of(tiled, 0, 9)
    view = show_panel(ThreadView, tiled, accesses[20][0], Selection(0, 9))
    moments = [view.list.item(i).data(Qt.ItemDataRole.UserRole) for i in range(view.list.count())]
    assert moments == [moment for moment, _ in accesses[14:27]]
    assert [view.list.item(i).font().bold() for i in range(13)] == [i == 6 for i in range(13)]
    asked = record_requests(view, "seek")
    middle = view.list.visualItemRect(view.list.item(8)).center()
    QTest.mouseClick(view.list.viewport(), Qt.MouseButton.LeftButton, pos=middle)
    assert asked == [float(accesses[22][0])]
    view.render_moment(0, Selection(0, 9))
    assert view.list.item(0).data(Qt.ItemDataRole.UserRole) == accesses[0][0]


@pytest.mark.parametrize("scale", [1.0, 1.6])
def test_the_values_of_a_thread_stand_below_one_another_and_its_boxes_are_as_large_as_fields(tiled, scale):
    theme = Theme.named("light", scale)
    view = show_panel(ThreadView, tiled, 3, size=(380, 480), theme=theme)
    grab_image(view)
    assert {label.x() for label in view.values.values()} == {view.pick_block.x()}
    assert view.swatch.geometry().right() < view.values["Now"].x()
    for box in (*view.pick_block.boxes[:2], *view.pick_thread.boxes[:2]):
        assert box.height() >= theme.px(26) and box.font().pixelSize() >= theme.px(13)
        assert box.mapTo(view, box.rect().bottomRight()).x() <= 380


def test_the_boxes_ask_for_a_block_and_a_thread(tiled):
    view = show_panel(ThreadView, tiled, 3, Selection(5, 29))
    assert [box.value() for box in view.pick_block.boxes] == [1, 1, 0]
    assert [box.value() for box in view.pick_thread.boxes] == [5, 3, 0]
    asked = record_requests(view, "select")
    view.pick_block.boxes[1].setValue(2)
    view.pick_thread.boxes[0].setValue(7)
    assert asked == [Selection(9, 29), Selection(5, 31)]
    assert view.pick_block.boxes[2].isHidden() and view.pick_block.boxes[0].maximum() == 3


# Explanation


def words(view):
    return " ".join(view.label.text().replace("&nbsp;", " ").split())


def test_a_phase_is_explained_with_what_it_costs(tiled):
    view = show_panel(ExplainView, tiled, 1)
    requests, scenario = tiled.requests, tiled.scenario
    first = (requests.block == 0) & (requests.phase == 0)
    sectors = int(requests.sectors[first].sum())
    stores = int(
        (first & np.array([b.space == "shared" for b in tiled.trace.buffers])[requests.buffer]).sum()
    )
    assert scenario.lesson in words(view) and scenario.phases[0].sentence in words(view)
    assert "<b>Load tile 0</b>" in words(view) and "exact" in words(view)
    assert (
        f"In this phase 64 threads of block (0, 0) load 128 elements of A and B ({sectors} sectors) and store "
        f"128 elements of tile_a and tile_b in shared memory twice each ({stores} requests)."
    ) in words(view)
    compute = int(requests.moment[(requests.block == 0) & (requests.phase == 1)].max())
    view.render_moment(compute, Selection())
    assert "load 128 elements of tile_a and tile_b from shared memory 8 times each (32 requests)" in words(
        view
    )
    view.render_moment(int(requests.moment[requests.block == 0].max()), Selection())
    assert "store 64 elements of C" in words(view) and scenario.last.sentence in words(view)


def test_a_launch_is_explained_by_what_a_gpu_has_room_for_and_what_was_counted_there(monkeypatch):
    session = matmul("matmul-tiled")
    replace_recorded_profiles(monkeypatch, None)
    view = show_panel(ExplainView, session, 1)
    text = view.label.text()
    assert "On a GPU" in text
    assert "room for 8 blocks of it at once" in text
    assert "modelled" in text and "measured" not in text
    profile = synthetic_profile("matmul-tiled", m=64, k=64, n=64, tile=16, dtype="float32")
    replace_recorded_profiles(monkeypatch, synthetic_record(profile))
    view.load(session)
    text = view.label.text().replace("&nbsp;", " ")
    assert "33.0 kB read from DRAM, 0 B written; L1 had 12.5 %" in text
    assert "measured" in text and "NVIDIA H200, 2026-11-23" in text


def test_other_kernels_are_explained_from_the_trace(tmp_path):
    session = uneven_session(tmp_path)
    view = show_panel(ExplainView, session, 1)
    assert "<b>Phase 0</b>" in words(view)
    assert "32 threads of block 0 load 32 elements of a 5 times each" in words(view).replace(" A ", " a ")
    view.render_moment(session.end, Selection(2, 0))
    assert "update 1 element of out (16 sectors)" in words(view) or "update 1 element of out" in words(view)


def test_a_block_outside_the_trace_is_not_explained():
    part = matmul(m=20, k=12, n=28, tile=8, blocks=(5,))
    assert "The trace holds no accesses of this block." in words(
        show_panel(ExplainView, part, 3, Selection(6, 0))
    )


def test_an_empty_launch_can_be_shown(tiled):
    none = np.zeros(0, np.uint8)
    columns = dict.fromkeys(("block", "thread", "phase", "op", "buffer", "site", "index", "steps"), none)
    barriers = replace(tiled.trace.barriers, block=none, thread=none, phase=none, site=none, step=none)
    trace = replace(tiled.trace, **columns, value=np.zeros(0, np.float32), barriers=barriers, accesses=0)
    session = build_session(tiled.launch, trace, tiled.scenario)
    for kind in VIEWS:
        assert not grab_image(show_panel(kind, session, 0)).isNull()


@pytest.mark.parametrize("dtype", ["int32", "float32", "uint64", "float64"])
@pytest.mark.parametrize("wider", ["", "float64"])
def test_a_value_of_unwritten_memory_is_called_so_and_others_are_not(tmp_path, dtype, wider):
    source = f"""
from numba import {dtype}
@cuda.jit
def kernel(a, other, out):
    s = cuda.shared.array(9, {dtype})
    t = cuda.threadIdx.x
    s[t] = a[t]
    other[t] = t
    cuda.syncthreads()
    out[t] = s[t] + s[t + 1]
"""
    arrays = (Array((8,), dtype, "arange"), Array((8,), wider or dtype), Array((8,), dtype))
    options = {"arguments": arrays, "block": (8, 1, 1)}
    session = build_session(launch(tmp_path, source, **options), trace(tmp_path, source, **options), None)
    view = show_panel(ThreadView, session, session.end, Selection(0, 7))
    texts = [view.list.item(i).text() for i in range(view.list.count())]
    reads = [text for text in texts if "reads" in text]
    assert [("s[8]" in text) == ("unwritten memory" in text) for text in reads] == [True] * 3
    view.render_moment(1, Selection())
    assert not [i for i in range(view.list.count()) if "unwritten" in view.list.item(i).text()]


def test_a_thread_steps_to_its_next_line_and_back(tiled):
    chosen = Selection(5, 29)
    view = show_panel(ThreadView, tiled, 0, chosen)
    moments, lines, visited = record_requests(view, "seek"), [], set()
    for moment, row in accesses_of(tiled, 5, 29):
        site = int(tiled.trace.site[row])
        line = tiled.trace.sites[site].line
        if not lines or lines[-1][1] != line or site in visited:  # another line, or another round of a loop
            lines.append((moment, line))
            visited = set()
        visited.add(site)
    assert len(lines) > len({line for _, line in lines}) > 3
    for moment, _ in lines:
        QTest.mouseClick(view.line_after, LEFT)
        assert moments[-1] == moment
        view.render_moment(moment, chosen)
    assert not view.line_after.isEnabled()
    for moment, _ in reversed(lines[:-1]):
        QTest.mouseClick(view.line_before, LEFT)
        assert moments[-1] == moment
        view.render_moment(moment, chosen)
    assert not view.line_before.isEnabled()


def test_a_watched_expression_has_a_cell_for_each_thread(tiled):
    view = show_panel(ThreadView, tiled, tiled.end, Selection(5, 29))
    assert view.watch_picture.isHidden()
    QTest.keyClicks(view.watch, "total")
    QTest.keyClick(view.watch, Qt.Key.Key_Return)
    rows = [accesses_of(tiled, 5, thread)[-1][1] for thread in range(64)]
    values = view.watch_picture.values
    np.testing.assert_allclose(
        [np.nan if value is None else value for value in values],
        [tiled.trace.value[row] if tiled.trace.op[row] == Op.STORE else np.nan for row in rows],
        rtol=1e-5,
    )
    assert view.watch_picture.text_of(29).startswith("thread (5, 3): ")
    picked = record_requests(view, "select")
    view.layout().activate()
    QTest.mouseClick(view.watch_picture, LEFT, pos=QPoint(1, 1))
    assert picked == [Selection(5, 0)]
    view.watch.setText("tile_a[0, 0]")
    QTest.keyClick(view.watch, Qt.Key.Key_Return)
    assert "no elements of arrays" in view.watch_note.text() and view.watch_picture.isHidden()
