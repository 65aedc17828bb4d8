"""The Share button: what can be shared now, the reason for the rest, and files of the kind that was chosen."""

from __future__ import annotations

import pytest
from PySide6.QtWidgets import QFileDialog

from tilescope.app.lecture.library import TOUR
from tilescope.app.window.recording.dialog import RenderDialog
from tilescope.app.window.share import FILM, HANDOUT, NO_LECTURE, PAGE
from windows import settle, wait_until


def open_menu(window):
    """Return the menu as it is when the button is pressed."""
    menu = window.toolbar.share.menu()
    menu.aboutToShow.emit()
    return menu


def test_the_button_offers_every_kind_and_says_why_not(window):
    entries = open_menu(window).entries
    assert [text for text, action in entries.items() if not action.isEnabled()] == [HANDOUT]
    assert NO_LECTURE in entries[HANDOUT].text()
    assert len(entries) == 6


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
