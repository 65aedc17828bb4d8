"""The layout of a lecture: what it leaves to the pictures, its caption, the zoom to some buffers, and the way back."""

from __future__ import annotations

import msgspec
import pytest
from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QApplication, QLabel, QVBoxLayout

from sessions import grab_image
from tilescope.app.lectures.player.caption import CaptionBar, CaptionCard
from tilescope.app.model.bookmark import decode, encode
from tilescope.app.state.actions import Show, Zoom
from tilescope.app.widgets.theme import Theme
from windows import act, open_window, press, settle

SMALL = "m=16,k=16,n=16,tile=8"
PAIR = (f"matmul-naive-row-on-x:{SMALL}", f"matmul-tiled:{SMALL}")
HALL = QSize(1920, 1080)
TWO_LINES = "A thread reads a row of A and a column of B.<br>Its neighbour reads the same row again."
LONG = (
    "<p>Every element of the result is a row of A times a column of B, and each is read again and again.</p>"
)


@pytest.fixture(scope="module")
def shared():
    with open_window(PAIR) as main_window:
        main_window.resize(HALL)
        settle(main_window)
        yield main_window


@pytest.fixture
def window(shared):
    act(shared, Show(msgspec.structs.replace(shared.bookmark(), layout="ordinary", zoom=(), side="auto")))
    shared.central.caption.show_caption("", "", "")
    shared.resize(HALL)
    seek(shared, shared.playhead.end)
    return shared


def seek(window, moment):
    window.playhead.seek(moment)
    for _ in range(3):
        QApplication.processEvents()
        window.draw()


def cells(window):
    grabbed = window.central.grab()
    assert grabbed.width() == window.central.width()
    return [pane.memory.cell_sizes() for pane in window.central.panes]


def test_cells_have_24_pixels_and_show_their_values_under_a_caption_of_two_lines(window):
    window.central.caption.show_caption("How often?", TWO_LINES, "3 of 12")
    ordinary = cells(window)
    press(window, "F5")
    seek(window, window.playhead.end)
    lecture = cells(window)
    for before, after, pane in zip(ordinary, lecture, window.central.panes, strict=True):
        assert all(size >= 24 for size in after.values())
        assert all(after[name] > before[name] for name in after)
        texts = pane.memory.cell_texts()
        for name in after:
            assert len(texts[name]) == (64 if name.startswith("tile") else 256)
            assert all(text and text != "…" for text in texts[name].values())
    assert window.central.caption.letters == HALL.height() // 40


def test_everything_else_makes_room_and_comes_back_by_its_keys(window):
    central, side = window.central, window.side
    before = window.bookmark(), central.down.sizes(), central.toolbar.isVisible(), side.isVisible()
    press(window, "F5")
    assert window.bookmark().layout == "lecture"
    assert not central.toolbar.isVisible() and not side.isVisible()
    assert window.commands["Lecture layout"].text() == "Lecture layout"
    press(window, "Ctrl+B")
    assert central.toolbar.isVisible()
    press(window, "Ctrl+3")
    assert side.isVisible() and side.tab == "warp"
    press(window, "Ctrl+R", "Ctrl+B", "Ctrl+1")
    assert side.isVisible() and not central.toolbar.isVisible()
    press(window, "Ctrl+R", "F5")
    seek(window, window.playhead.end)
    assert (window.bookmark(), central.down.sizes(), central.toolbar.isVisible(), side.isVisible()) == before


def test_a_bookmark_holds_layout_and_zoom(window):
    press(window, "F5")
    act(window, Zoom(("A", "tile_a")))
    mark = decode(encode(window.bookmark()))
    assert (mark.layout, mark.zoom) == ("lecture", ("A", "tile_a"))
    seek(window, 7)
    shown = grab_image(window.central)
    window.show_bookmark(msgspec.structs.replace(mark, layout="ordinary", zoom=()))
    seek(window, 7)
    assert [set(pane) for pane in cells(window)] == [{"a", "b", "c"}, {"a", "b", "c", "tile_a", "tile_b"}]
    window.show_bookmark(mark)
    seek(window, 7)
    assert grab_image(window.central) == shown


def test_back_returns_to_what_was_shown_and_leaves_the_layout(window):
    first, second = window.stage.setups
    window.change_setups((first, first))
    press(window, "F5")
    window.navigation.travel(-1)
    settle(window)
    assert window.stage.setups == (first, second) and window.bookmark().layout == "lecture"


def test_a_zoom_shows_only_the_named_buffers_and_larger(window):
    press(window, "F5")
    all_cells = cells(window)
    act(window, Zoom(("A", "tile_a")))
    near = cells(window)
    assert [set(pane) for pane in near] == [{"a"}, {"a", "tile_a"}]
    assert all(near[i][name] > all_cells[i][name] for i in (0, 1) for name in near[i])
    act(window, Zoom(("tile_b", "nothing")))
    assert [set(pane) for pane in cells(window)] == [set(all_cells[0]), {"tile_b"}]
    act(window, Zoom(("nothing",)))
    assert cells(window) == all_cells


def test_moments_look_the_same_forwards_and_backwards(window):
    press(window, "F5")
    moments = (3, 9.5, 100.25, window.playhead.end)
    for names in ((), ("C", "tile_a")):
        act(window, Zoom(names))
        forwards = [seek(window, moment) or grab_image(window.central) for moment in moments]
        backwards = [seek(window, moment) or grab_image(window.central) for moment in reversed(moments)]
        assert forwards == backwards[::-1]


