"""The list of findings: what it lists, how it filters, what a click asks for, and the card of a race."""

from __future__ import annotations

import re
from itertools import pairwise

import numpy as np
import pytest
from PySide6.QtCore import Qt, QUrl
from PySide6.QtTest import QTest

from launching import Array, launch, trace
from sessions import application, grab_image, matmul
from tilescope.app.model.session import Selection, build_session, count_by_severity
from tilescope.app.views.common.heat import heat_of
from tilescope.app.views.common.requests import ViewRequests
from tilescope.app.views.inspect.explain import ExplainView
from tilescope.app.views.inspect.findings import LOOKING, FindingsView
from tilescope.app.views.inspect.thread import ThreadView
from tilescope.app.widgets.theme import Theme
from tilescope.tracer.model.finding import SEVERITIES, source_location
from tilescope.tracer.model.launch import decode

LIGHT = Theme.named("light")
# A thread reads what its neighbour wrote, without a barrier; the write on line 7, the read on line 8 of the file.
RACING = """
@cuda.jit
def kernel(a, out):
    line = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    line[t] = a[t]
    out[t] = line[(t + 1) % 64]
"""
BEYOND = """
@cuda.jit
def kernel(a, out):
    t = cuda.threadIdx.x
    out[t] = a[t + 1]
"""


def kernel_session(folder, source, count=64, **options):
    arrays = (Array((count,), fill="arange"), Array((count,), fill="zeros"))
    traced = trace(folder, source, arrays, block=(count, 1, 1), **options)
    session = build_session(launch(folder, source, arrays, block=(count, 1, 1), **options), traced, None)
    return session.with_findings()


@pytest.fixture
def racing(tmp_path):
    return kernel_session(tmp_path, RACING)


@pytest.fixture(scope="module")
def faulty():
    return matmul("matmul-tiled-early-return", m=10, k=10, n=10, tile=8).with_findings()


def shown(session, size=(420, 640), theme=LIGHT):
    application()
    view = FindingsView(theme)
    view.resize(*size)
    view.load(
        session.with_findings() if session else None
    )  # those of sessions.py are shared and may be fresh
    view.render_moment(3, Selection())
    view.grab()  # lays it out
    return view


def listed(view):
    return [view.list.item(row).text() for row in range(view.list.count())]


def click(view, row):
    item = view.list.visualItemRect(view.list.item(row)).center()
    QTest.mouseClick(view.list.viewport(), Qt.MouseButton.LeftButton, pos=item)


def asked(view):
    """Return a list to which everything that the view asks for is added, in order."""
    heard = []
    view.ask = ViewRequests(
        show_line=lambda file, line: heard.append(("line", file, line)),
        select=lambda chosen: heard.append(("selection", chosen)),
        seek=lambda moment: heard.append(("moment", moment)),
    )
    return heard


# The list


def test_all_findings_are_listed_worst_first_and_counted(faulty):
    view = shown(faulty)
    assert listed(view) == [finding.message for finding in faulty.findings]
    ranks = [SEVERITIES.index(finding.severity) for finding in faulty.findings]
    assert ranks == sorted(ranks) and len(set(ranks)) > 1
    assert view.count() == count_by_severity(faulty) == {s: ranks.count(i) for i, s in enumerate(SEVERITIES)}
    assert [button.text() for button in view.severities.values()] == [str(n) for n in view.count().values()]


def test_filters_of_severity_kind_and_text_work_together(faulty):
    view = shown(faulty)
    view.severities["note"].click()
    assert listed(view) == [f.message for f in faulty.findings if f.severity != "note"]
    QTest.keyClicks(view.text, "ON LINE 6")
    assert listed(view) == [
        f.message for f in faulty.findings if f.severity != "note" and "on line 6" in f.message
    ]
    assert len(listed(view)) > 1
    view.kind.choose("unwritten")
    view.kind.picked("unwritten")
    (left,) = listed(view)
    assert "also tile_b on line 71" in left
    view.text.setText("no such text")
    assert listed(view) == [] and view.empty.text() == "No finding matches the filter."


def test_the_text_is_looked_for_in_the_source_line_too(faulty):
    view = shown(faulty)
    view.text.setText("cuda.syncthreads()")
    locations = [source_location(f, faulty.trace) for f in faulty.findings if f.message in listed(view)]
    lines = [faulty.trace.sources[file].splitlines()[line - 1] for file, line in locations]
    assert any(line.strip() == "cuda.syncthreads()" for line in lines)


def test_a_clean_launch_reports_no_findings():
    view = shown(matmul(m=32, k=32, n=32))
    assert listed(view) == [] and view.empty.text().startswith("No findings")
    assert view.count() == {"error": 0, "warning": 0, "note": 0}
    assert view.kind.isHidden() and view.text.isHidden()


def test_a_launch_that_was_not_compared_is_not_called_right(tmp_path):
    compared, other = matmul(m=8, k=8, n=8, tile=4), copy(tmp_path)
    assert compared.trace.check is not None and other.trace.check is None
    assert "NumPy" not in shown(compared).empty.text()
    assert shown(other).empty.text().endswith("was not compared with NumPy, so it can still be wrong.")


