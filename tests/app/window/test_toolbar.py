"""The bar at the top: it says what the pictures are of, and an edit changes what was edited and nothing else."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from tilescope.app.model.first_bookmark import setups_of
from tilescope.app.state.actions import Focus
from windows import SMALL, act, enter, open_window, parameter_field, press, settle, wait_until

VECTORS = ("vector-increment:count=300", "vector-multiply:count=600,num_blocks=3")


def notes(window) -> dict[str, str]:
    """Return the texts next to the fields, by the parameter's name."""
    positions = {}
    for name, entry in window.toolbar.fields.items():
        for chip in window.toolbar._chips:
            if entry in chip.notes and not chip.notes[entry].isHidden():
                positions[name] = chip.notes[entry].text()
    return positions


def captions(window) -> list[str]:
    return [chip.caption.text() for chip in window.toolbar._chips]


def values(window, name: str) -> list[object]:
    return [setup.values.get(name) for setup in window.stage.setups]


def test_an_edit_keeps_the_other_parameters_of_the_other_pane():
    with open_window(("vector-double", "transpose-tile")) as window:
        window.toolbar.pick(1, "vector-multiply")
        settle(window)
        lengths = [len(s.trace.initial[0]) for s in window.stage.sessions]
        assert lengths[0] != lengths[1]
        act(window, Focus(0))
        enter(window, "num_blocks", "2")
        wait_until(lambda: window.stage.setups[1].values.get("num_blocks") == 2)
        settle(window)
        assert [len(s.trace.initial[0]) for s in window.stage.sessions] == lengths
        assert "num_blocks" not in window.stage.setups[0].values


def test_a_field_shows_the_value_of_the_other_pane():
    with open_window(VECTORS) as window:
        act(window, Focus(0))
        assert parameter_field(window, "count").text() == "300"
        assert notes(window)["count"] == "≠ 600"
        assert "Blocks, right" in captions(window)
        act(window, Focus(1))
        assert parameter_field(window, "count").text() == "600"
        assert notes(window)["count"] == "≠ 300"
        assert "right" not in " ".join(captions(window)).replace("Blocks, right", "")


def test_a_field_has_both_labels_where_the_panes_name_it_differently():
    small = "m=4,k=4,n=4,tile=2"
    with open_window((f"matmul-naive-col-on-x:{small}", f"matmul-tiled:{small}")) as window:
        assert "Block / Tile" in captions(window)


def test_a_size_typed_for_both_panes_is_taken_by_both_and_no_longer_differs():
    with open_window(VECTORS) as window:
        window.toolbar.same.setChecked(True)
        act(window, Focus(0))
        enter(window, "count", "300")  # what stands there already, but not in the other pane
        wait_until(lambda: values(window, "count") == [300, 300])
        settle(window)
        assert "count" not in notes(window)


def test_a_field_of_only_one_pane_goes_to_that_pane():
    with open_window(VECTORS) as window:
        act(window, Focus(0))
        window.toolbar.same.setChecked(False)
        enter(window, "num_blocks", "2")
        wait_until(lambda: values(window, "num_blocks") == [None, 2])
        settle(window)
        assert window.stage.sessions[1].trace.grid == (2, 1, 1)


def test_a_schedule_is_changed_without_the_sizes():
    with open_window(VECTORS) as window:
        window.toolbar.same.setChecked(True)
        window.toolbar.schedule.choose("sequential")
        window.toolbar.schedule.activated.emit(window.toolbar.schedule.currentIndex())
        settle(window)
        assert [setup.schedule.kind for setup in window.stage.setups] == ["sequential"] * 2
        assert values(window, "count") == [300, 600]


def test_schedules_that_differ_are_both_named():
    with open_window((f"matmul-tiled:{SMALL}", f"matmul-tiled:{SMALL},schedule=sequential")) as window:
        act(window, Focus(0))
        window.resize(1600, 900)
        assert window.toolbar.order.caption.text() == "Order"
        assert window.toolbar.schedule.text() == "lockstep"
        assert window.toolbar.order.notes[window.toolbar.schedule].text() == "≠ sequential"
        assert window.toolbar.more.text() == "More"