def test_what_timelines_do_not_need_is_the_pictures(window):
    timelines = window.central.timelines
    assert [timeline.height() for timeline in timelines] == [t.sizeHint().height() for t in timelines]
    press(window, "F5")
    seek(window, 3)
    assert [timeline.height() for timeline in timelines] == [t.sizeHint().height() for t in timelines]
    assert timelines[0].y() == timelines[1].y() and timelines[0].geometry().right() < timelines[1].x()


def test_on_a_very_large_screen_headings_timelines_and_buttons_grow_with_the_pictures(window):
    central = window.central
    parts = [central.transport.play, central.timelines[0], central.panes[0].heading.title]
    press(window, "F5")
    seek(window, window.playhead.end)
    hall = [part.height() for part in parts]
    window.resize(2 * HALL)
    seek(window, window.playhead.end)
    for before, part in zip(hall, parts, strict=True):
        assert part.height() >= 1.7 * before
    press(window, "F5")  # the ordinary layout
    window.resize(HALL)
    press(window, "F5")
    seek(window, window.playhead.end)
    assert [part.height() for part in parts] == hall


def test_a_lecture_keeps_the_meaning_of_colours_at_1024_by_640(window):
    press(window, "F5")
    window.resize(1024, 640)
    seek(window, window.playhead.end)
    transport = window.central.transport
    assert window.bookmark().layout == "lecture"
    assert transport.colour_chip.isVisible() and transport.legend.isVisible()
    for pane in window.central.panes:
        image = pane.memory.grab().toImage()
        ground = image.pixelColor(1, image.height() - 2)
        foot = range(image.height() - 26, image.height() - 6)
        assert any(image.pixelColor(x, y) != ground for y in foot for x in range(0, image.width(), 3))


@pytest.fixture
def bar():
    caption_bar = CaptionBar(Theme.named("light"))
    caption_bar.fit(HALL)
    yield caption_bar
    caption_bar.deleteLater()


def test_only_a_caption_with_text_is_there(bar):
    assert bar.isHidden()
    for texts in (("Title", "", ""), ("", "text", ""), ("", "", "1 of 2")):
        bar.show_caption(*texts)
        assert not bar.isHidden()
        assert [label.isHidden() for label in (bar.title, bar.text, bar.foot)] == [not text for text in texts]
    bar.show_caption("", "", "")
    assert bar.isHidden()


@pytest.mark.parametrize("size", [QSize(1920, 1080), QSize(1280, 800), QSize(1024, 768), QSize(700, 1000)])
@pytest.mark.parametrize("times", [1, 4, 12, 40])
def test_a_caption_is_never_cut_and_keeps_to_a_third_while_its_letters_can_be_read(bar, size, times):
    bar.fit(size)
    bar.show_caption("A title that is rather long for one line", LONG * times, "11 of 16")
    bar.resize(size.width() - 20, bar.height())
    bar.show()
    bar.layout().activate()
    for label in (bar.title, bar.text, bar.foot):
        assert label.height() >= label.heightForWidth(label.width())
        assert bar.rect().contains(label.geometry())
    least = min(round(size.height() / 40), max(9, size.height() // 64))
    assert bar.letters >= least
    assert bar.height() <= size.height() / 3 or bar.letters == least
    assert times > 1 or bar.letters == round(size.height() / 40)


def test_a_caption_is_plain_text_except_its_html(bar):
    bar.show_caption("<b>a</b>", "<b>a</b> &lt;b&gt;", "<i>1</i>")
    assert bar.title.textFormat() == bar.foot.textFormat() == Qt.TextFormat.PlainText
    assert bar.text.textFormat() == Qt.TextFormat.RichText
    assert bar.accessibleDescription() == "<b>a</b>. a <b>. <i>1</i>"


def test_a_card_stands_below_the_text_until_it_is_taken_away(bar):
    bar.show_caption("Title", "text", "")
    height = bar.height()
    first, second = CaptionCard(), CaptionCard()
    for card, text in ((first, "How many?"), (second, "Which?")):
        QVBoxLayout(card).addWidget(QLabel(text))
    bar.set_card(first)
    bar.resize(1900, bar.height())
    bar.show()
    bar.layout().activate()
    assert bar.height() >= height + first.sizeHint().height()
    assert first.geometry().top() >= bar.text.geometry().bottom()
    bar.set_card(second)
    assert first.parent() is None and second.parent() is bar
    bar.show_caption("", "", "")
    assert not bar.isHidden()
    bar.set_card(None)
    assert bar.isHidden()


def test_a_lecture_explains_its_colours_if_cells_show_their_values():
    with open_window(("matmul-tiled:m=4,k=4,n=4,tile=2",)) as small:
        small.resize(1280, 720)
        press(small, "F5")
        seek(small, small.playhead.end)
        memory = small.central.panes[0].memory
        assert all(text and text != "…" for texts in memory.cell_texts().values() for text in texts.values())
        before = memory.grab().toImage()
        press(small, "C", "C")  # by reads
        foot = list(range(before.height() - 30, before.height()))
        after = memory.grab().toImage()
        ground = before.pixelColor(1, before.height() - 2)
        for image in (before, after):  # something is written below the cells
            assert any(image.pixelColor(x, y) != ground for y in foot for x in range(0, image.width(), 3))
        legend = [
            [image.pixelColor(x, y).name() for y in foot for x in range(0, 400, 2)]
            for image in (before, after)
        ]
        assert legend[0] != legend[1]  # and it changes with what colours them
