"""A lecturer's other tools: questions, the blank screen, the list of steps, the clock, the full screen."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QRect, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QWidget

from presenting import go_to_step, present, wait_for_step, write_lecture
from tilescope.app.lectures.player.caption import unbroken
from tilescope.app.lectures.player.question_card import ChoiceButton
from tilescope.app.lectures.player.step_list import StepList
from tilescope.app.panels.side import TABS
from windows import press, settle, wait_until

ASKS, NUMBER = 3, 4
RACE = """# A race

## How many?

```tilescope
show: count-racing:num_blocks=1,threads=2,schedule=sequential
at: start
play: to end over 0.2 s
panel: source
ask: What does the counter hold?
choices: 1 | 2
answer: 2
```

Nothing is lost in this order.

## Its finding

```tilescope
panel: findings
```
"""


@pytest.fixture
def player(window, tmp_path):
    window.resize(1000, 640)
    player = present(window, write_lecture(tmp_path))
    yield player
    player.close()
    wait_for_step(window)


def texts(widget: QWidget) -> Iterator[str]:
    """Yield all that a widget and what is in it say, to the eye or to a screen reader."""
    for part in (widget, *widget.findChildren(QWidget)):
        yield part.accessibleName()
        yield part.accessibleDescription()
        yield part.toolTip()
        if isinstance(part, QLabel):
            yield part.text()


def choices(window) -> list[ChoiceButton]:
    return window.lectures.card.buttons


def test_a_choice_is_taken_by_its_key_and_the_answer_shown_by_colour_and_sign(window, player):
    go_to_step(window, ASKS, play=True)
    names = [choice.accessibleName() for choice in choices(window)]
    right = int(player.answer().quantity.value)
    assert names == ["A: 16", f"B: {right}", "C: none at all"]
    press(window, "3")
    assert player.chosen == 2
    assert [choice.accessibleName() for choice in choices(window)] == [*names[:2], "C: none at all, chosen"]
    press(window, "1")
    assert player.chosen == 0
    press(window, "PageDown")
    assert player.is_revealed and player.number == ASKS
    spoken = [choice.accessibleName() for choice in choices(window)]
    assert spoken == ["A: 16, chosen, not right", f"B: {right}, the right answer", "C: none at all"]
    assert [button.sign.pixmap().isNull() for button in choices(window)] == [False, False, True]
    press(window, "3")
    assert player.chosen == 0  # it is over


def test_nothing_reveals_the_answer_before_it_is_shown(window, player):
    go_to_step(window, ASKS, play=True)
    before = set(texts(window.central.caption))
    assert not any("takes" in text for text in before if "How many" not in text)
    states = {button.styleSheet() for button in choices(window)}
    assert len(states) == 1
    places = [pane.geometry() for pane in window.central.panes]
    player.reveal()
    wait_for_step(window)
    assert [pane.geometry() for pane in window.central.panes] == places  # nothing moves
    assert any("The tiled one takes" in text for text in texts(window.central.caption))


def test_no_pane_reports_the_end_of_its_launch_while_a_question_is_open(window, player):
    headings = [pane.heading for pane in window.central.panes]
    go_to_step(window, ASKS, play=True)
    assert all(heading.verdict.isHidden() and heading.sign.isHidden() for heading in headings)
    player.reveal()
    wait_for_step(window)
    assert all("NumPy" in heading.verdict.text() and heading.sign.isVisible() for heading in headings)
    go_to_step(window, ASKS, play=True)
    player.close()
    wait_for_step(window)
    assert not any(pane.heading.sign.isHidden() for pane in window.central.panes)


def test_an_open_question_shows_no_end_no_number_and_no_fault(window, tmp_path):
    window.resize(1000, 640)
    player = present(window, write_lecture(tmp_path, RACE))
    central = window.central
    memory, counters = central.panes[0].memory, central.panes[0].counters
    wait_until(lambda: player.sessions()[0].is_examined)
    assert player.moment().begin == window.playhead.moment == 0 and not window.playhead.playing
    assert "1" not in counters.accessibleDescription() and "?" in counters.accessibleDescription()
    findings = TABS.index("findings")
    assert central.side.signs.isHidden() and central.side.bar.tabToolTip(findings) == ""
    window.playhead.seek(player.moment().stand)  # the lecturer looks ahead
    settle(window)
    histogram = central.panes[0].histogram
    assert "Race" not in memory.accessibleDescription()
    assert histogram.isVisible() and "Sequential" not in histogram.accessibleDescription()
    hidden = memory.grab().toImage()
    press(window, "PageDown")
    assert player.is_revealed and player.is_playing  # from the start again
    wait_until(lambda: not player.is_playing)
    settle(window)
    assert window.playhead.moment == player.moment().stand
    assert "Sequential hides the race" in histogram.accessibleDescription()
    assert "Race" in memory.accessibleDescription() and "?" not in counters.accessibleDescription()
    shown, legend = memory.grab().toImage(), QRect(0, memory.height() - 20, memory.width(), 20)
    assert shown != hidden and shown.copy(legend) != hidden.copy(legend)
    assert central.side.signs.isHidden()  # until the lecture shows findings
    press(window, "PageDown")
    wait_for_step(window)
    assert central.side.signs.isVisible() and "error" in central.side.bar.tabToolTip(findings)
    player.close()
    wait_for_step(window)


def test_a_number_is_guessed_and_its_mark_shown(window, player):
    go_to_step(window, NUMBER, play=True)
    card = window.lectures.card
    assert card.field.isVisible() and not card.answer.text()
    card.field.setFocus()
    QTest.keyClicks(card.field, "17x")
    assert card.field.text() == "17"
    QTest.keyClick(card.field, Qt.Key.Key_Return)
    assert player.is_revealed
    assert card.answer.text() == "Near: 16, exact from the trace"


@pytest.mark.parametrize(("guess", "verdict"), [("16", "Right: 16"), ("4", "No: 16"), ("", "16")])
def test_a_guess_is_right_or_near_or_neither(window, player, guess, verdict):
    go_to_step(window, NUMBER, play=True)
    window.lectures.card.field.setText(guess)
    player.reveal()
    assert window.lectures.card.answer.text() == f"{verdict}, exact from the trace"


def test_b_blanks_the_screen_and_a_step_key_only_brings_it_back(window, player):
    for way_back in ("B", "Escape", "PageDown", "PageUp"):
        press(window, "B")
        image = window.grab().toImage()
        corners = [(5, 5), (image.width() - 5, image.height() - 5), (image.width() // 2, image.height() // 2)]
        assert {image.pixelColor(*corner).name() for corner in corners} == {"#000000"}
        press(window, way_back)
        assert not window.lectures.blank.isVisible()
        assert player.lecture is not None and player.number == 0


def test_the_list_of_steps_filters_and_jumps(window, player):
    go_to_step(window, 1)
    press(window, "Ctrl+G")
    dialog = window.findChild(StepList)
    lines = [dialog.list.item(row).text() for row in range(dialog.list.count())]
    assert lines[3] == "4   How many sectors?   (question)" and dialog.list.currentRow() == 1
    QTest.keyClicks(dialog.words, "block last")
    shown = [i for i in range(len(lines)) if not dialog.list.item(i).isHidden()]
    assert shown == [5]
    QTest.keyClick(dialog.words, Qt.Key.Key_Return)
    wait_for_step(window)
    assert player.number == 5


def test_the_foot_shows_step_and_moment_each_on_one_line(window, player):
    foot, step = window.central.caption.foot, unbroken("step 1 of 6")
    assert foot.text() == f"Exact from the trace.   {step}"
    press(window, "T")
    clock = foot.text().removeprefix(f"Exact from the trace.   {step}   ")
    assert clock.startswith(unbroken("0 min · ")) and " " not in clock
    press(window, "T")
    assert foot.text().endswith(step)


def test_f5_shows_a_lecture_on_the_full_screen_and_escape_leaves_that_first(window, player):
    press(window, "F5")
    wait_until(window.isFullScreen)
    press(window, "Escape")
    wait_until(lambda: not window.isFullScreen())
    assert player.lecture is not None
    player.close()
    wait_for_step(window)
    assert window.bookmark().layout == "ordinary"
    press(window, "F5")
    assert window.bookmark().layout == "lecture" and not window.isFullScreen()
    press(window, "F5")


def test_the_menu_lists_a_lecture_by_its_title(window, player, monkeypatch, tmp_path):
    shipped = tmp_path / "1-one.md"
    shipped.write_text("# Sharing & sectors\n", encoding="utf-8")
    monkeypatch.setattr("tilescope.app.lectures.player.commands.shipped_lectures", lambda: [shipped])
    part = window.menu.parts["Lectures"]
    part.aboutToShow.emit()
    assert part.actions()[0].text() == "Sharing && sectors"
    assert str(player.lecture.path) in [str(path) for path in window.lectures.recent()]


def test_a_lecture_is_checked_while_it_is_presented(window, player):
    path = player.lecture.path
    text = path.read_text("utf-8").replace("{right.global_sectors}", "{right.sectors}")
    path.write_text(text, "utf-8")
    line = text[: text.index("{right.sectors}")].count("\n") + 1
    window.lectures.check()
    wait_until(lambda: bool(mistakes()))
    labels = [label.text() for label in mistakes()[0].findChildren(QLabel)]
    assert any(
        text.startswith(f"line {line}: the right pane has no sectors; did you mean ") for text in labels
    )
    mistakes()[0].close()


def mistakes() -> list[QWidget]:
    return [w for w in QApplication.topLevelWidgets() if w.windowTitle() == "Mistakes in lecture.md"]
