"""The Share button: what can be shared now, the reason for the rest, and files of the kind that was chosen."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QRect, QTimer
from PySide6.QtWidgets import QComboBox, QFileDialog, QToolButton

from pdf_text import text_of
from tilescope.app.films.dialog import RenderDialog
from tilescope.app.lectures.model.library import TOUR
from tilescope.app.window.sharing import FILM, HANDOUT, NO_LECTURE, PAGE, QUESTIONS
from windows import press, settle, wait_until


def open_menu(window):
    """Return the menu as it is when the button is pressed."""
    menu = window.toolbar.share.menu()
    menu.aboutToShow.emit()
    return menu


def test_the_button_offers_every_kind_or_the_reason_against_it(window):
    entries = open_menu(window).entries
    assert [text for text, action in entries.items() if not action.isEnabled()] == [HANDOUT, QUESTIONS]
    assert NO_LECTURE in entries[HANDOUT].text()
    assert len(entries) == 7


@pytest.mark.parametrize(
    ("text", "suffix", "start"),
    [
        ("PNG picture…", ".png", b"\x89PNG"),
        ("SVG picture…", ".svg", b"<?xml"),
        ("PDF picture…", ".pdf", b"%PDF"),
    ],
)
def test_a_picture_has_the_chosen_kind(window, tmp_path, monkeypatch, text, suffix, start):
    asked = []

    def answer(_parent, _title, suggestion, filters):
        asked.append((suggestion, filters))
        return str(tmp_path / "picture"), filters.split(";;")[0]

    monkeypatch.setattr(QFileDialog, "getSaveFileName", answer)
    open_menu(window).entries[text].trigger()
    assert asked[0][0].endswith(suffix)
    assert all(f"*{suffix})" in kind for kind in asked[0][1].split(";;"))
    assert (tmp_path / f"picture{suffix}").read_bytes().startswith(start)


@pytest.mark.parametrize(("text", "is_page"), [(FILM, False), (PAGE, True)])
def test_film_and_page_open_the_dialog_with_their_kind(window, text, is_page):
    open_menu(window).entries[text].trigger()
    dialog = window.findChild(RenderDialog)
    assert (dialog.fields.chosen_kind().suffix == ".html") == is_page
    dialog.close()
    wait_until(lambda: window.findChild(RenderDialog) is None)


def test_the_handout_of_an_open_lecture_is_written(window, tmp_path, monkeypatch):
    window.lectures.open(TOUR)
    settle(window)
    menu, path = open_menu(window), tmp_path / "tour.pdf"
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(path), ""))
    menu.entries[HANDOUT].trigger()
    wait_until(lambda: HANDOUT not in menu.reasons())
    assert path.read_bytes().startswith(b"%PDF")
    window.lectures.leave()
    settle(window)


QUESTION = """# One

## How many?

```tilescope
show: matmul-tiled:m=4,k=4,n=4,tile=2
at: end
ask: How many threads are in a block?
answer: left.threads
```

It has {left.threads}.
"""


@pytest.mark.parametrize(("text", "is_answered"), [(HANDOUT, True), (QUESTIONS, False)])
def test_a_handout_is_in_the_menu_of_lectures_with_or_without_answers(
    window, tmp_path, monkeypatch, text, is_answered
):
    lecture, path = tmp_path / "one.md", tmp_path / "one"
    lecture.write_text(QUESTION)
    assert not window.commands[text].isEnabled()
    assert window.lectures.open(lecture)
    settle(window)
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(path), ""))
    menu = open_menu(window)
    window.commands[text].trigger()
    wait_until(lambda: HANDOUT not in menu.reasons())
    words = text_of(path.with_suffix(".pdf").read_bytes())
    assert "Howmanythreads" in words  # the reader drops spaces
    assert ("Answer" in words) == ("Ithas" in words) == is_answered
    window.lectures.leave()
    settle(window)


PROGRAM = """import numpy as np
from numba import cuda


