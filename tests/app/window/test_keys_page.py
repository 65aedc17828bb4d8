"""The page of keys: two columns, filtered by typing a command or a key."""

from __future__ import annotations

from PySide6.QtTest import QTest

from tilescope.app.window.dialogs import KeysPage
from windows import wait_until


def test_the_keys_are_in_two_columns_and_listed_by_name_and_by_key(window):
    window.commands["Keyboard shortcuts"].trigger()
    page = window.findChild(KeysPage)
    left, right = (label.text() for label in page.columns)
    assert "Save picture" in left and "Full screen" in right
    QTest.keyClicks(page.words, "save pict")
    assert "Ctrl+E" in page.columns[0].text() and "Full screen" not in page.columns[1].text()
    page.words.setText("f11")
    assert "Full screen" in page.columns[0].text()
    page.words.setText("xyzzy")
    assert page.columns[0].text() == "No key matches" and not page.columns[1].text()
    page.close()
    wait_until(lambda: window.findChild(KeysPage) is None)
