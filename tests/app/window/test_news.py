"""Passing messages of the window: they move nothing, disappear, and do not outlive their subject."""

from __future__ import annotations

from windows import PAIR, SMALL, open_window, press, settle


def places(window) -> list[object]:
    parts = (*window.central.panes, *window.central.timelines, window.side, window.central.transport)
    return [part.geometry() for part in parts]


def test_small_news_lie_over_the_panes_and_move_nothing(window):
    before = places(window)
    press(window, "C")
    news = window.notice.news
    assert news.isVisible() and "coloured by value" in news.sentence.text()
    assert places(window) == before
    assert window.central.rect().contains(news.geometry())
    assert (
        news.geometry().bottom()
        < window.central.foot.mapTo(window.central, window.central.foot.rect().topLeft()).y()
    )


def test_news_stay_in_their_place_when_the_window_is_made_smaller(window):
    window.notice.inform("A sentence. " * 30)
    window.resize(1024, 700)
    settle(window)
    assert window.central.rect().contains(window.notice.news.geometry())
    window.resize(1280, 800)


def test_news_leave_an_error_where_it_is(window):
    window.notice.error("Something is wrong.")
    press(window, "C")
    assert window.notice.message_type == "error" and window.notice.isVisible()
    press(window, "Escape")
    assert not window.notice.is_shown()


def test_an_error_takes_the_place_of_older_news(window):
    window.notice.inform("Running mine.py under the tracer; Esc ends it.")
    window.notice.error("The program mine.py launches no kernel.")
    assert not window.notice.news.isVisible()


def test_news_do_not_outlive_the_launches_that_they_are_of():
    with open_window((f"matmul-tiled:{SMALL}",)) as fresh:
        fresh.notice.inform("The tracing was cancelled; the picture shows the previous launch.")
        fresh.toolbar.pick(0, "vector-increment")
        assert not fresh.notice.is_shown()
        settle(fresh)
        fresh.notice.inform("Cells are coloured by value.")
        fresh.navigation.travel(-1)
        assert not fresh.notice.is_shown()
        settle(fresh)


def test_the_key_of_the_histogram_explains_its_absence(window):
    picture = window.bookmark().picture
    press(window, "H")
    assert "no histogram" in window.notice.news.sentence.text()
    assert window.bookmark().picture == picture


def test_heat_goes_where_the_next_kernel_has_none_of_it():
    with open_window(("transpose-tile",)) as fresh:
        for _ in range(4):
            press(fresh, "C")
        assert fresh.bookmark().colour_by == "conflicts"
        fresh.toolbar.pick(0, "transpose-naive")
        settle(fresh)
        assert fresh.bookmark().colour_by == "auto"


def test_heat_stays_where_the_next_kernel_has_it_too():
    with open_window(PAIR) as fresh:
        for _ in range(3):
            press(fresh, "C")
        assert fresh.bookmark().colour_by == "wasted"
        fresh.toolbar.pick(1, "matmul-naive-row-on-x")
        settle(fresh)
        assert fresh.bookmark().colour_by == "wasted"


def test_names_at_the_start_of_a_sentence_keep_their_letters(window):
    shown = []
    for sentence in ("counter[0] is 3", "mine.py is saved", "an order was found"):
        window.notice.inform(sentence)
        shown.append(window.notice.news.sentence.text())
    assert shown == ["counter[0] is 3", "mine.py is saved", "An order was found"]
