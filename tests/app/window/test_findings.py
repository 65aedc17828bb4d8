"""Findings in the window: a click goes there in every view, and what type inference finds is added later."""

from __future__ import annotations

import json
from collections import Counter

import msgspec
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from launching import Array, trace
from tilescope.app.control.type_inference_job import TypeInferenceJob
from tilescope.app.model.bookmark import Bookmark, Setup
from tilescope.app.model.session import Selection
from tilescope.app.state.actions import ColourBy, Focus, ShowTab
from tilescope.app.views.common.wording import plural
from tilescope.app.views.inspect.findings import LOOKING
from tilescope.tracer.model.finding import SEVERITIES, source_location
from tilescope.tracer.storage.trace_file import save
from windows import act, open_window, settle, wait_until

# A race on a line, a store past the end, and a product with 0.5, which is float64, in a function of its own.
KERNEL = """
@cuda.jit(device=True)
def half(x):
    return x * 0.5

@cuda.jit
def kernel(a, out):
    line = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    line[t] = a[t]
    out[t + 1] = half(line[(t + 33) % 64])
"""


@pytest.fixture
def window(tmp_path):
    traced = trace(tmp_path, KERNEL, (Array((64,), fill="arange"), Array((64,))), block=(64, 1, 1))
    save(traced, tmp_path / "wrong.npz")
    with open_window(mark=Bookmark(panes=(Setup("", file=str(tmp_path / "wrong.npz")),))) as shown:
        act(shown, ShowTab("findings"))
        shown.draw()
        yield shown


def click(window, kind):
    """Click the first finding of a kind and return it."""
    findings = window.side.view("findings")
    session = window.focused_session()
    row = next(row for row in range(findings.list.count()) if session.findings[row].kind == kind)
    findings.list.scrollToItem(findings.list.item(row))
    position = findings.list.visualItemRect(findings.list.item(row)).center()
    QTest.mouseClick(findings.list.viewport(), Qt.MouseButton.LeftButton, pos=position)
    settle(window)
    window.draw()
    return session.findings[row]


def test_a_click_on_a_race_goes_to_its_moment_thread_and_line_in_every_view(window):
    finding = click(window, "race")
    session, pane = window.focused_session(), window.central.panes[0]
    assert window.stage.moments() == (finding.moment,)
    chosen = window.stage.selections[0]
    assert chosen in [Selection(*thread) for thread in finding.threads]
    for view in (pane.memory, pane.counters, window.central.timelines[0], window.side.view("findings")):
        assert (view.moment, view.selection) == (finding.moment, chosen)
    file, line = source_location(finding, session.trace)
    for tab in ("source", "thread", "warp"):
        act(window, ShowTab(tab))
        view = window.side.view(tab)
        assert (view.moment, view.selection) == (finding.moment, chosen)
    editor = window.side.source.editor
    assert (editor.file, editor.pointed) == (file, line)


@pytest.mark.parametrize("kind", ["race", "bounds"])
def test_the_line_of_the_chosen_finding_is_in_sight(window, kind):
    finding = click(window, kind)
    act(window, ShowTab("source"))
    editor = window.side.source.editor
    line = source_location(finding, window.focused_session().trace)[1]
    assert editor.pointed == line
    assert line in [number for number, *_ in editor.lines_in_sight()]
    window.stage.step(1)
    window.draw()
    assert editor.pointed == line  # it stays while the time goes on


def tab_tooltip_of(session):
    """Count the findings of each severity of a session, in words."""
    count = Counter(finding.severity for finding in session.findings)
    return ", ".join(plural(count[name], name) for name in SEVERITIES if count[name])


def test_the_picture_comes_before_the_findings(window):
    sessions = []
    window.stage.jobs.calm.setInterval(60_000)
    window.stage.loaded.connect(lambda pane: sessions.append(window.stage.sessions[pane].is_examined))
    setup = window.stage.setups[0]
    window.change_setups((setup, Setup("count-racing", {})))
    wait_until(lambda: len(sessions) == 2)
    act(window, Focus(1))
    window.draw()
    place = window.side.bar.currentIndex()
    assert (sessions[1], window.side.bar.tabText(place)) == (False, "Findings")
    assert window.side.view("findings").empty.text() == LOOKING
    window.stage.jobs.calm.start(0)
    settle(window)
    assert window.side.bar.tabToolTip(place) == tab_tooltip_of(window.focused_session())
    assert window.side.view("findings").list.count() == len(window.focused_session().findings) > 0


