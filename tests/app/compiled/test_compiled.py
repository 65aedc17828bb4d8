"""What the compiler did, as a user sees it: the line below the counters, tags in the source, the tab with the code."""

import importlib.util

import pytest
from msgspec.structs import replace
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest

from tilescope.app.compiled.model.compiled_counters import shared_counting
from tilescope.app.model.first_bookmark import first_bookmark
from tilescope.app.views.counters.depths import OFFER, SAME_MEASURED
from tilescope.app.views.listing.view import COMPILING
from tilescope.tracer.listing.listing import INSTALL, CodeLine, Listing
from tilescope.tracer.model.launch import decode, encode
from tilescope.tracer.storage.trace_file import save
from windows import enter, open_window, press, settle, wait_until

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("numba_cuda") is None,
    reason="numba-cuda is not installed: nothing can be compiled",
)
JACOBI, ALIASED = "jacobi-step", "load-aliased"


def compiled(window):
    """Wait until what the panes show is compiled."""
    wait_until(window.central.results.compiling.is_idle)


def test_counters_as_compiled_come_after_the_picture_and_are_next_to_the_others():
    seen = []
    with open_window((JACOBI, ALIASED), compiled=True, wait=False) as window:
        window.central.results.compiling.counted.connect(
            lambda _: seen.append((window.stage.is_settled(), window.central.results.is_behind))
        )
        settle(window)
        compiled(window)
        left, right = (pane.depths for pane in window.central.panes)
        assert left.text() == "global loads in all: written 720 · compiled 600 · measured 600"
        assert right.text() == SAME_MEASURED
        assert "LLVM" in left.tip()
        assert "NVIDIA H100" in left.tip()
        assert "global load sectors: written 11,252 · compiled 9,512 · measured 9,512" in left.tip()
    assert seen == [(True, False)] * 2  # the pictures were painted before


def test_a_picture_keeps_its_place_when_the_numbers_come():
    with open_window((JACOBI,), compiled=True) as window:
        before = window.central.panes[0].memory.geometry()
        compiled(window)
        assert window.central.panes[0].memory.geometry() == before


def test_another_launch_has_its_own_numbers_and_the_one_before_is_not_waited_for():
    with open_window((JACOBI,), compiled=True) as window:
        first = window.stage.sessions[0]
        enter(window, "rows", "40")
        press(window, "Return")
        settle(window)
        assert window.stage.sessions[0] is not first
        compiled(window)
        written = window.stage.sessions[0].counters.total["global_load_requests"]
        tag = f"global loads in all: written {written} · compiled {written * 5 // 6}"
        assert written < 720
        assert window.central.panes[0].depths.text() == tag
        assert "measured" not in window.central.panes[0].depths.text()  # nobody has counted this size


def test_where_they_are_hidden_nothing_is_compiled(monkeypatch):
    monkeypatch.setattr(type(shared_counting()), "count", lambda *_: pytest.fail("it was compiled"))
    with open_window(
        mark=replace(first_bookmark((JACOBI,), None), compiled="hidden"), compiled=True
    ) as window:
        QTest.qWait(200)
        assert window.central.results.compiling.is_idle()
        assert window.central.panes[0].depths.isHidden()
        assert window.side.source.editor.fates == {}


def test_the_kernel_of_a_file_is_counted_once_the_user_agrees(tmp_path):
    with open_window((JACOBI,)) as window:
        trace = window.stage.sessions[0].trace
        launch = decode(trace.launch)
        save(
            replace(trace, launch=encode(replace(launch, source=launch.source + "\n# mine\n"))),
            tmp_path / "a.npz",
        )
    with open_window((ALIASED,), compiled=True) as window:
        window.files.open_path(str(tmp_path / "a.npz"))
        settle(window)
        QTest.qWait(200)
        pane = window.central.panes[0]
        assert window.central.results.compiling.is_idle()
        assert pane.depths.text() == OFFER
        QTest.mouseClick(pane.depths, Qt.MouseButton.LeftButton)
        compiled(window)
        assert "written 720 · compiled 600" in pane.depths.text()


