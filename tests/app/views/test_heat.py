"""Waste, conflicts and races per line and element, held against plain loops, and where they colour the window."""

from __future__ import annotations

from collections import Counter, defaultdict

import numpy as np
import pytest
from hypothesis import given, settings
from PySide6.QtGui import QColor

from bank_passes import count_wavefronts
from launching import Array, launch, trace
from sessions import application, grab_image, matmul
from tilescope.app.model.session import Selection, build_session
from tilescope.app.state.actions import ColourBy
from tilescope.app.views.common.heat import HEATS, element_heat, heat_moments, line_heat, waste_of
from tilescope.app.views.memory.paint import colour_table
from tilescope.app.views.source.view import SourceView
from tilescope.app.widgets.theme import Theme
from tilescope.tracer.model.trace import Op
from traces import programs, trace_of
from views import element_point, show_memory
from windows import act, open_window, press

LIGHT = Theme.named("light")


def waste(session, request, space):
    """Return the sectors ("global") or wavefronts of a request beyond the least, counted plainly."""
    trace, requests = session.trace, session.requests
    buffer = trace.buffers[int(requests.buffer[request])]
    rows = np.flatnonzero(requests.request == request)
    size = np.dtype(buffer.dtype).itemsize
    if buffer.space != space:
        return 0
    if space == "shared":
        side_by_side = {int(t) % 32: n * size for n, t in enumerate(trace.thread[rows])}
        return max(0, int(requests.wavefronts[request]) - count_wavefronts(side_by_side, size))
    if requests.op[request] > Op.STORE:
        return 0
    least = max(1, -(-len(np.unique(trace.index[rows])) * size // 32))
    parts = 2 if np.dtype(buffer.dtype).kind == "c" else 1
    return parts * max(0, int(requests.sectors[request]) - least)


def count_heat(session, kind, moment, block):
    """Return the sums per line, and per (buffer, index) as a block sees them."""
    trace, requests = session.trace, session.requests
    lines, elements = Counter(), defaultdict(Counter)
    space = {"wasted": "global", "conflicts": "shared"}[kind]
    for request in range(len(requests)):
        amount = waste(session, request, space)
        if requests.moment[request] > moment or not amount:
            continue
        site, buffer = trace.sites[int(requests.site[request])], int(requests.buffer[request])
        lines[site.file, site.line] += amount
        if space == "global" or requests.block[request] == block:
            for index in set(trace.index[requests.request == request].tolist()):
                elements[buffer][index] += amount
    return lines, elements


@settings(max_examples=40)
@given(programs())
def test_sums_of_any_trace_are_those_of_plain_loops(traced):
    trace = trace_of(traced)
    session = build_session(matmul(m=32, k=32, n=32).launch, trace, None)
    block = int(trace.blocks[0]) if len(trace.blocks) else 0
    for kind in ("wasted", "conflicts"):
        for moment in (session.end // 2, session.end):
            lines, elements = count_heat(session, kind, moment, block)
            assert {k: n for k, n in line_heat(session, kind, moment).items() if n} == dict(lines)
            for number, buffer in enumerate(trace.buffers):
                heat = element_heat(session, kind, number, moment, Selection(block, 0))
                expected = [elements[number][int(i)] for i in buffer.elements().ravel()]
                assert heat.shape == buffer.shape and heat.ravel().tolist() == expected


def test_waste_equals_that_of_the_findings():
    session = matmul("transpose-naive")
    finding = next(f for f in session.findings if f.kind == "uncoalesced")
    stores = session.requests.op == Op.STORE
    assert finding.count == session.requests.sectors[stores].sum() == 4096
    assert waste_of(session)[0][stores].sum() == 4096 * 28 // 32  # 4 of 32 sectors would do


def test_what_races_is_counted_access_by_access():
    session = matmul("count-racing")
    race = next(f for f in session.findings if f.kind == "race" and f.severity == "error")
    trace = session.trace
    counter = next(i for i, b in enumerate(trace.buffers) if b.name == "counter")
    assert element_heat(session, "races", counter, session.end, Selection()).tolist() == [len(race.rows)]
    site = trace.sites[race.sites[0]]
    assert line_heat(session, "races", session.end) == {(site.file, site.line): len(race.rows)}
    assert line_heat(session, "races", 0) == {(site.file, site.line): 0}


def test_a_clean_launch_is_cold():
    session = matmul(m=32, k=32, n=32)
    for kind in HEATS:
        assert not any(line_heat(session, kind, session.end).values())
        assert all(not element_heat(session, kind, n, session.end, Selection()).any() for n in range(5))


def test_sums_change_only_at_their_moments():
    session = matmul("matmul-naive-row-on-x", m=16, k=8, n=16, tile=8)
    moments = set(heat_moments(session, "wasted", 0).tolist())
    assert moments
    for moment in range(1, session.end + 1):
        before, now = (element_heat(session, "wasted", 0, m, Selection()) for m in (moment - 1, moment))
        assert ((before != now).any()) == (moment in moments)


# In the window


def source(session, moment, heat="requests", theme=LIGHT):
    application()
    view = SourceView(theme)
    view.resize(420, 420)
    view.heat = heat
    view.load(session)
    view.render_moment(moment, Selection())
    return view


def test_the_gutter_shows_and_tints_the_lines_that_waste():
    session = matmul("matmul-naive-row-on-x", m=32, k=32, n=32)
    lines = line_heat(session, "wasted", 40)
    view = source(session, 40, "wasted")
    assert view.editor.counts == {line: n for (_, line), n in lines.items()}
    panel = LIGHT.colour("panel")
    hot = max(view.editor.counts, key=view.editor.counts.__getitem__)
    assert view.editor.tint(hot) != panel == view.editor.tint(hot + 20)
    view.heat = "requests"
    assert view.editor.counts[hot] != lines[session.trace.sites[0].file, hot]
    assert view.editor.tint(hot) == panel
    assert grab_image(view) == grab_image(source(session, 40))
    with pytest.raises(ValueError, match="not by 'warmth'"):
        view.heat = "warmth"


@pytest.mark.parametrize("heat", HEATS)
def test_a_moment_looks_the_same_with_any_figure(heat):
    session = matmul("transpose-tile")
    views = [source(session, moment, heat) for moment in (9, 3)]
    views[0].render_moment(3, Selection())
    assert grab_image(views[0]) == grab_image(views[1])
    memory = [show_memory(session, moment) for moment in (9, 3)]
    for view in memory:
        view.colour_by = heat
    memory[0].render_moment(3, Selection())
    assert grab_image(memory[0]) == grab_image(memory[1])


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_cells_are_coloured_by_their_conflicts(theme):
    session = matmul("transpose-tile")
    view = show_memory(session, session.end, theme=Theme.named(theme))
    view.colour_by = "conflicts"
    image = grab_image(view)
    unread, cells = view.theme.colour("cell_unread"), element_point(view, "cells", 5, 7).toPoint()
    assert image.pixelColor(element_point(view, "a", 40, 20).toPoint()) == unread
    assert image.pixelColor(cells) != unread
    assert (
        view.hover_text(element_point(view, "cells", 5, 7)).splitlines()[2]
        == "31 wasted wavefronts so far: those that its requests took beyond the fewest possible"
    )
    clean = show_memory(matmul("transpose-padded"), session.end, theme=Theme.named(theme))
    clean.colour_by = "conflicts"
    assert grab_image(clean).pixelColor(element_point(clean, "cells", 5, 7).toPoint()) == unread


def test_shared_memory_shows_the_conflicts_of_the_chosen_block(tmp_path):
    text = """
    @cuda.jit
    def kernel(a):
        line = cuda.shared.array(1024, float32)
        t = cuda.threadIdx.x
        if cuda.blockIdx.x == 1:
            line[32 * t] = a[t]
        else:
            line[t] = a[t]
    """
    options = {"arguments": (Array((32,)),), "grid": (2, 1, 1), "block": (32, 1, 1)}
    session = build_session(launch(tmp_path, text, **options), trace(tmp_path, text, **options), None)
    line = next(i for i, b in enumerate(session.trace.buffers) if b.name == "line")
    calm, hot = (element_heat(session, "conflicts", line, session.end, Selection(b, 0)) for b in (0, 1))
    assert not calm.any()
    assert hot[::32].tolist() == [31] * 32 and hot.sum() == 31 * 32


def in_window(window, pane, name, *place):
    """Return the colour of an element's cell in a pane's memory."""
    view = window.central.panes[pane].memory
    return view.grab().toImage().pixelColor(element_point(view, name, *place).toPoint())


def test_two_panes_share_the_scale_of_what_is_wasted():
    """The wider product asks for each element of A more often, so more is wasted on it."""
    specs = tuple(f"matmul-naive-row-on-x:m=16,k=16,n={n},tile=8" for n in (8, 32))
    with open_window(specs) as window:
        act(window, ColourBy("wasted"))
        press(window, "End")
        window.draw()
        sessions, views = window.stage.sessions, [pane.memory for pane in window.central.panes]
        least, most = (view.own_tops(Selection())["wasted", "global"] for view in views)
        assert least < most
        assert [dict(view.tops)["wasted", "global"] for view in views] == [most, most]
        hot = [np.argwhere(element_heat(s, "wasted", 0, s.end, Selection()) == most) for s in sessions]
        assert not len(hot[0]) and len(hot[1])
        last = QColor.fromRgb(int(colour_table(window.theme, "wasted")[-1]))
        assert in_window(window, 1, "a", *hot[1][0]) == last
        assert in_window(window, 0, "a", *hot[1][0]) not in (last, window.theme.colour("cell_unread"))
        lines = [line_heat(session, "wasted", session.end) for session in sessions]
        assert window.side.source.editor._most == max(max(line.values()) for line in lines)


@pytest.mark.parametrize(("blocks", "mark"), [(None, "exact"), ((0,), "part")])
def test_the_scale_carries_its_mark(tmp_path, blocks, mark):
    text = "@cuda.jit\ndef kernel(a, b):\n    i = cuda.grid(1)\n    b[2 * i] = a[i]\n"
    given_ = {
        "arguments": (Array((64,)), Array((128,))), "grid": (2, 1, 1), "block": (32, 1, 1), "blocks": blocks,
    }  # fmt: skip
    session = build_session(launch(tmp_path, text, **given_), trace(tmp_path, text, **given_), None)
    view = show_memory(session, session.end, colour_by="wasted")
    (row,) = view._picture._legend(view._state())
    assert [item.before for _, item in row][-1] == mark
    assert "wasted sectors" in row[0][1].after
