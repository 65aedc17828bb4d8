"""The menu: what is on has a check mark, and what is in it says what it is for."""

from __future__ import annotations

from PySide6.QtWidgets import QLabel, QMenu, QWidgetAction

from tilescope.app.window.actions import DARK, OWN, SYSTEM, WORK_ITEM


def opened_menu(window, title: str) -> QMenu:
    """Return a menu as it is when it is opened."""
    menu = next(action.menu() for action in window.toolbar.menu.menu().actions() if action.text() == title)
    menu.aboutToShow.emit()
    return menu


def checked(window, title: str) -> set[str]:
    return {action.text() for action in opened_menu(window, title).actions() if action.isChecked()}


def test_what_is_on_is_checked(window):
    window.look.show("light", 1.0, False, "own")
    assert checked(window, "View") == {"Inspector", "Toolbar", OWN}
    assert checked(window, "Play") == set()
    assert "Show timer" not in checked(window, "Lectures")  # without a lecture
    for name in (DARK, "Reduced motion", WORK_ITEM, "Loop"):
        window.commands[name].trigger()
    assert checked(window, "View") >= {DARK, "Reduced motion", WORK_ITEM} and OWN not in checked(
        window, "View"
    )
    assert checked(window, "Play") == {"Loop"}
    window.commands[SYSTEM].trigger()
    assert SYSTEM in checked(window, "View")
    window.commands["Loop"].trigger()
    window.look.show("light", 1.0, False, "own")


def test_the_slider_in_the_menu_names_its_parameter(window):
    row = next(a for a in opened_menu(window, "View").actions() if isinstance(a, QWidgetAction))
    label = row.defaultWidget().findChildren(QLabel)[0]
    assert "Text size" in label.text()
    assert label.buddy().accessibleName() == "Text size in percent"


def test_a_list_shows_as_much_as_the_screen_allows_and_that_there_is_more(window):
    combo = window.toolbar.scenario_combos[0]
    combo.showPopup()
    shown = combo.view().height() / combo.view().sizeHintForRow(0)
    bar = combo.view().verticalScrollBar()
    assert shown >= min(
        combo.count(), 0.7 * window.screen().availableSize().height() / combo.view().sizeHintForRow(0)
    )
    assert bar.isVisible() == (bar.maximum() > 0)
    combo.hidePopup()


def test_a_list_shows_the_lessons(window):
    combo = window.toolbar.scenario_combos[0]
    for i in range(combo.count()):
        scenario = window.toolbar.scenarios.get(combo.itemData(i))
        assert scenario is None or combo.itemData(i, 3) == scenario.lesson  # Qt.ToolTipRole