def test_the_tag_of_a_line_shows_the_fate_of_its_accesses():
    with open_window((JACOBI,), compiled=True) as window:
        compiled(window)
        editor = window.side.source.editor
        ((line, fate),) = [(line, fate) for line, fate in editor.fates.items() if fate.tag]
        assert fate.tag == "1 of 7 merged"
        assert "out[i, j] =" in window.stage.sessions[0].launch.source.splitlines()[line - 1]
        assert sum("(120 requests written, 120 compiled)" in sentence for sentence in fate.sentences) == 6
        press(window, "Ctrl+T")
        assert editor.fates[line] == fate


def test_tags_go_with_their_lines_while_the_text_is_edited():
    with open_window((JACOBI,), compiled=True) as window:
        compiled(window)
        source = window.side.source
        (line,) = [line for line, fate in source.editor.fates.items() if fate.tag]
        source.editor.replace("# one more line\n" + source.editor.text())
        assert [n for n, fate in source.editor.fates.items() if fate.tag] == [line + 1]
        source.revert()


def made_listing(line):
    """Return a listing of three instructions, two of them of one line."""
    code = (CodeLine("L:"), CodeLine("LDS R1", "k", line, 3), CodeLine("EXIT", "k", line + 1, 1),
            CodeLine("STL R1", "k", line, 2, True))  # fmt: skip
    return Listing(code[:3], code, "LLVM 22.1", "ptxas 13.0", 20, 8)


def test_a_chosen_line_is_highlighted_in_its_code_and_back():
    with open_window((JACOBI,)) as window:
        session = window.stage.sessions[0]
        line = next(
            n for n, text in enumerate(session.launch.source.splitlines(), 1) if "out[i, j] =" in text
        )
        session.add_listing(made_listing(line))
        press(window, "Ctrl+8")
        view = window.side.view("code")
        assert "ptxas 13.0: 20 registers a thread, 8 bytes of spills" in view.heading.text()
        view.choose(line)
        assert [text.split()[-1] if "spill" in text else text.split()[-2] for text in view.code.highlighted_rows()] == [
            "LDS", "spill",
        ]  # fmt: skip
        (highlighted,) = view.source.highlighted_rows()
        assert highlighted.split()[:3] == [str(line), "2", "3"]  # instructions, and most registers in use
        QTest.mouseClick(
            view.source.viewport(), Qt.MouseButton.LeftButton, pos=row(view.source, f"{line - 1} ")
        )
        assert view.line == line - 1
        assert view.code.highlighted_rows() == []
        QTest.mouseClick(view.code.viewport(), Qt.MouseButton.LeftButton, pos=row(view.code, "LDS"))
        assert view.line == line


def row(lines, text):
    """Return the position of a row that contains a text."""
    cursor = lines.document().find(text)
    cursor.clearSelection()
    return lines.cursorRect(cursor).center() + QPoint(2, 0)


def test_without_nvidias_programs_the_tab_explains_their_installation():
    with open_window((JACOBI,)) as window:
        session = window.stage.sessions[0]
        session.add_listing(Listing((CodeLine("ret", "k", 17),), ptx_by="LLVM 22.1", missing=INSTALL))
        press(window, "Ctrl+8")
        view = window.side.view("code")
        assert view.sentence.text() == INSTALL
        assert view.parts.isHidden()
        view.switch.buttons["PTX"].click()
        assert view.sentence.isHidden()
        assert view.heading.text() == "LLVM 22.1"
        assert "ret" in view.code.toPlainText()


def test_the_code_is_compiled_when_the_user_looks_at_it():
    with open_window((JACOBI,)) as window:
        assert window.stage.sessions[0].listing is None
        press(window, "Ctrl+8")
        view = window.side.view("code")
        assert view.sentence.text() == COMPILING
        wait_until(window.central.results.listings.is_idle)
        view.switch.buttons["PTX"].click()
        assert "st.global" in view.code.toPlainText()