@pytest.mark.parametrize(
    ("other", "titles"),
    [
        ("m=16,k=16,n=16,tile=16", ["tile 8", "tile 16"]),
        (
            f"{SMALL},dtype=float64,schedule=sequential",
            ["type float32 · lockstep", "type float64 · sequential"],
        ),
    ],
)
def test_two_panes_of_one_kernel_differ_in_their_titles_and_timelines(other, titles):
    with open_window((f"matmul-tiled:{SMALL}", f"matmul-tiled:{other}")) as window:
        assert [timeline.difference_text for timeline in window.central.timelines] == titles
        assert [pane.heading.difference.toolTip() for pane in window.central.panes] == titles
        assert all(pane.heading.difference.isVisible() for pane in window.central.panes)


def test_panes_that_do_not_differ_say_nothing_more(window):
    assert [pane.heading.difference.isVisible() for pane in window.central.panes] == [False, False]
    assert notes(window) == {}


def test_typing_goes_on_while_a_picture_comes():
    with open_window() as window:
        entry = parameter_field(window, "m")
        enter(window, "m", "2")
        window.store.invalidate()
        QApplication.processEvents()  # as when the session of an earlier wish comes
        QTest.keyClicks(entry, "4")
        wait_until(lambda: values(window, "m") == [24, 24])
        settle(window)


def test_escape_puts_back_what_was_typed_in_vain(window):
    enter(window, "m", "99999")
    wait_until(lambda: window.notice.message_type == "error")
    press(window, "Escape")
    assert parameter_field(window, "m").text() == "16"
    assert not parameter_field(window, "m").property("invalid")
    assert window.notice.isHidden()


def test_a_file_that_cannot_be_opened_leaves_the_bar_as_the_picture_is(tmp_path):
    with open_window() as window:
        before = window.stage.setups
        path = tmp_path / "nope.npz"
        window.files.open_path(str(path))
        settle(window)
        assert window.notice.message_type == "error"
        assert window.toolbar.scenario_combos[1].currentText() == "Tiled, shared memory"
        assert window.stage.setups == before
        assert window.settings.recent == ()
        enter(window, "m", "24")
        wait_until(lambda: values(window, "m") == [24, 24])
        settle(window)
        assert window.notice.isHidden()


def test_a_message_disappears_with_its_launch():
    with open_window() as window:
        window.notice.inform("The tracing was cancelled; the picture shows the previous launch.")
        enter(window, "m", "24")
        wait_until(lambda: values(window, "m") == [24, 24])
        assert not window.notice.is_shown()
        settle(window)


def test_the_tab_key_goes_through_the_bar_from_left_to_right(window):
    window.toolbar.scenario_combos[0].setFocus()
    places = []
    for _ in range(9):
        widget = QApplication.focusWidget()
        places.append(widget.mapTo(window, widget.rect().center()).x())
        QTest.keyClick(widget, Qt.Key.Key_Tab)
    assert places == sorted(places)


def test_the_bar_is_one_row_while_it_can_be():
    with open_window(("vector-double", "vector-multiply")) as window:
        window.resize(1900, 900)
        settle(window)
        bar = window.toolbar
        assert bar.brand.isVisible()
        height = bar.height()
        window.resize(bar.flow.sizeHint().width() - 20, 900)
        settle(window)
        assert not bar.brand.isVisible()
        assert bar.height() == height


def test_a_laptop_shows_titles_and_captions():
    with open_window(("histogram-global", "histogram-private")) as window:
        window.resize(1280, 800)
        settle(window)
        window.draw()
        for pane in window.central.panes:
            assert pane.heading.title.text() == pane.heading.session.title
        assert window.toolbar.more.text() == "More" and window.toolbar.order.caption.isVisible()


def test_rare_choices_are_set_apart_and_shown_once_chosen():
    with open_window(("matmul-tiled:m=4,k=4,n=4,tile=2",)) as window:
        window.resize(1600, 900)
        assert "Type of B" not in captions(window)
        assert window.toolbar.more.text() == "More"
        for name, dtype in (("dtype", "int64"), ("dtype_b", "float64")):
            parameter_field(window, name).choose(dtype)
            parameter_field(window, name).picked(dtype)
        wait_until(lambda: window.stage.setups[0].values.get("dtype_b") == "float64")
        settle(window)
        assert window.toolbar.more.text() == "More · type of B float64"
        assert [b.dtype for b in window.stage.sessions[0].trace.buffers[:3]] == ["<i8", "<f8", "<f8"]