@cuda.jit
def double(a):
    i = cuda.grid(1)
    a[i] = 2 * a[i]


double[2, 16](np.arange(32.0))
"""


@pytest.mark.parametrize("agrees", [False, True])
def test_a_handout_shows_the_programs_that_the_user_ran(window, tmp_path, monkeypatch, agrees):
    (tmp_path / "mine.py").write_text(PROGRAM)
    (tmp_path / "one.md").write_text("# One\n\n## Own\n\n`show: mine.py`\n\nIt has {here.blocks} blocks.\n")
    assert window.lectures.open(tmp_path / "one.md")
    wait_until(lambda: window.lectures.cover.answer.isVisible())
    if agrees:
        window.lectures.cover.answer.click()
        wait_until(lambda: not window.lectures.cover.isVisible())
    asked = []

    def answer(_parent, _title, suggestion, _filters):
        asked.append(suggestion)
        return suggestion, ""

    monkeypatch.setattr(QFileDialog, "getSaveFileName", answer)
    menu, shown = open_menu(window), []
    monkeypatch.setattr(window.central.notice, "inform", lambda sentence, *_: shown.append(sentence))
    menu.entries[HANDOUT].trigger()
    wait_until(lambda: HANDOUT not in menu.reasons())
    assert asked == [str(tmp_path / "one.pdf")]  # next to the lecture
    words = text_of((tmp_path / "one.pdf").read_bytes())
    assert ("Ithas2blocks" in words) == agrees == ("onceyouagree" not in words)
    assert ("have no picture" in shown[-1]) != agrees
    window.lectures.leave()
    settle(window)


def test_a_lecture_becomes_a_film(window, tmp_path, monkeypatch):
    lecture = tmp_path / "one.md"
    lecture.write_text(QUESTION)
    assert window.lectures.open(lecture)
    settle(window)
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(tmp_path / "one"), "GIF (*.gif)"))
    menu = open_menu(window)
    window.commands["Save as film…"].trigger()
    wait_until(lambda: HANDOUT not in menu.reasons())
    assert (tmp_path / "one.gif").read_bytes().startswith(b"GIF89a")
    window.lectures.leave()
    settle(window)


def test_the_menu_of_lectures_writes_a_web_page(window, tmp_path, monkeypatch):
    entry, path = window.commands["Save as web page…"], tmp_path / "tour.html"
    assert not entry.isEnabled()  # without a lecture
    window.lectures.open(TOUR)
    settle(window)
    menu = open_menu(window)
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(path), ""))
    entry.trigger()
    assert HANDOUT in menu.reasons()
    wait_until(lambda: HANDOUT not in menu.reasons())
    assert path.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    window.lectures.leave()
    settle(window)


@pytest.mark.parametrize("is_dark", [False, True])
def test_qts_own_file_dialog_shows_its_arrows_and_icons(window, is_dark):
    window.look.use("dark" if is_dark else "light")
    images = []

    def look():
        (dialog,) = window.findChildren(QFileDialog)
        arrows = [
            (box, QRect(box.width() - 16, 0, 16, box.height())) for box in dialog.findChildren(QComboBox)
        ]
        images.extend(box.grab(end).toImage() for box, end in arrows)
        enabled = [button for button in dialog.findChildren(QToolButton) if button.isEnabled()]
        images.extend(button.grab().toImage() for button in enabled)
        dialog.reject()

    QTimer.singleShot(0, window, lambda: wait_until(lambda: window.findChildren(QFileDialog)) or look())
    press(window, "Ctrl+E")
    assert len(images) > 4
    for image in images:
        ground = image.pixelColor(5, 6).lightness()
        inner = [(x, y) for x in range(5, image.width() - 5) for y in range(6, image.height() - 6)]
        assert max(abs(image.pixelColor(x, y).lightness() - ground) for x, y in inner) > 60
    window.look.use("light")
