"""The command palette: finds by parts of names, runs what is chosen, and shows keys and explanations."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from tilescope.app.exercises.model.library import SHIPPED
from tilescope.app.lectures.model.library import TOUR
from tilescope.app.window.palette import Entry, Palette, matched_letters, ranked
from windows import press, settle, wait_until


@pytest.fixture
def palette(window):
    press(window, "Ctrl+Shift+P")
    wait_until(lambda: window.findChild(Palette) is not None)
    shown = window.findChild(Palette)
    yield shown
    if window.findChild(Palette) is not None:
        shown.close()
    wait_until(lambda: window.findChild(Palette) is None)


def chosen(palette: Palette) -> Entry:
    entry = palette.chosen()
    assert entry is not None
    return entry


def test_a_command_is_listed_with_its_key_and_runs(window, palette):
    QTest.keyClicks(palette.words, "larger te")
    assert (chosen(palette).title, chosen(palette).keys) == ("Larger text", "Ctrl++ or Ctrl+=")
    before = window.theme.scale
    QTest.keyClick(palette.words, Qt.Key.Key_Return)
    assert window.theme.scale > before
    wait_until(lambda: window.findChild(Palette) is None)
    window.look.scale_text(1.0)


def test_a_scenario_has_a_line_of_explanation_and_opens(window, palette):
    QTest.keyClicks(palette.words, "sum-sequential")
    entry = chosen(palette)
    assert not any("`" in scenario.lesson for scenario in window.toolbar.scenarios.values())
    assert (entry.kind, entry.detail) == ("Scenario", window.toolbar.scenarios["sum-sequential"].lesson)
    QTest.keyClick(palette.words, Qt.Key.Key_Return)
    settle(window)
    assert window.stage.setups[window.stage.focus].scenario == "sum-sequential"


def test_arrows_move_and_escape_closes_without_running(window, palette):
    before, first = window.bookmark(), chosen(palette)
    QTest.keyClick(palette.words, Qt.Key.Key_Down)
    assert chosen(palette) != first
    QTest.keyClick(palette.words, Qt.Key.Key_Up)
    assert chosen(palette) == first
    QTest.keyClick(palette.words, Qt.Key.Key_Escape)
    wait_until(lambda: window.findChild(Palette) is None)
    assert window.bookmark() == before


def test_lectures_exercises_and_keys_of_fields_are_listed(palette):
    for words, kind in (("banks", "Lecture"), ("transpose", "Exercise"), ("drag its name", "Shortcut")):
        palette.words.setText(words)
        assert kind in {entry.kind for entry in palette.shown}


def test_an_unavailable_command_reports_it_and_does_nothing(window, palette):
    QTest.keyClicks(palette.words, "leave the lecture")
    assert not chosen(palette).is_enabled and chosen(palette).detail
    QTest.keyClick(palette.words, Qt.Key.Key_Return)
    assert palette.isVisible()


def test_words_without_a_match_show_an_empty_list(palette):
    QTest.keyClicks(palette.words, "xyzzy")
    assert palette.shown == [] and palette.chosen() is None
    QTest.keyClick(palette.words, Qt.Key.Key_Return)
    assert palette.isVisible()


def test_letters_may_be_scattered_and_better_matches_come_first():
    titles = ("Open trace…", "Save trace…", "Start", "Restart timer")
    entries = [Entry(title, "File", lambda: None) for title in titles]
    assert [entry.title for entry in ranked(entries, "svtr")] == ["Save trace…"]
    assert [entry.title for entry in ranked(entries, "start")] == ["Start", "Restart timer"]
    assert matched_letters("save trace…", "trace") == (5, 6, 7, 8, 9)
    assert matched_letters("save trace…", "q") == ()


def test_the_help_menu_opens_the_tour(window):
    window.commands["Two-minute tour"].trigger()
    settle(window)
    assert window.lectures.player.lecture.path == TOUR
    window.lectures.leave()
    settle(window)


def test_the_key_for_exercises_lists_them_all_and_a_folder(window):
    press(window, "Ctrl+Alt+E")
    (listed,) = [w for w in window.findChildren(Palette) if w.isVisible()]
    kinds = [entry.kind for entry in listed.shown]
    assert kinds == ["Exercise"] * len(list(SHIPPED.glob("*.md"))) + ["Exercises"]
    QTest.keyClicks(listed.words, "stencil")
    assert "stencil" in chosen(listed).title
    press(window, "Escape")


def test_names_from_textbooks_find_scenarios(palette):
    for words, name in (
        ("vector add", "vector-"),
        ("saxpy", "vector-"),
        ("reduction", "sum-"),
        ("stencil", "jacobi-"),
    ):
        palette.words.setText(words)
        assert any(entry.name.startswith(name) for entry in palette.shown), words


def test_a_command_that_is_not_available_states_the_reason(window, palette):
    reasons = {entry.title: entry.detail for entry in palette.entries if not entry.is_enabled}
    assert reasons["Next step"] == reasons["Handout…"] == "Open a lecture first"
    assert reasons["Next hint"] == "Open an exercise first"
    assert reasons["Stop the search for an order"] == "No search is running"
    assert all(reasons.values())
