"""A lecture walked through with the keys of a clicker: forwards, backwards, by jumps, and what the user changes."""

from __future__ import annotations

import random
import threading

import pytest

from patience import PATIENCE
from presenting import LECTURE, capture_window, go_to_step, present, wait_for_step, write_lecture
from tilescope.app.state.actions import Focus
from tilescope.app.views.memory.view import MemoryView
from windows import act, press, wait_until

LAST = 5


@pytest.fixture
def player(window, tmp_path):
    window.resize(1000, 640)
    player = present(window, write_lecture(tmp_path))
    yield player
    player.close()
    wait_for_step(window)


def test_page_down_goes_on_to_where_a_step_stands_to_its_answer_and_to_the_next_step(window, player):
    seen = []
    for _ in range(9):
        seen.append((player.number, player.is_playing, player.is_revealed))
        press(window, "PageDown")
        wait_for_step(window)
    assert seen == [
        (0, False, False),
        (1, False, False),
        (2, True, False),  # it plays
        (2, False, False),  # it stands
        (3, False, False),
        (3, False, True),
        (4, False, False),
        (4, False, True),
        (5, False, False),
    ]
    assert player.number == LAST  # and stays there
    assert not window.commands["Next step"].isEnabled() and window.commands["Previous step"].isEnabled()
    press(window, "PageUp")
    wait_for_step(window)
    assert (player.number, player.is_revealed) == (4, True)
    assert window.commands["Next step"].isEnabled()


def test_a_step_plays_at_its_pace_and_stands(window, player):
    go_to_step(window, 2, play=True)
    begin, stand = player.moment().begin, player.moment().stand
    window.playhead.seek(begin)  # also forgets when the frames have begun to count
    start = 100.0
    window.playhead.advance(start)
    window.playhead.advance(start + 2.5)  # of 5 seconds
    assert window.playhead.moment == pytest.approx((begin + stand) / 2, abs=0.5)
    window.playhead.advance(start + 60)
    assert not window.playhead.playing and window.playhead.moment == stand == window.playhead.end
    assert not player.is_playing


def test_the_pictures_are_the_same_forwards_backwards_and_by_a_jump(window, player):
    forwards = []
    for number in range(LAST + 1):
        wait_until(lambda n=number: player.number == n and player.awaited is None)
        player.show_final_moment()
        player.reveal()
        forwards.append(capture_window(window))
        press(window, "PageDown")
    for number in reversed(range(LAST + 1)):
        assert player.number == number
        assert capture_window(window) == forwards[number], number
        press(window, "PageUp")
        wait_for_step(window)
    for number in (4, 1, 5, 0, 3, 2):
        go_to_step(window, number)
        assert capture_window(window) == forwards[number], number


def test_a_step_comes_as_written_after_the_user_has_looked_around(window, player):
    go_to_step(window, 1)
    stood = capture_window(window)
    window.stage.seek(0, 17)
    act(window, Focus(0))
    press(window, "C", "Shift+Right")
    assert capture_window(window)[0] != stood[0]
    press(window, "Ctrl+Home")
    window.notice.clear()
    assert capture_window(window) == stood
    window.stage.seek(0, 17)
    press(window, "PageDown")
    wait_for_step(window)
    player.show_final_moment()
    there = capture_window(window)
    go_to_step(window, 0)
    go_to_step(window, 2)
    assert capture_window(window) == there


def test_panes_that_stay_are_not_loaded_again(window, player, monkeypatch):
    loaded = []
    monkeypatch.setattr(MemoryView, "load", lambda view, session: loaded.append(view))
    for number in (1, 2, 3, 0):
        go_to_step(window, number)
    assert loaded == []


def test_theme_and_text_size_stay_as_the_user_has_them(window, player):
    window.look.scale_text(1.2)
    window.look.use("dark")
    try:
        go_to_step(window, 3)
        assert (window.theme.name, window.theme.scale) == ("dark", 1.2)
        player.close()
        wait_for_step(window)
        assert (window.theme.name, window.theme.scale) == ("dark", 1.2)
    finally:
        window.look.show("light", 1.0, False)


def test_the_steps_to_come_are_prepared_so_that_a_key_shows_them_at_once(window, tmp_path):
    sizes = [f"matmul-tiled:m={n},k=8,n=8,tile=4" for n in (12, 20, 28, 36, 44)]
    steps = "".join(f"\n## Size {i}\n\n`show: {size}`\n" for i, size in enumerate(sizes))
    player = present(window, write_lecture(tmp_path, f"# Sizes\n{steps}"))
    for number in range(1, 5):
        sources = [s for i in range(number, min(number + 3, 5)) for s in player._sources_of(i)]
        wait_until(
            lambda sources=sources: all(window.stage.jobs.session_in_memory(source) for source in sources)
        )
        player.next()
        assert player.number == number  # before anything else could run
        assert player.sessions()[0].is_examined
        held = [bool(window.stage.jobs.session_in_memory(s)) for i in range(5) for s in player._sources_of(i)]
        assert held[number - 1 : number + 2] == [True] * len(held[number - 1 : number + 2])
    player.close()
    wait_for_step(window)


def test_nothing_is_shown_by_halves_while_a_step_is_prepared_and_escape_ends_the_wait(
    window, player, monkeypatch
):
    jobs = window.stage.jobs
    make, may_go_on = jobs._prepare, threading.Event()

    def prepare(*words):
        assert may_go_on.wait(PATIENCE)
        return make(*words)

    monkeypatch.setattr(jobs, "_prepare", prepare)
    seed = random.randrange(2**31)  # which no cache has
    text = (
        LECTURE
        + f"\n## A larger one\n\n`show: matmul-tiled:m=32,k=32,n=32,tile=8,schedule=random,seed={seed}`\n"
    )
    player.lecture.path.write_text(text, encoding="utf-8")
    player.reload()
    go_to_step(window, 0)
    before, sessions = window.bookmark(), list(window.stage.sessions)
    player.go(6)
    assert player.awaited == 6
    wait_until(window.lectures.note.isVisible)
    assert window.lectures.note.sentence.text().startswith("Preparing step 7")
    assert (window.bookmark(), window.stage.sessions, player.number) == (before, sessions, 0)
    press(window, "Escape")
    assert player.awaited is None and player.number == 0
    assert not window.lectures.note.isVisible()
    may_go_on.set()
    player.go(6)
    wait_for_step(window)
    assert player.number == 6
    assert [setup.values["m"] for setup in window.stage.setups] == [32]


def test_leaving_shows_what_was_shown_before_and_offers_the_way_back(window, tmp_path):
    window.stage.seek(1, 11)
    before = capture_window(window)
    player = present(window, write_lecture(tmp_path))
    go_to_step(window, 3)
    press(window, "Escape")
    wait_for_step(window)
    assert player.lecture is None
    assert window.notice.answers[0].text() == "Go back"
    window.notice.answers[0].click()
    wait_for_step(window)
    assert player.lecture is not None and player.number == 3
    press(window, "Escape")
    wait_for_step(window)
    window.notice.clear()
    assert capture_window(window) == before
    assert not window.commands["Next step"].isEnabled()
