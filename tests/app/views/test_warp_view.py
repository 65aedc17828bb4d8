"""The warp view: its texts and drawings of a request, compared with direct counts, and its clicks."""

from __future__ import annotations

import itertools
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QMouseEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from bank_passes import count_wavefronts
from launching import Array, launch, trace
from sessions import grab_image, matmul, uneven_session
from tilescope.app.model.session import Selection, build_session
from tilescope.app.views.warp.lanes import lanes_of
from tilescope.app.views.warp.lanes_text import figures, lane_text, sentence, target_text
from tilescope.app.widgets.theme import Theme
from tilescope.tracer.model.trace import Op
from traces import programs, trace_of
from views import LIGHT, first_request, record_requests, show_warp

SMALL = {"m": 32, "k": 32, "n": 32}


def cost_text(session, request):
    return sentence(figures(lanes_of(session, request))).replace("\u00a0", " ")


def accesses(session, request):
    """Return (lane, first byte, byte after the last) of each access of a request."""
    trace, requests = session.trace, session.requests
    rows = np.flatnonzero(requests.request == request)
    buffer = trace.buffers[int(requests.buffer[request])]
    first = [buffer.address + int(trace.index[row]) * buffer.unit for row in rows]
    size = np.dtype(buffer.dtype).itemsize
    return [(int(trace.thread[r]) % 32, a, a + size) for r, a in zip(rows, first, strict=True)]


# Figures, by hand