def test_one_pane_is_the_first_choice_of_the_right_list():
    with open_window() as window:
        right = window.toolbar.scenario_combos[1]
        assert right.itemText(0) == "None (one pane)"
        assert window.toolbar.scenario_combos[0].itemText(0) != "None (one pane)"
        right.setFocus()
        press(window, "Return")
        wait_until(lambda: right.view().isVisible())
        QTest.keyClick(right.view(), Qt.Key.Key_Home)
        QTest.keyClick(right.view(), Qt.Key.Key_Return)
        wait_until(lambda: len(window.stage.setups) == 1)
        settle(window)


def test_a_click_anywhere_in_the_frame_of_a_field_opens_it(window):
    tile = window.toolbar.fields["tile"]
    chip = tile.parentWidget()
    places = [
        QPoint(x, chip.height() // 2) for x in (2, chip.caption.geometry().right() + 3, chip.width() - 2)
    ]
    for place in places:
        assert chip.childAt(place) is None  # it is no field and no word
        QTest.mouseClick(chip, Qt.MouseButton.LeftButton, pos=place)
        wait_until(lambda: tile.view().isVisible())
        tile.hidePopup()
    QTest.mouseClick(window.toolbar.handles["tile"], Qt.MouseButton.LeftButton)
    wait_until(lambda: tile.view().isVisible())
    tile.hidePopup()
    number = window.toolbar.fields["n"]
    QTest.mouseClick(window.toolbar.handles["n"], Qt.MouseButton.LeftButton)
    assert number.hasFocus() and number.selectedText() == number.text()
    press(window, "Escape")


def test_the_button_of_a_pane_closes_it_and_a_single_pane_has_none():
    with open_window((f"matmul-naive-col-on-x:{SMALL}", f"matmul-tiled:{SMALL}")) as window:
        first = window.central.panes[0].heading.close_button
        assert first.isVisible()
        QTest.mouseClick(first, Qt.MouseButton.LeftButton)
        wait_until(lambda: len(window.central.panes) == 1)
        settle(window)
        assert window.stage.setups[0].scenario == "matmul-tiled"
        assert not window.central.panes[0].heading.close_button.isVisible()


def test_sizes_return_with_their_family_also_in_the_next_window(tmp_path):
    file = tmp_path / "settings.json"
    with open_window((f"matmul-tiled:{SMALL}",), settings=file) as window:
        window.toolbar.pick(0, "vector-double")
        settle(window)
        window.toolbar.pick(0, "matmul-naive-col-on-x")
        settle(window)
        assert [int(values(window, name)[0]) for name in ("m", "k", "n", "tile")] == [16, 16, 16, 8]
        window.toolbar.pick(0, "vector-double")
        settle(window)
        window.close()
    with open_window(("vector-double",), settings=file) as window:
        window.toolbar.pick(0, "matmul-tiled")
        settle(window)
        assert [int(values(window, name)[0]) for name in ("m", "k", "n", "tile")] == [16, 16, 16, 8]


def test_a_block_larger_than_the_matrix_offers_the_one_that_fits():
    with open_window(("matmul-tiled:m=8,k=8,n=8,tile=16",)) as window:
        hint = window.toolbar.fitting
        assert hint.isVisible() and hint.text() == "Use tile 8"
        QTest.mouseClick(hint, Qt.MouseButton.LeftButton)
        wait_until(lambda: values(window, "tile") == [8])
        settle(window)
        assert not hint.isVisible()


def test_the_list_of_colours_is_in_sight_and_stays_in_a_lecture():
    with open_window((f"matmul-tiled:{SMALL}",)) as window:
        colour = window.central.transport.colour
        window.resize(1600, 900)
        assert colour.isVisible() and colour.currentText() == "automatic"
        colour.choose("reads")
        colour.activated.emit(colour.currentIndex())
        QApplication.processEvents()
        assert window.central.panes[0].memory.colour_by == "reads"
        press(window, "C")
        wait_until(lambda: colour.currentText() == "wasted sectors")
        press(window, "F5")
        wait_until(lambda: window.bookmark().layout == "lecture")
        assert colour.isVisible()


def test_other_fields_fit_in_one_row_as_soon_as_they_are_there():
    with open_window(
        ("count-racing:num_blocks=2,threads=64", "count-atomic:num_blocks=2,threads=64")
    ) as window:
        window.look.show("light", 0.8, False, "work-item")
        window.resize(930, 600)
        settle(window)
        height, setups = window.toolbar.height(), window.stage.setups
        window.change_setups(setups_of(("vector-double:count=64,threads=32",)))
        settle(window)
        window.change_setups(setups)  # whose sessions are in memory
        settle(window)
        assert window.toolbar.height() == height
