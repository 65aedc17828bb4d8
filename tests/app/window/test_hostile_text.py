"""Every text of a trace file is data: shown as it is and printed as one line, whatever stands in it."""

import ast
import re
from html import unescape
from pathlib import Path
from xml.etree import ElementTree

import pytest
from msgspec.structs import replace
from PySide6 import QtGui
from PySide6.QtCore import QEvent, QPoint, Qt
from PySide6.QtGui import QHelpEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QApplication,
    QComboBox,
    QLabel,
    QListWidget,
    QTextEdit,
    QToolTip,
    QTreeWidget,
    QWidget,
)

from measured import measurement
from sessions import application, matmul, uneven_session
from tilescope import app
from tilescope.app.cli.main import main
from tilescope.app.model.bookmark import Bookmark, Setup
from tilescope.app.model.visible_text import escape_controls, escape_controls_in_lines, replace_controls
from tilescope.app.state.actions import ShowTab
from tilescope.app.timings.export import Page, write_figure
from tilescope.app.timings.model.build import build
from tilescope.app.timings.model.choice import Choice
from tilescope.app.timings.model.sources import Source
from tilescope.app.widgets.plain_text import PlainLabel, RichLabel, plain_tip
from tilescope.tracer.model.launch import encode
from tilescope.tracer.model.trace import KernelError, Trace
from tilescope.tracer.storage.trace_file import save
from windows import act, open_window, press, settle, wait_until

APP = Path(app.__file__).parent
HOSTILE = "<b>B&W</b><img src='/nowhere.png'>\x1b]0;owned\x07\r\n::error file=a.py::owned\u202e"
INVISIBLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
PRINTERS = ("text_output.py", "run_as_main.py")  # the latter prints a program's own words
TIPS = {"setToolTip": -1, "setTabToolTip": 1, "showText": 1}  # methods, and which argument is the text


def hostile(trace: Trace, launch: str = "") -> Trace:
    """Return a trace with a hostile text in every place that holds whatever text there is."""
    file = f"/x/{HOSTILE}.py"
    return replace(
        trace,
        kernel=f"kernel {HOSTILE}",
        launch=launch or trace.launch,
        buffers=tuple(replace(b, name=b.name + HOSTILE) for b in trace.buffers),
        sites=tuple(replace(s, function=f"kernel {HOSTILE}", file=file) for s in trace.sites),
        sources={file: f"# {HOSTILE}\n" + "".join(trace.sources.values())},
        notice=f"notice {HOSTILE}",
        made_by=f"made {HOSTILE}",
        accesses=trace.accesses + 5,  # so that it is a part, and the notice is shown
        error=KernelError(f"Error{HOSTILE}", f"message {HOSTILE}", (0, 0, 0), (0, 0, 0), file, 3),
    )


def hostile_files(folder: Path) -> list[Path]:
    """Return files of a kernel with unusual names and of a racing scenario."""
    racing, own = matmul("count-racing"), uneven_session(folder)
    named = replace(own.launch, kernel=f"/x/{HOSTILE}.py:{HOSTILE}")
    traces = {
        "racing": hostile(racing.trace, encode(racing.launch)),
        "000-own": hostile(own.trace, encode(named)),
    }
    for name, trace in traces.items():
        save(trace, folder / f"{name}.npz")
    return [folder / f"{name}.npz" for name in traces]


def texts_of(window: QWidget) -> list[str]:
    """Return the texts of labels, tooltips and lists of a window; our HTML as a reader sees it."""
    texts = []
    for label in window.findChildren(QLabel):
        if label.objectName() == "qtooltip_label":  # Qt's own, whose text is that of a tip
            texts.append(tip(label.text()))
            continue
        rich = label.textFormat() == Qt.TextFormat.RichText
        assert rich or label.textFormat() == Qt.TextFormat.PlainText, label.text()
        assert not (rich and re.search("<img|<b>B&", label.text())), label.text()
        texts.append(unescape(label.text()) if rich else label.text())
    for box in window.findChildren(QComboBox):
        texts += [box.itemText(i) for i in range(box.count())]
        texts += [tip(box.itemData(i, Qt.ItemDataRole.ToolTipRole)) for i in range(box.count())]
    for list_widget in window.findChildren(QListWidget):
        items = [list_widget.item(i) for i in range(list_widget.count())]
        texts += [t for item in items for t in (item.text(), tip(item.toolTip()))]
    for tree in window.findChildren(QTreeWidget):
        texts += [tip(tree.topLevelItem(i).toolTip(0)) for i in range(tree.topLevelItemCount())]
    texts += [tip(widget.toolTip()) for widget in window.findChildren(QWidget)]
    return [*texts, *(edit.toPlainText() for edit in window.findChildren(QTextEdit)), window.windowTitle()]