COPY = """
@cuda.jit
def kernel(a, out):
    i = cuda.grid(1)
    out[i] = a[i]
"""


def copy(folder):
    """Return a session of a kernel that is not compared with NumPy and has no findings."""
    arrays = Array((32,), fill="arange", dtype="float32"), Array((32,), fill="zeros", dtype="float32")
    options = {"arguments": arrays, "block": (32, 1, 1)}
    return build_session(launch(folder, COPY, **options), trace(folder, COPY, **options), None)


def test_a_click_asks_for_the_line_the_thread_and_then_the_moment(faulty):
    """The moment comes last: the selection of a block that does not run moves the time."""
    view, requests, trace = shown(faulty), faulty.requests, faulty.trace
    for row, finding in enumerate(faulty.findings):
        heard = asked(view)
        view.list.scrollToItem(view.list.item(row))
        click(view, row)
        assert [kind for kind, *_ in heard] == ["line", "selection", "moment"]
        (_, *line), (_, chosen), (_, moment) = heard
        assert tuple(line) == source_location(finding, trace) and moment == finding.moment
        if len(finding.example):
            there = finding.rows[requests.moment[requests.request[finding.rows]] == moment]
            assert (chosen.block, chosen.thread) in zip(trace.block[there], trace.thread[there], strict=True)
        else:
            assert chosen == Selection(*finding.threads[0])


def test_a_finding_about_the_launch_asks_only_for_its_line():
    session = matmul("barrier-three-threads")
    view = shown(session)
    heard = asked(view)
    click(view, [f.kind for f in session.findings].index("block size"))
    assert [kind for kind, *_ in heard] == ["line"]
    _, file, line = heard[0]
    assert "def " in session.trace.sources[file].splitlines()[line - 1]


def test_return_goes_to_the_finding_that_the_arrows_chose(faulty):
    view = shown(faulty)
    heard = asked(view)
    QTest.keyClick(view.list, Qt.Key.Key_Down)
    QTest.keyClick(view.list, Qt.Key.Key_Down)
    assert heard == []
    QTest.keyClick(view.list, Qt.Key.Key_Return)
    assert ("moment", float(view.chosen().moment)) in heard


@pytest.mark.parametrize("scale", [1.0, 1.6])
@pytest.mark.parametrize("width", [310, 420, 700])
def test_rows_are_as_tall_as_their_sentences(faulty, width, scale):
    view = shown(faulty, (width, 600), Theme.named("light", scale))
    rows = [view.list.visualItemRect(view.list.item(row)) for row in range(view.list.count())]
    assert all(upper.bottom() < other.top() for upper, other in pairwise(rows))
    line = view.list.delegate._font(13.0).pixelSize()
    for row, message in zip(rows, listed(view), strict=True):
        words = len(message) * line * 0.45 / width  # lines, counted low
        assert row.height() > words * line and row.width() <= width


# Races


def words(label):
    return re.sub(r"<br>|<[^>]*>", " ", label.text()).replace("&nbsp;", " ").replace("\u00a0", " ")


def test_the_card_of_a_race_names_both_sides_and_the_barrier(racing):
    view, (first, second) = shown(racing), racing.findings[0].example
    assert view.card.isHidden()
    click(view, 0)
    assert not view.card.isHidden()
    trace, lines = racing.trace, racing.launch.source.splitlines()
    write, read = view.card.accesses()
    for part, row in ((write, first), (read, second)):
        thread, value = int(trace.thread[row]), float(trace.value[row])
        verb = "writes" if trace.op[row] else "reads"
        assert part.thread == f"Thread {thread} of block 0"
        assert part.text == f"{verb} line[{int(trace.index[row])}] = {value:.4g}"
        assert part.code == lines[part.line - 1].strip()
        assert part.moment == racing.requests.moment[racing.requests.request[row]]
    assert trace.index[first] == trace.index[second] and trace.thread[first] != trace.thread[second]
    assert (write.code, read.code) == ("line[t] = a[t]", "out[t] = line[(t + 1) % 64]")
    assert f"line[{int(trace.index[first])}]" in words(view.card.title)
    assert "both in phase 0: no barrier orders them" in words(view.card.title)
    assert view.card.order.isHidden() and view.fix.isHidden()  # no remedy before one is proven
    for label, part in zip(view.card.texts, (write, read), strict=True):
        assert all(text in words(label) for text in (part.thread, part.text, part.code, str(part.line)))


def test_the_links_of_the_card_go_to_either_access(racing):
    view = shown(racing)
    click(view, 0)
    heard = asked(view)
    for label, part in zip(view.card.texts, view.card.accesses(), strict=True):
        label.linkActivated.emit("go")
        assert heard[-2:] == [("selection", part.selection), ("moment", float(part.moment))]


def test_a_race_between_blocks_is_reported_as_such():
    view = shown(matmul("count-racing"))
    click(view, 0)
    assert "by two blocks, which run in any order" in words(view.card.title)
    assert {part.selection.block for part in view.card.accesses()} != {0}
    assert view.card.order.isHidden()  # no remedy before one is proven