def test_the_row_on_x_costs_sixteen_sectors_for_a_and_one_for_b():
    session = matmul("matmul-naive-row-on-x", **SMALL)
    a, b = (first_request(session, "global load", name) for name in "ab")
    touched = [{byte // 32 for _, byte, _ in accesses(session, request)} for request in (a, b)]
    assert [len(sectors) for sectors in touched] == [16, 1]
    assert cost_text(session, a) == "32 lanes · 16 sectors, 2 would do · 12.5 % of the bytes used"
    assert cost_text(session, b) == "32 lanes · 1 sector, the least · 25 % of the bytes used"
    lanes = lanes_of(session, a)
    assert set(lanes.targets.tolist()) == touched[0]
    assert lane_text(lanes, 5) == (
        f"Lane 5, thread (5, 0), reads A[5, 0] = {session.trace.value[lanes.row[5]]:.4g}, at 0x0280. "
        "Its sector 0x0280: 4 of 32 bytes used, also by lane 21."
    )


def test_a_transposed_tile_takes_32_wavefronts_and_a_padded_one_takes_one():
    tile, padded = matmul("transpose-tile"), matmul("transpose-padded")
    bad, good = (first_request(s, "shared load", "cells") for s in (tile, padded))
    assert cost_text(tile, bad) == "32 lanes · 32 wavefronts instead of 1"
    assert cost_text(padded, good) == "32 lanes · 1 wavefront, no conflict"
    lanes = lanes_of(tile, bad)
    assert {(byte // 4) % 32 for _, byte, _ in accesses(tile, bad)} == set(lanes.targets.tolist()) == {0}
    assert lanes.neighbours(7) == list(range(32)) and lanes.same_element_lanes(7) == [7]
    assert lane_text(lanes, 7).endswith("Bank 0: collides with lanes 0 to 6 and 8 to 31.")
    assert target_text(lanes, 0).startswith("Bank 0 of 32: 32 words of 4 bytes, so 32 wavefronts")
    assert target_text(lanes, 9) == "Bank 9 of 32: not accessed."


def test_a_word_that_lanes_share_is_a_broadcast_and_no_conflict():
    session = matmul(**SMALL)
    request = first_request(session, "shared load", "tile_a")
    assert cost_text(session, request) == "32 lanes · 1 wavefront: a word is broadcast, no conflict"
    lanes = lanes_of(session, request)
    words = Counter(byte // 4 for _, byte, _ in accesses(session, request))
    assert {(p.first // 4, len(p.lanes)) for p in lanes.touched} == set(words.items())
    assert lane_text(lanes, 3).endswith("Bank 0: same word as lanes 0 to 2 and 4 to 15, no conflict.")


def test_lanes_of_an_atomic_take_turns():
    session = matmul("count-atomic")
    assert cost_text(session, 0) == "32 lanes · 1 element · 32 lanes take turns at one · 32 sectors"


@pytest.mark.parametrize(
    ("dtype", "words"),
    [
        ("uint8", "32 lanes · 1 wavefront: a word is broadcast, no conflict"),
        ("float64", "32 lanes · 2 wavefronts, no conflict"),
        ("complex128", "32 lanes · 4 wavefronts, no conflict"),
    ],
)
def test_elements_of_other_sizes_touch_parts_of_a_word_or_several_banks(tmp_path, dtype, words):
    source = f"""
    @cuda.jit
    def kernel(a):
        line = cuda.shared.array(32, {dtype!r})
        line[cuda.threadIdx.x] = a[cuda.threadIdx.x]
    """
    options = {"arguments": (Array((32,), dtype),), "block": (32, 1, 1)}
    session = build_session(launch(tmp_path, source, **options), trace(tmp_path, source, **options), None)
    request = first_request(session, "shared store", "line")
    assert cost_text(session, request) == words
    lanes, size = lanes_of(session, request), np.dtype(dtype).itemsize
    for lane, first, end in accesses(session, request):
        own_pieces = [p for p in lanes.touched if lane in p.lanes]
        assert [p.target for p in own_pieces] == [w % 32 for w in range(first // 4, (end - 1) // 4 + 1)]
    assert len(lanes.targets) == min(32, 32 * size // 4)


def shared_request(folder, dtype, element, condition="True"):
    """Return lane by lane a request that stores elements of shared memory."""
    source = f"""
    @cuda.jit
    def kernel(a):
        line = cuda.shared.array(512, {dtype!r})
        t = cuda.threadIdx.x
        if {condition}:
            line[{element}] = 1
    """
    options = {"arguments": (Array((32,), dtype),), "block": (32, 1, 1)}
    session = build_session(launch(folder, source, **options), trace(folder, source, **options), None)
    return lanes_of(session, first_request(session, "shared store", "line"))


@pytest.mark.parametrize(
    ("element", "condition", "words"),
    [
        ("t", "8 <= t < 24", "16 lanes · 2 wavefronts, no conflict"),
        ("t", "t < 16", "16 lanes · 1 wavefront, no conflict"),
        ("t", "t % 2 == 0", "16 lanes · 2 wavefronts instead of 1"),
        ("t // 2", "True", "32 lanes · 1 wavefront: a word is broadcast, no conflict"),
        ("t % 8", "True", "32 lanes · 2 wavefronts: a word is broadcast, no conflict"),
        ("2 * t", "True", "32 lanes · 4 wavefronts instead of 2"),
    ],
)
def test_halves_of_a_warp_ask_for_elements_of_8_bytes(tmp_path, element, condition, words):
    lanes = shared_request(tmp_path, "float64", element, condition)
    assert sentence(figures(lanes)) == words


def test_lanes_of_two_halves_of_a_warp_do_not_collide(tmp_path):
    apart = shared_request(tmp_path, "float64", "2 * t")
    assert lane_text(apart, 3).endswith("Banks 12 and 13: collides with lane 11.")
    assert target_text(apart, 12) == (
        "Bank 12 of 32: 4 words of 4 bytes, so 4 wavefronts, accessed by lanes 3, 11, 19 and 27."
    )
    same = shared_request(tmp_path, "float64", "t % 8")
    assert lane_text(same, 3).endswith("Banks 6 and 7: same word as lane 11, no conflict.")
    assert target_text(same, 6) == (
        "Bank 6 of 32: 1 word of 4 bytes, in 2 wavefronts, accessed by lanes 3, 11, 19 and 27."
    )


@settings(max_examples=60)
@given(programs())
def test_the_pieces_are_what_is_counted(drawn_programs):
    """Sectors and wavefronts of any request follow from the pieces that are drawn, on buffers of many kinds."""
    trace = trace_of(drawn_programs)
    session = build_session(matmul(**SMALL).launch, trace, None)
    for request in range(len(session.requests)):
        lanes = lanes_of(session, request)
        pieces = accesses(session, request)
        assert {lane for lane, _, _ in pieces} == set(lanes.active)
        if lanes.buffer.space == "global":
            used = {byte for _, first, end in pieces for byte in range(first, end)}
            assert sum(p.end - p.first for p in lanes.touched) == len(used)
            assert {byte // 32 for byte in used} == set(lanes.targets.tolist())
            if not lanes.is_atomic:
                assert len(lanes.targets) == lanes.cost >= lanes.minimum >= 1
        if lanes.buffer.space == "shared":
            first_bytes = {lane: first for lane, first, _ in pieces}
            assert lanes.cost == count_wavefronts(first_bytes, lanes.buffer.itemsize) >= lanes.minimum >= 1
            words = {(lane, word) for lane, a, end in pieces for word in range(a // 4, (end - 1) // 4 + 1)}
            assert {(lane, p.first // 4) for p in lanes.touched for lane in p.lanes} == words
            depth = Counter((p.part, p.target) for p in lanes.touched)
            parts = {part for part, _ in depth}
            assert lanes.cost == sum(max(n for (p, _), n in depth.items() if p == part) for part in parts)


# Time


@pytest.mark.parametrize("choice", ["now", "worst"])
@pytest.mark.parametrize("theme", [LIGHT, Theme.named("dark", 1.6)])
def test_a_moment_looks_the_same_from_wherever_it_is_reached(choice, theme):
    session = matmul("matmul-naive-row-on-x", **SMALL)
    views = []
    for moments in ((9, 3), (3,), (session.end, 0, 3)):
        view = show_warp(session, moments[0], Selection(1, 40), theme=theme)
        view.choice = choice
        for moment in moments[1:]:
            view.render_moment(moment, Selection(0, 40))
        view.render_moment(moments[-1], Selection(0, 40))
        views.append(grab_image(view))
    assert views[0] == views[1] == views[2]


def test_a_view_shows_the_session_and_theme_that_came_last():
    first, other = matmul("matmul-naive-row-on-x", **SMALL), matmul("transpose-tile")
    view = show_warp(first)
    before = grab_image(view)
    view.load(other)
    dark = Theme.named("dark", 1.4)
    view.set_theme(dark)
    view.render_moment(3, Selection())
    view.render_moment(1, Selection())
    assert grab_image(view) == grab_image(show_warp(other, theme=dark)) != before
    view.load(None)
    assert grab_image(view) == grab_image(show_warp(None, theme=dark))


def test_between_requests_the_last_one_stays_and_the_title_reports_it(tmp_path):
    session = uneven_session(tmp_path)
    view = show_warp(session, 2, Selection(0, 40))  # its warp makes no request before the barrier
    assert (view.title.text(), view.state.text()) == ("No request yet", "It waits at the barrier.")
    last = int(session.requests.moment[session.requests.block == 0].max())
    view.render_moment(last + 1, Selection(0, 3))
    own_requests = (session.requests.block == 0) & (session.requests.warp == 0)
    assert view._shown.request == np.flatnonzero(own_requests)[-1]
    assert view.state.text() == "It has finished; its last request is shown."
    view.render_moment(0, Selection(2, 0))
    assert view.state.text() == "Its block has not started."


def test_idle_lanes_and_lanes_without_a_thread_look_different():
    session = matmul("sum-interleaved")
    requests = session.requests
    partly = int(np.flatnonzero(requests.lanes == 8)[0])
    selection = Selection(int(requests.block[partly]), int(requests.warp[partly]) * 32 + 1)
    view = show_warp(session, int(requests.moment[partly]), selection)
    assert sentence(figures(view._shown)).startswith("8 lanes") and view._shown.row[1] == -1
    assert (
        view.description.text() == f"Lane 1, thread {selection.thread}, is idle: it accesses no memory here."
    )
    three = show_warp(matmul("barrier-three-threads"))
    assert three._shown.present.sum() == 3
    assert lane_text(three._shown, 3) == "Lane 3 has no thread: a block has 3 threads."


# Pointer and keys


def middle(box):
    return QPoint(round(box.x + box.width / 2), round(box.middle))


def move(widget, spot):
    """Move the pointer, with no button pressed."""
    place, none = QPointF(spot), Qt.MouseButton.NoButton
    where = (place, place, place, none, none, Qt.KeyboardModifier.NoModifier)
    QApplication.sendEvent(widget, QMouseEvent(QEvent.Type.MouseMove, *where))


def test_a_click_on_a_lane_asks_for_its_thread():
    session = matmul("matmul-naive-row-on-x", **SMALL)
    start = int(session.requests.moment[session.requests.block == 3].min())
    view = show_warp(session, start, Selection(3, 70))
    asked, layout = record_requests(view, "select"), view.picture.layout_now()
    for spot in (
        middle(layout.chips[9]),
        middle(layout.slices[4]),
        QPoint(3, round(layout.chips[31].middle)),
    ):
        QTest.mouseClick(view.picture, Qt.MouseButton.LeftButton, pos=spot)
    owner = view._shown.touched[4].lanes[0]
    assert asked == [Selection(3, 64 + 9), Selection(3, 64 + owner), Selection(3, 64 + 31)]


def test_a_lane_without_a_thread_cannot_be_chosen():
    view = show_warp(matmul("vector-double", count=40, threads=40), 1, Selection(0, 35))
    asked, chips = record_requests(view, "select"), view.picture.layout_now().chips
    QTest.mouseClick(view.picture, Qt.MouseButton.LeftButton, pos=middle(chips[9]))
    assert asked == [] and len(chips) == 32
    QTest.mouseClick(view.picture, Qt.MouseButton.LeftButton, pos=middle(chips[3]))
    assert asked == [Selection(0, 35)]


@pytest.mark.parametrize("tile", [2, 4])
def test_a_block_of_fewer_threads_than_a_warp_has_no_lanes_but_theirs(tile):
    session = matmul("matmul-tiled", m=8, k=8, n=8, tile=tile)
    for buffer, kind in (("a", "global load"), ("tile_a", "shared load")):
        moment = int(session.requests.moment[first_request(session, kind, buffer)])
        view = show_warp(session, moment)
        layout = view.picture.layout_now()
        assert len(layout.chips) == tile * tile
        assert layout.chips[-1].bottom <= view.picture.height()
        assert layout.lane_at(3, layout.chips[-1].middle) == tile * tile - 1
        assert layout.lane_at(3, layout.chips[-1].bottom + 1) is None
        assert kind != "shared load" or len(layout.targets) == 32  # there are as many banks as ever


def test_the_keys_go_from_lane_to_lane():
    view = show_warp(matmul("matmul-naive-row-on-x", **SMALL), 1, Selection(0, 31))
    asked = record_requests(view, "select")
    QTest.keyClick(view.picture, Qt.Key.Key_Down)
    QTest.keyClick(view.picture, Qt.Key.Key_Up)
    assert asked == [Selection(0, 30)]  # there is no lane below the last


def test_the_item_under_the_pointer_is_highlighted_and_described():
    view = show_warp(matmul("matmul-naive-row-on-x", **SMALL))
    before, words, layout = grab_image(view), view.description.text(), view.picture.layout_now()
    move(view.picture, middle(layout.chips[9]))
    assert view.description.text().startswith("Lane 9, thread (9, 0), reads A[9, 0]")
    assert view.picture.lane == 9 and view.picture.lanes.neighbours(9) == [9, 25]
    stressed = grab_image(view)
    sector = list(layout.targets)[2]
    move(view.picture, middle(layout.targets[sector]))
    assert view.description.text() == f"Sector 0x{sector * 32:04x}: 4 of 32 bytes used, by lanes 2 and 18."
    move(view.picture, QPoint(view.picture.width() - 1, view.picture.height() - 1))
    assert (view.description.text(), grab_image(view)) == (words, before) and stressed != before


def test_the_worst_request_of_the_line_is_visited():
    session = matmul("histogram-private")
    requests, trace = session.requests, session.trace
    line = trace.sites[int(requests.site[first_request(session, "atomic", "private")])].line
    on_line = [r for r in range(len(requests)) if trace.sites[int(requests.site[r])].line == line]
    costs = {r: lanes_of(session, r).cost - lanes_of(session, r).minimum for r in on_line}
    worst = max(costs, key=lambda r: (costs[r], -r))
    here = next(r for r in on_line if costs[r] < costs[worst])
    place = Selection(int(requests.block[here]), int(requests.warp[here]) * 32)
    view = show_warp(session, int(requests.moment[here]), place)
    moments, selections = record_requests(view, "seek"), record_requests(view, "select")
    now, later = view.buttons.buttons()
    QTest.mouseClick(later, Qt.MouseButton.LeftButton)
    assert view.choice == "worst" and view._shown.request == worst
    QTest.mouseClick(view.go, Qt.MouseButton.LeftButton)
    assert moments == [float(requests.moment[worst])]
    assert (selections[0].block, selections[0].thread // 32) == (requests.block[worst], requests.warp[worst])
    QTest.mouseClick(now, Qt.MouseButton.LeftButton)
    assert view._shown.request == here and view.go.isHidden()


# Layout


@pytest.mark.parametrize("scale", [1.0, 1.6])
@pytest.mark.parametrize("width", [310, 420, 700])
def test_everything_has_its_place_at_any_width(width, scale):
    sessions = [("matmul-naive-row-on-x", "a"), ("matmul-naive-row-on-x", "c"), ("transpose-tile", "cells")]
    for name, buffer in sessions:
        session = matmul(name)
        kinds = {"a": "global load", "c": "global store", "cells": "shared load"}
        request = first_request(session, kinds[buffer], buffer)
        theme = Theme.named("light", scale)
        view = show_warp(session, int(session.requests.moment[request]), size=(width, 700), theme=theme)
        layout = view.picture.layout_now()
        assert view.picture.width() <= width
        columns = [(0, layout.chips[0].width), layout.element, layout.address]
        ends = [x + wide for x, wide in columns if wide]
        target = next(iter(layout.targets.values()))
        assert sorted(ends) == ends and ends[-1] < target.x < target.right
        assert target.right <= layout.note[0] <= layout.note[0] + layout.note[1] <= view.picture.width() + 0.1
        assert layout.element[1] > 0
        for first, other in itertools.pairwise(layout.targets.values()):
            assert first.y + first.height <= other.y + 0.01
        for piece, box in zip(view._shown.touched, layout.slices, strict=True):
            home = layout.targets[piece.target]
            assert home.holds(box.x + 0.01, box.y + 0.01)
            assert home.holds(box.right - 0.01, box.y + box.height - 0.01)
            assert layout.target_at(*QPointF(box.x + 0.1, box.middle).toTuple()) == piece.target
        assert layout.chips[-1].y + layout.row <= view.picture.height()
        assert lanes_of(session, request).kind and Op(session.requests.op[request]) in (Op.LOAD, Op.STORE)