def test_every_text_of_a_lecture_is_shown_as_it_is(tmp_path):
    evil = HOSTILE.replace("\r\n", "\x9b")
    trace = hostile_files(tmp_path)[0]
    path = tmp_path / "<img src=x>&.md"
    block = f"show: {trace.name}\nask: {evil}?\nchoices: {evil} | {{left.threads}}\nanswer: left.threads"
    wrong = f"at: {evil}\nspotlight: {evil}\nzoom: {evil}\n```\n\n{{left.x['{evil}']}}"
    steps = f"## {evil}\n\n```tilescope\n{block}\n```\n\n{evil} `{evil}` *{evil}* {{left.tile}}\n\n> {evil}\n"
    text = f"# {evil}\n\n{evil}\n\n{steps}\n## {evil} wrong\n\n```tilescope\n{wrong}\n"
    path.write_text(text, "utf-8")
    shown: list[str] = []
    with open_window(mark=Bookmark(panes=(Setup(file=str(trace)),))) as window:
        assert window.lectures.open(path)
        settle(window)
        for name in ("Presenter's window", "Edit lecture", "List of steps…", "Check this lecture"):
            window.commands[name].trigger()
        for _ in range(3):
            wait_until(lambda: window.lectures.player.awaited is None)
            settle(window)
            for top in QApplication.topLevelWidgets():
                shown += texts_of(top) if top.isVisible() else []
                shown += [action.text() for action in top.findChildren(QtGui.QAction)]
            press(window, "PageDown")
        window.lectures.player.close()
    all_of_it = "\n".join(shown)
    assert not INVISIBLE.search(all_of_it)
    assert "<img src='/nowhere.png'>" in all_of_it
    assert "\\x1b]0;owned" in all_of_it


def tip(text: str | None) -> str:
    """Return the text of a tooltip; fail if text of a file in it is read as HTML."""
    text = text or ""
    rich = QtGui.Qt.mightBeRichText(text)
    assert not (rich and re.search("<img|<b>B&", text)), text
    return unescape(text.replace("<br>", "\n")) if rich else text