@pytest.mark.parametrize(
    ("name", "begins"),
    [
        (
            "transpose-naive",
            "32 sectors for each store of out by a warp on line 19, 4,096 in all, where 4 would do, since",
        ),
        (
            "transpose-tile",
            "32 wavefronts for each load of cells by a warp on line 33, 4,096 in all, where 1 would do",
        ),
    ],
)
def test_waste_is_described_in_plain_words(name, begins):
    assert any(text.startswith(begins) for text in listed(shown(matmul(name))))


def test_different_costs_are_shown_as_their_mean():
    texts = listed(shown(matmul("matmul-naive-row-on-x", m=40, k=16, n=40)))
    assert any(
        re.match(r"[\d.]+ sectors on average for each load of a by a warp on line", text) for text in texts
    )


@pytest.mark.parametrize("size", [(310, 375), (310, 420), (390, 460)])
def test_a_card_leaves_room_for_all_of_its_finding(size):
    view = shown(matmul("count-racing"), size=size)
    view.list.setCurrentRow(0)
    grab_image(view)
    row, room = view.list.visualItemRect(view.list.item(0)), view.list.viewport().rect()
    assert not view.card.isHidden() and room.contains(row)
    assert view.height() - view.list.geometry().bottom() > 100  # what the card has


def test_a_finding_stays_chosen_in_another_theme():
    view = shown(matmul("count-racing"))
    view.list.setCurrentRow(0)
    view.set_theme(Theme.named("dark", 1.2))
    assert view.chosen() == view.session.findings[0] and not view.card.isHidden()


def test_only_races_have_a_card(faulty, racing):
    view = shown(faulty)
    click(view, 0)
    assert view.card.isHidden()
    view.load(racing)
    click(view, 0)
    assert not view.card.isHidden()
    view.load(faulty)
    assert view.card.isHidden()


# Time and theme


@pytest.mark.parametrize("theme", [LIGHT, Theme.named("dark", 1.6)])
def test_its_look_depends_only_on_session_and_theme(racing, faulty, theme):
    view = shown(faulty)
    for moment in (9, 3):
        view.render_moment(moment, Selection(1, moment))
    view.load(racing)
    view.set_theme(theme)
    assert (
        grab_image(view) == grab_image(shown(racing, theme=theme)) != grab_image(shown(faulty, theme=theme))
    )
    view.load(None)
    assert grab_image(view) == grab_image(shown(None, theme=theme))


# Accesses that were not made


def test_an_access_outside_its_array_is_reported_in_every_thread(tmp_path):
    session = kernel_session(tmp_path, BEYOND)
    assert decode(session.trace.launch) == session.launch
    assert session.findings[0].kind == "bounds"
    line = session.launch.source.splitlines().index("    out[t] = a[t + 1]") + 1
    view = ThreadView(LIGHT)
    view.load(session)
    view.render_moment(1, Selection(0, 63))
    message = f"1 access outside its array was not made: thread 63 reads a[64] on line {line}."
    assert view.outside.text() == message and not view.outside.isHidden()
    view.render_moment(1, Selection(0, 3))
    assert view.outside.isHidden()
    explain = ExplainView(LIGHT)
    explain.load(session)
    explain.render_moment(1, Selection(0, 3))
    assert message in explain.label.text()
    assert np.sum(session.trace.outside.thread == 63) == 1


def test_a_session_is_shown_before_its_findings_are_known(racing):
    fresh = build_session(racing.launch, racing.trace, None).prepared()
    assert not fresh.is_examined
    view = FindingsView(LIGHT)
    view.load(fresh)
    assert (listed(view), view.empty.text()) == ([], LOOKING)
    assert heat_of(fresh, "races").rows.tolist() == []
    assert not fresh.is_examined
    view.load(fresh.with_findings())
    assert [f.message for f in fresh.findings] == [f.message for f in racing.findings]
    assert listed(view) == listed(shown(racing)) != []
    assert len(heat_of(fresh, "races").rows)


# --- pages


def test_the_question_mark_of_each_row_opens_the_page_of_its_kind(faulty):
    view = shown(faulty)
    for row, finding in enumerate(faulty.findings):
        view.list.scrollToItem(view.list.item(row))
        mark = view.list.question_rect(row).center()
        QTest.mouseClick(view.list.viewport(), Qt.MouseButton.LeftButton, pos=mark)
        text = view.page.text.toPlainText()
        assert text.startswith(f"{finding.kind} (TS") and "False alarms" in text and "<!--" not in text
    view.page.close()


def test_the_key_opens_the_page_of_the_chosen_finding_and_links_lead_on(faulty):
    view = shown(faulty)
    view.list.setCurrentRow(0)
    QTest.keyClick(view.list, Qt.Key.Key_Question, Qt.KeyboardModifier.ShiftModifier)
    page = view.page.text
    assert page.toPlainText().startswith(f"{view.chosen().kind} (TS")
    page.setSource(page.source().resolved(QUrl("../counters/global-load-sectors.md")))
    assert page.toPlainText().startswith("global_load_sectors")
    view.page.close()