def test_where_races_are_is_coloured_once_it_is_known(window):
    act(window, ColourBy("races"))
    window.change_setups((Setup("count-racing", {}),))
    settle(window)
    assert window.central.panes[0].memory.own_tops(window.stage.selections[0])["races", "global"] > 1


def test_float64_arithmetic_is_added_when_it_is_known(window):
    types, session = window.central.results.types, window.focused_session()
    assert not [f for f in session.findings if f.kind == "float64"]
    chosen = click(window, "bounds")
    before = window.side.view("findings").list.count()
    types.soon.start(0)
    wait_until(types.is_idle)
    (finding,) = [f for f in session.findings if f.kind == "float64"]
    assert finding.message == "1 operation (mul) is float64 because of 0.5; write float32(0.5)."
    assert window.side.view("findings").list.count() == before + 1
    assert window.side.view("findings").chosen() is chosen
    place = window.side.bar.currentIndex()
    assert window.side.bar.tabToolTip(place) == tab_tooltip_of(session)
    click(window, "float64")
    file, line = source_location(finding, session.trace)
    assert session.trace.sources[file].splitlines()[line - 1] == "    return x * 0.5"
    assert (window.side.source.editor.file, window.side.source.editor.pointed) == (file, line)


def test_what_is_known_is_not_asked_again(window):
    heard = []
    session, types = window.focused_session(), TypeInferenceJob(None, heard.append)
    types.soon.setInterval(0)
    types.ask(session)
    wait_until(types.is_idle)
    assert heard == [session]
    types.ask(session)
    assert types.is_idle() and heard == [session]
    types.close()


def test_a_window_that_closes_does_not_wait_for_types(window):
    types = window.central.results.types
    types.soon.start(0)
    QTest.qWait(100)
    types.close()
    assert not [f for f in window.focused_session().findings if f.kind == "float64"]


ACCEPTED = """
@cuda.jit
def kernel(a, out):
    values = (0, 1, 2, 3)
    out[cuda.threadIdx.x] = a[values[0]]
"""


def test_what_numba_refuses_is_added_to_the_list(tmp_path):
    """Of a file from before a launch that Numba refuses was refused: it holds what Python made of the kernel."""
    changed = trace(tmp_path, ACCEPTED, (Array((32,)), Array((32,))), block=(32, 1, 1))
    refused = {
        file: text.replace("(0, 1, 2, 3)", "[x for x in range(4)]") for file, text in changed.sources.items()
    }
    launch = json.loads(changed.launch)
    launch["source"] = launch["source"].replace("(0, 1, 2, 3)", "[x for x in range(4)]")
    changed = msgspec.structs.replace(changed, sources=refused, launch=json.dumps(launch))
    save(changed, tmp_path / "refused.npz")
    with open_window(mark=Bookmark(panes=(Setup("", file=str(tmp_path / "refused.npz")),))) as window:
        act(window, ShowTab("findings"))
        window.draw()
        window.central.results.types.soon.start(0)
        wait_until(window.central.results.types.is_idle)
        finding = click(window, "compile")
        assert (finding.severity, finding.remedy) == ("error", "use cuda.local.array or cuda.shared.array")
        assert window.focused_session().findings[0] is finding
        act(window, ShowTab("source"))
        assert window.side.source.editor.pointed == source_location(finding, changed)[1]


def test_the_news_of_a_click_names_the_moment_that_is_shown(tmp_path):
    arrays = (Array((192,), fill="arange"), Array((192,)))
    recorded = trace(tmp_path, KERNEL, arrays, grid=(3, 1, 1), block=(64, 1, 1), resident=1)
    save(recorded, tmp_path / "wrong.npz")
    with open_window(mark=Bookmark(panes=(Setup("", file=str(tmp_path / "wrong.npz")),))) as shown:
        act(shown, ShowTab("findings"))
        shown.stage.seek(0, shown.focused_session().end)
        shown.draw()
        finding = click(shown, "race")
        assert shown.stage.moments() == (finding.moment,)
        wait_until(lambda: f"moment {finding.moment} ·" in shown.notice.news.sentence.text())