def hover(widget: QWidget) -> list[str]:
    """Return the tips at a grid of places on a widget."""
    texts = []
    for x in range(5, widget.width(), max(widget.width() // 7, 9)):
        for y in range(5, widget.height(), max(widget.height() // 7, 9)):
            place = QPoint(x, y)
            QTest.mouseMove(widget, place)
            QApplication.sendEvent(widget, QHelpEvent(QEvent.Type.ToolTip, place, widget.mapToGlobal(place)))
            texts.append(tip(QToolTip.text()))
    QToolTip.hideText()
    return texts


def test_the_window_shows_every_text_of_a_file_as_it_is(tmp_path):
    texts = []
    for path in hostile_files(tmp_path):
        with open_window(mark=Bookmark(panes=(Setup(file=str(path)),))) as window:
            window.central.notice.ask(HOSTILE, [(HOSTILE, lambda: None)])
            for name in ("source", "thread", "warp", "findings", "explain"):
                act(window, ShowTab(name))
                window.stage.step(1)
                window.draw()
                texts += texts_of(window)
            for view in (window.central.panes[0].memory, window.central.timelines[0]):
                texts += hover(view)
            window.central.notice.inform(HOSTILE)
            texts += texts_of(window)
    shown = "\n".join(texts)
    assert not INVISIBLE.search(shown)
    assert f"kernel {escape_controls(HOSTILE)}" in shown
    assert f"notice {escape_controls(HOSTILE)}" in shown
    assert f"Error{escape_controls(HOSTILE)}" in shown


def test_the_commands_print_every_text_of_a_file_in_one_line(tmp_path, capsys):
    for path in hostile_files(tmp_path):
        for words in ([], ["--by", "line"], ["--by", "buffer"], ["--by", "block"]):
            assert main(["counters", str(path), *words]) == 0
    out = capsys.readouterr().out
    assert "<img" in out
    assert not INVISIBLE.search(out)
    assert not re.search("^(::|owned)", out, re.M)


def test_an_error_is_one_line_whatever_it_names(tmp_path, capsys):
    path = tmp_path / "a\x1b]0;owned\x07\n::error::owned.npz"
    path.write_bytes(b"PK")
    assert main(["counters", str(path)]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert not INVISIBLE.search(error)


@pytest.mark.parametrize("form", ["svg", "csv"])
def test_the_texts_of_a_measurement_are_no_markup_of_a_chart(tmp_path, form):
    application()
    measured = measurement(10.0, 11.0, 12.0)
    device = replace(measured.device, name=HOSTILE)
    source = Source(tmp_path / "a.json", replace(measured, device=device), recorded=False)
    path = tmp_path / f"chart.{form}"
    write_figure(build([source], Choice("bars")), path, Page((960, 540)))
    text = path.read_text()
    assert not INVISIBLE.search(text)
    assert not re.search("^::error", text, re.M)
    if form == "svg":
        assert not list(ElementTree.fromstring(text).iter("{http://www.w3.org/2000/svg}img"))


def test_a_label_a_tip_and_a_line_show_all_that_stands_in_a_text():
    application()
    assert PlainLabel("<b>a</b>\x1b\nb").text() == "<b>a</b>\\x1b\nb"
    assert PlainLabel().textFormat() == Qt.TextFormat.PlainText
    assert RichLabel().textFormat() == Qt.TextFormat.RichText
    assert plain_tip("i < n & k") == "i < n & k"
    assert plain_tip("<b>a & b</b>\nc") == "<qt>&lt;b&gt;a &amp; b&lt;/b&gt;<br>c</qt>"
    assert (
        escape_controls("a\tb\r\n\x85\u2028\u202e\udcff é 🦊") == "a\\tb\\r\\n\\x85\\u2028\\u202e\\udcff é 🦊"
    )
    assert escape_controls_in_lines("a\tb\n\x1b") == "a\tb\n\\x1b"
    assert replace_controls("a\x1b\u202e\nb") == "a\u241b\ufffd\nb"


def test_every_label_and_tip_of_the_program_is_made_so():
    files = {path: ast.parse(path.read_text(encoding="utf-8")) for path in APP.rglob("*.py")}
    assert [
        f"{path.relative_to(APP)}:{node.lineno}"
        for path, tree in files.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and not _is_plain(node) and path.name != "plain_text.py"
    ] == []


def test_every_command_prints_through_what_spells_out_control_characters():
    files = {path: ast.parse(path.read_text(encoding="utf-8")) for path in APP.rglob("*.py")}
    assert [
        f"{path.relative_to(APP)}:{node.lineno}"
        for path, tree in files.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and not _prints_what_is_safe(node) and path.name not in PRINTERS
    ] == []


def _prints_what_is_safe(call: ast.Call) -> bool:
    """Accept a call that does not print, or prints a constant or escaped text."""
    if getattr(call.func, "id", "") != "print":
        return True
    text = call.args[0]
    name = getattr(text.func, "attr", getattr(text.func, "id", "")) if isinstance(text, ast.Call) else ""
    constant = isinstance(text, ast.Constant) or (isinstance(text, ast.Name) and text.id.isupper())
    return constant or name in ("escape_controls", "dumps", "script")


def _is_plain(call: ast.Call) -> bool:
    """Accept a call that makes no label of Qt, and whose tooltip is a constant or went through our function."""
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    if name not in TIPS:
        return name not in (
            "QLabel",
            "QMessageBox",
            "QErrorMessage",
            "QTextBrowser",
            "setHtml",
            "setWhatsThis",
        )
    text = call.args[TIPS[name]]
    ours = isinstance(text, ast.Call) and getattr(text.func, "id", "") == "plain_tip"
    return ours or isinstance(text, ast.Constant)
